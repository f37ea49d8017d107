// The end of a game that one has seen: the pieces of the winners hop, shapes in their colours fall, once.

import { useEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { clockAhead } from "../api.js";
import { teamsOf } from "../choose.js";
import { state } from "../store.js";
import { mayMove } from "../table/animate.js";
import { shapePath } from "../table/shapes.js";
import { cheering } from "../table/sounds.js";
import { html, useTimer } from "../view.js";
import { hop } from "./hop.js";

/** @import {Table} from "../types.js" */

/** How many shapes fall. */
const SHAPES = 24;
/** Milliseconds: the end is this long ago at most, the last move takes as long, and a fall. */
const [FRESH, MOVE, FALL] = [5000, 900, 3300];

/** Whether the game has ended just now. @param {Table} table */
const isFresh = ({ log }) => Date.parse(log.at(-1)?.at ?? "") > Date.now() + clockAhead - FRESH;

/** @param {{table: Table}} props */
export function Feast({ table }) {
  const { game, layout } = table;
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const seats = teamsOf(game?.seats.length ?? 4)[game?.winner ?? 0];
  const [fresh, setFresh] = useState(() => isFresh(table));
  useEffect(() => {
    if (fresh && state.sound) cheering(MOVE / 1000);
    if (!mayMove()) setFresh(false);
  }, []);
  // Nothing waits for its time, and all falls end together: the browser looks at the whole page when one begins or ends.
  useTimer(() => {
    const home = seats.map((seat) => `.piece[data-seat="${seat}"][data-place^="goal"]`).join();
    hop([...document.querySelectorAll(home)]);
    const falls = [...root.current?.children ?? []].map((shape) => {
      const [from, aside, high, deep, turns] = [100, 20, 80, 80, 720].map((range) => range * Math.random());
      return shape.animate([
        { transform: `translate(${from}vw, ${-high}vh)` }, { transform: `translate(${from + aside - 10}vw, ${110 + deep}vh) rotate(${turns - 360}deg)` },
      ], { duration: FALL, easing: "cubic-bezier(.3, .1, .7, .9)" });
    });
    falls[0]?.finished.then(() => setFresh(false), () => {});
  }, fresh ? MOVE : null, [fresh]);
  if (!fresh) return null;
  return html`
    <div class="feast" aria-hidden="true" ref=${root}>
      ${Array.from({ length: SHAPES }, (_, index) => {
        const one = layout?.seats[seats[index % seats.length]];
        return one && html`<svg viewBox="-1.2 -1.2 2.4 2.4" key=${index} color=${one.colour}><path d=${shapePath(one.shape)} /></svg>`;
      })}
    </div>`;
}
