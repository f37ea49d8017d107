"""What schemathesis has to know beside the document: which token opens which game.

A token is shown once, in the answer to a creation. These hooks keep what they see there and put into each
request the token of somebody who may make it: the host deals, the seat to move plays.
"""

import os
import pathlib
import random

import requests
import schemathesis

BASE = os.environ["DOG_URL"]
RECORD = pathlib.Path(__file__).parent.parent / "records" / "four.dog"
chance = random.Random(1)
PLACEHOLDER = "Bearer the-right-one"

# What the games that were created are opened with: the host's token and the seats'.
games = {}

# A game that is over: its stream ends by itself.
finished = requests.post(
    f"{BASE}/v1/games/import", data=RECORD.read_bytes(), headers={"Content-Type": "text/plain"}, timeout=60
).json()
games[finished["id"]] = {"host": finished["host_token"], "seats": finished["seat_tokens"]}


@schemathesis.auth()
class Token:
    """Says that a request has a token; which one follows when it is sent."""

    def get(self, case, context):
        return PLACEHOLDER

    def set(self, case, data, context):
        case.headers["Authorization"] = data


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw.get("operationId")
    if case.operation.definition.raw.get("security") is None:
        # Whoever asks for no game needs no token.
        if case.headers and case.headers.get("Authorization") == PLACEHOLDER:
            del case.headers["Authorization"]
        return
    path = case.path_parameters or {}
    game = path.get("id")
    good = case.meta is None or case.meta.generation.mode.is_positive
    if "id" in path and game not in games and good and chance.random() < 0.8:
        # An id made up is no game's: take one that was created, or most requests would end there.
        game = path["id"] = chance.choice(list(games)[-3:])
    # Else each of these would wait for as long as a server may be asked to wait.
    if game in games and operation == "stream_events":
        game = case.path_parameters["id"] = finished["id"]
    if game in games and operation == "get_game" and case.query and "after_version" in case.query:
        game = case.path_parameters["id"] = finished["id"]
        case.query["after_version"] = 0
    if case.headers and case.headers.get("Authorization") == PLACEHOLDER:
        case.headers["Authorization"] = f"Bearer {token(operation, game, path.get('seat'))}"


def token(operation, game, seat):
    """The token of somebody who may do this in that game."""
    tokens = games.get(game) or next(iter(games.values()))
    host, seats = tokens["host"], [token for token in tokens["seats"] if token]
    if operation == "reissue_token" and str(seat).isdigit() and int(seat) < len(seats):
        return chance.choice([host, tokens["seats"][int(seat)]])
    if operation in ("deal_cards", "delete_game", "hand_over_seat", "reissue_token") or not seats:
        return host
    if operation in ("swap_cards", "play_move", "list_legal_moves", "suggest_move") and game in games:
        view = requests.get(f"{BASE}/v1/games/{game}", timeout=60).json()
        if view.get("turn") is not None:
            return tokens["seats"][view["turn"]] or host
    return chance.choice(seats)


@schemathesis.hook
def after_call(context, case, response):
    operation = case.operation.definition.raw.get("operationId")
    if response.status_code not in (200, 201) or response.request.method != case.operation.method.upper():
        return
    if operation in ("create_game", "import_game"):
        created = response.json()
        games[created["id"]] = {"host": created["host_token"], "seats": created["seat_tokens"]}
    elif operation == "reissue_token":
        fresh = response.json()
        tokens = games.get((case.path_parameters or {}).get("id"))
        if tokens:
            tokens["seats"][fresh["seat"]] = fresh["token"]
