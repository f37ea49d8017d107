// The results of the days on this device.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./page.mjs";

const { rowOf, streakOf } = await load("puzzles/streak.js");

const solved = (...days) => days.map((day, number) => ({ number, answer: {}, right: day > 0, day: Math.abs(day) }));

test("a streak is of days in a row, until today or yesterday", () => {
  assert.equal(streakOf([], 100), 0);
  assert.equal(streakOf(solved(100), 100), 1);
  assert.equal(streakOf(solved(99, 98, 97), 100), 3);
  assert.equal(streakOf(solved(100, 99, 97), 100), 2);
  assert.equal(streakOf(solved(98, 97), 100), 0);
  // One that was missed ends it, today's too.
  assert.equal(streakOf(solved(100, -99, 98), 100), 1);
  assert.equal(streakOf(solved(-100, 99, 98), 100), 0);
  // Puzzles of other days do not count.
  assert.equal(streakOf([{ number: 1, answer: {}, right: true, day: null }], 100), 0);
});

test("a row has a week, the latest last", () => {
  assert.deepEqual(rowOf(solved(100, -98, 94, 93), 100), [true, null, null, null, false, null, true]);
});
