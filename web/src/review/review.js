// The review of a finished game: what was luck and what was play, and what would have been better.

import { useEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { adviceAfter } from "../analyse/analysis.js";
import { passes, problemOf, request, server } from "../api.js";
import { offerOf, teamsOf } from "../choose.js";
import { addressOf } from "../game.js";
import { capitalize, list, percent, points, t } from "../lang.js";
import { at, dispatch } from "../store.js";
import { Picture } from "../table/board.js";
import { Mark } from "../table/players.js";
import { html, once } from "../view.js";
import { entryWords, nameOf, people, problemWords, reasonForAdvice, suggestedPlaces, suggestionWords, theCard } from "../words.js";
import { addedPoints, roundPoints } from "./rounds.js";

/** @import {Decision, Failure, ReplayStep, Review as Reviewed, Suggestion, Table} from "../types.js" */

/** Milliseconds between two looks at a review that goes on. */
const PACE = 3000;

/** @param {Reviewed} review */
const hasEnded = ({ status }) => status === "done" || status === "failed";

/** @param {{table: Table}} props */
export function Review({ table }) {
  const { id, review } = table;
  const [problem, setProblem] = useState(/** @type {Failure | null} */ (null));
  const [times, setTimes] = useState(0);
  useEffect(() => {
    let timer = 0;
    let over = false;
    // The first request asks for it, if nobody has.
    let method = "POST";
    const read = async () => {
      let wait = PACE;
      try {
        /** @type {Reviewed} */
        const now = await request(method, `/v1/games/${id}/review`);
        if (over) return;
        method = "GET";
        setProblem(null);
        at(table, () => dispatch({ type: "table", change: { review: now } }));
        if (hasEnded(now)) return;
      } catch (error) {
        if (over) return;
        setProblem(problemOf(error));
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
  return html`
    <section class="review" aria-labelledby="review">
      <h3 id="review" tabindex="-1" ref=${title}>${t("review")}</h3>
      <p role="status" class="small">${t(failed ? "review.failed" : done ? "review.done" : "review.running")}</p>
      ${failed && html`<p><button type="button" onClick=${once(() => setTimes(times + 1))}>${t("review.again")}</button></p>`}
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
  const own = (seat ?? 0) % teams.length;
  const isDone = review.status === "done";
  // A browser does not ask again for a picture that it has, and this one grows with the review.
  const picture = `${server}/v1/games/${id}/review.svg`;
  const until = isDone ? "" : `&until=${review.decisions.at(-1)?.version ?? 0}`;
  const called = `teams=${encodeURIComponent(teams.join("|"))}`;
  const curve = t("review.curve", { names: list(teams.length === 2 ? teams.slice(0, 1) : teams) });
  const played = review.seats.filter(({ decisions }) => decisions > 0);
  return game && html`
    ${played.length > 0 && html`<p class="small">${t("review.whose", { names: list(played.map((one) => nameOf(who, one.seat))) })}</p>`}
    <p class="small" aria-hidden="true">${curve}</p>
    <picture>
      <source media="(prefers-color-scheme: dark)" srcset=${`${picture}?${called}&theme=dark${until}`} />
      <img src=${`${picture}?${called}&theme=light${until}`} width="1000" height="480" alt=${curve} />
    </picture>
    ${review.teams.length > 0 && html`
      <ul class="sums">
        ${review.teams.map((one) => {
          const [luck, play, rest] = addedPoints(one, one.start, one.result).map((n) => points(n / 100));
          return html`<li key=${one.team}>${t("review.team", { names: teams[one.team], luck, play, rest })}</li>`;
        })}
      </ul>
      <p class="small">${t("review.points")}</p>`}
    ${played.map((one) => html`
      <h4 key=${`name ${one.seat}`}><${Mark} layout=${table.layout} seat=${one.seat} /> <bdi>${nameOf(who, one.seat)}</bdi></h4>
      <p key=${`how ${one.seat}`}>${t("review.accuracy", { n: one.decisions, accuracy: Math.round(one.accuracy ?? 0) })}
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

/** A decision that had a better choice. Pressed, it says why. @param {{table: Table, decision: Decision}} props */
function Costly({ table, decision }) {
  const { version, played, loss } = decision;
  const [open, setOpen] = useState(false);
  const [before, after] = [table.steps?.[version - 2], table.steps?.[version - 1]];
  if (!before || !after) return null;
  const card = played.swap?.card;
  const what = card ? capitalize(t("advice.give", { card: theCard(card) })) : entryWords(people(table), after.entry);
  return html`
    <li>
      <button type="button" aria-expanded=${open ? "true" : "false"} onClick=${once(() => setOpen(!open))}>
        <span class="grow">${t("review.decision", { round: before.round, what })}</span>${" "}
        <span class="chance">${t("review.cost", { points: points(-loss) })}</span>
      </button>
      ${open && html`<${Better} table=${table} decision=${decision} before=${before} />`}
    </li>`;
}

/** Whether a suggestion is this choice. @param {Suggestion} suggestion @param {Decision["best"]} choice */
function isChoice(suggestion, choice) {
  if ("move" in suggestion) return suggestion.move.id === choice.move;
  return /** @type {const} */ (["card", "ask", "pass", "decline"])
    .every((name) => suggestion.swap[name] === choice.swap?.[name]);
}

/** What was better, why, and where. @param {{table: Table, decision: Decision, before: ReplayStep}} props */
function Better({ table, decision, before }) {
  const { version, best, judgement, win_probability: chance, loss } = decision;
  const [answer, setAnswer] = useState(/** @type {Suggestion | Failure | null} */ (null));
  useEffect(() => {
    adviceAfter(table, before).then((advice) => setAnswer(advice?.suggestions.find((one) => isChoice(one, best)) ?? null),
      (error) => setAnswer(problemOf(error)));
  }, []);
  const who = people(table);
  // The reasons speak to the player.
  const player = { ...who, me: decision.seat };
  const link = html`<a href=${addressOf(table.id, version - 1)}>${t("review.show")}</a>`;
  if (typeof answer === "string" || (answer && "code" in answer)) {
    return html`<p class="problem" role="alert">${problemWords(answer, who)}</p><p>${link}</p>`;
  }
  return html`
    ${answer ? html`
      <p>${t(`review.better.${judgement}`, { what: suggestionWords(who, answer) })}<span class="hidden">${suggestedPlaces(who, answer)}</span></p>
      ${decision.seat !== who.me && html`<p>${t("review.to", { name: nameOf(who, decision.seat) })}</p>`}
      <ul class="reasons">${answer.reasons.map((reason) => html`<li>${reasonForAdvice(reason, player)}</li>`)}</ul>` : html`<p role="status">${t("do.wait")}</p>`}
    <p>${t("review.chances", { best: percent(chance), played: percent((Math.round(100 * chance) - Math.round(100 * loss)) / 100) })} ${link}</p>
    <${Picture} layout=${table.layout} board=${before.board} preview=${answer && "move" in answer ? offerOf(answer.move) : null} />`;
}

/** The curve in numbers. @param {{table: Table, review: Reviewed, team: number, names: string}} props */
const Rounds = ({ table, review, team, names }) => html`
  <details>
    <summary>${t("review.rounds", { names })}</summary>
    <div class="scroll" tabindex="0" role="region" aria-label=${t("review.rounds", { names })}>
      <table>
        <thead><tr>${["round", "chance", "cards", "play", "rest"].map((one) => html`<th scope="col">${t(`review.column.${one}`)}</th>`)}</tr></thead>
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
