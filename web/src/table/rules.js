// A button that opens the rules: what is played here, and what the sheets say.

import { useLayoutEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { loadScreen, t } from "../lang.js";
import { Later, html } from "../view.js";

/** @import {Rules} from "../types.js" */

const loadPage = async () => (await loadScreen("./rules/page.js", () => import("../rules/page.js"))).RulesPage;

/**
 * @param {{rules: Rules | null, name?: string, kind?: string, children?: unknown}} props `rules` of a table, `name` of
 *   the button where it is not its text
 */
export function RulesButton({ rules, name, kind, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  // A key in the dialog is not for the table.
  const keep = (/** @type {Event} */ event) => event.stopPropagation();
  return html`
    <button type="button" class=${kind} aria-label=${name} title=${name} onClick=${() => setOpen(true)}>${children}</button>
    <dialog class="rules" ref=${dialog} aria-label=${t("rules.title")} onClose=${() => setOpen(false)} onKeyDown=${keep}>
      ${isOpen && html`
        <header><button type="button" class="close" onClick=${() => dialog.current?.close()}>${t("close")}</button></header>
        <${Later} part load=${loadPage} rules=${rules} />`}
    </dialog>`;
}
