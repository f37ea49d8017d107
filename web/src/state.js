// The state of the page is one value. `reduce` is the only function that changes it, and `dispatch`
// the only way to call it. The views are functions of the state.

/** @import {Advice, Choice, Game, History, LogEntry, Message, Move, Person, Presence, Preview, Problem, ReplayStep,
 *    Route, SavedGame, Seven, SevenPart, State, Table, Unplayable} from "./types.js" */

/** @type {Choice} */
const NOTHING = { card: null, rank: null, piece: null, seven: [], asking: false, confirm: null };

/** As whom a game is opened. @typedef {Pick<Table, "seat" | "token" | "hostToken" | "joining" | "invitation" | "invitations" | "lostSeat" | "task" | "isSecond">} Opened */

/**
 * @typedef {(
 *   {type: "route", route: Route, badAddress?: boolean}
 *   | {type: "set", change: Partial<Omit<State, "route" | "home" | "table">>}
 *   | {type: "reaction over", key: number}
 *   | {type: "skipped", round: number}
 *   | {type: "home", home: Partial<State["home"]>}
 *   | {type: "opened", id: string, as: Opened, replay: number | null}
 *   | {type: "next", next: string}
 *   | {type: "table", change: Partial<Pick<Table, "layout" | "fair" | "review" | "refused" | "invitations" | "reacting" | "task" | "seat"
 *     | "preview" | "problem">>}
 *   | {type: "link", link: Table["link"], problem?: Problem}
 *   | {type: "messages", messages: Message[]}
 *   | {type: "absent", seat: number}
 *   | {type: "game", game: Game}
 *   | {type: "moves", version: number, list: Move[], unplayable: Unplayable[]}
 *   | {type: "log", entries: LogEntry[]}
 *   | {type: "history", history: History, steps: ReplayStep[]}
 *   | {type: "replay", version: number | null}
 *   | {type: "card", card: number | null}
 *   | {type: "rank", rank: string}
 *   | {type: "piece", piece: string}
 *   | {type: "seven asked", asking: boolean}
 *   | {type: "seven", shown: Seven, part: SevenPart | null}
 *   | {type: "undo"}
 *   | {type: "start over"}
 *   | {type: "confirm", confirm: Choice["confirm"]}
 *   | {type: "tapped", key: string, preview: Preview | null, why?: boolean}
 *   | {type: "sending", sending: boolean}
 *   | {type: "hint", hint: "none" | "asked" | Advice}
 * )} Event
 */

/** @param {Person} person @param {SavedGame[]} saved @returns {State} */
export const initial = (person, saved) => ({
  ...person,
  route: { name: "home" },
  saved,
  tables: null,
  addresses: null,
  home: { creating: false, problem: null, badLink: false, badAddress: false },
  table: null,
  analysis: null, notice: null, asked: null,
});

/** @param {State} state @param {Event} event @returns {State} */
export function reduce(state, event) {
  switch (event.type) {
    case "route":
      return {
        ...state,
        route: event.route,
        home: { creating: false, problem: null, badLink: false, badAddress: event.badAddress ?? false },
        table: event.route.name === "table" && state.table?.id === event.route.id ? state.table : null,
      };
    case "set": return { ...state, ...event.change };
    case "home": return { ...state, home: { ...state.home, ...event.home } };
    case "opened":
      return {
        ...state,
        table: {
          ...event.as, id: event.id,
          link: "opening", game: null, layout: null, moves: null, unplayable: null, log: [], shown: null,
          choice: NOTHING, preview: null, tapped: null, sending: false, hint: "none", problem: null,
          history: null, steps: null, replay: event.replay, fair: "none", review: "none",
          refused: null, presence: null, gone: [], news: [], next: null,
          reacting: false, reactions: [], skipped: null,
        },
      };
    default:
      return state.table ? { ...state, table: reduceTable(state.table, event) } : state;
  }
}

/** @param {Table} table @param {Event} event @returns {Table} */
function reduceTable(table, event) {
  switch (event.type) {
    case "link":
      return {
        ...table,
        link: event.link,
        // The stream says who is there when it is open again.
        presence: event.link === "live" ? table.presence : null,
        problem: event.problem ?? (event.link === "live" && table.problem === "network" ? null : table.problem),
      };
    case "table": return { ...table, ...event.change };
    case "messages": return event.messages.reduce(message, table);
    case "absent": return withAbsent(table, event.seat);
    case "game": return withGame(table, event.game);
    case "moves":
      return event.version === table.game?.version
        ? {
          ...table, unplayable: event.unplayable,
          moves: table.moves ?? { version: event.version, list: event.list },
        } : table;
    case "log": return event.entries.reduce(entry, table);
    // The log is in it.
    case "history":
      return event.history.entries.reduce(entry, { ...table, history: event.history, steps: event.steps });
    case "replay": return { ...table, replay: event.version, preview: null };
    case "card":
      return { ...choosing(table), choice: { ...NOTHING, card: event.card } };
    case "rank":
      return { ...choosing(table), choice: { ...NOTHING, card: table.choice.card, rank: event.rank } };
    case "piece":
      return { ...choosing(table), choice: { ...table.choice, piece: event.piece, confirm: null } };
    case "seven asked": return { ...table, choice: { ...table.choice, asking: event.asking } };
    case "seven":
      return {
        ...choosing(table),
        choice: {
          ...table.choice, piece: null, confirm: null, asking: false,
          seven: event.part
            ? [...table.choice.seven, { shown: event.shown, part: event.part }]
            : [{ shown: event.shown, part: null }],
        },
      };
    case "undo": return { ...choosing(table), choice: { ...undo(table.choice), asking: false } };
    case "start over":
      return {
        ...choosing(table),
        choice: {
          ...table.choice, piece: null, confirm: null, asking: false,
          seven: table.choice.seven.slice(0, 1),
        },
      };
    case "confirm":
      return { ...table, choice: { ...table.choice, confirm: event.confirm } };
    case "tapped": return { ...table, tapped: { key: event.key, preview: event.preview, why: event.why } };
    case "sending": return { ...table, sending: event.sending, preview: null, tapped: null };
    case "hint": return { ...table, hint: event.hint, tapped: null };
    case "next": return { ...table, next: event.next };
    case "reaction over": return { ...table, reactions: table.reactions.filter(({ key }) => key !== event.key) };
    case "skipped": return { ...table, skipped: event.round };
    default: return table;
  }
}

/** Clears what belongs to the choice before. @param {Table} table @returns {Table} */
const choosing = (table) => ({ ...table, preview: null, tapped: null, problem: null });

/** Takes back the last thing that was chosen. @param {Choice} choice @returns {Choice} */
function undo(choice) {
  if (choice.confirm) return { ...choice, confirm: null };
  if (choice.piece !== null) return { ...choice, piece: null };
  if (choice.seven.length > 1) return { ...choice, seven: choice.seven.slice(0, -1) };
  if (choice.rank !== null) return { ...NOTHING, card: choice.card };
  return NOTHING;
}

/**
 * A line of the stream: the game, a change, who is there, or that there is a rematch. The game and
 * the newest change, which brings the game after it, have the legal moves if it is the player's turn
 * and there are not too many.
 *
 * @param {Table} table @param {Message} line @returns {Table}
 */
function message(table, line) {
  switch (line.type) {
    case "presence": return withPresence(table, line.present);
    case "rematch": return { ...table, next: line.id };
    // Its version stays the same.
    case "match": return { ...table, game: table.game && { ...table.game, match_closed: false, shuffle_seed: line.shuffle_seed } };
    case "reaction": {
      const { seat, reaction } = line;
      const key = (table.reactions.at(-1)?.key ?? 0) + 1;
      // One of each seat, the newest.
      return { ...table, reactions: [...table.reactions.filter((one) => one.seat !== seat), { key, seat, reaction }] };
    }
    // The stream begins with the game, and begins anew if the server was set back, for instance to a
    // backup: what the page knew did not happen.
    case "game": return withMoves(
      withGame({ ...table, game: null, log: [], shown: null, history: null, steps: null }, line),
      line, line.moves);
    case "change": {
      const { version, at, events, game, moves } = line;
      const after = entry(table, { version, at, events });
      return game ? withMoves(withGame(after, game), game, moves) : after;
    }
    default: return table;
  }
}

/** The step that the replay is at, or null. There is one for each version. @param {Table} table */
export const stepOf = ({ steps, replay }) =>
  (steps && replay !== null ? steps[Math.min(Math.max(replay, 1), steps.length) - 1] : null);

/** Adds the legal moves of that game. @param {Table} table @param {Game} game @param {Move[] | null} [moves] */
const withMoves = (table, game, moves) => (moves && table.game?.version === game.version && !table.moves
  ? { ...table, moves: { version: game.version, list: moves } } : table);

/** How the player can answer in the exchange. @param {Game | null} game */
const choicesOf = (game) => game?.actions.flatMap((one) => one.choices ?? []);

/** @param {Table} table @param {Game} game @returns {Table} */
function withGame(table, game) {
  if (table.game && table.game.version >= game.version) return table;
  // A choice stays while others answer in the exchange. Otherwise the position has changed.
  const stays = game.phase === "exchange" && table.game?.phase === "exchange"
    && game.actions.length > 0 && table.game.round === game.round;
  // A hint is for the same question.
  const asksTheSame = stays && String(choicesOf(game)) === String(choicesOf(table.game));
  const isOpen = game.phase === "finished" && !game.match_closed;
  const shown = table.shown ?? (game.last_action.type === "card_played"
    ? { version: game.version, move: game.last_action.move } : null);
  return {
    ...table, game, shown,
    // Only a game that is over, and seen by all, can be replayed and reviewed.
    replay: isOpen ? table.replay : null,
    review: isOpen ? table.review : "none",
    moves: null,
    unplayable: null,
    choice: stays ? table.choice : NOTHING,
    preview: stays ? table.preview : null,
    tapped: asksTheSame ? table.tapped : null,
    hint: asksTheSame ? table.hint : "none",
    // In the exchange nobody may react.
    reacting: table.reacting && table.game?.phase === game.phase,
    problem: null,
  };
}

/**
 * Notes who went and, of these, who came back. Somebody who sits down is in the log, and
 * is about to connect: the stream calls them absent until then, the page does not.
 *
 * @param {Table} table @param {Presence} line @returns {Table}
 */
function withPresence(table, line) {
  const presence = line.map((now, seat) => (now === false && table.presence?.[seat] === null ? null : now));
  const went = presence.flatMap((now, seat) => (now === false && table.presence?.[seat] && seat !== table.seat ? [seat] : []));
  const came = table.gone.filter((seat) => presence[seat]);
  const gone = [...table.gone, ...went].filter((seat) => presence[seat] === false);
  const news = [...went.map((seat) => ({ seat, present: false })), ...came.map((seat) => ({ seat, present: true }))];
  return { ...table, presence, gone, news: news.length > 0 ? news : table.news };
}

/** Somebody who sat down has not connected. @param {Table} table @param {number} seat @returns {Table} */
function withAbsent(table, seat) {
  if (table.presence?.[seat] !== null || table.game?.seats[seat].kind !== "human") return table;
  return { ...table, presence: table.presence.map((now, index) => (index === seat ? false : now)) };
}

/** Adds an entry to the log, which is ordered by version. @param {Table} table @param {LogEntry} added */
function entry(table, added) {
  let index = table.log.length;
  while (index > 0 && table.log[index - 1].version > added.version) index -= 1;
  if (index > 0 && table.log[index - 1].version === added.version) return table;
  const log = [...table.log.slice(0, index), added, ...table.log.slice(index)];
  const played = added.events.find((event) => event.type === "card_played");
  const dealt = added.events.some((event) => event.type === "cards_dealt");
  let { shown } = table;
  if (!shown || shown.version < added.version) {
    if (played?.type === "card_played") shown = { version: added.version, move: played.move };
    else if (dealt) shown = null;
  }
  return { ...table, log, shown, news: [] };
}
