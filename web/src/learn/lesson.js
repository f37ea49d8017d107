// What a lesson does: it reads its file, asks the server what is legal, and compares the board that a
// choice leads to with those that solve it.

import { textsOf } from "../analyse/address.js";
import { readSheets, rulesOn } from "../api.js";
import { offerOf, partnerOf, previewOf } from "../choose.js";
import { readJson } from "../files.js";
import { saveLesson } from "../storage.js";
import { dispatch } from "../store.js";
import { gameOf, judging, legalMoves, openTask } from "./task.js";

/** @import {Chosen, Lesson, Move, SeatBoard, Table, Task} from "../types.js" */

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
  Object.entries(table.task?.lesson?.missing ?? {}).find(([, pattern]) => new RegExp(pattern).test(textOf(board, table)))?.[0];

/** Shows a lesson as a table. @param {string} name */
export const open = (name) => openTask(name, async () => {
  const { rules: chosen, position, hand, exchange = false, accepted, mistake, missing = {} } = await file(name);
  const rules = { ...rulesOn(await readSheets(), chosen.preset), ...chosen };
  return {
    rules, question: { rules: chosen, position, seat: 0, hand }, choices: exchange ? ["card"] : null, judge,
    lesson: { name, accepted, mistake, missing },
  };
});

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

/** Solves the lesson with what was chosen, or shows what it would do. @param {Chosen} chosen */
const judge = ({ id, card }) => judging(async (table, game) => {
  const task = /** @type {Task & {lesson: Lesson}} */ (table.task);
  const { question, lesson } = task;
  const solves = (/** @type {Move | undefined} */ move) => move?.board && lesson.accepted.includes(textOf(move.board, table));
  const partner = partnerOf(question.seat, game.seats.length);
  const moves = card ? (await legalMoves({ ...question, seat: partner, hand: [card] })).moves : [];
  const move = card ? moves.find(solves) : moveOf(table, id ?? "");
  return () => {
    if (move && solves(move)) {
      saveLesson(lesson.name);
      const played = question.hand.findIndex((one) => one === (card ?? move.card));
      const hand = question.hand.filter((_, index) => index !== played);
      dispatch({ type: "game", game: gameOf(task, move.board ?? game.board, { move, hand }) });
    } else {
      dispatch({ type: "card", card: null });
      dispatch({ type: "table", change: { task: { ...task, lesson: { ...lesson, tried: move ?? card } } } });
      dispatch({ type: "tapped", key: TRIED, preview: move ? previewOf(offerOf(move)) : null });
    }
  };
});
