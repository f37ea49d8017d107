// A finished game: its result, the rematch, the replay, the record and the check of the shuffles.

import { useLayoutEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { partnerOf, teamsOf } from "../choose.js";
import { go, playAgainstBots } from "../game.js";
import { list, loadScreen, t } from "../lang.js";
import { rematch } from "../people.js";
import { html, Later } from "../view.js";
import { isShared } from "../words.js";
import { checkFair, download, replay, review } from "./history.js";
import { Replay } from "./player.js";
import { Result, Share } from "./result.js";

/** @import {FairResult, ReplayStep, Table} from "../types.js" */

const loadReview = async () => (await loadScreen("./review/review.js", () => import("../review/review.js"))).Review;

/** @param {{table: Table, step: ReplayStep | null}} props `step` of the replay */
export function Finished({ table, step }) {
  // Where the reader was before the replay: the end stays as it is meanwhile.
  const place = useRef({ top: 0, focused: /** @type {Element | null} */ (null) });
  useLayoutEffect(() => {
    const { top, focused } = place.current;
    if (step || !(focused instanceof HTMLElement)) return;
    focused.focus({ preventScroll: true });
    scrollTo(0, top);
  }, [step === null]);
  return html`
    ${step && html`<${Replay} table=${table} step=${step} />`}
    <div class=${step ? "" : "finished"} hidden=${step !== null} onClick=${() => { place.current = { top: scrollY, focused: document.activeElement }; }}>
      <${End} table=${table} /></div>`;
}

/** @param {{table: Table}} props */
function End({ table }) {
  const { game, seat } = table;
  if (!game || typeof game.winner !== "number") return null;
  return html`
    <${Result} table=${table} />
    <${Again} table=${table} />
    <div class="buttons">
      ${seat !== null && !isShared(table) && html`<button type="button" class="primary" onClick=${playAgainstBots}>${t("finished.again")}</button>`}
      <${Share} table=${table} version=${null} />
      <button type="button" onClick=${replay}>${t("replay")}</button>
      <button type="button" onClick=${review} disabled=${table.review !== "none"}>${t("review")}</button>
      <button type="button" onClick=${download}>${t("finished.download")}</button>
      <button type="button" onClick=${checkFair} disabled=${table.fair === "running"}>${t("fair.check")}</button>
      <button type="button" onClick=${() => go(null)}>${t("table.home")}</button>
    </div>
    ${typeof table.fair === "object" && html`<${Fair} fair=${table.fair} given=${game.shuffle_seed_given} />`}
    ${table.review !== "none" && html`<${Later} part load=${loadReview} table=${table} />`}`;
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
  if (seat === null && !hostToken) {
    return next && html`<p>${t("rematch.others")} <a href=${`#/games/${next}`}>${t("rematch.watch")}</a></p>`;
  }
  const orders = ordersOf(game.seats.length, seat ?? 0);
  /** @param {number[]} order the old seat at each new place */
  const teams = (order) => teamsOf(order.length).map((places) => list(places.map((place) => game.seats[order[place]].name)))
    .join(t("rematch.against"));
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
  const partner = partnerOf(seat, seats);
  const others = same.filter((one) => one !== seat && one !== partner);
  return [same, ...others.map((other) => same.map((one) => (one === partner ? other : one === other ? partner : one)))];
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
