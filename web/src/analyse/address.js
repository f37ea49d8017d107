// The question of an analysis as an address, such as
// `#/analyse?rules=hausregeln&position=0f,9,g2/17/-/46&seat=0&hand=7,K,J`: the same words as in the API.

import { RANKS } from "../choose.js";
import { CHOICES } from "../rules.js";

/** @import {Fault, Play, Question, SeatBoard, Sheet} from "../types.js" */

/** Notes a word that is wrong. @typedef {(word: string) => void} Wrong */

/** The seats of every sheet. */
const SEATS = 4;
export const CARDS = [...RANKS, "joker"];
/** How many playouts answer a question at first, and after *Think longer*. */
export const SAMPLES = [400, 4000];

/** @param {string} text @param {RegExp} between */
const wordsOf = (text, between) => text.split(between).filter((word) => word !== "");

/** The one of these that a word is. @param {string[]} all @param {string} word */
const find = (all, word) => all.find((one) => one.toLowerCase() === word.toLowerCase());

/** The same, of a part that may be left out. @param {string} word @param {string[]} all @param {Wrong} wrong */
function readOne(word, all, wrong) {
  const found = find(all, word);
  if (found === undefined && word !== "") wrong(word);
  return found ?? null;
}

/** The sheet of this name, or the usual one. @param {Sheet[]} sheets @param {string} preset */
const sheetOf = (sheets, preset) =>
  sheets.find((one) => one.name === preset) ?? sheets.find((one) => one.default) ?? sheets[0];

/** The fields per seat. @param {Sheet[]} sheets @param {Question["rules"]} rules */
export const fieldsOf = (sheets, { preset, fields_per_seat: fields }) =>
  Number(fields ?? sheetOf(sheets, preset).rules.fields_per_seat);

/** The value of an option. @param {string} word @returns {unknown} */
function readValue(word) {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

/** Rules of a sheet that exists. @param {string} text @param {Sheet[]} sheets @param {Wrong} wrong @returns {Question["rules"]} */
function readRules(text, sheets, wrong) {
  const [name = "", ...options] = text.split(/\s+/);
  const preset = readOne(name, sheets.map((one) => one.name), wrong) ?? "";
  const sheet = sheetOf(sheets, preset);
  /** @type {Record<string, unknown>} */
  const usual = sheet.rules;
  const known = options.flatMap((option) => {
    const [, member, word] = /^(\w+)=(.+)$/.exec(option) ?? [];
    const value = readValue(word);
    const isKnown = member in usual && typeof value === typeof usual[member];
    if (isKnown && (member !== "seats" || CHOICES.seats.includes(Number(value)))) return [[member, value]];
    wrong(option);
    return [];
  });
  return { seats: SEATS, ...Object.fromEntries(known), preset: sheet.name };
}

/** @param {Question["rules"]} rules */
const writeRules = ({ preset, ...options }) => [preset, ...Object.entries(options)
  .filter(([name, value]) => name !== "seats" || value !== SEATS)
  .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`).sort()].join(" ");

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

/**
 * The pieces of each seat on the board, as texts.
 *
 * @param {string} text @param {number} seats @param {number} fields @param {Wrong} [wrong]
 */
export function readPosition(text, seats, fields, wrong = () => {}) {
  const parts = text.split("/");
  if (text !== "" && parts.length !== seats) wrong(text);
  /** @type {Set<string>} */
  const taken = new Set();
  return Array.from({ length: seats }, (_, seat) => {
    /** @type {string[]} */
    const pieces = [];
    for (const word of wordsOf(parts[seat] ?? "", /[\s,]+/).filter((one) => one !== "-")) {
      const place = readPlace(word, seats, fields);
      const key = place?.startsWith("g") ? `${seat} ${place}` : String(parseInt(place ?? "", 10));
      if (place === null || taken.has(key) || pieces.length === 4) wrong(word);
      else pieces.push(place);
      taken.add(key);
    }
    return pieces;
  });
}

/** @param {string[][]} board */
export const writePosition = (board) =>
  board.map((pieces) => (pieces.length === 0 ? "-" : pieces.join(","))).join("/");

/** A board of the API as texts. @param {SeatBoard[]} board @param {number} fields */
export const textsOf = (board, fields) => board.map(({ track, goal, fresh }, seat) => [
  ...track.map((field) => (fresh && field === seat * fields ? `${field}f` : String(field))),
  ...goal.map((depth) => `g${depth}`),
]);

/** @param {string} text @param {Wrong} wrong */
const readCards = (text, wrong) => wordsOf(text, /[\s,.]+/).flatMap((word) => readOne(word, CARDS, wrong) ?? []);

/** What was played, such as `0:7,1:fold.3.8`. @param {string} text @param {string[]} seats @param {Wrong} wrong @returns {Play[]} */
const readPlays = (text, seats, wrong) => wordsOf(text, /,/).flatMap((word) => {
  const [seat, cards = ""] = word.split(":");
  const fold = cards.startsWith("fold");
  const names = fold ? wordsOf(cards.slice("fold".length), /[.]/) : [cards];
  const known = names.flatMap((name) => find(CARDS, name) ?? []);
  if (seats.includes(seat) && known.length === names.length) return [{ seat: Number(seat), cards: known, fold }];
  wrong(word);
  return [];
});

/** @param {Play[]} plays */
const writePlays = (plays) => plays.map(({ seat, cards, fold }) =>
  `${seat}:${[...(fold ? ["fold"] : []), ...cards].join(".")}`).join(",");

/**
 * Reads the question of an address, without what is wrong in it.
 *
 * @param {string} text after the question mark @param {Sheet[]} sheets
 * @returns {{question: Question, faults: Fault[]}}
 */
export function readQuestion(text, sheets) {
  // A full stop after a link is not part of it.
  const values = new URLSearchParams(text.replace(/\.$/, ""));
  /** @type {Fault[]} */
  const faults = [];
  /** @template T @param {string} name @param {Fault["part"]} part @param {(text: string, wrong: Wrong) => T} reader */
  const read = (name, part, reader) => reader(values.get(name) ?? "", (word) => faults.push({ part, word }));
  const rules = read("rules", "rules", (one, wrong) => readRules(one, sheets, wrong));
  const fields = fieldsOf(sheets, rules);
  const seats = Array.from({ length: rules.seats }, (_, seat) => String(seat));
  const question = {
    rules, fields,
    board: read("position", "board", (one, wrong) => readPosition(one, seats.length, fields, wrong)),
    seat: Number(read("seat", "seat", (one, wrong) => readOne(one, seats, wrong))),
    exchanging: read("phase", "exchanging", (one, wrong) => readOne(one, ["play", "exchange"], wrong)) === "exchange",
    hand: read("hand", "hand", readCards),
    gave: read("gave", "gave", (one, wrong) => readOne(one, CARDS, wrong)),
    received: read("received", "received", (one, wrong) => readOne(one, CARDS, wrong)),
    played: read("played", "played", (one, wrong) => readPlays(one, seats, wrong)),
    samples: Number(read("samples", "samples", (one, wrong) => readOne(one, SAMPLES.map(String), wrong))),
  };
  return { question, faults };
}

/** The address of a question. @param {Question} question */
export function addressOf({ rules, board, seat, exchanging, hand, gave, received, played, samples }) {
  const values = new URLSearchParams({ rules: writeRules(rules), position: writePosition(board), seat: String(seat) });
  if (hand.length > 0) values.set("hand", hand.join(","));
  if (exchanging) values.set("phase", "exchange");
  if (gave) values.set("gave", gave);
  if (received) values.set("received", received);
  if (played.length > 0) values.set("played", writePlays(played));
  if (samples > 0) values.set("samples", String(samples));
  // These need no escaping in a fragment, and people read them.
  return `#/analyse?${String(values).replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3A", ":")}`;
}

/** A seed that follows from the question, by the hash FNV-1a of its address. @param {Question} question */
export const seedOf = (question) =>
  [...addressOf(question)].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0, 0x811c9dc5);
