// The steps of a finished game, one for each version.

/** @import {GameEvent, LogEntry, ReplayStep, SeatBoard} from "../types.js" */

/** Every step of a history. @param {LogEntry[]} entries @param {number} seats @returns {ReplayStep[]} */
export function stepsOf(entries, seats) {
  /** @type {SeatBoard[]} */
  let board = Array.from({ length: seats }, () => ({ track: [], goal: [], kennel: 4, fresh: false }));
  let hands = board.map(() => /** @type {string[]} */ ([]));
  let round = 0;
  /** @type {ReplayStep["last"]} */
  let last = null;
  return entries.map((entry) => {
    for (const event of entry.events) {
      hands = handsAfter(hands, event);
      if (event.type === "cards_dealt") {
        last = null;
        round = event.round;
      }
      if (event.type !== "card_played") continue;
      last = { version: entry.version, move: event.move };
      board = event.move.board ?? board;
    }
    return { entry, round, board, hands, last };
  });
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
