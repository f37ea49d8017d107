// The seats of a table: who is there, and what the host can do.

import { inviteAgain, letBotPlay, seatInvitation } from "./people.js";
import { list, t } from "./lang.js";
import { Reveal, Share } from "./share.js";
import { state } from "./store.js";
import { html } from "./view.js";
import { nameOf, people, statesOf } from "./words.js";
import { STATE_SHAPES } from "./table/shapes.js";

/** @import {Table} from "./types.js" */

/** A state in words and as a shape: where there is no room for the words, they are for a screen reader. @param {{shape: string, words: string}} props */
export const State = ({ shape, words }) => html`
  <span class="state" title=${words}>
    <svg viewBox="-1.2 -1.2 2.4 2.4" aria-hidden="true"><path d=${STATE_SHAPES[shape]} /></svg>
    ${words}</span>`;

/** Who or what is at a seat. @param {{table: Table, seat: number}} props */
export const States = ({ table, seat }) =>
  html`${statesOf(table, seat).map((one) => html`<${State} key=${one} shape=${one} words=${t(`state.${one}`)} />`)}`;

/** The people at a table, and how many bots. @param {{seats: {kind: string, name: string}[]}} props */
export const Names = ({ seats }) => html`<bdi><strong>${tableWords(seats)}</strong></bdi>`;

/** The people at a table, and how many bots, in words. @param {{kind: string, name: string}[]} seats */
export function tableWords(seats) {
  const people = seats.filter((one) => one.kind === "human").map((one) => one.name);
  const bots = seats.filter((one) => one.kind === "bot").length;
  return list([...people, ...(bots > 0 ? [t("bots", { n: bots })] : [])]) || t("tables.nobody");
}

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
      <${Reveal} key=${invitation} name=${t("seat.link", { name })} shown=${table.game?.phase !== "seating"}>
        <${Share} path=${`/join/${table.id}/${invitation}`} name=${t("share.seat", { name })} addresses=${state.addresses} />
      <//>`}
    ${free && button(one.kind === "bot" && !one.joined ? "invite" : "invite again", () => inviteAgain(seat))}
    ${bot && button("bot plays", () => letBotPlay(seat))}`;
}

/** Whether the game needs the host for a seat: its person is missing, or somebody is to be invited. @param {Table} table @param {number} seat */
const needsHost = (table, seat) => isMissing(table, seat) || table.game?.seats[seat].kind === "open";

/** What the host has to decide. @param {{table: Table}} props */
export function Missing({ table }) {
  const seats = table.hostToken ? table.game?.seats.filter((one) => needsHost(table, one.seat)) ?? [] : [];
  if (seats.length === 0) return null;
  return html`
    <div class="missing people">
      <p>${t("missing")}</p>
      <ul>${seats.map(({ seat }) => html`<${Row} key=${seat} table=${table} seat=${seat} buttons />`)}</ul>
    </div>`;
}

/** Everybody at the table, with what the host can do with the others. @param {{table: Table}} props */
export const Everybody = ({ table }) => html`
  <ul>
    ${table.game?.seats.map(({ seat }) => html`
      <${Row} key=${seat} table=${table} seat=${seat} buttons=${!needsHost(table, seat)} />`)}
  </ul>`;

/** @param {{table: Table, seat: number, buttons: boolean}} props */
const Row = ({ table, seat, buttons }) => html`
  <li>
    <bdi class="name">${nameOf(people(table), seat)}</bdi>
    <${States} table=${table} seat=${seat} />
    <span class="actions">${buttons && html`<${HostButtons} table=${table} seat=${seat} />`}</span>
  </li>`;
