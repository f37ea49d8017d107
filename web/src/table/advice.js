// Suggestions of the adviser, each with its reasons in words.

import { useLayoutEffect, useRef } from "../../vendor/preact-hooks.js";
import { percent, t } from "../lang.js";
import { html, once } from "../view.js";
import { reasonForAdvice, suggestedPlaces } from "../words.js";

/** @import {Suggestion} from "../types.js" */
/** @import {People} from "../words.js" */

/**
 * An answer below the board. On a phone it stands in for the cards and buttons, so that the board
 * stays in view.
 *
 * @param {{name: string, close: () => void, off?: boolean, children: unknown}} props
 */
export function Sheet({ name, close, off, children }) {
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  // The button that opened the sheet is gone.
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), []);
  return html`
    <div class="sheet">
      <p class="small"><span ref=${title} tabindex="-1">${name}</span>
        <button type="button" class="link" disabled=${off} onClick=${close}>${t("close")}</button></p>
      ${children}
    </div>`;
}

/**
 * A list of suggestions. The chosen one shows its reasons, and the board previews it. The numbers of
 * fields are for screen readers, and tell suggestions in the same words apart.
 *
 * @param {{
 *   suggestions: Suggestion[], people: People, words: (one: Suggestion) => string, chosen: number | null,
 *   off?: boolean, next?: string, press: (index: number) => void, preview?: (index: number) => object,
 * }} props `next` says what a second press does, `preview` gives handlers for a pointer and the focus
 */
export function Suggestions({ suggestions, people, words, chosen, off, next, press, preview }) {
  const all = suggestions.map(words);
  const places = (/** @type {number} */ index) => html`
    <span class=${all.filter((one) => one === all[index]).length > 1 ? "" : "hidden"}>${suggestedPlaces(people, suggestions[index])}</span>`;
  return html`
    <ul class="advice" aria-label=${t("advice")}>
      ${suggestions.map((one, index) => html`
        <li key=${index}>
          <button type="button" disabled=${off} aria-expanded=${chosen === index ? "true" : "false"}
            onClick=${once(() => press(index))} ...${preview?.(index)}>
            <span class="grow">${all[index]}${places(index)}</span>${" "}
            <span class="chance">${t("advice.chance", { chance: percent(one.win_probability) })}
              ${one.equal && html` <span>${t("advice.equal")}</span>`}</span>
          </button>
          ${chosen === index && html`
            <ul class="reasons">
              ${one.reasons.map((reason) => html`<li>${reasonForAdvice(reason, people)}</li>`)}
            </ul>
            ${next && html`<p class="small">${next}</p>`}`}
        </li>`)}
    </ul>`;
}
