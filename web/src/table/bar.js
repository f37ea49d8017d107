// What is above every table: the way home, the rules, and leaving.

import { answerSecond, setPerson } from "../game.js";
import { t } from "../lang.js";
import { state } from "../store.js";
import { html, once } from "../view.js";
import { Leave } from "./leave.js";
import { RulesButton } from "./rules.js";

/** @import {Table} from "../types.js" */

/** The pictures of the switch for sound. */
const SPEAKER = "M3 9h4l5-4v14l-5-4H3z";
const WAVES = "M15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a7.8 7.8 0 0 1 0 11";
const CROSS = "M16 9.5l5 5M21 9.5l-5 5";

/** @param {{table: Table, round?: number, seating?: boolean}} props `round` if it is not that of the game, `seating`: before the game */
export function Bar({ table, round, seating }) {
  const { game, seat } = table;
  if (!game) return null;
  const shown = round ?? game.round;
  return html`
    <header class="bar">
      <a href="#/" class="back">${t("table.home")}</a>
      <h1 class="wordmark" tabindex="-1">DOG</h1>
      <span class="small">${seating ? t(`preset.${game.rules.preset}`) : html`
        <span class="preset">${t(`preset.${game.rules.preset}`)} · </span>${shown > 0 && t("table.round", { round: shown })}`}</span>
      <${RulesButton} rules=${game.rules} name=${t("rules.title")} kind="help">?<//>
      ${!seating && seat !== null && html`
        <button type="button" class="sound" aria-label=${t("sound")} title=${t("sound")} aria-pressed=${state.sound ? "true" : "false"}
          onClick=${() => setPerson({ sound: !state.sound })}>
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d=${SPEAKER} />
            <path class="waves" d=${state.sound ? WAVES : CROSS} /></svg></button>`}
      ${!seating && html`<${Leave} table=${table} />`}
      ${table.isSecond && html`
        <div class="question" role="alertdialog" aria-labelledby="second">
          <p id="second">${t("second")}</p>
          <button type="button" class="primary" onClick=${once(() => answerSecond(false))}>${t("second.own")}</button>
          <button type="button" class="danger" onClick=${once(() => answerSecond(true))}>${t("second.change")}</button>
        </div>`}
    </header>`;
}

/** Says that the connection is lost. @param {{table: Table}} props */
export const Lost = ({ table }) => table.link === "lost" && html`<p class="lost" role="alert">${t("link.lost")}</p>`;
