// What the player can choose next, of what the server lists.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./page.mjs";

const { canUndo, holdsUnplayable, nextStep, offerOf } = await load("choose.js");

const NOTHING = { card: null, rank: null, piece: null, seven: [], asking: false, confirm: null };
const part = (from, to, seat = 0) => ({ seat, from, to });
const advance = (card, from, to, as) => ({ id: `${card}:${from}>${to}`, card, as, kind: "advance", seat: 0, parts: [part(from, to)], captures: [] });

/** The table of seat 0, whose turn it is. */
const table = (hand, list, choice) => ({
  seat: 0, choice: { ...NOTHING, ...choice }, moves: list && { version: 1, list },
  game: { actions: [{ route: "play" }], rules: {}, seats: [{ hand }] },
});
/** The table of seat 0 in an exchange. */
const exchange = (rule, choices) => ({
  ...table(["2"], null), game: { actions: [{ route: "swap", choices }], rules: { exchange: rule }, seats: [] },
});

test("a card comes first, then a piece if there are several, then where it goes", () => {
  const moves = [advance("2", "5", "7"), advance("2", "9", "11"), advance("3", "5", "8")];
  const at = (choice) => nextStep(table(["2", "3"], moves, choice));
  assert.deepEqual(at({}), { stage: "card" });
  assert.deepEqual(at({ card: 0 }).pieces.map(({ key }) => key), ["5", "9"]);
  assert.deepEqual(at({ card: 0, piece: "9" }).offers.map(({ id }) => id), ["2:9>11"]);
  assert.deepEqual(at({ card: 1 }).offers.map(({ id }) => id), ["3:5>8"]);
});

test("a joker is asked for its rank only where it has several", () => {
  const [two, king] = [advance("joker", "5", "7", "2"), advance("joker", "5", "18", "K")];
  const at = (list, choice) => nextStep(table(["joker"], list, { card: 0, ...choice }));
  assert.deepEqual(at([king, two]), { stage: "rank", ranks: ["2", "K"] });
  assert.deepEqual(at([king, two], { rank: "K" }).offers.map(({ to }) => to.place), ["18"]);
  assert.equal(at([two]).stage, "target");
});

test("a swap is a choice between two pieces, and a card without a target is played", () => {
  const swap = { id: "J:5<>9", card: "J", kind: "swap", seat: 0, parts: [part("5", "9"), part("9", "5", 1)], captures: [] };
  assert.deepEqual(offerOf(swap).to, { seat: 1, place: "9" });
  const alone = { id: "J:none", card: "J", kind: "no_effect", seat: 0, parts: [], captures: [] };
  assert.equal(nextStep(table(["J"], [alone], { card: 0 })).stage, "play");
  const fold = { id: "fold", kind: "fold", seat: 0, parts: [], captures: [] };
  assert.deepEqual(nextStep(table(["J"], [fold])), { stage: "fold", id: "fold" });
});

test("a seven goes on part by part, with the captures of all of them", () => {
  const captured = (seat) => ({ seat, from: "8" });
  const next = (id, from, to, complete, captures) => ({ id, complete, part: part(from, to), captures });
  const first = next("7:5>8", "5", "8", false, [captured(1)]);
  const last = next("7:5>8,9>13", "9", "13", true, [captured(3)]);
  const at = (seven) => nextStep(table(["7"], [advance("7", "5", "12")], { card: 0, seven }));
  assert.deepEqual(at([]), { stage: "wait" });
  const begun = { shown: { next: [first, last] }, part: null };
  assert.deepEqual(at([begun]).pieces.map(({ key }) => key), ["5", "9"]);
  const { stage, offer } = at([begun, { shown: { next: [last] }, part: first }, { shown: { next: [] }, part: last }]);
  assert.deepEqual([stage, offer.id, offer.captures.map(({ seat }) => seat)], ["play", last.id, [1, 3]]);
});

test("an exchange has the answers that the server has, or those of its rule", () => {
  assert.deepEqual(nextStep(exchange("on_request", ["ask", "pass"])).choices, ["ask", "pass"]);
  assert.deepEqual(nextStep(exchange("optional")).choices, ["card", "ask", "decline"]);
  assert.deepEqual(nextStep(exchange("mandatory")).choices, ["card"]);
});

test("nothing is chosen before the list is there, nor by somebody else", () => {
  assert.deepEqual(nextStep(table(["2"], null)), { stage: "wait" });
  assert.deepEqual(nextStep({ ...table(["2"], []), game: null }), { stage: "wait" });
  const others = table(["2"], []);
  others.game.actions = [];
  assert.deepEqual(nextStep(others), { stage: "none" });
  assert.equal(holdsUnplayable(table(["2"], null)), false);
  assert.equal(holdsUnplayable(table(["2", "K"], [advance("2", "5", "7")])), true);
  assert.deepEqual([{}, { card: 0 }, { confirm: "fold" }].map((choice) => canUndo(table([], [], choice))), [false, true, true]);
});
