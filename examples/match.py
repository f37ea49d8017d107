#!/usr/bin/env python3
"""How good is a bot? The bot of bot.py against a level of the server, with the same cards twice.

usage: match.py [LEVEL [PAIRS [URL]]]    (fast, 32 and http://127.0.0.1:8080 by default)

Each table has a process of its own, so that the bot cannot know what it has seen at the other table
of the pair. Put another bot in place of `Seat.play`. Needs Python 3.9 and nothing else.
"""

import json
import multiprocessing
import os
import sys
import threading
import urllib.request
import uuid

from bot import Seat

LEVEL, PAIRS, URL = (sys.argv[1:] + ["fast", "32", "http://127.0.0.1:8080"][len(sys.argv) - 1 :])[:3]


def call(method, path, body=None, **headers):
    headers = {"Content-Type": "application/json", "Dog-Key": os.environ.get("DOG_KEY", ""), **headers}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/v1{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def play(table):
    """Plays the open seats of a table, each in a thread."""
    seats = []
    for invitation in filter(None, table["invitations"]):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        joined = call("POST", f"/games/{table['id']}/join", {"invitation": invitation}, **key)
        seats.append(Seat(URL, table["id"], joined["token"]))
    threads = [threading.Thread(target=seat.play) for seat in seats]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    sides = [{"name": "bot.py", "kind": "open"}, {"name": LEVEL, "kind": "bot", "level": LEVEL}]
    body = {"pairs": int(PAIRS), "turn_seconds": 60, "bot_pace_ms": 0, "sides": sides}
    match = call("POST", "/matches", body, **{"Idempotency-Key": str(uuid.uuid4())})
    tables = [table for pair in match["pairs"] for table in pair["tables"]]
    with multiprocessing.Pool(8, maxtasksperchild=1) as processes:
        for done, _ in enumerate(processes.imap_unordered(play, tables), 1):
            print(f"\r{done} of {len(tables)} games", end="", file=sys.stderr)
    print(file=sys.stderr)
    result = call("GET", f"/matches/{match['id']}")
    for side in result["sides"]:
        score, low, high = (100 * side[name] for name in ("score", "low", "high"))
        print(f"{side['name']:8} {score:5.1f}% ({low:.1f}-{high:.1f}), margin {side['margin']:+.2f}")


if __name__ == "__main__":
    main()
