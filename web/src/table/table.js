// The table: players, board, what to do, the hand, and the log.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact-hooks.js";
import { nextStep } from "../choose.js";
import { undoByKey } from "../game.js";
import { stepOf } from "../state.js";
import { html } from "../view.js";
import { people } from "../words.js";
import { Bar } from "./bar.js";
import { Board } from "./board.js";
import { Dock } from "./dock.js";
import { AllMoves, Analyse, AtTable, Log, WherePieces } from "./lists.js";
import { Players } from "./players.js";
import { useSignals } from "./signals.js";

/** @import {Table} from "../types.js" */

/** Whether the player used the keyboard last. */
let keyboard = false;
/** What had the focus or was pressed last: not every browser gives the focus to what is pressed. @type {Element | null} */
let held = null;
addEventListener("keydown", (event) => {
  keyboard = true;
  // A key that is held down presses once.
  if (event.repeat && ["Enter", " "].includes(event.key) && event.target instanceof Element
    && event.target.closest("button, summary, a")) event.preventDefault();
}, true);
addEventListener("pointerdown", () => { keyboard = false; }, true);
for (const kind of ["focusin", "click"]) {
  addEventListener(kind, ({ target }) => { held = target instanceof Element ? target.closest("button, a") ?? target : null; }, true);
}

/** What a player needs next, in this order; then where the focus rests. */
const NEXT = [
  ".buttons .cancel:enabled", ".board .place:enabled", ".ranks button:enabled", ".buttons .primary:enabled",
  ".hand button:enabled:not([aria-disabled])", ".buttons .answer:enabled",
];
const REST = [".replay input", "[data-result]", ".finished h2", ".hand", ".bar h1"];

/** Whether an element had the focus and can no longer have it. @param {Element | null} element */
const isGone = (element) => element !== null && (!element.isConnected || element.matches(":disabled"));

/**
 * Moves the focus to the next choice when the player has chosen: the button that had it is gone, or
 * it has done its part. So the focus never falls back to the page.
 *
 * @param {Table} table
 */
export function useFocus(table) {
  const step = nextStep(table);
  const { stage } = step;
  const choices = stage === "exchange" ? String(step.choices) : "";
  const { card, confirm, seven, piece } = table.choice;
  const chose = useRef(card);
  useLayoutEffect(() => {
    const focused = document.activeElement === document.body ? held : document.activeElement;
    const lost = isGone(focused);
    // Until there is something to choose again, the focus rests.
    const waits = stage === "wait" || table.sending || table.choice.asking;
    const chosen = !waits && card !== null && card !== chose.current && focused?.closest(".hand button");
    if (!waits) chose.current = card;
    if (!(lost || chosen || (!waits && focused?.matches(".hand")))) return;
    for (const selector of waits ? REST : lost ? [...NEXT, ...REST] : NEXT) {
      const next = document.querySelector(selector);
      if (next instanceof HTMLElement) {
        next.focus({ preventScroll: !keyboard });
        return;
      }
    }
  }, [stage, choices, card, confirm, seven, piece, table.sending, table.choice.asking, table.moves, table.game?.version, table.replay === null]);
}

/** A list that is drawn a frame after the board, so that neither takes long. @param {any} props */
function Afterwards({ list, ...props }) {
  const [shown, show] = useState(props);
  useEffect(() => show(props), Object.values(props));
  return useMemo(() => html`<${list} ...${shown} />`, [shown]);
}

/** @param {{table: Table}} props */
export function TableScreen({ table }) {
  const { game } = table;
  // The screen before may have been longer.
  useEffect(() => scrollTo(0, 0), []);
  useFocus(table);
  useSignals(table);
  if (!game) return null;
  const step = stepOf(table);
  const seven = table.choice.seven.at(-1);
  const board = step ? step.board : seven ? seven.shown.board : game.board;
  const last = step ? step.last : seven ? null : table.shown;
  const turn = step ? step.last?.move.seat : game.turn;
  const stage = table.replay !== null ? " replaying" : game.phase === "finished" ? " over" : "";
  return html`
    <main class=${`table ${game.seats.length === 4 ? "four" : "six"}${stage}`} onKeyDown=${undoByKey(table)}>
      <${Bar} table=${table} round=${step?.round} />
      <div class="stage">
        <${Afterwards} list=${Players} table=${table} replaying=${step !== null} />
        <${Board} table=${table} board=${board} last=${last} turn=${turn ?? null} />
      </div>
      <div class="side">
        <${Dock} table=${table} step=${step} />
        <div class="extras">
          <${AllMoves} table=${table} />
          <${Analyse} table=${table} />
          <${WherePieces} table=${table} board=${board} />
          <${AtTable} table=${table} />
          <${Afterwards} list=${Log} table=${table} people=${people(table)} />
        </div>
      </div>
    </main>`;
}
