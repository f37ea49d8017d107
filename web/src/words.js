// The game in words.

import { capitalize, has, list, percent, t } from "./lang.js";
import { chosenCard, nextStep, ownSeat, partnerOf, teamsOf } from "./choose.js";

/** @import {AdviceReason, Capture, Failure, Game, GameEvent, Given, Layout, LogEntry, Move, Problem, Rules, SeatBoard,
 *    Spot, Suggestion, Table, Unplayable} from "./types.js" */

/**
 * What the words need to know of a game: the names of the seats, which is the reader's, which belong to
 * people, also where a bot plays now, and whether the reader is the host.
 * @typedef {{names: string[], me: number | null, joined?: boolean[], host?: boolean}} People
 */

/** @param {Table} table @returns {People} */
export const people = ({ game, seat, hostToken }) => ({
  // The server names a free seat in English, and counts from 0.
  names: game?.seats.map((one) => (one.kind === "open" ? t("seat.n", { n: one.seat + 1 }) : one.name)) ?? [],
  me: seat,
  joined: game?.seats.map((one) => one.joined),
  host: hostToken !== null,
});

/**
 * What to say about who plays a seat: keys of `state.*`. Nothing is known of a person until the stream
 * has told who is there.
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

/** Whether people play together, and not one alone with bots. @param {Pick<Table, "game" | "seat">} table */
export const isShared = ({ game, seat }) =>
  game?.seats.some((one) => one.joined || (one.seat !== seat && one.kind !== "bot")) ?? false;

/** Who came back or lost the connection. @param {People} people @param {Table["news"][number]} news */
export const newsWords = ({ names }, { seat, present }) => t(present ? "event.present" : "event.absent", { name: names[seat] });

/** What has happened last. @param {Table} table @returns {string} */
export function latestWords(table) {
  const who = people(table);
  if (table.news.length > 0) return table.news.map((one) => newsWords(who, one)).join(" ");
  for (let index = table.log.length - 1; index >= 0; index -= 1) {
    const words = entryWords(who, table.log[index]);
    if (words) return words;
  }
  return "";
}

/** What happened in a change, or an empty text if it is not worth a line. @param {People} people @param {LogEntry} entry */
export const entryWords = (people, { events }) => events.flatMap((event) => eventWords(people, event) ?? []).join(" · ");

/** The name of a seat where it stands alone, not in a sentence. @param {People} people @param {number} seat */
export const nameOf = ({ names, me }, seat) => (seat === me ? t("you") : names[seat]);

/**
 * A sentence about a seat. What the reader does has words of its own, under the key with `.you`.
 *
 * @param {People} people @param {number} seat @param {string} key @param {Record<string, string | number>} [values]
 */
const say = ({ names, me }, seat, key, values) =>
  (seat === me ? t(`${key}.you`, values) : t(key, { name: names[seat], ...values }));

/** What is told of a team, with the names of its seats. @param {People} people @param {number} team @param {string} key @param {string} [own] how it is told of the reader's */
function sayTeam({ names, me }, team, key, own = "you") {
  const seats = teamsOf(names.length)[team];
  const others = seats.filter((seat) => seat !== me);
  return t(others.length < seats.length ? `${key}.${own}` : key, { n: team + 1, names: list(others.map((seat) => names[seat])) });
}

/** Who has won, as a heading, or as the reader tells others. @param {People} people @param {number} team @param {"you" | "me"} [own] */
export const wonWords = (people, team, own) => sayTeam(people, team, "finished.title", own);

/** @param {People} people @param {number} seat */
const pieceOf = ({ names, me }, seat) =>
  (seat === me ? t("piece.yours") : t("piece.of", { name: names[seat] }));

/** A card by its name: `A` in English, `Ass` in German. @param {string} card */
export const cardName = (card) => (has(`card.${card}`) ? t(`card.${card}`) : card);

/** A card as the object of a sentence, with its article. @param {string} card */
export const theCard = (card) => t(has(`card.${card}.the`) ? `card.${card}.the` : "card.n.the", { n: card });

/** @param {string} place @param {"" | ".on" | ".from" | ".to"} [how] in which a sentence needs it */
export function placeWords(place, how = "") {
  if (place === "kennel") return t(`place.kennel${how}`);
  if (place.startsWith("goal:")) return t(`place.goal${how}`, { n: Number(place.slice(5)) + 1 });
  return t(`place.field${how}`, { n: place });
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
    say(people, seat, "captured", { on: placeWords(from, ".on") }))) });

/** @param {People} people @param {Move} move */
function partsWords(people, { kind, parts }) {
  switch (kind) {
    case "leave_kennel": return t("move.leave_kennel");
    case "swap": return t("move.swap", {
      from: placeWords(parts[0].from), to: placeWords(parts[1].from), piece: pieceOf(people, parts[1].seat),
    });
    case "no_effect": return t("move.no_effect");
    case "fold": return t("move.fold");
    default: return parts.map(({ from, to }) =>
      t(kind === "retreat" ? "move.retreat" : "move.advance", { from: placeWords(from, ".from"), to: placeWords(to, ".to") })).join(", ");
  }
}

/** The card of a move, and what a joker stands for, as the object of a sentence. @param {Move} move */
const playedCard = ({ card, as }) => (as ? t("card.as.the", { rank: has(`card.${as}.as`) ? t(`card.${as}.as`) : as }) : theCard(card ?? ""));

/** A move in words, with its places and what it captures. @param {People} people @param {Move} move */
export function moveWords(people, move) {
  const what = partsWords(people, move);
  if (!move.card) return what;
  const card = move.as ? t("card.as", { rank: cardName(move.as) }) : cardName(move.card);
  const words = t("move.card", { card, what });
  return move.captures.length === 0 ? words : `${words}, ${captureWords(people, move.captures)}`;
}

/** What a suggestion is, as people say it. @param {People} people @param {Suggestion} suggestion */
export function suggestionWords(people, suggestion) {
  if ("move" in suggestion) return suggestion.move.card ? playedWords(people, suggestion.move) : t("move.fold");
  const { card, ask, pass } = suggestion.swap;
  return card ? capitalize(t("advice.give", { card: theCard(card) })) : t(ask ? "ask" : pass ? "pass" : "decline");
}

/**
 * What a suggestion is, in few words: the card, and what it does.
 *
 * @param {People} people @param {Suggestion} suggestion
 */
export function shortWords(people, suggestion) {
  if (!("move" in suggestion) || !suggestion.move.card) return suggestionWords(people, suggestion);
  const { card, as } = suggestion.move;
  return [as ? t("card.as", { rank: cardName(as) }) : cardName(card), ...didWords({ ...people, me: null }, suggestion.move)].join(" · ");
}

/** The chance of a suggestion. Only what is proved is certain. @param {Suggestion} suggestion */
export const chanceOf = ({ win_probability: chance, standard_error: error }) =>
  percent(error === 0 ? chance : Math.min(Math.max(chance, 0.01), 0.99));

/** The places of a suggested play, after its words. @param {People} people @param {Suggestion} suggestion */
export function suggestedPlaces(people, suggestion) {
  if (!("move" in suggestion) || !suggestion.move.card) return "";
  const { kind, parts } = suggestion.move;
  return ` (${kind === "swap" ? parts.map(({ from }) => placeWords(from)).join(", ") : partsWords(people, suggestion.move)})`;
}

/** What a card does by these rules; without them, by any. @param {string} card @param {Rules | null} [rules] */
export function doesWords(card, rules) {
  if (!has(`does.${card}`)) return t("does.forward", { n: card });
  return t(card === "J" && rules?.jack_own_pair !== false ? "does.J.any" : `does.${card}`);
}

/** Whose pieces something happens to, as the object of a sentence. @param {People} people @param {number} actor @param {number[]} seats */
function whom(people, actor, seats) {
  const pieces = new Map(seats.map((seat) => [seat, seats.filter((one) => one === seat).length]));
  return list([...pieces].map(([seat, n]) => {
    if (seat === actor) return say(people, seat, "whom.own", { n });
    if (seat === people.me) return t("whom.you", { n });
    return n === 1 ? people.names[seat] : t("whom", { n, name: people.names[seat] });
  }));
}

/** What somebody has played, as people say it: without numbers of fields. @param {People} people @param {Move} move */
const playedWords = (people, move) =>
  list([say(people, move.seat, "event.played", { card: playedCard(move) }), ...didWords(people, move)]);

/** What a play does. @param {People} people @param {Move} move */
function didWords(people, { seat, kind, parts, captures }) {
  const said = [];
  if (kind === "swap") {
    // The reader first.
    const owners = parts.map((part) => part.seat).sort((a, b) => Number(b === people.me) - Number(a === people.me));
    const [other, ...more] = owners.filter((one) => one !== seat);
    const name = owners[0] === owners[1] ? "did.swap.own" : more.length === 0 ? "did.swap" : "did.swap.others";
    said.push(say(people, seat, name, {
      whom: other === people.me ? t("whom.with.you") : people.names[other],
      piece: pieceOf(people, other), name: people.names[more[0]],
    }));
  } else if (["leave_kennel", "retreat", "no_effect"].includes(kind)) {
    said.push(say(people, seat, `did.${kind}`));
  }
  if (parts.some(({ from, to }) => to.startsWith("goal:") && !from.startsWith("goal:"))) said.push(say(people, seat, "did.goal"));
  const captured = captures.map((one) => one.seat);
  if (captured.length === 1 && captured[0] === people.me && seat !== people.me) said.push(t("did.capture.reader"));
  else if (captured.length > 0) said.push(say(people, seat, "did.capture", { whom: whom(people, seat, captured) }));
  return said;
}

/** What two partners gave each other, as far as the reader knows it. @param {People} people @param {Given[]} given */
function swappedWords(people, given) {
  const [first, second] = given[1]?.seat === people.me ? [given[1], given[0]] : given;
  if (!first.card || !second.card) {
    const names = list([first, second].map((one) => people.names[one.seat]));
    return t(first.seat === people.me ? "event.cards_swapped.own" : "event.cards_swapped", { names, partner: people.names[second.seat] });
  }
  return say(people, first.seat, first.seat === people.me ? "event.cards_swapped" : "event.cards_swapped.known", {
    partner: people.names[second.seat], card: theCard(first.card), other: theCard(second.card),
  });
}

/** The seat that did something, if it was one. @param {GameEvent} event */
export const actorOf = (event) => ("seat" in event ? event.seat : event.type === "cards_dealt" ? event.dealer : null);

/** Whether the reader's time was up, so that the server did this. @param {People} people @param {GameEvent} event */
const wasLate = ({ me }, event) => me !== null && actorOf(event) === me && "by" in event && event.by === "clock";

/** What was done for the reader last, unless they have done something themselves since. @param {People} people @param {LogEntry[]} log */
export function lateWords(people, log) {
  const last = log.flatMap(({ events }) => events).filter((event) => actorOf(event) === people.me).at(-1);
  return last && wasLate(people, last) ? eventWords(people, last) : null;
}

/** An event of the log in words, or null if it is not worth a line. @param {People} people @param {GameEvent} event */
export function eventWords(people, event) {
  if (!wasLate(people, event)) return factWords(people, event);
  const gave = event.type === "card_offered" && t("event.card_offered.you", { card: theCard(event.card ?? "") });
  return t("event.late", { what: gave || factWords(people, event) || "" });
}

/** What an event says, whoever did it. @param {People} people @param {GameEvent} event @returns {string | null} */
function factWords(people, event) {
  switch (event.type) {
    case "cards_dealt":
      return say(people, event.dealer, "event.cards_dealt", { round: event.round, n: event.size })
        + (event.reshuffled ? ` ${t("event.reshuffled")}` : "");
    case "cards_swapped": return swappedWords(people, event.given);
    case "card_played": return playedWords(people, event.move);
    case "hand_folded": return say(people, event.seat, "event.hand_folded", { cards: list(event.cards.map(cardName)) });
    case "round_ended": return t("event.round_ended", { round: event.round });
    case "table_won":
    case "game_won": return sayTeam(people, event.team, "event.game_won");
    // Whoever only watches has these words after the end.
    case "team_forfeited": return has("forfeit") ? sayTeam(people, event.team, "event.team_forfeited") : null;
    case "forfeit_offered": return has("forfeit") ? say(people, event.seat, `event.forfeit_offered.${event.offered}`) : null;
    case "settings_changed": return t("event.settings_changed");
    case "seat_taken":
      if (people.host && event.seat === people.me) return t("seating.ready");
      return say(people, event.seat, "event.seat_taken", { name: event.name });
    case "seat_handed_over":
      // A bot that took a free seat plays for nobody.
      if (event.kind === "bot" && (event.seat === people.me || people.joined?.[event.seat])) {
        return say(people, event.seat, "event.seat_handed_over.left", { name: event.name });
      }
      return say(people, event.seat, `event.seat_handed_over.${event.kind}`, {
        name: event.kind === "open" ? t("seat.n", { n: event.seat + 1 }) : event.name,
      });
    case "help_asked":
    case "exchange_passed":
    case "exchange_declined":
    case "token_reissued":
    case "rematch_asked":
    case "seat_away":
    case "seat_back": return say(people, event.seat, `event.${event.type}`);
    default: return null;
  }
}

/** What the player has to do now, or whom the table waits for. @param {Table} table @returns {string} */
export function whatToDo(table) {
  const { game } = table;
  if (!game) return t("do.wait");
  const who = people(table);
  if (game.phase === "finished") return t("do.finished");
  if (table.sending) return t("do.sending");
  const own = ownSeat(table);
  if (own?.kind === "bot") return t("do.bot");
  if (own?.away) return t("do.away");
  if (own?.stand_in) return t("do.stand-in");
  const step = nextStep(table);
  const { confirm } = table.choice;
  switch (step.stage) {
    case "deal": return t("do.deal");
    case "exchange":
      if (chosenCard(table)) return t("do.give", { card: theCard(chosenCard(table) ?? "") });
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
  if (game.phase === "play" && own?.folded) return t("do.folded");
  if (game.phase === "deal") return t("do.others.deal", { name: who.names[game.dealer ?? 0] });
  if (game.phase === "exchange") return exchangeWaits(table, game);
  return game.turn === null || game.turn === undefined ? t("do.wait")
    : t("do.others.play", { name: who.names[game.turn] });
}

/** @param {Table} table */
const partnerName = (table) =>
  (table.game && table.seat !== null ? people(table).names[partnerOf(table.seat, table.game.seats.length)] : "");

/** What the exchange asks of the player. @param {Game} game @param {string[]} choices */
function exchangeKey({ rules }, choices) {
  if (rules.exchange !== "on_request") return choices.includes("decline") ? "do.exchange.optional" : "do.exchange";
  if (choices.includes("ask")) return "do.exchange.open";
  return choices.includes("decline") ? "do.exchange.asked" : "do.exchange.promised";
}

/** Whom the exchange waits for. @param {Table} table @param {Game} game */
function exchangeWaits(table, { rules }) {
  if (rules.exchange !== "on_request") return t("do.others.exchange");
  const name = partnerName(table);
  switch (ownSeat(table)?.exchange) {
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
  return [...cards].map(([why, names]) => (cards.size === 1 ? why : t("fold.why", { cards: list(names), why })));
}

/** Why a card cannot be played. @param {Unplayable} unplayable @param {People} people */
export const whyUnplayable = ({ reason, seat, place }, people) =>
  reasonWords({ reason, seat, place }, people, [`unplayable.${reason}`, `reason.${reason}`]);

/** Why a suggestion is good or bad. @param {AdviceReason} reason @param {People} people */
export function reasonForAdvice({ code, seat, card, probability, text }, people) {
  const key = `advice.reason.${code}`;
  if (!has(key)) return text;
  const partner = people.me === null ? null : partnerOf(people.me, people.names.length);
  return capitalize(t(key, {
    name: typeof seat === "number" ? nameOf(people, seat) : "",
    piece: typeof seat !== "number" ? "" : seat === partner ? t("piece.partner") : pieceOf(people, seat),
    card: card ? theCard(card) : "",
    chance: t("chance", { n: Math.round(10 * (probability ?? 0)) }),
  }));
}

/** A refusal in the reader's language. @param {Failure} problem @param {People} people */
export const problemWords = (problem, people) =>
  (typeof problem === "string" ? t(`problem.${problem}`) : reasonWords(problem, people));

/**
 * The words of the first of these keys that has some, or what the server says.
 *
 * @param {Partial<Problem>} problem @param {People} people @param {string[]} [keys]
 */
function reasonWords({ reason, code, seat, place, card, phase, part, detail }, people, keys = [`reason.${reason}`, `code.${code}`]) {
  const values = {
    place: place ? placeWords(place) : "",
    on: place ? placeWords(place, ".on") : "",
    card: card ? cardName(card) : "",
    name: typeof seat === "number" ? people.names[seat] : "",
    piece: typeof seat === "number" ? pieceOf(people, seat) : "",
    phase: phase ? t(`phase.${phase}`) : "",
    n: part ?? "",
  };
  const own = typeof seat === "number" && seat === people.me;
  for (const key of keys.flatMap((one) => (own ? [`${one}.you`, one] : [one]))) {
    if (has(key)) return t(key, values);
  }
  return detail ?? "";
}
