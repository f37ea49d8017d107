// How soon a touch is answered: the milliseconds from `pointerdown` to the next paint, on every button,
// card and place, with a processor that is slowed down four times; and beside it the same of a page with
// one button and nothing else, which tells how busy the machine is. Nothing in CI runs it, since no test
// there asserts on time. Needs chromium, chromedriver and a running server.
//
// usage: node tests/page/touch.mjs [http://127.0.0.1:8080]

import { spawn } from "node:child_process";
import { once } from "node:events";

const [server = "http://127.0.0.1:8080"] = process.argv.slice(2);
const LIMIT = 50;
const SLOWER = 4;
const TOUCHED = { button: "button:not(:disabled, .card, .place), summary, a", card: ".card", place: ".place" };

const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
let said = "";
while (!/successfully on port (\d+)/.test(said)) said += (await once(driver.stdout, "data"))[0];
let session = `http://127.0.0.1:${/successfully on port (\d+)/.exec(said)[1]}/session`;

/** @param {string} path @param {object} body */
async function command(path, body) {
  const answer = await fetch(session + path, { method: "POST", body: JSON.stringify(body) });
  const { value } = await answer.json();
  if (value?.error) throw new Error(`${path}: ${value.message}`);
  return value;
}
/** @param {string} script @param {unknown[]} args */
const run = (script, ...args) => command("/execute/sync", { script, args });
/** @param {string} script */
async function wait(script) {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (await run(script)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`in vain: ${script}`);
}

// A press does nothing but answer, so that each screen stays as it is.
const RECORD = `
  window.seen = [];
  const { port1, port2 } = new MessageChannel();
  port2.onmessage = ({ data: [began, kind] }) => seen.push([kind, performance.now() - began]);
  addEventListener("pointerdown", ({ timeStamp, target }) => {
    const kind = target.closest(".card") ? "card" : target.closest(".place") ? "place" : target.closest("#bare") ? "bare" : "button";
    requestAnimationFrame(() => {
      if (target.closest("[data-pressed], #bare")) port1.postMessage([timeStamp, kind]);
    });
  });
  addEventListener("click", (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, true);`;
const HOME = "return [...document.querySelectorAll('button')].some((one) => one.textContent === 'Play against bots')";
// Until pieces and targets can be chosen on the board.
const PLAY = `
  if (document.querySelector(".place")) return true;
  const press = (one) => one?.click();
  const named = (...names) => [...document.querySelectorAll(".buttons button:not(:disabled)")].find((one) => names.includes(one.textContent));
  press(named("Give", "Deal", "Fold", "Play") ?? document.querySelector(".card:not([aria-disabled], [disabled])"));
  press(named("Fold"));
  return false;`;

try {
  const chrome = { args: ["--headless=new", "--no-sandbox", "--window-size=390,740"], mobileEmulation: { deviceMetrics: { width: 390, height: 664, pixelRatio: 2, touch: true } } };
  const { sessionId } = await command("", { capabilities: { alwaysMatch: { "goog:chromeOptions": chrome } } });
  session += `/${sessionId}`;
  /** @type {Record<string, number[]>} */
  const times = { button: [], card: [], place: [], bare: [] };
  let missed = 0;
  const screens = [
    ["bare", "document.body.innerHTML = '<button id=bare>bare</button>'; return true"],
    ["#/", HOME],
    ["#/learn/5", "document.querySelector('.card')?.ariaPressed === 'false' && document.querySelector('.card').click(); return document.querySelector('.place')"],
    ["#/analyse", "return document.querySelectorAll('.place.free').length > 60"],
    ["", PLAY],
  ];
  for (const [address, ready] of screens) {
    await command("/url", { url: "about:blank" });
    if (address !== "bare") await command("/url", { url: `${server}/?lang=en${address}` });
    if (address === "") {
      await wait(HOME);
      await run("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Play against bots').click()");
    }
    await wait(ready);
    await command("/goog/cdp/execute", { cmd: "Emulation.setCPUThrottlingRate", params: { rate: SLOWER } });
    await run(RECORD);
    for (const selector of Object.values(TOUCHED)) {
      const elements = await run("return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility())", selector);
      for (const origin of address === "bare" ? Array(20).fill(elements[0]).filter(Boolean) : elements) {
        await run("arguments[0].scrollIntoView({ block: 'center' })", origin).catch(() => {});
        const before = await run("return seen.length");
        const actions = [{ type: "pointerMove", duration: 0, origin, x: 0, y: 0 }, { type: "pointerDown", button: 0 }, { type: "pause", duration: 90 }, { type: "pointerUp", button: 0 }];
        await command("/actions", { actions: [{ type: "pointer", id: "finger", parameters: { pointerType: "touch" }, actions }] }).catch(() => {});
        if (await run("return seen.length") === before) missed += 1;
      }
    }
    for (const [kind, time] of await run("return seen")) times[kind].push(time);
    await command("/goog/cdp/execute", { cmd: "Emulation.setCPUThrottlingRate", params: { rate: 1 } });
  }
  for (const [kind, all] of Object.entries(times)) {
    all.sort((a, b) => a - b);
    const at = (/** @type {number} */ part) => all[Math.ceil(part * all.length) - 1]?.toFixed(1);
    console.log(`${kind}: ${all.length} touched, median ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`);
    if (kind !== "bare" && !(Number(at(0.95)) <= LIMIT)) process.exitCode = 1;
  }
  console.log(`${missed} covered or gone when they were touched`);
  await fetch(session, { method: "DELETE" });
} finally {
  driver.kill();
}
