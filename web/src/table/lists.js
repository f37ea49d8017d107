// Lists below the hand: every legal move in words, who sits at the table, and what has happened.

import { useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact-hooks.js";
import { offerOf, previewOf } from "../choose.js";
import { addressOf, analyse, play } from "../game.js";
import { t } from "../lang.js";
import { Everybody } from "../seats.js";
import { OtherDevice } from "../share.js";
import { dispatch, state } from "../store.js";
import { html, touches } from "../view.js";
import { entryWords, moveWords, people as peopleOf, whereWords } from "../words.js";
import { previewing } from "./board.js";
import { askToNotify, mayAskToNotify } from "./signals.js";

/** @import {LogEntry, Move, SeatBoard, Table} from "../types.js" */
/** @import {VNode} from "../../vendor/preact.js" */
/** @import {People} from "../words.js" */

/** Seconds for a turn from which on a browser may forget the player's seat. */
const DAY = 86_400;
/** How many moves are listed in words at once; a seven can have thousands. */
const PAGE = 400;

/** Plays a move of the list. A finger previews it first. @param {Table} table @param {Move} move */
function pressMove({ tapped }, move) {
  const key = `move ${move.id}`;
  if (touches() && tapped?.key !== key) dispatch({ type: "tapped", key, preview: previewOf(offerOf(move)) });
  else play(move.id);
}

/** @param {{table: Table}} props */
export function AllMoves({ table }) {
  // How many moves are listed, of which list.
  const [listed, setListed] = useState({ moves: table.moves, size: PAGE });
  const size = listed.moves === table.moves ? listed.size : PAGE;
  // After "more", the focus is on the first move that was not there before.
  const first = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => first.current?.focus(), [listed]);
  if (!table.moves) return null;
  const who = peopleOf(table);
  const { list } = table.moves;
  const more = Math.min(PAGE, list.length - size);
  return html`
    <details class="moves">
      <summary>${t("moves.title")}</summary>
      <ul>
        ${list.slice(0, size).map((move, index) => html`
          <li key=${move.id}><button type="button" ref=${size > PAGE && index === size - PAGE ? first : null} disabled=${table.sending} onClick=${() => pressMove(table, move)}
            ...${previewing(offerOf(move))}>${moveWords(who, move)}${table.tapped?.key === `move ${move.id}` && html`
              <span class="small">${t("moves.again")}</span>`}</button></li>`)}
      </ul>
      ${more > 0 && html`
        <button type="button" class="more" onClick=${() => setListed({ moves: table.moves, size: size + PAGE })}>
          ${t("moves.more", { n: more })}</button>`}
    </details>`;
}

/** Opens the analysis of the position. @param {{table: Table}} props */
export const Analyse = ({ table }) => table.game && !["seating", "finished"].includes(table.game.phase) && html`
  <p><button type="button" class="link" disabled=${table.sending} onClick=${analyse}>${t("analyse.title")}</button></p>`;

/** The position in words, a line for each seat. @param {{table: Table, board: SeatBoard[]}} props `board` as it is drawn */
export function WherePieces({ table, board }) {
  const { layout } = table;
  if (!layout) return null;
  const who = peopleOf(table);
  return html`
    <details class="where">
      <summary>${t("where.title")}</summary>
      <ul>${board.map((_, seat) => html`<li key=${seat}>${whereWords(who, layout, board, seat)}</li>`)}</ul>
    </details>`;
}

/** Who sits at the table, what the host can do, and the player's seat on another device. @param {{table: Table}} props */
export function AtTable({ table }) {
  const { game, seat, token } = table;
  const [open, setOpen] = useState(false);
  if (!game || game.phase === "finished" || (seat === null && !table.hostToken)) return null;
  const device = seat !== null && token && html`<${OtherDevice} id=${table.id} seat=${seat} token=${token} />`;
  const isLong = (game.turn_seconds ?? 0) >= DAY;
  return html`
    ${isLong && device && html`<div class="people"><p>${t("device.backup")}</p>${device}</div>`}
    <details class="people" onToggle=${(/** @type {Event} */ event) =>
      setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
      <summary>${t("people.title")}</summary>
      ${mayAskToNotify(table) && html`
        <p><button type="button" onClick=${askToNotify}>${t("notify")}</button></p>`}
      ${open && html`<${Everybody} table=${table} />`}
      ${open && !isLong && device}
    </details>`;
}

/** What happened. In a replay the lines are links to its steps. @param {{table: Table, people: People}} props */
export function Log({ table, people }) {
  const { id, history, replay } = table;
  const log = history?.entries ?? table.log;
  const replaying = replay !== null;
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  // A whole game has more than a thousand lines: each is drawn once.
  const drawn = useMemo(() => /** @type {Map<LogEntry, VNode[]>} */ (new Map()), [replaying, people.me, ...people.names]);
  const lines = useMemo(() => log.flatMap((entry) => {
    const words = drawn.has(entry) ? "" : entryWords(people, entry);
    const line = drawn.get(entry) ?? (words ? [html`<li key=${entry.version}>${replaying
      ? html`<a href=${addressOf(id, entry.version)} data-version=${entry.version}>${words}</a>` : lineWords(entry, words)}</li>`] : []);
    drawn.set(entry, line);
    return line;
  }).reverse(), [log, drawn]);
  const list = useMemo(() => html`<ol tabindex="0" aria-label=${t("log.title")} ref=${root}>${lines}</ol>`, [lines]);
  // The line of the step is marked without drawing the list, and before the step is seen.
  useLayoutEffect(() => {
    const links = [...root.current?.querySelectorAll("a") ?? []];
    for (const one of links) one.removeAttribute("aria-current");
    const line = links.find((one) => Number(one.dataset.version) <= (replay ?? 0));
    line?.setAttribute("aria-current", "step");
    if (line && root.current) root.current.scrollTop = line.offsetTop - root.current.offsetTop - root.current.clientHeight / 2;
  }, [replay, lines]);
  return html`
    <details class="log" open>
      <summary>${t("log.title")}</summary>
      ${list}
    </details>`;
}

/** A line of the log. If it tells of a move, pressing it shows the way on the board, and once more hides it. @param {LogEntry} entry @param {string} words */
function lineWords({ events }, words) {
  const played = events.find((event) => event.type === "card_played");
  if (played?.type !== "card_played" || played.move.parts.length === 0) return words;
  const { parts, captures } = played.move;
  const press = () => {
    const preview = state.table?.preview?.parts === parts ? null : { parts, captures };
    dispatch({ type: "table", change: { preview } });
  };
  return html`<button type="button" onClick=${press}>${words}</button>`;
}
