// The analysis of a position: for people who play with a wooden board and paper cards.

import { useEffect, useState } from "../../vendor/preact-hooks.js";
import { problemOf } from "../api.js";
import { offerOf, previewOf } from "../choose.js";
import { t } from "../lang.js";
import { CHOICES } from "../rules.js";
import { Reveal, Share } from "../share.js";
import { Picture } from "../table/board.js";
import { CardButton } from "../table/card.js";
import { Mark } from "../table/players.js";
import { Sheet, Suggestions } from "../table/advice.js";
import { LoadAgain, Select, html, once, useAddress } from "../view.js";
import { cardName, problemWords } from "../words.js";
import { addressOf, CARDS, SAMPLES } from "./address.js";
import { advise, change, chooseRules, open, set } from "./analysis.js";
import { PlaceButtons } from "./places.js";
import { boardOf, kennelOf, nextToPlay, peopleOf, tapCard } from "./question.js";

/** @import {Analysis, Failure, Fault, Question, State} from "../types.js" */

/** The question of the address, and the answer. @param {{state: State}} props */
export function AnalyseScreen({ state: { analysis, addresses } }) {
  const [failure, setFailure] = useState(/** @type {Failure | null} */ (null));
  const read = () => open(location.hash).then(() => setFailure(null), (error) => setFailure(problemOf(error)));
  useEffect(() => {
    document.title = `${t("analyse.title")} · DOG`;
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  return html`
    <main class="analyse">
      <header class="bar"><a href="#/" class="back">${t("table.home")}</a><h1 tabindex="-1">${t("analyse.title")}</h1></header>
      ${failure ? html`<div class="waiting"><${LoadAgain} failure=${failure} again=${read} /></div>`
        : analysis ? html`<${Screen} analysis=${analysis} addresses=${addresses} />` : html`<p role="status" class="waiting">${t("do.wait")}</p>`}
    </main>`;
}

/** @param {{analysis: Analysis, addresses: State["addresses"]}} props */
function Screen({ analysis, addresses }) {
  const { question, faults, layout, advice, chosen } = analysis;
  const suggestion = advice && chosen !== null ? advice.suggestions[chosen] : null;
  const preview = suggestion && "move" in suggestion ? previewOf(offerOf(suggestion.move)) : null;
  // What is wrong stays in the address as long as it is shown.
  useAddress(faults.length > 0 ? location.hash : addressOf(question), "#/analyse");
  return html`
    <div class="position">
      ${faults.length > 0 && html`<${Faults} faults=${faults} />`}
      <${Rules} question=${question} />
      <${Picture} layout=${layout} board=${boardOf(question)} preview=${preview} room=${0.6}
        buttons=${(/** @type {object} */ frame) => html`<${PlaceButtons} analysis=${analysis} ...${frame} />`} />
      <${PieceOf} analysis=${analysis} />
    </div>
    <div class="asked">
      <${Cards} analysis=${analysis} />
      <${Ask} analysis=${analysis} />
      <${Reveal} name=${t("analyse.share")}>
        <${Share} path=${addressOf(question).slice(1)} name=${t("analyse.link")} text=${t("analyse.title")} addresses=${addresses} />
      <//>
    </div>
    <${Answer} analysis=${analysis} />`;
}

/** What the parts of a question are called. @type {Record<string, string>} */
const PARTS = {
  rules: "settings.preset", board: "board", seat: "analyse.by", exchanging: "analyse.question", hand: "hand",
  gave: "given.gave", received: "given.received", played: "analyse.played", samples: "analyse.longer",
};

/** What is wrong in the address. @param {{faults: Fault[]}} props */
const Faults = ({ faults }) => html`
  <div class="faults" role="alert">
    <p class="problem">${t("analyse.faults")}</p>
    <ul>${faults.map(({ part, word }) => html`<li>${t("analyse.fault", { part: t(PARTS[part]), word })}</li>`)}</ul>
    <button type="button" onClick=${() => {
      set({ faults: [] });
      // The button is gone.
      /** @type {HTMLElement | null} */ (document.querySelector("h1"))?.focus();
    }}>${t("analyse.faults.leave")}</button>
  </div>`;

/** The rules that are played. @param {{question: Question}} props */
const Rules = ({ question: { rules } }) => html`
  <div class="fields chosen-rules">
    <${Select} name="preset" label=${t("settings.preset")} values=${CHOICES.preset} chosen=${rules.preset}
      words=${(/** @type {string} */ one) => t(`preset.${one}`)}
      then=${(/** @type {string} */ preset) => chooseRules({ preset, seats: rules.seats })} />
    <${Select} name="seats" label=${t("settings.seats")} values=${CHOICES.seats} chosen=${rules.seats} words=${String}
      then=${(/** @type {number} */ seats) => chooseRules({ ...rules, seats })} />
  </div>`;

/**
 * One of several, with a name for the group.
 *
 * @template T
 * @param {{name: string, label: string, all: {value: T, words: unknown}[], chosen: T, press: (value: T) => void}} props
 */
const Radios = ({ name, label, all, chosen, press }) => html`
  <div class="radios" role="radiogroup" aria-label=${label}>
    <span class="small" aria-hidden="true">${label}</span>
    ${all.map((one) => html`
      <label key=${one.value}><input type="radio" name=${name} checked=${one.value === chosen}
        onChange=${() => press(one.value)} />${one.words}</label>`)}
  </div>`;

/** Whose pieces a tap places, the player's own first. @param {{analysis: Analysis}} props */
function PieceOf({ analysis: { question, layout, pieceOf } }) {
  const { names } = peopleOf(question);
  const all = names.map((_, index) => (question.seat + index) % names.length)
    .map((seat) => ({ value: seat, words: html`<${Mark} layout=${layout} seat=${seat} /> ${names[seat]}` }));
  const left = kennelOf(question, pieceOf);
  return html`
    <${Radios} name="piece" label=${t("analyse.piece")} all=${all} chosen=${pieceOf}
      press=${(/** @type {number} */ seat) => set({ pieceOf: seat })} />
    <p class="small" role="status">${left === 0 ? t("analyse.placed") : t("analyse.tap", { n: left })}</p>`;
}

/** The hand, and what else is known. @param {{analysis: Analysis}} props */
function Cards({ analysis }) {
  const { question, cardsTo } = analysis;
  const { hand, exchanging, played } = question;
  const next = nextToPlay(question);
  const [by, setBy] = useState(next);
  useEffect(() => setBy(next), [played, question.seat]);
  const questions = [false, true].map((one) => ({ value: one, words: t(one ? "analyse.which.give" : "analyse.which.play") }));
  return html`
    <${Radios} name="question" label=${t("analyse.question")} all=${questions} chosen=${exchanging}
      press=${(/** @type {boolean} */ one) => change({ ...question, exchanging: one }, { cardsTo: "hand" })} />
    <div class="hand" role="group" aria-label=${t("hand")}>
      ${hand.map((card, index) => html`
        <${CardButton} key=${`${index} ${card}`} card=${card}
          press=${() => change({ ...question, hand: hand.filter((_, other) => other !== index) })} />`)}
      ${hand.length === 0 && html`<p class="small">${t("analyse.hand")}</p>`}
    </div>
    ${!exchanging && html`<${Known} analysis=${analysis} by=${by} setBy=${setBy} />`}
    <div class="deck" role="group" aria-label=${t("analyse.cards")}>
      ${CARDS.map((card) => html`
        <button type="button" key=${card} aria-label=${cardName(card)} data-text=${card === "joker" ? "★" : card}
          onClick=${() => {
            const tapped = tapCard(analysis, card, by);
            change(tapped.question, { cardsTo: tapped.cardsTo });
          }}></button>`)}
    </div>
    <p class="small" role="status">${t(`analyse.to.${cardsTo}`, { name: peopleOf(question).names[by] })}</p>`;
}

/**
 * What was exchanged and played.
 *
 * @param {{analysis: Analysis, by: number, setBy: (seat: number) => void}} props `by` is who plays the next card
 */
function Known({ analysis: { question, cardsTo }, by, setBy }) {
  const { names } = peopleOf(question);
  const { gave, received, played } = question;
  const card = (/** @type {string | null} */ one) => (one ? ` ${cardName(one)}` : "");
  const all = [
    { value: "hand", words: t("hand") },
    { value: "gave", words: t("given.gave") + card(gave) },
    { value: "received", words: t("given.received") + card(received) },
    { value: "played", words: t("analyse.played") },
  ];
  const plays = played.map(({ seat, cards, fold }) =>
    t(fold ? "analyse.folded" : "analyse.play", { name: names[seat], cards: cards.map(cardName).join(" ") }));
  return html`
    <details class="known">
      <summary>${t("analyse.known")}</summary>
      <${Radios} name="cards" label=${t("analyse.to")} all=${all} chosen=${cardsTo}
        press=${(/** @type {Analysis["cardsTo"]} */ to) => set({ cardsTo: to })} />
      ${cardsTo === "played" && html`
        <div class="row">
          <${Select} kind="grow" label=${t("analyse.by")} values=${names.map((_, seat) => seat)} chosen=${by} then=${setBy}
            words=${(/** @type {number} */ seat) => names[seat]} />
          <button type="button" onClick=${() => change({ ...question, played: [...played, { seat: by, cards: [], fold: true }] })}>
            ${t("fold")}</button>
        </div>`}
      ${plays.length > 0 && html`<ol class="plays small">${plays.map((one) => html`<li>${one}</li>`)}</ol>`}
      ${(gave || received || plays.length > 0) && html`
        <button type="button" onClick=${() => change({ ...question, gave: null, received: null, played: [] })}>${t("analyse.clear")}</button>`}
    </details>`;
}

/** @param {{analysis: Analysis}} props */
function Ask({ analysis: { question, faults, advice, asking, problem } }) {
  return html`
    <div class="buttons">
      <button type="button" class="primary" disabled=${asking || question.hand.length === 0 || faults.length > 0} onClick=${once(() => advise(SAMPLES[0]))}>
        ${t("analyse.advice")}</button>
      <span role="status" class="small">${asking ? t("hint.asked")
        : advice ? t("analyse.answered", { n: advice.suggestions.length }) : ""}</span>
    </div>
    ${problem && html`<p class="problem" role="alert">${problemWords(problem, peopleOf(question))}</p>`}`;
}

/** @param {{analysis: Analysis}} props */
function Answer({ analysis: { question, advice, asking, chosen } }) {
  // The answer is about the board.
  useEffect(() => {
    const [board, sheet] = [".board", ".sheet"].map((one) => document.querySelector(one));
    const [box, below] = [board, sheet].map((one) => one?.getBoundingClientRect());
    if (!box || !below) return;
    if (box.top < 0 || box.bottom > innerHeight) board?.scrollIntoView();
    // Nor is it behind it.
    else if (below.left < box.right && below.top < box.bottom) sheet?.scrollIntoView();
  }, [advice]);
  if (!advice) return null;
  return html`
    <${Sheet} key=${advice.seed} name=${t("advice")} close=${() => change(question)}>
      <${Suggestions} suggestions=${advice.suggestions} people=${peopleOf(question, ".said")} chosen=${chosen}
        press=${(/** @type {number} */ index) => set({ chosen: index === chosen ? null : index })} />
      ${question.samples < SAMPLES[1] && html`
        <button type="button" onClick=${once(() => advise(SAMPLES[1]))}>${t(asking ? "hint.asked" : "analyse.longer")}</button>`}
    <//>`;
}
