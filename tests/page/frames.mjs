// What a frame costs the main thread, in milliseconds, while five moves are shown and then the feast of the
// end, with a processor that is slowed down four times: the p99 of each of five games, and the median of
// these. Nothing in CI runs it, since no test there asserts on time. Needs chromium and a running server.
//
// usage: node tests/page/frames.mjs [http://127.0.0.1:8080]

import { spawn } from "node:child_process";

const [server = "http://127.0.0.1:8080"] = process.argv.slice(2);
const [LIMIT, SLOWER, GAMES, MOVES] = [12, 4, 5, 5];
/** Microseconds of a frame. */
const FRAME = 1e6 / 60;
const CATEGORIES = "disabled-by-default-devtools.timeline,devtools.timeline,devtools.timeline.frame,blink.user_timing";

const chrome = spawn("chromium", ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--window-size=390,664", "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [, , , input, output] = /** @type {any} */ (chrome.stdio);
/** @type {Map<number, (result: any) => void>} */
const asked = new Map();
/** @type {any[]} */
let events = [];
let complete = () => {};
let text = "";
output.on("data", (/** @type {Buffer} */ data) => {
  const messages = (text + data).split("\0");
  text = messages.pop() ?? "";
  for (const message of messages) {
    const { id, result, error, method, params } = JSON.parse(message);
    if (error) throw new Error(error.message);
    if (id) asked.get(id)?.(result);
    if (method === "Tracing.dataCollected") events.push(...params.value);
    if (method === "Tracing.tracingComplete") complete();
  }
});
/** Asks the browser, or its page. @param {string} method @param {object} [params] @param {string} [sessionId] */
const ask = (method, params = {}, sessionId) => new Promise((/** @type {(result: any) => void} */ resolve) => {
  const id = asked.size + 1;
  asked.set(id, resolve);
  input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
});
const { targetInfos } = await ask("Target.getTargets");
const { targetId } = targetInfos.find((/** @type {{type: string}} */ { type }) => type === "page");
const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
/** @param {string} method @param {object} params */
const page = (method, params) => ask(method, params, sessionId);
/** @param {number} rate */
const slow = (rate) => page("Emulation.setCPUThrottlingRate", { rate });
/** @param {string} expression */
const evaluate = async (expression) => (await page("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true })).result.value;
/** @param {string} condition */
async function wait(condition) {
  for (let attempt = 0; attempt < 1200; attempt += 1) {
    if (await evaluate(condition)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`in vain: ${condition}`);
}

/** @param {string} method @param {string} path @param {object} body @param {string} [token] */
async function call(method, path, body, token) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const answer = await fetch(server + path, { method, body: JSON.stringify(body), headers });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer.json();
}

/** The part of times that is given. @param {number[]} times @param {number} part */
const quantile = (times, part) => times.sort((a, b) => a - b)[Math.ceil(part * times.length) - 1];

/**
 * The work of the main thread in each frame that is drawn until something is over.
 *
 * @param {string} over a condition
 */
async function framesUntil(over) {
  events = [];
  await slow(SLOWER);
  await ask("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: CATEGORIES.split(",") } });
  await evaluate("performance.mark('here')");
  await wait(over);
  const traced = new Promise((/** @type {(nothing: void) => void} */ resolve) => { complete = resolve; });
  await ask("Tracing.end");
  await traced;
  await slow(1);
  const { pid, tid } = events.find(({ name }) => name === "here");
  const own = events.filter((one) => one.pid === pid && one.tid === tid && one.ph === "X");
  const slot = (/** @type {{ts: number}} */ { ts }) => Math.floor(ts / FRAME);
  // A frame is drawn where the styles are looked at, or the animations.
  const work = new Map(own.filter(({ name }) => ["PrePaint", "Paint", "UpdateLayoutTree", "Layerize", "Commit"].includes(name)).map((one) => [slot(one), 0]));
  for (const task of own.filter(({ name }) => name === "RunTask")) {
    const before = work.get(slot(task));
    if (before !== undefined) work.set(slot(task), before + task.tdur / 1000);
  }
  return [...work.values()];
}

const result = [];
for (let game = 0; game < GAMES; game += 1) {
  const bots = Array.from({ length: 4 }, () => ({ kind: "bot", level: "greedy" }));
  const { id, host_token: host } = await call("POST", "/v1/games", { rules: { preset: "dogspiel-it" }, seats: bots, bot_pace_ms: 1500, listed: false });
  await page("Page.navigate", { url: `${server}/?lang=en&game=${game}#/games/${id}` });
  await wait("document.querySelector('.last-card') !== null");
  await evaluate(`
    window.moves = 0;
    new MutationObserver(() => { window.moves += 1; })
      .observe(document.querySelector(".pieces"), { childList: true, subtree: true, attributes: true, attributeFilter: ["data-place"] });`);
  const moves = await framesUntil(`window.moves >= ${MOVES} && !document.getAnimations().some((one) => one.effect.getComputedTiming().iterations !== Infinity)`);
  await call("PATCH", `/v1/games/${id}`, { bot_pace_ms: 0 }, host);
  await wait("document.querySelector('.feast') !== null");
  const feast = await framesUntil("document.querySelector('.feast') === null");
  const all = [...moves, ...feast];
  result.push(quantile(all, 0.99));
  const words = (/** @type {number[]} */ times) => `${times.length} frames, median ${quantile(times, 0.5).toFixed(1)}, p99 ${quantile(times, 0.99).toFixed(1)}, most ${Math.max(...times).toFixed(1)} ms`;
  console.log(`game ${game + 1}: moves: ${words(moves)}; feast: ${words(feast)}; both: p99 ${result.at(-1)?.toFixed(1)} ms`);
}
const median = quantile(result, 0.5);
console.log(`median of ${GAMES}: ${median.toFixed(1)} ms of ${LIMIT}`);
chrome.kill();
process.exitCode = median > LIMIT ? 1 : 0;
