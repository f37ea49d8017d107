"""Black-box checker: compares a DOG server with the reference rules over HTTP.

    python3 check_server.py URL [--positions N] [--games M] [--seed S] [--max-actions A]

It posts N random positions to the analysis route, most with sevens to be judged, and plays M whole
random games, and prints every difference as a JSON object that holds all that is needed to repeat
it. Exit status 1 if there was any difference.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import random
import sys
import time
import traceback
from collections import Counter
from typing import Any, Optional
from urllib.parse import urlsplit

import dog_rules as dog
import dog_shuffle
from dog_exchange import ANSWERS, Exchange
from dog_rules import Board, Rules

MAX_DIFFERENCES = 10


class Difference(Exception):
    """The server and the reference disagree."""

    def __init__(self, what: str, **details: Any) -> None:
        super().__init__(what)
        self.what = what
        self.details = details


SHAPE_ERRORS = (KeyError, TypeError, AttributeError, IndexError, ValueError)


def shape_difference(error: Exception) -> Difference:
    """A response without the fields it must have ends up here (as would a slip of the checker's own)."""
    return Difference(f"a response has an unexpected shape: {error!r}", traceback=traceback.format_exc(limit=-4))


# --- HTTP -----------------------------------------------------------------------------------------------------------

class Client:
    """One kept-alive connection. Waits as 429 and 503 say."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url if "//" in url else "http://" + url)
        self.secure = parts.scheme == "https"
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port
        self.prefix = parts.path.rstrip("/")
        self.connection: Optional[http.client.HTTPConnection] = None
        self.requests = 0

    def call(self, method: str, path: str, body: Any = None, token: Optional[str] = None) -> tuple[int, Any]:
        """The status and the decoded JSON body of one request."""
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        safe_to_repeat = method == "GET" or path.startswith("/v1/analysis/")
        for attempt in range(30):
            try:
                response = self._send(method, path, data, headers)
                raw = response.read()
            except (ConnectionError, http.client.HTTPException):
                self.close()
                if not safe_to_repeat or attempt >= 2:
                    raise
                continue
            if response.status in (429, 503):
                time.sleep(min(10.0, float(response.headers.get("Retry-After") or 1)))
                continue
            if response.headers.get("Content-Encoding") == "gzip":
                raw = gzip.decompress(raw)
            try:
                return response.status, json.loads(raw) if raw else None
            except ValueError as error:
                raise Difference("the response is not JSON", path=path, status=response.status,
                                 text=raw[:500].decode("utf-8", "replace")) from error
        raise Difference("the server refuses for want of capacity", path=path)

    def _send(self, method: str, path: str, data: Optional[bytes], headers: dict[str, str]) -> Any:
        if self.connection is None:
            kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
            self.connection = kind(self.host, self.port, timeout=60)
        self.requests += 1
        self.connection.request(method, self.prefix + path, data, headers)
        return self.connection.getresponse()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


# --- random rules, boards and hands ---------------------------------------------------------------------------------

def random_rules_request(rng: random.Random) -> dict[str, Any]:
    """A preset and some overrides, of valid combinations only (§2)."""
    while True:
        request: dict[str, Any] = {"preset": rng.choice(list(dog.PRESETS))}
        if rng.random() < 0.4:
            request["seats"] = rng.choice((4, 6))
        density = rng.choice((0.0, 0.15, 0.5, 0.9))
        for name, values in dog.OPTION_VALUES.items():
            if name != "seats" and rng.random() < density:
                request[name] = rng.choice(values)
        if rng.random() < density:
            most = 17 if rng.random() < 0.1 else 7
            request["deal_sizes"] = {
                key: [rng.randint(1, most) for _ in range(rng.randint(1, 5))] for key in ("first", "then")
            }
        try:
            dog.rules_from_request(request)
        except dog.InvalidRules:
            continue
        return request


def random_board(rng: random.Random, rules: Rules, seat: int) -> Board:
    """A board biased to the interesting: crowds, starts, doors, half-full goals, one seat home."""
    while True:
        board = _random_board(rng, rules, seat)
        if dog.winner(rules, board) is None:
            return board


def _random_board(rng: random.Random, rules: Rules, seat: int) -> Board:
    ring, seats, per_seat = dog.fields(rules), rules["seats"], rules["fields_per_seat"]
    partner = dog.partner_of(rules, seat)
    style = rng.choice(
        ("spread", "crowd", "crowd", "home", "home", "late", "last", "last", "lonely", "lonely")
    )
    acting = partner if style == "home" else seat
    anchors = [rng.choice((dog.start_of(rules, acting), dog.start_of(rules, rng.randrange(seats)), rng.randrange(ring)))
               for _ in range(rng.randint(1, 3))]
    taken: set[int] = set()
    entries: list[dict[str, Any]] = [{} for _ in range(seats)]
    order = list(range(seats))
    rng.shuffle(order)
    for who in order:
        own_start = dog.start_of(rules, who)
        if style == "home" and who == seat:
            goals = dog.PIECES
        elif style == "last" and who == seat:
            goals = dog.PIECES - 1
        elif style == "late" and who in (seat, partner):
            goals = rng.choice((2, 3, 3, 4))
        else:
            goals = rng.choice((0, 0, 0, 1, 1, 2, 3))
        if style == "lonely" and who not in (seat, partner):
            in_kennel = dog.PIECES - goals - rng.choice((0, 1))
        elif style == "last" and who == seat:
            in_kennel = 0
        else:
            in_kennel = rng.choice((0, 0, 1, 1, 2, dog.PIECES))
        in_kennel = min(in_kennel, dog.PIECES - goals)
        track: list[int] = []
        for _ in range(dog.PIECES - goals - in_kennel):
            for _ in range(30):
                chance = rng.random()
                if style == "lonely" and who not in (seat, partner):
                    at = own_start
                elif style == "last" and who == seat:
                    at = (dog.door_of(rules, who) - rng.randrange(6)) % ring
                elif chance < 0.15:
                    at = own_start
                elif chance < 0.22:
                    at = per_seat * rng.randrange(seats)
                elif chance < 0.40:
                    at = (own_start + rng.randint(-9, 4)) % ring
                elif chance < 0.85 and style != "spread":
                    at = (rng.choice(anchors) + rng.randint(-8, 8)) % ring
                else:
                    at = rng.randrange(ring)
                if at not in taken:
                    taken.add(at)
                    track.append(at)
                    break
        entries[who] = {
            "track": track,
            "goal": rng.sample(range(dog.PIECES), goals),
            "fresh": own_start in track and rng.random() < 0.5,
        }
    return dog.make_board(rules, entries)


_HAND_WEIGHTS = {"7": 6, "joker": 4, "4": 5, "J": 4, "A": 4, "K": 2}


def random_hand(rng: random.Random, rules: Rules) -> list[str]:
    """One to six cards that the deck can hold, with many sevens, jokers, fours, jacks and aces."""
    weights = [_HAND_WEIGHTS.get(card, 1) for card in dog.CARDS]
    size = rng.choice((1, 1, 2, 2, 3, 4, 5, 6))
    while True:
        hand = rng.choices(dog.CARDS, weights, k=size)
        if hand.count("joker") <= rules["jokers"]:
            return hand


# --- comparing a list of legal moves --------------------------------------------------------------------------------

def read_board(rules: Rules, seats: Any) -> Board:
    """A board of the server's, checked to be written in full and in order."""
    try:
        board = dog.make_board(rules, seats)
    except (ValueError, TypeError, AttributeError) as error:
        raise Difference(f"the server shows an impossible board: {error}", board=seats) from error
    for entry, expected in zip(seats, dog.board_json(board)):
        if any(key not in entry or entry[key] != value for key, value in expected.items()):
            raise Difference("a board is not written in full and in order", entry=entry, expected=expected)
    return board


def move_json(legal: dog.LegalBoard) -> dict[str, Any]:
    return {"card": legal[0], "as": legal[1], "board": dog.board_json(legal[2])}


def compare_moves(
    rules: Rules, board: Board, seat: int, hand: list[str], response: dict[str, Any]
) -> dict[dog.LegalBoard, dict[str, Any]]:
    """Check a server's list of legal moves in every respect; the moves by (card, as, board)."""
    if response.get("seat") != seat:
        raise Difference("legal moves: wrong seat", got=response.get("seat"))
    expected = dog.legal_boards(rules, board, seat, hand)
    listed: dict[dog.LegalBoard, dict[str, Any]] = {}
    ids: set[str] = set()
    for move in response["moves"]:
        key = (move["card"], move["as"], read_board(rules, move["board"]))
        if key in listed:
            raise Difference("a move is listed twice", first=listed[key], second=move)
        if move["id"] in ids:
            raise Difference("an id is listed twice", move=move)
        ids.add(move["id"])
        listed[key] = move
    missing = [move_json(key) for key in expected if key not in listed]
    surplus = [move for key, move in listed.items() if key not in expected]
    if missing or surplus:
        raise Difference("the sets of legal moves differ", only_reference=missing[:20], only_server=surplus[:20],
                         reference_count=len(expected), server_count=len(listed))
    for key, move in listed.items():
        check_listed_move(rules, board, seat, hand, key, move)
    return listed


def check_listed_move(
    rules: Rules, board: Board, seat: int, hand: list[str], key: dog.LegalBoard, move: dict[str, Any]
) -> None:
    """The id of a listed move leads to its board; kind, parts and captures tell what happened."""
    try:
        outcome = dog.judge(rules, board, seat, hand, move["id"])
    except dog.IllegalMove as error:
        raise Difference(f"a listed id is illegal: {error}", move=move) from error
    if outcome.board != key[2]:
        raise Difference("an id leads to another board than listed", move=move, leads_to=dog.board_json(outcome.board))
    prefix = "fold" if key[0] is None else f"joker={key[1]}:" if key[0] == "joker" else f"{key[0]}:"
    if not move["id"].startswith(prefix):
        raise Difference("an id does not name its card", move=move)
    expected = {"kind": outcome.kind, "seat": seat, "parts": outcome.parts}
    for name, value in expected.items():
        if move[name] != value:
            raise Difference(f"a move's {name} is wrong", move=move, expected=value)

    def by_seat(captures: list[dict[str, Any]]) -> list[tuple[int, str]]:
        return sorted((c["seat"], c["from"]) for c in captures)

    if by_seat(move["captures"]) != by_seat(outcome.captures):
        raise Difference("a move's captures are wrong", move=move, expected=outcome.captures)


# --- (a) positions --------------------------------------------------------------------------------------------------

def check_position(client: Client, rng: random.Random) -> None:
    request = random_rules_request(rng)
    rules = dog.rules_from_request(request)
    seat = rng.randrange(rules["seats"])
    board, hand = random_board(rng, rules, seat), random_hand(rng, rules)
    body = {"rules": request, "board": dog.board_json(board), "seat": seat, "hand": hand}
    if rng.random() < 0.2:
        for entry in body["board"]:
            del entry["kennel"]
            if not entry["fresh"]:
                del entry["fresh"]
    try:
        status, response = client.call("POST", "/v1/analysis/legal-moves", body)
        if status != 200:
            raise Difference(f"the position is refused with {status}", response=response)
        try:
            compare_moves(rules, board, seat, hand, response)
            if "7" in hand:
                check_seven(client, rng, rules, board, seat, hand, body)
        except SHAPE_ERRORS as error:
            raise shape_difference(error) from error
    except Difference as difference:
        difference.details["request"] = body
        raise


def check_seven(
    client: Client, rng: random.Random, rules: Rules, board: Board, seat: int, hand: list[str],
    position: dict[str, Any],
) -> None:
    """Any seven, which may name pieces again, and one that only wider rules allow."""
    others = [random_seven(rng, wider_rules(rng, rules), board, seat) for _ in range(6)]
    strays = [move for move in others if move and not legal(rules, board, seat, hand, move)]
    for move_id in (random_seven(rng, rules, board, seat), *strays[:1]):
        if move_id is None:
            continue
        body = {**position, "begun": move_id}
        status, response = client.call("POST", "/v1/analysis/legal-moves/seven", body)
        try:
            outcome = dog.judge(rules, board, seat, hand, move_id)
        except dog.IllegalMove as illegal:
            reason = only_reason(rules, board, seat, hand, move_id, illegal)
            check_refusal(status, response, (422,), "illegal_move", reason, move=move_id)
            continue
        if status != 200:
            raise Difference("a legal seven is refused", move=move_id, response=response)
        if response["left"] != 0 or read_board(rules, response["board"]) != outcome.board:
            raise Difference("a seven leads to another board", move=move_id, response=response,
                             expected=dog.board_json(outcome.board))


# Rules that allow more: what only they allow is illegal by others, often for one reason alone.
WIDER: tuple[Rules, ...] = (
    {"capture_own": True}, {"seven_rest": "any_pieces"}, {"seven_landing": "captures"},
    {"seven_rest": "any_pieces", "capture_own": True, "seven_landing": "captures"},
    {"seven_rest": "any_pieces", "seven_partner": "always"}, {"backward_into_goal": True}, {"fresh_into_goal": True},
    {"jack_own_pair": True, "start_swap_protection": "fresh"},
    {"jack_without_effect": True, "jack_without_effect_when": "no_swap_possible"},
)


def wider_rules(rng: random.Random, rules: Rules) -> Rules:
    """These rules with something more allowed, if there is anything."""
    wider = [{**rules, **options} for options in WIDER]
    return rng.choice([other for other in wider if other != rules] or [rules])


# The options without which there would not be this reason.
WITHOUT_REASON: dict[str, Rules] = {
    "own_piece": {"capture_own": True}, "one_piece_only": {"seven_rest": "any_pieces"},
    "fresh_piece": {"fresh_into_goal": True},
}


def only_reason(
    rules: Rules, board: Board, seat: int, hand: list[str], move_id: str, illegal: dog.IllegalMove
) -> Optional[str]:
    """The reason of an illegal move if it is the only one: without the option it is legal."""
    # A path into the goal that is not there has no reason of its own.
    reason = illegal.reason or "fresh_piece"
    if reason not in WITHOUT_REASON:
        return None
    without = {**rules, **WITHOUT_REASON[reason]}
    return reason if legal(without, board, seat, hand, move_id) else None


def legal(rules: Rules, board: Board, seat: int, hand: list[str], move_id: str) -> bool:
    try:
        dog.judge(rules, board, seat, hand, move_id)
    except dog.IllegalMove:
        return False
    return True


def check_refusal(
    status: int, response: Any, statuses: tuple[int, ...], code: Optional[str],
    reason: Optional[str] = None, **details: Any,
) -> None:
    """A refusal has one of the statuses and, unless None, this code and reason."""
    got = response if isinstance(response, dict) else {}
    if (
        status not in statuses
        or code is not None and got.get("code") != code
        or reason is not None and got.get("reason") != reason
    ):
        raise Difference("a refusal is not as expected", statuses=statuses, code=code,
                         reason=reason, got=[status, response], **details)


# --- (b) games ------------------------------------------------------------------------------------------------------

class Game:
    """The reference's own model of one game, kept in step with the server's by `apply_*` and compared by `check_*`."""

    def __init__(self, client: Client, rng: random.Random) -> None:
        self.client, self.rng = client, rng
        self.log: list[dict[str, Any]] = []
        request = random_rules_request(rng)
        self.rules = dog.rules_from_request(request)
        self.seats: int = self.rules["seats"]
        self.seed = rng.randbytes(32)
        first_dealer = rng.choice((None, rng.randrange(self.seats)))
        self.creation: dict[str, Any] = {
            "rules": request,
            "seats": [{"kind": "human", "name": f"Seat {n}"} for n in range(self.seats)],
            "shuffle_seed": self.seed.hex(),
            "listed": False,
        }
        if first_dealer is not None:
            self.creation["first_dealer"] = first_dealer

        self.deals = dog_shuffle.deals(self.seed, self.rules, first_dealer)
        self.next_deal = next(self.deals)
        self.board = dog.empty_board(self.rules)
        self.hands: list[list[str]] = [[] for _ in range(self.seats)]
        self.folded = [False] * self.seats
        self.stock = 104 + self.rules["jokers"]
        self.discards: Counter[str] = Counter()
        self.phase = "deal"
        self.round, self.dealer, self.beginner = 0, self.next_deal.dealer, self.next_deal.beginner
        self.turn: Optional[int] = None
        self.winner: Optional[int] = None
        self.version = 1
        self.answers = Exchange(self.rules)

        status, response = client.call("POST", "/v1/games", self.creation)
        if status != 201:
            raise Difference(f"creating a game is refused with {status}", creation=self.creation, response=response)
        self.id: str = response["id"]
        self.tokens: list[str] = response["seat_tokens"]
        self.host: str = response["host_token"]
        self.check_views(everyone=True)

    # -- the server's side --

    def path(self, rest: str = "") -> str:
        return f"/v1/games/{self.id}{rest}"

    def post(self, rest: str, body: Any, token: str, who: str) -> tuple[int, Any]:
        status, response = self.client.call("POST", self.path(rest), body, token)
        self.log.append({"as": who, "post": rest, "body": body, "status": status})
        return status, response

    def act(self, rest: str, body: Any, token: str, who: str) -> Any:
        """An action that must be accepted; it makes one version. Returns the response."""
        status, response = self.post(rest, body, token, who)
        if status not in (200, 201):
            raise Difference(f"a legal action is refused with {status}", response=response)
        self.version += 1
        if isinstance(response, dict) and "version" in response and response["version"] != self.version:
            raise Difference("the response to an action has the wrong version", got=response["version"], expected=self.version)
        return response

    def refused(
        self, rest: str, body: Any, seat: int, statuses: tuple[int, ...],
        code: Optional[str] = None, reason: Optional[str] = None,
    ) -> None:
        """An action that must be refused and change nothing."""
        status, response = self.post(rest, body, self.tokens[seat], f"seat {seat}")
        check_refusal(status, response, statuses, code, reason)
        self.check_views()

    # -- comparing views --

    def check_views(self, everyone: bool = False) -> None:
        """Compare the views of all viewers, or of the seat to move and one other."""
        viewers: list[Optional[int]] = [*range(self.seats), None]
        if not everyone:
            other = self.rng.choice(viewers)
            viewers = [other] if self.turn is None or self.turn == other else [self.turn, other]
        for viewer in viewers:
            self.check_view(viewer)

    def check_view(self, viewer: Optional[int]) -> dict[str, Any]:
        """One GET of the game compared with the model; `viewer` None is the spectator or the host."""
        token = self.tokens[viewer] if viewer is not None else self.rng.choice((None, self.host))
        status, view = self.client.call("GET", self.path(), token=token)
        if status != 200:
            raise Difference(f"a view is refused with {status}", viewer=viewer, response=view)
        playing = self.phase in ("exchange", "play")
        expected: dict[str, Any] = {
            "id": self.id, "version": self.version, "phase": self.phase, "turn": self.turn,
            "stock": self.stock, "winner": self.winner,
            "shuffle_commitment": dog_shuffle.commitment(self.seed),
            "shuffle_seed": self.seed.hex() if self.phase == "finished" else None,
        }
        if self.phase != "finished":
            expected["dealer"] = self.dealer
        if playing:
            expected |= {"round": self.round, "beginner": self.beginner}
        got: dict[str, Any] = {name: view.get(name) for name in expected}
        if self.phase == "deal" and view.get("round") not in (max(self.round, 1), self.round + 1):
            expected["round"], got["round"] = self.round + 1, view.get("round")
        got["discards"] = {card: n for card, n in view["discards"].items() if n}
        expected["discards"] = {card: n for card, n in self.discards.items() if n}
        got["board"] = dog.board_json(read_board(self.rules, view["board"]))
        expected["board"] = dog.board_json(self.board)
        for name in dog.PRESETS["dogspiel-it"]:
            got[f"rules.{name}"] = view["rules"].get(name, dog.DEFAULTS.get(name))
            expected[f"rules.{name}"] = self.rules[name]
        if self.phase == "exchange":
            swaps = [action for action in view["actions"] if action["route"] == "swap"]
            got["choices"] = [sorted(action["choices"]) for action in swaps]
            choices = sorted(self.answers.choices(viewer)) if viewer is not None else []
            expected["choices"] = [choices] if choices else []
        for n, entry in enumerate(view["seats"]):
            mine = n == viewer
            hand = entry.get("hand")
            seat_got = {"seat": entry.get("seat"), "team": entry.get("team"), "cards": entry.get("cards"),
                        "hand": dog_shuffle.by_rank(hand) if hand is not None else None}
            seat_expected = {"seat": n, "team": dog.team_of(self.rules, n), "cards": len(self.hands[n]),
                             "hand": dog_shuffle.by_rank(self.hands[n]) if mine else None}
            if playing:
                seat_got["folded"], seat_expected["folded"] = entry.get("folded"), self.folded[n]
                seat_got["exchange"] = entry.get("exchange")
                seat_expected["exchange"] = self.answers.state(n)
            got[f"seats[{n}]"], expected[f"seats[{n}]"] = seat_got, seat_expected
        if len(view["seats"]) != self.seats:
            raise Difference("a view has the wrong number of seats", view=view)
        wrong = {name: {"got": got[name], "expected": expected[name]} for name in expected if got[name] != expected[name]}
        if wrong:
            raise Difference("a view is wrong", viewer=viewer, wrong=wrong)
        return view

    # -- the phases --

    def deal(self) -> None:
        deal = self.next_deal
        by_host = self.rng.random() < 0.5
        token = self.host if by_host else self.tokens[deal.dealer]
        response = self.act("/deal", {}, token, "host" if by_host else f"seat {deal.dealer}")
        for event in response["events"]:
            if event["type"] == "cards_dealt" and event["reshuffled"] != deal.reshuffled:
                raise Difference("a deal is wrong", event=event, reshuffled=deal.reshuffled)
        self.hands = [list(hand) for hand in deal.hands]
        self.folded = [False] * self.seats
        self.round, self.dealer, self.beginner, self.stock = deal.round, deal.dealer, deal.beginner, deal.stock
        if deal.reshuffled:
            self.discards.clear()
        self.next_deal = next(self.deals)
        self.answers = Exchange(self.rules)
        self.phase = "exchange"
        self.check_views(everyone=True)

    def exchange(self) -> None:
        """Answers of seats that may answer, in random order, and now and then any other."""
        while self.phase == "exchange":
            if self.rng.random() < 0.3:
                self.answer(self.rng.randrange(self.seats), self.rng.choice(ANSWERS))
                continue
            seat = self.rng.choice([s for s in range(self.seats) if self.answers.choices(s)])
            choices = sorted(self.answers.choices(seat))
            # Most passes and declines are left out, or hardly any cards would be swapped.
            if len(choices) > 1 and self.rng.random() < 0.5:
                choices = [choice for choice in choices if choice in ("ask", "card")]
            self.answer(seat, self.rng.choice(choices))
        self.check_views(everyone=True)

    def answer(self, seat: int, answer: str) -> None:
        """One answer, which the exchange accepts or refuses, and what all see of it."""
        refusal = self.answers.refusal(seat, answer)
        # What the exchange refuses is refused before the card is looked at.
        anything = answer == "card" and self.rng.random() < (0.5 if refusal else 0.05)
        card = self.rng.choice(dog.CARDS if anything else self.hands[seat])
        body: dict[str, Any] = {"card": card} if answer == "card" else {answer: True}
        if refusal is not None:
            # RULES §7.3 has the reasons of on_request, and for the other values only some.
            known = self.answers.kind == "on_request" or refusal.status == 422
            reason = refusal.reason if known else None
            self.refused("/swap", body, seat, (refusal.status,), refusal.code, reason)
            return
        if answer == "card" and card not in self.hands[seat]:
            self.refused("/swap", body, seat, (422,), "card_not_in_hand")
            return
        response = self.act("/swap", body, self.tokens[seat], f"seat {seat}")
        events = self.answers.answer(seat, answer, card)
        got = [event["type"] for event in response["events"]]
        first = response["events"][0]
        if got[: len(events)] != events or first["seat"] != seat:
            raise Difference("the events of an answer are wrong", got=response["events"],
                             expected=events, seat=seat)
        if answer == "card":
            self.swap_pair(seat)
        if self.answers.done():
            self.phase, self.turn = "play", self.beginner
        self.check_views()

    def swap_pair(self, seat: int) -> None:
        """§7.3: the pair swaps at once when both have offered."""
        if not self.answers.swapped(seat):
            return
        partner = dog.partner_of(self.rules, seat)
        for giver, taker in ((seat, partner), (partner, seat)):
            self.hands[giver].remove(self.answers.offers[giver])
            self.hands[taker].append(self.answers.offers[giver])

    def play(self) -> None:
        """One turn: the list of legal moves compared, perhaps something refused, and a random move."""
        seat, rng = self.turn, self.rng
        assert seat is not None
        hand = self.hands[seat]
        status, response = self.client.call("GET", self.path("/legal-moves"), token=self.tokens[seat])
        if status != 200:
            raise Difference(f"legal moves are refused with {status}", seat=seat, response=response)
        if response.get("version") != self.version:
            raise Difference("legal moves: wrong version", got=response.get("version"), expected=self.version)
        listed = compare_moves(self.rules, self.board, seat, hand, response)

        if rng.random() < 0.10:
            self.post_illegal(seat, listed)
        if rng.random() < 0.03:
            other = rng.choice([s for s in range(self.seats) if s != seat])
            move_id = rng.choice(list(listed.values()))["id"]
            self.refused("/play", {"move": move_id}, other, (409,), "not_your_turn")

        card = rng.choice(sorted({key[0] or "" for key in listed}))
        key = rng.choice(sorted((k for k in listed if (k[0] or "") == card), key=repr))
        move_id = listed[key]["id"]
        if rng.random() < 0.15:
            move_id = other_id(rng, self.rules, self.board, seat, hand, key) or move_id
        outcome = dog.judge(self.rules, self.board, seat, hand, move_id)
        self.act("/play", {"move": move_id}, self.tokens[seat], f"seat {seat}")
        self.apply_move(seat, outcome, key[0])
        self.check_views(everyone=self.phase != "play" or rng.random() < 0.03)

    def apply_move(self, seat: int, outcome: dog.Outcome, card: Optional[str]) -> None:
        if card is None:
            self.discards.update(self.hands[seat])
            self.hands[seat] = []
            self.folded[seat] = True
        else:
            self.hands[seat].remove(card)
            self.discards[card] += 1
        self.board = outcome.board
        self.winner = dog.winner(self.rules, self.board)
        if self.winner is not None:
            self.phase, self.turn = "finished", None
            return
        for step in range(1, self.seats + 1):
            following = (seat + step) % self.seats
            if self.hands[following]:
                self.turn = following
                return
        self.phase, self.turn, self.dealer = "deal", None, self.next_deal.dealer

    def post_illegal(self, seat: int, listed: dict[dog.LegalBoard, dict[str, Any]]) -> None:
        """Post an id that the reference finds illegal: 422, and nothing changes."""
        hand = self.hands[seat]
        move_id = forbidden(self.rng, self.rules, self.board, seat, hand)
        if move_id is None or self.rng.random() < 0.5:
            ids = [move["id"] for move in listed.values()]
            move_id = mangled(self.rng, self.rules, self.board, seat, ids)
        try:
            dog.judge(self.rules, self.board, seat, hand, move_id)
        except dog.BadNotation:
            self.refused("/play", {"move": move_id}, seat, (422,))
        except dog.IllegalMove as illegal:
            reason = only_reason(self.rules, self.board, seat, hand, move_id, illegal)
            self.refused("/play", {"move": move_id}, seat, (422,), "illegal_move", reason)

    def finish(self) -> None:
        """After the end the seed is public (checked with the views) and nothing can be played."""
        self.check_views(everyone=True)
        self.refused("/play", {"move": "fold"}, 0, (409,), "game_over")

    def run(self, max_actions: int) -> None:
        while self.phase != "finished" and self.version < max_actions:
            {"deal": self.deal, "exchange": self.exchange, "play": self.play}[self.phase]()
        if self.phase == "finished":
            self.finish()


def other_id(
    rng: random.Random, rules: Rules, board: Board, seat: int, hand: list[str], key: dog.LegalBoard
) -> Optional[str]:
    """An id for the same card, found by the reference's own search: for a seven any legal list of parts."""
    card, announced, _ = key
    if card is None:
        return None
    return found_id(rng, rules, board, seat, card, announced or card)


def forbidden(
    rng: random.Random, rules: Rules, board: Board, seat: int, hand: list[str]
) -> Optional[str]:
    """An id that is legal by wider rules, and perhaps by these."""
    card = rng.choice(hand)
    rank = rng.choice(dog.RANKS) if card == "joker" else card
    return found_id(rng, wider_rules(rng, rules), board, seat, card, rank)


def found_id(
    rng: random.Random, rules: Rules, board: Board, seat: int, card: str, rank: str
) -> Optional[str]:
    if rank == "7":
        body = random_seven(rng, rules, board, seat)
    else:
        ids = [outcome.id for outcome in dog.plays(rules, board, seat, rank)]
        body = rng.choice(ids) if ids else None
    if body is None:
        return None
    return f"joker={body}" if card == "joker" else body


def random_seven(rng: random.Random, rules: Rules, board: Board, seat: int) -> Optional[str]:
    """A random legal list of a seven's parts, which may name a piece again."""
    for _ in range(20):
        seven, texts = dog.begin_seven(rules, board, seat), []
        while not dog.seven_complete(rules, seven, seat):
            choices = list(dog.seven_parts(rules, seven, seat))
            if not choices:
                break
            owner, origin, path, seven = rng.choice(choices)
            texts.append(f"{dog.id_place(seat, owner, origin)}>{dog.id_place(seat, owner, path[-1])}")
        else:
            return "7:" + ",".join(texts)
    return None


def mangled(rng: random.Random, rules: Rules, board: Board, seat: int, ids: list[str]) -> str:
    """An id that is probably illegal: a legal one spoilt, or one made up."""
    move_id = rng.choice(ids)
    ring = dog.fields(rules)
    on_ring = [f for pieces in board for f in pieces.track] or [0]
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice((" " + move_id, move_id + " ", move_id.replace(":", ": "), move_id.replace(",", ", "), ""))
    if kind == 1:
        return move_id.replace(":", ":0", 1) if ":" in move_id else move_id.upper()
    if kind == 2:
        head, _, body = move_id.partition(":")
        own, sep, other = body.partition("<>")
        return f"{head}:{other}<>{own}" if sep else f"{head}:{body},{body}"
    if kind == 3:
        head, _, body = move_id.partition(":")
        return f"{rng.choice(dog.RANKS)}:{body}"
    if kind == 4:
        rank = rng.choice(dog.RANKS)
        origin = rng.choice(on_ring)
        return f"{rank}:{origin}>{(origin + rng.choice((1, 2, 3, 4, 5, 8, 9, 10, 12, 13, -4))) % ring}"
    if kind == 5:
        return rng.choice(("fold", "J:none", "K:out", "A:out", "joker=A:out", "joker=fold", "joker=joker:out", "7:", "x"))
    if kind == 6:
        origin, other = rng.choice(on_ring), rng.choice(on_ring)
        return rng.choice((f"J:{origin}<>{other}", f"{rng.choice(dog.RANKS)}:{origin}>{rng.choice('gp')}{rng.randrange(5)}",
                           f"{rng.choice(dog.RANKS)}:{rng.choice('gp')}0>{rng.choice('gp')}{rng.randrange(5)}"))
    parts = move_id.split(",")
    rng.shuffle(parts)
    return ",".join(parts[: rng.randint(1, len(parts))])


# --- the command ----------------------------------------------------------------------------------------------------

def report(difference: Difference) -> None:
    print(json.dumps({"difference": difference.what, **difference.details}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--games", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-actions", type=int, default=20000, help="give a game up after this many versions")
    arguments = parser.parse_args()
    client = Client(arguments.url)
    differences = positions = games = finished = actions = 0
    for n in range(arguments.positions):
        try:
            check_position(client, random.Random(f"{arguments.seed}/position/{n}"))
        except Difference as difference:
            differences += 1
            difference.details["number"] = n
            report(difference)
        positions += 1
        if differences >= MAX_DIFFERENCES:
            break
    for n in range(arguments.games):
        if differences >= MAX_DIFFERENCES:
            break
        game: Optional[Game] = None
        try:
            try:
                game = Game(client, random.Random(f"{arguments.seed}/game/{n}"))
                game.run(arguments.max_actions)
                actions += game.version
                finished += game.phase == "finished"
            except SHAPE_ERRORS as error:
                raise shape_difference(error) from error
        except Difference as difference:
            differences += 1
            difference.details["number"] = n
            difference.details["seed"] = arguments.seed
            if game is not None:
                difference.details |= {
                    "game": game.id, "creation": game.creation, "version": game.version, "turn": game.turn,
                    "hands": game.hands, "board": dog.board_json(game.board), "log": game.log,
                }
            report(difference)
        games += 1
    print(f"{positions} positions, {games} games, {differences} differences "
          f"({finished} games to the end, {actions} versions, {client.requests} requests)")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
