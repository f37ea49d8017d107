"""Counts sequences of moves (RULES §9) with the reference rules: `python3 perft.py FILE...`.

Reads the files of crates/dog-rules/tests/perft and compares every count in them. `--limit N` leaves out counts above N.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Callable, Iterator, Optional

import dog_rules as dog
from dog_rules import Board, Rules

Hand = tuple[str, ...]
Hands = tuple[Hand, ...]


@dataclass
class Case:
    """A position, hands open, and the count of each depth."""

    line: int
    title: str
    rules: Rules
    board: Board
    hands: Hands
    turn: int
    counts: dict[int, int] = field(default_factory=dict)


# --- reading --------------------------------------------------------------------------------------------------------

def read_cases(text: str) -> Iterator[Case]:
    """The cases of a file, which blank lines separate."""
    lines = [line.strip() for line in text.splitlines()] + [""]
    comment: list[str] = []
    content: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            comment.append(line[1:].strip())
        elif line:
            content.append((number, line))
        else:
            if content:
                yield _read_case(comment[0] if comment else "", content)
            comment, content = [], []


def _read_case(title: str, content: list[tuple[int, str]]) -> Case:
    named = [line.partition(" ")[::2] for _, line in content]
    if [name for name, _ in named[:4]] != ["rules", "board", "hands", "turn"]:
        raise ValueError(f"line {content[0][0]}: a case is rules, board, hands, turn, counts")
    (_, rules_text), (_, board_text), (_, hands_text), (_, turn_text) = named[:4]
    rules = read_rules(rules_text)
    by_seat = [[]] * rules["seats"] if board_text.strip() == "-" else _by_seat(board_text)
    seats = [_read_seat(rules, seat, words) for seat, words in enumerate(by_seat)]
    hands = tuple(tuple(sorted(words)) for words in _by_seat(hands_text))
    if len(hands) != rules["seats"] or any(card not in dog.CARDS for hand in hands for card in hand):
        raise ValueError(f"line {content[2][0]}: these are no hands")
    counts = {int(depth): int(count) for depth, count in named[4:]}
    return Case(content[0][0], title, rules, dog.make_board(rules, seats), hands, int(turn_text), counts)


def read_rules(text: str) -> Rules:
    preset, *overrides = text.split()
    values: dict[str, Any] = {}
    for override in overrides:
        name, _, value = override.partition("=")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return dog.make_rules(preset, **values)


def _by_seat(text: str) -> list[list[str]]:
    return [[word for word in seat.split() if word != "-"] for seat in text.split("/")]


def _read_seat(rules: Rules, seat: int, words: list[str]) -> dict[str, Any]:
    fresh = [word for word in words if word.endswith("f")]
    if fresh and fresh != [f"{dog.start_of(rules, seat)}f"]:
        raise ValueError(f"seat {seat}: only the piece on its start can be fresh, not {fresh}")
    return {
        "track": [int(word.removesuffix("f")) for word in words if not word.startswith("g")],
        "goal": [int(word[1:]) for word in words if word.startswith("g")],
        "fresh": bool(fresh),
    }


# --- counting -------------------------------------------------------------------------------------------------------

def counter(rules: Rules) -> Callable[[Board, Hands, int, int], int]:
    """Counts the sequences of `depth` moves from a board, hands, and the seat to move or to be skipped."""

    @lru_cache(maxsize=None)
    def boards(board: Board, seat: int, card: str) -> frozenset[Board]:
        if card == "joker":
            return frozenset().union(*(boards(board, seat, rank) for rank in dog.RANKS))
        return frozenset(dog.boards_for(rules, board, seat, card))

    @lru_cache(maxsize=None)
    def count(board: Board, hands: Hands, turn: int, depth: int) -> int:
        if depth == 0:
            return 1
        seat = to_move(rules, board, hands, turn)
        if seat is None:
            return 0
        after = (seat + 1) % rules["seats"]
        moves = {card: boards(board, seat, card) for card in set(hands[seat])}
        if not any(moves.values()):
            return count(board, _with_hand(hands, seat, ()), after, depth - 1)
        if depth == 1:
            return sum(len(reached) for reached in moves.values())
        total = 0
        for card, reached in moves.items():
            left = list(hands[seat])
            left.remove(card)
            hands_after = _with_hand(hands, seat, tuple(left))
            total += sum(count(board_after, hands_after, after, depth - 1) for board_after in reached)
        return total

    return count


def to_move(rules: Rules, board: Board, hands: Hands, turn: int) -> Optional[int]:
    """§7.4, §7.5: the next seat that holds cards, unless the round or the game is over."""
    if dog.winner(rules, board) is not None:
        return None
    seats = rules["seats"]
    return next((seat for seat in ((turn + n) % seats for n in range(seats)) if hands[seat]), None)


def _with_hand(hands: Hands, seat: int, hand: Hand) -> Hands:
    return hands[:seat] + (hand,) + hands[seat + 1:]


def check(case: Case, limit: Optional[int] = None) -> dict[int, tuple[int, int]]:
    """The counts expected up to the limit: for each depth the count found and the one expected."""
    count = counter(case.rules)
    return {
        depth: (count(case.board, case.hands, case.turn, depth), expected)
        for depth, expected in case.counts.items()
        if limit is None or expected <= limit
    }


# --- command line ---------------------------------------------------------------------------------------------------

def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the counts in files of positions with the reference rules.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--limit", type=int, metavar="N", help="leave out counts above N")
    arguments = parser.parse_args()
    checked = different = 0
    for file in arguments.files:
        with open(file, encoding="utf-8") as text:
            cases = list(read_cases(text.read()))
        for case in cases:
            begin = time.monotonic()
            results = check(case, arguments.limit)
            wrong = {depth: result for depth, result in results.items() if result[0] != result[1]}
            checked, different = checked + len(results), different + len(wrong)
            print(f"{file}:{case.line} {case.title} [{len(results)} counts, {time.monotonic() - begin:.1f} s]", flush=True)
            for depth, (found, expected) in wrong.items():
                print(f"  DIFFERENT at depth {depth}: {found}, expected {expected}")
    print(f"{checked} counts, {different} different")
    return 1 if different or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
