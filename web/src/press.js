// Answers a touch at once: what is pressed is marked until the finger is lifted, or scrolls.

import { state } from "./store.js";
import { clicking } from "./table/sounds.js";

/** @type {Element | null} */
let pressed = null;

/** @param {Element | null} next */
function mark(next) {
  pressed?.removeAttribute("data-pressed");
  pressed = next;
  pressed?.setAttribute("data-pressed", "");
}

addEventListener("pointerdown", ({ target }) => {
  mark(/** @type {Element} */ (target).closest("button:not(:disabled), summary, a, select"));
  // Before the first press, a browser refuses.
  if (pressed && state.sound && navigator.userActivation?.hasBeenActive !== false) clicking();
}, true);
for (const type of ["pointerup", "pointercancel"]) addEventListener(type, () => mark(null), true);
