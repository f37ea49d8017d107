#!/usr/bin/env python3
"""Plays a seat of a game of DOG on a dog-server to the end. Needs nothing but Python 3.9.

usage: bot.py GAME TOKEN [URL]    (URL is http://127.0.0.1:8080 unless it is given)

It follows the game's stream, and whenever it may do something it does: it deals, gives a card in the
exchange, or plays the legal move that brings most pieces home, captures most and goes furthest.
"""

import json
import random
import sys
import time
import urllib.error
import urllib.request


class Seat:
    """A seat of a game, as its token sees it."""

    def __init__(self, url, game, token):
        self.game, self.token = f"{url}/v1/games/{game}", token

    def open(self, method, path, body=None, **headers):
        """Sends a request; whoever calls reads the answer."""
        headers = {"Authorization": f"Bearer {self.token}", **headers}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.game + path, data, headers, method=method)
        return urllib.request.urlopen(request, timeout=60)

    def get(self, path):
        with self.open("GET", path) as answer:
            return json.load(answer)

    def changes(self):
        """Yields whenever the game has changed, until it is over; goes on where a line breaks."""
        version, over = None, False
        while not over:
            resume = {} if version is None else {"Last-Event-ID": str(version)}
            try:
                with self.open("GET", "/events", Accept="application/x-ndjson", **resume) as lines:
                    if lines.status == 204:  # nothing comes after the last version of a game
                        return
                    for line in filter(None, map(bytes.strip, lines)):  # empty lines are heartbeats
                        change = json.loads(line)
                        version = change["version"]
                        events = change.get("events", [])
                        over = any(event["type"] == "game_won" for event in events)
                        over = over or change.get("phase") == "finished"
                        yield
            except urllib.error.HTTPError:
                raise  # the game is gone, or the token
            except OSError:
                time.sleep(1)

    def act(self):
        """Does what the seat may do now, if anything."""
        view = self.get("")
        for action in view["actions"]:
            route = action["route"]
            body = {"version": view["version"]}
            if route == "swap":
                body["card"] = random.choice(view["seats"][action["seat"]]["hand"])
            elif route == "play":
                moves = self.get("/legal-moves?board=false")["moves"]
                teams = [seat["team"] for seat in view["seats"]]
                body["move"] = max(moves, key=lambda move: worth(move, teams))["id"]
            self.open("POST", f"/{route}", body).close()


def worth(move, teams):
    """How much the bot likes a move; chance decides between equals."""
    own = sum(teams[piece["seat"]] == teams[move["seat"]] for piece in move["captures"])
    strangers = len(move["captures"]) - own
    home = sum(part["to"].startswith("goal") for part in move["parts"])
    steps = sum(part["steps"] for part in move["parts"])
    return (home - own + strangers, steps, random.random())


def main(game, token, url="http://127.0.0.1:8080"):
    seat = Seat(url.rstrip("/"), game, token)
    for _ in seat.changes():
        try:
            seat.act()
        except urllib.error.HTTPError as refused:
            if refused.code not in (409, 412):  # somebody was faster: there is more to come
                sys.exit(refused.read().decode())
    winner = seat.get("")["winner"]
    print(f"team {winner} has won")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
