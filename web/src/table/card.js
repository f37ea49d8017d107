// A card of the hand: its rank, and what it does in one or two icons. Both are drawn; the name is the label.

import { t } from "../lang.js";
import { html, once } from "../view.js";
import { cardName } from "../words.js";

/** What is special about some cards, which gives them their colours. @type {Record<string, string>} */
export const POWERS = { A: "out", 4: "back", 7: "split", J: "swap", K: "out", joker: "any" };

const HOUSE = "M8 0L0 6.6 1.3 8.4 2.2 7.7V16h3.3v-3.6a2.5 2.5 0 0 1 5 0V16h3.3V7.7l.9.7L16 6.6z";
/** Two pieces that change places. */
const SWAP = "M12 2.5H24V0L33 4 24 8V5.5H12zM24 10.5H12V8L3 12 12 16V13.5H24zM7 .2a3.6 3.6 0 1 1 0 7.2 3.6 3.6 0 1 1 0-7.2zM29 8.6a3.6 3.6 0 1 1 0 7.2 3.6 3.6 0 1 1 0-7.2z";

/** The cap of a jester: three horns, and the bells at their ends. */
const HORNS = [["left", "M9 14C8 7 4 4 .8 8.6c2.6-.4 3.4 2.6 3.6 6.4z"], ["right", "M23 14C24 7 28 4 31.2 8.6c-2.6-.4-3.4 2.6-3.6 6.4z"], ["middle", "M8 14.5C8 8 12 3.6 16 1.4c4 2.2 8 6.6 8 13.1z"]];
const BELLS = [[1.6, 9.6], [16, 1.7], [30.4, 9.6]];

const Joker = () => html`
  ${HORNS.map(([side, path]) => html`<path class=${`ink ${side}`} d=${path} />`)}
  ${BELLS.map(([x, y]) => html`<circle class="ink bell" cx=${x} cy=${y} r="1.5" />`)}
  <path class="ink skin" d="M9 13.6c4-1.6 10-1.6 14 0 .6 5.4-2.6 8.2-7 8.2s-7.6-2.8-7-8.2z" />
  <path class="smile" d="M13 16.2v.2M19 16.2v.2M12.4 18.6c2 2 5.2 2 7.2 0" />`;

/** The rank, or the face of the joker, in a box of 32 by 22. @param {{card: string}} props the others are those of the picture */
export const Rank = ({ card, ...props }) => html`
  <svg class="rank" viewBox="0 0 32 22" aria-hidden="true" ...${props}>
    ${card === "joker" ? html`<${Joker} />` : html`
      <text x="16" y="22" font-size=${Number(card) ? 32.8 : 28.3} textLength=${card === "10" ? 29 : undefined} lengthAdjust="spacingAndGlyphs">${card}</text>`}
  </svg>`;

/** A sign that points forward, with the number of steps: a drawing, and no words of the button. @param {{x: number, width: number, steps: number}} props */
const Sign = ({ x, width, steps }) => html`
  <g transform=${`translate(${x})`}><path d=${`M1.5 0H${width - 5}L${width} 8 ${width - 5} 16H1.5Q0 16 0 14.5V1.5Q0 0 1.5 0z`} />
    <use href=${`#n${steps}`} x=${width / 2 - 1.2} y="12.4" font-size="13.4" /></g>`;

/** An arrow behind its steps, in two rows if there are many. @param {{steps: number, y?: number, size?: number, both?: boolean}} props `both`: there and back */
function Steps({ steps, y = 8, size = 8, both = false }) {
  const columns = steps > 5 ? Math.ceil(steps / 2) : steps;
  const gap = size < 8 || steps > 5 ? 6.2 : 7;
  const left = 24 - columns * gap / 2 - (both ? 0 : size / 2);
  const right = left + columns * gap;
  const dots = Array.from({ length: steps }, (_, step) =>
    `M${left + (step % columns + 0.5) * gap} ${steps > 5 ? y - 3.6 + 7.2 * Math.floor(step / columns) : y}h0`);
  return html`
    <path class="steps" stroke-width=${gap - 1.2} d=${dots.join("")} />
    <path d=${`M${right} ${y - size}L${right + size + 1} ${y} ${right} ${y + size}z${both ? `M${left} ${y - size}L${left - size - 1} ${y} ${left} ${y + size}z` : ""}`} />`;
}

/** What a card does, in a box of 48 by 16. @type {Record<string, () => unknown>} */
const ICONS = {
  A: () => html`<path transform="translate(.4 1) scale(.9)" d=${HOUSE} /><${Sign} x=${16} width=${12.4} steps=${1} /><${Sign} x=${29.4} width=${18.6} steps=${11} />`,
  4: () => html`<${Steps} steps=${4} both />`,
  7: () => html`<${Steps} steps=${4} y=${4} size=${4} /><${Steps} steps=${3} y=${12} size=${4} />`,
  J: () => html`<path transform="translate(6)" d=${SWAP} />`,
  Q: () => html`<${Sign} x=${10} width=${28} steps=${12} />`,
  K: () => html`<path transform="translate(1)" d=${HOUSE} /><${Sign} x=${20} width=${27} steps=${13} />`,
  joker: () => [["left", -28], ["right", 28], ["middle", 0]].map(([kind, turn]) =>
    html`<rect class=${`ink ${kind}`} x="19" y="1" width="10" height="14" rx="1.5" transform=${`rotate(${turn} 24 22)`} />`),
};

/**
 * A card that is `off` cannot be chosen: a press then asks what it does. `received` marks the card that
 * came from the partner, `lifted` one that is suggested.
 *
 * @param {{card: string, pressed?: boolean, disabled?: boolean, off?: boolean, title?: string, received?: boolean, lifted?: boolean, press?: () => void}} props
 */
export function CardButton({ card, pressed, disabled, off, title, received, lifted, press }) {
  const name = cardName(card);
  return html`
    <button type="button" class=${`card${received ? " received" : ""}${lifted ? " lifted" : ""}`} data-power=${POWERS[card]}
      aria-label=${name === card || card === "joker" ? name : t("card.button", { card, name })} aria-pressed=${pressed ? "true" : "false"} disabled=${disabled}
      aria-disabled=${off ? "true" : undefined} title=${title ?? (received ? t("given.received.card") : undefined)} onClick=${press && once(press)}>
      <${Rank} card=${card} />
      <svg class="power" viewBox="0 0 48 16" aria-hidden="true">${ICONS[card]?.() ?? html`<${Steps} steps=${Number(card)} />`}</svg>
    </button>`;
}

/** The back of a card, in a line of text. */
export const Back = () => html`<svg class="card-back" viewBox="0 0 20 28" aria-hidden="true"><rect x="1" y="1" width="18" height="26" rx="3" /><rect class="frame" x="5" y="5" width="10" height="18" /></svg>`;

/** A card that cannot be chosen, in a line of text. @param {{card: string}} props */
export const SmallCard = ({ card }) => html`<span class="small-card">${card === "joker" ? "★" : card}<span class="hidden"> ${cardName(card)}</span></span>`;
