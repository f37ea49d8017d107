// A decision of a review: what was played, and what would have been better.

import { useEffect, useState } from "../../vendor/preact-hooks.js";
import { addressAgain, adviceAfter } from "../analyse/analysis.js";
import { problemOf } from "../api.js";
import { offerOf } from "../choose.js";
import { addressOf } from "../game.js";
import { capitalize, percent, points, t } from "../lang.js";
import { Picture } from "../table/board.js";
import { Mark } from "../table/players.js";
import { html, once } from "../view.js";
import { entryWords, nameOf, people, problemWords, reasonForAdvice, suggestedPlaces, suggestionWords, theCard } from "../words.js";

/** @import {Decision, Failure, ReplayStep, Suggestion, Table} from "../types.js" */

/** Whether another choice was clearly better. @param {Decision} decision */
export const isWorse = ({ judgement }) => judgement !== "best" && judgement !== "good";

/** @param {Decision} decision */
export const costOf = ({ loss }) => t("review.cost", { points: points(-loss) });

/** What was chosen, where the words may not say by whom. @param {Table} table @param {Decision} decision */
function playedWords(table, { version, played }) {
  const card = played.swap?.card;
  const step = table.steps?.[version - 1];
  return card ? capitalize(t("advice.give", { card: theCard(card) })) : step ? entryWords(people(table), step.entry) : "";
}

/** What was chosen, and by whom. @param {{table: Table, decision: Decision}} props */
export const Played = ({ table, decision }) => html`
  <${Mark} layout=${table.layout} seat=${decision.seat} />${" "}
  ${decision.played.swap?.card && html`<bdi>${nameOf(people(table), decision.seat)}</bdi>: `}${playedWords(table, decision)}`;

/** A decision that had a better choice. Pressed, it says why. @param {{table: Table, decision: Decision}} props */
export function Costly({ table, decision }) {
  const [open, setOpen] = useState(false);
  const before = table.steps?.[decision.version - 2];
  if (!before) return null;
  return html`
    <li>
      <button type="button" aria-expanded=${open ? "true" : "false"} onClick=${once(() => setOpen(!open))}>
        <span class="grow">${t("review.decision", { round: before.round, what: playedWords(table, decision) })}</span>${" "}
        <span class="chance">${costOf(decision)}</span>
      </button>
      ${open && html`<${Better} table=${table} decision=${decision} before=${before} />`}
    </li>`;
}

/** Whether a suggestion is this choice. @param {Suggestion} suggestion @param {Decision["best"]} choice */
function isChoice(suggestion, choice) {
  if ("move" in suggestion) return suggestion.move.id === choice.move;
  return /** @type {const} */ (["card", "ask", "pass", "decline"])
    .every((name) => suggestion.swap[name] === choice.swap?.[name]);
}

/** The best choice, with its reasons; null until they are known. @param {Table} table @param {Decision} decision @param {ReplayStep} before */
export function useBest(table, { best }, before) {
  const [answer, setAnswer] = useState(/** @type {Suggestion | Failure | null} */ (null));
  useEffect(() => {
    adviceAfter(table, before).then((advice) => setAnswer(advice?.suggestions.find((one) => isChoice(one, best)) ?? null),
      (error) => setAnswer(problemOf(error)));
  }, []);
  return answer;
}

/** What was better, why, and where. @param {{table: Table, decision: Decision, before: ReplayStep}} props */
function Better({ table, decision, before }) {
  const { version, judgement, win_probability: chance, loss } = decision;
  const answer = useBest(table, decision, before);
  const who = people(table);
  // The reasons speak to the player.
  const player = { ...who, me: decision.seat };
  const again = async () => { location.hash = await addressAgain(table, before); };
  const link = html`<a href=${addressOf(table.id, version - 1)}>${t("review.show")}</a>`;
  if (typeof answer === "string" || (answer && "code" in answer)) {
    return html`<p class="problem" role="alert">${problemWords(answer, who)}</p><p>${link}</p>`;
  }
  return html`
    ${answer ? html`
      <p>${t(`review.better.${judgement}`, { what: suggestionWords(who, answer) })}<span class="hidden">${suggestedPlaces(who, answer)}</span></p>
      ${decision.seat !== who.me && html`<p>${t("review.to", { name: nameOf(who, decision.seat) })}</p>`}
      <ul class="reasons">${answer.reasons.map((reason) => html`<li>${reasonForAdvice(reason, player)}</li>`)}</ul>` : html`<p role="status">${t("do.wait")}</p>`}
    ${answer && html`<p><button type="button" onClick=${once(again)}>${t("play again")}</button></p>`}
    <p>${t("review.chances", { best: percent(chance), played: percent((Math.round(100 * chance) - Math.round(100 * loss)) / 100) })} ${link}</p>
    <${Picture} layout=${table.layout} board=${before.board} preview=${answer && "move" in answer ? offerOf(answer.move) : null} />`;
}
