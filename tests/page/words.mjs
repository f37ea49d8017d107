// Checks that each language has every word that the page uses, with the same placeholders, that every
// lesson has its words, that the sentences of the log are right for their reader, and that index.html
// preloads every module.

import { readFileSync, readdirSync } from "node:fs";

import { load, speak, web } from "./page.mjs";

const languages = ["en", "de", "fr", "it"];
const read = (path) => JSON.parse(readFileSync(new URL(path, web), "utf8"));
/** Parts of the page that are loaded later, with their words. */
const parts = readdirSync(new URL("lang/", web)).filter((name) => !name.endsWith(".json"));
const first = read("lang/en.json");
const folders = ["lang/", ...parts.map((part) => `lang/${part}/`)];
const words = Object.fromEntries(languages.map((lang) =>
  [lang, Object.assign({}, ...folders.map((folder) => read(`${folder}${lang}.json`)))]));
const problems = [];

const placeholders = (text) => (text.match(/\{\w+\}/g) ?? []).sort().join(" ");
for (const file of folders.flatMap((folder) => languages.map((lang) => `${folder}${lang}.json`))) {
  const [english, there] = [file.replace(/[^/]+$/, "en.json"), file].map(read);
  for (const key of Object.keys(english)) {
    const text = there[key];
    if (!text) problems.push(`${file}: ${key} is missing`);
    else if (placeholders(text) !== placeholders(english[key])) problems.push(`${file}: ${key} has other placeholders`);
  }
  for (const key of Object.keys(there)) {
    if (!(key in english)) problems.push(`${file}: ${key} is not in en.json`);
  }
}
if (JSON.stringify(words.de).includes("ß")) problems.push("de: Swiss spelling has no ß");

// French has one word for a round and another for a turn, one form of address, no “de” before a name,
// which may begin with a vowel, and no line that begins with a question mark.
for (const [key, text] of Object.entries(words.fr)) {
  if (/ [:;!?»]|« /.test(text) || /(?<!\p{L})(tours?|tu|toi|tes)(?!\p{L})/iu.test(text) || /\b(de|que) \{(name|names|piece)\}/.test(text)) problems.push(`fr: ${key}: ${text}`);
}

// The keys that the code names in full.
for (const name of readdirSync(new URL("src/", web), { recursive: true }).filter((one) => one.endsWith(".js"))) {
  const known = parts.some((part) => name.startsWith(`${part}/`)) ? words.en : first;
  for (const [, key] of readFileSync(new URL(`src/${name}`, web), "utf8").matchAll(/\bt\("([^"]+)"/g)) {
    if (!(key in known) && !(`${key}.other` in known)) problems.push(`en: ${key} is missing (${name})`);
  }
}

// The words of the lessons.
for (const lesson of read("lessons/course.json")) {
  for (const text of ["title", "about", "task", "mistake", "solved", ...Object.keys(read(`lessons/${lesson}.json`).missing ?? {})]) {
    if (!words.en[`lesson.${lesson}.${text}`]) problems.push(`en: lesson.${lesson}.${text} is missing`);
  }
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

// Every reason of a suggestion. What speaks against it begins with "But".
const BUT = { en: "But ", de: "Aber ", fr: "Mais ", it: "Ma " };
const against = ["captures_partner", "captures_own", "exposes", "unblocks", "harms_partner"];
for (const lang of languages) {
  for (const code of api.components.schemas.AdviceReasonCode.enum) {
    const text = words[lang][`advice.reason.${code}`] ?? "";
    if (!text || text.startsWith(BUT[lang]) !== against.includes(code)) problems.push(`${lang}: advice.reason.${code}: ${text}`);
  }
}

// Every option of the rules, and every value that the API has for it.
const { NAMES, OPTIONS } = await load("rules.js");
const schemas = api.components.schemas;
for (const [name, { $ref, type }] of Object.entries(schemas.Rules.properties)) {
  // The sheet is not an option, and the page takes the other together with the option before it.
  if (["preset", "jack_without_effect_when"].includes(name)) continue;
  if (!NAMES.includes(name)) problems.push(`the rules leave out ${name}`);
  const values = OPTIONS[name] ? Object.keys(OPTIONS[name]).filter((value) => !["yes", "no"].includes(value))
    : $ref ? schemas[$ref.split("/").at(-1)].enum ?? ["is"] : [];
  for (const key of [`option.${name}`, ...values.map((value) => `option.${name}.${value}`)]) {
    // A jack that has an effect needs no words.
    if (!words.en[key] && key !== "option.jack_without_effect.no") problems.push(`en: ${key} is missing`);
  }
  if (!OPTIONS[name] && !$ref && !["integer", "boolean"].includes(type)) problems.push(`no words for the values of ${name}`);
  // What can be chosen for a game is all that the API has.
  const members = Object.values(OPTIONS[name] ?? {}).flatMap((one) => Object.entries(one));
  for (const [member, { $ref: of }] of Object.entries(schemas.Rules.properties).filter(([one]) => members.some(([other]) => other === one))) {
    for (const value of of ? schemas[of.split("/").at(-1)].enum : [true, false]) {
      if (!members.some(([one, chosen]) => one === member && chosen === value)) problems.push(`no words for ${member}: ${value}`);
    }
  }
}
for (const preset of schemas.Preset.enum) {
  if (!words.en[`preset.${preset}`]) problems.push(`en: preset.${preset} is missing`);
}

// The sentences of the log: what the reader does has a sentence of its own, and no field has a number.
/** What can be played, with the seats that it concerns. */
const moves = [
  ["leave_kennel", [["kennel", "42"]]], ["advance", [["42", "77"]]], ["advance", [["42", "goal:0"]]],
  ["seven", [["42", "47"], ["77", "79"]]], ["retreat", [["42", "38"]]], ["no_effect", []], ["swap", [["42", "77"], ["77", "42"]]],
].flatMap(([kind, ways]) => [[], [0], [1], [2, 2], [0, 1, 2]].map((captured) => ({
  card: "K", kind, captures: captured.map((seat) => ({ seat, from: "77" })),
  parts: ways.map(([from, to], index) => ({ from, to, seat: kind === "swap" ? index : 0 })),
})));
/** Of each type of event, all that is told of one seat. @type {Record<string, (seat: number) => object[]>} */
const events = {
  cards_dealt: (dealer) => [1, 6].map((size) => ({ dealer, round: 2, size, reshuffled: true })),
  cards_swapped: (seat) => [[seat, seat + 2], [seat + 2, seat]].map((pair) => ({ given: pair.map((one) => ({ seat: one % 4, card: "Q" })) })),
  card_played: (seat) => moves.map((move) => ({ seat, move: { ...move, seat, parts: move.parts.map((part) => ({ ...part, seat: (part.seat + seat) % 4 })) } })),
  hand_folded: (seat) => [{ seat, cards: ["2", "9"] }],
  game_won: (seat) => [{ team: seat % 2 }],
  table_won: (seat) => [{ team: seat % 2 }],
  seat_taken: (seat) => [{ seat, name: names[seat] }],
  seat_handed_over: (seat) => ["human", "bot"].map((kind) => ({ seat, kind, name: names[seat] })),
};
for (const type of ["help_asked", "exchange_passed", "exchange_declined", "token_reissued", "rematch_asked", "seat_away", "seat_back"]) {
  events[type] = (seat) => [{ seat }];
}
const names = ["Anna", "Beat", "Carla", "Dani"];
/** Events without a seat, or without a line, or whose words are loaded later (see words.test.mjs). */
const others = ["game_created", "card_offered", "play_began", "round_ended", "token_renewed", "settings_changed",
  "forfeit_offered", "team_forfeited"];
for (const type of Object.keys(api.components.schemas.Event.discriminator.mapping)) {
  if (!events[type] && !others.includes(type)) problems.push(`the event ${type} is not tested`);
}
const page = await load("words.js");
const { t } = await load("lang.js");
for (const lang of languages) {
  await speak(lang);
  for (const [type, eventsOf] of Object.entries(events)) {
    const told = (me) => eventsOf(0).map((event) => page.eventWords({ names, me }, { type, ...event }));
    told(0).forEach((text, index) => {
      const from = told(null)[index];
      const problem = /\{|event\.|did\.|whom/.test(text + from) ? "a word is missing"
        : /42|77|38|47|79/.test(text + from) ? "the log has the number of a field"
          : text.includes("Anna") ? "the reader has a name"
            // A verb in the past is the same in English.
            : text === from.replace("Anna", t("you")) ? "the reader has no sentence" : null;
      if (problem) problems.push(`${lang}: ${type}: ${problem}: ${text} | ${from}`);
    });
  }
}

// index.html preloads every module but the one that it names as a script, and those of screens that
// are loaded when they are opened.
const html = readFileSync(new URL("index.html", web), "utf8");
for (const folder of ["src/", "vendor/"]) {
  for (const name of readdirSync(new URL(folder, web), { recursive: true })) {
    if (!name.endsWith(".js") || [...parts, "finished"].some((part) => name.startsWith(`${part}/`)) || ["main.js", "types.js", "qr.js", "lean-qr.js"].includes(name)) continue;
    if (!html.includes(`"modulepreload" href="${folder}${name}"`)) problems.push(`index.html does not preload ${folder}${name}`);
  }
}

for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
