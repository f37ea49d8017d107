// Checks the shuffles of a finished game (docs/rules.md, section 8): that the seed is the one that
// was committed to before the first deal, and that every deal follows from it.

import { RANKS } from "../choose.js";

/** @import {FairResult, History} from "../types.js" */

/** @param {string} hex */
const bytes = (hex) => new Uint8Array((hex.match(/../g) ?? []).map((pair) => parseInt(pair, 16)));

/** @param {Uint8Array} data */
const hex = (data) => [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * @param {History} history of a finished game
 * @param {string} promised the commitment that was shown before the first deal
 * @returns {Promise<FairResult>}
 */
export async function checkShuffles(history, promised) {
  const seed = bytes(history.shuffle_seed ?? "");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", seed));
  const commitment = hex(digest) === promised;
  let rounds = 0;
  let deals = true;
  let shuffles = 0;
  /** @type {string[]} */
  let stock = shuffle(deck(history.rules.jokers), seed, shuffles);
  /** @type {string[]} */
  let discards = [];
  const { seats, reshuffle } = history.rules;
  /** @param {string[]} cards */
  const refill = (cards) => {
    shuffles += 1;
    stock = shuffle(sorted(cards), seed, shuffles);
    discards = [];
  };
  for (const { events } of history.entries) {
    for (const event of events) {
      if (event.type !== "cards_dealt") continue;
      /** @type {string[][]} */
      const hands = Array.from({ length: seats }, () => []);
      const cards = event.size * seats;
      if (reshuffle === "before_deal" && stock.length < cards) refill([...stock, ...discards]);
      for (let card = 0; card < cards; card += 1) {
        if (stock.length === 0) refill(discards);
        hands[(event.beginner + card) % seats].push(stock.shift() ?? "");
      }
      const same = hands.every((hand, seat) => String(sorted(hand)) === String(sorted(event.hands[seat] ?? [])));
      deals &&= same;
      // Every hand is played or folded before the next deal.
      discards.push(...hands.flat());
      rounds += 1;
    }
  }
  return { insecure: false, commitment, deals, rounds };
}

/** @param {number} jokers */
const deck = (jokers) => [
  ...RANKS.flatMap((rank) => Array(8).fill(rank)), ...Array(jokers).fill("joker"),
];

/** @param {string[]} cards */
function sorted(cards) {
  const order = [...RANKS, "joker"];
  return [...cards].sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

/** The Fisher–Yates shuffle with draws from a stream. @param {string[]} cards @param {Uint8Array} seed @param {number} stream */
function shuffle(cards, seed, stream) {
  const words = chacha20(seed, stream);
  for (let index = cards.length - 1; index > 0; index -= 1) {
    const other = draw(words, index + 1);
    [cards[index], cards[other]] = [cards[other], cards[index]];
  }
  return cards;
}

/** A number below `n`, each with the same probability. @param {Iterator<number>} words @param {number} n */
function draw(words, n) {
  const limit = 2 ** 32 - (2 ** 32 % n);
  for (;;) {
    const word = /** @type {number} */ (words.next().value);
    if (word < limit) return word % n;
  }
}

/** The words of a ChaCha20 keystream. @param {Uint8Array} key @param {number} nonce @returns {Generator<number>} */
function* chacha20(key, nonce) {
  const view = new DataView(key.buffer);
  const start = new Uint32Array(16);
  start.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let word = 0; word < 8; word += 1) start[4 + word] = view.getUint32(4 * word, true);
  start[14] = nonce;
  const rounds = [
    [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
    [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
  ];
  for (; ; start[12] += 1) {
    const block = start.slice();
    /** @param {number} to @param {number} from @param {number} mixed @param {number} bits */
    const step = (to, from, mixed, bits) => {
      block[to] += block[from];
      const value = block[mixed] ^ block[to];
      block[mixed] = (value << bits) | (value >>> (32 - bits));
    };
    for (let pair = 0; pair < 10; pair += 1) {
      for (const [a, b, c, d] of rounds) {
        step(a, b, d, 16);
        step(c, d, b, 12);
        step(a, b, d, 8);
        step(c, d, b, 7);
      }
    }
    for (let word = 0; word < 16; word += 1) yield (block[word] + start[word]) >>> 0;
  }
}
