// The numbers of a review in whole points.

/** Of 1, in whole points. @param {number} share */
const whole = (share) => Math.round(100 * share);

/**
 * What luck and play added to a chance, in whole points: together they lead from the one chance to the
 * other. Luck is all that is not play.
 *
 * @param {number} decisions @param {number} before @param {number} after
 */
export function addedPoints(decisions, before, after) {
  const play = whole(decisions);
  return [whole(after) - whole(before) - play, play];
}

/** A round, as a team sees it. @param {import("../types.js").Review["rounds"][number]} round @param {number} team */
export const roundPoints = ({ before, decisions, end }, team) =>
  ({ before: whole(before[team]), added: addedPoints(decisions[team], before[team], end[team]) });
