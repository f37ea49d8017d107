// Giving up: the game is lost once both partners have said so.

import { request } from "../api.js";
import { ownSeat, partnerOf } from "../choose.js";
import { act, show } from "../game.js";
import { t } from "../lang.js";
import { at } from "../store.js";
import { html, once } from "../view.js";

/** @import {Changed, Table} from "../types.js" */

/** Gives up, or takes that back. @param {boolean} offered */
const forfeit = (offered) => act(async (table) => {
  /** @type {Changed} */
  const changed = await request("POST", `/v1/games/${table.id}/forfeit`, { token: table.token, body: { forfeit: offered } });
  at(table, () => show(changed));
});

/** What the team has said, and what the reader can say. @param {{table: Table}} props */
export function Forfeit({ table }) {
  const { game, sending } = table;
  const own = ownSeat(table);
  if (!game || !own) return null;
  const partner = game.seats[partnerOf(own.seat, game.seats.length)];
  const has = own.gives_up ? "own" : partner.gives_up ? "partner" : partner.kind === "human" && !partner.away ? "both" : "alone";
  return html`
    <p>${t(`forfeit.${has}`, { name: partner.name })}</p>
    <button type="button" class=${own.gives_up ? "" : "danger"} disabled=${sending}
      onClick=${once(() => forfeit(!own.gives_up))}>${t(own.gives_up ? "forfeit.back" : "forfeit")}</button>`;
}
