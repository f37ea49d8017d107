// The numbers of a review in whole points.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addedPoints, roundPoints } from "../../web/src/review/rounds.js";

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

test("whole points lead from one chance to the next", () => {
  let seed = 1;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  for (let one = 0; one < 2000; one += 1) {
    const [before, after, luck, decisions] = [random(), random(), random() - 0.5, random() - 0.5];
    const exact = [luck, decisions, after - before - luck - decisions];
    const added = addedPoints({ luck, decisions, rest: exact[2] }, before, after);
    assert.equal(Math.round(100 * before) + sum(added), Math.round(100 * after));
    added.forEach((points, index) => assert.ok(Math.abs(points - 100 * exact[index]) <= 1, `${points} ${exact[index]}`));
  }
});

test("a round has the numbers of the team", () => {
  const round = { before: [0.494, 0.506], luck: [-0.134, 0.134], decisions: [0.054, -0.054], rest: [-0.018, 0.018], end: [0.396, 0.604] };
  assert.deepEqual(roundPoints(round, 0), { before: 49, added: [-13, 6, -2] });
  assert.deepEqual(roundPoints(round, 1), { before: 51, added: [13, -6, 2] });
});
