"""Hooks for schemathesis that supply what the document cannot: the tokens of games.

A token is shown once, in the response to a creation. These hooks save it there, and give each request
the token of a caller who may send it: the host deals, the seat to move plays. Valid requests are about
existing games, and every other move is legal, so that requests get beyond "no such game" and "illegal
move". Invalid requests are not changed.
"""

import os
import pathlib
import random
import uuid

import requests
import schemathesis

BASE = os.environ["DOG_URL"]
RECORD = pathlib.Path(__file__).parent.parent / "records" / "four.dog"
PLACEHOLDER = "Bearer the-right-one"
TURN = ("swap_cards", "play_move", "list_legal_moves", "list_seven_parts", "suggest_move")
chance = random.Random(1)

# The tokens of the host and of the seats, for each game created so far.
games = {}


def ask(method, path, token=None, **more):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers.update(more.pop("headers", {}))
    return requests.request(method, BASE + path, headers=headers, timeout=60, **more).json()


def keep(created):
    games[created["id"]] = {"host": created["host_token"], "seats": created["seat_tokens"]}
    return created["id"]


def prepared(preset, phase):
    """Creates a game and brings it to this phase."""
    game = keep(ask("POST", "/v1/games", json={"rules": {"preset": preset}}))
    path = f"/v1/games/{game}"
    if phase != "deal":
        ask("POST", f"{path}/deal", games[game]["host"])
    if phase == "play":
        while (view := ask("GET", path))["phase"] == "exchange":
            token = games[game]["seats"][view["to_act"][0]]
            request = ask("GET", f"{path}/suggest-move?level=greedy", token)["suggestions"][0]["request"]
            ask("POST", request["path"], token, json=request["body"])
    return game


# A finished game, whose stream ends by itself, and some in every phase.
finished = keep(ask("POST", "/v1/games/import", data=RECORD.read_bytes(), headers={"Content-Type": "text/plain"}))
lasting = [
    finished,
    *(
        prepared(preset, phase)
        for preset in ("hausregeln", "dogspiel-de")
        for phase in ("deal", "exchange", "play", "play")
    ),
]


@schemathesis.auth()
class Token:
    """Marks a request as having a token; `before_call` fills it in."""

    def get(self, case, context):
        return PLACEHOLDER

    def set(self, case, data, context):
        case.headers["Authorization"] = data


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw.get("operationId")
    headers, path = case.headers, case.path_parameters or {}
    good = case.meta is None or case.meta.generation.mode.is_positive
    if good and headers and "Idempotency-Key" in headers and chance.random() < 0.5:
        headers["Idempotency-Key"] = str(uuid.UUID(int=chance.getrandbits(128)))
    if case.operation.definition.raw.get("security") is None:
        # A request that is about no game needs no token.
        if headers and headers.get("Authorization") == PLACEHOLDER:
            del headers["Authorization"]
        return
    game = path.get("id")
    if "id" in path and game not in games and good and chance.random() < 0.9:
        young = list(games)[-2:]
        game = path["id"] = chance.choice(young if operation == "delete_game" else lasting + young)
    # Other games would make each of these requests wait for the longest time allowed.
    if game in games and operation == "stream_events":
        game = path["id"] = finished
    if game in games and operation == "get_game" and case.query and "after_version" in case.query:
        game = path["id"] = finished
        case.query["after_version"] = 0
    if not headers or headers.get("Authorization") != PLACEHOLDER:
        return
    token = token_for(operation, game, path.get("seat"))
    headers["Authorization"] = f"Bearer {token}"
    if operation == "play_move" and good and isinstance(case.body, dict) and chance.random() < 0.5:
        moves = ask("GET", f"/v1/games/{game}/legal-moves?board=false", token).get("moves")
        if moves:
            case.body["move"] = chance.choice(moves)["id"]


def token_for(operation, game, seat):
    """The token of a caller who may do this in that game."""
    tokens = games.get(game) or games[finished]
    host, seats = tokens["host"], [token for token in tokens["seats"] if token]
    if operation == "reissue_token" and str(seat).isdigit() and int(seat) < len(tokens["seats"]):
        return chance.choice([host, tokens["seats"][int(seat)] or host])
    if operation in ("deal_cards", "delete_game", "hand_over_seat", "reissue_token") or not seats:
        return host
    if operation in TURN and game in games:
        for seat in ask("GET", f"/v1/games/{game}").get("to_act", []):
            return tokens["seats"][seat] or host
    return chance.choice(seats)


@schemathesis.hook
def after_call(context, case, response):
    operation = case.operation.definition.raw.get("operationId")
    if response.status_code not in (200, 201) or response.request.method != case.operation.method.upper():
        return
    if operation in ("create_game", "import_game"):
        keep(response.json())
    elif operation == "reissue_token":
        tokens = games.get((case.path_parameters or {}).get("id"))
        if tokens:
            fresh = response.json()
            tokens["seats"][fresh["seat"]] = fresh["token"]
