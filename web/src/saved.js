// The games of this browser: those to continue, and those that are over, with their curves.

import { useLayoutEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { problemOf, request, server } from "./api.js";
import { forget, go } from "./game.js";
import { date, list, t } from "./lang.js";
import { changeGame } from "./storage.js";
import { html, usePolling } from "./view.js";
import { problemWords } from "./words.js";

/** @import {Failure, Game, SavedGame} from "./types.js" */

/** How many games are asked for, of each kind that are listed, and of those to continue that are in sight. */
const [ASKED, LISTED, SEEN] = [24, 12, 1];

/** What the server says of a game: the game, or why it says nothing. @typedef {Game | Failure} Answer */

/** @param {Answer | undefined} answer @returns {answer is Game} */
const isGame = (answer) => typeof answer === "object" && !("status" in answer);

/** @param {Answer | undefined} answer */
const isGone = (answer) => typeof answer === "object" && "status" in answer && answer.code === "game_not_found";

/** Whether nothing more happens in a game. @param {Answer | undefined} answer */
const isOver = (answer) => isGone(answer) || (isGame(answer) && answer.phase === "finished");

/** What the server says of these games, until they are over. @param {SavedGame[]} games */
function useAnswers(games) {
  const [answers, setAnswers] = useState(/** @type {Record<string, Answer>} */ ({}));
  const known = useRef(answers);
  known.current = answers;
  usePolling(() => {
    for (const { id, token } of games) {
      if (isOver(known.current[id])) continue;
      /** @param {Answer} answer */
      const got = (answer) => {
        setAnswers((all) => ({ ...all, [id]: answer }));
        if (isGame(answer) || isGone(answer)) changeGame(id, { over: isOver(answer) });
      };
      request("GET", `/v1/games/${id}`, { token, cache: "no-cache" }).then(got, (error) => {
        const problem = problemOf(error);
        // What was seen last is better than nothing.
        if (!isGame(known.current[id]) || isGone(problem)) got(problem);
      });
    }
  }, games.map((game) => game.id).join());
  return answers;
}

/** Whether it is the person's turn in a game. @param {SavedGame} game @param {Answer | undefined} answer */
const isTurn = (game, answer) => isGame(answer) && answer.actions.some((one) => one.seat === game.seat);

/** Games with a turn of this person come first, then those that go on. @param {SavedGame} game @param {Answer | undefined} answer */
const rankOf = (game, answer) => (isTurn(game, answer) ? 0 : isOver(answer) || (!isGame(answer) && game.over) ? 2 : 1);

/** The games to continue, or those that are over. @param {{saved: SavedGame[], over?: boolean, children?: unknown}} props `children` stand beside the title */
export function SavedGames({ saved, over = false, children }) {
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  const [all, showAll] = useState(false);
  const shown = all ? LISTED : SEEN;
  const kept = saved.filter((game) => (game.over ?? false) === over);
  // What goes on comes in the order of its turns; of what is over, nothing more is to be known.
  const asked = kept.slice(0, over ? shown : ASKED);
  const answers = useAnswers(asked);
  const rank = (/** @type {SavedGame} */ game) => rankOf(game, answers[game.id]);
  const left = Math.min(kept.length, LISTED) - shown;
  if (kept.length === 0) return null;
  return html`
    <section>
      <div class="heading"><h2 tabindex="-1" ref=${title}>${t(over ? "home.over" : "home.continue")}</h2>${children}</div>
      <ul class="games">
        ${asked.sort((a, b) => rank(a) - rank(b)).slice(0, shown).map((game) => html`
          <${Saved} key=${game.id} game=${game} answer=${answers[game.id]} removed=${() => title.current?.focus()} />`)}
      </ul>
      ${left > 0 && html`<button type="button" class="link" onClick=${() => showAll(true)}>${t("home.more", { n: left })}</button>`}
    </section>`;
}

/** A game to continue. @param {{game: SavedGame, answer: Answer | undefined, removed: () => void}} props */
function Saved({ game, answer, removed }) {
  const [asking, setAsking] = useState(false);
  const cancel = useRef(/** @type {HTMLElement | null} */ (null));
  const forgetting = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => cancel.current?.focus(), [asking]);
  const words = answer === undefined ? "" : isGone(answer) ? t("saved.gone")
    : !isGame(answer) ? problemWords(answer, { names: game.names, me: game.seat })
    : answer.phase === "finished" ? t("saved.finished") : answer.phase === "seating" ? t("saved.seating")
      : isTurn(game, answer) ? t("saved.turn") : t("saved.waiting");
  const remove = () => {
    removed();
    forget(game.id);
  };
  return html`
    <li>
      <a href=${`#/games/${game.id}`} onClick=${(/** @type {Event} */ event) => { event.preventDefault(); go(game.id); }}>
        <strong>${list(game.names.filter((_, seat) => seat !== game.seat))}</strong>
        <span class="small">${date(game.opened)} ${words && html`· ${words}`}</span>
        ${game.reviewed && isOver(answer) && !isGone(answer) && html`<${Curve} id=${game.id} />`}
      </a>
      ${asking ? html`
        <div class="asking" role="group" aria-label=${t("saved.forget")}>
          <p class="small">${t("saved.forget.about")}</p>
          <button type="button" class="danger" onClick=${remove}>${t("saved.forget")}</button>
          <button type="button" ref=${cancel} onClick=${() => {
            setAsking(false);
            queueMicrotask(() => forgetting.current?.focus());
          }}>${t("cancel")}</button>
        </div>` : html`
        <button type="button" class="quiet" ref=${forgetting} aria-label=${t("saved.forget.name", { name: game.names[((game.seat ?? 0) + 1) % game.names.length] })}
          onClick=${() => (rankOf(game, answer) === 2 ? remove() : setAsking(true))}>${t("saved.forget")}</button>`}
    </li>`;
}

/** How the chances went in a game. @param {{id: string}} props */
function Curve({ id }) {
  const picture = `${server}/v1/games/${id}/review.svg`;
  return html`
    <picture>
      <source media="(prefers-color-scheme: dark)" srcset=${`${picture}?theme=dark`} />
      <img src=${`${picture}?theme=light`} width="1000" height="480" alt="" loading="lazy" />
    </picture>`;
}
