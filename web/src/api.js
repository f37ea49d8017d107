// The requests to the API, and the stream of a game. Elsewhere only `lang.js` uses the network: it
// loads the words.

/** @import {Problem, Message} from "./types.js" */

/** The origin of the server; empty if it is the page's own. */
export const server = document.querySelector('meta[name="dog-server"]')?.getAttribute("content") ?? "";

/** By how many milliseconds the server's clock is ahead of this computer's. */
export let clockAhead = 0;

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
  const response = await fetch(server + path, {
    method, headers, cache, body: body === undefined ? undefined : JSON.stringify(body),
  });
  const time = Date.parse(response.headers.get("Date") ?? "");
  // The header has whole seconds.
  if (Math.abs(time + 500 - Date.now() - clockAhead) > 1000) clockAhead = time + 500 - Date.now();
  if (!response.ok) throw new Refusal(await problemOf(response));
  return /** @type {Promise<any>} */ (text ? response.text() : response.json());
}

/** @param {Response} response @returns {Promise<Problem>} */
async function problemOf(response) {
  try {
    return await response.json();
  } catch {
    // Not from the server itself, but for instance from a proxy in front of it.
    return /** @type {Problem} */ ({
      type: "about:blank", code: "internal", title: response.statusText, status: response.status,
      detail: response.statusText,
    });
  }
}

/** Waits before each attempt to resume a stream, in milliseconds. The last one is repeated. */
const WAITS = [250, 500, 1000, 2000, 4000];
/** A heartbeat comes after 15 s of silence. After this silence the connection is taken for dead. */
const SILENCE = 40_000;

/**
 * Follows a game until it is over, and then for its rematch: calls `onMessages` with the game, then with its changes, the
 * newest of which has the game after it. What arrives at once comes in one call. Resumes a broken
 * stream, and tells `onLink` whether it is live.
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
  const hurry = () => { if (!document.hidden) wake(); };
  // An open connection does not tell that the network is gone. A page that the browser keeps for
  // "back" would keep its connection too, and a browser has only six for a server.
  let cut = () => {};
  const leave = () => cut();
  for (const type of ["offline", "pagehide"]) addEventListener(type, leave);
  for (const type of ["online", "pageshow", "focus"]) addEventListener(type, hurry);
  document.addEventListener("visibilitychange", hurry);

  (async () => {
    for (let attempt = 0; !stop.signal.aborted;) {
      const attemptOver = new AbortController();
      const abort = () => attemptOver.abort();
      cut = abort;
      stop.signal.addEventListener("abort", abort);
      let timer = setTimeout(abort, SILENCE);
      try {
        const response = await fetch(`${server}/v1/games/${id}/events?include=game,moves&after_end=true`, { headers, signal: attemptOver.signal });
        if (response.status === 204) return onLink("ended");
        if (!response.ok || !response.body) throw new Refusal(await problemOf(response));
        onLink("live");
        attempt = 0;
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let rest = ""; ;) {
          const { done, value } = await reader.read();
          if (done) break;
          clearTimeout(timer);
          timer = setTimeout(abort, SILENCE);
          const lines = (rest + value).split("\n");
          rest = lines.pop() ?? "";
          const messages = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
          if (messages.length === 0) continue;
          // Who is there, and that there is a rematch, are told without a version.
          const last = messages.findLast((message) => "version" in message);
          if (last) headers["Last-Event-ID"] = String(last.version);
          onMessages(messages);
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof Refusal && error.problem.status < 500 && error.problem.status !== 429) {
          return onLink("ended", error.problem);
        }
        onLink("lost");
      } finally {
        clearTimeout(timer);
        stop.signal.removeEventListener("abort", abort);
      }
      await new Promise((resolve) => {
        const wait = setTimeout(resolve, WAITS[Math.min(attempt, WAITS.length - 1)]);
        wake = () => { clearTimeout(wait); resolve(undefined); };
      });
      wake = () => {};
      attempt += 1;
    }
  })();

  return () => {
    stop.abort();
    for (const type of ["offline", "pagehide"]) removeEventListener(type, leave);
    for (const type of ["online", "pageshow", "focus"]) removeEventListener(type, hurry);
    document.removeEventListener("visibilitychange", hurry);
  };
}
