// Matches: the same cards at two tables. A new one, one that goes on, with its invitations for whoever
// created it, and its result.

import { useRef, useState } from "../../vendor/preact-hooks.js";
import { passes, problemOf, request } from "../api.js";
import { t } from "../lang.js";
import { Reveal, Share } from "../share.js";
import { state } from "../store.js";
import { savedMatches } from "../storage.js";
import { html, once, usePolling, useTitle } from "../view.js";
import { problemWords } from "../words.js";
import { Compare, sideOf } from "./compare.js";
import { NewMatch } from "./create.js";

/** @import {Failure, Game, Match, Route, SavedMatch, SeatInGame, State} from "../types.js" */

/** Milliseconds in which an answer begins that waits for the next complete pair: the server waits for 25 s. */
const WAIT = 40_000;

/** @param {{route: Extract<Route, {name: "match"}>, state: State}} props */
export const MatchScreen = ({ route: { id, pair }, state }) => (id === null ? html`<${NewMatch} state=${state} />`
  : html`<${Screen} key=${`${id} ${pair}`} id=${id} pair=${pair} />`);

/** A match as the server tells it: until all is told, it is asked for what comes next. @param {string} id */
function useMatch(id) {
  const [match, setMatch] = useState(/** @type {Match | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Failure | null} */ (null));
  const asking = useRef(false);
  const told = match?.complete_pairs.length;
  usePolling(() => {
    if (asking.current || match?.ended || (match && told === match.pairs)) return;
    asking.current = true;
    request("GET", `/v1/matches/${id}${match ? `?after=${told}` : ""}`, { wait: WAIT }).then((/** @type {Match | null} */ now) => {
      setMatch((before) => now ?? before);
      setProblem(null);
    }, (error) => setProblem(problemOf(error))).finally(() => { asking.current = false; });
  }, `${told} ${match?.ended}`);
  return { match, problem, setMatch, setProblem };
}

/** @param {{id: string, pair: number | null}} props `pair`: what its tables did is compared, counted from 1 */
function Screen({ id, pair }) {
  const { match, problem, setMatch, setProblem } = useMatch(id);
  const title = useTitle("DOG");
  const saved = savedMatches().find((one) => one.id === id);
  const compared = match?.complete_pairs.find((one) => one.pair + 1 === pair);
  const open = saved && match && !match.ended && match.complete_pairs.length === 0;
  return html`
    <main class=${compared ? "seating match" : "seating"}>
      <p class="how">${compared ? html`<a href=${`#/match/${id}`}>${t("match.back.to")}</a>` : html`<a href="#/">${t("table.home")}</a>`}</p>
      <h1 class="title" tabindex="-1" ref=${title}>${match ? match.sides.map(({ name, won }, side) => html`
        ${side > 0 && " : "}<bdi>${name}</bdi>${match.complete_pairs.length > 0 && ` ${won}`}`) : t("home.match")}</h1>
      ${problem && html`<p class="problem" role="alert">${problemWords(problem, { names: [], me: null })}</p>`}
      ${compared ? html`<${Compare} match=${match} pair=${compared} />` : match && html`
        <${Result} match=${match} />
        ${open && html`
          <${Invitations} match=${match} tables=${saved.tables} />
          <${Reveal} name=${t("match.end")}>
            <p>${t("match.end.about")}</p>
            <button type="button" class="danger" onClick=${once(() => {
              request("POST", `/v1/matches/${id}/end`, { token: saved.hostToken, body: {} }).then(setMatch, (error) => setProblem(problemOf(error)));
            })}>${t("match.end.now")}</button>
          <//>`}`}
    </main>`;
}

/** What is told of a match: nothing of a table before both have finished. @param {{match: Match}} props */
const Result = ({ match: { id, pairs, ended, complete_pairs: complete, sides } }) => html`
  <div role="status" class="join">
    ${complete.length < pairs && html`<p>${t(ended ? "match.ended" : "match.waiting")}</p>`}
    ${complete.map(({ pair, tables }) => html`
      <div class="invite" key=${pair}>
        ${tables.map(({ winner, pieces }, index) => html`
          <p>${t("match.won", {
            n: 2 * pair + index + 1, name: sides[winner].name, one: sides[0].name, first: pieces[0], other: sides[1].name, second: pieces[1],
          })}</p>`)}
        <p class="how"><a href=${`#/match/${id}/compare/${pair + 1}`}>${t("match.compare")}</a></p>
      </div>`)}
  </div>`;

/** Who sits at the tables of a match; null for a table that shows itself only to those. @param {SavedMatch["tables"]} tables */
function useSeats(tables) {
  const [seats, setSeats] = useState(/** @type {Record<string, SeatInGame[] | null>} */ ({}));
  usePolling(() => {
    for (const { id } of tables.filter((one) => seats[one.id] !== null)) {
      /** @param {SeatInGame[] | null} now */
      const got = (now) => setSeats((before) => ({ ...before, [id]: now }));
      request("GET", `/v1/games/${id}`, { cache: "no-cache" }).then((/** @type {Game} */ game) => got(game.seats),
        (error) => { if (!passes(error)) got(null); });
    }
  }, String(tables.map(({ id }) => seats[id] === null)));
  return seats;
}

/** A link for each seat that is free. @param {{match: Match, tables: SavedMatch["tables"]}} props */
function Invitations({ match, tables }) {
  const seats = useSeats(tables);
  return html`
    <h2>${t("match.invite")}</h2>
    <p>${t("match.invite.about")}</p>
    ${tables.map(({ id, invitations }, number) => html`
      <section key=${id}>
        <h3>${t("match.table", { n: number + 1 })}</h3>
        ${seats[id] === null ? html`<p>${t("match.playing")}</p>` : html`
          <ul class="teams">
            ${match.sides.map(({ name }, side) => html`
              <li key=${side}>
                <p class="small"><bdi>${name}</bdi></p>
                <ul>${invitations.map((invitation, seat) => sideOf(seat, number) === side && html`
                  <${Seat} key=${seat} path=${`/join/${id}/${invitation}`} seat=${seat} taken=${seats[id]?.[seat]}
                    of=${`${name}, ${t("match.table", { n: number + 1 })}`} />`)}</ul>
              </li>`)}
          </ul>`}
      </section>`)}`;
}

/** @param {{path: string, seat: number, taken: SeatInGame | undefined, of: string}} props `of`: its team and table */
function Seat({ path, seat, taken, of }) {
  const place = t("seat.n", { n: seat + 1 });
  const name = `${of}, ${place}`;
  if (taken && taken.kind !== "open") return html`<li><span>${place}</span><bdi class="name">${taken.name}</bdi></li>`;
  return html`
    <li>
      <span>${place}</span>
      <span class="actions">
        <button type="button" aria-label=${t("seat.button", { button: t("sit.here"), name })} onClick=${() => { location.hash = path; }}>${t("sit.here")}</button>
        <${Reveal} name=${t("share.title")} label=${t("seat.button", { button: t("share.title"), name })}>
          <${Share} path=${path} name=${t("share.seat", { name })} addresses=${state.addresses} />
        <//>
      </span>
    </li>`;
}
