// Pieces that hop for joy: at the end of a game, and of a lesson.

import { mayMove, start } from "../table/animate.js";

/** How high a piece jumps, twice, and how it lands. */
const HOP = [[0, 1, 1], [-45, 0.94, 1.08], [0, 1.12, 0.88], [-20, 1, 1], [0, 1, 1]];

/** Has pieces hop where they are, one after the other. @param {Element[]} pieces */
export const hop = (pieces) => pieces.forEach((piece, index) => mayMove() && piece instanceof HTMLElement && start(piece,
  HOP.map(([high, x, y]) => ({ transform: `${piece.style.transform} translateY(${high}%) scale(${x}, ${y})`, easing: "ease-in-out" })),
  { duration: 700, delay: 150 * index }));
