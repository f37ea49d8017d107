// A card of the hand.

import { t } from "../lang.js";
import { html } from "../view.js";
import { cardName } from "../words.js";

/** What a card does, as a reminder on its face. */
/** @type {Record<string, string>} */
const HINTS = { A: "⌂ 1 11", 4: "± 4", 7: "1 + 6", J: "⇄", Q: "12", K: "⌂ 13", joker: "★" };

/** @param {{card: string, pressed?: boolean, disabled?: boolean, press?: () => void}} props */
export function CardButton({ card, pressed, disabled, press }) {
  return html`
    <button type="button" class=${`card${card === "joker" ? " joker" : ""}${"AK".includes(card) ? " out" : ""}`}
      aria-label=${cardName(card)} aria-pressed=${pressed ? "true" : "false"} disabled=${disabled} onClick=${press}>
      <span class="rank">${card === "joker" ? "★" : card}</span>
      <span class="face">${card === "joker" ? t("card.joker.short") : card}</span>
      <span class="hint">${HINTS[card] ?? `+ ${card}`}</span>
    </button>`;
}

/** A card that cannot be chosen, in a line of text. @param {{card: string}} props */
export const SmallCard = ({ card }) => html`<span class="small-card">${card === "joker" ? "★" : card}<span class="hidden"> ${cardName(card)}</span></span>`;
