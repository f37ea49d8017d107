"""Tests of the reference rules: `python3 -m unittest` in this folder."""

from __future__ import annotations

import itertools
import random
import re
import unittest
from pathlib import Path
from typing import Any, Iterator

import check_server
import dog_rules as dog
import dog_shuffle
from dog_rules import Board, Rules, make_rules
from perft import read_rules

R000 = make_rules("familienlager")
R002 = make_rules("dogspiel-it")
R004 = make_rules("hausregeln")

FULL = [0, 1, 2, 3]

# What the rules say about positions, which the engine is tested with too; its position.rs says how it is written.
TABLES = sorted((Path(__file__).parents[2] / "crates/dog-rules/tests/rules").glob("*.rs"))

# The reasons that the reference names, by the engine's words for them.
REASONS = {
    "takes the rest of the seven": "one_piece_only",
    "no piece ends on one of its own": "own_piece",
    "a part of a seven may not end on": "landing_occupied",
}


def tables() -> Iterator[tuple[str, list[str]]]:
    """The name and the lines of each table. A line that ends with a backslash goes on."""
    for file in TABLES:
        for name, table in re.findall(r'(?ms)^    (\w+): "\n(.*?)^    "$', file.read_text(encoding="utf-8")):
            yield f"{file.stem}::{name}", re.sub(r"\\\n\s*", "", table).split("\n")


def seat(track: list[int] | None = None, goal: list[int] | None = None, fresh: bool = False) -> dict[str, Any]:
    return {"track": track or [], "goal": goal or [], "fresh": fresh}


def table(rules: Rules, *entries: dict[str, Any]) -> Board:
    """A board; seats not given have all pieces in the kennel."""
    return dog.make_board(rules, [*entries, *[seat()] * (rules["seats"] - len(entries))])


def read_board(rules: Rules, text: str) -> Board:
    """A board such as `0: fresh 17 g2 | 2: full`."""
    entries = [seat() for _ in range(rules["seats"])]
    for entry in text.split("|"):
        number, _, pieces = entry.partition(":")
        for piece in pieces.replace("full", "g0 g1 g2 g3").split():
            who = entries[int(number)]
            who["fresh"] |= piece == "fresh"
            if piece[0] == "g":
                who["goal"].append(int(piece[1:]))
            else:
                who["track"].append(dog.start_of(rules, int(number)) if piece == "fresh" else int(piece))
    return dog.make_board(rules, entries)


class Position:
    """A board, its rules and a seat, to check what a table says of them."""

    def __init__(self, test: unittest.TestCase, rules: Rules, board: str, who: int) -> None:
        self.test, self.rules, self.who = test, rules, who
        self.board = read_board(rules, board)

    def judge(self, move_id: str) -> dog.Outcome:
        return dog.judge(self.rules, self.board, self.who, re.split("[=:]", move_id)[:1], move_id)

    def reached(self, card: str) -> set[Board]:
        return dog.boards_for(self.rules, self.board, self.who, card)

    def plays(self, move_id: str, after: str) -> None:
        board = self.judge(move_id).board
        self.test.assertEqual(board, read_board(self.rules, after))
        self.test.assertIn(board, self.reached(re.split("[=:]", move_id)[-2]))

    def takes(self, captured: str, move_id: str) -> None:
        captures = [f"{capture['seat']}@{capture['from']}" for capture in self.judge(move_id).captures]
        self.test.assertEqual(sorted(captures), sorted(captured.split()))

    def lists(self, hand: str, ids: str) -> None:
        """These ids are legal, and they lead to all boards that the hand can reach, each once."""
        if ids == "fold":
            expected = [(None, None, self.board)]
        else:
            named = [(re.fullmatch("(.*?)(?:=(.*))?", move_id.split(":")[0]), move_id) for move_id in ids.split()]
            expected = [(found[1], found[2], self.judge(move_id).board) for found, move_id in named if found]
        self.test.assertEqual(len(set(expected)), len(expected))
        self.test.assertEqual(dog.legal_boards(self.rules, self.board, self.who, hand.split()), set(expected))

    def reaches(self, card: str, boards: str) -> None:
        self.test.assertEqual(self.reached(card), {read_board(self.rules, board) for board in boards.split(";")})

    def is_refused(self, move_id: str, why: str) -> None:
        with self.test.assertRaises(dog.IllegalMove) as caught:
            self.judge(move_id)
        self.test.assertNotIsInstance(caught.exception, dog.BadNotation)
        reasons = [reason for words, reason in REASONS.items() if words in why]
        self.test.assertEqual(caught.exception.reason, reasons[0] if reasons else None)

    def can_play(self, hand: str) -> None:
        for card in hand.split():
            self.test.assertTrue(self.reached(card), card)

    def cannot_play(self, hand: str, why: str) -> None:
        for card in hand.split():
            self.test.assertEqual(self.reached(card), set(), f"{card}: {why}")


STATEMENTS = {
    r"plays (\S+) => (.*)": Position.plays,
    r"takes (.+) by (\S+)": Position.takes,
    r"lists (.+?): (.*)": Position.lists,
    r"reaches (\S+?): (.*)": Position.reaches,
    r"is refused (\S+): (.*)": Position.is_refused,
    r"can play (.*)": Position.can_play,
    r"cannot play (.+?): (.*)": Position.cannot_play,
}


class Tables(unittest.TestCase):
    """RULES §3 to §6, §10 and §11: the tables of the engine's tests, by the reference."""

    def test_tables(self) -> None:
        seen = dict.fromkeys(STATEMENTS, 0)
        for name, lines in tables():
            sheets, board = [], ""
            for line in (line.strip() for line in lines if line.strip()[:1] not in ("", "#")):
                first, _, rest = line.partition(" ")
                if first == "by":
                    names = ", ".join(dog.PRESETS) if rest == "all" else rest
                    sheets = [(sheet, read_rules(sheet)) for sheet in names.split(", ")]
                elif first == "at":
                    board = rest
                else:
                    (statement, found), = ((key, found) for key in STATEMENTS if (found := re.fullmatch(key, rest)))
                    seen[statement] += 1
                    for sheet, rules in sheets:
                        position = Position(self, rules, board, int(first))
                        # Nobody plays on a board that is won.
                        if dog.winner(rules, position.board) is None:
                            with self.subTest(f"{name}: {line}, at {board} by {sheet}"):
                                STATEMENTS[statement](position, *found.groups())
        self.assertGreater(min(seen.values()), 5, seen)


def boards_naming_once(rules: Rules, board: Board, who: int) -> set[Board]:
    """Every board that a list of a seven's parts reaches if it names no piece again."""
    Named = frozenset[tuple[int, dog.Place]]
    waiting: set[tuple[dog.Seven, Named]] = {(dog.begin_seven(rules, board, who), frozenset())}
    seen = set(waiting)
    results: set[Board] = set()
    while waiting:
        seven, named = waiting.pop()
        if dog.seven_complete(rules, seven, who):
            results.add(seven.board)
            continue
        for owner, origin, path, after in dog.seven_parts(rules, seven, who):
            if (owner, origin) in named:
                continue
            state = (after, named | {(owner, path[-1])})
            if state not in seen:
                seen.add(state)
                waiting.add(state)
    return results


class NamingOnce(unittest.TestCase):
    """§5: naming each piece once reaches every board, under all options of §11 too."""

    def check(self, positions: int, **options: Any) -> None:
        for n in range(positions):
            rng = random.Random(f"{options}/{n}")
            rules = make_rules(rng.choice(list(dog.PRESETS)), **options)
            board = small_board(rng, rules)
            self.assertEqual(boards_naming_once(rules, board, 0), dog.seven_boards(rules, board, 0),
                             (rules, board))

    def test_all_options(self) -> None:
        rest, always, fresh = {"seven_rest": "one_piece"}, {"seven_partner": "always"}, {"fresh_into_goal": True}
        for positions, options in (
            (80, {}), (80, rest), (5, always), (80, fresh), (40, {**fresh, **rest}), (5, {**fresh, **always}),
        ):
            for landing, own in itertools.product(dog.OPTION_VALUES["seven_landing"], (True, False)):
                with self.subTest(options, landing=landing, own=own):
                    self.check(positions, seven_landing=landing, capture_own=own, **options)

    def test_stated_by_its_opposite(self) -> None:
        """The lists that name a piece again are more, so the comparison compares something."""
        rules = make_rules("dogspiel-it", seven_landing="must_be_free")
        board = table(rules, seat([10, 12]), seat([14]))
        once = boards_naming_once(rules, board, 0)
        self.assertGreater(len(once), 3)
        self.assertEqual(once, dog.seven_boards(rules, board, 0))


def small_board(rng: random.Random, rules: Rules) -> Board:
    """Up to six pieces of one team and four others, close together at a start and its goal."""
    ring, partner = dog.fields(rules), dog.partner_of(rules, 0)
    near = dog.start_of(rules, rng.choice((0, partner)))
    taken: set[int] = set()

    def on_ring(most: int) -> list[int]:
        fields = {(near + rng.randint(-8, 7)) % ring for _ in range(rng.randint(0, most))} - taken
        taken.update(fields)
        return list(fields)

    entries = [seat() for _ in range(rules["seats"])]
    almost = rng.random() < 0.5
    goal = rng.sample(FULL, 3) if almost else rng.sample(FULL, rng.randint(0, 2))
    last = [(dog.door_of(rules, 0) - rng.randrange(4)) % ring]
    taken.update(last)
    entries[0] = seat(last + on_ring(0 if almost else 1), goal)
    for who in range(1, rules["seats"]):
        at_home = rng.randint(0, 2) if who == partner else 0
        entries[who] = seat(on_ring(2), rng.sample(FULL, at_home))
    for who, entry in enumerate(entries):
        entry["fresh"] = dog.start_of(rules, who) in entry["track"] and rng.random() < 0.5
    return dog.make_board(rules, entries)


class Judging(unittest.TestCase):
    """What the tables do not say."""

    def test_parts_have_their_paths(self) -> None:
        outcome = dog.judge(R004, table(R004, seat([2])), 0, ["4"], "4:2>g0")
        self.assertEqual(outcome.parts,
                         [{"seat": 0, "from": "2", "to": "goal:0", "steps": 4, "path": ["1", "0", "59", "goal:0"]}])

    def test_a_team_wins_with_its_last_piece(self) -> None:
        board = table(R004, seat(goal=FULL), seat(), seat([27], [1, 2, 3]))
        self.assertEqual({dog.winner(R004, after) for after in dog.boards_for(R004, board, 0, "7")}, {0, None})

    def test_a_hand_is_folded_only_if_nothing_can_be_played(self) -> None:
        board = table(R002)
        self.assertEqual(dog.judge(R002, board, 0, ["2"], "fold").kind, "fold")
        # However harmful: the last field before the goal is passed.
        for hand, board in ((["2", "K"], board), (["2"], table(R002, seat([63], [0, 1, 2])))):
            with self.assertRaises(dog.IllegalMove, msg=hand):
                dog.judge(R002, board, 0, hand, "fold")

    def test_six_seats_are_three_teams(self) -> None:
        rules = make_rules("dogspiel-it", seats=6)
        self.assertEqual([dog.partner_of(rules, who) for who in range(6)], [3, 4, 5, 0, 1, 2])

    def test_ids_are_exact(self) -> None:
        board = table(R002, seat([7, 17]), seat([33]))
        for text in ("", "7", "7:", "7: 7>14", "7:7>14 ", " 7:7>14", "7:07>14", "7:7>014", "7:7>14,", "7:7>9;17>22",
                     "7:7->14", "joker=joker:out", "joker:out", "joker=fold", "FOLD", "k:out", "K:OUT", "11:7>18",
                     "J:7<>", "J:7<>33,17<>33", "J:7<33", "2:7>9\n", "2:７>9", "2:+7>9", "1:7>8", "2:7>g4", "2:g9>g1"):
            with self.assertRaises(dog.BadNotation, msg=repr(text)):
                dog.judge(R002, board, 0, list(dog.CARDS), text)
        for text in ("2:7>9,17>18", "2:7>10", "2:8>10", "2:33>35", "2:7>71", "2:99>101", "2:out", "7:out", "K:none",
                     "J:7>9", "Q:7<>33", "5:7>2", "2:g0>g2", "2:7>9,9>11"):
            with self.assertRaises(dog.IllegalMove, msg=repr(text)) as raised:
                dog.judge(R002, board, 0, list(dog.CARDS), text)
            self.assertNotIsInstance(raised.exception, dog.BadNotation, msg=repr(text))
        dog.judge(R002, board, 0, ["3", "joker"], "joker=2:7>9")
        with self.assertRaises(dog.IllegalMove):
            dog.judge(R002, board, 0, ["3", "joker"], "2:7>9")

    def test_every_play_is_judged_to_the_same_outcome(self) -> None:
        for n in range(60):
            rng = random.Random(n)
            rules = dog.rules_from_request(check_server.random_rules_request(rng))
            who = rng.randrange(rules["seats"])
            board = check_server.random_board(rng, rules, who)
            for rank in dog.RANKS:
                for outcome in dog.plays(rules, board, who, rank):
                    self.assertEqual(dog.judge(rules, board, who, [rank], outcome.id), outcome)
            text = check_server.random_seven(rng, rules, board, who)
            if text is not None:
                reached = dog.judge(rules, board, who, ["7"], text).board
                self.assertIn(reached, dog.boards_for(rules, board, who, "7"))


class Options(unittest.TestCase):
    def test_impossible_combinations(self) -> None:
        for preset, overrides in (
            ("nothing", {}),
            ("dogspiel-it", {"seven_rest": "one_piece", "seven_partner": "always"}),
            ("dogspiel-it", {"capture_own": "yes"}), ("dogspiel-it", {"reshuffle": True}),
            ("dogspiel-it", {"seats": 5}), ("dogspiel-it", {"jokers": 13}), ("dogspiel-it", {"jack_own_pair": 1}),
            ("dogspiel-it", {"deal_sizes": {"first": [], "then": [2]}}), ("dogspiel-it", {"surprise": 1}),
            ("dogspiel-it", {"deal_sizes": {"first": [28], "then": [2]}}),
            ("dogspiel-it", {"deal_sizes": {"first": [2], "then": [0]}}),
        ):
            with self.assertRaises(dog.InvalidRules):
                make_rules(preset, **overrides)
        make_rules("dogspiel-it", deal_sizes={"first": [27], "then": [2]})
        make_rules("dogspiel-it", backward_into_goal=True)
        make_rules("hausregeln", goal_entry="on_start")

    def test_an_option_left_out_has_its_default(self) -> None:
        rules = dog.rules_from_request({"preset": "hausregeln"})
        self.assertEqual({name: rules[name] for name in dog.DEFAULTS}, dog.DEFAULTS)
        self.assertEqual(rules["exchange"], "on_request")
        for name, preset in dog.PRESETS.items():
            self.assertEqual(preset["exchange"] == "on_request", name == "hausregeln")
            self.assertEqual(set(preset), {*dog.OPTION_VALUES, "deal_sizes"})
            for option, values in dog.OPTION_VALUES.items():
                self.assertIn(preset[option], values)


class Shuffle(unittest.TestCase):
    def test_known_keystream(self) -> None:
        words = dog_shuffle.chacha20_block(bytes(32), 0, 0)
        stream = b"".join(word.to_bytes(4, "little") for word in words).hex()
        self.assertEqual(stream, "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
                                 "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586")

    def test_known_keystream_with_a_nonce(self) -> None:
        # Key 0, nonce bytes 00..01 (original layout): the published vector of the 64-bit-nonce cipher.
        words = dog_shuffle.chacha20_block(bytes(32), 1 << 56, 0)
        self.assertEqual(b"".join(w.to_bytes(4, "little") for w in words).hex()[:32], "de9cba7bf3d69ef5e786dc63973f653a")

    def test_draw_rejects(self) -> None:
        self.assertEqual(dog_shuffle.draw(iter([2**32 - 1, 7]), 3), 1)
        self.assertEqual(dog_shuffle.draw(iter([2**32 - 1]), 4), 3)

    def test_a_shuffle_keeps_the_cards(self) -> None:
        cards = dog_shuffle.deck(6)
        self.assertEqual(len(cards), 110)
        first, second = (dog_shuffle.shuffle(bytes(32), k, cards) for k in (0, 1))
        self.assertNotEqual(first, second)
        self.assertEqual(dog_shuffle.by_rank(first), cards)

    def test_deals(self) -> None:
        listed = list(itertools.islice(dog_shuffle.deals(bytes(range(32)), R000, 2), 12))
        self.assertEqual([len(d.hands[0]) for d in listed], [6, 5, 4, 3, 2, 5, 4, 3, 2, 5, 4, 3])
        self.assertEqual([d.dealer for d in listed[:4]], [2, 3, 0, 1])
        self.assertEqual([d.beginner for d in listed[:4]], [3, 0, 1, 2])
        self.assertEqual([d.stock for d in listed[:8]], [86, 66, 50, 38, 30, 10, 94, 82])
        # 10 cards left and 16 due: the 100 others are shuffled in the middle of the deal.
        self.assertEqual([d.reshuffled for d in listed[:8]], [False] * 6 + [True, False])
        before = make_rules("familienlager", reshuffle="before_deal")
        shuffled = list(itertools.islice(dog_shuffle.deals(bytes(range(32)), before, 2), 12))
        self.assertEqual(shuffled[:6], listed[:6])
        # 10 cards left and 16 due: all 110 are shuffled before the deal, and 110 - 16 are left.
        self.assertEqual([d.reshuffled for d in shuffled[:8]], [False] * 6 + [True, False])
        self.assertEqual([d.stock for d in shuffled[6:8]], [94, 82])
        cards = dog_shuffle.shuffle(bytes(range(32)), 1, dog_shuffle.deck(6))
        self.assertEqual([hand[0] for hand in shuffled[6].hands], cards[3:4] + cards[:3])
        # Equal is enough.
        for jokers, first in ((0, [13, 13]), (4, [9, 9, 9])):
            sizes = {"first": first, "then": [1]}
            exact = make_rules("familienlager", reshuffle="before_deal", jokers=jokers,
                               deal_sizes=sizes)
            dealt = list(itertools.islice(dog_shuffle.deals(bytes(32), exact, 0), 4))
            self.assertEqual([d.stock for d in dealt][len(first) - 1], 0)
            self.assertEqual([d.reshuffled for d in dealt].index(True), len(first))
        fixed = list(itertools.islice(dog_shuffle.deals(bytes(32), R002, 2), 5))
        self.assertEqual([d.dealer for d in fixed], [2] * 5)
        self.assertEqual([d.beginner for d in fixed], [3, 0, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
