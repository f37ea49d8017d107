// What a lesson does: it reads its file, asks the server what is legal, and compares the board that a
// choice leads to with those that solve it.

import { boardOf, peopleOf } from "../analyse/question.js";
import { readPosition, textsOf } from "../analyse/address.js";
import { problemOf, readLayout, readSheets, request, rulesOn } from "../api.js";
import { offerOf, partnerOf, previewOf } from "../choose.js";
import { readJson } from "../files.js";
import { saveLesson } from "../storage.js";
import { at, dispatch, state } from "../store.js";

/** @import {Game, Lesson, Move, SeatBoard, Table, Unplayable} from "../types.js" */

/** The key of the choice that did not solve the lesson, as long as the board shows it. */
export const TRIED = "tried";

/** @param {string} name in the folder of the lessons */
const file = (name) => readJson(`../lessons/${name}.json`);

/** The names of the lessons, in their order. @returns {Promise<string[]>} */
export const course = () => file("course");

/** A board as the server writes it. @param {SeatBoard[]} board @param {Table} table */
const textOf = (board, table) => textsOf(board, table.game?.rules.fields_per_seat ?? 0)
  .map((pieces) => pieces.join(" ") || "-").join(" / ");

/** The name of the words for what a board does not show yet, if there are such. @param {Table} table @param {SeatBoard[]} board */
export const missingOn = (table, board) =>
  Object.entries(table.lesson?.missing ?? {}).find(([, pattern]) => new RegExp(pattern).test(textOf(board, table)))?.[0];

/** @param {Lesson["question"]} question @returns {Promise<{moves: Move[], unplayable: Unplayable[]}>} */
const legalMoves = (question) => request("POST", "/v1/analysis/legal-moves", { body: question });

/** Shows a lesson as a table. @param {string} name */
export async function open(name) {
  dispatch({
    type: "opened", id: name, replay: null,
    as: { seat: 0, token: null, hostToken: null, joining: false, invitation: null, invitations: null, lostSeat: false, lesson: null },
  });
  const { table } = state;
  if (!table) return;
  try {
    const { rules: chosen, position, hand, exchange = false, accepted, mistake, missing = {} } = await file(name);
    const rules = { ...rulesOn(await readSheets(), chosen.preset), ...chosen };
    const { seats, fields_per_seat: fields } = rules;
    const question = { rules: chosen, position, seat: 0, hand };
    const layout = await readLayout(seats, fields);
    const { moves, unplayable } = exchange ? { moves: [], unplayable: [] } : await legalMoves(question);
    const board = boardOf({ board: readPosition(position, seats, fields) });
    at(table, () => {
      dispatch({ type: "table", change: { lesson: { name, question, exchange, accepted, mistake, missing } } });
      dispatch({ type: "table", change: { layout } });
      dispatch({ type: "game", game: gameOf({ rules, hand, board, exchange, version: 1, solvedBy: null }) });
      dispatch({ type: "moves", version: 1, list: moves, unplayable });
    });
  } catch (error) {
    at(table, () => dispatch({ type: "table", change: { problem: problemOf(error) } }));
  }
}

/**
 * The position of a lesson as a game that the table can show. After the lesson there is nothing to do.
 *
 * @param {{rules: Game["rules"], hand: string[], board: SeatBoard[], exchange: boolean, version: number, solvedBy: Move | null}} lesson
 * @returns {Game}
 */
function gameOf({ rules, hand, board, exchange, version, solvedBy }) {
  const { names } = peopleOf({ rules, seat: 0 });
  const action = exchange ? { route: "swap", seat: 0, choices: ["card"] } : { route: "play", seat: 0 };
  return /** @type {any} */ ({
    version, rules, board, round: 1, turn: solvedBy ? null : 0, phase: exchange ? "exchange" : "play",
    actions: solvedBy ? [] : [action],
    last_action: solvedBy ? { type: "card_played", seat: solvedBy.seat, move: solvedBy } : { type: "game_created" },
    seats: names.map((name, seat) => ({
      seat, name, team: seat % (names.length / 2), kind: seat === 0 ? "human" : "bot",
      hand: seat === 0 ? hand : null, cards: hand.length, folded: false, exchange: "pending",
    })),
  });
}

/** The move of an id: the server listed it, or the player made it part by part. @param {Table} table @param {string} id */
function moveOf({ moves, choice }, id) {
  const listed = moves?.list.find((move) => move.id === id);
  const parts = choice.seven.flatMap(({ part }) => part ?? []);
  if (listed || parts.length === 0) return listed;
  return /** @type {Move} */ ({
    id, card: id.startsWith("joker") ? "joker" : "7", as: id.startsWith("joker") ? "7" : null, kind: "seven", seat: 0,
    parts: parts.map(({ part }) => part), captures: parts.flatMap(({ captures }) => captures), board: choice.seven.at(-1)?.shown.board,
  });
}

/**
 * Solves the lesson with what was chosen, or shows what it would do.
 *
 * @param {{id?: string, card?: string}} chosen the id of a move, or the card of an exchange
 */
export async function judge({ id, card }) {
  const { table } = state;
  if (!table?.game || !table.lesson) return;
  const { lesson, game } = table;
  const { question, accepted, exchange, name } = lesson;
  const solves = (/** @type {Move | undefined} */ move) => move?.board && accepted.includes(textOf(move.board, table));
  try {
    dispatch({ type: "sending", sending: true });
    const partner = partnerOf(0, game.seats.length);
    const moves = card ? (await legalMoves({ ...question, seat: partner, hand: [card] })).moves : [];
    const move = card ? moves.find(solves) : moveOf(table, id ?? "");
    at(table, () => {
      dispatch({ type: "sending", sending: false });
      if (move && solves(move)) {
        saveLesson(name);
        const hand = game.seats[0].hand ?? [];
        const played = hand.findIndex((one) => one === (card ?? move.card));
        dispatch({
          type: "game",
          game: gameOf({
            rules: game.rules, board: move.board ?? game.board, exchange, version: game.version + 1, solvedBy: move,
            hand: hand.filter((_, index) => index !== played),
          }),
        });
      } else {
        dispatch({ type: "card", card: null });
        dispatch({ type: "table", change: { lesson: { ...lesson, tried: move ?? card } } });
        dispatch({ type: "tapped", key: TRIED, preview: move ? previewOf(offerOf(move)) : null });
      }
    });
  } catch (error) {
    at(table, () => {
      dispatch({ type: "sending", sending: false });
      dispatch({ type: "table", change: { problem: problemOf(error) } });
    });
  }
}
