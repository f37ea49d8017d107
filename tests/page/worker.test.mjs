// A press on a notification leads to its game, and no refusal of a login is kept.

import assert from "node:assert/strict";
import { test } from "node:test";

/** What the worker listens to. @type {Record<string, (event: object) => void>} */
const handlers = {};
/** @type {{url: string, focus: () => string}[]} */
let tabs = [];
globalThis.location = { href: "https://dog.example/sw.js" };
globalThis.self = {
  addEventListener: (type, handler) => { handlers[type] = handler; },
  skipWaiting: () => {},
  clients: { matchAll: async () => tabs, openWindow: async (url) => `opened ${url}` },
};
await import("../../web/sw.js");

/** Presses the notification of a game, and returns what the worker does. */
async function press() {
  let done;
  let closed = false;
  handlers.notificationclick({
    notification: { data: "#/games/abc", close: () => { closed = true; } },
    waitUntil: (promise) => { done = promise; },
  });
  assert(closed);
  return done;
}
const tab = (url) => ({ url, focus: () => `focused ${url}` });

test("the tab of the game gets the focus", async () => {
  tabs = [tab("https://dog.example/"), tab("https://dog.example/?lang=de#/games/abc"), tab("https://other.example/#/games/abc")];
  assert.equal(await press(), "focused https://dog.example/?lang=de#/games/abc");
});

test("without one, a tab is opened", async () => {
  tabs = [tab("https://dog.example/#/games/def")];
  assert.equal(await press(), "opened https://dog.example/#/games/abc");
});

test("a page is kept with its files, but not if a login refuses it", async () => {
  const page = '<script src="page/v/0f/src/main.js"></script>';
  for (const status of [200, 401]) {
    const kept = [];
    globalThis.caches = { open: async () => ({ match: async () => undefined, keys: async () => [], put: async (url) => { kept.push(url); } }) };
    globalThis.fetch = async (url) => new Response(page, { status: url.includes("/v/") ? 200 : status, headers: { "Cache-Control": "immutable" } });
    let done;
    handlers.install({ waitUntil: (promise) => { done = promise; } });
    await done;
    assert.deepEqual([kept.length > 2, kept.length === 0], [status === 200, status === 401]);
  }
});
