// The table: players, board, what to do, the hand, and the log.

import { useEffect } from "../../vendor/preact-hooks.js";
import { canUndo, nextStep } from "../choose.js";
import { go, undo } from "../game.js";
import { t } from "../lang.js";
import { html } from "../view.js";
import { people, problemWords, whatToDo } from "../words.js";
import { Bar, Lost } from "./bar.js";
import { Board } from "./board.js";
import { Dock } from "./dock.js";
import { Finished } from "./finished.js";
import { AllMoves, Analyse, AtTable, Log, Rules } from "./lists.js";
import { Players } from "./players.js";
import { replayAt } from "./replay.js";
import { useSignals } from "./signals.js";

/** @import {Table} from "../types.js" */

/** Whether the player used the keyboard last. */
let keyboard = false;
addEventListener("keydown", () => { keyboard = true; }, true);
addEventListener("pointerdown", () => { keyboard = false; }, true);

/** What a player without a pointer needs next, in this order. */
const NEXT = [
  ".board button", ".ranks button", ".buttons .danger", ".buttons .primary:enabled", ".hand button:enabled",
  ".buttons .answer",
];

/**
 * Moves the focus to the next choice when a player chooses by keyboard: the button that had it is
 * gone, or it has done its part.
 *
 * @param {Table} table
 */
function useFocus(table) {
  const step = nextStep(table);
  const { stage } = step;
  const choices = stage === "exchange" ? String(step.choices) : "";
  const { card, confirm, seven } = table.choice;
  useEffect(() => {
    const focused = document.activeElement;
    const lost = focused === document.body || focused === null;
    const asked = stage === "card" || (stage === "exchange" && card === null);
    const chosen = focused?.closest(".hand, .ranks") && !asked;
    if (!keyboard || !(lost || chosen)) return;
    for (const selector of NEXT) {
      const next = document.querySelector(selector);
      if (next instanceof HTMLElement) {
        next.focus();
        return;
      }
    }
  }, [stage, choices, card, confirm, seven, table.sending, table.moves]);
}

/** @param {{table: Table}} props */
export function TableScreen({ table }) {
  const { game, problem } = table;
  // The screen before may have been longer.
  useEffect(() => scrollTo(0, 0), []);
  useFocus(table);
  useSignals(table);
  if (!game) {
    return html`
      <main class="waiting">
        <p role="status">${problem ? problemWords(problem, { names: [], me: null })
          : t(table.link === "lost" ? "link.lost" : "do.wait")}</p>
        <p><button type="button" onClick=${() => go(null)}>${t("table.home")}</button></p>
      </main>`;
  }
  const step = replayAt(table);
  const seven = table.choice.seven.at(-1);
  const board = step ? step.board : seven ? seven.shown.board : game.board;
  const last = step ? step.last : seven ? null : table.shown;
  return html`
    <main class="table" onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape" && canUndo(table)) undo();
    }}>
      <${Bar} table=${table} />
      <${Lost} table=${table} />
      <div class="stage">
        <${Players} table=${table} replaying=${step !== null} />
        <${Board} table=${table} board=${board} last=${last} turn=${step ? null : game.turn ?? null} />
      </div>
      <div class="side">
        ${game.phase === "finished" ? html`<${Finished} table=${table} step=${step} />`
          : html`<${Dock} table=${table} status=${whatToDo(table)} />`}
        <div class="extras">
          <${AllMoves} table=${table} />
          <${Analyse} table=${table} />
          <${AtTable} table=${table} />
          <${Rules} table=${table} />
          <${Log} table=${table} people=${people(table)} />
        </div>
      </div>
    </main>`;
}
