// The words of the page: one file for each language, and Intl for the rest.

import { loadModule, readJson } from "./files.js";

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", it: "Italiano" };

/** @type {Record<string, string>} */
let words = {};
/** The language of the page, such as `de`. */
export let lang = "en";

/** Loads the words of the language that `start.js` has chosen. */
export async function loadWords() {
  ({ lang } = document.documentElement);
  rules = null;
  words = await readJson(`../lang/${lang}.json`);
}

/** The parts whose words are loaded, or on the way. @type {Map<string, Promise<void>>} */
const parts = new Map();

/** Loads the words of a part that is loaded later, such as `learn`. @param {string} part */
export function loadPart(part) {
  const loading = parts.get(part) ?? readJson(`../lang/${part}/${lang}.json`).then((more) => { Object.assign(words, more); });
  parts.set(part, loading);
  loading.catch(() => parts.delete(part));
  return loading;
}

/**
 * Loads the module of such a part, with its words.
 *
 * @template T @param {string} name relative to this one @param {() => Promise<T>} load imports it
 */
export const loadScreen = async (name, load) => (await Promise.all([loadModule(name, load), loadPart(name.split("/")[1])]))[0];

/**
 * The words under a key, with the values put in for `{name}`. With a number `n`, the key of the
 * plural category comes first (`cards.one`, `cards.other`).
 *
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const n = values.n;
  const text = (typeof n === "number" && words[`${key}.${plural(n)}`]) || words[key] || words[`${key}.other`] || key;
  return text.replace(/\{(\w+)\}/g, (_, name) => isolate(String(values[name] ?? `{${name}}`)));
}

/** Letters that are written from right to left, and characters that turn the direction. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Keeps the direction of a text, such as a name, from what is around it. @param {string} text */
const isolate = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

/** Whether there are words under a key. @param {string} key */
export const has = (key) => key in words;

/** Expensive to make. @type {Intl.PluralRules | null} */
let rules = null;
/** @param {number} n */
const plural = (n) => (rules ??= new Intl.PluralRules(lang)).select(n);

/** @param {string} text */
export const capitalize = (text) => text.charAt(0).toLocaleUpperCase(lang) + text.slice(1);

/** @param {string[]} items */
export const list = (items) => new Intl.ListFormat(lang).format(items.map(isolate));

/** @param {number} share 0 to 1 */
export const percent = (share) => new Intl.NumberFormat(lang, { style: "percent" }).format(share);

/** Points of a chance, with their sign. @param {number} share of 1 */
export const points = (share) =>
  new Intl.NumberFormat(lang, { signDisplay: "exceptZero", maximumFractionDigits: 0 }).format(100 * share).replace("-", "−");

/** A time in seconds, or in whole minutes. @param {number} milliseconds */
export function duration(milliseconds) {
  const minutes = milliseconds >= 60_000 && milliseconds % 60_000 === 0;
  return new Intl.NumberFormat(lang, {
    style: "unit", unit: minutes ? "minute" : "second", unitDisplay: "long", maximumFractionDigits: 2,
  }).format(milliseconds / (minutes ? 60_000 : 1000));
}

/** @param {number | string} time */
export const date = (time) =>
  new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" }).format(new Date(time));
