// Opens a record from a file: the server replays it, and the page shows it like any finished game.

import { useRef, useState } from "../vendor/preact-hooks.js";
import { problemOf, request } from "./api.js";
import { addressOf } from "./game.js";
import { t } from "./lang.js";
import { html } from "./view.js";
import { problemWords } from "./words.js";

/** @import {Created, Failure} from "./types.js" */

/** Bytes that a record has at most. */
const LONGEST = 1 << 20;

export function OpenRecord() {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Failure | null} */ (null));
  /** @param {Event} event */
  const open = async ({ currentTarget }) => {
    const input = /** @type {HTMLInputElement} */ (currentTarget);
    const file = input.files?.[0];
    if (!file) return;
    setProblem(null);
    try {
      // What is longer is not sent.
      const record = file.size > LONGEST ? "" : await file.text();
      /** @type {Created} */
      const { id } = await request("POST", "/v1/games/import", { body: { record, listed: false } });
      location.hash = addressOf(id, 1);
    } catch (error) {
      setProblem(problemOf(error));
    }
    // The same file can be chosen again.
    input.value = "";
  };
  return html`
    <button type="button" onClick=${() => field.current?.click()}>${t("record.open")}</button>
    <input type="file" hidden ref=${field} aria-label=${t("record.open")} onChange=${open} />
    ${problem && html`<p class="problem" role="alert">${problemWords(problem, { names: [], me: null })}</p>`}`;
}
