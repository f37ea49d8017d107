// What to do, the hand and the buttons: within reach of the thumb on a phone.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact-hooks.js";
import { problemOf } from "../api.js";
import { canUndo, chosenCard, isForfeited, nextStep, ownSeat, playable } from "../choose.js";
import { chooseCard, chooseRank, choose, deal, exchange, hint, play, skipToDeal, undo } from "../game.js";
import { loadScreen, t } from "../lang.js";
import { comeBack } from "../people.js";
import { Missing } from "../seats.js";
import { saveCoached, savedCoached, savedGames } from "../storage.js";
import { dispatch, state } from "../store.js";
import { Later, LoadAgain, html, once, useTimer } from "../view.js";
import { cardName, doesWords, eventWords, lateWords, nameOf, newsWords, people, problemWords, theCard, whatToDo, whyUnplayable, wonWords } from "../words.js";
import { Hint, Why, declineKey, hintedCard } from "./advice.js";
import { animateCard } from "./animate.js";
import { Lost } from "./bar.js";
import { CardButton, SmallCard } from "./card.js";
import { ReactButton, Reactions, whyNoReaction } from "./reactions.js";

/** @import {ReplayStep, Table} from "../types.js" */

/** How many lines of what happened are kept for a screen reader, which reads each new one. */
const LINES = 5;
/** Milliseconds until the page says that it waits for the server. */
const SLOW = 1000;
/** Milliseconds until the table has all that it needs now. */
const SETTLED = 5000;

/** With as many of its eight pieces home, a team was close. */
const CLOSE = 5;

const loadFinished = async () => (await loadScreen("./finished/finished.js", () => import("../finished/finished.js"))).Finished;

/** @param {{table: Table, step: ReplayStep | null}} props `step` of a replay */
export function Dock({ table, step }) {
  const { game, seat } = table;
  // What the player asked about, a card or why nobody reacts, and when: an answer is for one hand, turn and choice.
  const [asked, ask] = useState({ when: "", what: /** @type {number | "react"} */ (-1) });
  // The end is loaded before it comes: the server may have another version by then.
  useTimer(() => loadFinished().then(undefined, problemOf), SETTLED, []);
  if (!game) return null;
  const hand = ownSeat(table)?.hand ?? [];
  const when = `${game.round} ${hand.join()} ${game.turn === seat} ${table.choice.card}`;
  const what = asked.when === when ? asked.what : -1;
  const silence = what === "react" ? whyNoReaction(table) : null;
  const card = hand[table.choice.card ?? (what === "react" ? -1 : what)];
  const about = silence ? { words: silence } : card && !table.choice.confirm && table.choice.seven.length < 2 ? does(table, card) : null;
  // A screen reader has read it in the log.
  const late = about || table.problem || seat === null || game.phase === "finished" ? null : lateWords(people(table), table.log);
  return html`
    <section class=${nextStep(table).stage === "rank" ? "dock ranking" : "dock"}>
      ${game.phase === "finished" && table.replay === null && html`<h2 tabindex="-1" data-result>${wonWords(people(table), game.winner ?? 0)}</h2>`}
      <div class="news">
        <${Lost} table=${table} />
        <${Happened} table=${table} />
        ${late && html`<p class="overdue" aria-hidden="true">${late}</p>`}
        <${Status} table=${table} about=${about} />
        ${!about && !late && !table.problem && html`<${Coach} table=${table} />`}
      </div>
      ${game.phase === "finished" ? html`
        <div class="finished">
          <${Later} part load=${loadFinished} table=${table} step=${step} />
        </div>`
        : seat === null ? html`<p class="small">${t("table.watching")}</p>` : html`
          <${Hint} table=${table} />
          <${Ranks} table=${table} />
          <${Hand} table=${table} ask=${(/** @type {number} */ index) => ask({ when, what: index })} />
          <${Why} table=${table} />
          <${Buttons} table=${table} explain=${() => ask({ when, what: "react" })} />
          <${Reactions} table=${table} />
          <${Given} table=${table} />`}
      <${Missing} table=${table} />
    </section>`;
}

/** Why a card cannot be played, if the server has said so. @param {Table} table @param {string} card */
function whyNot(table, card) {
  const unplayable = table.unplayable?.find((one) => one.card === card);
  return unplayable && t("does.not", { why: whyUnplayable(unplayable, people(table)) });
}

/** What a card can do, and why it cannot be played now. @param {Table} table @param {string} card */
export function does(table, card) {
  const can = doesWords(card, table.game?.rules);
  const why = whyNot(table, card);
  // A card that was chosen is seen.
  return { words: table.choice.card === null ? t("fold.why", { cards: cardName(card), why: can }) : can, why };
}

/** What is said of a card, and why it cannot be played. @typedef {{words: string, why?: string | null}} About */

/** @param {About} props */
export const Does = ({ words, why }) => html`<p class=${why ? "does why" : "does"}>${words}${why && ` ${why}`}</p>`;

/** The cards that bring a piece out, the first choice first. */
const OUT = ["K", "A", "joker"];

/** What this hand asks for, for a newcomer: the name of the line, and its words. @param {Table} table @returns {[string, string] | null} */
function coachLine(table) {
  const { game, moves } = table;
  const step = nextStep(table);
  const own = ownSeat(table);
  if (step.stage === "exchange" && step.choices.includes("card")) {
    const out = (own?.hand ?? []).filter((card) => OUT.includes(card));
    const key = ["none", "one"][out.length] ?? "more";
    return ["give", t(`coach.give.${key}`, { card: theCard(out[0] ?? ""), n: out.length })];
  }
  if (step.stage === "card") {
    // The plainest card that does it.
    const list = [...moves?.list ?? []].sort((a, b) => OUT.indexOf(a.card ?? "") - OUT.indexOf(b.card ?? ""));
    const out = list.find(({ kind }) => kind === "leave_kennel");
    const goal = list.find(({ parts }) => parts.some(({ from, to }) => to.startsWith("goal:") && !from.startsWith("goal:")));
    const captures = list.find((one) => one.captures.length === 1 && game?.seats[one.captures[0].seat].team !== own?.team);
    const [key, move] = out ? ["out", out] : goal ? ["goal", goal] : ["capture", captures];
    return move ? [key, t(`coach.${key}`, { card: theCard(move.card ?? ""), name: people(table).names[move.captures[0]?.seat ?? 0] })] : null;
  }
  if (game?.phase !== "play" || !own?.folded) return null;
  return ["fold", t(game.board[own.seat].track.length > 0 ? "coach.fold.other" : "coach.fold")];
}

/** A line for the first game in this browser, until it is dismissed for good. @param {{table: Table}} props */
function Coach({ table }) {
  const isFirst = useMemo(() => savedGames().every(({ id }) => id === table.id), [table.id]);
  const [dismissed, dismiss] = useState(savedCoached);
  const [key, words] = coachLine(table) ?? ["", ""];
  if (!isFirst || words === "" || dismissed.includes(key)) return null;
  const press = () => {
    saveCoached(key);
    dismiss(savedCoached);
    // The button is gone.
    /** @type {HTMLElement | null} */ (document.querySelector(".hand"))?.focus();
  };
  return html`
    <div class="coach" role="note" id="coach"><p>${words}</p>
      <button type="button" aria-label=${t("coach.dismiss")} title=${t("coach.dismiss")} onClick=${press}>✕</button></div>`;
}

/** What has happened, the newest last: only that one is in sight. @param {{table: Table}} props */
function Happened({ table }) {
  const who = people(table);
  const lines = table.log.slice(-LINES).flatMap(({ version, events }) => {
    const words = events.flatMap((event) => eventWords(who, event) ?? []).join(" · ");
    return words === "" ? [] : [{ key: String(version), words }];
  });
  for (const one of table.news) lines.push({ key: `${one.seat} ${one.present}`, words: newsWords(who, one) });
  for (const { key, seat, reaction } of state.muted ? [] : table.reactions) {
    lines.push({ key: `reaction ${key}`, words: t("reaction.said", { name: nameOf(who, seat), words: t(`reaction.${reaction}`) }) });
  }
  return html`
    <div role="log" aria-label=${t("log.title")} class="happened">
      ${lines.map(({ key, words }) => html`<p key=${key}>${words}</p>`)}
    </div>`;
}

/**
 * What to do. It is one element from the first deal to the end of the game, and says nothing of
 * what takes a moment, so that a screen reader reads what is new and nothing twice.
 *
 * @param {{table: Table, about: About | null}} props `about` a card that was chosen, or asked about
 */
function Status({ table, about }) {
  const { problem } = table;
  const waits = table.sending || table.choice.asking || nextStep(table).stage === "wait";
  const [slow, setSlow] = useState(false);
  useEffect(() => setSlow(false), [waits]);
  useTimer(() => setSlow(true), waits ? SLOW : null, [waits]);
  const said = useRef("");
  if (!waits) said.current = statusWords(table);
  const words = waits && (slow || said.current === "") ? t(table.sending ? "do.sending" : "do.wait") : said.current;
  return html`
    <div role="status" aria-label=${t("status")} class="status" id="what-to-do">
      ${problem === "version" ? html`<${LoadAgain} failure=${problem} />`
        : problem && html`<p class="problem">${problemWords(problem, people(table))}</p>`}
      ${about && html`<${Does} ...${about} />`}
      ${table.lostSeat && html`<p>${t("table.lost-seat")}</p>`}
      <p class=${words.length > 60 || problem ? "todo long" : "todo"}>${words}</p>
    </div>`;
}

/** What the player has to do, or how the game ended. @param {Table} table */
function statusWords(table) {
  const { game, seat } = table;
  if (game?.phase !== "finished") return whatToDo({ ...table, sending: false });
  const team = ownSeat(table)?.team;
  if (team === undefined || team === game.winner) {
    return t(seat === null ? "finished.watched" : "finished.won") + (isForfeited(game) ? "" : ` ${t("finished.how", { round: game.round })}`);
  }
  const home = game.seats.filter((one) => one.team === team).reduce((sum, one) => sum + game.board[one.seat].goal.length, 0);
  return `${t("finished.lost")} ${t(home < CLOSE ? "finished.lost.far" : "finished.lost.close", { n: home })}`;
}

/** @param {{table: Table, ask: (card: number) => void}} props */
export function Hand({ table, ask }) {
  const { game, choice, sending } = table;
  const own = ownSeat(table);
  const hand = own?.hand;
  // The card of the partner comes from there, unless it was there when the table was opened.
  const came = useRef(own?.received ?? null);
  useLayoutEffect(() => {
    const before = came.current;
    came.current = own?.received ?? null;
    if (came.current && !before) {
      animateCard(document.querySelector(".card.received"), document.querySelector(`.players .at-${(game?.seats.length ?? 4) / 2}`));
    }
  }, [own?.received]);
  if (!hand) return null;
  // A card that was laid down for the partner is the player's until the partner has answered.
  const given = own.exchange === "offered" && own.gave ? hand.lastIndexOf(own.gave) : -1;
  const received = own.received ? hand.lastIndexOf(own.received) : -1;
  const step = nextStep(table);
  const exchanging = step.stage === "exchange" && step.choices.includes("card");
  const legal = playable(table);
  const lifted = hintedCard(table);
  /** @param {string} card */
  const can = (card) => exchanging
    || (!["none", "deal", "fold", "exchange"].includes(step.stage) && legal !== null && [...legal].some((one) => one === card));
  return html`
    <div class="hand" role="group" tabindex="-1" aria-label=${t("hand")} aria-describedby="what-to-do coach">
      ${hand.map((card, index) => {
        if (index === given) return null;
        const off = !can(card);
        return html`
          <${CardButton} key=${`${index} ${card}`} card=${card} pressed=${choice.card === index} received=${index === received} lifted=${index === lifted}
            disabled=${sending} off=${off} title=${off ? whyNot(table, card) : undefined}
            press=${() => (off ? ask(index) : chooseCard(index))} />`;
      })}
      ${hand.length === 0 && html`<p class="small">${t("hand.empty")}</p>`}
    </div>`;
}

/** The ranks that a joker can stand for. @param {{table: Table}} props */
export function Ranks({ table }) {
  const step = nextStep(table);
  if (step.stage !== "rank") return null;
  return html`
    <div class="ranks" role="group" aria-label=${t("ranks")}>
      ${step.ranks.map((rank) => html`
        <button type="button" key=${rank} disabled=${table.sending} aria-label=${cardName(rank)}
          onClick=${() => chooseRank(rank)}>${rank}</button>`)}
    </div>`;
}

/** Whether only the server still plays in this round, and the player has folded. @param {Table} table */
function canSkip(table) {
  const { game, skipped } = table;
  if (!ownSeat(table)?.folded || skipped === game?.round || game?.phase !== "play") return false;
  return game.seats.every((one) => one.cards === 0 || one.kind !== "human" || one.away || one.stand_in);
}

/** @param {{table: Table, explain?: () => void}} props `explain` says why the player cannot react */
export function Buttons({ table, explain }) {
  const { choice, sending } = table;
  const step = nextStep(table);
  const card = chosenCard(table);
  const { confirm } = choice;
  const asking = confirm && confirm !== "fold" ? confirm : null;
  /** @param {string} name @param {() => void} press @param {{kind?: string, off?: boolean}} [options] */
  const button = (name, press, { kind = "", off = false } = {}) => html`
    <button type="button" key=${name} class=${kind} disabled=${sending || off} onClick=${kind === "danger" ? once(press) : press}>${t(name)}</button>`;
  const cancel = button("cancel", () => dispatch({ type: "confirm", confirm: null }), { kind: "cancel" });
  const acting = !["none", "deal", "wait"].includes(step.stage) && !confirm;
  const own = ownSeat(table);
  return html`
    <div class="buttons">
      ${own?.kind === "bot" && button("take back", comeBack, { kind: "primary" })}
      ${own?.away && button("back", comeBack, { kind: "primary" })}
      ${step.stage === "deal" && button("deal", deal, { kind: "primary" })}
      ${step.stage === "exchange" && html`
        ${step.choices.includes("card") && button("give", () => card && exchange({ card }), { kind: "primary", off: card === null })}
        ${step.choices.includes("ask") && button("ask", () => exchange({ ask: true }), { kind: step.choices.includes("pass") ? "answer" : "" })}
        ${step.choices.includes("pass") && button("pass", () => exchange({ pass: true }), { kind: "answer" })}
        ${step.choices.includes("decline") && button(declineKey(table), () => exchange({ decline: true }))}`}
      ${step.stage === "fold" && (confirm ? html`${button("fold", () => play(step.id), { kind: "danger" })}${cancel}`
        : button("fold", () => dispatch({ type: "confirm", confirm: "fold" }), { kind: "primary" }))}
      ${asking ? html`${button("play", () => choose(asking), { kind: "danger" })}${cancel}`
        : step.stage === "play" && button("play", () => choose(step.offer), { kind: "primary" })}
      ${!confirm && step.stage !== "exchange" && canUndo(table) && button("undo", undo)}
      ${!confirm && choice.seven.length > 1 && button("start over", () => dispatch({ type: "start over" }))}
      ${acting && step.stage !== "fold" && table.hint === "none" && !table.task && button("hint", hint)}
      ${step.stage === "none" && canSkip(table) && button("skip", skipToDeal, { kind: "primary" })}
      ${table.hint === "asked" && html`<span class="small" role="status">${t("hint.asked")}</span>`}
      <${ReactButton} table=${table} explain=${explain} />
    </div>`;
}

/** What the partners gave each other in this round. @param {{table: Table}} props */
function Given({ table }) {
  const own = ownSeat(table);
  if (!own?.gave && !own?.received) return null;
  return html`
    <p class="given small">
      ${own.gave && html`${t("given.gave")} <${SmallCard} card=${own.gave} /> `}
      ${own.received && html`${t("given.received")} <${SmallCard} card=${own.received} />`}
    </p>`;
}
