"""Tests of perft.py, and the smaller counts of crates/dog-rules/tests/perft.

`python3 perft.py ../../crates/dog-rules/tests/perft/*.txt` checks all counts.
"""

from __future__ import annotations

import unittest
from pathlib import Path

import perft

CASES = sorted((Path(__file__).parents[2] / "crates/dog-rules/tests/perft").glob("*.txt"))
LIMIT = 1_000  # larger counts take minutes

ALL_IN = """
# a file

# ace out, king out, joker out: then seat 1 folds, and the fresh piece walks
rules dogspiel-it
board -
hands A K joker / 2 / - / -
turn 0
1 3
2 3
3 34
"""


class Counts(unittest.TestCase):
    def test_by_hand(self) -> None:
        (case,) = perft.read_cases(ALL_IN)
        self.assertEqual(case.counts, {1: 3, 2: 3, 3: (1 + 14) + (2 + 14) + (2 + 1)})
        for found, expected in perft.check(case).values():
            self.assertEqual(found, expected)

    def test_smaller_counts_of_the_corpus(self) -> None:
        self.assertTrue(CASES)
        for file in CASES:
            for case in perft.read_cases(file.read_text(encoding="utf-8")):
                with self.subTest(f"{file.name}:{case.line}"):
                    self.assertGreaterEqual(len(case.counts), 3)
                    for depth, (found, expected) in perft.check(case, LIMIT).items():
                        self.assertEqual(found, expected, f"depth {depth}")


class Reading(unittest.TestCase):
    def test_options_and_places(self) -> None:
        text = "rules hausregeln seats=6 start_block=always\nboard 0f g2 / 15 / - / - / - / -\nhands / A / / / / K\nturn 5\n"
        (case,) = perft.read_cases(text)
        self.assertEqual((case.rules["seats"], case.rules["start_block"]), (6, "always"))
        self.assertEqual(case.board[0], ((0,), (2,), 2, True))
        self.assertEqual(case.board[1], ((15,), (), 3, False))
        self.assertEqual(case.hands, ((), ("A",), (), (), (), ("K",)))

    def test_refusals(self) -> None:
        rest = "\nhands A / - / - / -\nturn 0\n"
        for text in (
            "board -" + rest,
            "rules hausregeln\nboard 0 / 1f / - / -" + rest,
            "rules hausregeln\nboard 60 / - / - / -" + rest,
            "rules hausregeln seat=4\nboard -" + rest,
            "rules hausregeln\nboard -\nhands A / 1 / - / -\nturn 0\n",
            "rules hausregeln\nboard -\nhands A\nturn 0\n",
        ):
            with self.subTest(text), self.assertRaises(ValueError):
                list(perft.read_cases(text))


if __name__ == "__main__":
    unittest.main()
