// Preact with templates, and the words of the reader's language.

import { h } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

/** @import {VNode} from "../vendor/preact.js" */

/** @type {(strings: TemplateStringsArray, ...values: unknown[]) => VNode} */
export const html = htm.bind(/** @type {any} */ (h));
