// Lists in words below the hand: every legal move, and what has happened.

import { offerOf } from "../choose.js";
import { play } from "../game.js";
import { t } from "../lang.js";
import { html } from "../view.js";
import { eventWords, moveWords, people as peopleOf } from "../words.js";
import { previewing } from "./board.js";

/** @import {Table} from "../types.js" */
/** @import {People} from "../words.js" */

/** More moves than this are not listed in words; a seven can have thousands. */
const MOST = 400;

/** @param {{table: Table}} props */
export function AllMoves({ table }) {
  if (!table.moves) return null;
  const who = peopleOf(table);
  const { list } = table.moves;
  return html`
    <details class="moves">
      <summary>${t("moves.title")}</summary>
      <ul>
        ${list.slice(0, MOST).map((move) => html`
          <li key=${move.id}><button type="button" disabled=${table.sending} onClick=${() => play(move.id)}
            ...${previewing(offerOf(move))}>${moveWords(who, move)}</button></li>`)}
      </ul>
      ${list.length > MOST && html`<p class="small">${t("moves.more", { n: list.length - MOST })}</p>`}
    </details>`;
}

/** @param {{table: Table, people: People}} props */
export function Log({ table, people }) {
  const lines = table.log.flatMap(({ version, events }) => {
    const words = events.flatMap((event) => eventWords(people, event) ?? []);
    return words.length === 0 ? [] : [{ version, words }];
  }).reverse();
  return html`
    <details class="log" open>
      <summary>${t("log.title")}</summary>
      <ol tabindex="0" aria-label=${t("log.title")}>
        ${lines.map(({ version, words }) => html`<li key=${version}>${words.join(" · ")}</li>`)}
      </ol>
    </details>`;
}
