// The steps of a finished game, one for each version that changed the board or the hands.

/** @import {GameEvent, LogEntry, Move, SeatBoard, Table} from "../types.js" */

/**
 * The table after an entry. The hands are those of all seats, which the history of a finished game shows.
 *
 * @typedef {{
 *   entry: LogEntry, board: SeatBoard[], hands: string[][], last: {version: number, move: Move} | null,
 * }} ReplayStep
 */

/** @type {WeakMap<LogEntry[], ReplayStep[]>} */
const known = new WeakMap();

/** Every step of a history. @param {LogEntry[]} entries @param {number} seats @returns {ReplayStep[]} */
export function stepsOf(entries, seats) {
  const found = known.get(entries);
  if (found) return found;
  /** @type {SeatBoard[]} */
  let board = Array.from({ length: seats }, () => ({ track: [], goal: [], kennel: 4, fresh: false }));
  let hands = board.map(() => /** @type {string[]} */ ([]));
  /** @type {ReplayStep["last"]} */
  let last = null;
  const steps = entries.map((entry) => {
    for (const event of entry.events) {
      hands = handsAfter(hands, event);
      if (event.type === "cards_dealt") last = null;
      if (event.type !== "card_played") continue;
      last = { version: entry.version, move: event.move };
      board = event.move.board ?? board;
    }
    return { entry, board, hands, last };
  });
  known.set(entries, steps);
  return steps;
}

/** A hand without one of these cards. @param {string[]} hand @param {string | null | undefined} card */
const without = (hand, card) => hand.filter((_, index) => index !== hand.findIndex((one) => one === card));

/** @param {string[][]} hands @param {GameEvent} event @returns {string[][]} */
function handsAfter(hands, event) {
  switch (event.type) {
    case "cards_dealt": return event.hands.map((hand) => hand ?? []);
    case "cards_swapped": {
      const [one, other] = event.given;
      const after = hands.map((hand, seat) =>
        without(hand, event.given.find((given) => given.seat === seat)?.card));
      if (other.card) after[one.seat].push(other.card);
      if (one.card) after[other.seat].push(one.card);
      return after;
    }
    case "card_played": return hands.map((hand, seat) => (seat === event.seat ? without(hand, event.move.card) : hand));
    case "hand_folded": return hands.map((hand, seat) => (seat === event.seat ? [] : hand));
    default: return hands;
  }
}

/** The step that the replay is at, or null. @param {Table} table */
export function replayAt({ history, replay, game }) {
  if (!history || replay === null || !game) return null;
  return stepsOf(history.entries, game.seats.length)[replay] ?? null;
}
