// Sentences of the page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, speak } from "./page.mjs";

const { chanceOf, doesWords, eventWords, reasonForAdvice, shortWords, wonWords } = await load("words.js");
const { duration, loadPart, points, t } = await load("lang.js");
const { wordsIn } = await load("rules.js");
const { peopleOf } = await load("analyse/question.js");

const names = ["Anna", "Beat", "Carla", "Dani"];
/** What a reader in seat 3 reads of a play. */
const told = (seat, move) => eventWords({ names, me: 3 }, { type: "card_played", seat, move: { seat, captures: [], parts: [], ...move } });

test("a swap is told by whose pieces change places", async () => {
  await speak("en");
  for (const [mover, owners, words] of [
    [0, [0, 1], "swaps with Beat"],
    [0, [0, 3], "swaps with you"],
    [0, [0, 0], "swaps two pieces"],
    [0, [2, 1], "swaps Carla’s piece with Beat’s"],
    [1, [0, 3], "swaps your piece with Anna’s"],
    [0, [2, 2], "swaps two pieces"],
    [3, [1, 2], "swap Beat’s piece with Carla’s"],
  ]) {
    const parts = owners.map((seat) => ({ seat, from: "1", to: "2" }));
    assert.ok(told(mover, { card: "J", kind: "swap", parts }).includes(words), words);
  }
});

test("a joker is told by what it stands for", async () => {
  for (const [lang, king, jack, seven] of [
    ["en", "a joker as a king", "a joker as a jack", "a joker as 7"],
    ["de", "den Joker als König", "den Joker als Buben", "den Joker als 7"],
    ["fr", "le joker comme roi", "le joker comme valet", "le joker comme 7"],
    ["it", "il jolly come re", "il jolly come fante", "il jolly come 7"],
  ]) {
    await speak(lang);
    for (const [as, words] of [["K", king], ["J", jack], ["7", seven]]) {
      assert.match(told(0, { card: "joker", as, kind: "advance" }), new RegExp(`${words}$`));
    }
  }
});

test("a bot that takes a free seat is no person who has left", async () => {
  await speak("en");
  const says = (seat, more) => eventWords({ names, me: 3, joined: [true, false, false, true], ...more },
    { type: "seat_handed_over", kind: "bot", seat, name: names[seat] });
  assert.deepEqual([0, 1, 3].map((seat) => says(seat)),
    ["A bot plays for Anna.", "Beat (bot) takes the seat.", "A bot plays for you."]);
  const sits = (host) => eventWords({ names, me: 3, host }, { type: "seat_taken", seat: 3, name: "Dani" });
  assert.deepEqual([true, false].map(sits), ["Your table is ready.", "You sit down."]);
});

test("giving up is told with words that are loaded later", async () => {
  await speak("en");
  const said = (me, event) => eventWords({ names, me }, event);
  const offered = { type: "forfeit_offered", seat: 3, offered: true };
  assert.equal(said(3, offered), null);
  await loadPart("finished");
  assert.deepEqual([3, 1, null].map((me) => said(me, offered)),
    ["You offer to give up.", "Dani offers to give up.", "Dani offers to give up."]);
  assert.equal(said(1, { ...offered, offered: false }), "Dani takes back the offer to give up.");
  const team = { type: "team_forfeited", team: 1 };
  assert.deepEqual([3, 0].map((me) => said(me, team)), ["You and Beat give up.", "Beat and Dani give up."]);
});

test("a result is told to its winner, and by the winner to others", async () => {
  await speak("en");
  assert.equal(wonWords({ names, me: 3 }, 1), "You and Beat win!");
  assert.equal(wonWords({ names, me: 3 }, 1, "me"), "Beat and I win!");
  assert.equal(wonWords({ names, me: 3 }, 0, "me"), "Anna and Carla win!");
});

test("opponents are on the left and on the right", async () => {
  await speak("en");
  const around = (seats, seat) => peopleOf({ rules: { seats }, seat }).names;
  assert.deepEqual(around(4, 1), ["Left opponent", "You", "Right opponent", "Partner"]);
  assert.deepEqual(around(6, 0), ["You", "Right opponent 1", "Right opponent 2", "Partner", "Left opponent 2", "Left opponent 1"]);
});

test("a chance and points are told as people write them", async () => {
  await speak("de");
  assert.deepEqual([-0.126, 0, 0.126].map(points), ["−13", "0", "+13"]);
  assert.match(reasonForAdvice({ code: "exposes", probability: 0.31 }, { names, me: 0 }), /^Aber in 3 von 10 Fällen wird/);
});

test("only a chance that is proved is certain", async () => {
  await speak("en");
  const chance = (win_probability, standard_error) => chanceOf({ win_probability, standard_error });
  assert.deepEqual([chance(1, 0), chance(0, 0), chance(0.999, 0.001), chance(0.001, null), chance(0.38, 0.01)],
    ["100%", "0%", "99%", "1%", "38%"]);
});

test("a suggestion is a card and what it does", async () => {
  await speak("en");
  const short = (move) => shortWords({ names, me: 0 }, { move: { seat: 0, kind: "advance", captures: [], parts: [], ...move } });
  assert.deepEqual([short({ card: "4", captures: [{ seat: 1, from: "9" }] }), short({ card: "9" }), short({ card: "joker", as: "K", kind: "leave_kennel" })],
    ["4 · sends Beat home", "9", "joker as K · brings a piece out"]);
  assert.equal(shortWords({ names, me: 0 }, { swap: { card: "K" } }), "Give a king");
});

test("reasons name the partner and the opponents", async () => {
  await speak("en");
  const people = peopleOf({ rules: { seats: 4 }, seat: 0 }, ".said");
  const said = (code, seat) => reasonForAdvice({ code, seat, card: "K", probability: 1 }, people);
  assert.deepEqual([said("brings_home", 2), said("stops_home", 3), said("then_home", 0)], ["Your partner’s piece reaches the goal.",
    "With one card, the left opponent’s piece would have reached the goal. Not any more.", "Then a king can bring a piece into the goal."]);
});

test("what is said of a card or of the deal is true for the sheet", async () => {
  await speak("en");
  assert.match(doesWords("J", { jack_own_pair: false }), /^One of your pieces .* another player/);
  for (const rules of [null, { jack_own_pair: true }]) assert.match(doesWords("J", rules), /^Two pieces/);
  assert.equal(doesWords("9"), "A piece goes 9 forward.");
  await loadPart("rules");
  const deal = (first, then) => wordsIn({ deal_sizes: { first, then } }, "deal_sizes");
  assert.equal(deal([6, 5], [6, 5]), "6, 5, and so on");
  assert.equal(deal([6, 5], [5, 4]), "6, 5, then 5, 4, and so on");
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
