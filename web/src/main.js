// Starts the page.

import { Later, html } from "./view.js";
import { loadScreen, loadWords } from "./lang.js";
import { navigate } from "./game.js";
import { dispatch, show } from "./store.js";
import { problemOf, request } from "./api.js";
import { Home } from "./home.js";
import "./press.js";
import { Opening } from "./opening.js";
import { KeyQuestion, Notice } from "./operator.js";
import { SeatingScreen, isSeating } from "./seating.js";
import { TableScreen } from "./table/table.js";
import { surviveTranslation } from "./translated.js";
import { Watch } from "./watch.js";

/** @import {State} from "./types.js" */

const loadAnalysis = async () => (await loadScreen("./analyse/analyse.js", () => import("./analyse/analyse.js"))).AnalyseScreen;
const loadCourse = async () => (await loadScreen("./learn/learn.js", () => import("./learn/learn.js"))).loadCourse();
const loadPuzzles = async () => (await loadScreen("./puzzles/puzzles.js", () => import("./puzzles/puzzles.js"))).PuzzlesScreen;
const loadMatch = async () => (await loadScreen("./match/match.js", () => import("./match/match.js"))).MatchScreen;

// Over plain http, browsers have no service worker; the page works without.
if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register(new URL("sw.js", document.baseURI)).catch(() => {});
}
await loadWords();
surviveTranslation(document.body);
addEventListener("hashchange", navigate);
navigate();
// A server before 0.3.0 has none.
request("GET", "/v1/notice").then((/** @type {{notice: string | null}} */ { notice }) => dispatch({ type: "set", change: { notice } }), problemOf);
show((state) => html`<${Notice} state=${state} />${screenOf(state)}${state.asked && html`<${KeyQuestion} asked=${state.asked} />`}`);

/** @param {State} state */
function screenOf(state) {
  const { route, table } = state;
  if (route.name === "analyse") return html`<${Later} key="analyse" load=${loadAnalysis} state=${state} />`;
  if (route.name === "learn") return html`<${Later} key="learn" load=${loadCourse} number=${route.number} table=${table} />`;
  if (route.name === "match") return html`<${Later} key="match" load=${loadMatch} route=${route} state=${state} />`;
  if (route.name === "puzzles") return html`<${Later} key="puzzles" load=${loadPuzzles} route=${route} state=${state} />`;
  if (route.name === "watch") return html`<${Watch} />`;
  if (route.name === "home" || !table) return html`<${Home} state=${state} />`;
  if (!table.game) return html`<${Opening} table=${table} />`;
  return isSeating(table) ? html`<${SeatingScreen} key=${table.id} table=${table} />`
    : html`<${TableScreen} key=${table.id} table=${table} />`;
}
