"""Tests of dog_record.py, on the records of tests/records that the engine has written."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

import dog_record
import dog_rules
from dog_record import BadRecord

RECORDS = sorted((Path(__file__).parent.parent / "records").glob("*.dog"))


def text_of(file: Path) -> str:
    return file.read_bytes().decode()


class Records(unittest.TestCase):
    def test_every_record_can_be_played_again(self) -> None:
        self.assertTrue(RECORDS)
        for file in RECORDS:
            with self.subTest(file.name):
                text = text_of(file)
                game = dog_record.replay(text)
                self.assertEqual(game.phase, "finished")
                self.assertEqual(game.deal_count, len(re.findall(r"(?m)^(?:\(\w+\) )?deal ", text)))
                # A record is of format 2 if and only if people came or went or were away.
                self.assertEqual(game.changed or game.players.were_away > 0, "[Dog \"2\"]" in text)

    def test_names_are_read_as_they_were(self) -> None:
        headers = dog_record.read('[Dog "1"]\n[Seat0 "a \\"b\\" \\\\ ; c"] ; d\n; e\n').headers
        self.assertEqual(headers["Seat0"], 'a "b" \\ ; c')

    def test_white_space_outside_quotes_means_nothing(self) -> None:
        for file in RECORDS:
            text = text_of(file)
            original = dog_record.read(text)
            parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
            spaced = "".join(part if part.startswith('"') else part.replace(" ", "\xa0\t ") for part in parts)
            for changed in (
                "\ufeff" + text,
                text.replace("\n", " \xa0\r\n"),
                text.replace("\n", "\n \xa0"),
                text.replace('"]', '"\xa0]'),
                spaced,
            ):
                with self.subTest(file.name, beginning=changed[:20]):
                    self.assertNotEqual(changed, text)
                    self.assertEqual(dog_record.read(changed), original)
        name = dog_record.read('[Dog "1"]\xa0\n[Seat0 " a\xa0 b\t"]').headers["Seat0"]
        self.assertEqual(name, " a\xa0 b\t")

    def test_names_may_be_anything(self) -> None:
        for name in ("", " \u200b", "Eve\u202e", "Bot 2", "x" * 2000):
            for file in RECORDS:
                text = re.sub(r'(?m)^\[Seat1 ".*', f'[Seat1 "{name}"]', text_of(file))
                self.assertEqual(dog_record.replay(text).phase, "finished")

    def assert_bad(self, text: str, line: int) -> None:
        with self.assertRaises(BadRecord) as caught:
            dog_record.replay(text)
        self.assertEqual(caught.exception.line, line, str(caught.exception))

    def test_changes_are_found(self) -> None:
        for file in RECORDS:
            text = text_of(file)
            lines = text.split("\n")
            with self.subTest(file.name):
                seed = re.sub(r'(?m)^\[Seed ".*', f'[Seed "{"5" * 64}"]', text)
                self.assert_bad(seed, 0)
                # The hands of two seats change places.
                deal = next(number for number, line in enumerate(lines) if "deal 2 by" in line)
                head, _, hands = lines[deal].partition(": ")
                first, second, *rest = hands.split(" | ")
                changed = f"{head}: " + " | ".join([second, first, *rest])
                self.assert_bad("\n".join([*lines[:deal], changed, *lines[deal + 1:]]), deal + 1)
                # A piece leaves the kennel with nothing, and somebody plays on after the end.
                play = next(number for number, line in enumerate(lines) if re.fullmatch(r"\d \w+:.*", line))
                illegal = lines[play][:2] + "2:1>90"
                self.assert_bad("\n".join([*lines[:play], illegal, *lines[play + 1:]]), play + 1)
                self.assert_bad(text + "0 fold\n", len(lines))
                self.assert_bad("\n".join(lines[:-2]), len(lines) - 2)
                winner = re.sub(r'(?m)^\[Winner "."\]', '[Winner "7"]', text)
                self.assert_bad(winner, 0)


KINDS = "human human human human"


class ShortGames(unittest.TestCase):
    """Games of format 2, up to where they stop."""

    RULES = "hausregeln"

    def setUp(self) -> None:
        # Seat 3 deals first.
        text = next(text_of(file) for file in RECORDS if file.name == "joined.dog")
        lines = [line for line in text.split("\n") if re.match(r"\[(?!Kinds|Winner|Rules)", line)]
        self.headers = [*lines, '[Dealer "3"]', f'[Rules "{self.RULES}"]']

    def play(self, steps: str, kinds: str = KINDS, more: str = "") -> dog_record.Game:
        headers = "\n".join([*self.headers, f'[Kinds "{kinds}"]', *([more] if more else [])])
        record = dog_record.read(f"{headers}\n{steps}")
        game = dog_record.Game(record)
        for line, step in record.steps:
            game.step(line, step)
        return game

    def assert_refused(self, last: str, before: str = "", kinds: str = KINDS, more: str = "") -> None:
        """The last step is refused, and none before it."""
        self.play(before, kinds, more)
        with self.assertRaises(BadRecord):
            self.play(f"{before}\n{last}", kinds, more)


class People(ShortGames):
    RULES = "hausregeln exchange=optional"

    def test_the_seating_lasts_while_somebody_is_missing(self) -> None:
        kinds = "open open human bot"
        self.assertEqual(self.play("", kinds).phase, "seating")
        for deal in ("deal 1 by host", "deal 1 by server", "deal 1 by 3"):
            self.assert_refused(deal, '0 joins "A"', kinds)
        seated = '0 joins "A"\nserver hands 1 to bot fast "B"'
        self.assertEqual(self.play(seated, kinds).phase, "deal")
        self.assertEqual(self.play(f'{seated}\n0 becomes open fast ""', kinds).phase, "seating")
        self.assert_refused('2 joins "C"', seated, kinds)
        self.assertEqual(self.play(f"{seated}\n(bot) deal 1 by 3", kinds).phase, "exchange")

    def test_a_rematch_waits_for_its_people(self) -> None:
        awaited = '[Awaited "0 2"]'
        self.assertEqual(self.play("0 asks for rematch", more=awaited).phase, "seating")
        self.assert_refused("deal 1 by 3", "0 asks for rematch", more=awaited)
        self.assertEqual(self.play("deal 1 by host", more=awaited).phase, "exchange")
        both = "0 asks for rematch\n2 asks for rematch"
        self.assertEqual(self.play(both, more=awaited).phase, "deal")
        self.assertEqual(self.play('0 asks for rematch\nhost hands 2 to bot fast "B"', more=awaited).phase, "deal")
        self.assert_refused("2 asks for rematch", both, more=awaited)
        # A bot has the seat of somebody who had left, unless that person comes.
        kinds = "human human bot human"
        dealt = "0 asks for rematch\ndeal 1 by host"
        self.play(f"{dealt}\n(bot) 2 asks", kinds, more=awaited)
        self.assert_refused("(bot) 2 asks", f"2 asks for rematch\n{dealt}", kinds, more=awaited)
        back = '2 becomes human fast "C"\n0 asks for rematch'
        self.assert_refused("(bot) 2 asks", f"{back}\ndeal 1 by host", kinds, more=awaited)

    def test_marks_say_who_plays(self) -> None:
        dealt = "deal 1 by host"
        self.assert_refused("(bot) 0 asks", dealt)
        self.assert_refused("(bot) deal 1 by 3")
        self.assert_refused("(bot) deal 1 by host")
        self.assert_refused('(bot) host hands 0 to bot fast "B"', dealt)
        self.assert_refused("(clock) 0 asks", f'host hands 0 to bot fast "B"\n{dealt}')
        # A person who takes over waits for the next deal, even after `becomes human`.
        taken = f'{dealt}\n0 becomes open fast ""\n0 joins "E"\n0 becomes human fast "E"'
        self.assert_refused("(clock) 0 asks", taken)
        self.play(f"{taken}\n(bot) 0 asks")
        # A person who comes back in the same round has the hand.
        back = f'{dealt}\n0 becomes bot fast "B"\n0 becomes human fast "A"'
        self.assert_refused("(bot) 0 asks", back)
        self.play(f"{back}\n(clock) 0 asks")
        # A hand that was dealt to a bot is nobody's.
        late = f'0 becomes bot fast "B"\n{dealt}\n0 becomes human fast "A"'
        self.assert_refused("(clock) 0 asks", late)

    def test_the_clock_makes_a_person_away(self) -> None:
        for steps, away in (
            ("(clock) 0 asks\n(clock) 0 declines", 1),
            ("(clock) 0 asks\n(clock) 1 asks", 0),
            ("(clock) 0 asks\n0 declines", 0),
            ('(clock) 0 asks\n0 becomes human fast "A"\n(clock) 0 declines', 0),
            ('(clock) 0 asks\nhost hands 0 to human fast "A"\n(clock) 0 declines', 1),
        ):
            self.assertEqual(self.play(f"deal 1 by host\n{steps}").players.were_away, away, steps)

    def test_a_team_gives_up(self) -> None:
        dealt = "deal 1 by host\n"
        for steps, winner in (
            ("0 gives up", None),
            ("0 gives up\n1 gives up", None),
            ("0 gives up\n0 plays on\n2 gives up", None),
            ("0 gives up\n2 gives up", 1),
            ("3 gives up\n1 gives up", 0),
            ('1 gives up\nhost hands 3 to bot fast "B"', 0),
            ('host hands 3 to bot fast "B"\n1 gives up', 0),
            ("2 gives up\n(clock) 0 asks\n(clock) 0 declines", 1),
            ('0 gives up\n0 becomes bot fast "B"\n0 becomes human fast "A"\n2 gives up', None),
            ('0 gives up\n0 becomes human fast "B"\n2 gives up', 1),
            ('0 gives up\n0 becomes open fast ""\n0 joins "E"\n2 gives up', None),
        ):
            game = self.play(dealt + steps)
            self.assertEqual(game.winner, winner, steps)
            self.assertEqual(game.phase == "finished", winner is not None, steps)
        self.assert_refused("0 gives up")
        self.assert_refused("0 asks", f"{dealt}0 gives up\n2 gives up")

    def test_wrong_marks_are_found(self) -> None:
        for file in RECORDS:
            text = text_of(file)
            if '[Dog "2"]' not in text:
                continue
            steps = [number for number, line in enumerate(text.split("\n")) if re.match(r"\((bot|clock)\)", line)]
            for number in steps[::40]:
                lines = text.split("\n")
                old, new = ("bot", "clock") if lines[number].startswith("(bot)") else ("clock", "bot")
                lines[number] = lines[number].replace(old, new, 1)
                with self.assertRaises(BadRecord) as caught:
                    dog_record.replay("\n".join(lines))
                self.assertEqual(caught.exception.line, number + 1)

    def test_format_1_has_none_of_this(self) -> None:
        self.headers[0] = '[Dog "1"]'
        self.play("deal 1 by host\nhost hands 0 to bot fast \"B\"\nhost reissues token 1")
        for step in (
            "deal 1 by server",
            "(clock) deal 1 by 3",
            '0 becomes bot fast "B"',
            '0 joins "E"',
            "0 renews token",
            "0 asks for rematch",
            "0 gives up",
            'server hands 0 to bot fast "B"',
            'host hands 0 to open fast ""',
            "host sets turn_seconds 30 bot_pace_ms 250 listed yes",
            "host sets turn_seconds none bot_pace_ms 0 listed no reactions no",
        ):
            self.assert_refused(step)
        with self.assertRaises(BadRecord):
            self.play("", "open human human human")
        with self.assertRaises(BadRecord):
            self.play("", more='[Awaited "0"]')


class OnRequest(ShortGames):
    """RULES §7.3, `exchange: on_request`, step by step."""

    DEALT = "deal 1 by host"

    def setUp(self) -> None:
        super().setUp()
        # A card of each seat.
        self.cards = [hand[0] for hand in self.play(self.DEALT).hands]

    def steps(self, *steps: str) -> str:
        """The deal and these steps; `0 offers` offers a card of the seat's."""
        filled = [f"{step} {self.cards[int(step.split()[-2])]}" if step.endswith(" offers") else step
                  for step in steps]
        return "\n".join([self.DEALT, *filled])

    def after(self, *steps: str) -> dog_record.Game:
        return self.play(self.steps(*steps))

    def assert_breaks(self, *steps: str) -> None:
        """The last step breaks the rules, and none before it."""
        *before, last = self.steps(*steps).split("\n")
        self.assert_refused(last, "\n".join(before))

    def test_nobody_asks(self) -> None:
        before = self.after().hands
        game = self.after("0 passes", "3 passes", "2 passes", "1 passes")
        self.assertEqual((game.phase, game.turn, game.hands), ("play", 0, before))

    def test_a_pair_swaps(self) -> None:
        before = self.after().hands
        game = self.after("2 passes", "0 asks", "2 offers", "1 passes", "0 offers", "3 passes")
        self.assertEqual(game.phase, "play")
        given, got = self.cards[0], self.cards[2]
        self.assertEqual(sorted([*game.hands[0], given]), sorted([*before[0], got]))
        self.assertEqual(sorted([*game.hands[2], got]), sorted([*before[2], given]))

    def test_the_partner_declines(self) -> None:
        before = self.after().hands
        game = self.after("0 asks", "3 asks", "2 declines", "1 declines")
        self.assertEqual((game.phase, game.hands), ("play", before))

    def test_what_breaks_the_rules(self) -> None:
        # All that the exchange refuses is in its own tests.
        for steps in (
            ("0 offers",), ("0 passes", "0 asks"), ("0 asks", "2 passes"),
            ("0 asks", "2 offers 1"), ("0 asks", "2 offers "), ("0 passes 1",),
            ("0 passes", "0 fold"), ("0 passes", "1 passes", "2 passes", "3 passes", "0 asks"),
        ):
            with self.subTest(steps):
                self.assert_breaks(*steps)

    def test_marks(self) -> None:
        self.after("(clock) 0 passes", "1 asks", "(clock) 3 declines")
        self.assert_breaks("(bot) 0 passes")
        bot = f'host hands 0 to bot fast "B"\n{self.DEALT}'
        self.play(f"{bot}\n(bot) 0 passes")
        self.assert_refused("(clock) 0 passes", bot)

    def test_a_pass_by_the_clock_does_not_count_towards_away(self) -> None:
        for steps, late in (
            (["(clock) 0 passes"], 0),
            (["(clock) 0 passes", "2 asks"], 0),
            (["(clock) 0 passes", "2 asks", "(clock) 0 declines"], 1),
            (["0 asks", "2 offers", "(clock) 0 offers"], 1),
        ):
            self.assertEqual(self.after(*steps).players.late[0], late, steps)

    def test_other_values_have_no_pass(self) -> None:
        for value in ("optional", "mandatory"):
            self.headers[-1] = f'[Rules "hausregeln exchange={value}"]'
            self.assert_breaks("0 passes")

    def test_the_words_of_the_options(self) -> None:
        self.headers[-1] = (
            '[Rules "hausregeln exchange=mandatory seven_rest=one_piece reshuffle=before_deal'
            ' jack_without_effect_when=no_swap_possible capture_own=false fresh_into_goal=true"]'
        )
        rules = self.play("").rules
        self.assertEqual(
            [rules[name] for name in ("exchange", *dog_rules.DEFAULTS)],
            ["mandatory", "one_piece", "before_deal", "no_swap_possible", False, True],
        )
        self.headers[-1] = '[Rules "hausregeln seven_rest=one_piece seven_partner=always"]'
        with self.assertRaises(ValueError):
            self.play("")


if __name__ == "__main__":
    unittest.main()
