// The end of a game that one has seen: the pieces of the winners hop, shapes in their colours fall, once.

import { useLayoutEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { clockAhead } from "../api.js";
import { teamsOf } from "../choose.js";
import { state } from "../store.js";
import { hop, mayMove } from "../table/animate.js";
import { shapePath } from "../table/shapes.js";
import { cheering } from "../table/sounds.js";
import { html } from "../view.js";

/** @import {Table} from "../types.js" */

/** How many shapes fall. */
const SHAPES = 24;
/** Milliseconds: the end is this long ago at most, and the last move takes as long. */
const [FRESH, MOVE] = [5000, 900];

/** Whether the game has ended just now. @param {Table} table */
const isFresh = ({ log }) => Date.parse(log.at(-1)?.at ?? "") > Date.now() + clockAhead - FRESH;

/** @param {{table: Table}} props */
export function Feast({ table }) {
  const { game, layout } = table;
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const seats = teamsOf(game?.seats.length ?? 4)[game?.winner ?? 0];
  const [fresh, setFresh] = useState(() => isFresh(table));
  useLayoutEffect(() => {
    if (!fresh) return;
    if (state.sound) cheering(MOVE / 1000);
    if (!mayMove()) {
      setFresh(false);
      return;
    }
    const home = seats.map((seat) => `.piece[data-seat="${seat}"][data-place^="goal"]`).join();
    hop([...document.querySelectorAll(home)], MOVE);
    const falls = [...root.current?.children ?? []].map((shape) => {
      const [from, aside, turns] = [100 * Math.random(), 20 * Math.random() - 10, 720 * Math.random() - 360];
      return shape.animate([
        { transform: `translate(${from}vw, -5vh)` }, { transform: `translate(${from + aside}vw, 105vh) rotate(${turns}deg)` },
      ], { delay: MOVE + 900 * Math.random(), duration: 1800 + 1500 * Math.random(), easing: "cubic-bezier(.3, .1, .7, .9)", fill: "backwards" });
    });
    Promise.allSettled(falls.map(({ finished }) => finished)).then(() => setFresh(false));
  }, []);
  if (!fresh) return null;
  return html`
    <div class="feast" aria-hidden="true" ref=${root}>
      ${Array.from({ length: SHAPES }, (_, index) => {
        const one = layout?.seats[seats[index % seats.length]];
        return one && html`<svg viewBox="-1.2 -1.2 2.4 2.4" key=${index} color=${one.colour}><path d=${shapePath(one.shape)} /></svg>`;
      })}
    </div>`;
}
