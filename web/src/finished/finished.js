// A finished game: the feast, the next game, the replay, the record and the check of the shuffles.

import { useLayoutEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { isForfeited, partnerOf, teamsOf } from "../choose.js";
import { playAgainstBots } from "../game.js";
import { list, loadScreen, t } from "../lang.js";
import { rematch } from "../people.js";
import { html, Icon, Later } from "../view.js";
import { isShared } from "../words.js";
import { Feast } from "./feast.js";
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

/** What stands before the words of a button. */
const ICONS = {
  replay: "M12 5V1.5L7 6l5 4.5V7a5.5 5.5 0 1 1-5.5 5.5h-2A7.5 7.5 0 1 0 12 5z",
  review: "M3 20V4h2v14h16v2zM7 15l4-6 4 3 5-8 1.6 1-6 10-4.1-3L8.6 16z",
  more: "M5 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4zm7 0a2 2 0 1 0 0 4 2 2 0 0 0 0-4zm7 0a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
};

/** @param {{table: Table}} props */
function End({ table }) {
  const { game, seat, hostToken, next, sending } = table;
  const [more, showMore] = useState(false);
  const [partners, setPartners] = useState(0);
  if (!game || typeof game.winner !== "number") return null;
  const shared = isShared(table);
  const plays = seat !== null || hostToken !== null;
  const orders = shared && plays && !next ? ordersOf(game.seats.length, seat ?? 0) : [];
  /** @param {keyof typeof ICONS} name @param {() => void} press @param {Record<string, unknown>} [how] */
  const button = (name, press, how) => html`
    <button type="button" class="icon" onClick=${press} ...${how}><${Icon} path=${ICONS[name]} />${t(name === "more" ? "settings.more" : name)}</button>`;
  const match = game.match_id && html`<p class="how"><a href=${`#/match/${game.match_id}`}>${t("match.link")}</a></p>`;
  if (game.match_closed) return html`<${Feast} table=${table} /><p role="status">${t("match.closed")}</p>${match}<${Result} table=${table} />`;
  return html`
    <${Feast} table=${table} />
    ${isForfeited(game) && html`<p>${t("finished.forfeited", { round: game.round })}</p>`}
    ${next && (plays ? html`<p role="alert">${t("rematch.asked")}</p>`
      : html`<p>${t("rematch.others")} <a href=${`#/games/${next}`}>${t("rematch.watch")}</a></p>`)}
    ${plays && (shared || seat !== null) && html`
      <button type="button" class="primary big" disabled=${sending} onClick=${shared ? () => rematch(orders[partners]) : playAgainstBots}>
        ${t(shared ? "rematch" : "finished.again")}</button>`}
    <div class="icons">
      <${Share} table=${table} version=${null} />
      ${button("replay", replay)}
      ${button("review", review, { disabled: table.review !== "none" })}
      ${button("more", () => showMore(!more), { "aria-expanded": more ? "true" : "false" })}
    </div>
    ${match}
    ${more && html`
      ${orders.length > 0 && html`<${Partners} table=${table} orders=${orders} chosen=${partners} choose=${setPartners} />`}
      <div class="buttons">
        <button type="button" onClick=${download}>${t("finished.download")}</button>
        <button type="button" onClick=${checkFair} disabled=${table.fair === "running"}>${t("fair.check")}</button>
      </div>`}
    ${typeof table.fair === "object" && html`<${Fair} fair=${table.fair} given=${game.shuffle_seed_given} />`}
    ${table.review !== "none" && html`<${Later} part load=${loadReview} table=${table} />`}
    <${Result} table=${table} />`;
}

/**
 * Who plays together in the next game of the same people: whoever asks first can change it.
 *
 * @param {{table: Table, orders: number[][], chosen: number, choose: (order: number) => void}} props `orders` has the old seat at each new place
 */
function Partners({ table: { game }, orders, chosen, choose }) {
  /** @param {number[]} order */
  const teams = (order) => teamsOf(order.length).map((places) => list(places.map((place) => game?.seats[order[place]].name ?? "")))
    .join(t("rematch.against"));
  return html`
    <fieldset class="partners">
      <legend>${t("rematch.partners")}</legend>
      ${orders.map((order, index) => html`
        <label key=${index}><input type="radio" name="partners" checked=${chosen === index}
          onChange=${() => choose(index)} /> ${teams(order)}${index === 0 && ` (${t("rematch.same")})`}</label>`)}
    </fieldset>`;
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
