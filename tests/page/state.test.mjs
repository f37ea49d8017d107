// The state of a table after what the stream says and what the player does.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./page.mjs";

const { initial, reduce, stepOf } = await load("state.js");

const opened = reduce(initial({}, []), { type: "opened", id: "1", as: { seat: 0 }, replay: null });
const game = (version, more) => ({
  type: "game", version, phase: "play", round: 1, actions: [], last_action: { type: "game_created" }, seats: [], ...more,
});
const played = (version) => ({ version, events: [{ type: "card_played", move: { id: `move ${version}` } }] });
/** The table after these events, the messages of the stream among them. */
const after = (...events) => events.reduce(reduce, opened).table;
const stream = (...messages) => ({ type: "messages", messages });

test("the log is ordered by version, and has each once", () => {
  const table = after({ type: "log", entries: [3, 1, 2, 3].map(played) });
  assert.deepEqual(table.log.map(({ version }) => version), [1, 2, 3]);
  assert.equal(table.shown.move.id, "move 3");
});

test("a stream that begins anew forgets what did not happen", () => {
  const { game: now, log, shown } = after(stream(game(7)), { type: "log", entries: [played(7)] }, stream(game(3)));
  assert.deepEqual([now.version, log, shown], [3, [], null]);
  assert.equal(after(stream(game(7)), { type: "game", game: game(6) }).game.version, 7);
});

test("a choice stays while others answer in the exchange, and no longer", () => {
  const exchange = (version, more) => game(version, { phase: "exchange", actions: [{ route: "swap", choices: ["card"] }], ...more });
  const chosen = [stream(exchange(1)), { type: "card", card: 2 }, { type: "hint", hint: "asked" }];
  const card = (next) => after(...chosen, { type: "game", game: next }).choice.card;
  assert.deepEqual([exchange(2), exchange(2, { round: 2 }), game(2)].map(card), [2, null, null]);
  assert.equal(after(...chosen, { type: "game", game: exchange(2) }).hint, "asked");
  const asked = exchange(2, { actions: [{ route: "swap", choices: ["card", "decline"] }] });
  assert.equal(after(...chosen, { type: "game", game: asked }).hint, "none");
});

test("moves are those of the game that is shown", () => {
  const moves = (version) => ({ type: "moves", version, list: [], unplayable: [] });
  assert.equal(after(stream(game(2)), moves(1)).moves, null);
  assert.equal(after(stream(game(2)), moves(2)).moves.version, 2);
  assert.equal(after(stream(game(2)), moves(2), { type: "game", game: game(3) }).moves, null);
});

test("undo takes back the last choice", () => {
  const seven = { type: "seven", shown: { next: [] }, part: { id: "7:1>2" } };
  const choices = [stream(game(1)), { type: "card", card: 1 }, { type: "rank", rank: "7" },
    { type: "seven", shown: { next: [] }, part: null }, seven, { type: "piece", piece: "5" }, { type: "confirm", confirm: "play" }];
  const seen = [0, 1, 2, 3, 4].map((times) => {
    const { card, rank, piece, seven: parts, confirm } = after(...choices, ...Array(times).fill({ type: "undo" })).choice;
    return [confirm, piece, parts.length, rank, card];
  });
  assert.deepEqual(seen, [["play", "5", 2, "7", 1], [null, "5", 2, "7", 1], [null, null, 2, "7", 1], [null, null, 1, "7", 1], [null, null, 0, null, 1]]);
  assert.equal(after(...choices, { type: "start over" }).choice.seven.length, 1);
});

test("who goes and comes back is news, but not who is about to connect", () => {
  const there = (...present) => stream({ type: "presence", present });
  const news = (...events) => after({ type: "link", link: "live" }, ...events).news;
  assert.deepEqual(news(there(true, true), there(true, false)), [{ seat: 1, present: false }]);
  assert.deepEqual(news(there(true, true), there(true, false), there(true, true)), [{ seat: 1, present: true }]);
  assert.deepEqual(news(there(true, true), there(false, true)), [], "the reader");
  assert.deepEqual(news(there(true, null), there(true, false)), []);
  assert.equal(after(there(true, true), { type: "link", link: "lost" }).presence, null);
});

test("a closed table of a match is replayed once it is open", () => {
  const closed = stream(game(9, { phase: "finished", match_closed: true, shuffle_seed: null }));
  const opens = stream({ type: "match", match_id: "m", shuffle_seed: "00" });
  const replay = { type: "replay", version: 3 };
  assert.equal(after(replay, closed).replay, null);
  const { game: now, replay: step } = after(closed, opens, replay);
  assert.deepEqual([now.match_closed, now.shuffle_seed, step], [false, "00", 3]);
  assert.equal(after(opens).game, null);
});

test("the step of a replay is one that there is", () => {
  const steps = [1, 2, 3].map((version) => ({ version }));
  assert.deepEqual([0, 2, 9].map((replay) => stepOf({ steps, replay }).version), [1, 2, 3]);
  assert.equal(stepOf({ steps, replay: null }), null);
});

test("the list of reactions closes when nobody may react any more", () => {
  const reacting = (phase) => after(stream(game(5)), { type: "table", change: { reacting: true } }, { type: "game", game: game(6, { phase }) }).reacting;
  assert.deepEqual(["play", "deal"].map(reacting), [true, false]);
});
