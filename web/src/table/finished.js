// A finished game: who won, the rematch, replay, the record and the check of the shuffles.

import { useState } from "../../vendor/preact-hooks.js";
import { analyse, checkFair, download, go, playAgainstBots, replay } from "../game.js";
import { list, t } from "../lang.js";
import { rematch } from "../people.js";
import { dispatch, state } from "../store.js";
import { html } from "../view.js";
import { entryWords, isShared, people, wonWords } from "../words.js";

/** @import {FairResult, Table} from "../types.js" */
/** @import {ReplayStep} from "./replay.js" */

/** @param {{table: Table, step: ReplayStep | null}} props */
export function Finished({ table, step }) {
  const { game, seat } = table;
  if (!game || typeof game.winner !== "number") return null;
  return html`
    <div class="finished">
      <h2 tabindex="-1">${wonWords(people(table), game.winner)}</h2>
      <${Again} table=${table} />
      <div class="buttons">
        ${seat !== null && !isShared(table) && html`<button type="button" class="primary" onClick=${() => playAgainstBots(state.name || t("player"))}>${t("finished.again")}</button>`}
        <button type="button" aria-pressed=${step ? "true" : "false"}
          onClick=${() => (step ? dispatch({ type: "replay", step: null }) : replay())}>${t("replay")}</button>
        <button type="button" onClick=${download}>${t("finished.download")}</button>
        <button type="button" onClick=${checkFair} disabled=${table.fair === "running"}>${t("fair.check")}</button>
        <button type="button" onClick=${() => go(null)}>${t("table.home")}</button>
      </div>
      ${step && html`<${Slider} table=${table} step=${step} />`}
      ${typeof table.fair === "object" && html`<${Fair} fair=${table.fair} given=${game.shuffle_seed_given} />`}
    </div>`;
}

/**
 * The next game of the same people: whoever asks first can change the partners.
 *
 * @param {{table: Table}} props
 */
function Again({ table }) {
  const { game, seat, hostToken, next, sending } = table;
  const [chosen, setChosen] = useState(0);
  if (!game || !isShared(table)) return null;
  const plays = seat !== null && game.seats[seat].kind === "human";
  if (!plays && !hostToken) {
    return next && html`<p>${t("rematch.others")} <a href=${`#/games/${next}`}>${t("rematch.watch")}</a></p>`;
  }
  const orders = ordersOf(game.seats.length, seat ?? 0);
  /** @param {number[]} order the old seat at each new place */
  const teams = (order) => order.slice(0, order.length / 2).map((one, place) =>
    list([one, order[place + order.length / 2]].map((old) => game.seats[old].name))).join(t("rematch.against"));
  return html`
    <div class="again">
      ${next ? html`<p role="alert">${t("rematch.asked")}</p>` : html`
        <fieldset>
          <legend>${t("rematch.partners")}</legend>
          ${orders.map((order, index) => html`
            <label key=${index}><input type="radio" name="partners" checked=${chosen === index}
              onChange=${() => setChosen(index)} /> ${teams(order)}${index === 0 && ` (${t("rematch.same")})`}</label>`)}
        </fieldset>`}
      <div class="buttons">
        <button type="button" class="primary" disabled=${sending}
          onClick=${() => rematch(next ? undefined : orders[chosen])}>${t("rematch")}</button>
      </div>
    </div>`;
}

/**
 * The ways to sit down again: as before, and with each of the others as partner of this seat. Each
 * is a list of the old seat at each new place.
 *
 * @param {number} seats @param {number} seat
 */
function ordersOf(seats, seat) {
  const same = Array.from({ length: seats }, (_, place) => place);
  const partner = (seat + seats / 2) % seats;
  const others = same.filter((one) => one !== seat && one !== partner);
  return [same, ...others.map((other) => same.map((one) => (one === partner ? other : one === other ? partner : one)))];
}

/** @param {{table: Table, step: ReplayStep}} props */
function Slider({ table, step }) {
  const last = (table.history?.entries.length ?? 1) - 1;
  const at = table.replay ?? 0;
  /** @param {number} to */
  const move = (to) => dispatch({ type: "replay", step: Math.min(Math.max(to, 0), last) });
  const who = people(table);
  const words = entryWords(who, step.entry);
  return html`
    <div class="replay" role="group" aria-label=${t("replay")}>
      <button type="button" aria-label=${t("replay.back")} disabled=${at === 0} onClick=${() => move(at - 1)}>◀</button>
      <input type="range" min="0" max=${last} value=${at} aria-label=${t("replay.step")} aria-valuetext=${words || String(at)}
        onInput=${(/** @type {Event} */ event) => move(Number(/** @type {HTMLInputElement} */ (event.target).value))} />
      <button type="button" aria-label=${t("replay.next")} disabled=${at === last} onClick=${() => move(at + 1)}>▶</button>
      <p class="words">${words || t("replay.begin")}</p>
      <button type="button" class="wide" onClick=${analyse}>${t("analyse")}</button>
    </div>`;
}

/** @param {{fair: FairResult, given: boolean}} props */
function Fair({ fair, given }) {
  if (fair.insecure) return html`<p role="alert">${t("fair.insecure")}</p>`;
  return html`
    <div role="alert"><ul class="fair">
      <li>${fair.commitment ? `✓ ${t("fair.commitment.yes")}` : `✗ ${t("fair.commitment.no")}`}</li>
      <li>${fair.deals ? `✓ ${t("fair.deals.yes", { n: fair.rounds })}` : `✗ ${t("fair.deals.no")}`}</li>
      ${given && html`<li>${t("fair.given")}</li>`}
    </ul></div>`;
}
