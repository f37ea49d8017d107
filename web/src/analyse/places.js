// A button on every place of the board. The arrow keys move from one to the next.

import { useRef, useState } from "../../vendor/preact-hooks.js";
import { capitalize, t } from "../lang.js";
import { pointOf, pressedAt, trackLength } from "../table/geometry.js";
import { html } from "../view.js";
import { nameOf, placeWords, spotName } from "../words.js";
import { change, set } from "./analysis.js";
import { kennelOf, peopleOf, pieceAt, tapPlace } from "./question.js";

/** @import {Analysis} from "../types.js" */
/** @import {Frame} from "../table/board.js" */

/** Steps of the arrow keys. @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** @param {{analysis: Analysis} & Frame} props */
export function PlaceButtons({ analysis, layout, bounds, gap }) {
  const { question, pieceOf } = analysis;
  const who = peopleOf(question);
  const buttons = useRef(/** @type {(HTMLElement | null)[]} */ ([]));
  const [current, setCurrent] = useState(0);
  /** @param {number | null} goalOf @param {string} place @param {string} words */
  const place = (goalOf, place, words) => {
    const there = pieceAt(question, goalOf, place);
    const name = there ? spotName(who, { seat: there.seat, place: words }, there.seat)
      : goalOf === null ? spotName(who, { seat: 0, place: words }, null)
        : capitalize(t("analyse.goal", { place: placeWords(words), name: nameOf(who, goalOf) }));
    return {
      point: pointOf(layout, { seat: goalOf ?? 0, place: words }), pressed: there !== null,
      name: there?.text.endsWith("f") ? t("analyse.fresh", { place: name }) : name,
      press: () => change(tapPlace(analysis, goalOf, place)),
    };
  };
  const seats = layout.seats.map((_, seat) => seat);
  const places = [
    ...Array.from({ length: trackLength(layout) }, (_, field) => place(null, String(field), String(field))),
    ...seats.flatMap((seat) => [0, 1, 2, 3].map((depth) => place(seat, `g${depth}`, `goal:${depth}`))),
    // A kennel says whose pieces the next taps place.
    ...seats.map((seat) => ({
      point: pointOf(layout, { seat, place: "kennel" }),
      name: capitalize(t("analyse.kennel", { name: nameOf(who, seat), n: kennelOf(question, seat) })),
      pressed: pieceOf === seat, press: () => set({ pieceOf: seat }),
    })),
  ];
  /** @param {KeyboardEvent} event @param {number} index */
  const move = (event, index) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    buttons.current[(index + step + places.length) % places.length]?.focus();
  };
  return html`${places.map(({ point, name, pressed, press }, index) => html`
    <button type="button" key=${index} class="place free" aria-label=${name} aria-pressed=${pressed ? "true" : "false"}
      tabindex=${index === current ? 0 : -1} ref=${(/** @type {HTMLElement | null} */ element) => { buttons.current[index] = element; }}
      onFocus=${() => setCurrent(index)} onKeyDown=${(/** @type {KeyboardEvent} */ event) => move(event, index)}
      style=${pressedAt(point, gap, bounds)} onClick=${press}></button>`)}`;
}
