// A new match: two teams, the rules and the clock.

import { useState } from "../../vendor/preact-hooks.js";
import { problemOf, requestSecret } from "../api.js";
import { setPerson } from "../game.js";
import { sheetWords } from "../home.js";
import { date, duration, t } from "../lang.js";
import { CHOICES, rulesOf } from "../rules.js";
import { saveMatch, savedMatches } from "../storage.js";
import { Select, cutName, html, useTitle } from "../view.js";
import { problemWords } from "../words.js";

/** @import {CreatedMatch, Failure, Settings, State} from "../types.js" */

/** Seconds for a turn that can be chosen, and those at first: a table must not stand still. */
const [CLOCKS, CLOCK] = [CHOICES.clock.filter((one) => one !== 0), 60];

/** Creates a match of one pair, and keeps its secrets. @param {string[]} names @param {Settings} settings @param {number} seconds */
const create = (names, settings, seconds) => requestSecret("POST", "/v1/matches", {
  body: {
    rules: { ...rulesOf(settings), seats: 4 }, turn_seconds: seconds,
    sides: names.map((name) => ({ name, kind: "open", level: settings.level })),
  },
}, (/** @type {CreatedMatch} */ { id, host_token: hostToken, pairs: [{ tables }] }) => {
  saveMatch({ id, hostToken, names, created: Date.now(), tables });
  return id;
});

/** @param {{state: State}} props */
export function NewMatch({ state: { settings } }) {
  const title = useTitle("DOG");
  const [seconds, setSeconds] = useState(settings.clock || CLOCK);
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState(/** @type {Failure | null} */ (null));
  const mine = savedMatches();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const names = new FormData(/** @type {HTMLFormElement} */ (event.target)).getAll("team").map((name) => String(name).trim());
    setSending(true);
    create(names, settings, seconds).then((id) => { location.hash = `#/match/${id}`; }, (error) => {
      setProblem(problemOf(error));
      setSending(false);
    });
  };
  return html`
    <main class="seating">
      <p class="how"><a href="#/">${t("table.home")}</a></p>
      <h1 class="title" tabindex="-1" ref=${title}>${t("home.match")}</h1>
      <p>${t("match.about")}</p>
      <form class="join" onSubmit=${submit}>
        <div class="fields">
          ${[1, 2].map((n) => html`
            <label>${t("match.name", { n })} <input name="team" required value=${t("match.team", { n })} onInput=${cutName} autocomplete="off" /></label>`)}
        </div>
        <div class="fields">
          <${Select} label=${t("settings.preset")} values=${CHOICES.preset} chosen=${settings.preset}
            words=${(/** @type {string} */ one) => (one === settings.preset ? sheetWords(settings) : t(`preset.${one}`))}
            then=${(/** @type {string} */ preset) => setPerson({ settings: { ...settings, preset } })} />
          <${Select} label=${t("match.clock")} values=${CLOCKS} chosen=${seconds} words=${(/** @type {number} */ one) => duration(1000 * one)} then=${setSeconds} />
        </div>
        ${problem && html`<p class="problem" role="alert">${problemWords(problem, { names: [], me: null })}</p>`}
        <button class="primary big" disabled=${sending}>${t("match.create")}</button>
      </form>
      ${mine.length > 0 && html`
        <section class="invite">
          <h2>${t("match.yours")}</h2>
          <ul class="games">
            ${mine.map(({ id, names, created }) => html`
              <li key=${id}><a href=${`#/match/${id}`}><strong>${names.join(" : ")}</strong> <span class="small">${date(created)}</span></a></li>`)}
          </ul>
        </section>`}
    </main>`;
}
