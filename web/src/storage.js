// What the page remembers in this browser: the tokens and invitations of games, each under the id of
// its game, the settings of the last game, the person's name, and the language that was chosen.

/** @import {SavedGame, Settings} from "./types.js" */

const GAME = "dog.game.";
const SETTINGS = "dog.settings";
const LANGUAGE = "dog.language";
const NAME = "dog.name";

/**
 * What the browser does not keep, because its storage is full or blocked: the page works, and
 * forgets this when it is closed.
 *
 * @type {Map<string, unknown>}
 */
const unsaved = new Map();

/** @param {string} key @returns {any} */
function read(key) {
  if (unsaved.has(key)) return unsaved.get(key);
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} key @param {unknown} value */
function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    unsaved.delete(key);
  } catch {
    unsaved.set(key, value);
  }
}

/** @param {string} key */
function remove(key) {
  unsaved.delete(key);
  try {
    localStorage.removeItem(key);
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

/** @param {string} key @returns {SavedGame | null} */
function readGame(key) {
  const game = read(key);
  return typeof game?.id === "string" && Array.isArray(game.names) ? game : null;
}

/** @param {string} id */
export const savedGame = (id) => readGame(GAME + id);

/** @returns {SavedGame[]} the latest first */
export const savedGames = () => [...new Set([...keys(), ...unsaved.keys()])]
  .flatMap((key) => (key.startsWith(GAME) && readGame(key)) || [])
  .filter((game) => game.token || game.hostToken)
  .sort((a, b) => b.opened - a.opened);

/** @param {SavedGame} game */
export const saveGame = (game) => write(GAME + game.id, game);

/** @param {string} id */
export const forgetGame = (id) => remove(GAME + id);

/** @type {Settings} */
const DEFAULTS = { preset: "dogspiel-it", seats: 4, level: "fast", pace: 1000, clock: 0 };

/** @returns {Settings} */
export const savedSettings = () => ({ ...DEFAULTS, ...read(SETTINGS) });

/** @param {Settings} settings */
export const saveSettings = (settings) => write(SETTINGS, settings);

/** The tag of a language, if one was chosen. @returns {unknown} */
export const savedLanguage = () => read(LANGUAGE);

/** @param {string} tag */
export const saveLanguage = (tag) => write(LANGUAGE, tag);

/** The person's name; empty if it is not known. */
export const savedName = () => String(read(NAME) ?? "");

/** @param {string} name */
export const saveName = (name) => write(NAME, name);
