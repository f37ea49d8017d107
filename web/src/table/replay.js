// The steps of a finished game, one for each version that changed the board or the hands.

/** @import {LogEntry, Move, SeatBoard, Table} from "../types.js" */

/** @typedef {{entry: LogEntry, board: SeatBoard[], last: {version: number, move: Move} | null}} ReplayStep */

/** @type {WeakMap<LogEntry[], ReplayStep[]>} */
const known = new WeakMap();

/** Every step of a history. @param {LogEntry[]} entries @param {number} seats @returns {ReplayStep[]} */
export function stepsOf(entries, seats) {
  const found = known.get(entries);
  if (found) return found;
  /** @type {SeatBoard[]} */
  let board = Array.from({ length: seats }, () => ({ track: [], goal: [], kennel: 4, fresh: false }));
  /** @type {ReplayStep["last"]} */
  let last = null;
  const steps = entries.map((entry) => {
    for (const event of entry.events) {
      if (event.type === "cards_dealt") last = null;
      if (event.type !== "card_played") continue;
      last = { version: entry.version, move: event.move };
      board = event.move.board ?? board;
    }
    return { entry, board, last };
  });
  known.set(entries, steps);
  return steps;
}

/** The step that the replay is at, or null. @param {Table} table */
export function replayAt({ history, replay, game }) {
  if (!history || replay === null || !game) return null;
  return stepsOf(history.entries, game.seats.length)[replay] ?? null;
}
