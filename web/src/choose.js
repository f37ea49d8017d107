// What the player can choose now. All of it comes from what the server lists as legal: this file
// filters and groups the lists, and knows no rule of the game.

/** @import {Action, Capture, Game, Move, Offer, Part, Preview, SevenPart, Spot, Table} from "./types.js" */

export const RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];

/**
 * The next thing to choose.
 * @typedef {(
 *   {stage: "none"}
 *   | {stage: "wait"}
 *   | {stage: "deal"}
 *   | {stage: "exchange", choices: string[]}
 *   | {stage: "fold", id: string}
 *   | {stage: "card"}
 *   | {stage: "rank", ranks: string[]}
 *   | {stage: "piece", pieces: {key: string, spot: Spot}[]}
 *   | {stage: "target", offers: Offer[]}
 *   | {stage: "play", offer: Offer}
 * )} Step
 *   `none`: nothing to do for this viewer. `wait`: a list is on its way.
 */

/** @param {Spot} spot */
export const spotKey = ({ seat, place }) => (/^\d+$/.test(place) ? place : `${seat}:${place}`);

/** The action of this name that the viewer may do now. @param {Table} table @param {string} route */
export const action = (table, route) =>
  /** @type {Action | undefined} */ (table.game?.actions.find((one) => one.route === route));

/** The seat of the player. @param {Pick<Table, "game" | "seat">} table */
export const ownSeat = ({ game, seat }) => (seat === null ? undefined : game?.seats[seat]);

/** The partner of a seat. @param {number} seat @param {number} count of the seats */
export const partnerOf = (seat, count) => (seat + count / 2) % count;

/** The seats of each team. @param {number} count of the seats */
export const teamsOf = (count) => Array.from({ length: count / 2 }, (_, seat) => [seat, partnerOf(seat, count)]);

/** Whether the losers of a finished game gave up: the winners are not home. @param {Game} game */
export const isForfeited = ({ board, seats, winner }) => seats.some((one) => one.team === winner && board[one.seat].goal.length < 4);

/** The card chosen from the hand. @param {Table} table @returns {string | null} */
export const chosenCard = (table) => ownSeat(table)?.hand?.[table.choice.card ?? -1] ?? null;

/** The cards that can be played, or null while the list is on its way. @param {Table} table */
export const playable = (table) => table.moves && new Set(table.moves.list.map((move) => move.card));

/** Whether a card of the hand has no legal move. @param {Table} table */
export function holdsUnplayable(table) {
  const legal = playable(table);
  return legal !== null && (ownSeat(table)?.hand ?? []).some((card) => !legal.has(card));
}

/** The text before the parts of a seven, or null if the choice is not a seven. @param {Table} table */
export function sevenBegun(table) {
  const card = chosenCard(table);
  if (card === "7") return "7:";
  if (card !== "joker" || !table.moves) return null;
  return chosenRank(table) === "7" ? "joker=7:" : null;
}

/** What the joker stands for: chosen, or the only rank there is. @param {Table} table */
function chosenRank(table) {
  if (table.choice.rank !== null) return table.choice.rank;
  const ranks = ranksOf(table);
  return ranks.length === 1 ? ranks[0] : null;
}

/** @param {Table} table @returns {string[]} */
function ranksOf(table) {
  const ranks = (table.moves?.list ?? []).flatMap((move) =>
    (move.card === "joker" && move.as ? [move.as] : []));
  return RANKS.filter((rank) => ranks.some((one) => one === rank));
}

/** @param {Move} move @returns {Offer} */
export function offerOf(move) {
  const parts = /** @type {Part[]} */ (move.parts);
  const first = parts[0];
  const from = first ? { seat: first.seat, place: first.from } : { seat: move.seat, place: "" };
  // A swap is one choice between two pieces, although it has two parts.
  const to = move.kind === "swap" ? { seat: parts[1].seat, place: parts[1].from }
    : first ? { seat: first.seat, place: first.to } : null;
  return { id: move.id, piece: spotKey(from), from, to, captures: move.captures, parts, part: null };
}

/** @param {Preview} offer @returns {Preview} */
export const previewOf = ({ parts, captures }) => ({ parts, captures });

/** @param {SevenPart} next @returns {Offer} */
function offerOfPart(next) {
  const { part } = next;
  const from = { seat: part.seat, place: part.from };
  return {
    id: next.id, piece: spotKey(from), from, to: { seat: part.seat, place: part.to },
    captures: next.captures, parts: [part], part: next,
  };
}

/** The captures of a begun seven. @param {Table} table @returns {Capture[]} */
const sevenCaptures = (table) => table.choice.seven.flatMap(({ part }) => part?.captures ?? []);

/** What to choose next. @param {Table} table @returns {Step} */
export function nextStep(table) {
  const { game, choice } = table;
  if (!game) return { stage: "wait" };
  if (action(table, "deal") && table.seat !== null) return { stage: "deal" };
  const swap = action(table, "swap");
  if (swap) {
    const open = game.rules.exchange === "optional" ? ["card", "ask", "decline"] : ["card"];
    return { stage: "exchange", choices: swap.choices ?? open };
  }
  if (!action(table, "play")) return { stage: "none" };
  if (!table.moves) return { stage: "wait" };
  const fold = table.moves.list.find((move) => move.kind === "fold");
  if (fold) return { stage: "fold", id: fold.id };
  const card = chosenCard(table);
  if (card === null) return { stage: "card" };
  const rank = card === "joker" ? chosenRank(table) : null;
  if (card === "joker" && rank === null) return { stage: "rank", ranks: ranksOf(table) };
  if (sevenBegun(table)) return sevenStep(table);
  const offers = table.moves.list
    .filter((move) => move.card === card && (move.as ?? null) === rank).map(offerOf);
  if (offers.length === 1 && offers[0].to === null) return { stage: "play", offer: offers[0] };
  return pieceOrTarget(offers, choice.piece);
}

/** @param {Table} table @returns {Step} */
function sevenStep(table) {
  const last = table.choice.seven.at(-1);
  if (!last) return { stage: "wait" };
  const { part, shown } = last;
  if (part?.complete) {
    const offer = { ...offerOfPart(part), captures: sevenCaptures(table) };
    return { stage: "play", offer };
  }
  return pieceOrTarget(shown.next.map(offerOfPart), table.choice.piece);
}

/** @param {Offer[]} offers @param {string | null} chosen @returns {Step} */
function pieceOrTarget(offers, chosen) {
  const pieces = new Map(offers.map((offer) => [offer.piece, offer.from]));
  if (chosen === null && pieces.size > 1) {
    return { stage: "piece", pieces: [...pieces].map(([key, spot]) => ({ key, spot })) };
  }
  return { stage: "target", offers: offers.filter((offer) => chosen === null || offer.piece === chosen) };
}

/** Whether there is something to take back. @param {Table} table */
export const canUndo = ({ choice }) => choice.card !== null || choice.confirm !== null;
