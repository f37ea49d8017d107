// The first screen: a new game, games to continue, a game to watch.

import { useEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { rulesOn, server } from "./api.js";
import { playAgainstBots, setPerson, watch } from "./game.js";
import { LANGUAGES, duration, lang, loadPart, t } from "./lang.js";
import { inviteFriends, playAtOnce, readOpenTables } from "./people.js";
import { CHOICES, OPTIONS, chosenOptions, valueWords, wordsIn } from "./rules.js";
import { SavedGames } from "./saved.js";
import { Names, tableWords } from "./seats.js";
import { Showcase } from "./showcase.js";
import { RulesButton } from "./table/rules.js";
import { Later, Select, cutName, html, submitted, usePolling, useSheets } from "./view.js";
import { problemWords } from "./words.js";

/** @import {OpenTable, Settings, State} from "./types.js" */

const icon = new URL("../icon.svg", import.meta.url).href;
/** The sheet nearest to the rules that come with the boards in Swiss shops. */
const FOR_BOARDS = "dogspiel-it";

/** The button that had the focus was switched off meanwhile. @param {HTMLElement | null} element */
const focus = (element) => element?.focus();

/** @param {{state: State}} props */
export function Home({ state }) {
  const { home, settings, saved } = state;
  useEffect(() => { document.title = "DOG"; }, []);
  const day = html`<p class="other"><a href="#/puzzles/today">${t("home.day")}</a></p>`;
  const goesOn = saved.some(({ over }) => !over);
  return html`
    <main class="home">
      <header class="lead">
        <h1><img src=${icon} alt="" width="40" height="40" /> DOG</h1>
        <p>${t("home.lead")}</p>
      </header>
      <${SavedGames} saved=${saved}>${day}<//>
      <${Showcase} />
      <div class="begin">
        <div class="both">
          <button type="button" class="primary big" disabled=${home.creating} onClick=${playAgainstBots}>${t("home.play")}</button>
          <button type="button" class="big" onClick=${() => { location.hash = "#/learn/1"; }}>${t("home.lessons")}</button>
        </div>
        <${Choices} settings=${settings} />
        <p class="small" role="status">${home.creating && t("do.wait")}</p>
        ${home.badAddress && html`<p class="problem" role="alert">${t("home.watch.bad")}</p>`}
        ${home.problem && html`<p class="problem" role="alert" tabindex="-1" ref=${focus}>
          ${problemWords(home.problem, { names: [], me: null })}</p>`}
        ${!goesOn && day}
        <p class="other"><a href="#/learn">${t("home.learn")}</a> <a href="#/analyse">${t("home.analyse")}</a> <a href="#/watch">${t("watch.title")}</a></p>
      </div>
      <div class="rest">
        <${WithPeople} state=${state} />
        <${SavedGames} saved=${saved} over />
        <section>
          <h2>${t("home.watch")}</h2>
          <form class="row" onSubmit=${submitted("link", watch)}>
            <label class="grow">${t("home.watch.link")}
              <input name="link" autocomplete="off" inputmode="url" aria-invalid=${home.badLink ? "true" : "false"} /></label>
            <button type="submit">${t("home.watch.go")}</button>
          </form>
          ${home.badLink && html`<p class="problem" role="alert">${t("home.watch.bad")}</p>`}
        </section>
      </div>
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
export function sheetWords(settings) {
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
        <li><button type="button" onClick=${() => { location.hash = "#/match"; }}>${t("home.match")}</button>
          <p class="small">${t("home.match.about")}</p></li>
      </ul>
      <h3>${t("home.tables")}</h3>
      ${tables?.length ? html`<ul class="games tables" aria-label=${t("home.tables")}>
        ${tables.map((one) => html`<${Open} key=${one.id} table=${one} />`)}</ul>`
        : tables && html`<p class="small">${t("home.tables.none")}</p>`}
      <div class="small board-rules">${t("home.board", { rules: t(`preset.${FOR_BOARDS}`) })}
        ${" "}<${RulesButton} rules=${null} kind="link">${t("home.board.sheets")}<//></div>
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

/** What the next game is like, in a line. @param {{settings: Settings}} props */
function Choices({ settings }) {
  const [open, setOpen] = useState(false);
  /** @param {"preset" | "seats" | "level" | "clock" | "pace"} name @param {(value: string | number) => string} words @param {boolean} [chip] whether it tells what it is by itself */
  const choice = (name, words, chip) => html`
    <${Select} name=${name} label=${chip ? html`<span class="hidden">${t(`settings.${name}`)}</span>` : t(`settings.${name}`)} kind=${chip && "chip"}
      values=${CHOICES[name]} chosen=${settings[name]} words=${words}
      then=${(/** @type {string | number} */ value) => setPerson({ settings: { ...settings, [name]: value } })} />`;
  return html`
    <div class="chips" role="group" aria-label=${t("settings.title")}>
      ${choice("preset", (one) => (one === settings.preset ? sheetWords(settings) : t(`preset.${one}`)), true)}
      ${choice("seats", (n) => t("settings.seats.n", { n }), true)}
      ${choice("level", (one) => t(`level.${one}.bots`), true)}
      <details onToggle=${() => setOpen(true)}>
        <summary>${t("settings.more")}</summary>
        <div class="fields">
          ${choice("clock", (one) => (one === 0 ? t("settings.clock.none") : duration(1000 * Number(one))))}
          ${choice("pace", (one) => duration(Number(one)))}
        </div>
        ${open && html`<${Later} part load=${loadOptions} settings=${settings} />`}
      </details>
    </div>`;
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
