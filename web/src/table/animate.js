// Moves the pieces of the last move along their ways.

import { pointOf, wayOf } from "./geometry.js";

/** @import {Layout, Move, Part, Point, SeatBoard} from "../types.js" */

/** Milliseconds for one step, for a move at most, and for a captured piece. */
const STEP = 75;
const MOST = 800;
const CAPTURE = 350;

/** Milliseconds for each of so many steps. @param {number} steps */
export const stepTime = (steps) => Math.min(STEP, MOST / steps);

/**
 * @param {Element} root of the board, which shows the position after the move
 * @param {Layout} layout @param {Move} move @param {SeatBoard[]} board
 */
export function animateMove(root, layout, move, board) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden) return;
  /** @param {number} seat @param {string} place @param {number} slot */
  const piece = (seat, place, slot) =>
    root.querySelector(`.piece[data-seat="${seat}"][data-place="${place}"]${slot ? `[data-slot="${slot}"]` : ""}`);
  const parts = /** @type {Part[]} */ (move.parts);
  const steps = parts.reduce((sum, part) => sum + Math.max(part.steps, 1), 0);
  const step = stepTime(steps);
  let delay = 0;
  for (const part of parts) {
    const way = wayOf(layout, part, (board[part.seat].kennel ?? 0) + 1);
    const time = part.steps > 0 ? step * part.steps : 450;
    run(piece(part.seat, part.to, 0), way, delay, time);
    // The two pieces of a swap change places at the same time.
    if (move.kind !== "swap") delay += time;
  }
  /** @type {Record<number, number>} */
  const back = {};
  for (const { seat, from } of [...move.captures].reverse()) {
    const slot = (board[seat].kennel ?? 0) - (back[seat] ?? 0);
    back[seat] = (back[seat] ?? 0) + 1;
    const way = [pointOf(layout, { seat, place: from }), pointOf(layout, { seat, place: "kennel" }, slot)];
    run(piece(seat, "kennel", slot), way, Math.max(delay - 100, 0), CAPTURE);
  }
}

/** @param {Element | null} element @param {Point[]} way @param {number} delay @param {number} duration */
function run(element, way, delay, duration) {
  for (const running of element?.getAnimations() ?? []) running.cancel();
  element?.animate(
    way.map(({ x, y }) => ({ transform: `translate(${x}px, ${y}px)` })),
    { delay, duration, fill: "backwards", easing: way.length > 2 ? "linear" : "ease-in-out" },
  );
}
