// Before the game, and for somebody with an invitation: who sits where, taking a seat, the links
// for the others, and the start.

import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { ownSeat, teamsOf } from "./choose.js";
import { deal, go } from "./game.js";
import { list, t } from "./lang.js";
import { comeBack, giveUp, leave, opensToAny, rename, resumeJoin, seatsToTake, start, takeSeat } from "./people.js";
import { HostButtons, States, isMissing } from "./seats.js";
import { OtherDevice, Share } from "./share.js";
import { state } from "./store.js";
import { cutName, html, submitted, useTimer } from "./view.js";
import { latestWords, nameOf, people, problemWords } from "./words.js";
import { Bar, Lost } from "./table/bar.js";
import { Clock, Mark } from "./table/players.js";

/** @import {Game, Table} from "./types.js" */

/** Milliseconds between a join without an answer and the next attempt. */
const RESUME = 2000;

/** Whether the table waits for people, or the reader has an invitation to it. @param {Table} table */
export function isSeating({ game, seat, joining }) {
  if (!game || game.phase === "finished") return false;
  return game.phase === "seating" || (joining && seat === null)
    // Everybody is there, and no round was dealt.
    || (game.phase === "deal" && game.round === 1 && game.seats.some((one) => one.joined));
}

/** Whether the people of another game sit down again. @param {Game} game */
const isRematch = (game) => game.seats.some((one) => typeof one.asked === "boolean");

/** @param {{table: Table}} props */
export function SeatingScreen({ table }) {
  const { game, seat } = table;
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    document.title = "DOG";
    scrollTo(0, 0);
  }, []);
  // The button that took or gave up the seat is gone.
  useEffect(() => {
    if (document.activeElement === document.body) title.current?.focus({ preventScroll: true });
  }, [seat]);
  // If the answer to a join is lost, the log shows that it happened.
  useTimer(resumeJoin, RESUME, [table.log, table.sending]);
  if (!game) return null;
  const guest = seat === null && !table.hostToken;
  return html`
    <main class="seating">
      <${Bar} table=${table} seating />
      <${Lost} table=${table} />
      <h2 tabindex="-1" ref=${title}>${guest && table.joining ? invitedWords(table) : t("seating.title")}</h2>
      <div role="status" aria-label=${t("status")} class="status">
        <p class="happened">${latestWords(table)}</p>
        <p class="todo">${seatingWords(table)}</p>
        ${game.bots_at && game.phase === "seating" && Date.parse(game.bots_at) > Date.parse(game.updated_at) && html`
          <p>${t(isRematch(game) ? "seating.bots.late" : "seating.bots")} <${Clock} deadline=${game.bots_at} /></p>`}
        ${table.problem && html`<p class="problem">${problemWords(table.problem, people(table))}</p>`}
      </div>
      <${Join} table=${table} />
      ${guest && html`<p class="how"><a href="#/learn" target="_blank">${t("home.learn")}</a></p>`}
      ${guest && table.joining && seatsToTake(table).length === 0 && html`
        <div class="buttons"><button type="button" class="primary" onClick=${() => go(table.id)}>${t("home.watch.go")}</button></div>`}
      <${ForAll} table=${table} />
      <${Teams} table=${table} />
      <${Buttons} table=${table} />
      ${seat !== null && table.token && html`
        <${Name} key=${game.seats[seat].name} name=${game.seats[seat].name} table=${table} />
        <${OtherDevice} id=${table.id} seat=${seat} token=${table.token} />`}
    </main>`;
}

/** Who invites the reader: whoever sat down first. @param {Table} table */
function invitedWords({ invitation, log }) {
  if (!invitation) return t("tables.take");
  const first = log.flatMap(({ events }) => events).find((event) => event.type === "seat_taken");
  return first?.type === "seat_taken" ? t("seating.invites", { name: first.name }) : t("seating.invited");
}

/** What the reader has to do, or whom the table waits for. @param {Table} table @returns {string} */
function seatingWords(table) {
  const { game, seat, hostToken, invitation } = table;
  if (!game) return "";
  if (table.sending) return t("do.sending");
  const who = people(table);
  const free = game.seats.filter((one) => one.kind === "open");
  if (seat === null && !hostToken) {
    const offered = seatsToTake(table);
    if (offered.length > 0) return t(game.phase === "seating" ? "seating.sit" : "seating.sit.late");
    if (table.lostSeat) return t("table.lost-seat");
    // What the invitation opens is known once the log is there.
    if (invitation && table.log[0]?.version !== 1) return t("do.wait");
    const own = /^\d/.test(invitation ?? "") ? game.seats[Number.parseInt(invitation ?? "", 10)] : null;
    if (own) return t("seating.taken", { name: own.name });
    if (table.joining) return t(free.length === 0 ? "seating.full" : "seating.by-invitation");
  }
  if (game.phase === "seating") {
    const awaited = game.seats.filter((one) => one.asked === false && one.seat !== seat);
    const stay = seat !== null && !hostToken ? ` ${t("seating.stay")}` : "";
    if (free.length > 0) return t("seating.waiting", { n: free.length }) + stay;
    return t("seating.awaited", { names: list(awaited.map((one) => nameOf(who, one.seat))) });
  }
  if (game.start === "full") return t("seating.full.starts");
  if (hostToken) return t("seating.start");
  if (game.dealer === seat) return t("seating.deal");
  return t("seating.others", { name: nameOf(who, game.dealer ?? 0) });
}

/** The name of somebody who can sit down, and the button for the seat that comes next. @param {{table: Table}} props */
function Join({ table }) {
  const offered = seatsToTake(table);
  const [name, setName] = useState(state.name);
  if (offered.length === 0) return null;
  const { refused } = table;
  const words = refused === "no name" ? t("name.missing") : refused && problemWords(refused, people(table));
  const only = offered.length === 1 ? offered[0].seat : null;
  return html`
    <form class="join" onSubmit=${submitted("name", (typed) => takeSeat(typed, only))}>
      <label>${t("name")}
        <input id="name" name="name" value=${name} autocomplete="nickname" autocapitalize="words"
          aria-invalid=${refused === "no name" ? "true" : "false"} aria-describedby=${words ? "refused" : undefined}
          onInput=${(/** @type {Event} */ event) => setName(cutName(event))} /></label>
      ${words && html`<p class="problem" role="alert" id="refused">${words}</p>`}
      <button class="primary big" disabled=${table.sending}>${t("sit")}</button>
      ${offered.length > 1 && html`<p class="small">${t("sit.choose")}</p>`}
    </form>`;
}

/** Who sits where, by teams. @param {{table: Table}} props */
function Teams({ table }) {
  const { game, layout, seat } = table;
  if (!game) return null;
  const who = people(table);
  const offered = seatsToTake(table);
  const choosing = offered.length > 1;
  return html`
    <ul class="teams">
      ${teamsOf(game.seats.length).map((team, index) => html`
        <li key=${index}>
          <p class="small">${t("seating.team", { n: index + 1 })}</p>
          <ul>
            ${team.map((one) => game.seats[one]).map((one) => html`
              <li key=${one.seat} class=${one.kind === "open" ? "free" : ""}>
                <${Mark} layout=${layout} seat=${one.seat} />
                <bdi class="name">${one.kind === "open" ? t("seat.n", { n: one.seat + 1 }) : one.name}</bdi>
                ${one.seat === seat && html`<span class="small">(${t("you")})</span>`}
                <${States} table=${table} seat=${one.seat} />
                ${one.asked && html`<span class="small">${t("seating.asked")}</span>`}
                <span class="actions">
                  ${choosing && offered.includes(one) && html`
                    <button type="button" disabled=${table.sending}
                      aria-label=${t("seat.button", { button: t("sit.here"), name: nameOf(who, one.seat) })}
                      onClick=${() => takeSeat(typedName(), one.seat)}>${t("sit.here")}</button>`}
                  ${(one.kind !== "human" || isMissing(table, one.seat)) && html`
                    <${HostButtons} table=${table} seat=${one.seat} />`}
                </span>
              </li>`)}
          </ul>
        </li>`)}
    </ul>`;
}

/** The name in the form. */
function typedName() {
  const input = document.getElementById("name");
  return input instanceof HTMLInputElement ? input.value.trim() : "";
}

/** @param {{table: Table}} props */
function Buttons({ table }) {
  const { game, seat, hostToken, sending } = table;
  const [leaving, setLeaving] = useState(false);
  const cancel = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => cancel.current?.focus(), [leaving]);
  if (!game) return null;
  const free = game.seats.filter((one) => one.kind === "open").length;
  const late = game.seats.filter((one) => one.asked === false && one.seat !== seat);
  // A rematch can go on without the one who leaves; elsewhere the seat is for somebody else.
  const again = isRematch(game);
  const nobody = again && game.seats.every((one) => one.kind !== "human" || one.asked === false);
  const own = ownSeat(table);
  return html`
    ${hostToken && free > 0 && html`<p>${t("start.bots", { n: free })}</p>`}
    ${hostToken && late.length > 0 && html`<p>${t("start.late", { names: list(late.map((one) => one.name)) })}</p>`}
    ${leaving && html`<p role="alert">${t(again ? "leave.about" : "give up.about")}</p>`}
    <div class="buttons">
      ${leaving ? null : hostToken ? html`<button type="button" class="primary" disabled=${sending || nobody} onClick=${start}>${t("start")}</button>`
        : game.phase === "deal" && game.start === "host" && game.dealer === seat
          && html`<button type="button" class="primary" disabled=${sending} onClick=${deal}>${t("deal")}</button>`}
      ${own && !leaving && (own.kind === "bot"
        ? html`<button type="button" disabled=${sending} onClick=${comeBack}>${t("take back")}</button>`
        : html`<button type="button" disabled=${sending} onClick=${() => setLeaving(true)}>${t("leave")}</button>`)}
      ${leaving && html`
        <button type="button" class="danger" disabled=${sending} onClick=${again ? leave : giveUp}>${t(again ? "leave" : "give up")}</button>
        <button type="button" ref=${cancel} onClick=${() => setLeaving(false)}>${t("cancel")}</button>`}
    </div>`;
}

/** The link with which anybody takes a free seat. @param {{table: Table}} props */
function ForAll({ table }) {
  const { game, id, invitations } = table;
  if (!game) return null;
  const free = game.seats.filter((one) => one.kind === "open");
  const path = game.join === "anyone" ? free.length > 0 && `/join/${id}`
    : invitations?.any && free.some((one) => opensToAny(table, one)) && `/join/${id}/${invitations.any}`;
  if (!path || (table.seat === null && !table.hostToken)) return null;
  return html`
    <section class="invite">
      <h3>${t("share.title")}</h3>
      <${Share} path=${path} name=${t("share.all")} addresses=${state.addresses} />
    </section>`;
}

/** The person's name at the table, to change. @param {{table: Table, name: string}} props */
function Name({ table, name }) {
  return html`
    <form class="row" onSubmit=${submitted("name", rename)}>
      <label class="grow">${t("name")} <input name="name" value=${name} onInput=${cutName} autocomplete="nickname" /></label>
      <button disabled=${table.sending}>${t("name.change")}</button>
    </form>`;
}
