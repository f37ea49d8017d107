// The shapes of the seats' pieces, by the names that the layout gives them.

/** The corners of each shape for a piece of radius 1, as board.svg draws them; a disc has none. */
/** @type {Record<string, string>} */
const CORNERS = {
  square: "-.86-.86 .86-.86 .86 .86-.86 .86",
  triangle: "0-1.16 1.1 .8-1.1 .8",
  cross: "-.4-1.05 .4-1.05 .4-.4 1.05-.4 1.05 .4 .4 .4 .4 1.05-.4 1.05-.4 .4-1.05 .4-1.05-.4-.4-.4",
  diamond: "0-1.2 1 0 0 1.2-1 0",
  star: "0-1.2 .35-.41 1.14-.37 .57 .16 .71 .97 0 .57-.71 .97-.57 .16-1.14-.37-.35-.41",
};

const DISC = "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z";

/** The path of a shape with radius 1 around 0 0. @param {string} shape */
export const shapePath = (shape) => (shape in CORNERS ? `M${CORNERS[shape]}Z` : DISC);

const CHECK = "M-1.1 .1L-.7-.3L-.3 .1L.7-.9L1.1-.5L-.3 .9Z";
const BAR = "M-1-.25H1V.25H-1Z";

/** A shape for what `statesOf` says of a seat, and for what the seat has done in the round, around 0 0. */
/** @type {Record<string, string>} */
export const STATE_SHAPES = {
  here: DISC,
  // A ring, and rings with a hand of a clock or a half.
  offline: `${DISC}M-.6 0A.6 .6 0 1 0 .6 0A.6 .6 0 1 0-.6 0Z`,
  away: `${DISC}M-.7 0A.7 .7 0 1 0 .7 0H.15V-.5H-.15V0Z`,
  waiting: "M-1-1H1L.2 0 1 1H-1L-.2 0Z",
  "stand-in": `${DISC}M0-.7A.7 .7 0 0 0 0 .7Z`,
  bot: "M-1-.6H-.15V-1H.15V-.6H1V1H-1ZM-.6-.1V.3H-.2V-.1ZM.2-.1V.3H.6V-.1Z",
  open: "M-1-1H1V1H-1ZM-.7-.7V.7H.7V-.7Z",
  pending: "M-1.1-.25H-.6V.25H-1.1ZM-.25-.25H.25V.25H-.25ZM.6-.25H1.1V.25H.6Z",
  asked: "M-.3-1.1H.3L.2 .3H-.2ZM-.25 .6H.25V1.1H-.25Z",
  offered: CHECK,
  swapped: CHECK,
  passed: BAR,
  declined: BAR,
  kept: BAR,
  folded: "M-1-1.1H1V-.7H-1ZM0 1.1L-.9 .1H-.3V-.4H.3V.1H.9Z",
};
