// A card of the hand. Its face is a picture, drawn by the style sheet; the name is the label.

import { t } from "../lang.js";
import { html, once } from "../view.js";
import { cardName } from "../words.js";

/** What a card does, as a reminder on its face. */
/** @type {Record<string, string>} */
const HINTS = { A: "⌂ 1 11", 4: "± 4", 7: "7 × 1", J: "⇄", Q: "+ 12", K: "⌂ 13", joker: "★" };

/**
 * A card that is `off` cannot be chosen: a press then asks what it does. `received` marks the card that
 * came from the partner, `lifted` one that is suggested.
 *
 * @param {{card: string, pressed?: boolean, disabled?: boolean, off?: boolean, title?: string, received?: boolean, lifted?: boolean, press?: () => void}} props
 */
export function CardButton({ card, pressed, disabled, off, title, received, lifted, press }) {
  const name = cardName(card);
  return html`
    <button type="button" class=${`card${card === "joker" ? " joker" : ""}${"AK".includes(card) ? " out" : ""}${received ? " received" : ""}${lifted ? " lifted" : ""}`}
      aria-label=${name === card || card === "joker" ? name : t("card.button", { card, name })} aria-pressed=${pressed ? "true" : "false"} disabled=${disabled}
      aria-disabled=${off ? "true" : undefined} title=${title ?? (received ? t("given.received.card") : undefined)} onClick=${press && once(press)}>
      <span class="rank" data-text=${card === "joker" ? "★" : card}></span>
      <span class="face" data-text=${card === "joker" ? t("card.joker") : card}></span>
      <span class="hint" data-text=${HINTS[card] ?? `+ ${card}`}></span>
    </button>`;
}

/** A card that cannot be chosen, in a line of text. @param {{card: string}} props */
export const SmallCard = ({ card }) => html`<span class="small-card">${card === "joker" ? "★" : card}<span class="hidden"> ${cardName(card)}</span></span>`;
