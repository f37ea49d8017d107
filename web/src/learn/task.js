// A position with a task, which the table shows in place of a game: a lesson, a puzzle, or a decision
// that is made again.

import { boardOf, peopleOf } from "../analyse/question.js";
import { readPosition } from "../analyse/address.js";
import { problemOf, readLayout, request } from "../api.js";
import { at, dispatch, state } from "../store.js";

/** @import {Game, Move, SeatBoard, Table, Task, Unplayable} from "../types.js" */

/** @param {Task["question"]} question @returns {Promise<{moves: Move[], unplayable: Unplayable[]}>} */
export const legalMoves = (question) => request("POST", "/v1/analysis/legal-moves", { body: question });

/** Shows a position as a table. @param {string} id of the table @param {() => Promise<Task>} read */
export async function openTask(id, read) {
  dispatch({
    type: "opened", id, replay: null,
    as: { seat: 0, token: null, hostToken: null, joining: false, invitation: null, invitations: null, lostSeat: false, task: null },
  });
  const { table } = state;
  if (!table) return;
  try {
    const task = await read();
    const { question: { seat, position }, rules: { seats, fields_per_seat: fields }, choices } = task;
    const layout = await readLayout(seats, fields, seat);
    const { moves, unplayable } = choices ? { moves: [], unplayable: [] } : await legalMoves(task.question);
    const game = gameOf(task, boardOf({ board: readPosition(position, seats, fields) }));
    at(table, () => {
      dispatch({ type: "table", change: { seat, task, layout } });
      dispatch({ type: "game", game });
      dispatch({ type: "moves", version: game.version, list: moves, unplayable });
    });
  } catch (error) {
    at(table, () => dispatch({ type: "table", change: { problem: problemOf(error) } }));
  }
}

/**
 * A task as a game that the table can show. After its last move there is nothing to do.
 *
 * @param {Task} task @param {SeatBoard[]} board @param {{move: Move | null, hand: string[]}} [after] the move, and the hand
 * @returns {Game}
 */
export function gameOf({ rules, question: { seat: own, hand: dealt }, choices, known, answer }, board, after) {
  const { names } = peopleOf({ rules, seat: own });
  const counts = known && "counts" in known ? known.counts : undefined;
  const [isOver, hand] = [after || answer, after?.hand ?? dealt];
  return /** @type {any} */ ({
    version: after ? 2 : 1, rules, board, round: 1, turn: isOver ? null : own, phase: choices ? "exchange" : "play",
    actions: isOver ? [] : [{ route: choices ? "swap" : "play", seat: own, choices: choices ?? undefined }],
    last_action: after?.move ? { type: "card_played", seat: own, move: after.move } : { type: "game_created" },
    seats: names.map((name, seat) => ({
      seat, name, team: seat % (names.length / 2), kind: seat === own ? "human" : "bot",
      hand: seat === own ? hand : null, cards: counts?.[seat] ?? hand.length, folded: false, exchange: "pending",
    })),
  });
}

/** Judges what was chosen, and shows what `judge` returns, or why that failed. @param {(table: Table, game: Game) => Promise<() => void>} judge */
export async function judging(judge) {
  const { table } = state;
  if (!table?.game || table.sending) return;
  dispatch({ type: "sending", sending: true });
  const show = await judge(table, table.game).catch((error) => () => dispatch({ type: "table", change: { problem: problemOf(error) } }));
  at(table, () => {
    dispatch({ type: "sending", sending: false });
    show();
  });
}
