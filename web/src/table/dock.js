// What to do, the hand and the buttons: within reach of the thumb on a phone.

import { canUndo, chosenCard, nextStep, offerOf, playable } from "../choose.js";
import { chooseCard, chooseRank, choose, deal, exchange, followAdvice, hint, play, undo } from "../game.js";
import { t } from "../lang.js";
import { comeBack } from "../people.js";
import { Missing } from "../seats.js";
import { dispatch } from "../store.js";
import { html, once } from "../view.js";
import { cardName, latestWords, moveWords, people, problemWords, whyUnplayable } from "../words.js";
import { Sheet, Suggestions } from "./advice.js";
import { previewOf, previewing } from "./board.js";
import { CardButton, SmallCard } from "./card.js";

/** @import {Suggestion, Table} from "../types.js" */

/** @param {{table: Table, status: string}} props */
export function Dock({ table, status }) {
  const { game, seat, problem } = table;
  if (!game) return null;
  const who = people(table);
  const latest = latestWords(table);
  return html`
    <section class="dock">
      <div role="status" aria-label=${t("status")} class="status">
        ${latest && html`<p class="happened">${latest}</p>`}
        <p class=${status.length > 90 ? "todo long" : "todo"}>${status}</p>
        ${table.lostSeat && html`<p>${t("table.lost-seat")}</p>`}
        ${problem && html`<p class="problem">${problemWords(problem, who)}</p>`}
      </div>
      ${seat === null ? html`<p class="small">${t("table.watching")}</p>` : html`
        <${Ranks} table=${table} />
        <${Hand} table=${table} />
        <${Buttons} table=${table} />
        <${Advice} table=${table} />
        <${Given} table=${table} />`}
      <${Missing} table=${table} />
    </section>`;
}

/** @param {{table: Table}} props */
function Hand({ table }) {
  const { game, seat, choice, sending } = table;
  const hand = seat === null ? null : game?.seats[seat].hand;
  if (!hand) return null;
  const step = nextStep(table);
  const exchanging = step.stage === "exchange" && step.choices.includes("card");
  const legal = playable(table);
  /** @param {string} card */
  const can = (card) => exchanging
    || (!["none", "deal", "fold", "exchange"].includes(step.stage) && legal !== null && [...legal].some((one) => one === card));
  /** @param {string} card */
  const why = (card) => {
    const unplayable = table.unplayable?.find((one) => one.card === card);
    return unplayable && whyUnplayable(unplayable, people(table));
  };
  return html`
    <div class="hand" role="group" aria-label=${t("hand")}>
      ${hand.map((card, index) => html`
        <${CardButton} key=${`${index} ${card}`} card=${card} pressed=${choice.card === index}
          disabled=${sending || !can(card)} why=${why(card)} press=${() => chooseCard(index)} />`)}
      ${hand.length === 0 && html`<p class="small">${t("hand.empty")}</p>`}
    </div>`;
}

/** The ranks that a joker can stand for. @param {{table: Table}} props */
function Ranks({ table }) {
  const step = nextStep(table);
  if (step.stage !== "rank") return null;
  return html`
    <div class="ranks" role="group" aria-label=${t("ranks")}>
      ${step.ranks.map((rank) => html`
        <button type="button" key=${rank} disabled=${table.sending} aria-label=${cardName(rank)}
          onClick=${() => chooseRank(rank)}>${rank}</button>`)}
    </div>`;
}

/** On request, only somebody who was asked can decline. @param {Table} table */
const declineKey = ({ game }) => (game?.rules.exchange === "on_request" ? "do not help" : "decline");

/** @param {{table: Table}} props */
function Buttons({ table }) {
  const { choice, sending } = table;
  const step = nextStep(table);
  const card = chosenCard(table);
  const { confirm } = choice;
  const asking = confirm && confirm !== "fold" ? confirm : null;
  /** @param {string} name @param {() => void} press @param {{kind?: string, off?: boolean}} [options] */
  const button = (name, press, { kind = "", off = false } = {}) => html`
    <button type="button" key=${name} class=${kind} disabled=${sending || off} onClick=${kind === "danger" ? once(press) : press}>${t(name)}</button>`;
  const cancel = button("cancel", () => dispatch({ type: "confirm", confirm: null }));
  const acting = !["none", "deal", "wait"].includes(step.stage) && !confirm;
  const own = table.seat === null ? null : table.game?.seats[table.seat];
  return html`
    <div class="buttons">
      ${own?.kind === "bot" && button("take back", comeBack, { kind: "primary" })}
      ${own?.away && button("back", comeBack, { kind: "primary" })}
      ${step.stage === "deal" && button("deal", deal, { kind: "primary" })}
      ${step.stage === "exchange" && html`
        ${step.choices.includes("card") && button("give", () => card && exchange({ card }), { kind: "primary", off: card === null })}
        ${step.choices.includes("ask") && button("ask", () => exchange({ ask: true }), { kind: step.choices.includes("pass") ? "answer" : "" })}
        ${step.choices.includes("pass") && button("pass", () => exchange({ pass: true }), { kind: "answer" })}
        ${step.choices.includes("decline") && button(declineKey(table), () => exchange({ decline: true }))}`}
      ${step.stage === "fold" && (confirm ? html`${button("fold", () => play(step.id), { kind: "danger" })}${cancel}`
        : button("fold", () => dispatch({ type: "confirm", confirm: "fold" }), { kind: "primary" }))}
      ${asking ? html`${button("play", () => choose(asking), { kind: "danger" })}${cancel}`
        : step.stage === "play" && button("play", () => choose(step.offer), { kind: "primary" })}
      ${!confirm && step.stage !== "exchange" && canUndo(table) && button("undo", undo)}
      ${!confirm && choice.seven.length > 1 && button("start over", () => dispatch({ type: "start over" }))}
      ${acting && step.stage !== "fold" && table.hint !== "asked" && typeof table.hint === "string" && button("hint", hint)}
      ${table.hint === "asked" && html`<span class="small" role="status">${t("hint.asked")}</span>`}
    </div>`;
}

/** The adviser's best suggestions: the first press previews one, the second does it. @param {{table: Table}} props */
function Advice({ table }) {
  const { hint: advice, tapped, sending } = table;
  if (typeof advice === "string" || table.choice.confirm) return null;
  const who = people(table);
  const suggestions = advice.suggestions.slice(0, 3);
  /** @param {Suggestion} suggestion */
  const words = (suggestion) => {
    if ("move" in suggestion) return moveWords(who, suggestion.move);
    const { swap } = suggestion;
    if (swap.card) return t("advice.give", { card: cardName(swap.card) });
    return t(swap.ask ? "ask" : swap.pass ? "pass" : declineKey(table));
  };
  const key = (/** @type {number} */ index) => `hint ${index}`;
  const chosen = suggestions.findIndex((_, index) => tapped?.key === key(index));
  const offer = (/** @type {Suggestion} */ one) => ("move" in one ? offerOf(one.move) : null);
  const press = (/** @type {number} */ index) => {
    const found = offer(suggestions[index]);
    if (index === chosen) followAdvice(suggestions[index]);
    else dispatch({ type: "tapped", key: key(index), preview: found && previewOf(found) });
  };
  return html`
    <${Sheet} name=${t("advice")} off=${sending} close=${() => dispatch({ type: "hint", hint: "none" })}>
      <${Suggestions} suggestions=${suggestions} people=${who} words=${words} chosen=${chosen} off=${sending}
        next=${t("advice.again")} press=${press}
        preview=${(/** @type {number} */ index) => previewing(offer(suggestions[index]))} />
    <//>`;
}

/** What the partners gave each other in this round. @param {{table: Table}} props */
function Given({ table }) {
  const { game, seat } = table;
  const own = game && seat !== null ? game.seats[seat] : null;
  if (!own?.gave && !own?.received) return null;
  return html`
    <p class="given small">
      ${own.gave && html`${t("given.gave")} <${SmallCard} card=${own.gave} /> `}
      ${own.received && html`${t("given.received")} <${SmallCard} card=${own.received} />`}
    </p>`;
}
