// The game in words.

import { capitalize, has, list, percent, t } from "./lang.js";
import { chosenCard, nextStep, partnerOf } from "./choose.js";

/** @import {AdviceReason, Capture, Game, GameEvent, Layout, Move, Part, Problem, SeatBoard, Spot, Table, Unplayable} from "./types.js" */

/** What the words need to know of a game: the names of the seats, and which is the reader's. */
/** @typedef {{names: string[], me: number | null}} People */

/** @param {Table} table @returns {People} */
export const people = ({ game, seat }) => ({
  // The server names a free seat in English, and counts from 0.
  names: game?.seats.map((one) => (one.kind === "open" ? t("seat.n", { n: one.seat + 1 }) : one.name)) ?? [],
  me: seat,
});

/**
 * What is to say of who plays a seat: keys of `state.*`. Nothing of a person is known as long as the
 * stream has not told who is there.
 *
 * @param {Table} table @param {number} seat @returns {string[]}
 */
export function statesOf({ game, presence }, seat) {
  const one = game?.seats[seat];
  if (!one) return [];
  if (one.kind !== "human") return [one.kind];
  const states = [];
  if (one.stand_in) states.push("stand-in");
  if (one.away) states.push("away");
  if (one.asked === false) states.push("waiting");
  if (presence?.[seat] === false) states.push("offline");
  if (states.length === 0 && presence?.[seat]) states.push("here");
  return states;
}

/** Whether people play together, and not one alone with bots. @param {Table} table */
export const isShared = ({ game, seat }) =>
  game?.seats.some((one) => one.joined || (one.seat !== seat && one.kind !== "bot")) ?? false;

/** What has happened last. @param {Table} table @returns {string} */
export function latestWords(table) {
  const who = people(table);
  if (table.news) {
    return t(table.news.present ? "event.present" : "event.absent", { name: nameOf(who, table.news.seat) });
  }
  return table.log.at(-1)?.events.flatMap((event) => eventWords(who, event) ?? []).join(" · ") ?? "";
}

/** @param {People} people @param {number} seat */
export const nameOf = ({ names, me }, seat) => (seat === me ? t("you") : names[seat]);

/** @param {People} people @param {number} seat */
const pieceOf = ({ names, me }, seat) =>
  (seat === me ? t("piece.yours") : t("piece.of", { name: names[seat] }));

/** A card by its name: `A` in English, `Ass` in German. @param {string} card */
export const cardName = (card) => (has(`card.${card}`) ? t(`card.${card}`) : card);

/** @param {string} place */
export function placeWords(place) {
  if (place === "kennel") return t("place.kennel");
  if (place.startsWith("goal:")) return t("place.goal", { n: Number(place.slice(5)) + 1 });
  return t("place.field", { n: place });
}

/** A place as the name of a button: "Field 17, your piece". @param {People} people @param {Spot} spot @param {number | null} owner */
export function spotName(people, { place }, owner) {
  const words = capitalize(placeWords(place));
  return owner === null ? words : t("spot.piece", { place: words, piece: pieceOf(people, owner) });
}

/**
 * Where the pieces of a seat are. Fields are counted from the reader's start, or from the seat's own
 * if the reader has no seat.
 *
 * @param {People} people @param {Layout} layout @param {SeatBoard[]} board @param {number} seat
 */
export function whereWords(people, layout, board, seat) {
  const { kennel, track, goal, fresh } = board[seat];
  const length = Object.keys(layout.places).filter((place) => !place.includes(":")).length;
  const { start } = layout.seats[people.me ?? seat];
  const own = people.me === null ? "own" : "yours";
  /** @param {number} field */
  const onTrack = (field) => {
    const place = placeWords(String(field));
    const after = (field - start + length) % length;
    const words = after === 0 ? t(`where.on.${own}`, { place })
      : 2 * after <= length ? t(`where.after.${own}`, { place, n: after })
      : t(`where.before.${own}`, { place, n: length - after });
    return fresh && field === layout.seats[seat].start ? t("where.fresh", { place: words }) : words;
  };
  const places = [
    ...(kennel ? [t("where.kennel", { n: kennel })] : []),
    ...track.map(onTrack),
    ...goal.map((depth) => placeWords(`goal:${depth}`)),
  ];
  return t("where.seat", { name: nameOf(people, seat), places: places.join("; ") });
}

/** @param {People} people @param {Capture[]} captures */
export const captureWords = (people, captures) =>
  t("captures", { pieces: list(captures.map(({ seat, from }) =>
    t("captured", { piece: pieceOf(people, seat), place: placeWords(from) }))) });

/** @param {Move["kind"]} kind @param {Part[]} parts @param {People} people */
function partsWords(kind, parts, people) {
  switch (kind) {
    case "leave_kennel": return t("move.leave_kennel");
    case "swap": return t("move.swap", {
      from: placeWords(parts[0].from), to: placeWords(parts[1].from), piece: pieceOf(people, parts[1].seat),
    });
    case "no_effect": return t("move.no_effect");
    case "fold": return t("move.fold");
    default: return parts.map(({ from, to }) =>
      t(kind === "retreat" ? "move.retreat" : "move.advance", { from: placeWords(from), to: placeWords(to) })).join(", ");
  }
}

/** A move in words, with what it captures. @param {People} people @param {Move} move */
export function moveWords(people, move) {
  const what = partsWords(move.kind, move.parts, people);
  if (!move.card) return what;
  const card = move.as ? t("card.as", { rank: cardName(move.as) }) : cardName(move.card);
  const words = t("move.card", { card, what });
  return move.captures.length === 0 ? words : `${words}, ${captureWords(people, move.captures)}`;
}

/** An event of the log in words, or null if it is not worth a line. @param {People} people @param {GameEvent} event @returns {string | null} */
export function eventWords(people, event) {
  const name = "seat" in event ? nameOf(people, event.seat) : "";
  switch (event.type) {
    case "cards_dealt":
      return t("event.cards_dealt", { name: nameOf(people, event.dealer), round: event.round, n: event.size })
        + (event.reshuffled ? ` ${t("event.reshuffled")}` : "");
    case "help_asked": return t("event.help_asked", { name });
    case "card_offered":
      return event.card ? t("event.card_offered.known", { name, card: cardName(event.card) }) : t("event.card_offered", { name });
    case "exchange_passed": return t("event.exchange_passed", { name });
    case "exchange_declined": return t("event.exchange_declined", { name });
    case "cards_swapped":
      return event.given.map((one) => (one.card
        ? t("event.given.known", { name: nameOf(people, one.seat), card: cardName(one.card) })
        : t("event.given", { name: nameOf(people, one.seat) }))).join(" ");
    case "card_played": return t("event.says", { name, what: moveWords(people, event.move) });
    case "hand_folded": return t("event.hand_folded", { name, cards: list(event.cards.map(cardName)) });
    case "round_ended": return t("event.round_ended", { round: event.round });
    case "game_won":
      return t("event.game_won", { team: list(people.names.filter((_, seat) => seat % (people.names.length / 2) === event.team)) });
    case "token_reissued": return t("event.token_reissued", { name });
    case "seat_taken": return t("event.seat_taken", { name: event.name });
    case "rematch_asked": return t("event.rematch_asked", { name: people.names[event.seat] });
    case "settings_changed": return t("event.settings_changed");
    case "seat_away": return t("event.seat_away", { name });
    case "seat_back": return t("event.seat_back", { name });
    case "seat_handed_over":
      return t(`event.seat_handed_over.${event.kind}`, {
        name: event.kind === "open" ? t("seat.n", { n: event.seat + 1 }) : event.name,
      });
    default: return null;
  }
}

/** The names of a team. @param {Game} game @param {number} team */
export const teamNames = (game, team) =>
  list(game.seats.filter((seat) => seat.team === team).map((seat) => seat.name));

/** What the player has to do now, or whom the table waits for. @param {Table} table @returns {string} */
export function whatToDo(table) {
  const { game } = table;
  if (!game) return t("do.wait");
  const who = people(table);
  if (game.phase === "finished") return t("do.finished");
  if (table.sending) return t("do.sending");
  const own = table.seat === null ? null : game.seats[table.seat];
  if (own?.kind === "bot") return t("do.bot");
  if (own?.away) return t("do.away");
  if (own?.stand_in) return t("do.stand-in");
  const step = nextStep(table);
  const { confirm } = table.choice;
  switch (step.stage) {
    case "deal": return t("do.deal");
    case "exchange":
      if (chosenCard(table)) return t("do.give", { card: cardName(chosenCard(table) ?? "") });
      return t(exchangeKey(game, step.choices), { name: partnerName(table) });
    case "fold": return confirm ? t("do.fold.confirm") : [t("do.fold"), ...whyFold(table)].join(" ");
    case "card": return t("do.card");
    case "rank": return t("do.rank");
    case "piece": return `${t("do.piece")}${stepsLeft(table)}`;
    case "target":
      if (confirm && confirm !== "fold") return t("do.partner", { name: partnerName(table) });
      return `${t("do.target")}${stepsLeft(table)}`;
    case "play":
      return confirm ? t("do.partner", { name: partnerName(table) }) : t("do.play");
    case "wait": return t("do.wait");
    default: break;
  }
  if (table.seat !== null && game.phase === "play" && game.seats[table.seat].folded) return t("do.folded");
  if (game.phase === "deal") return t("do.others.deal", { name: nameOf(who, game.dealer ?? 0) });
  if (game.phase === "exchange") return exchangeWaits(table, game);
  return game.turn === null || game.turn === undefined ? t("do.wait")
    : t("do.others.play", { name: nameOf(who, game.turn) });
}

/** @param {Table} table */
const partnerName = (table) =>
  (table.game && table.seat !== null ? people(table).names[partnerOf(table.game, table.seat).seat] : "");

/** What the exchange asks of the player. @param {Game} game @param {string[]} choices */
function exchangeKey({ rules }, choices) {
  if (rules.exchange !== "on_request") return choices.includes("decline") ? "do.exchange.optional" : "do.exchange";
  if (choices.includes("ask")) return "do.exchange.open";
  return choices.includes("decline") ? "do.exchange.asked" : "do.exchange.promised";
}

/** Whom the exchange waits for. @param {Table} table @param {Game} game */
function exchangeWaits(table, { rules, seats }) {
  if (rules.exchange !== "on_request") return t("do.others.exchange");
  const name = partnerName(table);
  switch (table.seat === null ? null : seats[table.seat].exchange) {
    case "asked": return t("do.waits.answer", { name });
    case "offered": return t("do.waits.card", { name });
    case "passed": return t("do.waits.passed", { name });
    default: return t("do.others.request");
  }
}

/** @param {Table} table */
function stepsLeft(table) {
  const last = table.choice.seven.at(-1);
  return last ? ` ${t("do.left", { n: last.shown.left })}` : "";
}

/** Why each card of the hand cannot be played: cards with the same reason together. @param {Table} table */
function whyFold(table) {
  /** @type {Map<string, string[]>} */
  const cards = new Map();
  for (const one of table.unplayable ?? []) {
    const why = whyUnplayable(one, people(table));
    cards.set(why, [...cards.get(why) ?? [], cardName(one.card)]);
  }
  return [...cards].map(([why, names]) => t("fold.why", { cards: list(names), why }));
}

/** Why a card cannot be played. @param {Unplayable} unplayable @param {People} people */
export const whyUnplayable = ({ reason, seat, place }, people) =>
  (has(`unplayable.${reason}`) ? t(`unplayable.${reason}`) : reasonWords({ reason, seat, place }, people));

/** Why a suggestion is good or bad. @param {AdviceReason} reason @param {People} people */
export function reasonForAdvice({ code, seat, card, probability, text }, people) {
  const key = `advice.reason.${code}`;
  if (!has(key)) return text;
  return capitalize(t(key, {
    name: typeof seat === "number" ? nameOf(people, seat) : "",
    piece: typeof seat === "number" ? pieceOf(people, seat) : "",
    card: card ? cardName(card) : "",
    chance: percent(probability ?? 0),
  }));
}

/** A refusal in the reader's language. @param {Problem | "network"} problem @param {People} people */
export const problemWords = (problem, people) =>
  (problem === "network" ? t("problem.network") : reasonWords(problem, people));

/**
 * The words of a reason, else of a code, else what the server says.
 *
 * @param {Partial<Problem>} problem @param {People} people
 */
function reasonWords({ reason, code, seat, place, card, phase, part, detail }, people) {
  const values = {
    place: place ? placeWords(place) : "",
    card: card ? cardName(card) : "",
    name: typeof seat === "number" ? nameOf(people, seat) : "",
    piece: typeof seat === "number" ? pieceOf(people, seat) : "",
    phase: phase ? t(`phase.${phase}`) : "",
    n: part ?? "",
  };
  for (const key of [`reason.${reason}`, `code.${code}`]) {
    if (has(key)) return t(key, values);
  }
  return detail ?? "";
}
