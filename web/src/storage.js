// What the page remembers in this browser: the tokens and invitations of games, each under the id of
// its game, the settings of the last game, the person's name, and the language that was chosen.

/** @import {SavedGame, Settings} from "./types.js" */

const GAME = "dog.game.";
const SETTINGS = "dog.settings";
const LANGUAGE = "dog.language";
const NAME = "dog.name";

/** @param {string} key @returns {any} */
function read(key) {
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
  } catch {
    // Storage is full or switched off: the page works, but forgets.
  }
}

/** @param {string} id @returns {SavedGame | null} */
export const savedGame = (id) => read(GAME + id);

/** @returns {SavedGame[]} the latest first */
export function savedGames() {
  const games = [];
  for (let index = 0; index < localStorage.length; index += 1) {
    const key = localStorage.key(index);
    const game = key?.startsWith(GAME) && read(key);
    if (game && typeof game.id === "string" && (game.token || game.hostToken)) games.push(game);
  }
  return games.sort((a, b) => b.opened - a.opened);
}

/** @param {SavedGame} game */
export const saveGame = (game) => write(GAME + game.id, game);

/** @param {string} id */
export const forgetGame = (id) => localStorage.removeItem(GAME + id);

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
