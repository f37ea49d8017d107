#!/usr/bin/env python3
"""Plays one seat of a game on a dog-server until it is over. Needs Python 3.9 and nothing else.

usage: bot.py GAME TOKEN [URL]    (URL: http://127.0.0.1:8080 by default)

It deals, answers in the exchange at random, and plays the move with the most pieces home and
captured, then the most steps.
"""

import json
import random
import sys
import time
import urllib.error
import urllib.request

CHOICES = "card", "ask", "pass", "decline"
ENDS = "game_won", "table_won"


class Seat:
    """A seat of a game, by its token."""

    def __init__(self, url, game, token):
        self.game, self.token = f"{url}/v1/games/{game}", token
        self.newest = 0  # the newest version that an answer has told of

    def open(self, method, path, body=None, **headers):
        """Sends a request; the caller reads and closes the response."""
        headers = {"Dog-Token": self.token, "Content-Type": "application/json", **headers}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.game + path, data, headers, method=method)
        return urllib.request.urlopen(request, timeout=60)

    def get(self, path):
        with self.open("GET", path) as response:
            return json.load(response)

    def changes(self):
        """Yields after each change that is new, until the game is over; resumes a broken stream."""
        version, over = None, False
        while not over:
            resume = {} if version is None else {"Last-Event-ID": str(version)}
            try:
                with self.open("GET", "/events", Accept="application/x-ndjson", **resume) as lines:
                    if lines.status == 204:  # the last version has been received already
                        return
                    for line in filter(None, map(bytes.strip, lines)):  # empty lines are heartbeats
                        change = json.loads(line)
                        if change["type"] not in ("game", "change"):  # such as who is present
                            continue
                        version = change["version"]
                        ends = [event["type"] in ENDS for event in change.get("events", [])]
                        over = any(ends) or change.get("phase") == "finished"
                        if change["type"] == "game" or version >= self.newest:
                            yield
            except urllib.error.HTTPError:
                raise  # the game was removed, or the token replaced
            except OSError:
                time.sleep(1)

    def play(self):
        """Acts for the seat until the game is over."""
        for _ in self.changes():
            try:
                self.act()
            except urllib.error.HTTPError as refused:
                if refused.code not in (409, 412):  # another acted first: wait for the stream
                    sys.exit(refused.read().decode())

    def act(self):
        """Acts for the seat, if it may act now."""
        view = self.get("")
        self.newest = view["version"]
        for action in view["actions"]:
            route, body = action["route"], {"version": view["version"]}
            if route == "swap":  # without the version: others lay down their cards meanwhile
                choices = [choice for choice in action["choices"] if choice in CHOICES]
                if "pass" in choices and partner_is_first(view["seats"], action["seat"]):
                    return
                choice, cards = random.choice(choices), view["seats"][action["seat"]]["hand"]
                body = {"card": random.choice(cards)} if choice == "card" else {choice: True}
            elif route == "play":
                moves = self.get("/legal-moves?board=false")["moves"]
                teams = [seat["team"] for seat in view["seats"]]
                body["move"] = max(moves, key=lambda move: worth(move, teams))["id"]
            elif route != "deal":  # of a newer server
                continue
            with self.open("POST", f"/{route}", body) as answer:
                self.newest = json.load(answer)["version"]


def partner_is_first(seats, own):
    """Of two partners who may ask each other for a card, the lower seat decides first."""
    return any(
        seat["team"] == seats[own]["team"] and seat["exchange"] == "pending"
        and seat["kind"] == "human" and not seat["away"] and not seat["stand_in"]
        for seat in seats[:own]
    )


def worth(move, teams):
    """The value of a move; ties are broken at random."""
    own = sum(teams[piece["seat"]] == teams[move["seat"]] for piece in move["captures"])
    strangers = len(move["captures"]) - own
    home = sum(part["to"].startswith("goal") for part in move["parts"])
    steps = sum(part["steps"] for part in move["parts"])
    return (home - own + strangers, steps, random.random())


def main(game, token, url="http://127.0.0.1:8080"):
    seat = Seat(url.rstrip("/"), game, token)
    seat.play()
    print(f"team {seat.get('')['winner']} has won")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
