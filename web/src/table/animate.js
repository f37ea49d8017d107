// Moves the pieces of the last move along their ways, and its card to the middle. Only `transform` and
// `opacity` of whole elements change, which a browser does without painting anything again.

import { cardSize, centreOf, gapOf, pieceSize, pointOf, shift, wayOf } from "./geometry.js";

/** @import {Bounds, Layout, Move, Part, Point, SeatBoard} from "../types.js" */

/** Milliseconds for one step, for a move at most, for a captured piece, and for a card. */
const STEP = 75;
const MOST = 800;
const CAPTURE = 650;
const CARD = 380;

/** Whether something may move. */
export const mayMove = () => !matchMedia("(prefers-reduced-motion: reduce)").matches && !document.hidden;

/** Milliseconds for each of this many steps. @param {number} steps */
export const stepTime = (steps) => Math.min(STEP, MOST / steps);

/** What moves, or did. The browser would look at all styles before it tells. @type {WeakMap<Element, Animation>} */
const running = new WeakMap();

/** Moves an element, and no longer as before. @param {Element | null} element @param {Keyframe[]} frames @param {KeyframeAnimationOptions} how */
export function start(element, frames, how) {
  if (!element) return;
  running.get(element)?.cancel();
  running.set(element, element.animate(frames, { ...how, id: element.getAttribute("data-place") ?? "" }));
}

/** Stops pieces on their way to where they no longer are, as when a replay goes back. @param {Element} root of the board */
export function stop(root) {
  for (const piece of root.querySelectorAll(".piece")) {
    if (running.get(piece)?.id !== piece.getAttribute("data-place")) running.get(piece)?.cancel();
  }
}

/**
 * @param {Element} root of the board, which shows the position after the move
 * @param {Layout} layout @param {Bounds} bounds @param {Move} move @param {SeatBoard[]} board
 */
export function animateMove(root, layout, bounds, move, board) {
  if (!mayMove()) return;
  const gap = gapOf(layout);
  /** @param {number} seat @param {string} place @param {number} slot @param {Point[]} way @param {number} delay @param {number} duration */
  const run = (seat, place, slot, way, delay, duration) => {
    const piece = root.querySelector(`.piece[data-seat="${seat}"][data-place="${place}"][data-slot="${slot}"]`);
    start(piece, way.map((point) => ({ transform: shift(point, pieceSize(place, gap), bounds) })),
      { delay, duration, fill: "backwards", easing: way.length > 2 ? "linear" : "ease-in-out" });
    return piece;
  };
  const parts = /** @type {Part[]} */ (move.parts);
  const steps = parts.reduce((sum, part) => sum + Math.max(part.steps, 1), 0);
  const step = stepTime(steps);
  let delay = 0;
  for (const part of parts) {
    const way = wayOf(layout, part, (board[part.seat].kennel ?? 0) + 1);
    const time = part.steps > 0 ? step * part.steps : 450;
    run(part.seat, part.to, 0, way, delay, time);
    // The two pieces of a swap change places at the same time.
    if (move.kind !== "swap") delay += time;
  }
  /** @type {Record<number, number>} */
  const back = {};
  for (const { seat, from } of [...move.captures].reverse()) {
    const slot = (board[seat].kennel ?? 0) - (back[seat] ?? 0);
    back[seat] = (back[seat] ?? 0) + 1;
    const way = [pointOf(layout, { seat, place: from }), pointOf(layout, { seat, place: "kennel" }, slot)];
    const after = Math.max(delay - 100, 0);
    const captured = run(seat, "kennel", slot, way, after, CAPTURE);
    // It rolls: the badge turns, and the light stays.
    const turns = way[1].x < way[0].x ? -2 : 2;
    captured?.querySelector(".badge")?.animate([{ transform: "rotate(0deg)" }, { transform: `rotate(${360 * turns}deg)` }],
      { delay: after, duration: CAPTURE, easing: "ease-in-out" });
  }
  const card = root.querySelector(".last-card");
  const size = cardSize(layout, bounds);
  const home = pointOf(layout, { seat: move.seat, place: "kennel" }, 2);
  start(card, [
    { transform: `${shift(home, size, bounds)} scale(.33)`, opacity: 0 },
    { transform: `${shift(centreOf(bounds), size, bounds)} scale(1)`, opacity: 1 },
  ], { duration: CARD, easing: "ease-out" });
}

/** Shows how a card comes from somewhere. The card itself does not move, so it can be pressed. @param {Element | null} card @param {Element | null} from */
export function animateCard(card, from) {
  if (!card || !from || !mayMove()) return;
  const [a, b] = [from.getBoundingClientRect(), card.getBoundingClientRect()];
  const flying = document.createElement("div");
  flying.className = "card flying";
  flying.setAttribute("aria-hidden", "true");
  flying.append(...card.cloneNode(true).childNodes);
  Object.assign(flying.style, { left: `${b.x}px`, top: `${b.y}px`, width: `${b.width}px`, height: `${b.height}px` });
  card.closest("main")?.append(flying);
  const by = `translate(${a.x + a.width / 2 - b.x - b.width / 2}px, ${a.y + a.height / 2 - b.y - b.height / 2}px)`;
  const flight = flying.animate([{ transform: `${by} scale(.4)`, opacity: 0.4 }, { transform: "translate(0px, 0px) scale(1)", opacity: 1 }],
    { duration: CARD, easing: "ease-out" });
  flight.onfinish = flight.oncancel = () => flying.remove();
  card.animate([{ opacity: 0 }, { opacity: 0, offset: 0.8 }, { opacity: 1 }], { duration: CARD });
}
