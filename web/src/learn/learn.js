// The course: a list of lessons, and each lesson as a small table.

import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { nextStep } from "../choose.js";
import { hop } from "../finished/hop.js";
import { playAgainstBots, undoByKey } from "../game.js";
import { t } from "../lang.js";
import { savedGames, savedLessons } from "../storage.js";
import { state } from "../store.js";
import { Board } from "../table/board.js";
import { Buttons, Does, Hand, Ranks, does } from "../table/dock.js";
import { WherePieces } from "../table/lists.js";
import { sound } from "../table/signals.js";
import { cheering } from "../table/sounds.js";
import { useFocus } from "../table/table.js";
import { LoadAgain, html, once, useTitle } from "../view.js";
import { eventWords, people, problemWords, theCard, whatToDo } from "../words.js";
import { TRIED, course, missingOn, open } from "./lesson.js";

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
      <ol>
        ${names.map((name, index) => html`
          <li key=${name}><a href=${`#/learn/${index + 1}`}>
            <span class="number" aria-hidden="true">${solved.includes(name) ? "✓" : index + 1}</span>
            <span>${t(`lesson.${name}.title`)}${solved.includes(name) && html`<span class="hidden"> (${t("learn.done")})</span>`}</span></a></li>`)}
      </ol>
      <p>${t("learn.round")}</p>
      <p class="small">${t("learn.sheet", { rules: t("preset.dogspiel-it"), button: t("rules.title") })}</p>
      <p role="status" class="small">${progress(names)}</p>
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
      ${table?.task && table.game ? html`<${Task} name=${name} names=${names} table=${table} again=${again} />`
        : table?.problem === "network" || table?.problem === "version"
          ? html`<${LoadAgain} failure=${table.problem} again=${again} />`
          : html`<p role="status" aria-label=${t("status")}>${table?.problem ? problemWords(table.problem, { names: [], me: null }) : t("do.wait")}</p>`}
    </main>`;
}

/** @param {{name: string, names: string[], table: Table, again: () => void}} props */
function Task({ name, names, table, again }) {
  useFocus(table);
  const { game, choice, problem } = table;
  const lesson = table.task?.lesson;
  // The card that the player asked about.
  const [asked, ask] = useState(-1);
  useEffect(() => ask(-1), [choice.card]);
  const solved = nextStep(table).stage === "none" ? table.shown : null;
  useEffect(() => { if (solved) celebrate(solved.move); }, [solved]);
  if (!game || !lesson) return null;
  const board = choice.seven.at(-1)?.shown.board ?? game.board;
  const hand = game.seats[0].hand ?? [];
  const begins = choice.card === null && asked < 0;
  const tried = table.tapped?.key === TRIED && begins ? lesson.tried : undefined;
  const about = hand[choice.card ?? asked];
  const half = choice.seven.length > 1 && missingOn(table, board);
  return html`
    <div role="status" aria-label=${t("status")} class="status" id="what-to-do">
      ${problem && html`<p class="problem">${problemWords(problem, people(table))}</p>`}
      ${solved ? html`<p class="solved"><strong>${t("learn.solved")}</strong> ${t(`lesson.${name}.solved`)}</p>`
        : tried ? html`<p class="tried">${triedWords(table, name, tried)}</p>`
          : half ? html`<p class="tried">${t(`lesson.${name}.${half}`)}</p>` : about && html`<${Does} ...${does(table, about)} />`}
      <p class="todo">${solved ? progress(names) : begins ? t(`lesson.${name}.task`) : whatToDo(table)}</p>
    </div>
    <${Ranks} table=${table} />
    <div class="stage"><${Board} table=${table} board=${board} last=${solved} turn=${solved ? null : 0} /></div>
    <section class="dock">
      <${Hand} table=${table} ask=${ask} />
      ${solved ? html`<${Next} name=${name} names=${names} again=${again} />` : html`<${Buttons} table=${table} />`}
      <${WherePieces} table=${table} board=${board} />
    </section>`;
}

/** Has the team's pieces of a move hop, once they have come to rest. @param {Move} move */
async function celebrate(move) {
  if (state.sound) sound(/** @type {any} */ ({ type: "card_played", move }));
  const board = document.querySelector(".board");
  await Promise.allSettled(board?.getAnimations({ subtree: true }).map(({ finished }) => finished) ?? []);
  if (!board?.isConnected) return;
  if (state.sound) cheering();
  hop(move.parts.filter(({ seat }) => seat % 2 === 0)
    .flatMap(({ seat, to }) => [...board.querySelectorAll(`.piece[data-seat="${seat}"][data-place="${to}"]`)]));
}

/** How much of the course is solved. @param {string[]} names */
function progress(names) {
  const n = names.filter((name) => savedLessons().includes(name)).length;
  return t("learn.progress", { n, all: names.length }) + (n === names.length ? ` ${t("learn.over")}` : "");
}

/** What a choice that does not solve the task would do, and what is missing. @param {Table} table @param {string} name @param {Move | string} tried */
function triedWords(table, name, tried) {
  if (typeof tried === "string") return `${t("learn.given", { card: theCard(tried) })} ${t(`lesson.${name}.mistake`)}`;
  const key = table.task?.lesson?.mistake === tried.id ? "mistake" : missingOn(table, tried.board ?? []);
  const why = key ? t(`lesson.${name}.${key}`) : t("learn.wrong");
  const forward = tried.kind === "advance" || tried.kind === "seven" ? tried.parts.map(({ steps }) => steps).filter(Boolean) : [];
  const words = eventWords(people(table), /** @type {any} */ ({ type: "card_played", seat: 0, move: tried }));
  return `${words}${forward.length > 0 ? ` (${forward.map((n) => `+ ${n}`).join(", ")})` : ""}. ${why}${key && key !== "mistake" ? ` ${t("learn.retry")}` : ""}`;
}

/** Leads to the next lesson that is not solved, or to a game. @param {{name: string, names: string[], again: () => void}} props */
function Next({ name, names, again }) {
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => button.current?.focus(), []);
  const solved = savedLessons();
  const at = names.indexOf(name) + 1;
  const next = [...names.slice(at), ...names.slice(0, at)].find((one) => !solved.includes(one));
  const ends = !next || at === names.length;
  return html`
    <div class="buttons">
      ${ends && html`<button type="button" class="primary" ref=${button} onClick=${once(playAgainstBots)}>
        ${t(savedGames().length > 0 ? "home.play" : "learn.first")}</button>`}
      ${next && html`
        <button type="button" class=${ends ? "" : "primary"} ref=${ends ? null : button} onClick=${once(() => { location.hash = `#/learn/${names.indexOf(next) + 1}`; })}>
          ${t("learn.next")}</button>`}
      ${!(ends && next) && html`<button type="button" onClick=${again}>${t("learn.again")}</button>`}
    </div>`;
}
