// The numbers of a review in whole points.

/** Of 1, in whole points. @param {number} share */
const whole = (share) => Math.round(100 * share);

/**
 * What cards, play and the rest added to a chance, in whole points: together they lead from the one chance
 * to the other, each is the next number above or below.
 *
 * @param {{luck: number, decisions: number, rest: number}} added @param {number} before @param {number} after
 */
export function addedPoints({ luck, decisions, rest }, before, after) {
  const exact = [luck, decisions, rest].map((one) => 100 * one);
  const floors = exact.map(Math.floor);
  const cut = exact.map((one, index) => one - floors[index]);
  const missing = whole(after) - whole(before) - floors[0] - floors[1] - floors[2];
  const raised = [0, 1, 2].sort((a, b) => cut[b] - cut[a]).slice(0, missing);
  return floors.map((one, index) => one + Number(raised.includes(index)));
}

/** A round, as a team sees it. @param {import("../types.js").Review["rounds"][number]} round @param {number} team */
export function roundPoints({ before, luck, decisions, rest, end }, team) {
  const added = { luck: luck[team], decisions: decisions[team], rest: rest[team] };
  return { before: whole(before[team]), added: addedPoints(added, before[team], end[team]) };
}
