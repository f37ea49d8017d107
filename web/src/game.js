// What the page does: it asks the server, and dispatches what it gets.

import { follow, get, passes, problemOf, readLayout, request, requestSecret } from "./api.js";
import { action, canUndo, holdsUnplayable, nextStep, ownSeat, partnerOf, sevenBegun } from "./choose.js";
import { loadModule } from "./files.js";
import { t } from "./lang.js";
import { rulesOf } from "./rules.js";
import { stepOf } from "./state.js";
import { at, dispatch, state } from "./store.js";
import { changeGame, forgetGame, forgetToken, saveGame, savePerson, savedGame, savedGames } from "./storage.js";
import { actorOf, isShared } from "./words.js";

/** @import {Advice, Changed, Created, Failure, GameEvent, Game, History, Message, Move, Offer, Person, Route, SavedGame, Seven,
 *    SevenPart, Suggestion, Table, Unplayable} from "./types.js" */

/** The names of bots. */
export const DOGS = ["Luna", "Bruno", "Bella", "Rex", "Nala"];

/** Stops following the game on the screen. */
let unfollow = () => {};

/** Goes to a game, or home. @param {string | null} id */
export function go(id) {
  location.hash = id === null ? "#/" : `#/games/${id}`;
}

/**
 * A game, a version of its replay, its review, an invitation to it, or a seat of it with its token: for another
 * device of its person. Programs add to links what comes after them in a text, such as `.`, and what
 * counts clicks.
 */
const ADDRESS = /#\/(games|join)\/([0-9a-z]{1,64})(?:\/at\/(\d{1,9})|\/([0-9a-z-]{1,100}))?\/?(?![\w/-])/;

/** The address of a game, or of a version of its replay. @param {string} id @param {number | null} version */
export const addressOf = (id, version) => `#/games/${id}${version === null ? "" : `/at/${version}`}`;

/** The course, or one of its lessons; a new match, one, or what both tables of a pair did, counted from 1; the puzzles, or one. */
const [LESSON, MATCH, PUZZLE] = [/^#\/learn(?:\/(\d{1,2}))?\/?$/, /#\/match(?:\/([0-9a-z]{1,64})(\/compare(?:\/(\d{1,2}))?)?)?\/?(?![\w/-])/,
  /^#\/puzzles(?:\/(\d{1,5}|today|again\?.*))?\/?$/];

/** The parts of an address in a text. @param {string} text */
function readAddress(text) {
  const [, kind, id, version, secret] = ADDRESS.exec(text) ?? [];
  return { kind, id, version: version === undefined ? null : Number(version), secret };
}

/** Shows what the address names. */
export function navigate() {
  const { hash } = location;
  const { kind, id, version, secret } = readAddress(hash);
  const { table, route } = state;
  // Another step of the game on the screen.
  if (table?.steps && route.name === "table" && kind === "games" && !secret && id === table.id) {
    dispatch({ type: "replay", version });
    scrollTo(0, 0);
    return;
  }
  unfollow();
  unfollow = () => {};
  const [lesson, match, puzzle] = [LESSON, MATCH, PUZZLE].map((one) => one.exec(hash));
  /** @type {Route | null} */
  const screen = hash === "#/watch" ? { name: "watch" } : /^#\/analyse(\?|$)/.test(hash) ? { name: "analyse" }
    : puzzle ? { name: "puzzles", which: puzzle[1] ?? null } : lesson ? { name: "learn", number: lesson[1] ? Number(lesson[1]) : null }
      : match && { name: "match", id: match[1] ?? null, pair: match[2] ? Number(match[3] ?? 1) : null };
  if (screen) {
    dispatch({ type: "route", route: screen });
  } else if (id === undefined) {
    dispatch({ type: "route", route: { name: "home" }, badAddress: !["", "#", "#/"].includes(hash) });
    dispatch({ type: "set", change: { saved: savedGames() } });
  } else {
    dispatch({ type: "route", route: { name: "table", id } });
    const review = secret === "review";
    open(id, kind === "join", review ? null : secret ?? null, version);
    if (review) dispatch({ type: "table", change: { review: "asked" } });
  }
  scrollTo(0, 0);
}

/** Replaces the address by that of the game, or of a version of it. @param {string} id @param {number | null} [version] */
export function replaceAddress(id, version = null) {
  history.replaceState(null, "", addressOf(id, version));
}

/** Changes what is known of the person, from now on. @param {Partial<Person>} change */
export function setPerson(change) {
  savePerson(change);
  dispatch({ type: "set", change });
}

/** Goes to a game from the home screen, or shows a refusal there. @param {() => Promise<string>} action returns the id of a game */
export async function goFromHome(action) {
  dispatch({ type: "home", home: { creating: true, problem: null } });
  try {
    const id = await action();
    dispatch({ type: "home", home: { creating: false } });
    go(id);
  } catch (error) {
    dispatch({ type: "home", home: { creating: false, problem: problemOf(error) } });
  }
}

/** Creates a game against bots and goes to its table. */
export const playAgainstBots = () => goFromHome(() => {
  const { seats, level, pace } = state.settings;
  const bots = DOGS.slice(0, seats - 1).map((dog) => ({ kind: "bot", name: dog, level }));
  return requestSecret("POST", "/v1/games", {
    body: {
      rules: rulesOf(state.settings),
      seats: [{ kind: "human", name: state.name || t("player") }, ...bots],
      // The bot before the player deals the first round, so that the player begins.
      first_dealer: seats - 1,
      bot_pace_ms: pace,
      listed: false,
    },
  }, (/** @type {Created} */ { id, game, seat_tokens: [token = null], host_token: hostToken }) => {
    keep(game, { seat: 0, token, hostToken });
    return id;
  });
});

/**
 * Remembers a game and the secrets that this browser has got for it.
 *
 * @param {Game} game
 * @param {Partial<Pick<SavedGame, "seat" | "token" | "hostToken" | "invitations">>} secrets
 */
export function keep(game, secrets) {
  const { id, rules: { preset }, shuffle_commitment: commitment } = game;
  const names = game.seats.map((seat) => seat.name);
  const known = savedGame(id) ?? { seat: null, token: null, hostToken: null, opened: Date.now(), commitment };
  saveGame({ ...known, id, preset, names, over: game.phase === "finished", ...secrets });
  // Some browsers forget after a week what they were not asked to keep.
  if (secrets.token && isShared({ game, seat: secrets.seat ?? null })) navigator.storage?.persist?.();
}

/** Goes to the game, the invitation or the match of a link, or to the game with this id. @param {string} text */
export function watch(text) {
  const { kind, id, version, secret } = readAddress(text);
  const only = /^\s*([0-9a-z]{10,64})\s*$/.exec(text)?.[1];
  const match = MATCH.exec(text);
  if (match) [location.hash] = match;
  else if (id && version !== null) location.hash = addressOf(id, version);
  else if (id) location.hash = `#/${kind}/${id}${secret ? `/${secret}` : ""}`;
  else if (only) go(only);
  else dispatch({ type: "home", home: { badLink: true } });
}

/** @param {string} id */
export function forget(id) {
  forgetGame(id);
  dispatch({ type: "set", change: { saved: savedGames() } });
}

/**
 * Opens a game: as the seat of which this browser or the address has the token, or as a
 * spectator, who may have an invitation.
 *
 * @param {string} id
 * @param {boolean} joining whether the address is an invitation
 * @param {string | null} secret of the address
 * @param {number | null} version of the replay
 * @param {string | null} [refused] a token that was tried and is not valid
 */
function open(id, joining, secret, version, refused = null) {
  const saved = savedGame(id);
  if (saved) saveGame({ ...saved, opened: Date.now() });
  const [, seat, sent] = (!joining && /^(\d)-([0-9a-f]+)$/.exec(secret ?? "")) || [];
  const other = sent && saved?.tokens?.[Number(seat)];
  const kept = saved?.token && saved.token !== refused ? saved : null;
  const token = sent ?? kept?.token ?? null;
  const lostSeat = refused !== null && !joining;
  let broken = false;
  dispatch({
    type: "opened", id, replay: version,
    as: {
      seat: sent ? Number(seat) : kept?.seat ?? null, token, hostToken: saved?.hostToken ?? null,
      joining: joining && token === null, invitation: joining ? secret : null,
      invitations: saved?.invitations ?? null, lostSeat, task: null,
      isSecond: Boolean(other) && other !== sent,
    },
  });
  unfollow();
  unfollow = follow(id, token, {
    onMessages: (messages) => {
      if (state.table?.id !== id) return;
      awaitConnections(state.table, messages);
      dispatch({ type: "messages", messages });
      for (const one of messages) if (one.type === "notice") dispatch({ type: "set", change: { notice: one.notice } });
      remember(state.table);
      if (acting && hasActed(acting)) endAct(acting);
      complete();
    },
    onLink: (link, problem) => {
      if (state.table?.id !== id) return;
      if (problem && token && ["unauthorized", "token_replaced"].includes(problem.code)) {
        // A server with an older backup does not know a token that the next one may know again.
        if (problem.code === "token_replaced") forgetToken(id, token);
        else if (savedGame(id)?.token === token) changeGame(id, { over: true });
        if (!joining) replaceAddress(id);
        open(id, joining, joining ? secret : null, version, token);
        return;
      }
      if (problem?.code === "game_not_found") changeGame(id, { over: true });
      if (link === "lost") broken = true;
      // Perhaps the server knows the token again.
      if (link === "live" && broken && token === null && saved?.token) return navigate();
      dispatch({ type: "link", link, problem });
      if (link === "live") complete();
    },
  });
}

/** Milliseconds in which somebody who has sat down connects. */
const CONNECTING = 5000;

/** Waits for whoever has sat down to connect. @param {Table} table @param {Message[]} messages */
function awaitConnections(table, messages) {
  for (const message of messages) {
    if (message.type !== "presence") continue;
    message.present.forEach((now, seat) => {
      if (now !== false || table.presence?.[seat] !== null) return;
      setTimeout(() => at(table, () => dispatch({ type: "absent", seat })), CONNECTING);
    });
  }
}

/** Remembers the game on the screen, and takes a secret that was used out of the address. @param {Table | null} table */
function remember(table) {
  if (!table?.game || table.joining || !(table.token || table.hostToken)) return;
  const { id, game, seat, token } = table;
  const saved = savedGame(id);
  if (!table.isSecond && ((token && saved?.token !== token) || game.seats.some((one, index) => saved?.names[index] !== one.name)
    || (saved?.over ?? false) !== (game.phase === "finished"))) {
    keep(game, token ? { seat, token } : {});
  }
  if (location.hash !== addressOf(id, readAddress(location.hash).version)) replaceAddress(id);
}

/** Has the browser remember the token of a link in place of the one that it has for that seat, or goes back to that. @param {boolean} change */
export function answerSecond(change) {
  const { table } = state;
  if (!table?.game) return;
  if (change) keep(table.game, { seat: table.seat, token: table.token });
  open(table.id, false, null, table.replay);
}

/** Milliseconds until what could not be read is read again. */
const AGAIN = 3000;

let completing = false;
let again = false;
/** What could not be read, and when it is read again. @type {{problem: Failure, timer: number | undefined} | null} */
let unread = null;

/**
 * Reads what the stream does not carry. Changes that arrive meanwhile are read together.
 */
async function complete() {
  again = true;
  if (completing) return;
  completing = true;
  while (again) {
    again = false;
    clearTimeout(unread?.timer);
    const { table } = state;
    try {
      if (table?.game) again = await readMissing(table, table.game) || again;
      if (unread && state.table?.problem === unread.problem) dispatch({ type: "table", change: { problem: null } });
      unread = null;
    } catch (error) {
      unread = { problem: problemOf(error), timer: passes(error) ? setTimeout(complete, AGAIN) : undefined };
      const { problem } = unread;
      if (table) at(table, () => dispatch({ type: "table", change: { problem } }));
    }
  }
  completing = false;
}

/**
 * Reads the first of these that is missing: the game after a change, the layout, the legal moves,
 * the log. Returns whether it read something. The stream brings most of it; what it leaves out is
 * the layout, the log before it began, why a card cannot be played, and the moves when they are too
 * many.
 *
 * @param {Table} table @param {Game} game @returns {Promise<boolean>}
 */
async function readMissing(table, game) {
  if (game.version < (table.log.at(-1)?.version ?? 0)) {
    /** @type {Game} */
    const newer = await get(table, "");
    at(table, () => dispatch({ type: "game", game: newer }));
    return newer.version > game.version;
  }
  if (!table.layout) {
    const layout = await readLayout(game.rules.seats, game.rules.fields_per_seat, table.seat);
    at(table, () => dispatch({ type: "table", change: { layout } }));
    return true;
  }
  // The server plays for a person who is away.
  const away = ownSeat(table)?.away;
  if (!away && action(table, "play") && (!table.moves || (!table.unplayable && holdsUnplayable(table)))) {
    /** @type {{version?: number, moves: Move[], unplayable: Unplayable[]}} */
    const { version, moves, unplayable } = await get(table, "/legal-moves?board=false");
    at(table, () => dispatch({ type: "moves", version: version ?? 0, list: moves, unplayable }));
    // If the game has moved on, its change is on the way.
    return version === game.version;
  }
  if ((table.replay !== null || table.review !== "none") && !table.steps) {
    const { readHistory } = await loadModule("./finished/history.js", () => import("./finished/history.js"));
    await readHistory(table);
    return true;
  }
  if (table.log[0]?.version !== 1) {
    /** @type {History} */
    const history = await get(table, "/history");
    at(table, () => dispatch({ type: "log", entries: history.entries }));
    return true;
  }
  return false;
}

/** Sends an action of the seat. @param {string} route @param {object} body */
const send = (route, body) => act(async (table) => {
  /** @type {Changed} */
  const changed = await request("POST", `/v1/games/${table.id}/${route}`, { token: table.token, body });
  at(table, () => show(changed));
});

/** Shows what the answer to an action of the seat says. @param {{version: number, events: GameEvent[], game: Game}} changed */
export function show({ version, events, game }) {
  dispatch({ type: "log", entries: [{ version, at: game.updated_at, events }] });
  dispatch({ type: "game", game });
}

/** Something that is being done: the table before, and the seat that it is done for. @typedef {{table: Table, seat: number | null}} Act */

/** What is being done now. @type {Act | null} */
let acting = null;

/** Whether the stream has shown what the seat did. @param {Act} act */
const hasActed = ({ table, seat }) => seat !== null && state.table?.id === table.id && state.table.log.some(({ version, events }) =>
  version > (table.game?.version ?? 0) && events.some((event) => actorOf(event) === seat));

/** Lets the person do something else. @param {Act} act */
function endAct(act) {
  if (acting !== act) return;
  acting = null;
  at(act.table, () => dispatch({ type: "sending", sending: false }));
}

/**
 * Does something at the table, one at a time, and shows a refusal.
 *
 * @param {(table: Table) => Promise<void>} action
 * @param {number} [seat] that it is done for; the player's if it is left out
 */
export async function act(action, seat) {
  const { table } = state;
  if (!table || table.sending) return;
  const own = { table, seat: seat ?? table.seat };
  acting = own;
  dispatch({ type: "sending", sending: true });
  try {
    await action(table);
  } catch (error) {
    const problem = problemOf(error);
    // An answer can be lost after the server has acted.
    if (problem === "network" && hasActed(own)) return;
    at(table, () => dispatch({ type: "table", change: { problem } }));
  } finally {
    endAct(own);
    complete();
  }
}

export const deal = () => send("deal", {});

/** @param {{card?: string, ask?: boolean, pass?: boolean, decline?: boolean}} answer with one of these */
export const exchange = (answer) => (state.table?.task ? state.table.task.judge(answer) : send("swap", answer));

/** @param {string} id */
export function play(id) {
  const { table } = state;
  return table?.task ? table.task.judge({ id }) : send("play", { move: id, version: table?.game?.version });
}

/** Says something to the table. @param {string} reaction */
export function react(reaction) {
  dispatch({ type: "table", change: { reacting: false } });
  return act(async ({ id, token }) => {
    await request("POST", `/v1/games/${id}/reactions`, { token, body: { reaction } });
  });
}

/** Has the bots play the rest of the round at once. */
export const skipToDeal = () => act(async (table) => {
  await request("PATCH", `/v1/games/${table.id}`, { token: table.token, body: { skip_to_deal: true } });
  at(table, () => dispatch({ type: "skipped", round: table.game?.round ?? 0 }));
});

/** Chooses a card of the hand, or puts it back. @param {number} index */
export function chooseCard(index) {
  dispatch({ type: "card", card: state.table?.choice.card === index ? null : index });
  beginSeven();
}

/** @param {string} rank */
export function chooseRank(rank) {
  dispatch({ type: "rank", rank });
  beginSeven();
}

/** Takes back what was chosen by a key. @param {Table | null} table */
export const undoByKey = (table) => (/** @type {KeyboardEvent} */ event) => {
  if (event.key === "Escape" && table && canUndo(table)) undo();
};

export function undo() {
  dispatch({ type: "undo" });
  // The only rank of a joker is chosen without asking, so its seven begins again.
  if (state.table && nextStep(state.table).stage === "wait") beginSeven();
}

function beginSeven() {
  const { table } = state;
  const begun = table && action(table, "play") ? sevenBegun(table) : null;
  if (begun !== null) continueSeven(begun, null);
}

/** Asks for the parts that can follow. @param {string} begun @param {SevenPart | null} part */
async function continueSeven(begun, part) {
  const { table } = state;
  if (!table?.game) return;
  dispatch({ type: "seven asked", asking: true });
  // Whatever is chosen or taken back meanwhile replaces this.
  const asked = state.table?.choice;
  try {
    /** @type {Seven} */
    const shown = part?.complete ? { begun, left: 0, board: part.board, next: [] }
      : table.task ? await request("POST", "/v1/analysis/legal-moves/seven", { body: { ...table.task.question, begun } })
      : await get(table, `/legal-moves/seven?begun=${encodeURIComponent(begun)}`);
    if (state.table?.choice === asked) dispatch({ type: "seven", shown, part });
  } catch (error) {
    if (state.table?.choice !== asked) return;
    dispatch({ type: "seven asked", asking: false });
    dispatch({ type: "table", change: { problem: problemOf(error) } });
  }
}

/** Whether the offer captures a piece of the player's partner. @param {Table} table @param {Offer} offer */
const capturesPartner = ({ game, seat }, { captures }) =>
  game !== null && seat !== null && captures.some((one) => one.seat === partnerOf(seat, game.seats.length));

/** Plays what was chosen, continues a seven, or asks once more. @param {Offer} offer */
export function choose(offer) {
  const { table } = state;
  if (!table) return;
  const whole = nextStep(table).stage === "play";
  if (offer.part && !whole) continueSeven(offer.id, offer.part);
  else if (capturesPartner(table, offer) && table.choice.confirm === null) {
    dispatch({ type: "confirm", confirm: offer });
  } else play(offer.id);
}

export async function hint() {
  const { table } = state;
  if (!table) return;
  dispatch({ type: "hint", hint: "asked" });
  try {
    /** @type {Advice} */
    const advice = await get(table, "/suggest-move?level=strong");
    at(table, () => {
      if (state.table?.game?.version === advice.version) dispatch({ type: "hint", hint: advice });
      else dispatch({ type: "hint", hint: "none" });
    });
  } catch (error) {
    at(table, () => {
      dispatch({ type: "hint", hint: "none" });
      dispatch({ type: "table", change: { problem: problemOf(error) } });
    });
  }
}

/** Does what the adviser suggests. @param {Suggestion} suggestion */
export function followAdvice(suggestion) {
  if ("move" in suggestion) play(suggestion.move.id);
  else exchange(suggestion.swap);
}

/** Opens the analysis of what the table shows. */
export async function analyse() {
  const { table } = state;
  if (!table?.game) return;
  try {
    const { openTable } = await loadModule("./analyse/analysis.js", () => import("./analyse/analysis.js"));
    await openTable(table, stepOf(table));
  } catch (error) {
    at(table, () => dispatch({ type: "table", change: { problem: problemOf(error) } }));
  }
}
