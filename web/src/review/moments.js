// The moments of a game to look at first.

import { addressOf } from "../game.js";
import { list, percent, t } from "../lang.js";
import { Picture } from "../table/board.js";
import { html } from "../view.js";
import { people, suggestionWords } from "../words.js";
import { costOf, isWorse, Played, useBest } from "./decision.js";

/** @import {Decision, ReplayStep, Review, Table} from "../types.js" */

/** @param {{table: Table, review: Review, teams: string[], team: number}} props `team` whose chance is told */
export function Moments({ table, review, teams, team }) {
  // A decision may be more than one of them.
  const moments = new Map(review.moments.map((one) => [one.version, one]));
  return html`
    <ul class="moments">
      ${[...moments.values()].map(({ round, version }) => {
        const kinds = review.moments.filter((one) => one.version === version).map(({ kind }) => kind);
        const dealt = review.rounds.find((one) => one.round === round);
        const decision = review.decisions.find((one) => one.version === version);
        const at = version ?? dealt?.version ?? 1;
        const [before, step] = [table.steps?.[at - 2], table.steps?.[at - 1]];
        if (!before || !step || !dealt) return null;
        const what = list(kinds.map((kind) => t(`review.moment.${kind}`)));
        const chance = dealt.before[team];
        return html`
          <li key=${at}>
            <${Picture} layout=${table.layout} board=${step.board} last=${step.last} preview=${null} label=${what} />
            <div>
              <a href=${addressOf(table.id, at)}>${t("review.moment", { what, round })}</a>
              ${decision ? html`
                <p><${Played} table=${table} decision=${decision} />${isWorse(decision) && ` (${costOf(decision)})`}</p>
                ${kinds.includes("best_find") && html`<p>${t("review.found")}</p>`}
                ${isWorse(decision) && html`<${Instead} table=${table} decision=${decision} before=${before} />`}` : html`
                <p>${t("review.dealt", { names: teams[team], before: percent(chance), after: percent(chance + dealt.luck[team]) })}</p>`}
            </div>
          </li>`;
      })}
    </ul>`;
}

/** What would have been better, once the server has put it into words. @param {{table: Table, decision: Decision, before: ReplayStep}} props */
function Instead({ table, decision, before }) {
  const answer = useBest(table, decision, before);
  return answer && typeof answer === "object" && !("code" in answer) && html`
    <p>${t(`review.better.${decision.judgement}`, { what: suggestionWords(people(table), answer) })}</p>`;
}
