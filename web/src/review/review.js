// The review of a finished game: what was luck and what was play, and what would have been better.

import { useEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { passes, problemOf, request, server } from "../api.js";
import { teamsOf } from "../choose.js";
import { addressOf } from "../game.js";
import { list, percent, points, t } from "../lang.js";
import { changeGame } from "../storage.js";
import { at, dispatch } from "../store.js";
import { Mark } from "../table/players.js";
import { html, once } from "../view.js";
import { nameOf, people, problemWords } from "../words.js";
import { Costly } from "./decision.js";
import { Moments } from "./moments.js";
import { addedPoints, roundPoints } from "./rounds.js";
import { sentenceOf } from "./sentence.js";

/** @import {Failure, Review as Reviewed, Table} from "../types.js" */

/** Milliseconds between two looks at a review that goes on. */
const PACE = 3000;

/** @param {Reviewed} review */
const hasEnded = ({ status }) => status === "done" || status === "failed";

/** @param {{table: Table}} props */
export function Review({ table }) {
  const { id, token, review } = table;
  const [problem, setProblem] = useState(/** @type {Failure | null} */ (null));
  const [times, setTimes] = useState(0);
  useEffect(() => {
    let timer = 0;
    let over = false;
    // Who asks for one that was made by an older server has it made anew: that is for the reader to say.
    let method = times > 0 ? "POST" : "GET";
    const read = async () => {
      let wait = PACE;
      try {
        /** @type {Reviewed} */
        const now = await request(method, `/v1/games/${id}/review`, method === "POST" ? { token } : {});
        if (over) return;
        method = "GET";
        setProblem(null);
        at(table, () => dispatch({ type: "table", change: { review: now } }));
        if (hasEnded(now)) return;
      } catch (error) {
        if (over) return;
        const failure = problemOf(error);
        // Nobody has asked for it.
        if (typeof failure === "object" && failure.code === "review_not_found") {
          method = "POST";
          return read();
        }
        setProblem(failure);
        if (!passes(error)) return;
        wait = Math.max(wait, /** @type {{wait?: number}} */ (error).wait ?? 0);
      }
      timer = setTimeout(read, wait);
    };
    if (times > 0 || typeof review === "string" || !hasEnded(review)) read();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [times]);
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (review === "asked") title.current?.focus({ preventScroll: true });
  }, []);
  const done = typeof review === "object" && hasEnded(review);
  const failed = done && review.status === "failed";
  useEffect(() => { if (done && !failed) changeGame(id, { reviewed: true }); }, [done]);
  const old = done && review.decisions.some((one) => typeof one.random_loss !== "number");
  return html`
    <section class="review" aria-labelledby="review">
      <h3 id="review" tabindex="-1" ref=${title}>${t("review")}</h3>
      ${done && !failed && html`<p class="says">${sentenceOf(review, people(table))}</p>`}
      <p role="status" class="small">${t(failed ? "review.failed" : old ? "review.old" : done ? "review.done" : "review.running")}</p>
      ${(failed || old) && html`<p><button type="button" onClick=${once(() => setTimes(times + 1))}>${t("review.again")}</button></p>`}
      ${problem && html`<p class="problem" role="alert">${problemWords(problem, people(table))}</p>`}
      ${typeof review === "object" && html`
        ${!done && html`<progress value=${review.progress} aria-label=${t("review.progress")}></progress>`}
        ${review.rounds.length > 0 && html`<${Found} table=${table} review=${review} />`}`}
    </section>`;
}

/** What was found so far. @param {{table: Table, review: Reviewed}} props */
function Found({ table, review }) {
  const { id, game, seat } = table;
  const who = people(table);
  const teams = teamsOf(who.names.length).map((seats) => list(seats.map((one) => nameOf(who, one))));
  const own = (seat ?? game?.winner ?? 0) % teams.length;
  const isDone = review.status === "done";
  // A browser does not ask again for a picture that it has, and this one grows with the review.
  const picture = `${server}/v1/games/${id}/review.svg`;
  const until = isDone ? "" : `&until=${review.decisions.at(-1)?.version ?? 0}`;
  const called = `teams=${encodeURIComponent(teams.join("|"))}`;
  const curve = teams.length === 2 ? t("review.areas", { below: teams[0], above: teams[1] }) : t("review.curve", { names: teams.join(" · ") });
  const played = review.seats.filter(({ decisions }) => decisions > 0);
  const marked = played.filter(({ costliest }) => costliest.length > 0);
  return game && html`
    <${Moments} table=${table} review=${review} teams=${teams} team=${own} />
    <picture>
      <source media="(prefers-color-scheme: dark)" srcset=${`${picture}?${called}&theme=dark${until}`} />
      <img src=${`${picture}?${called}&theme=light${until}`} width="1000" height="480" alt=${curve} />
    </picture>
    <p class="small" aria-hidden="true">${curve}</p>
    ${marked.length > 0 && html`
      <p class="small">${t("review.marks")}${marked.map(({ seat: one }) => html`
        ${" "}<span class="state"><${Mark} layout=${table.layout} seat=${one} /> <bdi>${nameOf(who, one)}</bdi></span>`)}</p>`}
    ${review.teams.length > 0 && html`
      <ul class="sums">
        ${review.teams.map((one) => {
          const [luck, play] = addedPoints(one.decisions, one.start, one.result).map((n) => points(n / 100));
          return html`<li key=${one.team}>${t("review.team", { names: teams[one.team], luck, play })}</li>`;
        })}
      </ul>
      <p class="small">${t("review.points")} ${played.length > 0 && t("review.random")}</p>`}
    ${played.map((one) => html`
      <h4 key=${`name ${one.seat}`}><${Mark} layout=${table.layout} seat=${one.seat} /> <bdi>${nameOf(who, one.seat)}</bdi></h4>
      <p key=${`how ${one.seat}`}>${t(one.accuracy === null ? "review.decisions" : "review.accuracy", { n: one.decisions, accuracy: Math.round(one.accuracy ?? 0) })}
        ${isDone && one.costliest.length === 0 && ` ${t("review.clean")}`}</p>
      ${one.costliest.length > 0 && html`
        <ul key=${`costliest ${one.seat}`} class="advice" aria-label=${t("review.costliest")}>
          ${one.costliest.map((version) => {
            const decision = review.decisions.find((made) => made.version === version);
            return decision && html`<${Costly} key=${version} table=${table} decision=${decision} />`;
          })}
        </ul>`}`)}
    <${Rounds} table=${table} review=${review} team=${own} names=${teams[own]} />
    <p><a href=${`${picture}?${called}`} download=${`${id}.svg`}>${t("review.picture")}</a></p>`;
}

/** The curve in numbers. @param {{table: Table, review: Reviewed, team: number, names: string}} props */
const Rounds = ({ table, review, team, names }) => html`
  <details>
    <summary>${t("review.rounds", { names })}</summary>
    <div class="scroll" tabindex="0" role="region" aria-label=${t("review.rounds", { names })}>
      <table>
        <thead><tr>${["round", "chance", "luck", "play"].map((one) => html`<th scope="col">${t(`review.column.${one}`)}</th>`)}</tr></thead>
        <tbody>
          ${review.rounds.map((one) => {
            const { before, added } = roundPoints(one, team);
            return html`
              <tr key=${one.round}><th scope="row"><a href=${addressOf(table.id, one.version)}>${one.round}</a></th>
                <td>${percent(before / 100)}</td>${added.map((n) => html`<td>${points(n / 100)}</td>`)}</tr>`;
          })}
        </tbody>
      </table>
    </div>
  </details>`;
