// The rules in pictures, cards and words: what differs at a table, and behind it all that is played.

import { useEffect, useState } from "../../vendor/preact-hooks.js";
import { boardOf } from "../analyse/question.js";
import { readPosition, writePosition } from "../analyse/address.js";
import { problemOf, readLayout, request, rulesOn } from "../api.js";
import { offerOf } from "../choose.js";
import { t } from "../lang.js";
import { NAMES, wordsIn } from "../rules.js";
import { Picture } from "../table/board.js";
import { SmallCard } from "../table/card.js";
import { html, useSheets } from "../view.js";
import { doesWords } from "../words.js";

/** @import {Layout, Move, Rules, Sheet} from "../types.js" */

/** Positions that show what these options mean, with the card whose moves are drawn. @type {Record<string, {position: string, card?: string}>} */
const PICTURES = {
  out: { position: "-/-/-/-", card: "K" },
  start: { position: "0f/-2@0,-3@0/-/-" },
  goal: { position: "-3@0/-/-/-", card: "6" },
  four: { position: "2@0/-/-/-", card: "4" },
  seven: { position: "1@0/3@0/5@0/-", card: "7" },
  jack: { position: "-3@0/3@0/-/-", card: "J" },
};
/** The cards that do more than go forward. */
const CARDS = ["A", "K", "joker", "4", "7", "J", "Q"];
/** What a game takes with so many seats, about: docs/facts.md has the sheets one by one. @type {Record<number, number>} */
const ROUNDS = { 4: 20, 6: 15 };
/** The sheet that the others are told by. */
const FIRST = "dogspiel-it";

/** @param {{rules: Rules | null}} props without `rules`, the sheets alone */
export function RulesPage({ rules }) {
  const sheets = useSheets();
  const shown = rules ?? rulesOn(sheets, FIRST);
  const sheet = rulesOn(sheets, rules?.preset);
  return html`
    ${rules && html`<h2>${t("rules.option", { name: t("rules.title") })} ${t(`preset.${rules.preset}`)}</h2>`}
    ${!rules && html`<${Comparison} sheets=${sheets} rules=${null} />`}
    ${shown && html`<${Pictures} rules=${shown} /><p>${t("rules.facts", { rounds: ROUNDS[shown.seats] })}</p>`}
    <${Cards} rules=${rules} />
    ${rules && html`
      <${Differences} rules=${rules} first=${rulesOn(sheets, FIRST)} sheet=${sheet} />
      <details><summary>${t("rules.all")}</summary><${Options} rules=${rules} names=${NAMES} sheet=${sheet} /></details>
      <details><summary>${t("rules.compare")}</summary><${Comparison} sheets=${sheets} rules=${rules} /></details>`}
    <p class="all"><a href="#/learn">${t("home.learn")}</a></p>`;
}

/** Options in words. @param {{rules: Rules, names: string[], sheet?: Rules}} props `sheet` tells what was changed */
const Options = ({ rules, names, sheet }) => html`
  <dl>
    ${names.map((name) => html`
      <div key=${name}><dt>${t("rules.option", { name: t(`option.${name}`) })}</dt> <dd>${wordsIn(rules, name)}
        ${sheet && wordsIn(sheet, name) !== wordsIn(rules, name) && html` <em>(${t("rules.other")})</em>`}</dd></div>`)}
  </dl>`;

/** What somebody who knows the first sheet, or that of the table, has to know. @param {{rules: Rules, first?: Rules, sheet?: Rules}} props */
function Differences({ rules, first, sheet }) {
  if (!first || !sheet) return null;
  const names = NAMES.filter((name) => [first, sheet].some((one) => wordsIn(one, name) !== wordsIn(rules, name)));
  const values = { rules: t(`preset.${FIRST}`) };
  return html`
    <h2>${t("rules.differs", values)}</h2>
    ${names.length > 0 ? html`<${Options} rules=${rules} names=${names} sheet=${sheet} />` : html`<p>${t("rules.same", values)}</p>`}`;
}

/** What the cards do. @param {{rules: Rules | null}} props */
const Cards = ({ rules }) => html`
  <h2>${t("rules.cards")}</h2>
  <ul class="cards">
    ${CARDS.map((card) => html`<li key=${card}><${SmallCard} card=${card} /> <span>${doesWords(card, rules)}</span></li>`)}
    <li><span class="small-card" aria-hidden="true">2–10</span> <span>${t("rules.number")}</span></li>
  </ul>`;

/** Small boards that show what the rules mean. @param {{rules: Rules}} props */
function Pictures({ rules }) {
  const [layout, setLayout] = useState(/** @type {Layout | null} */ (null));
  useEffect(() => { readLayout(rules.seats, rules.fields_per_seat).then(setLayout, problemOf); }, []);
  return layout && html`
    <ul class="pictures">
      ${Object.entries(PICTURES).map(([name, one]) => html`<${Example} key=${name} name=${name} rules=${rules} layout=${layout} ...${one} />`)}
    </ul>`;
}

/** A position, and every move of a card, which the server lists. @param {{name: string, rules: Rules, layout: Layout, position: string, card?: string}} props */
function Example({ name, rules, layout, position, card }) {
  const [moves, setMoves] = useState(/** @type {Move[]} */ ([]));
  const { preset, ...options } = rules;
  const pieces = readPosition(position, rules.seats, rules.fields_per_seat);
  useEffect(() => {
    if (!card) return;
    const body = { rules: { preset, ...options }, position: writePosition(pieces), seat: 0, hand: [card] };
    request("POST", "/v1/analysis/legal-moves?board=false", { body }).then((answer) => setMoves(answer.moves), problemOf);
  }, []);
  const offers = moves.map(offerOf);
  const preview = { parts: offers.flatMap(({ parts }) => parts), captures: offers.flatMap(({ captures }) => captures) };
  const words = t(`rules.picture.${name}`);
  return html`
    <li><div class="zoom"><${Picture} layout=${layout} board=${boardOf({ board: pieces })} preview=${preview} label=${words} /></div>
      <p class="small">${words}</p></li>`;
}

/** The options in which the sheets differ, and what is played here. @param {{sheets: Sheet[], rules: Rules | null}} props */
function Comparison({ sheets, rules }) {
  if (sheets.length === 0) return null;
  const all = [...sheets.map((one) => ({ title: t(`preset.${one.name}`), rules: one.rules })), ...(rules ? [{ title: t("rules.table"), rules }] : [])];
  const differing = NAMES.filter((name) => new Set(all.map((one) => wordsIn(one.rules, name))).size > 1);
  return html`
    ${!rules && html`<h2>${t("rules.compare")}</h2>`}
    <p class="small">${t("rules.compare.about")}</p>
    <div class="scroll" tabindex="0" role="region" aria-label=${t("rules.compare")}>
      <table>
        <thead><tr><th scope="col">${t("rules.option")}</th>${all.map(({ title }) => html`<th scope="col">${title}</th>`)}</tr></thead>
        <tbody>
          ${differing.map((name) => html`
            <tr key=${name}><th scope="row">${t(`option.${name}`)}</th>${all.map((one) => html`<td data-sheet=${one.title}>${wordsIn(one.rules, name)}</td>`)}</tr>`)}
        </tbody>
      </table>
    </div>`;
}
