// Sentences of the page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, speak } from "./page.mjs";

const { eventWords } = await load("words.js");
const { duration, t } = await load("lang.js");

const names = ["Anna", "Beat", "Carla", "Dani"];
/** What a reader in seat 3 reads of a play. */
const told = (seat, move) => eventWords({ names, me: 3 }, { type: "card_played", seat, move: { seat, captures: [], parts: [], ...move } });

test("a swap is told by whose pieces change places", async () => {
  await speak("en");
  for (const [mover, owners, words] of [
    [0, [0, 1], "swaps with Beat"],
    [0, [0, 3], "swaps with you"],
    [0, [0, 0], "swaps two pieces"],
    [0, [2, 1], "swaps pieces of Carla and Beat"],
    [3, [1, 2], "swap pieces of Beat and Carla"],
  ]) {
    const parts = owners.map((seat) => ({ seat, from: "1", to: "2" }));
    assert.ok(told(mover, { card: "J", kind: "swap", parts }).includes(words), words);
  }
});

test("names in other scripts keep their direction to themselves", async () => {
  await speak("en");
  assert.equal(t("event.seat_back", { name: "דוד 12" }), "\u2068דוד 12\u2069 is back.");
  assert.equal(t("event.seat_back", { name: "Anna" }), "Anna is back.");
});

test("one is not many, in each language", async () => {
  for (const [lang, one, many] of [
    ["en", "1 card", "2 cards"], ["de", "1 Karte", "2 Karten"], ["fr", "1 carte", "2 cartes"], ["it", "1 carta", "2 carte"],
  ]) {
    await speak(lang);
    assert.deepEqual([1, 2].map((n) => t("cards", { n })), [one, many]);
  }
  await speak("en");
  assert.deepEqual([30_000, 60_000, 90_000].map(duration), ["30 seconds", "1 minute", "90 seconds"]);
});
