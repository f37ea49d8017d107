// What is above every table: the way home, the rules, and leaving.

import { t } from "../lang.js";
import { html } from "../view.js";
import { Leave } from "./leave.js";

/** @import {Table} from "../types.js" */

/** @param {{table: Table, seating?: boolean}} props `seating`: before the game */
export function Bar({ table, seating }) {
  const { game } = table;
  if (!game) return null;
  return html`
    <header class="bar">
      <a href="#/" class="back">${t("table.home")}</a>
      <h1>DOG</h1>
      <span class="small">${seating ? t(`preset.${game.rules.preset}`) : html`
        <span class="preset">${t(`preset.${game.rules.preset}`)} · </span>${t("table.round", { round: game.round })}`}</span>
      ${!seating && html`<${Leave} table=${table} />`}
    </header>`;
}

/** Says that the connection is lost. @param {{table: Table}} props */
export const Lost = ({ table }) => table.link === "lost" && html`<p class="lost" role="alert">${t("link.lost")}</p>`;
