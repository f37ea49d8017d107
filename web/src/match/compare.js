// Both tables of a pair side by side, round by round: what did they do with these cards?

import { useEffect, useState } from "../../vendor/preact-hooks.js";
import { problemOf, readLayout, request } from "../api.js";
import { loadScreen, t } from "../lang.js";
import { Picture } from "../table/board.js";
import { SmallCard } from "../table/card.js";
import { Mark } from "../table/players.js";
import { html } from "../view.js";
import { entryWords, problemWords } from "../words.js";

/** @import {Failure, Game, History, Layout, Match, ReplayStep} from "../types.js" */
/** @import {People} from "../words.js" */

/** What was played at a table. @typedef {{who: People, steps: ReplayStep[]}} Played */

/** Of which side a seat is at a table: the sides change. @param {number} seat @param {number} table */
export const sideOf = (seat, table) => (seat + table) % 2;

/** Reads what the games say now that they are laid open. @param {Match} match @param {string[]} ids @returns {Promise<{layout: Layout, tables: Played[]}>} */
async function read({ rules }, ids) {
  const { stepsOf } = await loadScreen("./finished/replay.js", () => import("../finished/replay.js"));
  const tables = await Promise.all(ids.map(async (id) => {
    /** @type {[Game, History]} */
    const [{ seats }, { entries }] = await Promise.all([request("GET", `/v1/games/${id}`), request("GET", `/v1/games/${id}/history`)]);
    return { who: { names: seats.map(({ name }) => name), me: null }, steps: stepsOf(entries, seats.length) };
  }));
  return { layout: await readLayout(rules.seats, rules.fields_per_seat), tables };
}

/** @param {{match: Match, pair: Match["complete_pairs"][number]}} props */
export function Compare({ match, pair }) {
  const [found, setFound] = useState(/** @type {Awaited<ReturnType<typeof read>> | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Failure | null} */ (null));
  const [round, setRound] = useState(1);
  useEffect(() => {
    read(match, pair.tables.map(({ id }) => id)).then(setFound, (error) => setProblem(problemOf(error)));
  }, []);
  if (problem) return html`<p class="problem" role="alert">${problemWords(problem, { names: [], me: null })}</p>`;
  if (!found) return html`<p role="status">${t("do.wait")}</p>`;
  const { layout, tables } = found;
  const last = Math.max(...tables.map(({ steps }) => steps.at(-1)?.round ?? 1));
  /** The focus stays where a round is left. @param {string} words @param {number} to */
  const button = (words, to) => html`
    <button type="button" aria-disabled=${to < 1 || to > last ? "true" : undefined}
      onClick=${() => setRound(Math.min(Math.max(to, 1), last))}>${t(words)}</button>`;
  return html`
    <h2 aria-live="polite">${t("match.round", { round, n: last })}</h2>
    <div class="buttons">${button("match.back", round - 1)} ${button("match.next", round + 1)}</div>
    <div class="compared">
      ${tables.map((table, index) => html`
        <${Table} key=${index} table=${table} number=${2 * pair.pair + index} match=${match} round=${round} layout=${layout} />`)}
    </div>`;
}

/** What a table did with the cards of a round. @param {{table: Played, number: number, match: Match, round: number, layout: Layout | null}} props */
function Table({ table: { who, steps }, number, match, round, layout }) {
  const name = t("match.table", { n: number + 1 });
  const [dealt, ...played] = steps.filter((one) => one.round === round);
  const board = (played.at(-1) ?? dealt)?.board;
  return html`
    <section aria-label=${name}>
      <h3>${name}</h3>
      ${dealt ? html`
        <ul class="hands" aria-label=${t("replay.hands")}>
          ${dealt.hands.map((hand, seat) => html`
            <li key=${seat}><${Mark} layout=${layout} seat=${seat} /> <span class="name"><bdi>${who.names[seat]}</bdi> · <bdi>${match.sides[sideOf(seat, number)].name}</bdi></span>
              <span>${hand.map((card) => html`<${SmallCard} card=${card} /> `)}</span></li>`)}
        </ul>
        <${Picture} layout=${layout} board=${board} preview=${null} label=${t("match.board", { table: name, round })} />
        <div class="log"><ol aria-label=${t("log.title")}>${played.map(({ entry }) => entryWords(who, entry)).filter(Boolean)
          .map((words) => html`<li>${words}</li>`)}</ol></div>`
        : html`<p>${t("match.over")}</p>`}
    </section>`;
}
