// The question of an analysis as an address, such as
// `#/analyse?rules=hausregeln&position=0f,9,g2/17/-/46&seat=0&hand=7,K,J`: the same words as in the API.

import { RANKS } from "../choose.js";

/** @import {Play, Question, SeatBoard} from "../types.js" */

/** The seats of every sheet. */
const SEATS = 4;
export const CARDS = [...RANKS, "joker"];

/** @param {string | null} text @returns {Question["rules"]} */
function readRules(text) {
  const [preset = "", ...options] = (text ?? "").split(/\s+/);
  const value = (/** @type {string} */ word) => {
    try {
      return JSON.parse(word);
    } catch {
      return word;
    }
  };
  const entries = options.map((option) => option.split("=")).filter((parts) => parts.length === 2);
  return { seats: SEATS, ...Object.fromEntries(entries.map(([name, word]) => [name, value(word)])), preset };
}

/** @param {Question["rules"]} rules */
const writeRules = ({ preset, ...options }) => [preset, ...Object.entries(options)
  .filter(([name, value]) => name !== "seats" || value !== SEATS)
  .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)].join(" ");

/**
 * A place as the API writes it, or nothing if there is no such place. Relative ones count from a start.
 *
 * @param {string} text @param {number} seats @param {number} fields per seat
 */
function readPlace(text, seats, fields) {
  if (/^g[0-3]$/.test(text)) return text;
  const [, steps, of, fresh] = /^(-?\d{1,2})(?:@(\d))?(f?)$/.exec(text) ?? [];
  const ring = seats * fields;
  const field = of === undefined ? Number(steps) : (Number(steps) + Number(of) * fields + ring) % ring;
  return field >= 0 && field < ring ? `${field}${fresh}` : null;
}

/** The pieces of each seat on the board, as texts. @param {string} text @param {number} seats @param {number} fields */
export function readPosition(text, seats, fields) {
  const parts = text.split("/");
  /** @type {Set<string>} */
  const taken = new Set();
  return Array.from({ length: seats }, (_, seat) => (parts[seat] ?? "").split(/[\s,]+/).flatMap((one) => {
    const place = readPlace(one, seats, fields);
    const key = place?.startsWith("g") ? `${seat} ${place}` : String(parseInt(place ?? "", 10));
    if (place === null || taken.has(key)) return [];
    taken.add(key);
    return [place];
  }).slice(0, 4));
}

/** @param {string[][]} board */
export const writePosition = (board) =>
  board.map((pieces) => (pieces.length === 0 ? "-" : pieces.join(","))).join("/");

/** A board of the API as texts. @param {SeatBoard[]} board @param {number} fields */
export const textsOf = (board, fields) => board.map(({ track, goal, fresh }, seat) => [
  ...track.map((field) => (fresh && field === seat * fields ? `${field}f` : String(field))),
  ...goal.map((depth) => `g${depth}`),
]);

/** @param {string | null} text */
const readCards = (text) => (text ?? "").split(/[\s,.]+/).flatMap((word) =>
  CARDS.filter((card) => card.toLowerCase() === word.toLowerCase()));

/** What was played, such as `0:7,1:fold.3.8`. @param {string | null} text @param {number} seats @returns {Play[]} */
const readPlays = (text, seats) => (text ?? "").split(",").flatMap((word) => {
  const [seat, cards = ""] = word.split(":");
  const fold = cards.startsWith("fold");
  const known = readCards(cards);
  return /^\d$/.test(seat) && Number(seat) < seats && (fold || known.length === 1)
    ? [{ seat: Number(seat), cards: known, fold }] : [];
});

/** @param {Play[]} plays */
const writePlays = (plays) => plays.map(({ seat, cards, fold }) =>
  `${seat}:${[...(fold ? ["fold"] : []), ...cards].join(".")}`).join(",");

/**
 * Reads the question of an address.
 *
 * @param {string} text after the question mark
 * @param {(rules: Question["rules"]) => {rules: Question["rules"], fields: number}} complete
 *   a sheet that exists, and its fields per seat
 * @returns {Question}
 */
export function readQuestion(text, complete) {
  const values = new URLSearchParams(text);
  const { rules, fields } = complete(readRules(values.get("rules")));
  const seat = Number(values.get("seat") ?? 0);
  const [gave, received] = ["gave", "received"].map((name) => readCards(values.get(name))[0] ?? null);
  return {
    rules, fields, gave, received,
    board: readPosition(values.get("position") ?? "", rules.seats, fields),
    seat: seat < rules.seats ? seat : 0,
    exchanging: values.get("phase") === "exchange",
    hand: readCards(values.get("hand")),
    played: readPlays(values.get("played"), rules.seats),
  };
}

/** The address of a question. @param {Question} question */
export function addressOf({ rules, board, seat, exchanging, hand, gave, received, played }) {
  const values = new URLSearchParams({ rules: writeRules(rules), position: writePosition(board), seat: String(seat) });
  if (hand.length > 0) values.set("hand", hand.join(","));
  if (exchanging) values.set("phase", "exchange");
  if (gave) values.set("gave", gave);
  if (received) values.set("received", received);
  if (played.length > 0) values.set("played", writePlays(played));
  // These need no escaping in a fragment, and people read them.
  return `#/analyse?${String(values).replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3A", ":")}`;
}
