// The rules of a game: its sheet, and the options that can differ from it. The words of the options
// are those of the part `rules`.

import { t } from "./lang.js";

/** @import {Rules, Settings} from "./types.js" */

/** What can be chosen for a game. @type {Record<string, (string | number)[]>} */
export const CHOICES = {
  preset: ["dogspiel-it", "dogspiel-de", "familienlager", "spielanleitung", "hausregeln"],
  seats: [4, 6],
  level: ["random", "greedy", "fast", "strong"],
  pace: [0, 250, 500, 1000, 1500, 2000, 3000],
  clock: [0, 30, 60, 120, 300],
};

/** The values of an option that is one member in the API. @param {string} name @param {[string, string | boolean][]} values @returns {Record<string, Partial<Rules>>} */
const member = (name, values) => Object.fromEntries(values.map(([value, sent]) => [value, { [name]: sent }]));
/** @param {string} name @param {string[]} values */
const oneOf = (name, ...values) => member(name, values.map((value) => [value, value]));
/** @param {string} name */
const yesOrNo = (name) => member(name, [["yes", true], ["no", false]]);

/**
 * The options, each with its values, and what the API calls them. A jack without effect is one
 * choice here, and two members there.
 *
 * @type {Record<string, Record<string, Partial<Rules>>>}
 */
export const OPTIONS = {
  exchange: oneOf("exchange", "mandatory", "on_request", "optional"),
  backward_into_goal: yesOrNo("backward_into_goal"),
  fresh_into_goal: yesOrNo("fresh_into_goal"),
  seven_rest: oneOf("seven_rest", "any_pieces", "one_piece"),
  jack_without_effect: {
    no: { jack_without_effect: false },
    no_other_on_ring: { jack_without_effect: true, jack_without_effect_when: "no_other_on_ring" },
    no_swap_possible: { jack_without_effect: true, jack_without_effect_when: "no_swap_possible" },
  },
  capture_own: yesOrNo("capture_own"),
  reshuffle: oneOf("reshuffle", "when_empty", "before_deal"),
};

/** The options that were chosen to differ from the sheet, with their values. @param {Settings} settings */
export const chosenOptions = ({ options }) =>
  Object.entries(OPTIONS).flatMap(([name, values]) => {
    const value = options[name];
    return value && values[value] ? [{ name, value }] : [];
  });

/** The rules of the next game, for a request. @param {Settings} settings @returns {Partial<Rules>} */
export const rulesOf = (settings) => Object.assign(
  { preset: settings.preset, seats: settings.seats },
  ...chosenOptions(settings).map(({ name, value }) => OPTIONS[name][value]),
);

/** What the page calls the options, in the order of the rules. */
export const NAMES = [
  "seats", "fields_per_seat", "jokers", "deal_sizes", "dealer", "reshuffle", "exchange", "start_block", "start_swap_protection",
  "goal_entry", "backward_into_goal", "fresh_into_goal", "capture_own", "seven_landing", "seven_surplus", "seven_partner",
  "seven_rest", "jack_own_pair", "jack_without_effect",
];

/** The value of an option with several members in these rules. @param {Rules} rules @param {string} name */
function valueIn(rules, name) {
  const fits = (/** @type {Partial<Rules>} */ members) =>
    Object.entries(members).every(([member, value]) => rules[/** @type {keyof Rules} */ (member)] === value);
  return Object.entries(OPTIONS[name]).find(([, members]) => fits(members))?.[0] ?? "";
}

/** A value in words. Yes and no have the same words for all options. @param {string} name @param {string} value */
export const valueWords = (name, value) =>
  (value === "yes" || value === "no" ? t(value) : t(`option.${name}.${value}`));

/** The value of an option in these rules, in words. @param {Rules} rules @param {string} name */
export function wordsIn(rules, name) {
  const value = OPTIONS[name] ? valueIn(rules, name) : rules[/** @type {keyof Rules} */ (name)];
  if (typeof value === "number") return String(value);
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (typeof value === "object") {
    const [first, then] = [value.first, value.then].map((sizes) => sizes.join(", "));
    return t(`option.${name}.${first === then ? "same" : "is"}`, { first, then });
  }
  return valueWords(name, value);
}
