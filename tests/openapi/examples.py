#!/usr/bin/env python3
"""Plays a game on a server that has no other games, and writes the examples of the OpenAPI document.

usage: tests/openapi/examples.py URL    (writes examples.json beside this file)

Examples of answers that do not come from the game are kept.
"""

import json
import pathlib
import sys
import threading
import time
import urllib.request

FILE = pathlib.Path(__file__).with_name("examples.json")
SEATS = [{"name": "Anna"}, {"kind": "open"}, {"name": "Carla"}, {"kind": "bot", "level": "fast"}]
CREATION = {"rules": {"preset": "hausregeln"}, "seats": SEATS, "first_dealer": 0}
URL = sys.argv[1]


def send(method, path, token=None, body=None, accept="application/json"):
    headers = {"Content-Type": "application/json", "Accept": accept}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(URL + path, data, headers, method=method))


def call(*request):
    with send(*request) as answer:
        return json.load(answer)


def is_telling(advice):
    """Whether there is something to say of the best of a few moves."""
    best, *others = advice["suggestions"]
    codes = [reason["code"] for reason in best["reasons"]]
    return 1 <= len(others) <= 3 and "captures" in codes and best["line"]


def play_game(examples):
    """Plays a game, and notes its answers. Returns whether there was a telling moment."""
    created = call("POST", "/v1/games", None, CREATION)
    game = f"/v1/games/{created['id']}"
    anna, carla, host = created["seat_tokens"][0], created["seat_tokens"][2], created["host_token"]
    join = {"invitation": created["invitation"], "name": "Eva"}
    joined = call("POST", f"{game}/join", None, join)
    tokens = [anna, joined["token"], carla]
    changes = []

    def follow():
        with send("GET", f"{game}/events", anna, None, "application/x-ndjson") as lines:
            changes.extend(json.loads(line) for line in lines if line.strip())

    stream = threading.Thread(target=follow, daemon=True)
    stream.start()
    dealt = call("POST", f"{game}/deal", anna, {})
    history = call("GET", f"{game}/history", anna)
    call("POST", f"{game}/swap", tokens[1], {"pass": True})
    call("POST", f"{game}/swap", anna, {"ask": True})
    card = call("GET", game, carla)["seats"][2]["hand"][0]
    call("POST", f"{game}/swap", carla, {"card": card})
    card = call("GET", game, anna)["seats"][0]["hand"][0]
    swapped = call("POST", f"{game}/swap", anna, {"card": card})
    found = None
    while (view := call("GET", game, anna))["phase"] != "finished":
        acting = [seat for seat in view["to_act"] if seat < 3]
        if not acting:
            time.sleep(0.02)  # the bot is to act
            continue
        level = "strong&budget_ms=200" if acting[0] == 0 and not found else "greedy"
        advice = call("GET", f"{game}/suggest-move?seed=1&level={level}", tokens[acting[0]]) if (
            view["phase"] in ("exchange", "play")) else None
        if not found and view["round"] > 1:
            return False
        if not found and acting[0] == 0 and view["phase"] == "play" and is_telling(advice):
            found = {
                "Advice": advice,
                "Game": view,
                "GameList": call("GET", "/v1/games?limit=1"),
                "LegalMoves": call("GET", f"{game}/legal-moves", anna),
                "PlayRequest": {"move": advice["suggestions"][0]["move"]["id"]},
            }
            found["Changed"] = call("POST", f"{game}/play", anna, found["PlayRequest"])
            bot = {"kind": "bot", "level": "fast"}
            found["SeatChanged"] = call("PUT", f"{game}/seats/0", anna, bot)
            call("PUT", f"{game}/seats/0", anna, {"kind": "human"})
            call("PATCH", game, host, {"bot_pace_ms": 0})
        elif advice is None:
            call("POST", f"{game}/deal", tokens[acting[0]], {})
        else:
            request = advice["suggestions"][0]["request"]
            call(request["method"], request["path"], tokens[acting[0]], request["body"])
    if not found:
        return False
    stream.join()
    version = found["Changed"]["version"]
    found["Change"] = next(line for line in changes if line.get("version") == version)
    now = ("phase", "turn", "to_act", "deadline")  # which older changes have not
    found["Change"] |= {name: found["Changed"]["game"][name] for name in now}
    head = {name: value for name, value in history.items() if name != "entries"}
    entry = history["entries"][-1]
    review = call("POST", f"{game}/review", anna)
    while not review["rounds"]:
        time.sleep(0.1)
        review = call("GET", f"{game}/review", anna)
    rematch = call("POST", f"{game}/rematch", anna, {"seats": [0, 2, 1, 3]})
    examples |= found | {
        "CreateGame": CREATION, "Created": created, "JoinRequest": join, "Joined": joined,
        "deal_cards": dealt, "swap_cards": swapped, "SwapRequest": {"card": card},
        "History": history, "HistoryHead": head, "HistoryLine": entry, "LogEntry": entry,
        "StreamMessage": found["Change"], "Review": review, "Rematch": rematch,
    }
    return True


def main():
    examples = json.loads(FILE.read_text())
    quick_join = {"rules": {"preset": "hausregeln"}, "name": "Eva"}
    examples["QuickJoined"] = call("POST", "/v1/join", None, quick_join)
    while not play_game(examples):
        pass
    FILE.write_text(json.dumps(examples, indent=2, ensure_ascii=False) + "\n")


main()
