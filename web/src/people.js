// What the page does for people: open tables, invitations, coming and going, rematches.

import { Refusal, problemOf, request, requestSecret } from "./api.js";
import { DOGS, act, go, goFromHome, keep, navigate, replaceAddress, setPerson, show } from "./game.js";
import { t } from "./lang.js";
import { rulesOf } from "./rules.js";
import { at, dispatch, state } from "./store.js";
import { forgetToken, savedGame, saveGame, unanswered } from "./storage.js";

/** @import {Changed, Created, Game, Invitations, Joined, OpenTable, QuickJoined, Rematch, SeatChanged,
 *    SeatInGame, Table} from "./types.js" */

/** Creates a table with open seats, and takes the first one. */
export const inviteFriends = () => goFromHome(() => {
  const { seats, level, pace, clock } = state.settings;
  const names = Array.from({ length: seats }, (_, seat) => t("seat.n", { n: seat + 1 }));
  return requestSecret("POST", "/v1/games", {
    body: {
      rules: rulesOf(state.settings),
      seats: names.map((name) => ({ kind: "open", name, level })),
      turn_seconds: clock || null,
      bot_pace_ms: pace,
      listed: false,
    },
  }, async (/** @type {Created} */ { id, game, host_token: hostToken, invitation, invitations }) => {
    const seated = (invitations ?? []).map((text) => (text ? { text, version: game.version } : null));
    // The host's token is shown once: it is kept even if the host gets no seat.
    keep(game, { hostToken, invitations: { any: invitation ?? null, seats: seated } });
    await join(id, { invitation, seat: 0, name: state.name || t("player") });
    return id;
  });
});

/** Sits down at a table with strangers, which the server chooses. */
export const playAtOnce = () => goFromHome(() => {
  const body = { rules: rulesOf(state.settings), name: state.name || t("player") };
  return requestSecret("POST", "/v1/join", { body }, (/** @type {QuickJoined} */ { id, game, seat, token }) => {
    keep(game, { seat, token });
    return id;
  });
});

/** @typedef {{invitation?: string | null, seat?: number | null, name: string}} Join what a join sends */

/** @param {string} id */
const joinPath = (id) => `/v1/games/${id}/join`;

/** Takes a seat, and keeps its token. @param {string} id @param {Join} body */
const join = (id, body) => requestSecret("POST", joinPath(id), { body },
  (/** @type {Joined} */ { game, seat, token }) => keep(game, { seat, token }));

/** The tables that anyone may join. */
export async function readOpenTables() {
  try {
    // The browser asks with the ETag of the answer that it has.
    /** @type {{games: OpenTable[]}} */
    const { games } = await request("GET", "/v1/games?open=true", { cache: "no-cache" });
    dispatch({ type: "set", change: { tables: games } });
  } catch (error) {
    // The next answer comes soon, and a game begins without this list, too.
    problemOf(error);
  }
}

/** Takes a seat of the table on the screen. @param {string} name of the person @param {number | null} seat or the one that the server chooses */
export async function takeSeat(name, seat) {
  const { table } = state;
  if (!table || table.sending) return;
  dispatch({ type: "table", change: { refused: name === "" ? "no name" : null } });
  if (name === "") return;
  setPerson({ name });
  await sitDown(table, { invitation: invitationTo(table, seat), seat, name });
}

/** Gets the seat that this person has taken by a request whose answer was lost. */
export function resumeJoin() {
  const { table } = state;
  if (!table || table.sending || table.token) return;
  /** @type {Join | null} */
  const body = unanswered("POST", joinPath(table.id));
  const taken = table.log.some(({ events }) =>
    events.some((event) => event.type === "seat_taken" && event.name === body?.name));
  if (body && taken) sitDown(table, body);
}

/** @param {Table} table @param {Join} body */
async function sitDown(table, body) {
  dispatch({ type: "sending", sending: true });
  try {
    await join(table.id, body);
    at(table, () => {
      replaceAddress(table.id);
      navigate();
    });
  } catch (error) {
    at(table, () => dispatch({ type: "table", change: { refused: problemOf(error) } }));
  } finally {
    at(table, () => dispatch({ type: "sending", sending: false }));
  }
}

/** The invitation with which this browser can take a seat. @param {Table} table @param {number | null} seat */
const invitationTo = (table, seat) =>
  table.invitation ?? (seat === null ? null : seatInvitation(table, seat)) ?? table.invitations?.any ?? null;

/** Whether a seat has had another player since a version. @param {Table} table @param {number} seat @param {number} version */
const changedSince = (table, seat, version) => table.log.some((entry) => entry.version > version
  && entry.events.some((event) =>
    (event.type === "seat_taken" || event.type === "seat_handed_over") && event.seat === seat));

/** Whether the page knows what has happened since the creation. @param {Table} table */
const knowsAll = (table) => table.log[0]?.version === 1;

/** The invitation to a free seat that the host has. @param {Table} table @param {number} seat @returns {string | null} */
export function seatInvitation(table, seat) {
  const invitation = table.invitations?.seats[seat];
  if (!invitation || !knowsAll(table) || table.game?.seats[seat].kind !== "open") return null;
  return changedSince(table, seat, invitation.version) ? null : invitation.text;
}

/** Whether the invitation to any seat opens this one. @param {Table} table @param {SeatInGame} one */
export const opensToAny = (table, { seat, kind }) =>
  kind === "open" && knowsAll(table) && !changedSince(table, seat, 1);

/** The free seats that this browser can take. @param {Table} table @returns {SeatInGame[]} */
export function seatsToTake(table) {
  const { game, invitation, invitations } = table;
  if (!game || table.seat !== null) return [];
  const open = game.seats.filter((one) => one.kind === "open");
  if (invitations) return open.filter((one) => seatInvitation(table, one.seat));
  if (invitation?.startsWith("any-")) return open.filter((one) => opensToAny(table, one));
  if (invitation) return open.filter((one) => one.seat === Number.parseInt(invitation, 10));
  return game.join === "anyone" ? open : [];
}

/** Changes the person's own seat. @param {{kind?: string, name?: string}} body */
const changeOwn = (body) => act(async (table) => {
  /** @type {Changed} */
  const changed = await request("PUT", `/v1/games/${table.id}/seats/${table.seat}`, { token: table.token, body });
  at(table, () => show(changed));
});

/** Leaves the table: a bot plays on. */
export const leave = () => changeOwn({ kind: "bot" });

/** Leaves a game against bots to the bots, which no longer pause. */
export const letBotsFinish = () => act(async (table) => {
  const path = `/v1/games/${table.id}`;
  if (table.hostToken) await request("PATCH", path, { token: table.hostToken, body: { bot_pace_ms: 0 } });
  /** @type {Changed} */
  const changed = await request("PUT", `${path}/seats/${table.seat}`, { token: table.token, body: { kind: "bot" } });
  at(table, () => show(changed));
});

/** Comes back to the table. */
export const comeBack = () => changeOwn({ kind: "human" });

/** Gives the person another name, also at the table. @param {string} name */
export function rename(name) {
  if (name === "") return undefined;
  setPerson({ name });
  return changeOwn({ name });
}

/** Gives the seat up for good. */
export const giveUp = () => act(async (table) => {
  await request("PUT", `/v1/games/${table.id}/seats/${table.seat}`, { token: table.token, body: { kind: "open" } });
  forgetToken(table.id, table.token);
  at(table, () => (table.hostToken ? navigate() : go(null)));
});

// The host sees what a spectator sees: the stream brings the game as the seat sees it.

/** A name for a bot that nobody at the table has. @param {Game} game */
const dogFor = (game) => DOGS.find((dog) => game.seats.every((one) => one.name !== dog)) ?? DOGS[0];

/** Lets a bot play a seat. @param {number} seat */
export const letBotPlay = (seat) => act(async (table) => {
  if (table.game) await handToBot(table, table.game, seat);
}, seat);

/**
 * Hands a seat to a bot, unless something has happened that the host has not seen.
 *
 * @param {Table} table @param {Game} game @param {number} seat @returns {Promise<Game>}
 */
async function handToBot(table, game, seat) {
  const open = game.seats[seat].kind === "open";
  const body = { kind: "bot", ...(open ? { name: dogFor(game) } : {}), version: game.version };
  /** @type {Changed} */
  const changed = await request("PUT", `/v1/games/${table.id}/seats/${seat}`, { token: table.hostToken, body });
  return changed.game;
}

/** Frees a seat for whoever gets its new invitation. @param {number} seat */
export const inviteAgain = (seat) => act((table) => requestSecret("PUT", `/v1/games/${table.id}/seats/${seat}`, {
  token: table.hostToken, body: { kind: "open" },
}, (/** @type {SeatChanged} */ { invitation, version }) => {
  const seats = [...table.invitations?.seats ?? []];
  seats[seat] = invitation ? { text: invitation, version } : null;
  /** @type {Invitations} */
  const invitations = { any: table.invitations?.any ?? null, seats };
  const saved = savedGame(table.id);
  if (saved) saveGame({ ...saved, invitations });
  at(table, () => dispatch({ type: "table", change: { invitations } }));
}), seat);

/** Starts the game: the seats that are still free are given to bots. */
export const start = () => act(async (table) => {
  let { game } = table;
  for (const one of game?.seats ?? []) {
    if (game && one.kind === "open") game = await handToBot(table, game, one.seat);
  }
  // A bot deals by itself.
  const dealer = game?.phase === "deal" ? game.seats[game.dealer ?? 0] : null;
  if (dealer?.kind === "bot") return;
  try {
    await request("POST", `/v1/games/${table.id}/deal`, { token: table.hostToken, body: {} });
  } catch (error) {
    // The dealer was first.
    if (!(error instanceof Refusal) || error.problem.code !== "wrong_phase") throw error;
  }
});

/** Asks for the next game, and goes to it. @param {number[]} [seats] the old seat of whoever sits at each new one */
export const rematch = (seats) => act(async (table) => {
  const { hostToken } = table;
  const token = table.token ?? hostToken;
  /** @type {Rematch} */
  const { id, seat, game } = await request("POST", `/v1/games/${table.id}/rematch`, { token, body: seats ? { seats } : {} });
  // The tokens of this game are valid in the next one, too.
  const seated = typeof seat === "number";
  keep(game, { hostToken, ...(seated ? { seat, token } : {}) });
  // A bot has the seat of somebody who comes late.
  if (seated && game.seats[seat].kind === "bot" && game.phase !== "finished") {
    await request("PUT", `/v1/games/${id}/seats/${seat}`, { token, body: { kind: "human" } });
  }
  at(table, () => go(id));
});
