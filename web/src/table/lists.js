// Lists below the hand: every legal move in words, who sits at the table, the rules, and what has
// happened.

import { useEffect, useMemo, useRef, useState } from "../../vendor/preact-hooks.js";
import { offerOf } from "../choose.js";
import { play } from "../game.js";
import { t } from "../lang.js";
import { TableRules } from "../rules.js";
import { Everybody } from "../seats.js";
import { OtherDevice } from "../share.js";
import { dispatch, state } from "../store.js";
import { html } from "../view.js";
import { entryWords, moveWords, people as peopleOf } from "../words.js";
import { previewing } from "./board.js";

/** @import {LogEntry, Table} from "../types.js" */
/** @import {People} from "../words.js" */

/** So many moves are listed in words at once; a seven can have thousands. */
const PAGE = 400;

/** @param {{table: Table}} props */
export function AllMoves({ table }) {
  // How many moves are listed, of which list.
  const [listed, setListed] = useState({ moves: table.moves, size: PAGE });
  const size = listed.moves === table.moves ? listed.size : PAGE;
  // After "more", the focus is on the first move that was not there before.
  const first = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => first.current?.focus(), [listed]);
  if (!table.moves) return null;
  const who = peopleOf(table);
  const { list } = table.moves;
  const more = Math.min(PAGE, list.length - size);
  return html`
    <details class="moves">
      <summary>${t("moves.title")}</summary>
      <ul>
        ${list.slice(0, size).map((move, index) => html`
          <li key=${move.id}><button type="button" ref=${size > PAGE && index === size - PAGE ? first : null} disabled=${table.sending} onClick=${() => play(move.id)}
            ...${previewing(offerOf(move))}>${moveWords(who, move)}</button></li>`)}
      </ul>
      ${more > 0 && html`
        <button type="button" class="more" onClick=${() => setListed({ moves: table.moves, size: size + PAGE })}>
          ${t("moves.more", { n: more })}</button>`}
    </details>`;
}

/** Who sits at the table, what the host can do, and the own seat on another device. @param {{table: Table}} props */
export function AtTable({ table }) {
  const { game, seat, token } = table;
  const [open, setOpen] = useState(false);
  if (!game || game.phase === "finished" || (seat === null && !table.hostToken)) return null;
  return html`
    <details class="people" onToggle=${(/** @type {Event} */ event) =>
      setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
      <summary>${t("people.title")}</summary>
      ${open && html`<${Everybody} table=${table} />`}
      ${open && seat !== null && token && html`<${OtherDevice} id=${table.id} seat=${seat} token=${token} />`}
    </details>`;
}

/** The rules that are played. @param {{table: Table}} props */
export const Rules = ({ table }) => table.game && html`
  <details class="rules">
    <summary>${t("rules.title")}</summary>
    <${TableRules} rules=${table.game.rules} />
  </details>`;

/** @param {{table: Table, people: People}} props */
export function Log({ table, people }) {
  const { log } = table;
  // A whole game has more than a thousand lines: they are drawn again only if one of them changes.
  const lines = useMemo(() => log.flatMap((entry) => {
    const words = entryWords(people, entry);
    return words ? [html`<li key=${entry.version}>${lineWords(entry, words)}</li>`] : [];
  }).reverse(), [log, people.me, ...people.names]);
  return html`
    <details class="log" open>
      <summary>${t("log.title")}</summary>
      <ol tabindex="0" aria-label=${t("log.title")}>${lines}</ol>
    </details>`;
}

/** A line of the log. If it tells of a move, pressing it shows the way on the board, and once more hides it. @param {LogEntry} entry @param {string} words */
function lineWords({ events }, words) {
  const played = events.find((event) => event.type === "card_played");
  if (played?.type !== "card_played" || played.move.parts.length === 0) return words;
  const { parts, captures } = played.move;
  const press = () => dispatch({ type: "preview", preview: state.table?.preview?.parts === parts ? null : { parts, captures } });
  return html`<button type="button" onClick=${press}>${words}</button>`;
}
