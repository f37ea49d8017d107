// What the page remembers in this browser: the tokens and invitations of games, each under the id of
// its game, those of the matches that were created here, the settings of the last game, the person's name, the switches for sound and reactions,
// the key of a closed server, the lessons that were solved, the answers to puzzles, and the coach lines and the notice that
// were dismissed; `start.js` remembers the language. Each tab remembers for itself which seats it
// plays, and the keys of requests that got no answer.

import { CHOICES } from "./rules.js";

/** @import {Person, SavedGame, SavedMatch, SavedPuzzle, Settings} from "./types.js" */

const GAME = "dog.game.";
const MATCHES = "dog.matches";
const LESSONS = "dog.lessons";
const COACHED = "dog.coached";
const PUZZLES = "dog.puzzles";
/** Keys that begin with this belong to one tab. */
const TAB = "dog.tab.";
const SEAT = `${TAB}seat.`;
const REQUESTS = `${TAB}requests`;

/** More games are kept only if they are not over. */
const GAMES = 100;
/** How many are kept in any case. */
const GAMES_AT_MOST = 1000;
/** How many matches are kept. */
const KEPT_MATCHES = 30;
/** How many answers to puzzles are kept. */
const KEPT_PUZZLES = 2000;
/** How many requests without an answer are remembered. */
const KEPT_REQUESTS = 8;

/**
 * What the browser does not keep, because its storage is full or blocked: the page works, and
 * forgets this when it is closed.
 *
 * @type {Map<string, unknown>}
 */
const unsaved = new Map();

/** Where a key is kept. @param {string} key */
const placeOf = (key) => (key.startsWith(TAB) ? sessionStorage : localStorage);

/** @param {string} key @returns {any} */
function read(key) {
  if (unsaved.has(key)) return unsaved.get(key);
  try {
    return JSON.parse(placeOf(key).getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** A list under a key. What another version of the page has kept may be anything. @param {string} key @returns {any[]} */
function readList(key) {
  const kept = read(key);
  return Array.isArray(kept) ? kept : [];
}

/** @param {string} key @param {unknown} value */
function write(key, value) {
  try {
    placeOf(key).setItem(key, JSON.stringify(value));
    unsaved.delete(key);
  } catch {
    unsaved.set(key, value);
  }
}

/** @param {string} key */
function remove(key) {
  unsaved.delete(key);
  try {
    placeOf(key).removeItem(key);
  } catch {
    // Nothing was kept.
  }
  // There may be room now.
  for (const [other, value] of [...unsaved]) write(other, value);
}

/** @returns {string[]} */
function keys() {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}

/**
 * A game with the seat that this tab plays, or the last one that the browser had.
 *
 * @param {string} key @returns {SavedGame | null}
 */
function readGame(key) {
  const game = read(key);
  if (typeof game?.id !== "string" || !Array.isArray(game.names)) return null;
  const tokens = { ...game.tokens };
  if (game.seat !== null && game.token) tokens[game.seat] = game.token;
  const seat = [read(SEAT + game.id), game.seat, ...Object.keys(tokens).map(Number)].find((one) => tokens[one]) ?? null;
  return { ...game, tokens, seat, token: tokens[seat] ?? null, opened: Number(game.opened) || 0 };
}

/** @param {string} id */
export const savedGame = (id) => readGame(GAME + id);

/** @returns {SavedGame[]} the latest first */
export const savedGames = () => [...new Set([...keys(), ...unsaved.keys()])]
  .flatMap((key) => (key.startsWith(GAME) && readGame(key)) || [])
  .filter((game) => game.token || game.hostToken)
  .sort((a, b) => b.opened - a.opened);

/** Saves a game, and that this tab plays its seat. The tokens of other seats stay. @param {SavedGame} game */
export function saveGame(game) {
  const { id, seat, token } = game;
  const before = savedGame(id);
  const tokens = { ...before?.tokens };
  if (seat !== null && token) {
    tokens[seat] = token;
    write(SEAT + id, seat);
  }
  write(GAME + id, { ...game, tokens });
  if (!before) makeRoom();
}

/** Forgets the games that were opened the longest ago, first those that are over. */
function makeRoom() {
  const games = savedGames().reverse();
  const surplus = games.filter((game) => game.over).slice(0, Math.max(games.length - GAMES, 0));
  const rest = games.filter((game) => !surplus.includes(game));
  for (const { id } of [...surplus, ...rest.slice(0, Math.max(rest.length - GAMES_AT_MOST, 0))]) forgetGame(id);
}

/**
 * Remembers whether a game is over, or is no longer on the server, and whether it was reviewed.
 *
 * @param {string} id @param {Partial<Pick<SavedGame, "over" | "reviewed">>} change
 */
export function changeGame(id, change) {
  const game = savedGame(id);
  const after = { over: false, ...game, ...change };
  // Other tabs are told of each change.
  if (game && JSON.stringify(after) !== JSON.stringify(game)) write(GAME + id, after);
}

/** Forgets the token of a seat, and a game of which nothing is left. @param {string} id @param {string | null} token */
export function forgetToken(id, token) {
  const game = savedGame(id);
  if (!game) return;
  const tokens = Object.fromEntries(Object.entries(game.tokens ?? {}).filter(([, one]) => one !== token));
  if (Object.keys(tokens).length === 0 && !game.hostToken) forgetGame(id);
  else write(GAME + id, { ...game, seat: null, token: null, tokens });
}

/** @param {string} id */
export function forgetGame(id) {
  remove(GAME + id);
  remove(SEAT + id);
}

/** The matches that were created here, the latest first. @returns {SavedMatch[]} */
export const savedMatches = () => readList(MATCHES).filter((one) => Array.isArray(one?.tables));

/** @param {SavedMatch} match */
export const saveMatch = (match) => write(MATCHES, [match, ...savedMatches()].slice(0, KEPT_MATCHES));

/**
 * The key of a request that this tab has sent and that got no answer, or a new one.
 *
 * @param {string} act method, path and body as JSON
 * @returns {string} of 160 random bits
 */
export function keyFor(act) {
  /** @type {[string, string][]} */
  const kept = readList(REQUESTS);
  const known = kept.find(([one]) => one === act)?.[1];
  if (known) return known;
  const key = [...crypto.getRandomValues(new Uint8Array(20))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
  write(REQUESTS, [...kept, [act, key]].slice(-KEPT_REQUESTS));
  return key;
}

/**
 * The body of a request that this tab has sent and that got no answer.
 *
 * @param {string} method @param {string} path @returns {any} null if there is none
 */
export function unanswered(method, path) {
  /** @type {[string, string][]} */
  const kept = readList(REQUESTS);
  const acts = kept.map(([act]) => JSON.parse(act));
  return acts.find((act) => act[0] === method && act[1] === path)?.[2] ?? null;
}

/** Forgets the key of a request that got its answer. @param {string} act */
export function forgetKey(act) {
  /** @type {[string, string][]} */
  const kept = readList(REQUESTS);
  write(REQUESTS, kept.filter(([one]) => one !== act));
}

/** @type {Settings} */
const DEFAULTS = { preset: "dogspiel-it", options: {}, seats: 4, level: "fast", pace: 1000, clock: 0 };

/** The settings, of which those that this version does not know are the defaults. @returns {Settings} */
function savedSettings() {
  const kept = read("dog.settings") ?? {};
  const known = Object.keys(CHOICES).filter((name) => CHOICES[name].includes(kept[name]));
  const options = kept.options && typeof kept.options === "object" ? kept.options : {};
  return { ...DEFAULTS, ...Object.fromEntries(known.map((name) => [name, kept[name]])), options };
}

/** What is known of the person. The page is heard unless that was switched off. @returns {Person} */
export const savedPerson = () => ({
  settings: savedSettings(), name: String(read("dog.name") ?? ""),
  sound: read("dog.sound") !== false, muted: read("dog.muted") === true,
  key: String(read("dog.key") ?? ""), dismissed: String(read("dog.dismissed") ?? ""),
});

/** @param {Partial<Person>} change */
export function savePerson(change) {
  for (const [name, value] of Object.entries(change)) write(`dog.${name}`, value);
}

/** The names of the lessons that were solved. @returns {string[]} */
export const savedLessons = () => readList(LESSONS);

/** @param {string} name */
export const saveLesson = (name) => write(LESSONS, [...new Set([...savedLessons(), name])]);

/** The coach lines that were dismissed. @returns {string[]} */
export const savedCoached = () => readList(COACHED);

/** @param {string} key of a coach line */
export const saveCoached = (key) => write(COACHED, [...new Set([...savedCoached(), key])]);

/** The puzzles that were answered, the latest first. @returns {SavedPuzzle[]} */
export const savedPuzzles = () => readList(PUZZLES).filter((one) => typeof one?.number === "number");

/** Remembers an answer; there is one to each puzzle. @param {SavedPuzzle} puzzle */
export function savePuzzle(puzzle) {
  const before = savedPuzzles();
  if (!before.some(({ number }) => number === puzzle.number)) write(PUZZLES, [puzzle, ...before].slice(0, KEPT_PUZZLES));
}
