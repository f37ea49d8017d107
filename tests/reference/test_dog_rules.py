"""Tests of the reference rules: `python3 -m unittest` in this folder."""

from __future__ import annotations

import itertools
import random
import unittest
from typing import Any, Optional

import check_server
import dog_rules as dog
import dog_shuffle
from dog_rules import Board, Rules, make_rules

R000 = make_rules("familienlager")
R001 = make_rules("dogspiel-de")
R002 = make_rules("dogspiel-it")
R003 = make_rules("spielanleitung")
R004 = make_rules("hausregeln")
ONE_PIECE = make_rules("dogspiel-it", seven_rest="one_piece")
BACKWARD = make_rules("familienlager", backward_into_goal=True)
SPARING = make_rules("dogspiel-it", capture_own=False)

FULL = [0, 1, 2, 3]


def seat(track: list[int] | None = None, goal: list[int] | None = None, fresh: bool = False) -> dict[str, Any]:
    return {"track": track or [], "goal": goal or [], "fresh": fresh}


def table(rules: Rules, *entries: dict[str, Any]) -> Board:
    """A board; seats not given have all pieces in the kennel."""
    return dog.make_board(rules, [*entries, *[seat()] * (rules["seats"] - len(entries))])


def ends(rules: Rules, board: Board, who: int, rank: str) -> set[str]:
    """The targets of all ways to play a rank other than the seven."""
    return {outcome.id.split(":")[1] for outcome in dog.plays(rules, board, who, rank)}


class Case(unittest.TestCase):
    def legal(self, rules: Rules, board: Board, move_id: str, who: int = 0, hand: Optional[list[str]] = None) -> dog.Outcome:
        """The id is legal, and the board it leads to is among those found by search."""
        head = move_id.split(":")[0]
        card, _, announced = head.partition("=")
        outcome = dog.judge(rules, board, who, hand or [card], move_id)
        self.assertIn(outcome.board, dog.boards_for(rules, board, who, announced or card))
        return outcome

    def illegal(
        self, rules: Rules, board: Board, move_id: str, who: int = 0,
        hand: Optional[list[str]] = None, reason: Optional[str] = None,
    ) -> None:
        card = move_id.split(":")[0].split("=")[0]
        with self.assertRaises(dog.IllegalMove) as caught:
            dog.judge(rules, board, who, hand or [card], move_id)
        if reason is not None:
            self.assertEqual(caught.exception.reason, reason)

    def assert_listed(self, rules: Rules, board: Board, rank: str, ids: str) -> None:
        """These ids are legal, and they lead to all boards that the card can reach, each once."""
        reached = [self.legal(rules, board, move_id).board for move_id in ids.split()]
        self.assertEqual(len(set(reached)), len(reached))
        self.assertEqual(set(reached), dog.boards_for(rules, board, 0, rank))


class WorkedCases(Case):
    """RULES §10."""

    def test_01_backward_four_then_into_the_goal(self) -> None:
        board = table(R004, seat([0], fresh=True))
        self.assertEqual(ends(R004, board, 0, "4"), {"0>4", "0>56"})
        after = self.legal(R004, board, "4:0>56").board
        self.assertFalse(after[0].fresh)
        for n, rank in enumerate(("4", "5", "6")):
            wanted = {f"56>g{n}", f"56>{n}"} | ({"56>52"} if rank == "4" else set())
            self.assertEqual(ends(R004, after, 0, rank), wanted)
        self.legal(R004, after, "7:56>g3")
        self.legal(R004, after, "7:56>3")
        self.assertEqual(len(dog.boards_for(R004, after, 0, "7")), 2)

    def test_02_four_back_into_the_goal(self) -> None:
        self.assertEqual(ends(R004, table(R004, seat([2])), 0, "4"), {"2>6", "2>g0", "2>58"})
        self.assertEqual(ends(R004, table(R004, seat([1])), 0, "4"), {"1>5", "1>g1", "1>57"})
        self.assertEqual(ends(R004, table(R004, seat([3])), 0, "4"), {"3>7", "3>59"})
        self.assertEqual(self.legal(R004, table(R004, seat([2])), "4:2>g0").parts,
                         [{"seat": 0, "from": "2", "to": "goal:0", "steps": 4, "path": ["1", "0", "59", "goal:0"]}])

    def test_03_four_back_from_the_start(self) -> None:
        for fresh in (True, False):
            self.assertEqual(ends(R004, table(R004, seat([0], fresh=fresh)), 0, "4"), {"0>4", "0>56"})

    def test_04_four_back_never_into_the_goal(self) -> None:
        for rules in (R001, R002):
            board = table(rules, seat([2]))
            self.assertEqual(ends(rules, board, 0, "4"), {"2>6", "2>62"})
            after = self.legal(rules, board, "4:2>62").board
            self.assertEqual(ends(rules, after, 0, "5"), {"62>g2", "62>3"})

    def test_05_fresh_must_leave_the_start(self) -> None:
        self.assertEqual(ends(R001, table(R001, seat([0], fresh=True)), 0, "A"), {"0>1", "0>11"})

    def test_06_not_fresh_may_enter(self) -> None:
        self.assertEqual(ends(R001, table(R001, seat([0])), 0, "A"), {"out", "0>1", "0>11", "0>g0"})

    def test_07_block_always_or_only_fresh(self) -> None:
        self.illegal(R000, table(R000, seat([0]), seat([62])), "2:62>0", who=1)
        outcome = self.legal(R001, table(R001, seat([0]), seat([62])), "2:62>0", who=1)
        self.assertEqual(outcome.captures, [{"seat": 0, "from": "0"}])
        self.assertEqual(outcome.board[0].kennel, 4)

    def test_08_rest_of_a_seven_with_the_partner(self) -> None:
        in_the_way = table(R002, seat([62], [0, 1, 3]), seat(), seat([10]))
        self.illegal(R002, in_the_way, "7:62>g2,10>12")
        board = table(R002, seat([60], [1, 2, 3]), seat(), seat([10]))
        self.assertEqual(self.legal(R002, board, "7:60>g0,10>12").board[2].track, (12,))

    def test_09_no_partner_piece_for_the_rest(self) -> None:
        board = table(R002, seat([60], [1, 2, 3]))
        self.illegal(R002, board, "7:60>g0")
        self.assertEqual({b[0].track for b in dog.boards_for(R002, board, 0, "7")}, {(3,)})

    def test_10_surplus_lapses_on_a_win(self) -> None:
        board = table(R004, seat(goal=FULL), seat(), seat([27], [1, 2, 3]))
        outcome = self.legal(R004, board, "7:27>p0")
        self.assertEqual(dog.winner(R004, outcome.board), 0)
        must = make_rules("hausregeln", seven_surplus="must_be_used")
        self.illegal(must, board, "7:27>p0")

    def test_11_a_seven_captures_what_it_passes_and_lands_on(self) -> None:
        for rules in (R000, R001, R002, R003):
            outcome = self.legal(rules, table(rules, seat([5]), seat([12]), seat([8])), "7:5>12")
            self.assertEqual(outcome.captures, [{"seat": 2, "from": "8"}, {"seat": 1, "from": "12"}])

    def test_12_a_seven_must_end_on_a_free_field(self) -> None:
        self.illegal(R004, table(R004, seat([5]), seat([12]), seat([8])), "7:5>12")

    def test_13_the_block_does_not_close_the_goal_before_the_start(self) -> None:
        self.assertIn("59>g0", ends(R004, table(R004, seat([0, 59], fresh=True)), 0, "A"))

    def test_14_the_block_closes_the_door_on_the_start(self) -> None:
        board = table(R001, seat([0, 63], fresh=True))
        self.assertFalse([e for e in ends(R001, board, 0, "A") if e.startswith("63")])


    def test_15_the_rest_of_a_seven_with_one_piece(self) -> None:
        board = table(R002, seat([60], [1, 2, 3]), seat(), seat([40, 50]))
        self.assert_listed(ONE_PIECE, board, "7", "7:60>3 7:60>g0,40>42 7:60>g0,50>52")
        self.illegal(ONE_PIECE, board, "7:60>g0,40>41,50>51", reason="one_piece_only")
        self.legal(R002, board, "7:60>g0,40>41,50>51")

    def test_16_backward_by_the_start_that_is_the_door(self) -> None:
        self.assert_listed(BACKWARD, table(BACKWARD, seat([2])), "4", "4:2>6 4:2>62 4:2>g1")

    def test_17_a_block_on_the_start_closes_the_way_back(self) -> None:
        self.assert_listed(BACKWARD, table(BACKWARD, seat([0, 2])), "4",
                           "4:2>6 4:0>4 4:0>g3 4:0>60")

    def test_18_a_jack_without_effect_when_no_swap_is_possible(self) -> None:
        board = table(R004, seat([4]), seat(), seat([30], fresh=True))
        rules = make_rules("hausregeln", jack_without_effect_when="no_swap_possible")
        self.assertEqual(self.legal(rules, board, "J:none").board, board)
        self.assertEqual(dog.judge(R004, board, 0, ["J"], "fold").kind, "fold")

    def test_19_an_own_pair_is_a_possible_swap(self) -> None:
        board = table(R004, seat([4, 9]), seat(), seat([30], fresh=True))
        rules = make_rules("hausregeln", jack_without_effect_when="no_swap_possible",
                           jack_own_pair=True)
        self.legal(rules, board, "J:4<>9")
        self.illegal(rules, board, "J:none")

    def test_20_no_move_ends_on_an_own_piece(self) -> None:
        board = table(R002, seat([20, 23]), seat(), seat([26]))
        self.assert_listed(SPARING, board, "3", "3:23>26")
        self.illegal(SPARING, board, "3:20>23", reason="own_piece")

    def test_21_no_piece_leaves_the_kennel_onto_an_own_piece(self) -> None:
        board = table(R002, seat([0]))
        self.assert_listed(SPARING, board, "K", "K:0>13")
        self.illegal(SPARING, board, "K:out", reason="own_piece")

    def test_22_no_part_ends_on_an_own_piece(self) -> None:
        board = table(R002, seat([20, 22]))
        self.legal(SPARING, board, "7:22>27,20>22")
        self.illegal(SPARING, board, "7:20>22,22>27", reason="own_piece")


class Readings(Case):
    """RULES §11, what its sentences say besides the worked cases."""

    def test_the_rest_with_one_piece_named_again(self) -> None:
        board = table(R002, seat([60], [1, 2, 3]), seat(), seat([40], [0]))
        self.legal(ONE_PIECE, board, "7:60>g0,40>41,41>42")
        self.legal(ONE_PIECE, board, "7:60>g0,p0>p1,p1>p2")
        self.illegal(ONE_PIECE, board, "7:60>g0,40>41,p0>p1", reason="one_piece_only")

    def test_the_rest_with_one_piece_ends_on_free_fields_each_time(self) -> None:
        rules = make_rules("dogspiel-it", seven_rest="one_piece", seven_landing="must_be_free")
        board = table(rules, seat([60], [1, 2, 3]), seat([41]), seat([40]))
        self.legal(rules, board, "7:60>g0,40>42")
        self.illegal(rules, board, "7:60>g0,40>41,41>42", reason="landing_occupied")

    def test_who_was_home_before_splits_among_all_pieces(self) -> None:
        board = table(R002, seat(goal=FULL), seat(), seat([40, 50]))
        self.legal(ONE_PIECE, board, "7:40>43,50>54")

    def test_one_piece_leaves_own_pieces_alone(self) -> None:
        board = table(R002, seat([60, 20], [1, 2]), seat(), seat([40]))
        self.legal(ONE_PIECE, board, "7:60>g0,20>21,g2>g3")

    def test_the_rest_lapses_as_before(self) -> None:
        rules = make_rules("hausregeln", seven_rest="one_piece")
        board = table(rules, seat([58], [1, 2, 3]), seat(), seat([28], [1, 2, 3]))
        self.assertEqual(dog.winner(rules, self.legal(rules, board, "7:58>g0,28>p0").board), 0)

    def test_backward_to_the_start_that_is_the_door(self) -> None:
        for origin, goal in ((1, ["1>g2"]), (2, ["2>g1"]), (3, ["3>g0"]), (4, []), (5, [])):
            found = {end for end in ends(BACKWARD, table(BACKWARD, seat([origin])), 0, "4")
                     if "g" in end}
            self.assertEqual(found, set(goal))
        for fresh in (True, False):
            board = table(BACKWARD, seat([0], fresh=fresh))
            retreats = {outcome.id for outcome in dog.plays(BACKWARD, board, 0, "4")
                        if outcome.kind == "retreat"}
            self.assertEqual(retreats, {"4:0>60"})
        fresh = table(BACKWARD, seat([0, 2], fresh=True))
        self.assertEqual(ends(BACKWARD, fresh, 0, "4"), {"2>6", "0>4", "0>60"})

    def test_backward_passes_an_unprotected_piece_on_the_start(self) -> None:
        rules = make_rules("dogspiel-it", backward_into_goal=True)
        self.assertEqual(self.legal(rules, table(rules, seat([0, 2])), "4:2>g1").captures, [])
        self.legal(rules, table(rules, seat([2]), seat([0])), "4:2>g1")
        self.illegal(rules, table(rules, seat([2], [1])), "4:2>g1")
        self.illegal(rules, table(rules, seat([2], [0])), "4:2>g1")
        self.illegal(R002, table(R002, seat([2])), "4:2>g1")

    def test_a_fresh_piece_goes_forward_into_its_goal(self) -> None:
        for preset in ("familienlager", "dogspiel-it"):
            rules = make_rules(preset, fresh_into_goal=True, backward_into_goal=True)
            board = table(rules, seat([0], fresh=True))
            self.assertEqual(ends(rules, board, 0, "4"), {"0>4", "0>60", "0>g3"})
            self.assertEqual(self.legal(rules, board, "4:0>g3").kind, "advance")
            self.illegal(rules, board, "4:0>g0")
            self.illegal(rules, table(rules, seat([0], [1], fresh=True)), "4:0>g3")
            self.illegal(make_rules(preset), board, "4:0>g3")
            self.legal(rules, table(rules, seat([0, 62], fresh=True)), "7:0>g3,62>g0")
        before = make_rules("hausregeln", fresh_into_goal=True)
        self.assertEqual(ends(before, table(before, seat([0], fresh=True)), 0, "4"), {"0>4", "0>56"})

    def test_a_jack_without_effect_still_where_the_mover_is_alone(self) -> None:
        rules = make_rules("hausregeln", jack_without_effect_when="no_swap_possible",
                           jack_own_pair=True)
        board = table(rules, seat([4, 9]))
        self.legal(rules, board, "J:none")
        self.legal(rules, board, "J:4<>9")
        self.illegal(rules, table(rules, seat(), seat([15], fresh=True)), "J:none")
        without = make_rules("dogspiel-it", jack_without_effect_when="no_swap_possible")
        self.illegal(without, table(without, seat([4])), "J:none")
        own_start = table(rules, seat([0, 9], fresh=True), seat([15], fresh=True))
        self.legal(rules, own_start, "J:none")

    def test_the_owner_counts_and_not_who_plays(self) -> None:
        rules = make_rules("dogspiel-it", capture_own=False, seven_partner="always")
        board = table(rules, seat([20]), seat(), seat([13, 27]))
        self.legal(rules, board, "7:13>20")
        self.legal(rules, board, "7:20>27")
        self.illegal(rules, table(rules, seat([30]), seat(), seat([13, 20])), "7:13>20",
                     reason="own_piece")
        home = table(rules, seat(goal=FULL), seat(), seat([10, 13]))
        self.illegal(rules, home, "3:10>13", reason="own_piece")
        self.illegal(rules, table(rules, seat(goal=FULL), seat(), seat([32])), "K:out",
                     reason="own_piece")

    def test_passing_captures_an_own_piece_all_the_same(self) -> None:
        outcome = self.legal(SPARING, table(R002, seat([20, 22])), "7:20>27")
        self.assertEqual(outcome.captures, [{"seat": 0, "from": "22"}])

    def test_what_must_be_free_says_so_first(self) -> None:
        rules = make_rules("hausregeln", capture_own=False)
        self.illegal(rules, table(rules, seat([20, 27])), "7:20>27", reason="landing_occupied")

    def test_an_exit_onto_an_own_piece_may_leave_only_a_fold(self) -> None:
        board = table(R002, seat([0, 13]), seat([16], fresh=True))
        for move_id in ("K:out", "K:0>13"):
            self.legal(R002, board, move_id)
            self.illegal(SPARING, board, move_id, reason="own_piece")
        self.assertEqual(dog.judge(SPARING, board, 0, ["K"], "fold").kind, "fold")


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

    def test_any_pieces(self) -> None:
        self.check(80)

    def test_one_piece(self) -> None:
        for landing in dog.OPTION_VALUES["seven_landing"]:
            for own in (True, False):
                self.check(80, seven_rest="one_piece", seven_landing=landing, capture_own=own)

    def test_canadian(self) -> None:
        for landing in dog.OPTION_VALUES["seven_landing"]:
            for own in (True, False):
                self.check(5, seven_partner="always", seven_landing=landing, capture_own=own)

    def test_sparing_own_pieces(self) -> None:
        for landing in dog.OPTION_VALUES["seven_landing"]:
            self.check(80, seven_landing=landing, capture_own=False)

    def test_fresh_pieces_into_the_goal(self) -> None:
        for landing in dog.OPTION_VALUES["seven_landing"]:
            for own in (True, False):
                self.check(80, fresh_into_goal=True, seven_landing=landing, capture_own=own)
                self.check(40, fresh_into_goal=True, seven_landing=landing, capture_own=own, seven_rest="one_piece")
            self.check(5, fresh_into_goal=True, seven_landing=landing, seven_partner="always")

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


class Blocks(Case):
    def test_nothing_passes_a_block_either_way(self) -> None:
        board = table(R001, seat([16 - 3, 16 + 2]), seat([16], fresh=True))
        self.illegal(R001, board, "5:13>18")
        self.illegal(R001, board, "3:13>16")
        self.illegal(R001, board, "4:18>14")
        self.illegal(R001, board, "7:13>20")
        self.legal(R001, board, "2:13>15")

    def test_own_block_stops_its_own_side(self) -> None:
        self.illegal(R000, table(R000, seat([0, 62])), "2:62>0")
        self.illegal(R001, table(R001, seat([0, 62], fresh=True)), "3:62>1")
        self.legal(R001, table(R001, seat([0, 62])), "3:62>g0")
        self.legal(R001, table(R001, seat([0, 62])), "3:62>1")

    def test_a_piece_on_a_foreign_start_is_ordinary(self) -> None:
        self.legal(R000, table(R000, seat([14]), seat(), seat([16])), "2:14>16")

    def test_leaving_the_kennel_onto_an_occupied_start(self) -> None:
        self.illegal(R000, table(R000, seat([0])), "K:out")
        self.illegal(R001, table(R001, seat([0], fresh=True)), "K:out")
        outcome = self.legal(R001, table(R001, seat([0])), "K:out")
        self.assertEqual(outcome.captures, [{"seat": 0, "from": "0"}])
        self.assertEqual(outcome.board[0], dog.Pieces((0,), (), 3, True))
        outcome = self.legal(R001, table(R001, seat(), seat([0])), "A:out")
        self.assertEqual(outcome.captures, [{"seat": 1, "from": "0"}])

    def test_other_cards_do_not_leave_the_kennel(self) -> None:
        board = table(R001)
        for rank in dog.RANKS:
            self.assertEqual(len(dog.boards_for(R001, board, 0, rank)), int(rank in ("A", "K")))


class Goals(Case):
    def test_no_passing_and_no_overshooting_in_the_goal(self) -> None:
        board = table(R001, seat([62], [1]))
        self.legal(R001, board, "3:62>g0")
        self.illegal(R001, board, "5:62>g2")
        self.illegal(R001, board, "8:62>g5")
        self.illegal(R001, table(R001, seat([62])), "7:62>g4")
        self.illegal(R001, table(R001, seat([62], [0])), "7:62>g0,g0>g3")

    def test_moves_within_the_goal(self) -> None:
        board = table(R001, seat([30], [0, 3]))
        self.legal(R001, board, "2:g0>g2")
        self.illegal(R001, board, "3:g0>g3")
        self.illegal(R001, board, "A:g3>g2")
        self.legal(R001, board, "7:g0>g2,30>35")

    def test_only_the_own_goal(self) -> None:
        board = table(R001, seat([30]))
        self.assertEqual(ends(R001, board, 0, "3"), {"30>33"})
        self.illegal(R001, board, "3:30>p0")
        self.illegal(R001, board, "3:30>g0")

    def test_a_jack_onto_the_own_start_is_not_fresh_and_may_enter(self) -> None:
        board = table(R001, seat([20]), seat([0]))
        after = self.legal(R001, board, "J:20<>0").board
        self.assertFalse(after[0].fresh)
        self.legal(R001, after, "A:0>g0")

    def test_backward_passes_the_own_start_but_a_block_stops_it(self) -> None:
        other = make_rules("hausregeln", start_block="always")
        board = table(R004, seat([0, 2]))
        self.legal(R004, board, "4:2>g0")
        self.illegal(other, board, "4:2>g0")
        self.illegal(R004, table(R004, seat([0, 2], fresh=True)), "4:2>58")

    def test_backward_into_an_occupied_goal(self) -> None:
        self.illegal(R004, table(R004, seat([1], [0])), "4:1>g1")
        self.illegal(R004, table(R004, seat([1], [1])), "4:1>g1")
        self.legal(R004, table(R004, seat([2], [1])), "4:2>g0")

    def test_backward_without_the_option(self) -> None:
        rules = make_rules("hausregeln", backward_into_goal=False)
        self.illegal(rules, table(rules, seat([2])), "4:2>g0")

    def test_a_partner_moves_back_into_its_own_goal(self) -> None:
        board = table(R004, seat(goal=FULL), seat(), seat([32]))
        self.assertEqual(self.legal(R004, board, "4:32>p0").kind, "retreat")
        self.illegal(R004, board, "4:32>g0")


class Partner(Case):
    def test_home_moves_the_partner_with_every_card(self) -> None:
        board = table(R002, seat(goal=FULL), seat([40]), seat([20], [0]))
        self.legal(R002, board, "K:out")
        self.legal(R002, board, "2:p0>p2")
        self.illegal(R002, board, "2:g0>g2")
        after = self.legal(R002, board, "J:20<>40").board
        self.assertEqual((after[1].track, after[2].track), ((20,), (40,)))
        self.illegal(R002, board, "J:40<>20")
        self.legal(R002, board, "7:p0>p3,20>24")

    def test_not_home_does_not(self) -> None:
        self.illegal(R002, table(R002, seat([1], [1, 2, 3]), seat(), seat([20])), "5:20>25")

    def test_canadian_seven_mixes(self) -> None:
        rules = make_rules("dogspiel-it", seven_partner="always")
        board = table(rules, seat([10]), seat(), seat([20], [0]))
        self.legal(rules, board, "7:20>22,10>13,p0>p2")
        self.legal(rules, board, "7:20>27")
        self.illegal(R002, board, "7:10>13,20>24")
        self.illegal(rules, board, "5:20>25")

    def test_six_seats(self) -> None:
        rules = make_rules("dogspiel-it", seats=6)
        self.assertEqual([dog.partner_of(rules, s) for s in range(6)], [3, 4, 5, 0, 1, 2])
        board = table(rules, seat(goal=FULL), seat(), seat(), seat([94]))
        self.legal(rules, board, "3:94>1")


class Sevens(Case):
    def test_a_piece_captured_by_a_part_takes_no_other(self) -> None:
        board = table(R002, seat([10, 12]))
        self.illegal(R002, board, "7:10>13,12>16")
        self.legal(R002, board, "7:12>16,10>13")
        self.assertEqual(self.legal(R002, board, "7:10>17").captures, [{"seat": 0, "from": "12"}])

    def test_a_piece_may_be_named_again(self) -> None:
        board = table(R002, seat([10, 30]))
        self.legal(R002, board, "7:10>11,30>33,11>14")
        self.illegal(R002, board, "7:10>11,30>33,10>13")

    def test_any_order_and_exactly_seven(self) -> None:
        board = table(R002, seat([10, 20, 30]))
        for parts in itertools.permutations(("10>12", "20>23", "30>32")):
            self.legal(R002, board, "7:" + ",".join(parts))
        self.illegal(R002, board, "7:10>12,20>24")
        self.illegal(R002, board, "7:10>12,20>26")
        self.illegal(R002, board, "7:10>12,20>20,30>35")
        self.illegal(R002, board, "7:10>6,20>31")

    def test_turning_into_the_goal_passes_the_door(self) -> None:
        rules = make_rules("dogspiel-de", seven_partner="always")
        board = table(rules, seat([62, 20]), seat([0]), seat([63]))
        outcome = self.legal(rules, board, "7:62>g2,20>22")
        self.assertEqual(outcome.captures, [{"seat": 2, "from": "63"}, {"seat": 1, "from": "0"}])

    def test_must_be_free_applies_to_every_part(self) -> None:
        board = table(R004, seat([10]), seat([12]))
        self.illegal(R004, board, "7:10>12,12>17")
        self.assertEqual(self.legal(R004, board, "7:10>17").captures, [{"seat": 1, "from": "12"}])
        self.legal(R004, board, "7:10>13,13>17")

    def test_the_partner_only_from_the_moment_all_are_home(self) -> None:
        board = table(R002, seat([60], [1, 2, 3]), seat(), seat([10]))
        self.illegal(R002, board, "7:10>12,60>g0")
        self.legal(R002, board, "7:60>61,61>g0,10>12")

    def test_no_part_after_the_win(self) -> None:
        board = table(R004, seat(goal=FULL), seat(), seat([27], [1, 2, 3]), seat([50]))
        self.illegal(R004, board, "7:27>p0,50>54")
        self.illegal(R004, board, "7:27>28")

    def test_a_part_may_win_only_with_the_exact_end(self) -> None:
        self.assertEqual(
            {dog.winner(R004, b) for b in dog.boards_for(
                R004, table(R004, seat(goal=FULL), seat(), seat([27], [1, 2, 3])), 0, "7")},
            {0, None})


class Jacks(Case):
    def test_protection_of_starts(self) -> None:
        fresh = [seat([10]), seat([16], fresh=True)]
        stale = [seat([10]), seat([16])]
        self.illegal(R000, table(R000, *fresh), "J:10<>16")
        self.illegal(R000, table(R000, *stale), "J:10<>16")
        for rules in (R001, R003):
            self.illegal(rules, table(rules, *fresh), "J:10<>16")
            self.legal(rules, table(rules, *stale), "J:10<>16")
        self.illegal(R001, table(R001, seat([0], fresh=True), seat([20])), "J:0<>20")

    def test_own_pairs(self) -> None:
        board = table(R001, seat([10, 20]))
        for text in ("J:10<>20", "J:20<>10"):
            self.assertEqual(self.legal(R001, board, text).board, board)
            self.illegal(R002, board, text)
        self.illegal(R001, board, "J:10<>10")
        self.illegal(R001, table(R001, seat([0, 20], fresh=True)), "J:0<>20")
        self.assertEqual(dog.legal_boards(R001, board, 0, ["J", "J"]), {("J", None, board)})

    def test_without_effect(self) -> None:
        lone = table(R004, seat([0], fresh=True))
        self.assertEqual(self.legal(R004, lone, "J:none").board, lone)
        self.illegal(R002, lone, "J:none")
        self.illegal(R004, table(R004), "J:none")
        self.illegal(R004, table(R004, seat([5]), seat([15], fresh=True)), "J:none")
        self.illegal(R004, table(R004, seat([5]), seat(), seat([9])), "J:none")
        self.legal(R004, table(R004, seat(goal=FULL), seat(), seat([9])), "J:none")

    def test_stranger_first_is_illegal(self) -> None:
        board = table(R002, seat([17]), seat([33]))
        self.legal(R002, board, "J:17<>33")
        self.illegal(R002, board, "J:33<>17")


class Listing(Case):
    def test_joker_once_for_each_rank(self) -> None:
        board = table(R002)
        after = dog.leave_kennel(R002, board, 0).board
        self.assertEqual(dog.legal_boards(R002, board, 0, ["joker", "joker", "K", "2"]),
                         {("joker", "A", after), ("joker", "K", after), ("K", None, after)})

    def test_fold_only_if_nothing_else(self) -> None:
        board = table(R002)
        self.assertEqual(dog.legal_boards(R002, board, 0, ["2", "J", "7"]), {(None, None, board)})
        self.assertEqual(dog.judge(R002, board, 0, ["2"], "fold").kind, "fold")
        self.illegal(R002, board, "fold", hand=["2", "K"])

    def test_must_play_however_harmful(self) -> None:
        board = table(R002, seat([63], [0, 1, 2]))
        self.assertEqual(len(dog.legal_boards(R002, board, 0, ["2"])), 1)
        self.illegal(R002, board, "fold", hand=["2"])

    def test_freshness_distinguishes_boards(self) -> None:
        self.assertNotEqual(table(R000, seat([0], fresh=True)), table(R000, seat([0])))

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
        self.illegal(R002, board, "2:7>9", hand=["3", "joker"])
        self.legal(R002, board, "joker=2:7>9")

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
