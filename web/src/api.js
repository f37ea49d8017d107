// The requests to the API, and the stream of a game. Elsewhere only `files.js` uses the network: it
// loads files of the page.

import { NewVersion } from "./files.js";
import { forgetKey, keyFor, savePerson, savedPerson } from "./storage.js";
import { dispatch } from "./store.js";

/** @import {Catalogue, Failure, Layout, Message, Problem, Sheet, Table} from "./types.js" */

/** The origin of another server that the page is for; empty if it is the page's own. */
export const otherServer = document.querySelector('meta[name="dog-server"]')?.getAttribute("content") ?? "";

/** Where the server's paths begin: its origin, or a folder in which a proxy serves the page and the API. */
export const server = otherServer || new URL(".", document.baseURI).href.slice(0, -1);

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

/** Characters that turn the direction of text around, and of what follows: the page sets its own. */
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

/** A refusal: the server's problem document, and the milliseconds that it asks to wait. */
export class Refusal extends Error {
  /** @param {Problem} problem @param {number} wait */
  constructor(problem, wait) {
    super(problem.detail);
    this.problem = problem;
    this.wait = wait;
  }
}

/** What a request that failed says. @param {unknown} error @returns {Failure} */
export function problemOf(error) {
  if (error instanceof Refusal) return error.problem;
  if (error instanceof NewVersion) return "version";
  if (error instanceof TypeError) return "network";
  throw error;
}

/** Refusals of a request that may succeed later. A proxy says `route_not_found` while it has no server. */
const PASSING = ["request_timeout", "too_many_requests", "too_many_streams", "internal", "unavailable", "route_not_found"];

/** Whether a request that failed may succeed later as it is. @param {unknown} error */
export const passes = (error) =>
  error instanceof TypeError || (error instanceof Refusal && PASSING.includes(error.problem.code));

/** Waits before a request is sent again, in milliseconds. */
const RETRIES = [500, 1500, 3000];
/** Milliseconds after which a request is not sent again. */
const RETRY_UNTIL = 30_000;

/**
 * Sends a request whose answer has a secret that is shown only once. After a failure that may pass,
 * it is sent again with the same key, and gets the same answer. If that does not help, the next call
 * with the same arguments takes this key. `keep` keeps what the answer brings.
 *
 * @template T, [K=void]
 * @param {string} method
 * @param {string} path
 * @param {{token?: string | null, body?: unknown}} options
 * @param {(answer: T) => K | Promise<K>} keep
 * @returns {Promise<K>} what `keep` returns
 */
export async function requestSecret(method, path, options, keep) {
  const act = JSON.stringify([method, path, options.body]);
  const headers = { "Idempotency-Key": keyFor(act) };
  try {
    /** @type {T} */
    const answer = await persist(() => request(method, path, { ...options, headers }));
    const kept = await keep(answer);
    forgetKey(act);
    return kept;
  } catch (error) {
    if (!passes(error)) forgetKey(act);
    throw error;
  }
}

/** Sends a request again after a failure that may pass. @template T @param {() => Promise<T>} send @returns {Promise<T>} */
async function persist(send) {
  const until = Date.now() + RETRY_UNTIL;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      const wait = Math.max(RETRIES[attempt] ?? Infinity, error instanceof Refusal ? error.wait : 0);
      // A browser that knows that it is offline lets nobody wait.
      if (!passes(error) || !navigator.onLine || Date.now() + wait > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** A connection can be dead without notice: milliseconds in which an answer has to begin. */
const ANSWER = 15_000;
/** Milliseconds in which it has to end. */
const WHOLE_ANSWER = 60_000;

/** @type {Promise<boolean> | null} */
let login = null;

/** Whether a login in front of the server needs `Authorization` for itself. */
const hasLogin = () => {
  login ??= fetch(`${server}/healthz`, { credentials: "omit" }).then(({ status, headers }) =>
    status === 401 && /^(basic|negotiate|digest)\b/i.test(headers.get("WWW-Authenticate") ?? ""), () => false);
  return login;
};

/**
 * Sends a request. A server before 0.3.0 does not read `Dog-Token`, and does not name it in `Vary`: it is
 * asked once more. What it has done, or cannot do now, is not asked for again.
 *
 * @param {string} path begins with `/v1` @param {string | null | undefined} token
 * @param {RequestInit & {method: string, headers: Record<string, string>}} options
 */
async function send(path, token, { headers, ...options }) {
  const ask = (/** @type {Record<string, string>} */ more) => fetch(server + path, { ...options, headers: { ...headers, ...more } });
  if (!token) return ask({});
  const answer = await ask({ "Dog-Token": token });
  const { ok, status } = answer;
  const isOver = ok ? options.method !== "GET" : status === 429 || status >= 500;
  if (isOver || /\bdog-token\b/i.test(answer.headers.get("Vary") ?? "") || await hasLogin()) return answer;
  answer.body?.cancel();
  return ask({ Authorization: `Bearer ${token}` });
}

/** What needs the key of a closed server, if it is posted. */
const GUARDED = /^\/v1\/(games|matches|games\/import|games\/\w+\/review|join|analysis\/suggest-moves?)(\?|$)/;

/** Asks the person for that key; the answer is empty if there is none. @param {boolean} wrong whether one was sent @returns {Promise<string>} */
const askForKey = (wrong) => new Promise((answer) => { dispatch({ type: "set", change: { asked: { wrong, answer } } }); });

/**
 * @typedef {{
 *   token?: string | null, body?: unknown, text?: boolean, headers?: Record<string, string>,
 *   cache?: RequestCache, quiet?: boolean, key?: string, wait?: number,
 * }} Options `quiet`: the person is not asked for the key, `wait`: milliseconds in which the answer has to begin
 */

/**
 * Sends a request and returns the parsed response. Throws a `Refusal`, or a `TypeError` if the
 * server was not reached. Asks for the key of a closed server until one is accepted.
 *
 * @template T
 * @param {string} method
 * @param {string} path begins with `/v1`
 * @param {Options} [options]
 * @returns {Promise<T>}
 */
export async function request(method, path, options = {}) {
  const { quiet, key = method === "POST" && GUARDED.test(path) ? savedPerson().key : "" } = options;
  try {
    return await requestOnce(method, path, { ...options, key });
  } catch (error) {
    const given = !quiet && error instanceof Refusal && error.problem.code === "key_required" && await askForKey(key !== "");
    if (!given) throw error;
    return request(method, path, { ...options, key: given });
  }
}

/** The same, with this key. @template T @param {string} method @param {string} path @param {Options} options @returns {Promise<T>} */
async function requestOnce(method, path, { token, body, text, headers = {}, cache, key, wait = ANSWER }) {
  if (key) headers["Dog-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (text) headers.Accept = "text/plain";
  const sent = Date.now();
  const over = new AbortController();
  const abort = () => over.abort();
  let timer = setTimeout(abort, wait);
  try {
    const response = await send(path, token, {
      method, headers, cache, body: body === undefined ? undefined : JSON.stringify(body), signal: over.signal,
    });
    clearTimeout(timer);
    timer = setTimeout(abort, WHOLE_ANSWER);
    setClock(response, sent);
    // A key is looked at before what was sent.
    if (key && (response.ok || response.status === 422)) savePerson({ key });
    // What was waited for did not happen.
    if (response.status === 304) return /** @type {any} */ (null);
    if (!response.ok) throw await refusalOf(response);
    const answer = await response.text();
    return /** @type {any} */ (text ? answer : parse(answer));
  } catch (error) {
    throw over.signal.aborted ? new TypeError("no answer came") : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads something of a game. @template T @param {Table} table @param {string} path @returns {Promise<T>} */
export const get = (table, path) => request("GET", `/v1/games/${table.id}${path}`, { token: table.token });

/** @type {Promise<Sheet[]> | null} */
let sheets = null;

/** The sheets with their options, which never change. */
export function readSheets() {
  sheets ??= request("GET", "/v1/rules").then((/** @type {Catalogue} */ { presets }) => presets);
  sheets.catch(() => { sheets = null; });
  return sheets;
}

/** The rules of a sheet. @param {Sheet[]} all @param {string | undefined} preset */
export const rulesOn = (all, preset) => all.find((one) => one.name === preset)?.rules;

/**
 * Where things are on a board.
 *
 * @param {number} seats @param {number} fields per seat @param {number | null} [bottom] the seat there
 * @returns {Promise<Layout>}
 */
export const readLayout = (seats, fields, bottom) =>
  request("GET", `/v1/layout?seats=${seats}&fields_per_seat=${fields}&bottom=${bottom ?? 0}`);

/**
 * The refusal of the server. Throws a `TypeError` if the answer is not the server's, but for
 * instance that of a proxy in front of it: that says nothing of the game or the token.
 *
 * @param {Response} response
 */
async function refusalOf(response) {
  /** @type {Problem | null} */
  const problem = parse(await response.text());
  if (!problem?.code || problem.type !== `/docs/guide/errors#${problem.code}`) throw new TypeError("this is not a refusal of the server");
  return new Refusal({ ...problem, status: response.status }, 1000 * (Number(response.headers.get("Retry-After")) || 0));
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
/** The same while the server has no place for another stream. */
const NO_PLACE = 10_000;
/** A heartbeat comes after 15 s of silence. After this silence the connection is taken for dead. */
const SILENCE = 40_000;
/** Milliseconds after which an attempt without an answer is reported. */
const PATIENCE = 5000;
/** Milliseconds within which a connection that was heard works. */
const HEARD = 2000;
/** How many hidden tabs keep their streams: a browser has only six connections for a server. */
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
  let wake = () => {};
  let cut = () => {};
  // When the connection was heard last.
  let heard = 0;
  // How many tabs were hidden after this one.
  let later = 0;
  // Whether the stream was closed until this tab is seen again, or to open another one: nobody needs to know.
  let closed = /** @type {"resting" | "replacing" | null} */ (null);
  const tabs = openChannel("dog.tabs");
  if (tabs) tabs.onmessage = () => {
    later += 1;
    if (!document.hidden || later < HIDDEN_TABS) return;
    closed = "resting";
    cut();
  };
  const hide = () => {
    later = 0;
    tabs?.postMessage("hidden");
  };
  const show = () => {
    if (document.hidden) return;
    if (closed === "resting") closed = null;
    wake();
  };
  const turn = () => {
    if (document.hidden) return hide();
    // An open connection does not tell that the network is gone, or that it is another one now.
    if (!closed && Date.now() - heard > HEARD) {
      closed = "replacing";
      cut();
    }
    show();
  };
  const { signal } = stop;
  // A page that the browser keeps for "back" would keep its connection too.
  for (const type of ["offline", "pagehide"]) addEventListener(type, () => cut(), { signal });
  for (const type of ["online", "pageshow", "focus"]) addEventListener(type, show, { signal });
  document.addEventListener("visibilitychange", turn, { signal });
  if (document.hidden) hide();

  (async () => {
    for (let attempt = 0; !signal.aborted;) {
      const attemptOver = new AbortController();
      const abort = () => attemptOver.abort();
      cut = abort;
      let timer = setTimeout(abort, SILENCE);
      let least = 0;
      const patience = setTimeout(() => onLink("lost"), PATIENCE);
      const sent = Date.now();
      try {
        const response = await send(`/v1/games/${id}/events?include=game,moves&after_end=true`, token,
          { method: "GET", headers, signal: attemptOver.signal });
        clearTimeout(patience);
        setClock(response, sent);
        if (!response.ok) throw await refusalOf(response);
        const type = response.headers.get("Content-Type") ?? "";
        if (!response.body || !type.startsWith(headers.Accept)) throw new TypeError("this is not a stream of the server");
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
        if (signal.aborted) return;
        if (error instanceof Refusal) {
          if (!passes(error)) return onLink("ended", error.problem);
          least = Math.max(error.wait, error.problem.status === 429 ? NO_PLACE : 0);
        }
        if (!closed) onLink("lost");
      } finally {
        clearTimeout(timer);
        clearTimeout(patience);
      }
      if (closed === "replacing") {
        closed = null;
        continue;
      }
      await new Promise((resolve) => {
        const wait = closed ? undefined : setTimeout(resolve, Math.max(least, WAITS[Math.min(attempt, WAITS.length - 1)]));
        wake = () => { clearTimeout(wait); resolve(undefined); };
      });
      wake = () => {};
      attempt += 1;
    }
  })();

  return () => {
    stop.abort();
    cut();
    tabs?.close();
  };
}
