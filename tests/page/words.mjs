// Checks that each language has every word that the page uses, with the same placeholders, and that
// index.html preloads every module.

import { readFileSync, readdirSync } from "node:fs";

const web = new URL("../../web/", import.meta.url);
const languages = ["en", "de", "fr", "it"];
const words = Object.fromEntries(languages.map((lang) =>
  [lang, JSON.parse(readFileSync(new URL(`lang/${lang}.json`, web), "utf8"))]));
const problems = [];

const placeholders = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join(" ");
for (const lang of languages) {
  for (const key of Object.keys(words.en)) {
    const text = words[lang][key];
    if (!text) problems.push(`${lang}: ${key} is missing`);
    else if (placeholders(text) !== placeholders(words.en[key])) problems.push(`${lang}: ${key} has other placeholders`);
  }
  for (const key of Object.keys(words[lang])) {
    if (!(key in words.en)) problems.push(`${lang}: ${key} is not in en.json`);
  }
}
if (JSON.stringify(words.de).includes("ß")) problems.push("de: Swiss spelling has no ß");

// The keys that the code names in full.
const sources = readdirSync(new URL("src/", web), { recursive: true })
  .filter((name) => name.endsWith(".js")).map((name) => readFileSync(new URL(`src/${name}`, web), "utf8"));
for (const [, key] of sources.join("\n").matchAll(/\bt\("([^"]+)"/g)) {
  if (!(key in words.en) && !(`${key}.other` in words.en)) problems.push(`en: ${key} is missing`);
}

// Every reason of a refusal that a move or an exchange can get.
const api = JSON.parse(readFileSync(new URL("../../openapi/openapi.json", import.meta.url), "utf8"));
const unseen = new Set([
  // The page sends no request that could get these.
  "invalid_ticket", "unknown_member", "missing", "duplicate", "wrong_value", "wrong_combination",
  "wrong_seats", "wrong_pieces", "no_such_field", "field_twice", "no_fresh_piece", "empty_hand",
  "more_than_deck", "not_a_place",
]);
for (const reason of api.components.schemas.Reason.enum) {
  if (!unseen.has(reason) && !(`reason.${reason}` in words.en)) problems.push(`en: reason.${reason} is missing`);
}

// index.html preloads every module but those that it names as scripts, and those of screens that
// are loaded when they are opened.
const html = readFileSync(new URL("index.html", web), "utf8");
for (const folder of ["src/", "vendor/"]) {
  for (const name of readdirSync(new URL(folder, web), { recursive: true })) {
    if (!name.endsWith(".js") || name.startsWith("analyse/") || ["main.js", "start.js"].includes(name) || name === "types.js") continue;
    if (!html.includes(`"modulepreload" href="${folder}${name}"`)) problems.push(`index.html does not preload ${folder}${name}`);
  }
}

for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
