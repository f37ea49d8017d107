// The first screen: a new game, games to continue, a game to watch.

import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { problemOf, request, rulesOn, server } from "./api.js";
import { forget, go, playAgainstBots, setPerson, watch } from "./game.js";
import { LANGUAGES, date, duration, lang, list, loadPart, t } from "./lang.js";
import { inviteFriends, playAtOnce, readOpenTables } from "./people.js";
import { CHOICES, OPTIONS, chosenOptions, valueWords, wordsIn } from "./rules.js";
import { Names, tableWords } from "./seats.js";
import { setOver } from "./storage.js";
import { RulesButton } from "./table/rules.js";
import { Later, Select, cutName, html, submitted, usePolling, useSheets } from "./view.js";
import { problemWords } from "./words.js";

/** @import {Failure, Game, OpenTable, SavedGame, Settings, State} from "./types.js" */

const icon = new URL("../icon.svg", import.meta.url).href;
/** The sheet nearest to the rules that come with the boards in Swiss shops. */
const FOR_BOARDS = "dogspiel-it";
/** How many games are offered to continue, of how many that are asked for. */
const CONTINUED = 12;
const ASKED = 24;

/** The button that had the focus was switched off meanwhile. @param {HTMLElement | null} element */
const focus = (element) => element?.focus();

/** @param {{state: State}} props */
export function Home({ state }) {
  const { home, settings, saved } = state;
  useEffect(() => { document.title = "DOG"; }, []);
  return html`
    <main class="home">
      <header class="hero">
        <img src=${icon} alt="" width="96" height="96" />
        <h1>DOG</h1>
        <p>${t("home.lead")}</p>
        <button type="button" class="primary big" disabled=${home.creating}
          onClick=${playAgainstBots}>${t("home.play")}</button>
        <p class="small" role="status">${home.creating ? t("do.wait") : t("home.summary", {
          rules: sheetWords(settings), seats: settings.seats, bots: t(`level.${settings.level}.bots`),
        })}</p>
        <div class="small">${t("home.board", { rules: t(`preset.${FOR_BOARDS}`) })}
          ${" "}<${RulesButton} rules=${null} kind="link">${t("home.board.sheets")}<//></div>
        ${home.badAddress && html`<p class="problem" role="alert">${t("home.watch.bad")}</p>`}
        ${home.problem && html`<p class="problem" role="alert" tabindex="-1" ref=${focus}>
          ${problemWords(home.problem, { names: [], me: null })}</p>`}
      </header>
      <p class="other"><a href="#/learn">${t("home.learn")}</a> <a href="#/analyse">${t("home.analyse")}</a></p>
      ${saved.length > 0 && html`<${Continue} saved=${saved} />`}
      <${WithPeople} state=${state} />
      <${Choices} settings=${settings} />
      <section>
        <h2>${t("home.watch")}</h2>
        <form class="row" onSubmit=${submitted("link", watch)}>
          <label class="grow">${t("home.watch.link")}
            <input name="link" autocomplete="off" inputmode="url" aria-invalid=${home.badLink ? "true" : "false"} /></label>
          <button type="submit">${t("home.watch.go")}</button>
        </form>
        ${home.badLink && html`<p class="problem" role="alert">${t("home.watch.bad")}</p>`}
        <p class="all"><a href="#/watch">${t("watch.title")}</a></p>
      </section>
      <footer>
        <nav aria-label=${t("home.language")} class="languages">
          ${Object.entries(LANGUAGES).map(([tag, name]) => html`
            <a href=${`?lang=${tag}`} lang=${tag} aria-current=${tag === lang ? "true" : undefined}>${name}</a>`)}
        </nav>
        <p class="small"><a href=${`${server}/docs/guide/`}>${t("home.guides")}</a>
          <a href=${`${server}/docs/`}>${t("home.docs")}</a>
          <a href=${`${server}/openapi.json`}>OpenAPI</a></p>
      </footer>
    </main>`;
}

/** The sheet, and whether options differ from it. @param {Settings} settings */
function sheetWords(settings) {
  const rules = t(`preset.${settings.preset}`);
  return chosenOptions(settings).length > 0 ? t("rules.changed", { rules }) : rules;
}

/** Games with other people. @param {{state: State}} props */
function WithPeople({ state }) {
  const { home, tables, name } = state;
  const [missing, setMissing] = useState(false);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  /** Others see the name, so it comes first. @param {() => void} then */
  const named = (then) => () => {
    setMissing(state.name === "");
    if (state.name === "") field.current?.focus();
    else then();
  };
  usePolling(readOpenTables);
  return html`
    <section>
      <h2>${t("home.people")}</h2>
      <label>${t("name")}
        <input name="name" value=${name} onInput=${cutName} autocomplete="nickname" autocapitalize="words" ref=${field}
          aria-invalid=${missing ? "true" : "false"} aria-describedby=${missing ? "nameless" : undefined}
          onChange=${(/** @type {Event} */ event) =>
            setPerson({ name: /** @type {HTMLInputElement} */ (event.target).value.trim() })} /></label>
      ${missing && html`<p class="problem" role="alert" id="nameless">${t("name.missing")}</p>`}
      <ul class="ways">
        <li><button type="button" disabled=${home.creating} onClick=${named(inviteFriends)}>${t("home.invite")}</button>
          <p class="small">${t("home.invite.about")}</p></li>
        <li><button type="button" disabled=${home.creating} onClick=${named(playAtOnce)}>${t("home.at-once")}</button>
          <p class="small">${t("home.at-once.about")}</p></li>
      </ul>
      <h3>${t("home.tables")}</h3>
      ${tables?.length ? html`<ul class="games tables" aria-label=${t("home.tables")}>
        ${tables.map((one) => html`<${Open} key=${one.id} table=${one} />`)}</ul>`
        : tables && html`<p class="small">${t("home.tables.none")}</p>`}
    </section>`;
}

/** A table that anyone may join. @param {{table: OpenTable}} props */
function Open({ table }) {
  const { id, rules, seats, open_seats: free, turn_seconds: clock } = table;
  return html`
    <li>
      <p><${Names} seats=${seats} />
        <span class="small">${t("tables.free", { n: free, seats: seats.length })} · ${t(`preset.${rules.preset}`)}
          ${clock ? ` · ${t("settings.clock.n", { time: duration(1000 * clock) })}` : ""}</span></p>
      <button type="button" aria-label=${t("seat.button", { button: t("tables.take"), name: tableWords(seats) })}
        onClick=${() => { location.hash = `#/join/${id}`; }}>${t("tables.take")}</button>
    </li>`;
}

/** What the next game is like. @param {{settings: Settings}} props */
function Choices({ settings }) {
  const [open, setOpen] = useState(false);
  /** @param {"preset" | "seats" | "level" | "clock" | "pace"} name @param {(value: string | number) => string} words */
  const choice = (name, words) => html`
    <${Select} name=${name} label=${t(`settings.${name}`)} values=${CHOICES[name]} chosen=${settings[name]} words=${words}
      then=${(/** @type {string | number} */ value) => setPerson({ settings: { ...settings, [name]: value } })} />`;
  return html`
    <details class="settings">
      <summary>${t("settings.title")}</summary>
      <div class="fields">
        ${choice("preset", (one) => t(`preset.${one}`))}
        ${choice("seats", (n) => t("settings.seats.n", { n }))}
        ${choice("level", (one) => t(`level.${one}`))}
        ${choice("clock", (one) => (one === 0 ? t("settings.clock.none") : duration(1000 * Number(one))))}
        ${choice("pace", (one) => duration(Number(one)))}
      </div>
      <details class="more" onToggle=${() => setOpen(true)}>
        <summary>${t("settings.more")}</summary>
        ${open && html`<${Later} part load=${loadOptions} settings=${settings} />`}
      </details>
    </details>`;
}

/** Where the next game differs from the sheet. @param {{settings: Settings}} props */
function Options({ settings }) {
  const sheet = rulesOn(useSheets(), settings.preset);
  /** @param {string} name */
  const asOnSheet = (name) => (sheet ? t("option.sheet.is", { value: wordsIn(sheet, name) }) : t("option.sheet"));
  /** @param {Record<string, string>} change */
  const set = (change) => setPerson({ settings: { ...settings, options: { ...settings.options, ...change } } });
  return html`
    <div class="fields">
      ${Object.entries(OPTIONS).map(([name, values]) => html`
        <${Select} name=${name} label=${t(`option.${name}`)} values=${["", ...Object.keys(values)]}
          chosen=${settings.options[name] ?? ""} then=${(/** @type {string} */ one) => set({ [name]: one })}
          words=${(/** @type {string} */ one) => (one === "" ? asOnSheet(name) : valueWords(name, one))} />`)}
    </div>`;
}

const loadOptions = () => loadPart("rules").then(() => Options);

/** What the server says of a game: the game, or why it says nothing. @typedef {Game | Failure} Answer */

/** @param {Answer | undefined} answer @returns {answer is Game} */
const isGame = (answer) => typeof answer === "object" && !("status" in answer);

/** @param {Answer | undefined} answer */
const isGone = (answer) => typeof answer === "object" && "status" in answer && answer.code === "game_not_found";

/** Whether nothing more happens in a game. @param {Answer | undefined} answer */
const isOver = (answer) => isGone(answer) || (isGame(answer) && answer.phase === "finished");

/** What the server says of these games, until they are over. @param {SavedGame[]} games */
function useAnswers(games) {
  const [answers, setAnswers] = useState(/** @type {Record<string, Answer>} */ ({}));
  const known = useRef(answers);
  known.current = answers;
  usePolling(() => {
    for (const { id, token } of games) {
      if (isOver(known.current[id])) continue;
      /** @param {Answer} answer */
      const got = (answer) => {
        setAnswers((all) => ({ ...all, [id]: answer }));
        if (isGame(answer) || isGone(answer)) setOver(id, isOver(answer));
      };
      request("GET", `/v1/games/${id}`, { token, cache: "no-cache" }).then(got, (error) => {
        const problem = problemOf(error);
        // What was seen last is better than nothing.
        if (!isGame(known.current[id]) || isGone(problem)) got(problem);
      });
    }
  }, games.map((game) => game.id).join());
  return answers;
}

/** Whether it is the person's turn in a game. @param {SavedGame} game @param {Answer | undefined} answer */
const isTurn = (game, answer) => isGame(answer) && answer.actions.some((one) => one.seat === game.seat);

/** Games with a turn of this person come first, then those that go on. @param {SavedGame} game @param {Answer | undefined} answer */
const rankOf = (game, answer) => (isTurn(game, answer) ? 0 : isOver(answer) || (!isGame(answer) && game.over) ? 2 : 1);

/** The games to continue. @param {{saved: SavedGame[]}} props */
function Continue({ saved }) {
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  const asked = [...saved].sort((a, b) => rankOf(a, undefined) - rankOf(b, undefined)).slice(0, ASKED);
  const answers = useAnswers(asked);
  const rank = (/** @type {SavedGame} */ game) => rankOf(game, answers[game.id]);
  return html`
    <section>
      <h2 tabindex="-1" ref=${title}>${t("home.continue")}</h2>
      <ul class="games">
        ${asked.sort((a, b) => rank(a) - rank(b)).slice(0, CONTINUED).map((game) => html`
          <${Saved} key=${game.id} game=${game} answer=${answers[game.id]} removed=${() => title.current?.focus()} />`)}
      </ul>
    </section>`;
}

/** A game to continue. @param {{game: SavedGame, answer: Answer | undefined, removed: () => void}} props */
function Saved({ game, answer, removed }) {
  const [asking, setAsking] = useState(false);
  const cancel = useRef(/** @type {HTMLElement | null} */ (null));
  const forgetting = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => cancel.current?.focus(), [asking]);
  const words = answer === undefined ? "" : isGone(answer) ? t("saved.gone")
    : !isGame(answer) ? problemWords(answer, { names: game.names, me: game.seat })
    : answer.phase === "finished" ? t("saved.finished") : answer.phase === "seating" ? t("saved.seating")
      : isTurn(game, answer) ? t("saved.turn") : t("saved.waiting");
  const remove = () => {
    removed();
    forget(game.id);
  };
  return html`
    <li>
      <a href=${`#/games/${game.id}`} onClick=${(/** @type {Event} */ event) => { event.preventDefault(); go(game.id); }}>
        <strong>${list(game.names.filter((_, seat) => seat !== game.seat))}</strong>
        <span class="small">${date(game.opened)} ${words && html`· ${words}`}</span>
      </a>
      ${asking ? html`
        <div class="asking" role="group" aria-label=${t("saved.forget")}>
          <p class="small">${t("saved.forget.about")}</p>
          <button type="button" class="danger" onClick=${remove}>${t("saved.forget")}</button>
          <button type="button" ref=${cancel} onClick=${() => {
            setAsking(false);
            queueMicrotask(() => forgetting.current?.focus());
          }}>${t("cancel")}</button>
        </div>` : html`
        <button type="button" class="quiet" ref=${forgetting} aria-label=${t("saved.forget.name", { name: game.names[((game.seat ?? 0) + 1) % game.names.length] })}
          onClick=${() => (rankOf(game, answer) === 2 ? remove() : setAsking(true))}>${t("saved.forget")}</button>`}
    </li>`;
}
