"""Tests of dog_record.py, on the records of tests/records that the engine has written."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

import dog_record
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
                self.assertEqual(game.deal_count, len(re.findall(r"(?m)^deal ", text)))

    def test_names_are_read_as_they_were(self) -> None:
        headers = dog_record.read('[Dog "1"]\n[Seat0 "a \\"b\\" \\\\ ; c"] ; d\n; e\n').headers
        self.assertEqual(headers["Seat0"], 'a "b" \\ ; c')

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
                deal = next(number for number, line in enumerate(lines) if line.startswith("deal 2 "))
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


if __name__ == "__main__":
    unittest.main()
