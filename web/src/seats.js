// The seats of a table: who is there, and what the host can do.

import { inviteAgain, letBotPlay, seatInvitation } from "./people.js";
import { t } from "./lang.js";
import { Reveal, Share } from "./share.js";
import { state } from "./store.js";
import { html } from "./view.js";
import { nameOf, people, presenceWords, statesOf } from "./words.js";
import { STATE_SHAPES } from "./table/shapes.js";

/** @import {Table} from "./types.js" */

/** Who or what is at a seat, in words and shapes. @param {{table: Table, seat: number}} props */
export const States = ({ table, seat }) => html`${statesOf(table, seat).map((one) => html`
  <span key=${one} class=${`state ${one}`}>
    <svg viewBox="-1.2 -1.2 2.4 2.4" aria-hidden="true"><path d=${STATE_SHAPES[one]} /></svg>
    ${t(`state.${one}`)}</span>`)}`;

/** Whether the game waits for a person who may not come. @param {Table} table @param {number} seat */
export function isMissing(table, seat) {
  const one = table.game?.seats[seat];
  return one?.kind === "human" && seat !== table.seat
    && (one.away || one.asked === false || table.presence?.[seat] === false);
}

/** What the host can do with a seat. @param {{table: Table, seat: number}} props */
export function HostButtons({ table, seat }) {
  const one = table.game?.seats[seat];
  if (!one || !table.hostToken || seat === table.seat || table.game?.phase === "finished") return null;
  const name = nameOf(people(table), seat);
  const invitation = seatInvitation(table, seat);
  // A person who is there loses the seat only after a bot plays it.
  const free = one.kind === "bot" || (one.kind === "open" && !invitation) || isMissing(table, seat);
  const bot = one.kind !== "bot";
  /** @param {string} words @param {() => void} press */
  const button = (words, press) => html`
    <button type="button" disabled=${table.sending} aria-label=${t("seat.button", { button: t(words), name })}
      onClick=${press}>${t(words)}</button>`;
  return html`
    ${invitation && html`
      <${Reveal} name=${t("seat.link", { name })}>
        <${Share} path=${`/join/${table.id}/${invitation}`} name=${t("share.seat", { name })} addresses=${state.addresses} />
      <//>`}
    ${free && button(one.kind === "bot" && !one.joined ? "invite" : "invite again", () => inviteAgain(seat))}
    ${bot && button("bot plays", () => letBotPlay(seat))}`;
}

/** Where somebody is missing, the host decides. @param {{table: Table}} props */
export function Missing({ table }) {
  const { game, hostToken } = table;
  const missing = hostToken ? game?.seats.filter((one) => isMissing(table, one.seat)) ?? [] : [];
  if (missing.length === 0) return null;
  return html`
    <div class="missing">
      ${missing.map(({ seat, name }) => html`
        <p key=${seat}>${t("missing", { name, states: presenceWords(table, seat) })}</p>
        <div class="buttons"><${HostButtons} table=${table} seat=${seat} /></div>`)}
    </div>`;
}
