// Who plays, with cards and state, and the clock: a plate for each seat.

import { useEffect, useState } from "../../vendor/preact-hooks.js";
import { clockAhead } from "../api.js";
import { ownSeat } from "../choose.js";
import { t } from "../lang.js";
import { html } from "../view.js";
import { State, States } from "../seats.js";
import { isShared, nameOf, people } from "../words.js";
import { Back } from "./card.js";
import { Bubble } from "./reactions.js";
import { shapePath } from "./shapes.js";

/** @import {Layout, Table} from "../types.js" */

/**
 * The plates, at fixed places around the board: the class `at-0` is the bottom of the board, and
 * the others follow in turn order.
 *
 * @param {{table: Table, replaying: boolean}} props
 */
export function Players({ table, replaying }) {
  const { game, layout } = table;
  if (!game) return null;
  const who = people(table);
  const count = game.seats.length;
  const own = ownSeat(table);
  const shared = isShared(table) && !replaying && game.phase !== "finished";
  return html`
    <ul class="players" role="list" aria-label=${t("players")}>
      ${game.seats.map((one) => {
        const active = game.to_act.includes(one.seat);
        const mine = own?.team === one.team;
        const timed = active && game.deadline;
        // A clock tells by itself that somebody has to choose.
        const does = replaying ? null : one.folded ? "folded"
          : game.phase === "exchange" && !(timed && one.exchange === "pending") ? one.exchange : null;
        const at = (one.seat - (table.seat ?? 0) + count) % count;
        const name = nameOf(who, one.seat);
        return html`
          <li key=${one.seat} class=${`at-${at}${active ? " active" : ""}${mine ? " mine" : ""}${one.folded ? " folded" : ""}`}
            aria-current=${active ? "true" : undefined}>
            <span class="strip" style=${{ background: layout?.seats[one.seat].colour }}>
              <${Mark} layout=${layout} seat=${one.seat} />
              ${!replaying && html`<span class="cards" aria-label=${t("cards", { n: one.cards })} role="img"><${Back} />${one.cards}</span>`}</span>
            <bdi class="name" dir="auto" title=${name}>${name}</bdi>
            ${mine && one.seat !== table.seat && html`<span class="hidden">${t("seat.partner")}</span>`}
            ${shared && html`<span class="who"><${States} table=${table} seat=${one.seat} /></span>`}
            <${Bubble} table=${table} seat=${one.seat} />
            <span class="note">
              ${does && html`<${State} shape=${does} words=${t(does === "folded" ? "seat.folded" : `exchange.${does}`)} />`}
              ${timed && html` <${Clock} deadline=${timed} />`}</span>
          </li>`;
      })}
    </ul>`;
}

/** The shape and colour of a seat. @param {{layout: Layout | null, seat: number}} props */
export function Mark({ layout, seat }) {
  const one = layout?.seats[seat];
  return one && html`
    <svg class="seat" viewBox="-1.4 -1.4 2.8 2.8" color=${one.colour} aria-hidden="true">
      <path d=${shapePath(one.shape)} stroke-width="0.2" /></svg>`;
}

/** Seconds as a clock shows them, and from a day on as days and hours, whose signs are the same in every language. @param {number} seconds */
export function clockWords(seconds) {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 24) return `${Math.floor(hours / 24)}\u202fd ${hours % 24}\u202fh`;
  const digits = (/** @type {number} */ number) => String(number % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${digits(minutes)}:${digits(seconds)}` : `${minutes}:${digits(seconds)}`;
}

/** The seconds until the server acts. @param {{deadline: string}} props */
export function Clock({ deadline }) {
  const left = () => Math.max(0, Math.ceil((Date.parse(deadline) - Date.now() - clockAhead) / 1000));
  const [now, setNow] = useState(left());
  useEffect(() => {
    setNow(left());
    const timer = setInterval(() => setNow(left()), 500);
    return () => clearInterval(timer);
  }, [deadline]);
  return html`<span role="timer" aria-label=${t("clock")} class=${now <= 10 ? "clock late" : "clock"}>${clockWords(now)}</span>`;
}
