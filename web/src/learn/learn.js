// The course: a list of lessons, and each lesson as a small table.

import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { nextStep } from "../choose.js";
import { playAgainstBots, undoByKey } from "../game.js";
import { t } from "../lang.js";
import { savedLessons } from "../storage.js";
import { Board } from "../table/board.js";
import { Buttons, Does, Hand, Ranks, does } from "../table/dock.js";
import { WherePieces } from "../table/lists.js";
import { useFocus } from "../table/table.js";
import { LoadAgain, html, once, useTitle } from "../view.js";
import { eventWords, people, problemWords, theCard, whatToDo } from "../words.js";
import { TRIED, course, open } from "./lesson.js";

/** @import {Move, Table} from "../types.js" */

/** The screen of the lessons, with their names. */
export async function loadCourse() {
  const names = await course();
  /** @param {{number: number | null, table: Table | null}} props `number` of a lesson, from 1 */
  return ({ number, table }) => {
    const name = number === null ? undefined : names[number - 1];
    return name ? html`<${LessonScreen} key=${name} name=${name} names=${names} table=${table?.id === name ? table : null} />`
      : html`<${Course} names=${names} />`;
  };
}

/** @param {{names: string[]}} props */
function Course({ names }) {
  const heading = useTitle(`${t("home.learn")} · DOG`);
  const solved = savedLessons();
  return html`
    <main class="home course">
      <header class="bar"><a href="#/" class="back">${t("table.home")}</a><h1 tabindex="-1" ref=${heading}>${t("home.learn")}</h1></header>
      <p>${t("learn.aim")}</p>
      <p>${t("learn.round")}</p>
      <p class="small">${t("learn.sheet", { rules: t("preset.dogspiel-it"), button: t("rules.title") })}</p>
      <ol>
        ${names.map((name, index) => html`
          <li key=${name}><a href=${`#/learn/${index + 1}`}>
            <span class="number" aria-hidden="true">${solved.includes(name) ? "✓" : index + 1}</span>
            <span>${t(`lesson.${name}.title`)}${solved.includes(name) && html`<span class="hidden"> (${t("learn.done")})</span>`}</span></a></li>`)}
      </ol>
      <p role="status" class="small">${t("learn.progress", { n: names.filter((name) => solved.includes(name)).length, all: names.length })}</p>
    </main>`;
}

/** @param {{name: string, names: string[], table: Table | null}} props */
function LessonScreen({ name, names, table }) {
  const title = t(`lesson.${name}.title`);
  const heading = useTitle(`${title} · DOG`);
  useEffect(() => { open(name); }, [name]);
  const again = () => {
    heading.current?.focus();
    open(name);
  };
  return html`
    <main class="lesson" onKeyDown=${undoByKey(table)}>
      <header class="bar">
        <a href="#/learn" class="back" aria-label=${t("home.learn")} title=${t("home.learn")}>‹</a>
        <h1 tabindex="-1" ref=${heading}>${title}</h1>
        <span class="small">${names.indexOf(name) + 1} / ${names.length}</span>
      </header>
      <p class="about">${t(`lesson.${name}.about`)}</p>
      ${table?.lesson && table.game ? html`<${Task} name=${name} names=${names} table=${table} again=${again} />`
        : table?.problem === "network" || table?.problem === "version"
          ? html`<${LoadAgain} failure=${table.problem} again=${again} />`
          : html`<p role="status" aria-label=${t("status")}>${table?.problem ? problemWords(table.problem, { names: [], me: null }) : t("do.wait")}</p>`}
    </main>`;
}

/** @param {{name: string, names: string[], table: Table, again: () => void}} props */
function Task({ name, names, table, again }) {
  useFocus(table);
  const { game, lesson, choice, problem } = table;
  // The card that the player asked about.
  const [asked, ask] = useState(-1);
  useEffect(() => ask(-1), [choice.card]);
  if (!game || !lesson) return null;
  const board = choice.seven.at(-1)?.shown.board ?? game.board;
  const { stage } = nextStep(table);
  const solved = stage === "none";
  const hand = game.seats[0].hand ?? [];
  const begins = choice.card === null && asked < 0;
  const tried = table.tapped?.key === TRIED && begins ? lesson.tried : undefined;
  const about = hand[choice.card ?? asked];
  return html`
    <div class="stage"><${Board} table=${table} board=${board} last=${solved ? table.shown : null} turn=${solved ? null : 0} /></div>
    <section class="dock">
      <div role="status" aria-label=${t("status")} class="status" id="what-to-do">
        ${problem && html`<p class="problem">${problemWords(problem, people(table))}</p>`}
        ${solved && html`<p class="solved"><strong>${t("learn.solved")}</strong> ${t(`lesson.${name}.solved`)}</p>`}
        ${tried && html`<p>${triedWords(table, name, tried)}</p>`}
        ${!solved && about && html`<${Does} ...${does(table, about)} />`}
        ${!solved && html`<p class="todo">${begins ? t(`lesson.${name}.task`) : whatToDo(table)}</p>`}
      </div>
      <${Ranks} table=${table} />
      <${Hand} table=${table} ask=${ask} />
      ${solved ? html`<${Next} name=${name} names=${names} again=${again} />` : html`<${Buttons} table=${table} />`}
      <${WherePieces} table=${table} board=${board} />
    </section>`;
}

/** What a choice that does not solve the task would do. @param {Table} table @param {string} name @param {Move | string} tried */
function triedWords(table, name, tried) {
  const { lesson } = table;
  const id = typeof tried === "string" ? tried : tried.id;
  const why = t(lesson?.mistake === id ? `lesson.${name}.mistake` : "learn.wrong");
  if (typeof tried === "string") return `${t("learn.given", { card: theCard(tried) })} ${why}`;
  const forward = tried.kind === "advance" || tried.kind === "seven" ? tried.parts.map(({ steps }) => steps).filter(Boolean) : [];
  const words = eventWords(people(table), /** @type {any} */ ({ type: "card_played", seat: 0, move: tried }));
  return `${words}${forward.length > 0 ? ` (${forward.map((n) => `+ ${n}`).join(", ")})` : ""}. ${t("learn.legal")} ${why}`;
}

/** Leads to the next lesson that is not solved, or to a game. @param {{name: string, names: string[], again: () => void}} props */
function Next({ name, names, again }) {
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => button.current?.focus(), []);
  const solved = savedLessons();
  const at = names.indexOf(name) + 1;
  const next = [...names.slice(at), ...names.slice(0, at)].find((one) => !solved.includes(one));
  return html`
    <div class="buttons">
      ${next ? html`
        <button type="button" class="primary" ref=${button} onClick=${once(() => { location.hash = `#/learn/${names.indexOf(next) + 1}`; })}>
          ${t("learn.next")}</button>` : html`
        <button type="button" class="primary" ref=${button} onClick=${once(playAgainstBots)}>${t("home.play")}</button>`}
      <button type="button" onClick=${again}>${t("learn.again")}</button>
    </div>`;
}
