// Leaving a game that is being played: the page asks first.

import { useEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { ownSeat } from "../choose.js";
import { forget, go } from "../game.js";
import { loadScreen, t } from "../lang.js";
import { leave, letBotsFinish } from "../people.js";
import { html, Later, once } from "../view.js";
import { isShared } from "../words.js";

/** @import {Table} from "../types.js" */

const loadForfeit = async () => (await loadScreen("./finished/forfeit.js", () => import("../finished/forfeit.js"))).Forfeit;

/** @param {{table: Table}} props */
export function Leave({ table }) {
  const { id, game, sending } = table;
  const [asking, setAsking] = useState(false);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const asked = useRef(false);
  // The last button changes nothing; then the focus goes back.
  useEffect(() => {
    const buttons = root.current?.querySelectorAll("button");
    if (asking || asked.current) buttons?.[buttons.length - 1]?.focus();
    asked.current = asking;
  }, [asking]);
  const close = () => setAsking(false);
  const plays = ownSeat(table)?.kind === "human" && game?.phase !== "finished";
  useEffect(close, [plays]);
  const forfeits = ownSeat(table)?.gives_up !== undefined;
  // The log needs its words.
  useEffect(() => { if (forfeits) loadForfeit().catch(() => {}); }, [forfeits]);
  if (!plays) return null;
  /** @param {string} name @param {() => void} press @param {string} [kind] */
  const button = (name, press, kind = "") => html`
    <button type="button" class=${kind} disabled=${sending} onClick=${once(press)}>${t(name)}</button>`;
  const answers = isShared(table) ? button("leave", leave, "danger") : html`
    ${button("leave.keep", () => go(null), "primary")}
    ${button("leave.finish", letBotsFinish)}
    ${button("leave.remove", () => {
      forget(id);
      go(null);
    }, "danger")}`;
  return html`
    <div class="leaving" ref=${root} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
      if (!asking || event.key !== "Escape") return;
      event.stopPropagation();
      close();
    }}>
      ${asking ? html`
        <div class="question" role="alertdialog" aria-labelledby="leaving">
          <p id="leaving">${t(isShared(table) ? "leave.about" : "leave.bots")}</p>
          ${answers}
          ${forfeits && html`<${Later} part load=${loadForfeit} table=${table} />`}
          ${button("cancel", close)}
        </div>` : html`
        <button type="button" class="leave" disabled=${sending} onClick=${() => setAsking(true)}>${t("leave")}</button>`}
    </div>`;
}
