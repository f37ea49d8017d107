// The public games that are being played, to watch.

import { useState } from "../vendor/preact-hooks.js";
import { problemOf, request } from "./api.js";
import { t } from "./lang.js";
import { OpenRecord } from "./record.js";
import { problemWords } from "./words.js";
import { html, usePolling, useTitle } from "./view.js";
import { Names } from "./seats.js";

/** @import {Failure, OpenTable} from "./types.js" */

export function Watch() {
  const [games, setGames] = useState(/** @type {OpenTable[] | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Failure | null} */ (null));
  const title = useTitle("DOG");
  usePolling(() => {
    request("GET", "/v1/games?phase=play&limit=20", { cache: "no-cache" }).then((/** @type {{games: OpenTable[]}} */ answer) => {
      setGames(answer.games);
      setProblem(null);
    }, (error) => setProblem(problemOf(error)));
  });
  return html`
    <main class="home">
      <p><a href="#/">${t("table.home")}</a></p>
      <h1 class="title" tabindex="-1" ref=${title}>${t("watch.title")}</h1>
      ${problem && html`<p class="problem" role="alert">${problemWords(problem, { names: [], me: null })}</p>`}
      ${games && html`<section>
        ${games.length === 0 ? html`<p>${t("watch.none")}</p>` : html`
          <ul class="games" aria-label=${t("watch.title")}>
            ${games.map(({ id, rules, seats }) => html`
              <li key=${id}><a href=${`#/games/${id}`}>
                <${Names} seats=${seats} /> <span class="small">${t(`preset.${rules.preset}`)}</span></a></li>`)}
          </ul>`}
      </section>`}
      <p><${OpenRecord} /></p>
    </main>`;
}
