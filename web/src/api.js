// The requests to the API, and the stream of a game. Elsewhere only `lang.js` uses the network: it
// loads the words.

/** @import {Problem, Message} from "./types.js" */

/** The origin of another server that the page is for; empty if it is the page's own. */
export const otherServer = document.querySelector('meta[name="dog-server"]')?.getAttribute("content") ?? "";

/** Where the server's paths begin: its origin, or a folder in which a proxy serves the page and the API. */
export const server = otherServer || new URL("..", import.meta.url).href.slice(0, -1);

/** By how many milliseconds the server's clock is ahead of this computer's. */
export let clockAhead = 0;

/**
 * Sets the clock by an answer: the server wrote its time, in whole seconds, after the request was
 * sent. An answer that may come from a cache is as old as it likes.
 *
 * @param {Response} response @param {number} sent when the request was sent
 */
function setClock(response, sent) {
  const time = Date.parse(response.headers.get("Date") ?? "");
  if (Number.isNaN(time) || /max-age=[1-9]/.test(response.headers.get("Cache-Control") ?? "")) return;
  clockAhead = Math.min(Math.max(clockAhead, time - Date.now()), time + 1000 - sent);
}

/** Characters that turn the direction of text around, also of what follows: the page sets its own. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Reads JSON of the server. Throws a `TypeError` if it is something else. @param {string} text @returns {any} */
function parse(text) {
  try {
    return JSON.parse(text.replace(DIRECTIONS, ""));
  } catch {
    // For instance from a network that asks to sign in.
    throw new TypeError("this is not an answer of the server");
  }
}

/** A refusal: the server's problem document. */
export class Refusal extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** Waits before a request is sent again, in milliseconds. */
const RETRIES = [500, 1500, 3000];

/**
 * Sends a request whose answer has a secret that is shown only once. If the network fails, it is
 * sent again with the same key, and gets the same answer.
 *
 * @template T
 * @param {string} method
 * @param {string} path
 * @param {{token?: string | null, body?: unknown}} options
 * @returns {Promise<T>}
 */
export async function requestSecret(method, path, options) {
  // 160 random bits.
  const key = [...crypto.getRandomValues(new Uint8Array(20))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request(method, path, { ...options, headers: { "Idempotency-Key": key } });
    } catch (error) {
      if (!(error instanceof TypeError) || attempt === RETRIES.length) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRIES[attempt]));
    }
  }
}

/**
 * Sends a request and returns the parsed response. Throws a `Refusal`, or a `TypeError` if the
 * network failed.
 *
 * @template T
 * @param {string} method
 * @param {string} path begins with `/v1`
 * @param {{
 *   token?: string | null, body?: unknown, text?: boolean, headers?: Record<string, string>,
 *   cache?: RequestCache,
 * }} [options]
 * @returns {Promise<T>}
 */
export async function request(method, path, { token, body, text, headers = {}, cache } = {}) {
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (text) headers.Accept = "text/plain";
  const sent = Date.now();
  const response = await fetch(server + path, {
    method, headers, cache, body: body === undefined ? undefined : JSON.stringify(body),
  });
  setClock(response, sent);
  if (!response.ok) throw new Refusal(await problemOf(response));
  const answer = await response.text();
  return /** @type {any} */ (text ? answer : parse(answer));
}

/** @param {Response} response @returns {Promise<Problem>} */
async function problemOf(response) {
  const { status, statusText } = response;
  // Not from the server itself, but for instance from a proxy in front of it.
  const other = { type: "about:blank", code: "internal", title: statusText, detail: statusText };
  try {
    return { ...other, ...parse(await response.text()), status };
  } catch {
    return /** @type {Problem} */ ({ ...other, status });
  }
}

/**
 * A channel between the tabs. A browser that blocks storage may block it, too: then no tab lets go.
 *
 * @param {string} name
 */
function openChannel(name) {
  try {
    return new BroadcastChannel(name);
  } catch {
    return null;
  }
}

/** Waits before each attempt to resume a stream, in milliseconds. The last one is repeated. */
const WAITS = [250, 500, 1000, 2000, 4000];
/** A heartbeat comes after 15 s of silence. After this silence the connection is taken for dead. */
const SILENCE = 40_000;
/** An attempt that has no answer after so many milliseconds is told. */
const PATIENCE = 5000;
/** A connection that was heard within so many milliseconds works. */
const HEARD = 2000;
/** So many hidden tabs keep their streams, since a browser has only six connections for a server. */
const HIDDEN_TABS = 2;

/**
 * Follows a game until it is over, and then for its rematch: calls `onMessages` with the game, then
 * with its changes, the newest of which has the game after it. What arrives at once comes in one
 * call. Resumes a broken stream, and tells `onLink` whether it is live. A hidden tab lets go of its
 * stream when others were hidden after it, and resumes when it is seen again.
 *
 * @param {string} id
 * @param {string | null} token
 * @param {{
 *   onMessages: (messages: Message[]) => void,
 *   onLink: (link: "live" | "lost" | "ended", problem?: Problem) => void,
 * }} handlers
 * @returns {() => void} stops following
 */
export function follow(id, token, { onMessages, onLink }) {
  const stop = new AbortController();
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/x-ndjson" };
  if (token) headers.Authorization = `Bearer ${token}`;
  let wake = () => {};
  let cut = () => {};
  // When the connection was heard last.
  let heard = 0;
  // How many tabs were hidden after this one, and whether it has let go.
  let later = 0;
  let resting = false;
  // Whether the stream is replaced, of which nobody needs to know.
  let replacing = false;
  const tabs = openChannel("dog.tabs");
  if (tabs) tabs.onmessage = () => {
    later += 1;
    if (!document.hidden || later < HIDDEN_TABS) return;
    resting = true;
    cut();
  };
  const hide = () => {
    later = 0;
    tabs?.postMessage("hidden");
  };
  const show = () => {
    if (document.hidden) return;
    resting = false;
    wake();
  };
  const turn = () => {
    if (document.hidden) return hide();
    // An open connection does not tell that the network is gone, or that it is another one now.
    if (!resting && Date.now() - heard > HEARD) {
      replacing = true;
      cut();
    }
    show();
  };
  // A page that the browser keeps for "back" would keep its connection too.
  const leave = () => cut();
  for (const type of ["offline", "pagehide"]) addEventListener(type, leave);
  for (const type of ["online", "pageshow", "focus"]) addEventListener(type, show);
  document.addEventListener("visibilitychange", turn);
  if (document.hidden) hide();

  (async () => {
    for (let attempt = 0; !stop.signal.aborted;) {
      const attemptOver = new AbortController();
      const abort = () => attemptOver.abort();
      cut = abort;
      stop.signal.addEventListener("abort", abort);
      let timer = setTimeout(abort, SILENCE);
      const patience = setTimeout(() => onLink("lost"), PATIENCE);
      const sent = Date.now();
      try {
        const response = await fetch(`${server}/v1/games/${id}/events?include=game,moves&after_end=true`, { headers, signal: attemptOver.signal });
        clearTimeout(patience);
        setClock(response, sent);
        if (response.status === 204) return onLink("ended");
        if (!response.ok || !response.body) throw new Refusal(await problemOf(response));
        onLink("live");
        attempt = 0;
        const reader = response.body.getReader();
        const decoder = new TextDecoder();
        for (let rest = ""; ;) {
          const { done, value } = await reader.read();
          if (done) break;
          heard = Date.now();
          clearTimeout(timer);
          timer = setTimeout(abort, SILENCE);
          const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
          rest = lines.pop() ?? "";
          const messages = lines.filter((line) => line !== "").map(parse);
          if (messages.length === 0) continue;
          // Who is there, and that there is a rematch, are told without a version.
          const last = messages.filter((message) => "version" in message).at(-1);
          if (last) headers["Last-Event-ID"] = String(last.version);
          onMessages(messages);
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof Refusal && error.problem.status < 500 && error.problem.status !== 429) {
          return onLink("ended", error.problem);
        }
        if (!resting && !replacing) onLink("lost");
      } finally {
        clearTimeout(timer);
        clearTimeout(patience);
        stop.signal.removeEventListener("abort", abort);
      }
      if (replacing) {
        replacing = false;
        continue;
      }
      await new Promise((resolve) => {
        const wait = resting ? undefined : setTimeout(resolve, WAITS[Math.min(attempt, WAITS.length - 1)]);
        wake = () => { clearTimeout(wait); resolve(undefined); };
      });
      wake = () => {};
      attempt += 1;
    }
  })();

  return () => {
    stop.abort();
    tabs?.close();
    for (const type of ["offline", "pagehide"]) removeEventListener(type, leave);
    for (const type of ["online", "pageshow", "focus"]) removeEventListener(type, show);
    document.removeEventListener("visibilitychange", turn);
  };
}
