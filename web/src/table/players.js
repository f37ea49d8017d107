// Who plays, with cards and state, and the clock.

import { useEffect, useState } from "../../vendor/preact-hooks.js";
import { clockAhead } from "../api.js";
import { t } from "../lang.js";
import { html } from "../view.js";
import { States } from "../seats.js";
import { isShared, nameOf, people } from "../words.js";
import { shapePath } from "./shapes.js";

/** @import {Layout, Table} from "../types.js" */

/** @param {{table: Table, replaying: boolean}} props */
export function Players({ table, replaying }) {
  const { game, layout } = table;
  if (!game) return null;
  const who = people(table);
  const half = game.seats.length / 2;
  const shared = isShared(table) && !replaying && game.phase !== "finished";
  return html`
    <ul class="players" aria-label=${t("players")}>
      ${game.seats.map((one) => {
        const active = game.to_act.includes(one.seat);
        const mine = table.seat !== null && one.seat % half === table.seat % half;
        const state = replaying ? "" : one.folded ? t("seat.folded")
          : game.phase === "exchange" && one.exchange ? t(`exchange.${one.exchange}`) : "";
        return html`
          <li key=${one.seat} class=${`${active ? "active " : ""}${mine ? "mine" : ""}`}
            aria-current=${active ? "true" : undefined}>
            <${Mark} layout=${layout} seat=${one.seat} />
            <bdi class="name">${nameOf(who, one.seat)}</bdi>
            <span class="small">
              ${!replaying && html`
                <span class="cards" aria-label=${t("cards", { n: one.cards })} role="img">▮${one.cards}</span>`}
              ${mine && one.seat !== table.seat && html` <span>${t("seat.partner")}</span>`}
              ${shared && html`<${States} table=${table} seat=${one.seat} />`}
              ${state && html` <span>${state}</span>`}
              ${active && game.deadline && html` <${Clock} deadline=${game.deadline} />`}
            </span>
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

/** The seconds until the server acts. @param {{deadline: string}} props */
export function Clock({ deadline }) {
  const left = () => Math.max(0, Math.ceil((Date.parse(deadline) - Date.now() - clockAhead) / 1000));
  const [now, setNow] = useState(left());
  useEffect(() => {
    setNow(left());
    const timer = setInterval(() => setNow(left()), 500);
    return () => clearInterval(timer);
  }, [deadline]);
  const minutes = Math.floor(now / 60);
  return html`<span role="timer" aria-label=${t("clock")} class=${now <= 10 ? "clock late" : "clock"}>
    ${minutes}:${String(now % 60).padStart(2, "0")}</span>`;
}
