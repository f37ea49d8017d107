// What the analysis does: it reads the address, keeps it up to date, and asks the server.

import { problemOf, readLayout, readSheets, request, rulesOn } from "../api.js";
import { partnerOf } from "../choose.js";
import { dispatch, state } from "../store.js";
import { addressOf, fieldsOf, readQuestion, seedOf, textsOf, writePosition } from "./address.js";
import { bodyOf, withRules } from "./question.js";

/** @import {Advice, Analysis, Game, GameEvent, Play, Question, ReplayStep, Rules, Sheet, Table} from "../types.js" */

/** How many suggestions are shown. */
const SUGGESTIONS = 5;

/** @param {Analysis} analysis */
const show = (analysis) => dispatch({ type: "set", change: { analysis } });

/** @param {Partial<Analysis>} changed */
export function set(changed) {
  if (state.analysis) show({ ...state.analysis, ...changed });
}

/** Shows the question of an address. @param {string} hash */
export async function open(hash) {
  const { question, faults } = readQuestion(hash.split("?")[1] ?? "", await readSheets());
  const { seat: pieceOf } = question;
  show({ question, faults, layout: null, pieceOf, cardsTo: "hand", advice: null, asking: false, chosen: null, problem: null });
  // The answer stays with the address.
  if (question.samples > 0 && faults.length === 0) advise(question.samples);
  await showLayout(question);
}

/** @param {Question} question */
async function showLayout({ rules, fields, seat }) {
  const layout = await readLayout(rules.seats, fields, seat);
  const now = state.analysis?.question;
  if (now?.rules === rules && now.seat === seat) set({ layout });
}

/** Changes the question, which discards the answer to the one before, and what was wrong with the parts that are others now. @param {Question} question @param {Partial<Analysis>} [changed] */
export function change(question, changed = {}) {
  const { analysis } = state;
  const faults = analysis?.faults.filter(({ part }) => question[part] === analysis.question[part]) ?? [];
  set({ question: { ...question, samples: 0 }, faults, advice: null, asking: false, chosen: null, problem: null, ...changed });
}

/** @param {Question["rules"]} rules */
export async function chooseRules(rules) {
  const { analysis } = state;
  if (!analysis) return;
  try {
    const question = withRules(analysis.question, rules, fieldsOf(await readSheets(), rules));
    change(question, { pieceOf: question.seat, layout: null });
    await showLayout(question);
  } catch (error) {
    set({ problem: problemOf(error) });
  }
}

/** Asks the adviser. The same question has the same answer. @param {number} samples */
export async function advise(samples) {
  const { analysis } = state;
  if (!analysis || analysis.asking) return;
  const { question } = analysis;
  const asked = { ...question, samples, hand: [...question.hand].sort(), board: question.board.map((pieces) => [...pieces].sort()) };
  set({ asking: true, problem: null });
  const isAsked = () => state.analysis?.question === question;
  try {
    /** @type {Advice} */
    const advice = await request("POST", `/v1/analysis/suggest-move?limit=${SUGGESTIONS}&board=false`,
      { body: { ...bodyOf(asked, writePosition(asked.board)), samples, seed: seedOf(asked) } });
    if (isAsked()) set({ question: { ...question, samples }, asking: false, advice, chosen: 0 });
  } catch (error) {
    if (isAsked()) set({ asking: false, advice: null, problem: problemOf(error) });
  }
}

/**
 * What was given and played in a round, up to these events of it.
 *
 * @param {GameEvent[]} events of the game so far
 */
function roundOf(events) {
  /** @type {{gave: Record<number, string | null>, played: Play[]}} */
  let round = { gave: {}, played: [] };
  for (const event of events) {
    if (event.type === "cards_dealt") round = { gave: {}, played: [] };
    if (event.type === "cards_swapped") for (const { seat, card } of event.given) round.gave[seat] = card;
    if (event.type === "card_played") round.played.push({ seat: event.seat, cards: [event.move.card ?? ""], fold: false });
    if (event.type === "hand_folded") round.played.push({ seat: event.seat, cards: event.cards, fold: true });
  }
  return round;
}

/** The sheet, and the options that differ from it. @param {Rules} rules @param {Sheet[]} sheets @returns {Question["rules"]} */
function differences({ preset, seats, ...options }, sheets) {
  const sheet = /** @type {Record<string, unknown>} */ (rulesOn(sheets, preset) ?? {});
  const other = Object.entries(options).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(sheet[name]));
  return { ...Object.fromEntries(other), preset, seats };
}

/** Events by which a seat answers in the exchange. */
const ANSWERS = ["help_asked", "card_offered", "exchange_passed", "exchange_declined"];

/**
 * Who acts next in a replay, with its hand; the board is that of the step.
 *
 * @param {ReplayStep[]} steps @param {number} at
 */
function nextInReplay(steps, at) {
  for (let index = at + 1; index < steps.length; index += 1) {
    for (const event of steps[index].entry.events) {
      const exchanging = ANSWERS.includes(event.type);
      if ("seat" in event && (exchanging || ["card_played", "hand_folded"].includes(event.type))) {
        const events = steps.slice(0, index).flatMap(({ entry }) => entry.events);
        return { seat: event.seat, hand: steps[index - 1].hands[event.seat], exchanging, ...roundOf(events) };
      }
    }
  }
  return { seat: 0, hand: [], exchanging: false, gave: {}, played: [] };
}

/** The seat for which a game on the screen is analysed, with what it knows. @param {Game} game @param {Table} table */
function nextInGame(game, { seat: own, log }) {
  const seat = own ?? game.turn ?? 0;
  const { hand, gave, received } = game.seats[seat];
  return {
    seat, hand: hand ?? [], exchanging: game.phase === "exchange",
    gave: { [seat]: gave ?? null, [partnerOf(seat, game.seats.length)]: received ?? null },
    played: game.turn === seat ? roundOf(log.flatMap(({ events }) => events)).played : [],
  };
}

/**
 * The question of a game, as its player sees it, or of a step of its replay, as whoever acts next saw it.
 *
 * @param {Game} game @param {Table} table @param {ReplayStep | null} step @returns {Promise<Question>}
 */
async function questionOf(game, table, step) {
  const sheets = await readSheets();
  const { fields_per_seat: fields, seats } = game.rules;
  const { seat, gave, ...asked } = step ? nextInReplay(table.steps ?? [], step.entry.version - 1) : nextInGame(game, table);
  const board = textsOf(step ? step.board : game.board, fields);
  const [given, received] = [seat, partnerOf(seat, seats)].map((one) => gave[one] ?? null);
  return {
    ...asked, rules: differences(game.rules, sheets), fields, board, seat,
    gave: received && given, received: given && received, samples: 0,
  };
}

/** Opens what a table shows. @param {Table} table @param {ReplayStep | null} step */
export async function openTable(table, step) {
  if (table.game) location.hash = addressOf(await questionOf(table.game, table, step));
}

/** The address at which a decision after a step of a replay is made again. @param {Table} table @param {ReplayStep} step */
export const addressAgain = async (table, step) => (table.game
  ? `${addressOf(await questionOf(table.game, table, step)).replace("analyse", "puzzles/again")}&game=${table.id}` : "");

/** What the adviser says about each choice after a step of a replay. @param {Table} table @param {ReplayStep} step @returns {Promise<Advice | null>} */
export async function adviceAfter(table, step) {
  if (!table.game) return null;
  const question = await questionOf(table.game, table, step);
  return request("POST", "/v1/analysis/suggest-move?board=false", { body: bodyOf(question, writePosition(question.board)), quiet: true });
}
