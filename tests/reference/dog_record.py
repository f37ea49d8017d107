"""Replays text records of games (docs/record.md) by the reference rules: `python3 dog_record.py FILE...`.

Every deal is recomputed from the seed, every card and move is checked, and the winner is compared. It
shares no code with the engine that writes the records.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

import dog_rules as dog
import dog_shuffle
from perft import read_rules

FORMAT = "1"
_HEADER = re.compile(r'\[(\w+) "((?:[^"\\]|\\.)*)"\]')
_CONTENT = re.compile(r'(?:[^";]|"(?:[^"\\]|\\.)*")*')
_ESCAPES = {"n": "\n", "r": "\r", '"': '"', "\\": "\\"}


class BadRecord(ValueError):
    """What is wrong with a record, and in which line (0 for the whole)."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line


@dataclass
class Record:
    """A record as it is written: its headers, and its steps with their lines."""

    headers: dict[str, str] = field(default_factory=dict)
    steps: list[tuple[int, str]] = field(default_factory=list)


def read(text: str) -> Record:
    record = Record()
    for number, line in enumerate(text.split("\n"), 1):
        content = _CONTENT.match(line)
        line = content[0].strip() if content else ""
        if not line:
            continue
        if not line.startswith("["):
            record.steps.append((number, line))
            continue
        found = _HEADER.fullmatch(line)
        if found is None or record.steps or found[1] in record.headers:
            raise BadRecord(number, "that is no header")
        record.headers[found[1]] = re.sub(r"\\(.)", lambda escape: _ESCAPES[escape[1]], found[2])
    if record.headers.get("Dog") != FORMAT:
        raise BadRecord(0, "that is no record of a known format")
    return record


class Game:
    """A game being played again."""

    def __init__(self, record: Record) -> None:
        headers = record.headers
        self.rules = read_rules(headers["Rules"])
        self.seats: int = self.rules["seats"]
        seed = bytes.fromhex(headers["Seed"])
        if dog_shuffle.commitment(seed) != headers["Commitment"]:
            raise BadRecord(0, "the commitment is not SHA-256 of the seed")
        dealer = int(headers["Dealer"]) if "Dealer" in headers else None
        self.deals = dog_shuffle.deals(seed, self.rules, dealer)
        self.board = dog.empty_board(self.rules)
        self.hands: list[list[str]] = [[] for _ in range(self.seats)]
        self.phase = "deal"
        self.turn = 0
        self.winner: Optional[int] = None
        self.offers: dict[int, str] = {}
        self.declined: set[int] = set()
        self.asked: set[int] = set()
        self.deal_count = self.turn_count = 0

    def step(self, line: int, text: str) -> None:
        def needs(holds: bool, why: str) -> None:
            if not holds:
                raise BadRecord(line, why)

        needs(self.phase != "finished", "the game is over")
        who, _, what = text.partition(" ")
        if who == "host":
            self.host(line, what)
        elif who == "deal":
            needs(self.phase == "deal", "no deal is due")
            self.deal(line, what)
        else:
            needs(who.isdigit() and int(who) < self.seats, f"{who!r} is no seat")
            if what in ("asks", "declines") or what.startswith("offers "):
                needs(self.phase == "exchange", "there is no exchange")
                self.exchange(line, int(who), what)
            else:
                needs(self.phase == "play", "no turn is due")
                needs(int(who) == self.turn, f"seat {self.turn} is to move")
                self.play(line, int(who), what)

    def host(self, line: int, what: str) -> None:
        """What the host does changes nothing that the rules know of."""
        seat = r"([0-5])"
        if not re.fullmatch(rf'reissues token {seat}|hands {seat} to (human|bot) [a-z_]+ "(?:[^"\\]|\\.)*"', what):
            raise BadRecord(line, "the host does no such thing")

    def deal(self, line: int, what: str) -> None:
        deal = next(self.deals)
        head, _, hands = what.partition(":")
        if head.split() not in ([str(deal.round), "by", "host"], [str(deal.round), "by", str(deal.dealer)]):
            raise BadRecord(line, f"this is deal {deal.round} by seat {deal.dealer}")
        dealt = [dog_shuffle.by_rank(hand) for hand in deal.hands]
        if hands and [hand.split() for hand in hands.split("|")] != dealt:
            raise BadRecord(line, f"by the seed the hands are {dealt}")
        self.hands = dealt
        self.turn = deal.beginner
        self.offers, self.declined, self.asked = {}, set(), set()
        self.phase = "exchange"
        self.deal_count += 1

    def pair_done(self, seat: int) -> bool:
        pair = {seat, dog.partner_of(self.rules, seat)}
        return bool(pair & self.declined) or pair <= set(self.offers)

    def exchange(self, line: int, seat: int, what: str) -> None:
        optional = self.rules["exchange"] == "optional"
        card = what.removeprefix("offers ").strip()
        if seat in self.offers or self.pair_done(seat):
            raise BadRecord(line, f"seat {seat} has answered")
        if what == "asks":
            if not optional or seat in self.asked:
                raise BadRecord(line, f"seat {seat} may not ask")
            self.asked.add(seat)
        elif what == "declines":
            if not optional:
                raise BadRecord(line, "the exchange is mandatory")
            self.declined.add(seat)
        elif card not in self.hands[seat]:
            raise BadRecord(line, f"seat {seat} has no {card}")
        else:
            self.offers[seat] = card
            partner = dog.partner_of(self.rules, seat)
            if partner in self.offers:
                for giver, taker in ((seat, partner), (partner, seat)):
                    self.hands[giver].remove(self.offers[giver])
                    self.hands[taker].append(self.offers[giver])
        if all(self.pair_done(seat) for seat in range(self.seats)):
            self.phase = "play"

    def play(self, line: int, seat: int, move: str) -> None:
        try:
            self.board = dog.judge(self.rules, self.board, seat, self.hands[seat], move).board
        except dog.IllegalMove as illegal:
            raise BadRecord(line, str(illegal)) from illegal
        self.turn_count += 1
        if move == "fold":
            self.hands[seat] = []
        else:
            self.hands[seat].remove(re.split("[=:]", move)[0])
        self.winner = dog.winner(self.rules, self.board)
        if self.winner is not None:
            self.phase = "finished"
            return
        order = [(seat + step) % self.seats for step in range(1, self.seats + 1)]
        holders = [seat for seat in order if self.hands[seat]]
        if holders:
            self.turn = holders[0]
        else:
            self.phase = "deal"


def replay(text: str) -> Game:
    """The end of a finished game, or BadRecord."""
    record = read(text)
    game = Game(record)
    for line, step in record.steps:
        game.step(line, step)
    last = record.steps[-1][0] if record.steps else 0
    if game.winner is None:
        raise BadRecord(last, "the game is not over")
    if record.headers.get("Winner") != str(game.winner):
        raise BadRecord(0, f"team {game.winner} has won")
    return game


def main(files: list[str]) -> int:
    if not files:
        print(__doc__, file=sys.stderr)
        return 2
    for file in files:
        try:
            game = replay(Path(file).read_bytes().decode())
        except (BadRecord, KeyError, ValueError) as error:
            print(f"{file}: {error}", file=sys.stderr)
            return 1
        print(f"{file}: {game.deal_count} deals, {game.turn_count} turns, team {game.winner} has won")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
