"""The shuffle "dog-shuffle-1" in plain Python, so that anyone can recompute the deals of a game (RULES §7, §8).

    python3 dog_shuffle.py SEED_HEX PRESET ROUNDS [FIRST_DEALER]

prints the commitment, the first dealer (drawn from the seed unless given) and every hand dealt.

The exact bytes: the seed is 32 bytes; the commitment is the lowercase hex SHA-256 of the seed. Stream k is the ChaCha20
keystream (20 rounds, original layout: key = seed, 64-bit block counter from 0 in state words 12-13, 64-bit nonce k in
words 14-15, low words first), read as little-endian u32 words. draw(n) takes words until one is below
2^32 - (2^32 mod n) and returns it mod n. Shuffle k sorts the cards A, 2, ... K, joker and, for i from the last index
down to 1, swaps card i with card draw(i + 1). Cards are dealt from index 0. A random first dealer is draw(seats) from
stream 2^64 - 1.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from dataclasses import dataclass
from typing import Any, Iterator, Optional

from dog_rules import CARDS, RANKS, make_rules

VERSION = "dog-shuffle-1"
DEALER_STREAM = 2**64 - 1
_MASK = 0xFFFFFFFF


def _quarter_round(s: list[int], a: int, b: int, c: int, d: int) -> None:
    for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & _MASK
        s[z] ^= s[x]
        s[z] = (s[z] << bits | s[z] >> 32 - bits) & _MASK


def chacha20_block(key: bytes, nonce: int, counter: int) -> list[int]:
    """One block of 16 keystream words."""
    state = [
        *struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key),
        counter & _MASK, counter >> 32, nonce & _MASK, nonce >> 32,
    ]
    work = list(state)
    for _ in range(10):
        for n in range(4):
            _quarter_round(work, n, 4 + n, 8 + n, 12 + n)
        for n in range(4):
            _quarter_round(work, n, 4 + (n + 1) % 4, 8 + (n + 2) % 4, 12 + (n + 3) % 4)
    return [(x + y) & _MASK for x, y in zip(work, state)]


def words(seed: bytes, stream: int) -> Iterator[int]:
    """The words of a stream."""
    if len(seed) != 32:
        raise ValueError("a seed is 32 bytes")
    counter = 0
    while True:
        yield from chacha20_block(seed, stream, counter)
        counter += 1


def draw(source: Iterator[int], n: int) -> int:
    """A number below n without bias."""
    while True:
        x = next(source)
        if x < 2**32 - 2**32 % n:
            return x % n


def commitment(seed: bytes) -> str:
    return hashlib.sha256(seed).hexdigest()


def by_rank(cards: list[str]) -> list[str]:
    """The cards sorted A, 2, ... 10, J, Q, K, joker."""
    return sorted(cards, key=CARDS.index)


def deck(jokers: int) -> list[str]:
    """Two 52-card decks and the jokers, sorted."""
    return [rank for rank in RANKS for _ in range(8)] + ["joker"] * jokers


def shuffle(seed: bytes, k: int, cards: list[str]) -> list[str]:
    """Shuffle k of these cards."""
    cards = by_rank(cards)
    source = words(seed, k)
    for i in range(len(cards) - 1, 0, -1):
        j = draw(source, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


def random_dealer(seed: bytes, seats: int) -> int:
    return draw(words(seed, DEALER_STREAM), seats)


@dataclass
class Deal:
    """One round's deal."""

    round: int
    dealer: int
    beginner: int
    hands: list[list[str]]  # in the order dealt
    stock: int  # cards left in the stock after the deal
    reshuffled: bool  # the discard pile was shuffled for this deal, before or during it


def deals(seed: bytes, rules: dict[str, Any], first_dealer: Optional[int]) -> Iterator[Deal]:
    """The deal of every round, for ever (§8): they follow from the seed alone."""
    seats, sizes = rules["seats"], rules["deal_sizes"]
    dealer = random_dealer(seed, seats) if first_dealer is None else first_dealer
    all_cards = deck(rules["jokers"])
    stock = shuffle(seed, 0, all_cards)
    shuffles = 1
    round_ = 1
    while True:
        first, then = sizes["first"], sizes["then"]
        size = first[round_ - 1] if round_ <= len(first) else then[(round_ - 1 - len(first)) % len(then)]
        beginner = (dealer + 1) % seats if rules["dealer"] == "rotates" else (dealer + round_) % seats
        hands: list[list[str]] = [[] for _ in range(seats)]
        # With before_deal (§11) no deal begins with too few cards. All hands are empty before it,
        # so stock and discard pile together are all cards.
        reshuffled = rules["reshuffle"] == "before_deal" and len(stock) < size * seats
        if reshuffled:
            stock = shuffle(seed, shuffles, all_cards)
            shuffles += 1
        for i in range(size * seats):
            if not stock:
                # Every card that is not in a hand of this deal has been played or folded.
                pile = list(all_cards)
                for hand in hands:
                    for card in hand:
                        pile.remove(card)
                stock = shuffle(seed, shuffles, pile)
                shuffles += 1
                reshuffled = True
            hands[(beginner + i) % seats].append(stock.pop(0))
        yield Deal(round_, dealer, beginner, hands, len(stock), reshuffled)
        if rules["dealer"] == "rotates":
            dealer = (dealer + 1) % seats
        round_ += 1


def main(argv: list[str]) -> int:
    if len(argv) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    seed, rules, rounds = bytes.fromhex(argv[1]), make_rules(argv[2]), int(argv[3])
    given = int(argv[4]) if len(argv) == 5 else None
    first_dealer = random_dealer(seed, rules["seats"]) if given is None else given
    source = deals(seed, rules, first_dealer)
    listed = [
        {"round": deal.round, "dealer": deal.dealer, "beginner": deal.beginner,
         "hands": [by_rank(hand) for hand in deal.hands]}
        for deal, _ in zip(source, range(rounds))
    ]
    print(json.dumps({"commitment": commitment(seed), "first_dealer": first_dealer, "rounds": listed}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
