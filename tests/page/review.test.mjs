// The numbers of a review in whole points, and the sentence on luck and play.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, speak } from "./page.mjs";

const { addedPoints, roundPoints } = await load("review/rounds.js");
const { sentenceOf } = await load("review/sentence.js");
const { loadPart } = await load("lang.js");

test("whole points lead from one chance to the next", () => {
  let seed = 1;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  for (let one = 0; one < 2000; one += 1) {
    const [before, after, decisions] = [random(), random(), random() - 0.5];
    const [luck, play] = addedPoints(decisions, before, after);
    assert.equal(Math.round(100 * before) + luck + play, Math.round(100 * after));
    assert.ok(Math.abs(play - 100 * decisions) <= 0.5);
    assert.ok(Math.abs(luck - 100 * (after - before - decisions)) <= 1.5);
  }
});

test("a round has the numbers of the team", () => {
  const round = { before: [0.494, 0.506], decisions: [0.054, -0.054], end: [0.396, 0.604] };
  assert.deepEqual(roundPoints(round, 0), { before: 49, added: [-14, 5] });
  assert.deepEqual(roundPoints(round, 1), { before: 51, added: [14, -5] });
});

/** A game that team 0 won, with what its play added in each round. @param {number[]} play @param {number} [error] */
function reviewOf(play, error = 0) {
  const decisions = play.reduce((all, one) => all + one, 0);
  const team = (sign) => ({ start: 0.5, decisions: sign * decisions, luck: sign * (0.3 - decisions), rest: sign * 0.2, result: sign > 0 ? 1 : 0 });
  return {
    decisions: [{ standard_error: error }],
    rounds: play.map((one, index) => ({ round: index + 1, decisions: [one, -one] })),
    teams: [{ team: 0, ...team(1) }, { team: 1, ...team(-1) }],
  };
}

const names = ["Anna", "Beat", "Carla", "Dani"];
/** Games, and what winners, losers and others read. */
const GAMES = [
  ["a third given away", reviewOf([0, -0.15, 0.05, -0.16]), [
    "You had luck, gave a third of it away, above all in rounds 2 and 4, and won.",
    "You played better than the others, above all in rounds 2 and 4, but had bad luck and lost.",
    "Anna and Carla had luck, gave a third of it away, above all in rounds 2 and 4, and won.",
  ]],
  ["nothing much", reviewOf([0.02, -0.02]), [
    "No team played clearly better. Luck decided, and you won.",
    "No team played clearly better. Luck decided, and you lost.",
    "Anna and Carla won. No team played clearly better: luck decided.",
  ]],
  // A number within its error is no difference.
  ["nothing that is sure", reviewOf([-0.15], 0.08), [
    "No team played clearly better. Luck decided, and you won.",
    "No team played clearly better. Luck decided, and you lost.",
    "Anna and Carla won. No team played clearly better: luck decided.",
  ]],
  ["both", reviewOf([0.01, 0.2]), [
    "You had luck, played better than the others, above all in round 2, and won.",
    "You had bad luck. The others also played better, above all in round 2, and you lost.",
    "Anna and Carla had luck, played better than the others, above all in round 2, and won.",
  ]],
  // Where no round stands out, none is named.
  ["play", reviewOf(Array.from({ length: 10 }, () => 0.05)), [
    "Luck clearly favoured nobody. You played better than the others and won.",
    "Luck clearly favoured nobody. The others played better and you lost.",
    "Luck clearly favoured nobody. Anna and Carla played better than the others and won.",
  ]],
  ["play against luck", reviewOf([0.9]), [
    "You had bad luck, but played better than the others, above all in round 1, and won.",
    "You had luck, gave away more than it brought, above all in round 1, and lost.",
    "Anna and Carla had bad luck, but played better than the others, above all in round 1, and won.",
  ]],
];

test("a sentence says what luck and play did, to each reader", async () => {
  await speak("en");
  await loadPart("review");
  for (const [what, review, said] of GAMES) {
    assert.deepEqual([2, 1, null].map((me) => sentenceOf(review, { names, me })), said, what);
  }
});

test("the sentence in other languages", async () => {
  const [, review] = GAMES[0];
  // A part is loaded once: by another path it is loaded again.
  for (const [lang, path, won, lost] of [
    ["de", "./review", "Ihr hattet Glück, habt ein Drittel davon verspielt, vor allem in den Runden 2 und 4, und gewonnen.",
      "Trotz besserem Spiel, vor allem in den Runden 2 und 4, habt ihr verloren: Ihr hattet Pech."],
    ["fr", "././review", "Vous avez eu de la chance, en avez gâché un tiers, surtout dans les manches 2 et 4, et avez gagné.",
      "Vous avez mieux joué que les autres, surtout dans les manches 2 et 4, mais n’avez pas eu de chance et avez perdu."],
    ["it", "./././review", "Avete avuto fortuna, ne avete buttato via un terzo, soprattutto nei giri 2 e 4, e avete vinto.",
      "Avete giocato meglio degli altri, soprattutto nei giri 2 e 4, ma avete avuto sfortuna e avete perso."],
  ]) {
    await speak(lang);
    await loadPart(path);
    assert.deepEqual([0, 3].map((me) => sentenceOf(review, { names, me })), [won, lost]);
  }
});
