// The page's own files that are loaded later. They are in the folder of this version, which a server
// of another version does not have.

/** Milliseconds before each further attempt to get a file; the last one is repeated. */
export const PAUSES = [1000, 2000, 4000, 8000, 15_000, 30_000];

/** The server has another version of the page. */
export class NewVersion extends TypeError {}

/** @param {string} name of a file, relative to this one @returns {string} */
const urlOf = (name) => new URL(name, import.meta.url).href;

/** Reads a file. @param {string} url */
async function read(url) {
  const answer = await fetch(url);
  if (answer.status === 404) throw new NewVersion("the server has another version");
  if (!answer.ok) throw new TypeError("a file of the page is missing");
  return answer;
}

/** Reads JSON. @param {string} name relative to this file @returns {Promise<any>} */
export const readJson = async (name) => (await read(urlOf(name))).json();

/** The modules that the browser has. @type {Set<string>} */
const had = new Set();

/** Has the browser keep a module and those that it imports. @param {string} url @param {Set<string>} asked */
async function keepModule(url, asked) {
  if (had.has(url) || asked.has(url)) return;
  asked.add(url);
  const text = await (await read(url)).text();
  await Promise.all([...text.matchAll(/ from "(\.[^"]+)"/g)].map(([, name]) => keepModule(new URL(name, url).href, asked)));
  had.add(url);
}

/**
 * Loads a module. A browser never asks again for one that did not arrive, nor for one that needs it. So
 * they are read first.
 *
 * @template T @param {string} name relative to this file @param {() => Promise<T>} load imports it
 */
export async function loadModule(name, load) {
  if (had.size === 0) {
    for (const link of document.querySelectorAll("link[rel=modulepreload]")) had.add(/** @type {HTMLLinkElement} */ (link).href);
  }
  await keepModule(urlOf(name), new Set());
  return load();
}
