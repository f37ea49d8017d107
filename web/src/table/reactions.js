// What people say to the table: one of a few words, shown beside their name for a while.

import { ownSeat } from "../choose.js";
import { react, setPerson } from "../game.js";
import { t } from "../lang.js";
import { dispatch, state } from "../store.js";
import { html, once, useTimer } from "../view.js";
import { isShared } from "../words.js";
import { Sheet } from "./advice.js";

/** @import {Table} from "../types.js" */

const REACTIONS = ["well_played", "thanks", "sorry", "ouch", "lucky", "one_moment", "good_game", "dog"];
/** Milliseconds for which a reaction is shown. */
const SHOWN = 4000;

/** Why the player cannot react now, in words. @param {Table} table */
export function whyNoReaction(table) {
  const { game } = table;
  const own = ownSeat(table);
  if (!game?.reactions) return t("reason.reactions_off");
  if (own?.kind !== "human") return t("reason.bot_plays.you");
  if (own.stand_in) return t("reason.stand_in_plays");
  return ["deal", "exchange"].includes(game.phase) ? t("react.signal") : null;
}

/** The button that shows what can be said. @param {{table: Table, explain?: () => void}} props `explain` says why nothing can be */
export function ReactButton({ table, explain }) {
  if (!isShared(table)) return null;
  const why = whyNoReaction(table);
  return html`
    <button type="button" class="react" aria-label=${t("react")} title=${why ?? t("react")} aria-disabled=${why ? "true" : undefined}
      onClick=${why ? explain : () => dispatch({ type: "table", change: { reacting: true } })}>
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 4h18v12H11l-6 5v-5H3z" /></svg></button>`;
}

/** What can be said. @param {{table: Table}} props */
export const Reactions = ({ table }) => table.reacting && html`
  <${Sheet} name=${t("react")} close=${() => dispatch({ type: "table", change: { reacting: false } })}>
    <div class="reactions">
      ${REACTIONS.map((name) => html`
        <button type="button" key=${name} onClick=${once(() => react(name))}>${t(`reaction.${name}`)}</button>`)}
    </div>
    <label class="mute"><input type="checkbox" checked=${state.muted}
      onChange=${() => setPerson({ muted: !state.muted })} /> ${t("react.mute")}</label>
  <//>`;

/** What a seat has just said. @param {{table: Table, seat: number}} props */
export function Bubble({ table, seat }) {
  const said = table.reactions.find((one) => one.seat === seat);
  useTimer(() => dispatch({ type: "reaction over", key: said?.key ?? 0 }), said ? SHOWN : null, [said?.key]);
  // A screen reader reads it in the log of the table.
  return said && !state.muted && html`<span class="bubble" aria-hidden="true">${t(`reaction.${said.reaction}`)}</span>`;
}
