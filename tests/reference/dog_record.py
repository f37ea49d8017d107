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
from dog_exchange import Exchange, Refused
from perft import read_rules

FORMATS = ("1", "2")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_HEADER = re.compile(r'\[(\w+) "((?:[^"\\]|\\.)*)" ?\]')
_CONTENT = re.compile(rf'(?:[^";]|{_QUOTED})*')
# Mail programs make no-break spaces of blanks, and some editors begin a file with a byte order mark.
_QUOTED_OR_BLANKS = re.compile(rf"({_QUOTED})|[\s\ufeff]+")
_PLAYER = rf"(human|bot|open) [a-z_]+ {_QUOTED}"
_SETTINGS = r"turn_seconds (?:none|\d+) bot_pace_ms \d+ listed (?:yes|no)(?: reactions no)?"
_ANSWERS = {"passes": "pass", "asks": "ask", "offers": "card", "declines": "decline"}
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
        line = _QUOTED_OR_BLANKS.sub(lambda found: found[1] or " ", content[0] if content else "").strip()
        if not line:
            continue
        if not line.startswith("["):
            record.steps.append((number, line))
            continue
        found = _HEADER.fullmatch(line)
        if found is None or record.steps or found[1] in record.headers:
            raise BadRecord(number, "that is no header")
        record.headers[found[1]] = re.sub(r"\\(.)", lambda escape: _ESCAPES[escape[1]], found[2])
    if record.headers.get("Dog") not in FORMATS:
        raise BadRecord(0, "that is no record of a known format")
    return record


class Seats:
    """Who plays each seat: a person, a bot, or, while it is open, a bot for whoever takes it.

    A hand belongs to the person it was dealt to. A person who takes a seat over in the middle of a
    round waits for the next deal, and a bot plays until then.
    """

    def __init__(self, kinds: list[str], awaited: set[int]) -> None:
        self.kinds = kinds
        self.people = [0] * len(kinds)
        """The number of the person who has the seat, or had it last."""
        self.hand_of: list[Optional[int]] = [None] * len(kinds)
        """The person whose hand it is in this round; None for a bot, and between the rounds."""
        self.waits = [False] * len(kinds)
        self.awaited = awaited
        """Seats whose people have not asked for the rematch. A bot has the seat of one who had left before."""
        self.late = [0] * len(kinds)
        """How often in a row the clock has acted for the seat's person."""
        self.were_away = 0
        """How often a seat has become away: the clock has acted for its person twice in a row."""
        self.said = [False] * len(kinds)
        """Whether the seat's person has said to give up."""

    def missing(self) -> bool:
        return "open" in self.kinds or bool(self.awaited)

    def bot_plays(self, seat: int) -> bool:
        return self.kinds[seat] != "human" or self.waits[seat]

    def dealt(self) -> None:
        for seat, kind in enumerate(self.kinds):
            self.hand_of[seat] = self.people[seat] if kind == "human" else None
            self.waits[seat] = False

    def round_ended(self) -> None:
        self.hand_of = [None] * len(self.kinds)

    def becomes(self, seat: int, kind: str, in_round: bool) -> None:
        if not kind == self.kinds[seat] == "human":
            self.awaited.discard(seat)
            self.said[seat] = False
        if kind == "human":
            if in_round:
                self.waits[seat] = self.hand_of[seat] != self.people[seat]
        else:
            self.waits[seat] = False
            self.late[seat] = 0
        if kind == "open":
            self.people[seat] += 1
        self.kinds[seat] = kind

    def acted(self, seat: int, mark: str) -> None:
        self.late[seat] = self.late[seat] + 1 if mark == "clock" else 0
        if self.late[seat] == 2:
            self.were_away += 1

    def gives_up(self, seat: int) -> bool:
        return self.kinds[seat] == "human" and self.said[seat]

    def plays_on(self, seat: int) -> bool:
        return self.kinds[seat] == "human" and self.late[seat] < 2 and not self.said[seat]


class Game:
    """A game being played again."""

    def __init__(self, record: Record) -> None:
        headers = record.headers
        self.format = headers["Dog"]
        self.rules = read_rules(headers["Rules"])
        self.seats: int = self.rules["seats"]
        seed = bytes.fromhex(headers["Seed"])
        if dog_shuffle.commitment(seed) != headers["Commitment"]:
            raise BadRecord(0, "the commitment is not SHA-256 of the seed")
        dealer = int(headers["Dealer"]) if "Dealer" in headers else None
        self.deals = dog_shuffle.deals(seed, self.rules, dealer)
        self.board = dog.empty_board(self.rules)
        self.hands: list[list[str]] = [[] for _ in range(self.seats)]
        kinds = headers["Kinds"].split()
        awaited = {int(seat) for seat in headers.get("Awaited", "").split()}
        known = {"human", "bot"} if self.format == "1" else {"human", "bot", "open"}
        if len(kinds) != self.seats or not set(kinds) <= known:
            raise BadRecord(0, f"{kinds} are no kinds of {self.seats} seats")
        if not awaited <= set(range(self.seats)) or "Awaited" in headers and self.format == "1":
            raise BadRecord(0, "nobody can be awaited at these seats")
        self.players = Seats(kinds, awaited)
        self.changed = self.players.missing()
        """Whether something has happened for which the record must be of format 2."""
        self.phase = "seating" if self.players.missing() else "deal"
        self.turn = 0
        self.winner: Optional[int] = None
        self.answers = Exchange(self.rules)
        self.deal_count = self.turn_count = 0

    def step(self, line: int, text: str) -> None:
        self.act(line, text)
        for seat in range(self.seats):
            partner = dog.partner_of(self.rules, seat)
            if self.phase != "finished" and self.players.gives_up(seat) and not self.players.plays_on(partner):
                self.winner, self.phase = 1 - seat % 2, "finished"

    def act(self, line: int, text: str) -> None:
        def needs(holds: bool, why: str) -> None:
            if not holds:
                raise BadRecord(line, why)

        needs(self.phase != "finished", "the game is over")
        marked = re.fullmatch(r"\((bot|clock)\)\s*(.*)", text) if self.format == "2" else None
        mark, text = (marked[1], marked[2]) if marked else ("", text)
        who, _, what = text.partition(" ")
        what = what.strip()
        seat = int(who) if who.isdigit() and int(who) < self.seats else None
        by_bots = [self.players.bot_plays(seat) for seat in range(self.seats)]
        if who == "deal":
            seat = self.deal(line, what)
            needs(not mark or seat is not None, "no seat has dealt")
        elif who in ("host", "server"):
            needs(not mark and (who == "host" or self.format == "2"), f"{who} is not marked")
            self.change(line, who, what)
            return
        else:
            needs(seat is not None, f"{who!r} is no seat")
            assert seat is not None
            if not mark and self.format == "2" and self.come_or_go(line, seat, what):
                return
        if seat is None:
            return
        needs(mark != "bot" or by_bots[seat], f"a person plays seat {seat}")
        needs(mark != "clock" or not by_bots[seat], f"a bot plays seat {seat}")
        if (mark, what) != ("clock", "passes"):  # which does not count towards being away
            self.players.acted(seat, mark)
        if who == "deal":
            return
        verb, _, card = what.partition(" ")
        if verb in _ANSWERS:
            needs(self.phase == "exchange", "there is no exchange")
            needs((verb == "offers") == (card != ""), f"{what!r} is no answer")
            self.exchange(line, seat, _ANSWERS[verb], card)
        else:
            needs(self.phase == "play", "no turn is due")
            needs(seat == self.turn, f"seat {self.turn} is to move")
            self.play(line, seat, what)

    def change(self, line: int, who: str, what: str) -> None:
        """What the host or the server does. A token or a setting changes nothing that the rules know of."""
        handed = re.fullmatch(rf"hands (\d) to {_PLAYER}", what)
        if handed and int(handed[1]) < self.seats and (handed[2] != "open" or self.format == "2"):
            self.changed |= who == "server" or handed[2] == "open"
            self.becomes(int(handed[1]), handed[2])
        elif who == "host" and self.format == "2" and re.fullmatch(f"sets {_SETTINGS}", what):
            self.changed = True
        elif who != "host" or not re.fullmatch(rf"reissues token [0-{self.seats - 1}]", what):
            raise BadRecord(line, f"the {who} does no such thing")

    def come_or_go(self, line: int, seat: int, what: str) -> bool:
        """Somebody takes the seat, or its person changes it, asks for the rematch or gives up; False if it is play."""
        becomes = re.fullmatch(f"becomes {_PLAYER}", what)
        if re.fullmatch(f"joins {_QUOTED}", what):
            if self.players.kinds[seat] != "open":
                raise BadRecord(line, f"seat {seat} is not open")
            self.becomes(seat, "human")
            self.players.late[seat] = 0
        elif becomes:
            self.becomes(seat, becomes[1])
            self.players.late[seat] = 0
        elif what == "asks for rematch":
            if self.phase != "seating":
                raise BadRecord(line, "the game has begun")
            if seat in self.players.awaited:
                self.players.becomes(seat, "human", in_round=False)
                self.players.awaited.discard(seat)
            self.update_seating()
        elif what in ("gives up", "plays on"):
            if self.seats != 4 or self.deal_count == 0:
                raise BadRecord(line, "no team can give up")
            self.players.said[seat] = what == "gives up"
            self.players.late[seat] = 0
        elif what != "renews token":
            return False
        self.changed = True
        return True

    def becomes(self, seat: int, kind: str) -> None:
        self.players.becomes(seat, kind, in_round=self.phase in ("exchange", "play"))
        self.update_seating()

    def update_seating(self) -> None:
        if self.deal_count == 0 and self.phase in ("seating", "deal"):
            self.phase = "seating" if self.players.missing() else "deal"

    def deal(self, line: int, what: str) -> Optional[int]:
        """Deals the round. Returns the seat that has dealt, if one has."""
        head, _, hands = what.partition(":")
        by = head.split()[-1] if head.split() else ""
        if self.phase == "seating":
            # The host need not wait for people who do not ask for the rematch.
            if by not in ("host", "server") or "open" in self.players.kinds:
                raise BadRecord(line, "somebody is missing")
        elif self.phase != "deal":
            raise BadRecord(line, "no deal is due")
        deal = next(self.deals)
        dealers = ["host", str(deal.dealer)] + (["server"] if self.format == "2" else [])
        if head.split() != [str(deal.round), "by", by] or by not in dealers:
            raise BadRecord(line, f"this is deal {deal.round} by seat {deal.dealer}")
        dealt = [dog_shuffle.by_rank(hand) for hand in deal.hands]
        if hands and [hand.split() for hand in hands.split("|")] != dealt:
            raise BadRecord(line, f"by the seed the hands are {dealt}")
        self.hands = dealt
        self.turn = deal.beginner
        self.answers = Exchange(self.rules)
        self.phase = "exchange"
        self.deal_count += 1
        self.players.dealt()
        return int(by) if by.isdigit() else None

    def exchange(self, line: int, seat: int, answer: str, card: str) -> None:
        try:
            self.answers.answer(seat, answer, card)
        except Refused as refused:
            raise BadRecord(line, f"seat {seat}: {refused}") from refused
        if answer == "card" and card not in self.hands[seat]:
            raise BadRecord(line, f"seat {seat} has no {card}")
        if answer == "card" and self.answers.swapped(seat):
            partner = dog.partner_of(self.rules, seat)
            for giver, taker in ((seat, partner), (partner, seat)):
                self.hands[giver].remove(self.answers.offers[giver])
                self.hands[taker].append(self.answers.offers[giver])
        if self.answers.done():
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
            self.players.round_ended()


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
