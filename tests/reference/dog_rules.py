"""The rules of DOG, written to read like the rules text and to be slow and obvious.

This is an independent reference used as a test oracle: it shares nothing with the engine it checks.
Sections named here (§2, §4 ...) are those of docs/rules.md; the move ids are those of the HTTP API.

A board is a tuple with one `Pieces` per seat, so that boards can be compared and put into sets.
A place is ("track", field) or ("goal", number); a piece is named by its seat and its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterator, NamedTuple, Optional

RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
CARDS = RANKS + ("joker",)
PIECES = 4  # a seat's pieces, and its goal fields

Rules = dict[str, Any]
Place = tuple[str, int]


class Pieces(NamedTuple):
    """Where one seat's four pieces are (§1)."""

    track: tuple[int, ...]
    goal: tuple[int, ...]
    kennel: int
    fresh: bool


Board = tuple[Pieces, ...]


class InvalidRules(ValueError):
    """An unknown option, a value out of range, or an impossible combination (§2)."""


class IllegalMove(ValueError):
    """The move is understood and the rules forbid it; the text says why.

    `reason` is the word that the HTTP API has for it, where an option of §11 names one.
    """

    def __init__(self, why: str, reason: Optional[str] = None) -> None:
        super().__init__(why)
        self.reason = reason


class BadNotation(IllegalMove):
    """The text is not a move id."""


# --- §2 options and presets -----------------------------------------------------------------------------------------

_DOWN = [6, 5, 4, 3, 2]

# §11: options that every preset leaves at the same value.
DEFAULTS: Rules = {
    "seven_rest": "any_pieces", "reshuffle": "when_empty",
    "jack_without_effect_when": "no_other_on_ring", "capture_own": True, "fresh_into_goal": False,
}

# What most presets say.
_COMMON: Rules = {
    "seats": 4, "fields_per_seat": 16, "jokers": 6,
    "deal_sizes": {"first": _DOWN, "then": _DOWN},
    "dealer": "fixed", "exchange": "mandatory",
    "start_block": "fresh", "start_swap_protection": "fresh",
    "goal_entry": "on_start", "backward_into_goal": False,
    "seven_landing": "captures", "seven_surplus": "must_be_used", "seven_partner": "when_home",
    "jack_own_pair": False, "jack_without_effect": False,
    **DEFAULTS,
}
_ROTATES: Rules = {"deal_sizes": {"first": _DOWN, "then": [5, 4, 3, 2]}, "dealer": "rotates"}

PRESETS: dict[str, Rules] = {
    "familienlager": {**_COMMON, **_ROTATES, "start_block": "always", "start_swap_protection": "always"},
    "dogspiel-de": {**_COMMON, "jack_own_pair": True},
    "dogspiel-it": _COMMON,
    "spielanleitung": {**_COMMON, **_ROTATES, "start_block": "always", "jack_own_pair": True},
    "hausregeln": {
        **_COMMON, **_ROTATES,
        "fields_per_seat": 15, "jokers": 8, "exchange": "on_request",
        "goal_entry": "before_start", "backward_into_goal": True,
        "seven_landing": "must_be_free", "seven_surplus": "lapses_on_win",
        "jack_without_effect": True,
    },
}

OPTION_VALUES: dict[str, tuple[Any, ...]] = {
    "seats": (4, 6),
    "fields_per_seat": (15, 16),
    "jokers": tuple(range(13)),
    "dealer": ("rotates", "fixed"),
    "exchange": ("mandatory", "optional", "on_request"),
    "start_block": ("always", "fresh"),
    "start_swap_protection": ("always", "fresh"),
    "goal_entry": ("on_start", "before_start"),
    "backward_into_goal": (False, True),
    "seven_landing": ("captures", "must_be_free"),
    "seven_surplus": ("must_be_used", "lapses_on_win"),
    "seven_partner": ("when_home", "always"),
    "seven_rest": ("any_pieces", "one_piece"),
    "reshuffle": ("when_empty", "before_deal"),
    "jack_own_pair": (False, True),
    "jack_without_effect": (False, True),
    "jack_without_effect_when": ("no_other_on_ring", "no_swap_possible"),
    "capture_own": (True, False),
    "fresh_into_goal": (False, True),
}


def make_rules(preset: str, **overrides: Any) -> Rules:
    """A preset with options overridden, every option written out (§2)."""
    if preset not in PRESETS:
        raise InvalidRules(f"no preset {preset!r}")
    rules: Rules = {"preset": preset, **PRESETS[preset]}
    for name, value in overrides.items():
        if name == "deal_sizes":
            _check_deal_sizes(value)
        elif name not in OPTION_VALUES:
            raise InvalidRules(f"no option {name!r}")
        elif not any(type(value) is type(v) and value == v for v in OPTION_VALUES[name]):
            raise InvalidRules(f"{name} cannot be {value!r}")
        rules[name] = value
    if rules["seven_rest"] == "one_piece" and rules["seven_partner"] != "when_home":
        raise InvalidRules("seven_rest: one_piece needs seven_partner: when_home")
    largest = max(rules["deal_sizes"]["first"] + rules["deal_sizes"]["then"])
    if largest * rules["seats"] > 104 + rules["jokers"]:
        raise InvalidRules("the largest deal exceeds the deck")
    return rules


def rules_from_request(request: dict[str, Any]) -> Rules:
    """The rules of a request body, `{"preset": ..., overrides}`."""
    overrides = {name: value for name, value in request.items() if name != "preset"}
    return make_rules(request.get("preset", "dogspiel-it"), **overrides)


def _check_deal_sizes(value: Any) -> None:
    if set(value) != {"first", "then"}:
        raise InvalidRules("deal_sizes has a first and a then")
    for sizes in value.values():
        if not sizes or any(type(size) is not int or size < 1 for size in sizes):
            raise InvalidRules("deal_sizes are non-empty lists of sizes of at least 1")


# --- §1 words -------------------------------------------------------------------------------------------------------

def fields(rules: Rules) -> int:
    """T, the number of fields of the ring."""
    return rules["seats"] * rules["fields_per_seat"]


def start_of(rules: Rules, seat: int) -> int:
    """The seat's own field on the ring."""
    return seat * rules["fields_per_seat"]


def door_of(rules: Rules, seat: int) -> int:
    """The ring field from which the next step may be goal 0 (§4 The door)."""
    if rules["goal_entry"] == "on_start":
        return start_of(rules, seat)
    return (start_of(rules, seat) - 1) % fields(rules)


def partner_of(rules: Rules, seat: int) -> int:
    return (seat + rules["seats"] // 2) % rules["seats"]


def team_of(rules: Rules, seat: int) -> int:
    return seat % (rules["seats"] // 2)


def all_home(board: Board, seat: int) -> bool:
    return len(board[seat].goal) == PIECES


def winner(rules: Rules, board: Board) -> Optional[int]:
    """The team whose eight pieces are all in their goals, if any (§7.5)."""
    for team in range(rules["seats"] // 2):
        if all_home(board, team) and all_home(board, partner_of(rules, team)):
            return team
    return None


def seat_at(board: Board, track_field: int) -> Optional[int]:
    """The seat whose piece stands on this field of the ring."""
    for seat, pieces in enumerate(board):
        if track_field in pieces.track:
            return seat
    return None


def make_board(rules: Rules, seats: list[dict[str, Any]]) -> Board:
    """The board of a JSON board; `kennel` and `fresh` may be left out. ValueError if it is impossible."""
    if len(seats) != rules["seats"]:
        raise ValueError("one entry a seat")
    board: list[Pieces] = []
    taken: set[int] = set()
    for seat, entry in enumerate(seats):
        track, goal = tuple(sorted(entry.get("track", ()))), tuple(sorted(entry.get("goal", ())))
        kennel = entry.get("kennel", PIECES - len(track) - len(goal))
        fresh = entry.get("fresh", False)
        if len(track) + len(goal) + kennel != PIECES or kennel < 0:
            raise ValueError(f"seat {seat} has not 4 pieces")
        if len(set(goal)) != len(goal) or any(not 0 <= g < PIECES for g in goal):
            raise ValueError(f"seat {seat}'s goal is impossible")
        for at in track:
            if at in taken or not 0 <= at < fields(rules):
                raise ValueError(f"field {at} is off the board or taken twice")
            taken.add(at)
        if fresh and start_of(rules, seat) not in track:
            raise ValueError(f"seat {seat}: fresh without a piece on the start")
        board.append(Pieces(track, goal, kennel, bool(fresh)))
    return tuple(board)


def board_json(board: Board) -> list[dict[str, Any]]:
    return [{"track": list(p.track), "goal": list(p.goal), "kennel": p.kennel, "fresh": p.fresh} for p in board]


def empty_board(rules: Rules) -> Board:
    """All pieces in their kennels (§7.1)."""
    return tuple(Pieces((), (), PIECES, False) for _ in range(rules["seats"]))


# --- §4 moving: what stands in the way ------------------------------------------------------------------------------

def mover_of(rules: Rules, board: Board, seat: int) -> int:
    """§4 Whose pieces: its own, or its partner's once all four of its own are home."""
    return partner_of(rules, seat) if all_home(board, seat) else seat


def is_block(rules: Rules, board: Board, track_field: int) -> bool:
    """§4 Protected start: does a piece on its own start block this field?"""
    seat = seat_at(board, track_field)
    if seat is None or track_field != start_of(rules, seat):
        return False
    return rules["start_block"] == "always" or board[seat].fresh


def _check_ring_step(rules: Rules, board: Board, track_field: int) -> None:
    if is_block(rules, board, track_field):
        raise IllegalMove(f"field {track_field} is blocked")


def _check_goal_step(board: Board, seat: int, number: int) -> None:
    if number >= PIECES:
        raise IllegalMove("there is nothing beyond goal 3")
    if number in board[seat].goal:
        raise IllegalMove(f"seat {seat}'s goal {number} is occupied")


def may_enter(rules: Rules, board: Board, seat: int, track_field: int) -> bool:
    """§4 The door: may the step after this ring field be goal 0?

    A fresh piece must leave the start first, unless (option) it may go straight in (§11).
    """
    if track_field != door_of(rules, seat):
        return False
    if rules["goal_entry"] == "on_start":
        return rules["fresh_into_goal"] or not board[seat].fresh
    return True


# --- §4 moving: ways a piece can go ---------------------------------------------------------------------------------

def forward_paths(rules: Rules, board: Board, seat: int, origin: Place, steps: int) -> list[list[Place]]:
    """§4 Forward n: every path of single steps for the piece; a path lists the places stepped on."""
    paths: list[list[Place]] = [[]]
    for _ in range(steps):
        longer: list[list[Place]] = []
        for path in paths:
            kind, number = path[-1] if path else origin
            nexts: list[Place] = []
            if kind == "goal":
                nexts.append(("goal", number + 1))
            else:
                nexts.append(("track", (number + 1) % fields(rules)))
                if may_enter(rules, board, seat, number):
                    nexts.append(("goal", 0))
            for place in nexts:
                try:
                    if place[0] == "goal":
                        _check_goal_step(board, seat, place[1])
                    else:
                        _check_ring_step(rules, board, place[1])
                except IllegalMove:
                    continue
                longer.append(path + [place])
        paths = longer
    return paths


def backward_paths(rules: Rules, board: Board, seat: int, origin: Place) -> list[list[Place]]:
    """§4 Backward 4: along the ring, or (option) by way of its own start to the door and on.

    The door is the start itself or the field before it (§11). A piece that begins on the start has
    not come back to it.
    """
    if origin[0] != "track":
        return []
    start, door = start_of(rules, seat), door_of(rules, seat)
    paths: list[list[Place]] = []
    ring: list[Place] = []
    at = origin[1]
    for step in range(1, 5):
        at = (at - 1) % fields(rules)
        if is_block(rules, board, at):
            break
        ring.append(("track", at))
        back_at_door = at == door and ("track", start) in ring
        if rules["backward_into_goal"] and back_at_door and step < 4:
            into = [("goal", number) for number in range(4 - step)]
            if not any(number in board[seat].goal for _, number in into):
                paths.append(ring + into)
    if len(ring) == 4:
        paths.append(ring)
    return paths


# --- carrying a move out --------------------------------------------------------------------------------------------

def place_text(place: Place) -> str:
    """A field as a part of a move shows it."""
    return str(place[1]) if place[0] == "track" else f"goal:{place[1]}"


@dataclass
class Outcome:
    """A move carried out: the board it leaves and what happened."""

    board: Board
    kind: str
    parts: list[dict[str, Any]] = field(default_factory=list)
    captures: list[dict[str, Any]] = field(default_factory=list)
    id: str = ""


def capture(rules: Rules, board: Board, track_field: int) -> tuple[Board, Optional[int]]:
    """§4 Landing: the piece on this field, if any, returns to its kennel."""
    seat = seat_at(board, track_field)
    if seat is None:
        return board, None
    p = board[seat]
    caught = Pieces(tuple(f for f in p.track if f != track_field), p.goal, p.kennel + 1, p.fresh)
    return board[:seat] + (caught,) + board[seat + 1:], seat


def check_capture(rules: Rules, board: Board, owner: int, track_field: int) -> None:
    """§11 capture_own: may the owner's piece end on this field? Who plays it does not matter."""
    if not rules["capture_own"] and seat_at(board, track_field) == owner:
        raise IllegalMove(f"seat {owner}'s own piece is on field {track_field}", "own_piece")


def relocate(rules: Rules, board: Board, seat: int, origin: Place, target: Place) -> Board:
    """One piece is taken from its place and put on another, free one. Its freshness ends (§4 Freshness)."""
    p = board[seat]
    track, goal, fresh = list(p.track), list(p.goal), p.fresh
    (track if origin[0] == "track" else goal).remove(origin[1])
    if origin == ("track", start_of(rules, seat)):
        fresh = False
    (track if target[0] == "track" else goal).append(target[1])
    moved = Pieces(tuple(sorted(track)), tuple(sorted(goal)), p.kennel, fresh)
    return board[:seat] + (moved,) + board[seat + 1:]


def carry_out(
    rules: Rules, board: Board, seat: int, origin: Place, path: list[Place], capture_passed: bool
) -> tuple[Board, list[dict[str, Any]]]:
    """Walk a piece along a path: capture where it lands and, in a seven, whatever it passes on the ring."""
    kind, number = path[-1]
    if kind == "track":
        check_capture(rules, board, seat, number)
    captures: list[dict[str, Any]] = []
    for place in (path if capture_passed else path[-1:]):
        if place[0] == "track":
            board, caught = capture(rules, board, place[1])
            if caught is not None:
                captures.append({"seat": caught, "from": str(place[1])})
    return relocate(rules, board, seat, origin, path[-1]), captures


def part_json(seat: int, origin: str, target: str, path: list[Place]) -> dict[str, Any]:
    places = [place_text(place) for place in path]
    return {"seat": seat, "from": origin, "to": target, "steps": len(path), "path": places}


def places(board: Board, seat: int) -> list[Place]:
    """The places of the seat's pieces that are in play or home."""
    return [("track", f) for f in board[seat].track] + [("goal", g) for g in board[seat].goal]


# --- §3, §4, §6 the cards other than the seven ----------------------------------------------------------------------

FORWARD: dict[str, tuple[int, ...]] = {
    "A": (1, 11), "2": (2,), "3": (3,), "4": (4,), "5": (5,), "6": (6,), "8": (8,), "9": (9,), "10": (10,),
    "Q": (12,), "K": (13,),
}


def id_place(acting: int, seat: int, place: Place) -> str:
    """A place in a move id: a track number, g0..g3 in the acting seat's own goal, p0..p3 in its partner's."""
    if place[0] == "track":
        return str(place[1])
    return ("g" if seat == acting else "p") + str(place[1])


def leave_kennel(rules: Rules, board: Board, mover: int) -> Outcome:
    """§4 Leaving the kennel."""
    start = start_of(rules, mover)
    if board[mover].kennel == 0:
        raise IllegalMove(f"seat {mover} has no piece in its kennel")
    _check_ring_step(rules, board, start)
    check_capture(rules, board, mover, start)
    board, caught = capture(rules, board, start)
    p = board[mover]
    out = Pieces(tuple(sorted(p.track + (start,))), p.goal, p.kennel - 1, True)
    captures = [] if caught is None else [{"seat": caught, "from": str(start)}]
    after = board[:mover] + (out,) + board[mover + 1:]
    return Outcome(after, "leave_kennel", [part_json(mover, "kennel", str(start), [])], captures)


def check_swappable(rules: Rules, board: Board, track_field: int) -> None:
    """§6: no piece on its own start while it is protected."""
    seat = seat_at(board, track_field)
    if seat is None:
        raise IllegalMove(f"no piece on field {track_field}")
    if track_field == start_of(rules, seat):
        if rules["start_swap_protection"] == "always" or board[seat].fresh:
            raise IllegalMove(f"seat {seat}'s piece on its start is protected from swaps")


def swap(rules: Rules, board: Board, mover: int, own: int, other: int) -> Outcome:
    """§6 Jack: a piece of the mover's on the ring and one of any other seat (option: one of the mover's own)."""
    if seat_at(board, own) != mover:
        raise IllegalMove(f"no piece of seat {mover} on field {own}")
    check_swappable(rules, board, own)
    check_swappable(rules, board, other)
    if own == other:
        raise IllegalMove("a swap needs two pieces")
    them = seat_at(board, other)
    assert them is not None
    parts = [part_json(mover, str(own), str(other), []), part_json(them, str(other), str(own), [])]
    if them == mover:
        if not rules["jack_own_pair"]:
            raise IllegalMove("both pieces are one's own")
        return Outcome(board, "swap", parts)
    after = list(board)
    for seat, old, new in ((mover, own, other), (them, other, own)):
        p = after[seat]
        track = tuple(sorted([f for f in p.track if f != old] + [new]))
        after[seat] = Pieces(track, p.goal, p.kennel, p.fresh)
    return Outcome(tuple(after), "swap", parts)


def swaps(rules: Rules, board: Board, mover: int) -> Iterator[Outcome]:
    """§6: every legal swap, with its move id."""
    for own in board[mover].track:
        for pieces in board:
            for other in pieces.track:
                try:
                    outcome = swap(rules, board, mover, own, other)
                except IllegalMove:
                    continue
                outcome.id = f"J:{own}<>{other}"
                yield outcome


def jack_without_effect(rules: Rules, board: Board, mover: int) -> Outcome:
    """§6: a jack may be played for nothing when the mover alone is on the ring.

    With no_swap_possible (§11) even when others are on the ring, if no swap is legal.
    """
    if not rules["jack_without_effect"]:
        raise IllegalMove("a jack without effect is not in these rules")
    if not board[mover].track:
        raise IllegalMove("none of the mover's pieces is on the ring")
    if any(p.track for seat, p in enumerate(board) if seat != mover):
        if rules["jack_without_effect_when"] == "no_other_on_ring":
            raise IllegalMove("another seat's piece is on the ring")
        if any(swaps(rules, board, mover)):
            raise IllegalMove("a swap is possible")
    return Outcome(board, "no_effect")


def plays(rules: Rules, board: Board, seat: int, rank: str) -> Iterator[Outcome]:
    """Every way to play one rank other than the seven, with its move id (§3)."""
    mover = mover_of(rules, board, seat)
    if rank in ("A", "K"):
        try:
            outcome = leave_kennel(rules, board, mover)
            outcome.id = f"{rank}:out"
            yield outcome
        except IllegalMove:
            pass
    if rank == "J":
        yield from swaps(rules, board, mover)
        try:
            outcome = jack_without_effect(rules, board, mover)
            outcome.id = "J:none"
            yield outcome
        except IllegalMove:
            pass
    for origin in places(board, mover):
        walks = [("advance", path) for n in FORWARD.get(rank, ())
                 for path in forward_paths(rules, board, mover, origin, n)]
        if rank == "4":
            walks += [("retreat", path) for path in backward_paths(rules, board, mover, origin)]
        for kind, path in walks:
            try:
                after, captures = carry_out(rules, board, mover, origin, path, capture_passed=False)
            except IllegalMove:
                continue
            part = part_json(mover, place_text(origin), place_text(path[-1]), path)
            text = f"{rank}:{id_place(seat, mover, origin)}>{id_place(seat, mover, path[-1])}"
            yield Outcome(after, kind, [part], captures, text)


# --- §5 the seven ---------------------------------------------------------------------------------------------------

class Seven(NamedTuple):
    """A begun seven: what decides which parts may follow."""

    board: Board
    left: int
    one_piece: bool
    """§11 seven_rest: the steps left once the seat is home are one piece's."""
    rest: Optional[tuple[int, Place]] = None
    """The partner's piece that has begun to take them, and takes all others."""


def begin_seven(rules: Rules, board: Board, seat: int) -> Seven:
    """§5, §11: one_piece counts only if the seat is not home before the seven."""
    return Seven(board, 7, rules["seven_rest"] == "one_piece" and not all_home(board, seat))


def seven_seats(rules: Rules, board: Board, seat: int) -> list[int]:
    """§5: whose pieces may take the next part."""
    partner = partner_of(rules, seat)
    if rules["seven_partner"] == "always":
        return [seat, partner]
    return [partner] if all_home(board, seat) else [seat]


def seven_complete(rules: Rules, seven: Seven, seat: int) -> bool:
    """§5: all steps used, or (option) the rest lapses because the team's eight pieces are home."""
    if seven.left == 0:
        return True
    won = all_home(seven.board, seat) and all_home(seven.board, partner_of(rules, seat))
    return won and rules["seven_surplus"] == "lapses_on_win"


def seven_part(
    rules: Rules, seven: Seven, seat: int, owner: int, origin: Place, path: list[Place]
) -> tuple[Seven, list[dict[str, Any]]]:
    """§5: one part carried out; what it passes is captured, and where it ends too or it must be free."""
    end = path[-1]
    if seven.rest not in (None, (owner, origin)):
        raise IllegalMove("another piece takes the rest of the seven", "one_piece_only")
    occupied = end[0] == "track" and seat_at(seven.board, end[1]) is not None
    if rules["seven_landing"] == "must_be_free" and occupied:
        why = f"a part of a seven must end on a free field, {end[1]} is occupied"
        raise IllegalMove(why, "landing_occupied")
    board, captures = carry_out(rules, seven.board, owner, origin, path, capture_passed=True)
    rest = (owner, end) if seven.one_piece and owner != seat else None
    return Seven(board, seven.left - len(path), seven.one_piece, rest), captures


def seven_parts(
    rules: Rules, seven: Seven, seat: int
) -> Iterator[tuple[int, Place, list[Place], Seven]]:
    """§5: every part that may come next: (owner, from, path, the seven after it)."""
    for owner in seven_seats(rules, seven.board, seat):
        for origin in places(seven.board, owner):
            for steps in range(1, seven.left + 1):
                paths = forward_paths(rules, seven.board, owner, origin, steps)
                if not paths:
                    break
                for path in paths:
                    try:
                        after, _ = seven_part(rules, seven, seat, owner, origin, path)
                    except IllegalMove:
                        continue
                    yield owner, origin, path, after


def seven_boards(rules: Rules, board: Board, seat: int) -> set[Board]:
    """§5: every board that some list of parts reaches, pieces named as often as one likes.

    The begun sevens that have 7, 6, ... 0 steps left; what else happened before does not matter to
    what may follow.
    """
    with_left: list[set[Seven]] = [set() for _ in range(8)]
    with_left[7].add(begin_seven(rules, board, seat))
    results: set[Board] = set()
    for left in range(7, -1, -1):
        for seven in with_left[left]:
            if seven_complete(rules, seven, seat):
                results.add(seven.board)
                continue
            for _, _, _, after in seven_parts(rules, seven, seat):
                with_left[after.left].add(after)
    return results


# --- §9 what counts as one move -------------------------------------------------------------------------------------

def boards_for(rules: Rules, board: Board, seat: int, card: str) -> set[Board]:
    """Every board that playing this card (a rank or a joker) can leave."""
    if card == "joker":
        return set().union(*(boards_for(rules, board, seat, rank) for rank in RANKS))
    if card == "7":
        return seven_boards(rules, board, seat)
    return {outcome.board for outcome in plays(rules, board, seat, card)}


LegalBoard = tuple[Optional[str], Optional[str], Board]


def legal_boards(rules: Rules, board: Board, seat: int, hand: list[str]) -> set[LegalBoard]:
    """§9: the (card, rank a joker stands for, board after) of every listed move; fold only if nothing else."""
    by_rank: dict[str, set[Board]] = {}
    for rank in RANKS:
        if rank in hand or "joker" in hand:
            by_rank[rank] = boards_for(rules, board, seat, rank)
    legal: set[LegalBoard] = set()
    for card in set(hand):
        if card == "joker":
            legal |= {("joker", rank, after) for rank in RANKS for after in by_rank[rank]}
        else:
            legal |= {(card, None, after) for after in by_rank[card]}
    return legal or {(None, None, board)}


# --- move ids: judged literally -------------------------------------------------------------------------------------

_NUMBER = r"(?:0|[1-9][0-9]*)"
_FIELD = rf"(?:{_NUMBER}|[gp][0-3])"
_PART = rf"{_FIELD}>{_FIELD}"
_ID = re.compile(
    rf"(?:(?P<joker>joker)=)?(?P<rank>10|[2-9AJQK]):"
    rf"(?:(?P<out>out)|(?P<none>none)|(?P<own>{_NUMBER})<>(?P<other>{_NUMBER})|(?P<parts>{_PART}(?:,{_PART})*))"
)


def judge(rules: Rules, board: Board, seat: int, hand: list[str], move_id: str) -> Outcome:
    """The outcome of a move id, applied literally, or IllegalMove (BadNotation if it is not an id)."""
    if move_id == "fold":
        if legal_boards(rules, board, seat, hand) != {(None, None, board)}:
            raise IllegalMove("something can be played")
        return Outcome(board, "fold", id="fold")
    found = _ID.fullmatch(move_id) if move_id.isascii() else None
    if found is None:
        raise BadNotation(f"{move_id!r} is no move id")
    card, rank = found["joker"] or found["rank"], found["rank"]
    if card not in hand:
        raise IllegalMove(f"no {card} in the hand")
    mover = mover_of(rules, board, seat)
    if found["out"]:
        if rank not in ("A", "K"):
            raise IllegalMove(f"a piece cannot leave the kennel with {rank}")
        outcome = leave_kennel(rules, board, mover)
    elif found["none"]:
        if rank != "J":
            raise IllegalMove("only a jack can be played without effect")
        outcome = jack_without_effect(rules, board, mover)
    elif found["own"]:
        if rank != "J":
            raise IllegalMove("only a jack swaps")
        outcome = swap(rules, board, mover, int(found["own"]), int(found["other"]))
    elif rank == "J":
        raise IllegalMove("a jack only swaps")
    else:
        parts = [tuple(part.split(">")) for part in found["parts"].split(",")]
        if rank == "7":
            outcome = _judge_seven(rules, board, seat, parts)
        elif len(parts) != 1:
            raise IllegalMove("only a seven has several parts")
        else:
            outcome = _judge_walk(rules, board, seat, mover, rank, *parts[0])
    outcome.id = move_id
    return outcome


def _read_piece(rules: Rules, board: Board, seat: int, text: str) -> tuple[int, Place]:
    """The owner and the place of the piece that a part names."""
    if text[0] in "gp":
        owner = seat if text[0] == "g" else partner_of(rules, seat)
        number = int(text[1])
        if number not in board[owner].goal:
            raise IllegalMove(f"no piece on {text}")
        return owner, ("goal", number)
    owner_on_ring = seat_at(board, int(text))
    if owner_on_ring is None:
        raise IllegalMove(f"no piece on field {text}")
    return owner_on_ring, ("track", int(text))


def _read_target(rules: Rules, seat: int, owner: int, text: str) -> Place:
    """The place where the owner's piece is to end."""
    if text[0] in "gp":
        goal_owner = seat if text[0] == "g" else partner_of(rules, seat)
        if goal_owner != owner:
            raise IllegalMove("a piece enters no goal but its own")
        return "goal", int(text[1])
    if int(text) >= fields(rules):
        raise IllegalMove(f"there is no field {text}")
    return "track", int(text)


def _distance(rules: Rules, owner: int, origin: Place, target: Place) -> int:
    """How many forward steps lead from one place to the other."""
    if origin[0] == "goal":
        if target[0] != "goal":
            raise IllegalMove("no piece leaves the goal")
        return target[1] - origin[1]
    if target[0] == "goal":
        return (door_of(rules, owner) - origin[1]) % fields(rules) + 1 + target[1]
    return (target[1] - origin[1]) % fields(rules)


def _walk_to(rules: Rules, board: Board, owner: int, origin: Place, target: Place, steps: int) -> list[Place]:
    """The forward path of that many steps that ends on the target."""
    for path in forward_paths(rules, board, owner, origin, steps):
        if path[-1] == target:
            return path
    raise IllegalMove(f"{place_text(target)} cannot be reached from {place_text(origin)} in {steps}")


def _judge_walk(rules: Rules, board: Board, seat: int, mover: int, rank: str, from_: str, to: str) -> Outcome:
    owner, origin = _read_piece(rules, board, seat, from_)
    if owner != mover:
        raise IllegalMove(f"the piece on {from_} is not seat {mover}'s")
    target = _read_target(rules, seat, owner, to)
    steps = _distance(rules, owner, origin, target)
    if steps in FORWARD[rank]:
        kind, path = "advance", _walk_to(rules, board, owner, origin, target, steps)
    else:
        retreats = backward_paths(rules, board, owner, origin) if rank == "4" else []
        matching = [path for path in retreats if path[-1] == target]
        if not matching:
            raise IllegalMove(f"{to} cannot be reached from {from_} with {rank}")
        kind, steps, path = "retreat", 4, matching[0]
    after, captures = carry_out(rules, board, owner, origin, path, capture_passed=False)
    return Outcome(after, kind, [part_json(owner, place_text(origin), place_text(target), path)], captures)


def _judge_seven(rules: Rules, board: Board, seat: int, parts: list[tuple[str, ...]]) -> Outcome:
    outcome = Outcome(board, "seven")
    seven = begin_seven(rules, board, seat)
    for from_, to in parts:
        if seven_complete(rules, seven, seat):
            raise IllegalMove("no step is left for this part")
        owner, origin = _read_piece(rules, seven.board, seat, from_)
        if owner not in seven_seats(rules, seven.board, seat):
            raise IllegalMove(f"the piece on {from_} may not take a part")
        target = _read_target(rules, seat, owner, to)
        steps = _distance(rules, owner, origin, target)
        if not 1 <= steps <= seven.left:
            raise IllegalMove(f"{from_}>{to} is {steps} steps with {seven.left} left")
        path = _walk_to(rules, seven.board, owner, origin, target, steps)
        seven, captures = seven_part(rules, seven, seat, owner, origin, path)
        outcome.captures += captures
        outcome.parts.append(part_json(owner, place_text(origin), place_text(target), path))
    if not seven_complete(rules, seven, seat):
        raise IllegalMove(f"{seven.left} steps of the seven are not used")
    outcome.board = seven.board
    return outcome
