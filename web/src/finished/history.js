// What the page does with a finished game: it reads its history, in which nothing is hidden.

import { get, problemOf, request } from "../api.js";
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

/** Shows the game from its beginning. */
export async function replay() {
  const { table } = state;
  if (!table) return;
  try {
    await readHistory(table);
    at(table, () => dispatch({ type: "replay", version: 1 }));
  } catch (error) {
    at(table, () => dispatch({ type: "problem", problem: problemOf(error) }));
  }
}

/** Asks for the review, which shows its decisions on the boards of the game. */
export async function review() {
  const { table } = state;
  if (!table) return;
  try {
    await readHistory(table);
    at(table, () => dispatch({ type: "review", review: "asked" }));
  } catch (error) {
    at(table, () => dispatch({ type: "problem", problem: problemOf(error) }));
  }
}

/** Saves the record of the game as a file. */
export async function download() {
  const { table } = state;
  if (!table) return;
  try {
    /** @type {string} */
    const record = await request("GET", `/v1/games/${table.id}/history`, { token: table.token, text: true });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([record], { type: "text/plain" }));
    link.download = `${table.id}.dog`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (error) {
    at(table, () => dispatch({ type: "problem", problem: problemOf(error) }));
  }
}

/** Checks in this browser that the shuffles follow from the seed that was committed to. */
export async function checkFair() {
  const { table } = state;
  if (!table) return;
  if (!globalThis.crypto?.subtle) {
    dispatch({ type: "fair", fair: { insecure: true } });
    return;
  }
  dispatch({ type: "fair", fair: "running" });
  try {
    const history = await readHistory(table);
    // A watched game has only the commitment that the server shows now.
    const promised = savedGame(table.id)?.commitment ?? history.shuffle_commitment;
    const fair = await checkShuffles(history, promised);
    at(table, () => dispatch({ type: "fair", fair }));
  } catch (error) {
    at(table, () => {
      dispatch({ type: "fair", fair: "none" });
      dispatch({ type: "problem", problem: problemOf(error) });
    });
  }
}
