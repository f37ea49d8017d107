// Sounds are heard again after the browser has interrupted them.

import assert from "node:assert/strict";
import { test } from "node:test";

/** What the page listens to. @type {Record<string, () => void>} */
const handlers = {};
globalThis.addEventListener = (type, handler) => { handlers[type] = handler; };
let tones = 0;
let context;
const node = () => ({
  connect: (next) => next, start: () => { tones += 1; }, stop() {},
  frequency: { setValueAtTime() {}, exponentialRampToValueAtTime() {} },
  gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} },
});
globalThis.AudioContext = class {
  constructor() { context = this; }
  state = "running";
  currentTime = 0;
  createOscillator = node;
  createGain = node;
  async resume() { this.state = "running"; }
};
const { capturing } = await import("../../web/src/table/sounds.js");

test("a press resumes what a phone call has interrupted", () => {
  capturing(0);
  assert.equal(tones, 1);
  context.state = "interrupted";
  capturing(0);
  assert.equal(tones, 1);
  handlers.pointerup();
  capturing(0);
  assert.equal(tones, 2);
});
