"""Tests of dog_exchange.py: the table of RULES §7.3, its states, its events and its refusals."""

from __future__ import annotations

import itertools
import unittest
from typing import Optional

from dog_exchange import ANSWERS, Exchange, Refused
from dog_rules import make_rules

ON_REQUEST = make_rules("hausregeln")
OPTIONAL = make_rules("hausregeln", exchange="optional")
MANDATORY = make_rules("hausregeln", exchange="mandatory")

NOT_ASKED = (422, "illegal_exchange", "not_asked")
PARTNER_ASKED = (409, "not_your_turn", "partner_asked")
PARTNER_ANSWERS = (409, "not_your_turn", "partner_answers")
MUST_OFFER = (422, "illegal_exchange", "must_offer")
ALREADY_ANSWERED = (409, "not_your_turn", "already_answered")
EXCHANGE_DONE = (409, "not_your_turn", "exchange_done")
NO_PASS = (422, "illegal_exchange", "no_pass")
EXCHANGE_MANDATORY = (422, "illegal_exchange", "exchange_mandatory")
ALREADY_ASKED = (422, "illegal_exchange", "already_asked")


def after(*answers: str, rules: dict = ON_REQUEST) -> Exchange:
    """An exchange after answers such as `0 ask`."""
    exchange = Exchange(rules)
    for answer in answers:
        seat, what = answer.split()
        exchange.answer(int(seat), what, "K" if what == "card" else None)
    return exchange


class Case(unittest.TestCase):
    def assert_refused(self, exchange: Exchange, seat: int, answers: str, refusal: tuple) -> None:
        """Each of these answers gets this refusal, and leaves no trace."""
        for answer in answers.split():
            before = [exchange.state(seat) for seat in range(4)]
            with self.assertRaises(Refused, msg=answer) as caught:
                exchange.answer(seat, answer, "K" if answer == "card" else None)
            refused = caught.exception
            self.assertEqual((refused.status, refused.code, refused.reason), refusal, answer)
            self.assertEqual([exchange.state(seat) for seat in range(4)], before)

    def assert_team(
        self, exchange: Exchange, team: str, states: str, choices: tuple[Optional[str], ...]
    ) -> None:
        """The team of seats 0 and 2: its state, the states in views, and the choices."""
        self.assertEqual(exchange.team(0), team)
        self.assertEqual(exchange.team(2), team)
        self.assertEqual([exchange.state(0), exchange.state(2)], states.split())
        for seat, expected in zip((0, 2), choices):
            self.assertEqual(exchange.choices(seat), set((expected or "").split()))


class OnRequest(Case):
    # Answers, the team after them, and of seats 0 and 2: the state in views, the choices, and how all else is refused.
    STATES = (
        ("", "open", ("pending", "ask pass", NOT_ASKED), ("pending", "ask pass", NOT_ASKED)),
        ("0 pass", "open", ("passed", "", ALREADY_ANSWERED), ("pending", "ask pass", NOT_ASKED)),
        ("0 pass, 2 pass", "done", ("kept", "", EXCHANGE_DONE), ("kept", "", EXCHANGE_DONE)),
        ("0 ask", "asked", ("asked", "", PARTNER_ANSWERS), ("pending", "card decline", PARTNER_ASKED)),
        ("2 pass, 0 ask", "asked", ("asked", "", PARTNER_ANSWERS), ("pending", "card decline", PARTNER_ASKED)),
        ("0 ask, 2 card", "promised", ("asked", "card", MUST_OFFER), ("offered", "", ALREADY_ANSWERED)),
        ("2 pass, 0 ask, 2 card", "promised", ("asked", "card", MUST_OFFER), ("offered", "", ALREADY_ANSWERED)),
        ("0 ask, 2 card, 0 card", "done", ("swapped", "", EXCHANGE_DONE), ("swapped", "", EXCHANGE_DONE)),
        ("0 ask, 2 decline", "done", ("kept", "", EXCHANGE_DONE), ("declined", "", EXCHANGE_DONE)),
        ("2 pass, 0 ask, 2 decline", "done", ("kept", "", EXCHANGE_DONE), ("declined", "", EXCHANGE_DONE)),
    )

    def test_states(self) -> None:
        for answers, team, *seats in self.STATES:
            with self.subTest(answers):
                exchange = after(*filter(None, answers.split(", ")))
                (one, choices, _), (other, others, _) = seats
                self.assert_team(exchange, team, f"{one} {other}", (choices, others))
                self.assertEqual(exchange.swapped(0), one == "swapped")
                for seat, (_, choices, refusal) in zip((0, 2), seats):
                    rest = [answer for answer in ANSWERS if answer not in choices]
                    self.assert_refused(exchange, seat, " ".join(rest), refusal)

    def test_events(self) -> None:
        exchange = after()
        for seat, answer, events in (
            (2, "pass", ["exchange_passed"]),
            (0, "ask", ["help_asked"]),
            (2, "card", ["card_offered"]),
            (0, "card", ["card_offered", "cards_swapped"]),
            (3, "ask", ["help_asked"]),
            (1, "decline", ["exchange_declined"]),
        ):
            self.assertEqual(exchange.answer(seat, answer, "K"), events)
        self.assertTrue(exchange.done())

    def test_teams_are_independent(self) -> None:
        exchange = after("1 ask", "0 pass", rules=make_rules("hausregeln", seats=6))
        self.assertEqual([exchange.team(seat) for seat in range(6)], ["open", "asked", "open"] * 2)
        self.assertEqual(exchange.choices(4), {"card", "decline"})
        for seat, answer in ((3, "pass"), (4, "decline"), (2, "ask"), (5, "card")):
            exchange.answer(seat, answer, "K")
            self.assertFalse(exchange.done())
        exchange.answer(2, "card", "K")
        self.assertTrue(exchange.done())

    def test_somebody_is_always_to_act_and_a_seat_acts_at_most_twice(self) -> None:
        """By exhaustion, for one team."""
        ways = 0
        waiting: list[list[str]] = [[]]
        while waiting:
            answers = waiting.pop()
            exchange = after(*answers)
            if exchange.team(0) == "done":
                ways += 1
                for seat in "02":
                    self.assertLessEqual(sum(answer[0] == seat for answer in answers), 2)
                continue
            following = [[*answers, f"{seat} {answer}"]
                         for seat in (0, 2) for answer in exchange.choices(seat)]
            self.assertTrue(following)
            waiting += following
        # Both pass, in either order; or one asks, at once or after the other's pass, and is
        # declined or gets a card.
        self.assertEqual(ways, 2 + 2 * 2 * 2)


class OtherValues(Case):
    def test_mandatory(self) -> None:
        exchange = after(rules=MANDATORY)
        self.assertEqual(exchange.choices(0), {"card"})
        self.assert_refused(exchange, 0, "ask decline", EXCHANGE_MANDATORY)
        self.assert_refused(exchange, 0, "pass", NO_PASS)
        exchange = after("0 card", rules=MANDATORY)
        self.assert_refused(exchange, 0, "pass card ask", ALREADY_ANSWERED)
        self.assert_team(exchange, "open", "offered pending", (None, "card"))
        exchange = after("0 card", "2 card", rules=MANDATORY)
        self.assert_team(exchange, "done", "swapped swapped", (None, None))
        self.assert_refused(exchange, 0, "pass card", EXCHANGE_DONE)

    def test_optional(self) -> None:
        exchange = after(rules=OPTIONAL)
        self.assertEqual(exchange.choices(0), {"card", "ask", "decline"})
        self.assert_refused(exchange, 0, "pass", NO_PASS)
        exchange = after("0 ask", "2 ask", rules=OPTIONAL)
        self.assert_team(exchange, "open", "asked asked", ("card decline", "card decline"))
        self.assert_refused(exchange, 0, "ask", ALREADY_ASKED)
        exchange = after("0 ask", "0 card", rules=OPTIONAL)
        self.assert_team(exchange, "open", "offered pending", (None, "ask card decline"))
        self.assert_refused(exchange, 0, "ask pass card decline", ALREADY_ANSWERED)
        exchange = after("0 card", "2 decline", rules=OPTIONAL)
        self.assert_team(exchange, "done", "kept declined", (None, None))

    def test_every_answer_is_either_a_choice_or_refused(self) -> None:
        for rules in (ON_REQUEST, OPTIONAL, MANDATORY):
            for answers in itertools.product(itertools.product((0, 2), ANSWERS), repeat=3):
                exchange = Exchange(rules)
                for seat, answer in answers:
                    allowed = answer in exchange.choices(seat)
                    self.assertEqual(exchange.refusal(seat, answer) is None, allowed)
                    if allowed:
                        exchange.answer(seat, answer, "K")


if __name__ == "__main__":
    unittest.main()
