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
