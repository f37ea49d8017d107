// What the page does with a finished game: it reads its history, in which nothing is hidden.

import { get, problemOf, request } from "../api.js";
import { addressOf } from "../game.js";
import { savedGame } from "../storage.js";
import { at, dispatch, state } from "../store.js";
import { checkShuffles } from "./fair.js";
import { stepsOf } from "./replay.js";

/** @import {History, Table} from "../types.js" */

/** Reads the history of a finished game, once. @param {Table} table @returns {Promise<History>} */
export async function readHistory(table) {
  if (table.history) return table.history;
  /** @type {History} */
  const history = await get(table, "/history");
  const steps = stepsOf(history.entries, history.rules.seats);
  at(table, () => dispatch({ type: "history", history, steps }));
  return history;
}

/**
 * Does something with the game on the screen, and says what went wrong. What went wrong before is over.
 *
 * @param {(table: Table) => Promise<void>} action
 */
async function attempt(action) {
  const { table } = state;
  if (!table) return;
  dispatch({ type: "table", change: { problem: null } });
  try {
    await action(table);
  } catch (error) {
    at(table, () => dispatch({ type: "table", change: { problem: problemOf(error) } }));
  }
}

/** Shows the game from its beginning. */
export const replay = () => attempt(async (table) => {
  await readHistory(table);
  at(table, () => { location.hash = addressOf(table.id, 1); });
});

/** Asks for the review, which shows its decisions on the boards of the game. */
export const review = () => attempt(async (table) => {
  await readHistory(table);
  at(table, () => dispatch({ type: "table", change: { review: "asked" } }));
});

/** Saves the record of the game as a file. */
export const download = () => attempt(async (table) => {
  /** @type {string} */
  const record = await request("GET", `/v1/games/${table.id}/history`, { token: table.token, text: true });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([record], { type: "text/plain" }));
  link.download = `${table.id}.dog`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
});

/** Checks in this browser that the shuffles follow from the seed that was committed to. */
export const checkFair = () => attempt(async (table) => {
  if (!globalThis.crypto?.subtle) {
    dispatch({ type: "table", change: { fair: { insecure: true } } });
    return;
  }
  dispatch({ type: "table", change: { fair: "running" } });
  /** @type {Table["fair"]} */
  let fair = "none";
  try {
    const history = await readHistory(table);
    // A watched game has only the commitment that the server shows now.
    fair = await checkShuffles(history, savedGame(table.id)?.commitment ?? history.shuffle_commitment);
  } finally {
    at(table, () => dispatch({ type: "table", change: { fair } }));
  }
});
