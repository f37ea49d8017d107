// The replay of a finished game: every hand, and a slider over its steps. The address names the step.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact-hooks.js";
import { addressOf, analyse, replaceAddress } from "../game.js";
import { t } from "../lang.js";
import { OpenRecord } from "../record.js";
import { dispatch } from "../store.js";
import { Mark } from "../table/players.js";
import { SmallCard } from "../table/card.js";
import { html, playIcon, useAddress, useTimer } from "../view.js";
import { entryWords, nameOf, people } from "../words.js";
import { Share } from "./result.js";

/** @import {ReplayStep, Table} from "../types.js" */

/** Milliseconds between two steps while the replay plays by itself. */
const PACE = 1500;

/** @param {number | null} version */
const move = (version) => dispatch({ type: "replay", version });

/** @param {{table: Table, step: ReplayStep}} props */
export function Replay({ table, step }) {
  const { id, steps } = table;
  const { version } = step.entry;
  const who = people(table);
  const slider = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [playing, play] = useState(false);
  // The steps with something to tell: buttons, keys and the clock go from one to the next.
  const told = useMemo(() => (steps ?? []).filter(({ entry }) => entryWords(who, entry) !== "")
    .map(({ entry }) => entry.version), [steps]);
  const last = steps?.length ?? 1;
  const before = told.filter((one) => one < version).at(-1) ?? 1;
  const after = told.find((one) => one > version) ?? last;
  const keep = useAddress(addressOf(id, version), `${addressOf(id, null)}/at/`);
  /** Moves by hand. @param {number} to */
  const moveTo = (to) => {
    play(false);
    move(to);
  };
  useLayoutEffect(() => slider.current?.focus({ preventScroll: true }), []);
  // The button that has led to an end can do no more: the focus goes to the other one.
  useLayoutEffect(() => {
    if (!document.activeElement?.matches(".replay :disabled")) return;
    /** @type {HTMLElement | null} */ (document.querySelector(".replay button:enabled:not(.primary)"))?.focus();
  }, [version]);
  useTimer(() => (version === last ? play(false) : move(after)), playing ? PACE : null, [playing, version]);
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      const to = { ArrowLeft: before, ArrowRight: after, Home: 1, End: last }[event.key];
      const typing = event.target instanceof HTMLInputElement && event.target !== slider.current;
      if (to === undefined || typing || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      moveTo(to);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [version, told]);
  const words = entryWords(who, step.entry) || t("replay.begin");
  return html`
    <div class="replay" role="group" aria-label=${t("replay")}>
      <button type="button" class="primary" aria-label=${t(playing ? "replay.pause" : "replay.play")} onClick=${() => {
        if (!playing && version === last) move(1);
        play(!playing);
      }}>${playIcon(playing)}</button>
      <button type="button" aria-label=${t("replay.back")} disabled=${version === 1} onClick=${() => moveTo(before)}>◀</button>
      <input type="range" ref=${slider} min="1" max=${last} value=${version} aria-label=${t("replay.step")} aria-valuetext=${words}
        onInput=${(/** @type {Event} */ event) => moveTo(Number(/** @type {HTMLInputElement} */ (event.target).value))} />
      <button type="button" aria-label=${t("replay.next")} disabled=${version === last} onClick=${() => moveTo(after)}>▶</button>
    </div>
    <h2 class="step" tabindex="-1" aria-live=${playing ? "polite" : "off"}>${words}</h2>
    <ul class="hands" aria-label=${t("replay.hands")}>
      ${step.hands.map((hand, seat) => html`
        <li key=${seat}><${Mark} layout=${table.layout} seat=${seat} /> <bdi class="name">${nameOf(who, seat)}</bdi>
          <span>${hand.map((card) => html`<${SmallCard} card=${card} /> `)}</span></li>`)}
    </ul>
    <div class="buttons">
      <button type="button" onClick=${() => { keep(); analyse(); }}>${t("analyse")}</button>
      <${Share} table=${table} version=${version} />
      <${OpenRecord} />
      <button type="button" onClick=${() => { replaceAddress(id); move(null); }}>${t(table.review === "none" ? "replay.end" : "replay.review")}</button>
    </div>`;
}
