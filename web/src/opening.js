// A game that is being opened, or that the server does not show.

import { useEffect, useRef } from "../vendor/preact-hooks.js";
import { t } from "./lang.js";
import { savedMatches } from "./storage.js";
import { html } from "./view.js";
import { problemWords } from "./words.js";

/** @import {Table} from "./types.js" */

/** @param {{table: Table}} props */
export function Opening({ table: { id, link, problem } }) {
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => title.current?.focus(), [problem]);
  const gone = typeof problem === "object" && problem?.code === "game_not_found";
  // A refusal does not name the match of a closed table.
  const match = problem && savedMatches().find(({ tables }) => tables.some((one) => one.id === id));
  return html`
    <main class="waiting">
      ${problem ? html`<h1 class="title" tabindex="-1" ref=${title}>${problemWords(problem, { names: [], me: null })}</h1>`
        : html`<p role="status">${t(link === "lost" ? "link.lost" : "do.wait")}</p>`}
      ${gone && html`<p>${t("code.game_not_found.about")}</p>`}
      <p class="other">${match && html`<a href=${`#/match/${match.id}`}>${t("home.match")}</a> `}<a href="#/">${t("table.home")}</a> ${problem && html`<a href="#/watch">${t("watch.title")}</a>`}</p>
    </main>`;
}
