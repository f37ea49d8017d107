"""The exchange of one round (RULES §7.3), as a state machine for each team.

It knows who has passed, asked, declined and offered which card, but no hands: what the exchange
refuses is refused before the card is looked at.
"""

from __future__ import annotations

from typing import Optional

from dog_rules import Rules, partner_of


class Refused(ValueError):
    """An answer that the exchange does not allow, as the HTTP API refuses it."""

    def __init__(self, status: int, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.status, self.code, self.reason = status, code, reason


def _too_late(reason: str) -> Refused:
    return Refused(409, "not_your_turn", reason)


def _illegal(reason: str) -> Refused:
    return Refused(422, "illegal_exchange", reason)


ANSWERS = ("pass", "ask", "card", "decline")


class Exchange:
    """Who has answered what."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.kind: str = rules["exchange"]
        self.passed: set[int] = set()
        self.asked: set[int] = set()
        self.declined: set[int] = set()
        self.offers: dict[int, str] = {}

    def pair(self, seat: int) -> set[int]:
        return {seat, partner_of(self.rules, seat)}

    def team(self, seat: int) -> str:
        """The state of the seat's team; only on_request has `asked` and `promised`."""
        pair = self.pair(seat)
        if pair & self.declined or pair <= self.passed or pair <= set(self.offers):
            return "done"
        if self.kind == "on_request" and pair & self.asked:
            return "promised" if pair & set(self.offers) else "asked"
        return "open"

    def done(self) -> bool:
        """Play begins when every team is done."""
        return all(self.team(seat) == "done" for seat in range(self.rules["seats"]))

    def swapped(self, seat: int) -> bool:
        return self.pair(seat) <= set(self.offers)

    def refusal(self, seat: int, answer: str) -> Optional[Refused]:
        """Why this answer of the seat is refused; None if it is not."""
        team = self.team(seat)
        if team == "done":
            return _too_late("exchange_done")
        if self.kind == "on_request":
            if team == "open":
                if seat in self.passed:
                    return _too_late("already_answered")
                return None if answer in ("ask", "pass") else _illegal("not_asked")
            if team == "asked":
                if seat in self.asked:
                    return _too_late("partner_answers")
                return None if answer in ("card", "decline") else _too_late("partner_asked")
            if seat not in self.asked:
                return _too_late("already_answered")
            return None if answer == "card" else _illegal("must_offer")
        if seat in self.offers:
            return _too_late("already_answered")
        if answer == "pass":
            return _illegal("no_pass")
        if self.kind == "mandatory":
            return None if answer == "card" else _illegal("exchange_mandatory")
        return _illegal("already_asked") if answer == "ask" and seat in self.asked else None

    def choices(self, seat: int) -> set[str]:
        """What the seat may answer now."""
        return {answer for answer in ANSWERS if self.refusal(seat, answer) is None}

    def answer(self, seat: int, answer: str, card: Optional[str] = None) -> list[str]:
        """Take an answer, or raise Refused. Returns the types of the events that follow."""
        refusal = self.refusal(seat, answer)
        if refusal is not None:
            raise refusal
        if answer == "card":
            assert card is not None
            self.offers[seat] = card
            return ["card_offered"] + (["cards_swapped"] if self.swapped(seat) else [])
        who, event = {
            "pass": (self.passed, "exchange_passed"),
            "ask": (self.asked, "help_asked"),
            "decline": (self.declined, "exchange_declined"),
        }[answer]
        who.add(seat)
        return [event]

    def state(self, seat: int) -> str:
        """`exchange` of the seat in views."""
        if self.team(seat) == "done":
            if self.swapped(seat):
                return "swapped"
            return "declined" if seat in self.declined else "kept"
        if seat in self.offers:
            return "offered"
        if seat in self.asked:
            return "asked"
        return "passed" if seat in self.passed and self.team(seat) == "open" else "pending"
