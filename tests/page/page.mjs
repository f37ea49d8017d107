// What modules of the page need of a browser: a language, and the files of the page.

import { readFileSync } from "node:fs";

export const web = new URL("../../web/", import.meta.url);

/** A module of the page. @param {string} name */
export const load = (name) => import(new URL(`src/${name}`, web));

globalThis.document = { documentElement: { lang: "en" } };
globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)));

const { loadWords } = await load("lang.js");

/** Has the page speak a language. @param {string} lang */
export async function speak(lang) {
  document.documentElement.lang = lang;
  await loadWords();
}
