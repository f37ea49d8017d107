// Suggestions of the adviser, each with its reasons in words.

import { useLayoutEffect, useRef } from "../../vendor/preact-hooks.js";
import { offerOf, ownSeat, previewOf } from "../choose.js";
import { followAdvice } from "../game.js";
import { capitalize, t } from "../lang.js";
import { dispatch } from "../store.js";
import { html, once } from "../view.js";
import { chanceOf, people as peopleOf, reasonForAdvice, shortWords, suggestedPlaces, suggestionWords } from "../words.js";
import { previewing } from "./board.js";

/** @import {Suggestion, Table} from "../types.js" */
/** @import {People} from "../words.js" */

/**
 * An answer below the board. On a phone it stands in for the cards and buttons, so that the board
 * stays in view.
 *
 * @param {{name: string, close: () => void, children: unknown}} props
 */
export function Sheet({ name, close, children }) {
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  // The button that opened the sheet is gone.
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), []);
  return html`
    <div class="sheet">
      <p class="small"><span ref=${title} tabindex="-1">${name}</span>
        <button type="button" class="link" onClick=${close}>${t("close")}</button></p>
      ${children}
    </div>`;
}

/** @param {{reasons: Suggestion["reasons"], people: People}} props */
const Reasons = ({ reasons, people }) => html`
  <ul class="reasons">${reasons.map((reason) => html`<li>${reasonForAdvice(reason, people)}</li>`)}</ul>`;

/**
 * A list of suggestions. The chosen one shows its reasons, and the board previews it. The numbers of
 * fields are for screen readers, and tell suggestions in the same words apart.
 *
 * @param {{suggestions: Suggestion[], people: People, chosen: number | null, press: (index: number) => void}} props
 */
export function Suggestions({ suggestions, people, chosen, press }) {
  const all = suggestions.map((one) => suggestionWords(people, one));
  return html`
    <ul class="advice" aria-label=${t("advice")}>
      ${suggestions.map((one, index) => html`
        <li key=${index}>
          <button type="button" aria-expanded=${chosen === index ? "true" : "false"} onClick=${once(() => press(index))}>
            <span class="grow">${all[index]}<span class=${all.filter((words) => words === all[index]).length > 1 ? "" : "hidden"}>${suggestedPlaces(people, one)}</span></span>${" "}
            <span class="chance">${t("advice.chance", { chance: chanceOf(one) })}
              ${one.equal && html` <span>${t("advice.equal")}</span>`}</span>
          </button>
          ${chosen === index && html`<${Reasons} reasons=${one.reasons} people=${people} />`}
        </li>`)}
    </ul>`;
}

/** On request, only somebody who was asked can decline. @param {Table} table */
export const declineKey = ({ game }) => (game?.rules.exchange === "on_request" ? "do not help" : "decline");

/** The suggestions of a hint, and which one was pressed. @param {Table} table */
function hinted({ hint, tapped, choice }) {
  const suggestions = typeof hint === "object" && !choice.confirm ? hint.suggestions.slice(0, 3) : [];
  const chosen = suggestions.findIndex((_, index) => tapped?.key === `hint ${index}`);
  return { suggestions, chosen, one: suggestions[chosen] };
}

/** Which card of the hand the chosen suggestion uses. @param {Table} table */
export function hintedCard(table) {
  const { one } = hinted(table);
  const card = one && ("move" in one ? one.move : one.swap).card;
  return card ? ownSeat(table)?.hand?.indexOf(card) : -1;
}

/** The adviser's best suggestions: the first press previews one, the second does it. @param {{table: Table}} props */
export function Hint({ table }) {
  const { tapped, sending } = table;
  const { suggestions, chosen, one } = hinted(table);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  // The button that asked is gone.
  useLayoutEffect(() => list.current?.querySelector("button")?.focus({ preventScroll: true }), [suggestions.length > 0]);
  if (suggestions.length === 0) return null;
  const who = peopleOf(table);
  const words = (/** @type {Suggestion} */ of) => ("swap" in of && of.swap.decline ? t(declineKey(table)) : shortWords(who, of));
  const offer = (/** @type {Suggestion} */ of) => ("move" in of ? offerOf(of.move) : null);
  const press = (/** @type {number} */ index) => {
    const found = offer(suggestions[index]);
    if (index === chosen) followAdvice(one);
    else dispatch({ type: "tapped", key: `hint ${index}`, preview: found && previewOf(found) });
  };
  const close = () => {
    dispatch({ type: "hint", hint: "none" });
    // The button is gone.
    /** @type {HTMLElement | null} */ (document.querySelector(".hand"))?.focus();
  };
  return html`
    <div class="hinted">
      <ul class="pills" aria-label=${t("advice")} ref=${list}>
        ${suggestions.map((of, index) => html`
          <li key=${index}>
            <button type="button" disabled=${sending} aria-pressed=${chosen === index ? "true" : "false"}
              onClick=${once(() => press(index))} ...${previewing(offer(of))}>
              <span class="grow">${words(of)}<span class="hidden">${suggestedPlaces(who, of)}</span></span>${" "}
              <span class="chance" aria-hidden="true">${chanceOf(of)}</span>
              <span class="hidden">${t("advice.chance", { chance: chanceOf(of) })}</span>
            </button>
          </li>`)}
      </ul>
      <button type="button" class="quiet" aria-label=${t("close")} title=${t("close")} disabled=${sending} onClick=${close}>✕</button>
      <p aria-live="polite">
        ${one && html`<strong>${reasonForAdvice(one.reasons[0], who)}</strong> `}
        <span class="small">${one?.equal && chosen > 0 && `${capitalize(t("advice.equal"))}. `}${t(one ? "advice.again" : "advice.press")}</span>
        ${one && tapped && one.reasons.length > 1 && html` <button type="button" class="link" aria-expanded=${tapped.why ? "true" : "false"}
          onClick=${() => dispatch({ type: "tapped", ...tapped, why: !tapped.why })}>${t("advice.why")}</button>`}
      </p>
    </div>`;
}

/** The reasons of the chosen suggestion after the first. @param {{table: Table}} props */
export function Why({ table }) {
  const { one } = hinted(table);
  return one && table.tapped?.why && html`<${Reasons} reasons=${one.reasons.slice(1)} people=${peopleOf(table)} />`;
}
