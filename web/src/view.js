// Preact with templates, and the words of the reader's language.

import { h } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

/** @import {VNode} from "../vendor/preact.js" */

/**
 * A handler that takes a double click for one: its second click is not for what the first one changed.
 *
 * @param {() => void} press
 */
export const once = (press) => (/** @type {UIEvent} */ event) => { if (event.detail < 2) press(); };

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => VNode} */
export const html = htm.bind(/** @type {any} */ (h));
