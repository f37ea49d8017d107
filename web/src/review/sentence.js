// What a review says first: a sentence on the luck and the play of a team.

import { teamsOf } from "../choose.js";
import { list, t } from "../lang.js";

/** @import {Review} from "../types.js" */
/** @import {People} from "../words.js" */

/** What a chance changes by at least to be worth a word. */
const LEAST = 0.05;

/** Words for a share of the luck, and below which share they hold. @type {[string, number][]} */
const PARTS = [["little", 0.2], ["quarter", 0.29], ["third", 0.42], ["half", 0.58], ["more", Infinity]];

/** @param {{size: number}[]} rounds */
const sum = (rounds) => rounds.reduce((total, { size }) => total + size, 0);

/** The rounds that stand out, if any, in what a team won by its play (`side` 1) or lost (−1). @param {Review} review @param {number} team @param {number} side */
function roundsOf({ rounds }, team, side) {
  const all = rounds.map(({ round, decisions }) => ({ round, size: side * decisions[team] })).filter(({ size }) => size > 0);
  const most = all.filter(({ size }) => 2 * size >= Math.max(...all.map((one) => one.size)));
  return most.length <= 3 && 2 * sum(most) >= sum(all) ? most.map(({ round }) => String(round)) : [];
}

/**
 * How it went for the reader's team, or for the winners if the reader has no seat. What is below two
 * standard errors is not clear.
 *
 * @param {Review} review that is done @param {People} people
 */
export function sentenceOf(review, { names, me }) {
  const teams = teamsOf(names.length);
  const one = review.teams.find(({ team, result }) => (me === null ? result === 1 : team === me % teams.length));
  if (!one) return "";
  const { team, luck, rest, decisions: play } = one;
  const won = one.result === 1;
  const unsure = Math.max(LEAST, 2 * Math.hypot(...review.decisions.map((made) => made.standard_error)));
  const [side, other] = [play, luck + rest].map((size) => (Math.abs(size) < unsure ? 0 : Math.sign(size)));
  const sides = ["against", "even", "with"];
  // Where the play speaks against the result, or for nobody, luck decided.
  const key = [won ? "won" : "lost", sides[side + 1], ...(side === (won ? 1 : -1) ? [sides[other + 1]] : [])].join(".");
  const rounds = side === 0 ? [] : roundsOf(review, team, side);
  const part = PARTS.find(([, below]) => -play / (luck + rest) < below)?.[0];
  return t(`review.says.${key}${me === null ? "" : ".you"}`, {
    names: list(teams[team].map((seat) => names[seat])),
    part: t(`review.part.${part}`),
    where: rounds.length > 0 ? t("review.where", { n: rounds.length, rounds: list(rounds) }) : "",
  });
}
