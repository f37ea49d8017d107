// A frontend without a screen: plays a game against bots, then one with a friend and a rematch, by
// choices that a person would make with clicks. docs/frontend.md explains it. Runs in
// browsers, and on node 20 or newer.
//
// usage: node examples/frontend.mjs [URL]    (http://127.0.0.1:8080 by default)

// The origin of the server; "" on a page that comes from the server itself.
const server = globalThis.process?.argv[2] ?? "http://127.0.0.1:8080";

const remembered = {};
const storage = globalThis.process // node has no storage
  ? { setItem: (key, text) => { remembered[key] = text; }, getItem: (key) => remembered[key] }
  : localStorage;

/** By how many milliseconds the server's clock is ahead of this computer's. */
let clockAhead = 0;

/** A refusal: the server's problem document. */
class Refusal extends Error {
  constructor(problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const randomKey = () => hex(crypto.getRandomValues(new Uint8Array(16)));
const unique = (values) => [...new Set(values)];

async function request(method, path, { token, body } = {}) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`; // without a token: as a spectator
  if (body) headers["Content-Type"] = "application/json";
  if (method !== "GET") headers["Idempotency-Key"] = randomKey(); // may be sent again, acts once
  for (;;) {
    try {
      const response = await fetch(server + path, { method, headers, body: JSON.stringify(body) });
      clockAhead = Date.parse(response.headers.get("Date")) + 500 - Date.now(); // whole seconds
      if (response.ok) return await response.json();
      const seconds = response.headers.get("Retry-After");
      if (seconds === null) throw new Refusal(await response.json());
      await sleep(1000 * seconds);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // a TypeError: the network failed
      await sleep(1000);
    }
  }
}

async function createGame() {
  const bots = ["Luna", "Bruno", "Bella"].map((name) => ({ kind: "bot", name, level: "greedy" }));
  const seats = [{ kind: "human", name: "Anna" }, ...bots];
  const body = { rules: { preset: "hausregeln" }, seats, bot_pace_ms: 0, listed: false };
  const created = await request("POST", "/v1/games", { body });
  const { id, seat_tokens: [token], game } = created;
  const saved = { seat: 0, token, commitment: game.shuffle_commitment };
  storage.setItem(`game.${id}`, JSON.stringify(saved));
  return id;
}

/** Creates a table with free seats. The host's token and the invitation are shown once, too. */
async function inviteFriends(name) {
  const seats = Array.from({ length: 4 }, () => ({ kind: "open", level: "greedy" }));
  const body = { seats, bot_pace_ms: 0, listed: false };
  const { id, host_token: hostToken, invitation } = await request("POST", "/v1/games", { body });
  return { ...await join(id, { invitation, seat: 0, name }), hostToken, invitation };
}

/** The link for a friend. No server sees what follows the `#`. */
const linkOf = (page, { id, invitation }) => `${page}#/join/${id}/${invitation}`;

/** What a page that is opened by such a link does. */
async function openLink(link, name) {
  const [, id, invitation] = /#\/join\/(\w+)\/([\w-]+)$/.exec(link);
  const own = await join(id, { invitation, name });
  globalThis.history?.replaceState(null, "", `#/games/${id}`); // the invitation is used up
  return own;
}

async function join(id, body) {
  const { seat, token, game } = await request("POST", `/v1/games/${id}/join`, { body });
  const saved = { seat, token, commitment: game.shuffle_commitment };
  storage.setItem(`game.${id}`, JSON.stringify(saved));
  return { id, seat, token };
}

/** The host starts: bots take the seats that are still free. */
async function start({ id, hostToken: token }) {
  const game = await request("GET", `/v1/games/${id}`);
  let { version } = game; // so that nobody who has just sat down is sent away
  for (const { seat } of game.seats.filter(({ kind }) => kind === "open")) {
    const body = { kind: "bot", version };
    ({ version } = await request("PUT", `/v1/games/${id}/seats/${seat}`, { token, body }));
  }
  await request("POST", `/v1/games/${id}/deal`, { token, body: {} }).catch((error) => {
    if (error.problem?.code !== "wrong_phase") throw error; // this one: the dealer was first
  });
}

/** What to say about each seat. */
const statesOf = ({ game, present }) => game.seats.map(({ kind, away, stand_in: standIn }, seat) =>
  (kind !== "human" ? kind : standIn ? "a bot plays this hand" : away ? "away"
    : present?.[seat] === false ? "not connected" : "here"));

/** Asks for the next game. `order` is the old seat of whoever sits at each new one. */
async function rematch({ id, token }, order) {
  const path = `/v1/games/${id}/rematch`;
  const { id: next, seat } = await request("POST", path, { token, body: { seats: order } });
  storage.setItem(`game.${next}`, JSON.stringify({ seat, token })); // the token is valid there, too
  return { id: next, seat, token };
}

/** Yields the messages of a game, those that arrive together in one list. */
async function* follow(id, token) {
  const headers = { Accept: "application/x-ndjson" };
  if (token) headers.Authorization = `Bearer ${token}`;
  for (let wait = 250; ; wait = Math.min(2 * wait, 4000)) {
    const connection = new AbortController();
    let silence = setTimeout(() => connection.abort(), 40_000);
    try {
      const query = "include=game,moves&after_end=true";
      const response = await fetch(`${server}/v1/games/${id}/events?${query}`,
        { headers, signal: connection.signal });
      if (!response.ok) throw new Refusal(await response.json());
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = "", chunk; !(chunk = await reader.read()).done;) {
        clearTimeout(silence);
        silence = setTimeout(() => connection.abort(), 40_000);
        const lines = (rest + chunk.value).split("\n");
        rest = lines.pop(); // a line that is not complete yet
        const messages = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
        if (messages.length === 0) continue; // an empty line is a heartbeat
        const { version } = messages.findLast((message) => "version" in message) ?? {};
        if (version) headers["Last-Event-ID"] = String(version);
        wait = 250;
        yield messages;
      }
    } catch (error) {
      const { status } = error.problem ?? {}; // undefined if the connection broke
      if (status < 500 && status !== 429) throw error;
    } finally {
      clearTimeout(silence);
      connection.abort();
    }
    await sleep(wait);
  }
}

function reduce(state, message) {
  if (message.type === "presence") return { ...state, present: message.present };
  if (message.type === "rematch") return { ...state, next: message.id };
  if (message.type !== "game" && message.type !== "change") return state; // of a newer server
  const change = message.type === "change";
  const log = change ? [...state.log, message] : state.log;
  const game = change ? message.game : message;
  if (!game || game.version < state.game?.version) return { ...state, log };
  const known = game.version === state.game?.version ? state.moves : null;
  return { ...state, game, moves: message.moves ?? known, log };
}

async function complete(state, get) {
  if (state.log.at(-1)?.version > state.game.version) {
    state = { ...state, game: await get(""), moves: null };
  }
  const { game, moves } = state;
  if (moves || !game.actions.some(({ route }) => route === "play")) return state;
  return { ...state, moves: (await get("/legal-moves?board=false")).moves };
}

const placeKey = (seat, place) => (/^\d+$/.test(place) ? place : `${seat}:${place}`);

/** Every piece: where to draw it, its colour and its shape. */
const piecesOf = (board, layout) => board.flatMap(({ track, goal, kennel }, seat) => [
  ...track.map(String),
  ...goal.map((depth) => `goal:${depth}`),
  ...Array.from({ length: kennel }, (_, slot) => `kennel:${slot}`),
].map((place) => ({ ...layout.seats[seat], ...layout.places[placeKey(seat, place)] })));

/** The points that a piece passes. `path` is empty for a swap and for leaving the kennel. */
const wayOf = ({ seat, from, to, path }, layout, slot = 0) =>
  [from === "kennel" ? `kennel:${slot}` : from, ...(path.length > 0 ? path : [to])]
    .map((place) => layout.places[placeKey(seat, place)]);

/** Stands for the player: chooses by chance. */
const ask = async (question, options) => options[Math.floor(Math.random() * options.length)];

async function chooseMove(moves, get) {
  if (moves[0].kind === "fold") return moves[0].id; // no card can be played
  const card = await ask("Which card?", unique(moves.map((move) => move.card)));
  const same = moves.filter((move) => move.card === card);
  const rank = await ask("For which card?", unique(same.map((move) => move.as))); // a joker's
  if ((rank ?? card) === "7") return chooseSeven(rank ? "joker=7:" : "7:", get);
  const offers = same.filter((one) => one.as === rank).map(({ id, kind, parts: [own, other] }) => ({
    id,
    piece: own && placeKey(own.seat, own.from), // a jack without effect moves no piece
    target: kind === "swap" ? other.from : own?.to, // two parts, but one choice
  }));
  const piece = await ask("Which piece?", unique(offers.map((offer) => offer.piece)));
  return (await ask("Where to?", offers.filter((offer) => offer.piece === piece))).id;
}

async function chooseSeven(begun, get) {
  const { next } = await get(`/legal-moves/seven?begun=${encodeURIComponent(begun)}`);
  const { id, complete } = await ask("Which part?", next);
  return complete ? id : chooseSeven(id, get);
}

async function chooseExchange(choices, hand) {
  const known = choices.filter((choice) => ["card", "ask", "pass", "decline"].includes(choice));
  const choice = await ask("Give a card, ask for help, decline or pass?", known);
  return choice === "card" ? { card: await ask("Which card?", hand) } : { [choice]: true };
}

/** What the player may do now, if anything. A newer server may have other actions, too. */
const actionOf = ({ actions }) => actions.find(({ route }) => ["deal", "swap", "play"].includes(route));

async function act({ game, moves }, token, get) {
  const { route, path, seat, choices } = actionOf(game);
  let body = {};
  if (route === "play") body = { move: await chooseMove(moves, get), version: game.version };
  if (route === "swap") body = await chooseExchange(choices, game.seats[seat].hand);
  return request("POST", path, { token, body });
}

/** A refusal in the words of a language, which are those of web/lang. */
function refusalWords({ reason, code, detail, ...members }, words) {
  const text = words[`reason.${reason}`] ?? words[`code.${code}`] ?? detail;
  return text.replace(/\{(\w+)\}/g, (_, name) => members[name] ?? "");
}

/** The board after each version of a finished game. */
function boardsOf({ entries, rules }) {
  let board = Array.from({ length: rules.seats }, () => ({ track: [], goal: [], kennel: 4, fresh: false }));
  return entries.map(({ events }) => {
    board = events.find((event) => event.type === "card_played")?.move.board ?? board;
    return board;
  });
}

/** Whether the seed of a finished game is the one that was committed to before the first deal. */
async function isCommitted({ shuffle_seed: seed }, commitment) {
  const bytes = Uint8Array.from(seed.match(/../g), (pair) => parseInt(pair, 16));
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))) === commitment;
}

/** Plays a game until `done`, and returns the state then. */
async function playUntil(done, { id, token }) {
  const get = (path) => request("GET", `/v1/games/${id}${path}`, { token });
  let state = { game: null, moves: null, log: [], present: null, next: null };
  for await (const messages of follow(id, token)) {
    state = messages.reduce(reduce, state);
    if (!state.game || done(state)) return state;
    try {
      state = await complete(state, get);
      if (!actionOf(state.game)) continue;
      const { game } = await act(state, token, get); // has what the stream brings, too
      state = reduce(state, game);
    } catch (error) {
      const { status } = error.problem ?? {};
      if (status !== 409 && status !== 412) throw error; // these: another acted first
    }
  }
}

const isOver = ({ game }) => game.phase === "finished";

const id = await createGame();
const { seat, token, commitment } = JSON.parse(storage.getItem(`game.${id}`));
const state = await playUntil(isOver, { id, token });
console.log(`team ${state.game.winner} has won`);

// With a friend, who plays on another device.
const anna = await inviteFriends("Anna");
const beat = await openLink(linkOf("https://example.org/", anna), "Beat");
const playing = [playUntil(isOver, anna), playUntil(({ next }) => next !== null, beat)];
await start(anna);
const { game: over, ...last } = await playing[0];
console.log(`team ${over.winner} has won: ${statesOf({ game: over, ...last }).join(", ")}`);
const next = await rematch(anna, [0, 2, 1, 3]); // Anna and Beat are partners now
const found = await playing[1]; // Beat's stream tells of it
const again = await rematch(beat);
if (found.next !== next.id || again.seat !== 2) throw new Error("Beat is at another table");

// The rest shows that every function above does what docs/frontend.md says.
const words = { "code.game_over": "Das Spiel ist zu Ende." };
await request("POST", `/v1/games/${id}/deal`, { token, body: {} })
  .catch(({ problem }) => console.log(refusalWords(problem, words)));
const { seats, fields_per_seat: fields } = state.game.rules;
const layout = await request("GET", `/v1/layout?seats=${seats}&fields_per_seat=${fields}&bottom=${seat}`);
const history = await request("GET", `/v1/games/${id}/history`, { token });
const boards = boardsOf(history);
const moves = history.entries.flatMap(({ events }) => events.flatMap(({ move }) => move ?? []));
const points = [
  ...boards.flatMap((board) => piecesOf(board, layout)),
  ...moves.flatMap(({ parts }) => parts.flatMap((part) => wayOf(part, layout))),
];
const wrong = points.some((point) => point?.x === undefined) ? "a place is not in the layout"
  : JSON.stringify(boards.at(-1)) !== JSON.stringify(state.game.board) ? "the replay ends elsewhere"
    : !(await isCommitted(history, commitment)) && "the seed is not the one committed to";
if (wrong) throw new Error(wrong);
