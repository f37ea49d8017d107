// What a puzzle does: it is read, answered once, and remembered. The same for a decision of a game
// that is made again, which the adviser judges.

import { readQuestion, SAMPLES, seedOf, writePosition } from "../analyse/address.js";
import { bodyOf } from "../analyse/question.js";
import { clockAhead, readSheets, request, rulesOn } from "../api.js";
import { judging, openTask } from "../learn/task.js";
import { savedPuzzles, savePuzzle } from "../storage.js";
import { dispatch } from "../store.js";

/** @import {Advice, Answered, Chosen, Game, Puzzle, SeatBoard, Suggestion, Table, Task} from "../types.js" */

/** How many suggestions are shown of a decision that is made again. */
const SHOWN = 3;

/** The days from 1970 until now, by the server's clock. */
export const dayNow = () => Math.floor((Date.now() + clockAhead) / 86_400_000);

/** @returns {Promise<{count: number, today: number}>} */
export const readToday = () => request("GET", "/v1/puzzles");

/** Shows what came of an answer. @param {Table} table @param {Game} game @param {Answered} answer */
const tell = ({ task }, game, answer) => () => {
  if (!task) return;
  dispatch({ type: "table", change: { task: { ...task, answer } } });
  dispatch({ type: "game", game: { ...game, version: game.version + 1, actions: [], turn: null } });
};

/** @param {number} number @param {object} answer @returns {Promise<Answered>} */
const send = (number, answer) => request("POST", `/v1/puzzles/${number}/answer`, { body: answer });

/** Shows a puzzle as a table. @param {string} id of the table @param {string} which number, or today's */
export const openPuzzle = (id, which) => openTask(id, async () => {
  const { today } = await readToday();
  /** @type {Puzzle} */
  const puzzle = await request("GET", `/v1/puzzles/${which === "today" ? today : which}`);
  const { number, rules, position, seat, hand, choices = null, known } = puzzle;
  const day = number === today ? dayNow() : null;
  const before = savedPuzzles().find((one) => one.number === number);
  return {
    rules, question: { rules, position, seat, hand }, choices, known, number,
    answer: before && await send(number, before.answer),
    judge: ({ id: move, ...swap }) => judging(async (table, game) => {
      const answer = move ? { move } : { swap };
      const told = await send(number, answer);
      savePuzzle({ number, answer, right: told.right, day });
      return tell(table, game, told);
    }),
  };
});

/** Whether two boards are the same. @param {SeatBoard[] | null | undefined} one @param {SeatBoard[] | null | undefined} other */
const areSame = (one, other) => Boolean(one) && JSON.stringify(one) === JSON.stringify(other);

/** What was chosen, among all suggestions: the same, or the same card to the same board. @param {Suggestion[]} suggestions @param {Chosen} chosen @param {Table} table */
function findChosen(suggestions, { id, ...swap }, table) {
  if (!id) return suggestions.find((one) => "swap" in one && Object.entries(swap).every(([name, value]) => one.swap[/** @type {"card"} */ (name)] === value));
  const board = table.choice.seven.at(-1)?.shown.board;
  const card = id.split(/[=:]/)[0];
  return suggestions.find((one) => "move" in one && (one.move.id === id || (one.move.card === card && areSame(one.move.board, board))));
}

/** Shows a decision of a game as a table. @param {string} id of the table @param {string} address its question, as the analysis has it */
export const openAgain = (id, address) => openTask(id, async () => {
  const sheets = await readSheets();
  const { question: asked } = readQuestion(address, sheets);
  const position = writePosition(asked.board);
  /** @type {Advice} */
  const { suggestions } = await request("POST", "/v1/analysis/suggest-move",
    { body: { ...bodyOf(asked, position), samples: SAMPLES[1], seed: seedOf(asked) } });
  const answers = suggestions.flatMap((one) => ("swap" in one ? Object.keys(one.swap) : []));
  const rules = /** @type {Task["rules"]} */ ({ ...rulesOn(sheets, asked.rules.preset), ...asked.rules });
  return {
    rules, question: { rules: asked.rules, position, seat: asked.seat, hand: asked.hand },
    choices: asked.exchanging ? [...new Set(answers)] : null, known: asked,
    judge: (chosen) => judging(async (table, game) => {
      const found = findChosen(suggestions, chosen, table);
      const best = suggestions.slice(0, SHOWN);
      if (found && !best.includes(found)) best.push(found);
      return tell(table, game, { right: found === suggestions[0] || (found?.equal ?? false), chance: found?.win_probability, suggestions: best });
    }),
  };
});
