// Names for the types of the API, which `tests/page.sh` generates from openapi/openapi.json, and
// the page's own types. This file has no code.

/**
 * @typedef {import("../../tests/page/api.js").components["schemas"]} Schemas
 * @typedef {Schemas["Game"]} Game
 * @typedef {Schemas["Rules"]} Rules
 * @typedef {Schemas["RulesCatalogue"]} Catalogue the sheets with all their options
 * @typedef {Catalogue["presets"][number]} Sheet
 * @typedef {Schemas["Move"]} Move
 * @typedef {Schemas["Part"]} Part
 * @typedef {Schemas["Capture"]} Capture
 * @typedef {Schemas["Card"]} Card
 * @typedef {Schemas["Event"]} GameEvent
 * @typedef {Omit<Schemas["LogEntry"], "type">} LogEntry
 * @typedef {Schemas["Given"]} Given the card that a seat gave to its partner
 * @typedef {Schemas["SeatBoard"]} SeatBoard
 * @typedef {Schemas["ProblemDetails"]} Problem
 * @typedef {Problem | "network" | "version"} Failure why something could not be had: `version` if the server has another
 *   version of the page
 * @typedef {Schemas["Advice"]} Advice
 * @typedef {Schemas["Suggestion"]} Suggestion
 * @typedef {Schemas["AdviceReason"]} AdviceReason
 * @typedef {Schemas["History"]} History
 * @typedef {Schemas["Review"]} Review
 * @typedef {Schemas["ReviewedDecision"]} Decision
 * @typedef {Schemas["Created"]} Created
 * @typedef {Schemas["Changed"]} Changed
 * @typedef {Schemas["BotLevel"]} Level
 * @typedef {Schemas["PossibleAction"]} Action
 * @typedef {Schemas["UnplayableCard"]} Unplayable a card without a legal move, and why
 *
 * @typedef {{x: number, y: number}} Point
 * @typedef {{width: number, height: number}} Size
 * @typedef {Point & Size} Bounds
 * @typedef {Schemas["Layout"]} Layout
 * @typedef {Schemas["Puzzle"]} Puzzle
 * @typedef {Schemas["BegunSeven"]} Seven
 * @typedef {Schemas["NextPart"]} SevenPart
 *
 * @typedef {Schemas["Joined"]} Joined
 * @typedef {Schemas["QuickJoined"]} QuickJoined
 * @typedef {Schemas["SeatInGame"]} SeatInGame
 * @typedef {Schemas["SeatChanged"]} SeatChanged
 * @typedef {Schemas["Rematch"]} Rematch
 * @typedef {Schemas["GameSummary"]} OpenTable a table that anyone may join
 * @typedef {Schemas["Match"]} Match
 * @typedef {Schemas["CreatedMatch"]} CreatedMatch
 *
 * @typedef {Schemas["StreamMessage"]} Message a line of the stream
 * @typedef {Schemas["Presence"]["present"]} Presence
 */

/**
 * A game that this browser has a token for.
 * @typedef {{
 *   id: string, seat: number | null, token: string | null, tokens?: Record<number, string>,
 *   hostToken: string | null, invitations?: Invitations, opened: number, over?: boolean, reviewed?: boolean,
 *   preset: string, names: string[], commitment?: string,
 * }} SavedGame
 *   `tokens` are those of all seats that this browser has had, `seat` and `token` those that this
 *   tab plays with. A host without a seat has only the host's token. `over` is whether the game was
 *   finished, or not on the server, when it was seen last, `reviewed` whether its review was seen here. `commitment` is that of the shuffles, as
 *   shown when the game was created or joined.
 *
 * The invitations that a host has: to any seat that has been open since the creation, and to each
 * seat with the version of the game that it came with.
 * @typedef {{any: string | null, seats: ({text: string, version: number} | null)[]}} Invitations
 *
 * A match that this browser has created: its two tables, each with an invitation for each seat.
 * @typedef {{
 *   id: string, hostToken: string, names: string[], created: number, tables: {id: string, invitations: (string | null)[]}[],
 * }} SavedMatch
 *
 * What the player chose for the next game. `clock` is the seconds for a turn, 0 for no clock;
 * `options` has the values of the options that differ from the sheet.
 * @typedef {{
 *   preset: string, options: Record<string, string>, seats: number, level: Level, pace: number, clock: number,
 * }} Settings
 *
 * What the browser remembers of the person for all games. `name` is empty if it is not known, `sound` is
 * whether sounds, vibration and notifications are on, `muted` whether reactions of others are not shown,
 * `key` that of a closed server, or empty, and `dismissed` the notice that need not be shown again.
 * @typedef {{settings: Settings, name: string, sound: boolean, muted: boolean, key: string, dismissed: string}} Person
 */

/**
 * What the player has chosen so far of a move or in the exchange.
 * @typedef {{
 *   card: number | null,
 *   rank: string | null,
 *   piece: string | null,
 *   seven: {shown: Seven, part: SevenPart | null}[],
 *   asking: boolean,
 *   confirm: "fold" | Offer | null,
 * }} Choice
 *   `card` is an index of the hand, `rank` what a joker stands for, `piece` the key of a piece,
 *   `seven` the parts chosen so far with the server's answers (the first has no part), `asking`
 *   whether the parts that can follow are on the way, `confirm`
 *   what needs a second click.
 *
 * Something to choose: the next click posts `id`, or continues a seven with `part`.
 * @typedef {{
 *   id: string, piece: string, from: Spot, to: Spot | null, captures: Capture[], parts: Part[],
 *   part: SevenPart | null,
 * }} Offer
 *
 * A place of the board; a field of the track has no owner.
 * @typedef {{seat: number, place: string}} Spot
 */

/**
 * What a board previews. @typedef {{parts: Part[], captures: Capture[]}} Preview
 */

/**
 * A question about a position: what the address of the analysis says. `rules` are as in a request,
 * with the preset and the number of seats. `played` is what was played in this round, in order.
 * @typedef {{
 *   rules: {preset: string, seats: number} & Record<string, unknown>, fields: number, board: string[][],
 *   seat: number, exchanging: boolean, hand: string[], gave: string | null, received: string | null, played: Play[],
 *   samples: number,
 * }} Question
 *   `fields` are those of the ring per seat, `board` the pieces of each seat outside its kennel, as in the
 *   text of a position, `exchanging` whether a card is to be given, and `samples` those of the answer, 0 without one.
 *
 * A card that was played, or a hand that was folded.
 * @typedef {{seat: number, cards: string[], fold: boolean}} Play
 *
 * A word of an address that is wrong, and of which part of the question.
 * @typedef {{part: keyof Question, word: string}} Fault
 *
 * The analysis of a position. `faults` are those of its address, `pieceOf` is whose piece a tap on a field places, `cardsTo` where a tap
 * on a card puts it, `asking` whether the answer is on its way, `chosen` the suggestion that the board previews.
 * @typedef {{
 *   question: Question, faults: Fault[], layout: Layout | null, pieceOf: number, cardsTo: "hand" | "gave" | "received" | "played",
 *   advice: Advice | null, asking: boolean, chosen: number | null, problem: Failure | null,
 * }} Analysis
 */

/**
 * A position with a task: a lesson, a puzzle, or a decision that is made again.
 * @typedef {{
 *   rules: Rules, question: {rules: object, position: string, seat: number, hand: string[]}, choices: readonly string[] | null,
 *   judge: (chosen: Chosen) => void, lesson?: Lesson, number?: number, known?: Partial<Schemas["PuzzleKnowledge"]> | Question,
 *   answer?: Answered | null,
 * }} Task
 *   `question` is the position as the API analyses it, `choices` what the seat may do in the exchange, `judge` takes what was chosen,
 *   `number` is that of a puzzle, `known` what the seat knows, and `answer` what came of its choice.
 *
 * What was chosen: the id of a move, or an answer in the exchange.
 * @typedef {{id?: string, card?: string, ask?: boolean, pass?: boolean, decline?: boolean}} Chosen
 *
 * Whether a choice was right, with its chance if it is known, and what is best.
 * @typedef {Pick<Schemas["PuzzleResult"], "right" | "chance" | "suggestions">} Answered
 *
 * What solves the task of a lesson: `accepted` has the boards, as texts. A card of an exchange is judged by
 * the boards that the partner can reach with it.
 * @typedef {{name: string, accepted: string[], mistake: string, missing: Record<string, string>, tried?: Move | string}} Lesson
 *   `mistake` is the tempting choice, `missing` tells by a pattern for each what boards lack, `tried` what was chosen last and did not solve it: a move, or the card
 *   of an exchange.
 *
 * A puzzle that was answered here, with the answer as it was sent. `day`, counted from 1970, is the one whose puzzle it was,
 * null on others.
 * @typedef {{number: number, answer: object, right: boolean, day: number | null}} SavedPuzzle
 */

/**
 * A game on the screen.
 * @typedef {{
 *   id: string,
 *   seat: number | null,
 *   token: string | null,
 *   hostToken: string | null,
 *   link: "opening" | "live" | "lost" | "ended",
 *   game: Game | null,
 *   layout: Layout | null,
 *   moves: {version: number, list: Move[]} | null,
 *   unplayable: Unplayable[] | null,
 *   log: LogEntry[],
 *   shown: {version: number, move: Move} | null,
 *   choice: Choice,
 *   preview: Preview | null,
 *   tapped: {key: string, preview: Preview | null, why?: boolean} | null,
 *   sending: boolean,
 *   hint: "none" | "asked" | Advice,
 *   problem: Failure | null,
 *   history: History | null,
 *   steps: ReplayStep[] | null,
 *   replay: number | null,
 *   fair: "none" | "running" | FairResult,
 *   review: "none" | "asked" | Review,
 *   joining: boolean,
 *   invitation: string | null,
 *   invitations: Invitations | null,
 *   refused: Failure | "no name" | null,
 *   lostSeat: boolean,
 *   isSecond?: boolean,
 *   presence: Presence | null,
 *   gone: number[],
 *   news: {seat: number, present: boolean}[],
 *   next: string | null,
 *   reacting: boolean,
 *   reactions: {key: number, seat: number, reaction: string}[],
 *   skipped: number | null,
 *   task: Task | null,
 * }} Table
 *   `shown` is the last move played, which the board draws. `preview` is what the pointer or the focus
 *   is on, `tapped` a suggestion, and whether all its reasons are shown, or a move of the list that a second tap plays. `unplayable` belongs to `moves`, but
 *   the stream does not bring it. `joining` is whether the address is an invitation, `invitation`
 *   its secret, `invitations` what a host has to give, `refused` why a seat could not be taken,
 *   `lostSeat` whether the token is no longer valid, `isSecond` whether the browser has another one for
 *   the seat, `gone` the seats whose person went
 *   away, `news` who came or went last, `next` the id of the rematch, `reacting` whether the player
 *   chooses a reaction, `reactions` those that are shown, `skipped` the round whose rest is skipped, and
 *   `task` what the table shows in place of a game. `history` and `steps` are those of a
 *   finished game, and `replay` is the version that is shown of it.
 *
 * The table after an entry of a finished game, with the hands of all seats and the move played last.
 * @typedef {{
 *   entry: LogEntry, round: number, board: SeatBoard[], hands: string[][], last: {version: number, move: Move} | null,
 * }} ReplayStep
 *
 * @typedef {{insecure: true} | {insecure: false, commitment: boolean, deals: boolean, rounds: number}} FairResult
 *
 * @typedef {{name: "home"} | {name: "watch"} | {name: "analyse"} | {name: "learn", number: number | null}
 *   | {name: "puzzles", which: string | null} | {name: "match", id: string | null, pair: number | null} | {name: "table", id: string}} Route
 *
 * The addresses at which others reach a page that was opened on the server's own computer.
 * @typedef {{list: string[], chosen: number}} Addresses
 *
 * The state of the page. `notice` is a word of the operator, and `asked` a question for the key of a closed
 * server, `wrong` if one was given that is not valid; the answer is empty if there is none.
 * @typedef {Person & {
 *   route: Route,
 *   saved: SavedGame[],
 *   tables: OpenTable[] | null,
 *   addresses: Addresses | null,
 *   home: {creating: boolean, problem: Failure | null, badLink: boolean, badAddress: boolean},
 *   table: Table | null,
 *   analysis: Analysis | null,
 *   notice: string | null,
 *   asked: {wrong: boolean, answer: (key: string) => void} | null,
 * }} State
 */

export {};
