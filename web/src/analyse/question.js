// What a tap changes in the question of an analysis. The page knows no rules: the server says whether
// the question can be answered.

import { t } from "../lang.js";

/** @import {Analysis, Question, SeatBoard} from "../types.js" */
/** @import {People} from "../words.js" */

/** How the players of a position are called, as its own player sees them. @param {{rules: {seats: number}, seat: number}} question @param {"" | ".said"} [how] alone, or in a sentence @returns {People} */
export const peopleOf = ({ rules: { seats }, seat }, how = "") => ({
  me: seat,
  names: Array.from({ length: seats }, (_, other) => {
    const far = (other - seat + seats) % seats;
    if (far === 0) return t("you");
    if (far === seats / 2) return t(`analyse.partner${how}`);
    // The next to play sits on the right.
    const opponent = t(`analyse.opponent.${far < seats / 2 ? "right" : "left"}${how}`);
    return seats > 4 ? `${opponent} ${Math.min(far, seats - far)}` : opponent;
  }),
});

/** A seat's own start. @param {Question} question @param {number} seat */
const startOf = ({ fields }, seat) => String(seat * fields);

/** Pieces of a seat that are in its kennel. @param {Question} question @param {number} seat */
export const kennelOf = ({ board }, seat) => 4 - board[seat].length;

/** The board as the API shows it. @param {Pick<Question, "board">} question @returns {SeatBoard[]} */
export const boardOf = ({ board }) => board.map((pieces) => ({
  track: pieces.filter((one) => !one.startsWith("g")).map((one) => parseInt(one, 10)),
  goal: pieces.filter((one) => one.startsWith("g")).map((one) => Number(one.slice(1))),
  kennel: 4 - pieces.length,
  fresh: pieces.some((one) => one.endsWith("f")),
}));

/**
 * What is on a place: the seat, and how the text of the position writes it.
 *
 * @param {Question} question @param {number | null} goalOf the seat whose goal it is @param {string} place such as `17` or `g2`
 */
export function pieceAt({ board }, goalOf, place) {
  for (const [seat, pieces] of board.entries()) {
    const text = pieces.find((one) => one === place || one === `${place}f`);
    if (text && (goalOf === null || goalOf === seat)) return { seat, text };
  }
  return null;
}

/**
 * Places a piece, or takes it away. On its own start it is fresh first, then not fresh.
 *
 * @param {Analysis} analysis @param {number | null} goalOf @param {string} place @returns {Question}
 */
export function tapPlace({ question, pieceOf }, goalOf, place) {
  const seat = goalOf ?? pieceOf;
  const there = pieceAt(question, goalOf, place);
  const onStart = goalOf === null && place === startOf(question, seat);
  /** What is there after the tap. @type {string | null} */
  const text = there?.seat !== seat ? (onStart ? `${place}f` : place) : there.text.endsWith("f") ? place : null;
  const others = question.board.map((pieces, other) =>
    (other === there?.seat ? pieces.filter((one) => one !== there.text) : pieces));
  if (text === null || others[seat].length === 4) return { ...question, board: text === null ? others : question.board };
  return { ...question, board: others.map((pieces, other) => (other === seat ? [...pieces, text] : pieces)) };
}

/** The seat that plays next, around the table. @param {Question} question */
export const nextToPlay = ({ played, rules: { seats }, seat }) =>
  (played.length === 0 ? seat : (played[played.length - 1].seat + 1) % seats);

/**
 * Puts a card where cards go. After the card that was given comes the one that was received.
 *
 * @param {Analysis} analysis @param {string} card @param {number} by who played it @returns {Pick<Analysis, "question" | "cardsTo">}
 */
export function tapCard({ question, cardsTo }, card, by) {
  const { hand, played } = question;
  const last = played[played.length - 1];
  switch (cardsTo) {
    case "gave": return { question: { ...question, gave: card }, cardsTo: question.received ? "hand" : "received" };
    case "received": return { question: { ...question, received: card }, cardsTo: "hand" };
    case "played":
      if (last?.fold && last.seat === by) {
        return { question: { ...question, played: [...played.slice(0, -1), { ...last, cards: [...last.cards, card] }] }, cardsTo };
      }
      return { question: { ...question, played: [...played, { seat: by, cards: [card], fold: false }] }, cardsTo };
    default: return { question: { ...question, hand: [...hand, card] }, cardsTo };
  }
}

/** The question by another sheet or number of seats, without what does not fit. @param {Question} question @param {Question["rules"]} rules @param {number} fields @returns {Question} */
export function withRules(question, rules, fields) {
  const fits = fields === question.fields && rules.seats === question.rules.seats;
  return {
    ...question, rules, fields,
    board: fits ? question.board : Array.from({ length: rules.seats }, () => []),
    seat: fits ? question.seat : 0,
    played: fits ? question.played : [],
  };
}

/** The body of a request for advice. @param {Question} question @param {string} position */
export function bodyOf({ rules, seat, hand, exchanging, gave, received, played }, position) {
  const plays = played.map(({ seat: by, cards, fold }) => (fold ? { seat: by, fold: cards } : { seat: by, card: cards[0] }));
  const swap = gave && received ? { gave, received } : {};
  const known = { ...swap, ...(plays.length > 0 ? { played: plays } : {}) };
  return {
    rules, position, seat, hand, level: "strong",
    ...(exchanging ? { phase: "exchange" } : Object.keys(known).length > 0 ? { known } : {}),
  };
}
