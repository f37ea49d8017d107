// What the server did for a player whose time was up is said until the player does something.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

globalThis.document = { documentElement: { lang: "en" } };
globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)));
const { loadWords } = await import("../../web/src/lang.js");
const { entryWords, lateWords } = await import("../../web/src/words.js");
await loadWords();

const people = { names: ["Anna", "Beat", "Carla", "Dani"], me: 0 };
const entry = (...events) => ({ version: 1, at: "", events });
const gave = (seat, by) => entry({ type: "card_offered", seat, card: seat === 0 ? "K" : null, by });
const swapped = entry({ type: "cards_swapped", given: [{ seat: 0, card: "K" }, { seat: 2, card: "5" }] });

test("a card that was given in the player's place is told", () => {
  const words = "Time ran out: You give a king.";
  assert.equal(entryWords(people, gave(0, "clock")), words);
  assert.equal(lateWords(people, [gave(0, "clock"), gave(2), swapped]), words);
});

test("it is told until the player does something", () => {
  assert.equal(lateWords(people, [gave(0, "clock"), entry({ type: "hand_folded", seat: 0, cards: ["2"] })]), null);
});

test("what others do and what players do themselves is told as ever", () => {
  assert.equal(lateWords(people, [gave(0), gave(1, "clock")]), null);
  assert.equal(entryWords(people, gave(0)), "");
  assert.equal(lateWords({ ...people, me: null }, [gave(0, "clock"), swapped]), null);
});
