// Plays a whole game of DOG with four clients, each of which joins by invitation.
//
// usage: npm start [URL [PRESET]]    (http://127.0.0.1:8080 and hausregeln by default)
//
// Seats 0 and 2 do what the server advises. Seats 1 and 3 choose for themselves: a seven or a
// joker if they can play one.

import { setTimeout as sleep } from "node:timers/promises";
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];
type Api = Client<paths>;

const [baseUrl = "http://127.0.0.1:8080", wanted = "hausregeln"] = process.argv.slice(2);

/** Like fetch, but sends the request again after as many seconds as the server asks for. */
async function patientFetch(request: Request): Promise<Response> {
  const response = await fetch(request.clone());
  const seconds = response.headers.get("Retry-After");
  if (seconds === null) return response;
  await sleep(1000 * Number(seconds));
  return patientFetch(request);
}

function connect(token?: string): Api {
  const headers = { Authorization: token && `Bearer ${token}` };
  return createClient<paths>({ baseUrl, headers, fetch: patientFetch });
}

function must<T>(value: T): NonNullable<T> {
  if (value === null || value === undefined) throw new Error(`unexpected ${value}`);
  return value;
}

/** The body of a response. */
function ok<T>({ data, error }: { data?: T; error?: Schemas["ProblemDetails"] }): NonNullable<T> {
  if (error !== undefined) throw new Error(error.detail, { cause: error.status });
  return must(data);
}

/** The lines of a stream but the empty ones, which are heartbeats. */
async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const complete = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = must(complete.pop());
    yield* complete.filter((line) => line !== "");
  }
}

/** The game, then each change until the game is over. Resumes a broken stream. */
async function* follow(api: Api, id: string): AsyncGenerator<Schemas["Game"] | Schemas["Change"]> {
  for (let header: { "Last-Event-ID"?: string } = {}; ; await sleep(100)) {
    try {
      const params = { path: { id }, header };
      const headers = { Accept: "application/x-ndjson" };
      const answer = await api.GET("/v1/games/{id}/events", { params, headers, parseAs: "stream" });
      if (answer.response.status === 204) return; // nothing comes after the last version
      for await (const line of lines(ok(answer))) {
        const message: Schemas["StreamMessage"] = JSON.parse(line);
        if (message.type !== "game" && message.type !== "change") continue; // who is present
        header = { "Last-Event-ID": `${message.version}` };
        yield message;
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // what fetch throws if the network fails
    }
  }
}

type Action = Schemas["PossibleAction"];
type Choice = Schemas["PlayRequest"] | Schemas["SwapRequest"];

/** Of two partners who may ask each other for a card, the lower seat decides first. */
function partnerIsFirst({ seats }: Schemas["Game"], { seat, choices }: Action): boolean {
  const isFirst = (other: Schemas["SeatInGame"]) => other.team === seats[seat]?.team
    && other.exchange === "pending" && other.kind === "human" && !other.away && !other.stand_in;
  return choices?.includes("pass") === true && seats.slice(0, seat).some(isFirst);
}

/** A move, or an answer in the exchange. */
async function choose(api: Api, game: Schemas["Game"], action: Action): Promise<Choice> {
  const { seat, choices } = action;
  const path = { id: game.id };
  if (seat % 2 === 0) {
    const advice = await api.GET("/v1/games/{id}/suggest-move", {
      params: { path, query: { level: "greedy" } },
    });
    return must(ok(advice).suggestions[0]).request.body;
  }
  if (choices?.includes("card")) return { card: must(game.seats[seat]?.hand?.[0]) };
  if (choices) return { pass: true };
  const { moves } = ok(await api.GET("/v1/games/{id}/legal-moves", { params: { path } }));
  const seven = moves.find((move) => move.kind === "seven");
  const joker = moves.find((move) => move.card === "joker");
  return { move: must(seven ?? joker ?? moves[0]).id };
}

/** Does what a seat may do now, if anything. Returns the version of the game after it. */
async function act(api: Api, game: Schemas["Game"]): Promise<number> {
  const params = { path: { id: game.id } };
  const action = game.actions.find(({ route }) => ["deal", "swap", "play"].includes(route));
  if (!action || partnerIsFirst(game, action)) return game.version;
  if (action.route === "deal") return ok(await api.POST("/v1/games/{id}/deal", { params })).version;
  const body = await choose(api, game, action);
  if (!("move" in body)) return ok(await api.POST("/v1/games/{id}/swap", { params, body })).version;
  body.version = game.version; // plays in this state of the game only
  return ok(await api.POST("/v1/games/{id}/play", { params, body })).version;
}

/** Joins a game and plays until it is over. Returns the team that has won. */
async function play(id: string, invitation: string, name: string): Promise<number> {
  const params = { path: { id } };
  const body = { invitation, name };
  const { seat, token } = ok(await connect().POST("/v1/games/{id}/join", { params, body }));
  const api = connect(token);
  let winner: number | undefined;
  let newest = 0; // the newest version that an answer has told of
  for await (const message of follow(api, id)) {
    if (message.type === "game") {
      newest = 0; // the first line, or the operator has restored a backup
    } else {
      winner ??= message.events.find((event) => event.type === "game_won")?.team;
    }
    if (message.version < newest || !message.to_act?.includes(seat)) continue;
    try {
      newest = await act(api, ok(await api.GET("/v1/games/{id}", { params: { path: { id } } })));
    } catch (error) {
      const late = error instanceof Error && (error.cause === 409 || error.cause === 412);
      if (!late) throw error; // otherwise another acted first, as the stream will tell
    }
  }
  return must(winner);
}

const { presets } = ok(await connect().GET("/v1/rules"));
const preset = must(presets.find(({ name }) => name === wanted)).name;
const names = ["Anna", "Beat", "Carla", "Dani"];
const body = { rules: { preset }, seats: names.map(() => ({ kind: "open" as const })) };
const { id, invitation } = ok(await connect().POST("/v1/games", { body }));
const games = names.map((name) => play(id, must(invitation), name));
const [winner, ...others] = await Promise.all(games);
if (others.some((other) => other !== winner)) throw new Error("the seats disagree");
console.log(`team ${winner} has won`);
