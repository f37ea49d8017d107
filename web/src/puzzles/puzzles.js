// The position of the day, earlier ones, and decisions of one's own games once more: one try, and then
// what was best and why.

import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { peopleOf } from "../analyse/question.js";
import { problemOf } from "../api.js";
import { offerOf, previewOf } from "../choose.js";
import { addressOf, undoByKey } from "../game.js";
import { list, percent, t } from "../lang.js";
import { does, Buttons, Does, Hand, Ranks } from "../table/dock.js";
import { Suggestions } from "../table/advice.js";
import { Board, Picture, Way } from "../table/board.js";
import { SmallCard } from "../table/card.js";
import { WherePieces } from "../table/lists.js";
import { RulesButton } from "../table/rules.js";
import { useFocus } from "../table/table.js";
import { Reveal, Share } from "../share.js";
import { savedPuzzles } from "../storage.js";
import { LoadAgain, html, useTitle } from "../view.js";
import { cardName, nameOf, people, problemWords, whatToDo } from "../words.js";
import { dayNow, openAgain, openPuzzle, readToday } from "./puzzle.js";
import { rowOf, streakOf } from "./streak.js";

/** @import {Answered, Failure, Part, Route, State, Suggestion, Table, Task} from "../types.js" */

/** The days of the archive. */
const DAYS = 365;

/** A result as a shape: right, wrong, none. @param {boolean | null} right */
const shapeOf = (right) => (right === null ? "·" : right ? "◆" : "◇");

/** @param {{route: Extract<Route, {name: "puzzles"}>, state: State}} props */
export function PuzzlesScreen({ route: { which }, state }) {
  if (which === null) return html`<${Archive} />`;
  const id = `puzzles/${which}`;
  return html`<${Screen} key=${id} id=${id} which=${which} state=${state} />`;
}

/** The puzzles of the last days, whose numbers begin anew after the last. */
function Archive() {
  const heading = useTitle(`${t("puzzle.archive")} · DOG`);
  const [puzzles, setPuzzles] = useState(/** @type {{count: number, today: number} | null} */ (null));
  const [failure, setFailure] = useState(/** @type {Failure | null} */ (null));
  const read = () => { readToday().then(setPuzzles, (error) => setFailure(problemOf(error))); };
  useEffect(read, []);
  const saved = new Map(savedPuzzles().map((one) => [one.number, one.right]));
  return html`
    <main class="home course">
      <header class="bar"><a href="#/" class="back">${t("table.home")}</a><h1 tabindex="-1" ref=${heading}>${t("puzzle.archive")}</h1></header>
      ${puzzles ? html`<ol class="numbers">
        ${Array.from({ length: Math.min(DAYS, puzzles.count) }, (_, ago) => 1 + (puzzles.today - 1 - ago + puzzles.count) % puzzles.count).map((number) => html`
          <li key=${number}><a href=${`#/puzzles/${number}`}>${number}${saved.has(number) && html`
            <span aria-hidden="true">${shapeOf(saved.get(number) ?? null)}</span><span class="hidden">${t(saved.get(number) ? "puzzle.is.right" : "puzzle.is.wrong")}</span>`}</a></li>`)}
      </ol>` : failure ? html`<${LoadAgain} failure=${failure} again=${read} />` : html`<p role="status">${t("do.wait")}</p>`}
    </main>`;
}

/** @param {{id: string, which: string, state: State}} props */
function Screen({ id, which, state }) {
  const again = which.startsWith("again?") ? which.slice(6) : null;
  const title = t(again === null ? "home.day" : "play again");
  const heading = useTitle(`${title} · DOG`);
  const open = () => { if (again === null) openPuzzle(id, which); else openAgain(id, again); };
  useEffect(open, []);
  const game = again && new URLSearchParams(again).get("game");
  const table = state.table?.id === id ? state.table : null;
  const failure = table?.problem;
  return html`
    <main class="lesson puzzle" onKeyDown=${undoByKey(table)}>
      <header class="bar">
        <a href=${game ? `${addressOf(game, null)}/review` : "#/"} class="back" aria-label=${t(game ? "puzzle.back" : "table.home")} title=${t(game ? "puzzle.back" : "table.home")}>‹</a>
        <h1 tabindex="-1" ref=${heading}>${title}</h1>
        ${table?.task && html`<span class="small">${table.task.number}</span> <${RulesButton} rules=${table.task.rules} kind="help">?<//>`}
      </header>
      ${table?.task && table.game ? html`<${Puzzle} table=${table} task=${table.task} addresses=${state.addresses} />`
        : failure === "network" || failure === "version" ? html`<${LoadAgain} failure=${failure} again=${open} />`
          : html`<p role="status" aria-label=${t("status")}>${failure ? problemWords(failure, { names: [], me: null }) : t("do.wait")}</p>`}
    </main>`;
}

/** What is known of a position besides the board and the hand. @param {{table: Table, task: Task}} props */
function Known({ table, task: { rules, known, number } }) {
  const who = people(table);
  const { gave, received } = known ?? {};
  const seats = table.game?.seats ?? [];
  const others = seats.slice(1).map((_, index) => seats[((who.me ?? 0) + index + 1) % seats.length]);
  return html`
    <div class="about">
      <p>${t(number ? "puzzle.about" : "puzzle.again", { rules: t(`preset.${rules.preset}`) })}</p>
      ${number && html`<p>${t("puzzle.cards", { cards: list(others.map(({ seat, cards }) => `${nameOf(who, seat)} ${cards}`)) })}</p>`}
      ${gave && received && html`<p>${t("given.gave")} <${SmallCard} card=${gave} /> ${t("given.received")} <${SmallCard} card=${received} /></p>`}
    </div>`;
}

/** What is asked. @param {Task["choices"]} choices */
const taskKey = (choices) => (choices === null ? "play" : choices.includes("ask") ? "ask" : choices.includes("decline") ? "help" : "give");

/** @param {{table: Table, task: Task, addresses: State["addresses"]}} props */
function Puzzle({ table, task, addresses }) {
  useFocus(table);
  const { game, layout, choice, problem } = table;
  const { answer, question } = task;
  // The card that the player asked about, and the suggestion that the board shows.
  const [asked, ask] = useState(-1);
  useEffect(() => ask(-1), [choice.card]);
  const [chosen, choose] = useState(/** @type {number | null} */ (0));
  if (!game) return null;
  const board = choice.seven.at(-1)?.shown.board ?? game.board;
  const begins = choice.card === null && asked < 0;
  const about = question.hand[choice.card ?? asked];
  const shown = answer && chosen !== null ? answer.suggestions[chosen] : undefined;
  return html`
    ${!answer && html`<${Known} table=${table} task=${task} />`}
    <div role="status" aria-label=${t("status")} class="status" id="what-to-do">
      ${problem && html`<p class="problem">${problemWords(problem, people(table))}</p>`}
      ${answer ? html`<p class=${answer.right ? "solved" : "tried"}><strong>${t(answer.right ? "puzzle.right" : "puzzle.wrong")}</strong> ${resultWords(answer)}</p>`
        : about && choice.seven.length < 2 && html`<${Does} ...${does(table, about)} />`}
      <p class="todo">${answer ? t("puzzle.best") : begins ? t(`puzzle.task.${taskKey(task.choices)}`) : whatToDo(table)}</p>
    </div>
    ${!answer && html`<${Ranks} table=${table} />`}
    <div class="stage">${answer ? html`
      <${Picture} layout=${layout} board=${board} preview=${shown && "move" in shown ? previewOf(offerOf(shown.move)) : null}
        below=${() => shown && layout && html`<${Way} layout=${layout} parts=${lineParts(shown, game.board.length * task.rules.fields_per_seat)} captures=${[]} board=${board} kind="last" />`} />`
      : html`<${Board} table=${table} board=${board} last=${null} turn=${question.seat} />`}</div>
    <section class="dock">
      ${answer ? html`<${Best} task=${task} answer=${answer} chosen=${chosen} choose=${choose} addresses=${addresses} />` : html`
        <${Hand} table=${table} ask=${ask} />
        <${Buttons} table=${table} />`}
      <${WherePieces} table=${table} board=${board} />
    </section>`;
}

/** The chances of an answer, and how sure that is. @param {Answered} answer */
function resultWords({ right, chance, suggestions: [best] }) {
  const values = { best: percent(best.win_probability), own: percent(chance ?? 0), n: best.samples };
  return `${t(right ? "puzzle.chance" : chance === undefined ? "puzzle.unlisted" : "puzzle.chances", values)} ${t("puzzle.sure", values)}`;
}

/** Where the plays after a suggestion go. Between fields of the track they are drawn the shorter way. @param {Suggestion} suggestion @param {number} fields of the track @returns {Part[]} */
function lineParts({ line }, fields) {
  const placeOf = (/** @type {string} */ text) => (text.startsWith("g") ? `goal:${text.slice(1)}` : text);
  return /** @type {any} */ (line.flatMap(({ seat, move }) => [...move.matchAll(/(\w+)(<?)>(\w+)/g)].map(([, one, swap, other]) => {
    const [from, to] = [placeOf(one), placeOf(other)];
    const ahead = (Number(to) - Number(from) + fields) % fields;
    const [steps, step] = 2 * ahead <= fields ? [ahead, 1] : [fields - ahead, fields - 1];
    const path = swap || Number.isNaN(ahead) ? [to] : Array.from({ length: steps }, (_, index) => String((Number(from) + (index + 1) * step) % fields));
    return { seat, from, to, path };
  })));
}

/** What often follows a suggestion, in words. @param {Suggestion} suggestion @param {Task} task */
function lineWords({ line }, { question, rules }) {
  const who = peopleOf({ rules, seat: question.seat });
  return t("puzzle.line", { plays: list(line.map(({ seat, move }) =>
    `${nameOf(who, seat)} ${move === "fold" ? t("puzzle.fold") : cardName(move.split(/[=:]/)[0])}`)) });
}

/**
 * What was best and why.
 *
 * @param {{task: Task, answer: Answered, chosen: number | null, choose: (index: number | null) => void, addresses: State["addresses"]}} props
 */
function Best({ task, answer, chosen, choose, addresses }) {
  const { question, rules, number } = task;
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  // What was pressed is gone.
  useLayoutEffect(() => root.current?.querySelector("button")?.focus({ preventScroll: true }), []);
  const shown = chosen === null ? undefined : answer.suggestions[chosen];
  return html`
    <div ref=${root}>
      <${Suggestions} suggestions=${answer.suggestions} people=${peopleOf({ rules, seat: question.seat }, ".said")} chosen=${chosen}
        press=${(/** @type {number} */ index) => choose(index === chosen ? null : index)} />
      ${shown && shown.line.length > 0 && html`<p class="small">${lineWords(shown, task)}</p>`}
    </div>
    ${number && html`<${Result} number=${number} right=${answer.right} addresses=${addresses} />`}`;
}

/** The result of a puzzle to share, without its move, and the way to others. @param {{number: number, right: boolean, addresses: State["addresses"]}} props */
function Result({ number, right, addresses }) {
  const saved = savedPuzzles();
  const today = dayNow();
  const isToday = saved.find((one) => one.number === number)?.day === today;
  const row = rowOf(saved, today);
  const shapes = (isToday ? row : [right]).map(shapeOf).join("");
  const streak = streakOf(saved, today);
  const text = t("puzzle.shared", { n: number, row: shapes });
  return html`
    ${isToday && html`
      <p class="row"><span role="img" aria-label=${t("puzzle.row", { n: row.filter(Boolean).length, all: row.length })}>${shapes}</span>
        ${streak > 0 && html`<strong>${t("puzzle.streak", { n: streak })}</strong>`}</p>`}
    <${Reveal} name=${t("share")}><${Share} path=${`/puzzles/${number}`} name=${t("puzzle.link", { n: number })} text=${text} whole addresses=${addresses} /><//>
    <p class="how"><a href="#/puzzles">${t("puzzle.archive")}</a></p>`;
}
