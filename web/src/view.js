// Preact with templates, and the words of the reader's language.

import { h } from "../vendor/preact.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact-hooks.js";
import htm from "../vendor/htm.js";
import { problemOf, readSheets } from "./api.js";
import { PAUSES } from "./files.js";
import { t } from "./lang.js";

/** @import {VNode} from "../vendor/preact.js" */
/** @import {Failure, Sheet} from "./types.js" */

/**
 * A handler that takes a double click for one: its second click is not for what the first one changed.
 *
 * @param {() => void} press
 */
export const once = (press) => (/** @type {UIEvent} */ event) => { if (event.detail < 2) press(); };

/** What was used last: `mouse`, `touch` or `pen`, or nothing for the keyboard. */
let pointer = "";
addEventListener("keydown", () => { pointer = ""; }, true);
addEventListener("pointerdown", (event) => { pointer = event.pointerType; }, true);

/** Whether a finger cannot hover: what it touches first is shown, and then done. */
export const touches = () => pointer === "touch";

/** Milliseconds between two looks at what others change. */
const AGAIN = 10_000;

/**
 * Does something after a while, unless one of the inputs changes before.
 *
 * @param {() => void} then @param {number | null} time in milliseconds @param {unknown[]} inputs
 */
export function useTimer(then, time, inputs) {
  useEffect(() => {
    if (time === null) return undefined;
    const timer = setTimeout(then, time);
    return () => clearTimeout(timer);
  }, inputs);
}

/**
 * A heading that has the focus at first, and with each title.
 *
 * @param {string} title of the page
 */
export function useTitle(title) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    document.title = title;
    heading.current?.focus();
  }, [title]);
  return heading;
}

/** Takes what was typed into a field of a form. @param {string} name of the field @param {(text: string) => void} then */
export const submitted = (name, then) => (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  then(String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get(name) ?? "").trim());
};

/**
 * One of some values.
 *
 * @template {string | number} T
 * @param {{
 *   label: unknown, name?: string, values: T[], chosen: T, words: (value: T) => unknown, then: (value: T) => void, kind?: string,
 * }} props
 */
export const Select = ({ label, name, values, chosen, words, then, kind }) => html`
  <label class=${kind}>${label}
    <select name=${name} onChange=${(/** @type {Event} */ event) =>
      then(values[/** @type {HTMLSelectElement} */ (event.target).selectedIndex])}>
      ${values.map((one) => html`<option value=${one} selected=${one === chosen}>${words(one)}</option>`)}
    </select></label>`;

/** Reads something now, and again and again while the page is seen. @param {() => void} read @param {string} [what] with another one it begins anew */
export function usePolling(read, what = "") {
  useEffect(() => {
    const look = () => { if (!document.hidden) read(); };
    look();
    const timer = setInterval(look, AGAIN);
    const signs = ["online", "focus", "visibilitychange"];
    for (const sign of signs) addEventListener(sign, look);
    return () => {
      clearInterval(timer);
      for (const sign of signs) removeEventListener(sign, look);
    };
  }, [what]);
}

/** The sheets, as soon as they are there: a view works without them, too. */
export function useSheets() {
  const [sheets, setSheets] = useState(/** @type {Sheet[]} */ ([]));
  useEffect(() => { readSheets().then(setSheets, problemOf); }, []);
  return sheets;
}

/** How many characters a name has. `maxlength` would count an emoji as two. */
const LONGEST_NAME = 40;

/** Ends a name that is typed where the server would not take more. @param {Event} event @returns {string} */
export function cutName({ target }) {
  const input = /** @type {HTMLInputElement} */ (target);
  const name = [...input.value];
  if (name.length > LONGEST_NAME) input.value = name.slice(0, LONGEST_NAME).join("");
  return input.value;
}

/** Milliseconds until the address follows: browsers refuse many changes in a row. */
const REST = 300;

/**
 * Has the address follow what a screen shows, until the reader has left it.
 *
 * @param {string} address @param {string} screen how all addresses of the screen begin
 * @returns {() => void} does so now, for somebody who is about to leave
 */
export function useAddress(address, screen) {
  const keep = () => {
    if (location.hash.startsWith(screen) && location.hash !== address) history.replaceState(null, "", address);
  };
  // At once, and not after the next frame: a timer of an address before would undo a step.
  useLayoutEffect(() => {
    const timer = setTimeout(keep, REST);
    return () => clearTimeout(timer);
  }, [address]);
  return keep;
}

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => VNode} */
export const html = htm.bind(/** @type {any} */ (h));

/** A drawing of 24 by 24. @param {{path: string}} props */
export const Icon = ({ path }) => html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${path} /></svg>`;

/** The button that starts and stops what plays by itself. @param {boolean} playing */
export const playIcon = (playing) => html`<${Icon} path=${playing ? "M6 4h4v16h-4zM14 4h4v16h-4z" : "M7 4l13 8-13 8z"} />`;

/**
 * Says that a part of the page, or the page, is to be loaded again. An old version has no more parts.
 *
 * @param {{failure: Failure, again?: () => void}} props
 */
export const LoadAgain = ({ failure, again = () => location.reload() }) => html`
  <p role="alert">${t(failure === "version" ? "problem.version" : "problem.network")}</p>
  <p><button type="button" onClick=${failure === "version" ? () => location.reload() : again}>${t("load.again")}</button></p>`;

/**
 * A screen, or a part of one, whose code is loaded when it is opened. What could not be loaded is asked
 * for again, after growing pauses.
 *
 * @param {{load: () => Promise<(props: any) => VNode | null>, part?: boolean}} props the others are those of the screen
 */
export function Later({ load, part = false, ...props }) {
  const [screen, setScreen] = useState(/** @type {{view: (props: any) => VNode | null} | null} */ (null));
  const [failure, setFailure] = useState(/** @type {Failure | null} */ (null));
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let timer = 0;
    load().then((view) => setScreen({ view }), (error) => {
      setFailure(problemOf(error));
      timer = setTimeout(() => setAttempt(attempt + 1), PAUSES[Math.min(attempt, PAUSES.length - 1)]);
    });
    return () => clearTimeout(timer);
  }, [load, attempt]);
  if (screen) return html`<${screen.view} ...${props} />`;
  const told = failure ? html`<${LoadAgain} failure=${failure} again=${() => setAttempt(attempt + 1)} />`
    : html`<p role="status">${t("do.wait")}</p>`;
  return part ? told : html`
    <main class="waiting">${told} ${failure && html`<p><a href="#/">${t("table.home")}</a></p>`}</main>`;
}
