// Where things are on the board: sizes that follow from the layout, and room for buttons.

/** @import {Bounds, Layout, Part, Point, SeatBoard, Size, Spot} from "../types.js" */

/** @param {Point} a @param {Point} b */
export const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/** The number of fields of the track. @param {Layout} layout */
export const trackLength = (layout) => Object.keys(layout.places).filter((key) => !key.includes(":")).length;

/** The smallest distance of two neighbours on the track. @param {Layout} layout */
export function gapOf(layout) {
  const length = trackLength(layout);
  let gap = Infinity;
  for (let field = 0; field < length; field += 1) {
    gap = Math.min(gap, distance(layout.places[field], layout.places[(field + 1) % length]));
  }
  return gap;
}

/**
 * The place of a piece in the layout. For a kennel, `waiting` is the number of pieces in it with
 * this one: they fill its places from 0.
 *
 * @param {Layout} layout @param {Spot} spot @param {number} [waiting] @returns {Point}
 */
export function pointOf(layout, { seat, place }, waiting = 1) {
  const key = place === "kennel" ? `${seat}:kennel:${Math.min(Math.max(waiting, 1), 4) - 1}`
    : place.includes(":") ? `${seat}:${place}` : place;
  return layout.places[key] ?? { x: 0, y: 0 };
}

/** Every piece with its place. @param {SeatBoard[]} board */
export function piecesOf(board) {
  return board.flatMap((one, seat) => [
    ...one.track.map((field) => ({ seat, place: String(field), slot: 0 })),
    ...one.goal.map((depth) => ({ seat, place: `goal:${depth}`, slot: 0 })),
    ...Array.from({ length: one.kennel ?? 0 }, (_, slot) => ({ seat, place: "kennel", slot: slot + 1 })),
  ]);
}

/** Whose piece is on a field of the track, or null. @param {SeatBoard[]} board @param {string} place */
export function ownerOf(board, place) {
  const owner = board.findIndex((one) => one.track.includes(Number(place)));
  return owner < 0 || place.includes(":") || place === "kennel" ? null : owner;
}

/** The points that a piece moves over, from its place to its target. @param {Layout} layout @param {Part} part @param {number} waiting */
export function wayOf(layout, part, waiting) {
  const way = part.path?.length ? part.path : [part.to];
  return [
    pointOf(layout, { seat: part.seat, place: part.from }, waiting),
    ...way.map((place) => pointOf(layout, { seat: part.seat, place })),
  ];
}

/**
 * The part of the layout in which something is drawn, with a margin.
 *
 * @param {Layout} layout @param {number} [room] around it, in fields @returns {Bounds}
 */
export function boundsOf(layout, room = 0.85) {
  const points = Object.values(layout.places);
  const margin = room * gapOf(layout);
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [x, y] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  return { x, y, width: Math.max(...xs) + margin - x, height: Math.max(...ys) + margin - y };
}

/** @param {Bounds} bounds @returns {Point} */
export const centreOf = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/** The size of a piece with its shadow. The places of a kennel are closer to each other. @param {string} place @param {number} gap @returns {Size} */
export function pieceSize(place, gap) {
  const side = 3.1 * (place === "kennel" ? 0.4 : 0.45) * gap;
  return { width: side, height: side };
}

/** The size of the card in the middle of the board, which covers no place. @param {Layout} layout @param {Bounds} bounds @returns {Size} */
export function cardSize(layout, bounds) {
  const gap = gapOf(layout);
  const centre = centreOf(bounds);
  const free = Math.min(...Object.values(layout.places).map((place) => distance(place, centre))) - 0.6 * gap;
  // A card of the size 3 by 4.2 has a radius of 2.6.
  const scale = Math.min(gap, free / 2.6);
  return { width: 3.2 * scale, height: 4.4 * scale };
}

/** The `transform` that brings the middle of an element of some size from the corner of the board to a point. @param {Point} point @param {Size} size @param {Bounds} bounds */
export const shift = ({ x, y }, { width, height }, bounds) =>
  `translate(${((100 * (x - bounds.x)) / width - 50).toFixed(2)}%, ${((100 * (y - bounds.y)) / height - 50).toFixed(2)}%)`;

/** @param {number} part @param {number} whole */
const percent = (part, whole) => `${(100 * part) / whole}%`;

/** The style of an element with its middle on a point of the board. @param {Point} point @param {Size} size @param {Bounds} bounds */
export const placed = (point, size, bounds) => ({
  width: percent(size.width, bounds.width), height: percent(size.height, bounds.height), transform: shift(point, size, bounds),
});

/** The style of a round button on a point of the board. @param {Point} point @param {number} size @param {Bounds} bounds */
export const pressedAt = ({ x, y }, size, bounds) => ({
  left: percent(x - bounds.x, bounds.width), top: percent(y - bounds.y, bounds.height),
  width: percent(size, bounds.width), height: percent(size, bounds.height),
});

/**
 * Moves buttons apart that would overlap. Returns where each goes, at or near its place.
 *
 * @param {Point[]} points @param {number} size the diameter of a button
 * @param {number} apart how far from each other their middles are at least
 * @param {Bounds} bounds where they must stay
 * @returns {Point[]}
 */
export function spread(points, size, apart, bounds) {
  /** @type {Point[]} */
  const placed = [];
  const half = size / 2;
  for (const point of points) {
    const candidates = [point];
    for (const far of [0.2, 0.35, 0.5, 0.65, 0.8, 1.05, 1.3, 1.6, 2.1, 2.7, 3.3]) {
      for (let turn = 0; turn < 16; turn += 1) {
        const angle = (turn * Math.PI) / 8;
        candidates.push({ x: point.x + far * size * Math.cos(angle), y: point.y + far * size * Math.sin(angle) });
      }
    }
    const free = candidates.find((one) => one.x >= bounds.x + half && one.y >= bounds.y + half
      && one.x <= bounds.x + bounds.width - half && one.y <= bounds.y + bounds.height - half
      && placed.every((other) => distance(one, other) >= apart)
      // Not on the place of another button.
      && points.every((other) => other === point || one === point || distance(one, other) >= 0.5 * size));
    placed.push(free ?? point);
  }
  return placed;
}
