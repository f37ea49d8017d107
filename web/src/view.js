// Preact with templates, and the words of the reader's language.

import { h } from "../vendor/preact.js";
import { useEffect, useState } from "../vendor/preact-hooks.js";
import htm from "../vendor/htm.js";
import { t } from "./lang.js";

/** @import {VNode} from "../vendor/preact.js" */

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

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => VNode} */
export const html = htm.bind(/** @type {any} */ (h));

/**
 * A screen, or a part of one, whose code is loaded when it is opened.
 *
 * @param {{load: () => Promise<(props: any) => VNode | null>, part?: boolean}} props the others are those of the screen
 */
export function Later({ load, part = false, ...props }) {
  const [screen, setScreen] = useState(/** @type {{view: (props: any) => VNode | null} | null} */ (null));
  const [failed, setFailed] = useState(0);
  useEffect(() => {
    load().then((view) => setScreen({ view }), () => setFailed(failed + 1));
  }, [load]);
  if (screen) return html`<${screen.view} ...${props} />`;
  if (part) return failed > 0 && html`<p role="alert">${t("problem.network")}</p>`;
  return html`
    <main class="waiting">
      <p role="status">${t(failed ? "problem.network" : "do.wait")}</p>
      ${failed > 0 && html`<p><a href="#/">${t("table.home")}</a></p>`}
    </main>`;
}
