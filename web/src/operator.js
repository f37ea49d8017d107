// What the operator of a server has to say to all, and the question for the key of a closed one.

import { useLayoutEffect, useRef } from "../vendor/preact-hooks.js";
import { setPerson } from "./game.js";
import { t } from "./lang.js";
import { dispatch } from "./store.js";
import { html, submitted } from "./view.js";

/** @import {State} from "./types.js" */

/** A bar above the screen. It is always there, so that a screen reader reads what comes into it. @param {{state: State}} props */
export function Notice({ state: { notice, dismissed } }) {
  const dismiss = () => {
    setPerson({ dismissed: notice ?? "" });
    // The button is gone.
    /** @type {HTMLElement | null} */ (document.querySelector("main :is(a, button:enabled)"))?.focus({ preventScroll: true });
  };
  return html`
    <div class="notice" role="status">${notice && notice !== dismissed && html`
      <p class="grow" tabindex="0" dir="auto">${notice}</p>
      <button type="button" class="quiet" aria-label=${t("close")} title=${t("close")} onClick=${dismiss}>✕</button>`}</div>`;
}

/** @param {{asked: NonNullable<State["asked"]>}} props */
export function KeyQuestion({ asked: { wrong, answer } }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const close = (key = "") => {
    // That gives the focus back.
    dialog.current?.close();
    dispatch({ type: "set", change: { asked: null } });
    answer(key);
  };
  return html`
    <dialog class="key" ref=${dialog} aria-label=${t("key")} onCancel=${() => close()}>
      <form class="fields" onSubmit=${submitted("key", close)}>
        <p class=${wrong && "problem"} role=${wrong && "alert"}>${t(wrong ? "key.wrong" : "code.key_required")}</p>
        <label>${t("key")} <input name="key" required pattern=" *[!-~]+ *" autocomplete="off" autocapitalize="none" spellcheck="false" /></label>
        <div class="buttons"><button type="submit" class="primary">${t("key.use")}</button>
          <button type="button" onClick=${() => close()}>${t("cancel")}</button></div>
      </form>
    </dialog>`;
}
