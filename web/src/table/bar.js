// What is above every table: the way home, the rules, and leaving.

import { leave } from "../people.js";
import { t } from "../lang.js";
import { html } from "../view.js";
import { isShared } from "../words.js";

/** @import {Table} from "../types.js" */

/** @param {{table: Table, seating?: boolean}} props `seating`: before the game */
export function Bar({ table, seating }) {
  const { game, seat, sending } = table;
  if (!game) return null;
  const there = seat !== null && game.seats[seat].kind === "human" && game.phase !== "finished";
  return html`
    <header class="bar">
      <a href="#/" class="back">${t("table.home")}</a>
      <h1 tabindex="-1">DOG</h1>
      <span class="small">${seating ? t(`preset.${game.rules.preset}`) : html`
        <span class="preset">${t(`preset.${game.rules.preset}`)} · </span>${t("table.round", { round: game.round })}`}</span>
      ${!seating && there && isShared(table) && html`
        <button type="button" class="leave" disabled=${sending} onClick=${leave}>${t("leave")}</button>`}
    </header>`;
}

/** Says that the connection is lost. @param {{table: Table}} props */
export const Lost = ({ table }) => table.link === "lost" && html`<p class="lost" role="alert">${t("link.lost")}</p>`;
