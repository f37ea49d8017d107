// What the analysis reads of an address, and what it says is wrong there.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf, readQuestion, seedOf } from "../../web/src/analyse/address.js";

const sheet = (name, fields) => ({
  name, default: name === "dogspiel-it",
  rules: { preset: name, seats: 4, fields_per_seat: fields, capture_own: true, exchange: "mandatory", deal_sizes: { first: [6], then: [6] } },
});
const sheets = [sheet("hausregeln", 15), sheet("dogspiel-it", 16)];
const read = (text) => readQuestion(text, sheets);
/** What is wrong, part by part. */
const faults = (text) => read(text).faults.map(({ part, word }) => `${part} ${word}`);

test("a whole question is read, and written the same", () => {
  const text = "rules=hausregeln+capture_own%3Dfalse&position=0f,9,g2/17/-/46&seat=2&hand=7,K,joker&gave=2&received=K&played=2:7,3:fold.3.8&samples=400";
  assert.deepEqual(faults(text), []);
  assert.equal(addressOf(read(text).question), `#/analyse?${text}`);
  assert.deepEqual(read(text).question.played, [{ seat: 2, cards: ["7"], fold: false }, { seat: 3, cards: ["3", "8"], fold: true }]);
});

test("what may be left out is not wrong", () => {
  for (const text of ["", "position=", "hand=&played=", "phase=play&seat=0", "position=-/-/-/-", "rules=+seats%3D6", "hand=7,K.", "utm_source=mail"]) {
    assert.deepEqual(faults(text), [], text);
  }
  const { question } = read("");
  assert.deepEqual([question.rules, question.seat, question.exchanging, question.gave], [{ seats: 4, preset: "dogspiel-it" }, 0, false, null]);
});

test("each word that is wrong is named with its part", () => {
  for (const [text, ...expected] of [
    ["position=99/1/2/3", "board 99"],
    ["position=5,5/5/g7 g1 g1/-", "board 5", "board 5", "board g7", "board g1"],
    ["position=0,1,2,3,4/-/-/-", "board 4"],
    ["position=1/2", "board 1/2"],
    ["hand=X,7", "hand X"],
    ["rules=foo", "rules foo"],
    ["rules=hausregeln+bar%3D1+seats%3D5+capture_own%3D3+exchange", "rules bar=1", "rules seats=5", "rules capture_own=3", "rules exchange"],
    ["seat=4", "seat 4"],
    ["seat=-1", "seat -1"],
    ["phase=deal", "exchanging deal"],
    ["samples=5", "samples 5"],
    ["gave=X&received=2,3", "gave X", "received 2,3"],
    ["played=0:7,4:7,1:X,2:fold.3.Y,3:2.3", "played 4:7", "played 1:X", "played 2:fold.3.Y", "played 3:2.3"],
  ]) {
    assert.deepEqual(faults(text), expected, text);
  }
});

test("the rest of the address counts", () => {
  const { question } = read("rules=hausregeln+bar%3D1&position=99/1/2/3&hand=X,7&seat=3");
  assert.deepEqual([question.rules.preset, question.board, question.hand, question.seat],
    ["hausregeln", [[], ["1"], ["2"], ["3"]], ["7"], 3]);
});

test("a question has its seed, and thinking longer another", () => {
  const seed = (text) => seedOf(read(`rules=hausregeln+seats%3D6+capture_own%3Dfalse&position=0/-/-/-/-/-&${text}`).question);
  assert.equal(seed("hand=7,K"), seed("hand=7,K"));
  assert.equal(seedOf(read("rules=hausregeln+capture_own%3Dfalse+seats%3D6").question), seedOf(read("rules=hausregeln+seats%3D6+capture_own%3Dfalse").question));
  assert.equal(new Set(["hand=7,K", "hand=7,Q", "hand=7,K&samples=400", "hand=7,K&samples=4000"].map(seed)).size, 4);
});
