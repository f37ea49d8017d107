// Where things are on the board.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./page.mjs";

const { distance, gapOf, ownerOf, piecesOf, pointOf, spread, trackLength, wayOf } = await load("table/geometry.js");

/** A track of sixteen fields on a circle, and places of seat 0 in its middle. */
const places = Object.fromEntries(Array.from({ length: 16 }, (_, field) =>
  [field, { x: 50 + 40 * Math.cos((field * Math.PI) / 8), y: 50 + 40 * Math.sin((field * Math.PI) / 8) }]));
const layout = { places: { ...places, "0:kennel:0": { x: 49, y: 50 }, "0:kennel:1": { x: 51, y: 50 }, "0:goal:0": { x: 50, y: 60 } } };

test("a piece in the kennel has a hole of its own", () => {
  assert.equal(trackLength(layout), 16);
  assert.ok(Math.abs(gapOf(layout) - distance(places[0], places[1])) < 1e-9);
  const kennel = { seat: 0, place: "kennel" };
  assert.deepEqual([1, 2].map((waiting) => pointOf(layout, kennel, waiting).x), [49, 51]);
  const way = wayOf(layout, { seat: 0, from: "kennel", to: "0", path: [] }, 2);
  assert.deepEqual(way, [{ x: 51, y: 50 }, places[0]]);
  assert.deepEqual(wayOf(layout, { seat: 0, from: "15", to: "goal:0", path: ["0", "goal:0"] }, 0),
    [places[15], places[0], { x: 50, y: 60 }]);
});

test("every piece is found, and its owner only on the track", () => {
  const board = [{ track: [3], goal: [0], kennel: 2 }, { track: [5, 9], goal: [], kennel: 2 }];
  assert.equal(piecesOf(board).length, 8);
  assert.deepEqual(["3", "9", "4", "kennel", "goal:3"].map((place) => ownerOf(board, place)), [0, 1, null, null, null]);
});

test("buttons are moved apart, stay near, and stay inside", () => {
  const bounds = { x: 0, y: 0, width: 100, height: 100 };
  const points = [[50, 50], [52, 50], [50, 53], [99, 99], [98, 97]].map(([x, y]) => ({ x, y }));
  const spots = spread(points, 10, 10, bounds);
  spots.forEach((spot, index) => {
    assert.ok(Math.min(spot.x, spot.y) >= 5 && Math.max(spot.x, spot.y) <= 95, JSON.stringify(spot));
    assert.ok(distance(spot, points[index]) < 30);
    spots.slice(index + 1).forEach((other) => assert.ok(distance(spot, other) >= 10 - 1e-9));
  });
  const far = [{ x: 20, y: 20 }, { x: 60, y: 60 }];
  assert.deepEqual(spread(far, 10, 10, bounds), far);
});
