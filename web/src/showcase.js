// A kept game on the first screen: one round plays once, then the board stands until it is pressed.

import { useEffect, useState } from "../vendor/preact-hooks.js";
import { problemOf } from "./api.js";
import { readJson } from "./files.js";
import { t } from "./lang.js";
import { mayMove } from "./table/animate.js";
import { Picture } from "./table/board.js";
import { html, playIcon, useTimer } from "./view.js";

/** @import {Layout, Move, SeatBoard} from "./types.js" */

/** `round` is how many of the moves are in the first round. @typedef {{layout: Layout, board: SeatBoard[], round: number, moves: Move[]}} Kept */

/** Milliseconds for a move: what moves by itself has 5 s (WCAG 2.2, 2.2.2), what was asked for has time. */
const [QUICK, SLOW] = [500, 1100];

export function Showcase() {
  const [game, setGame] = useState(/** @type {Kept | null} */ (null));
  // The board shows the game after `at` moves, and plays until `end`.
  const [{ at, end, pace }, set] = useState({ at: 0, end: 0, pace: QUICK });
  useEffect(() => {
    readJson("./showcase.json").then((/** @type {Kept} */ kept) => {
      setGame(kept);
      set({ at: 0, end: mayMove() ? kept.round : 0, pace: QUICK });
    }, problemOf);
  }, []);
  const playing = at < end;
  useTimer(() => set({ at: at + 1, end, pace }), playing ? pace : null, [playing, at, pace]);
  const press = () => set(playing ? { at, end: at, pace } : { at: at === game?.moves.length ? 0 : at, end: game?.moves.length ?? 0, pace: SLOW });
  const move = game?.moves[at - 1];
  return html`
    <div class="showcase">
      <${Picture} layout=${game?.layout ?? null} board=${move?.board ?? game?.board ?? []} last=${move ? { version: at, move } : null}
        preview=${null} label=${t("home.show")} />
      ${game && html`<button type="button" aria-label=${t(playing ? "replay.pause" : "replay.play")} onClick=${press}>${playIcon(playing)}</button>`}
    </div>`;
}
