// The results of the days on this device.

/** @import {SavedPuzzle} from "../types.js" */

/** The days of a row of results. */
const ROW = 7;

/** The results of the last days, the latest last; null for a day without one. @param {SavedPuzzle[]} saved @param {number} today */
export const rowOf = (saved, today) => Array.from({ length: ROW }, (_, index) =>
  saved.find(({ day }) => day === today - ROW + 1 + index)?.right ?? null);

/** On how many days in a row the puzzle was solved, until today, or until yesterday if today's is open. @param {SavedPuzzle[]} saved @param {number} today */
export function streakOf(saved, today) {
  const days = new Map(saved.map(({ day, right }) => [day, right]));
  let day = days.has(today) ? today : today - 1;
  const last = day;
  while (days.get(day)) day -= 1;
  return last - day;
}
