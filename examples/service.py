#!/usr/bin/env python3
"""A service with accounts of its own: sixteen tables at once, and their standings.

usage: service.py [URL]    (http://127.0.0.1:8080 by default; needs Python 3.9 and nothing else)

It keeps no table of who plays where: each seat has its account as `data`. Bots play here for the
people; a real service makes the seats human, and gives each account the token of its seat.
"""

import collections
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

ACCOUNTS = ["anna", "beat", "carla", "dani", "eva", "fritz", "gina", "hugo"]
URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"


def request(method, path, body=None, **headers):
    """Sends a request; the caller reads and closes the response."""
    headers = {"Content-Type": "application/json", "Dog-Key": os.environ.get("DOG_KEY", ""), **headers}
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(URL + path, data, headers, method=method)
    return urllib.request.urlopen(asked, timeout=60)


def read(method, path, body=None, **headers):
    with request(method, path, body, **headers) as response:
        return json.load(response)


def create_tables(number):
    """The ids of new games, each with the token of its host."""
    tables = []
    for table in range(number):
        players = [ACCOUNTS[(table + step) % 8] for step in (0, 1, 2 + table // 8, 5)]
        seats = [{"kind": "bot", "level": "greedy", "data": {"account": name}} for name in players]
        tables.append({"seats": seats, "listed": False, "data": {"table": table}})
    key = {"Idempotency-Key": str(uuid.uuid4())}
    games = read("POST", "/v1/games/batch", {"games": tables}, **key)["games"]
    return {game["id"]: game["host_token"] for game in games}


def follow(hosts):
    """The ids of games as they end. A stream that breaks is resumed with the last versions."""
    versions = dict.fromkeys(hosts, 0)
    while versions:
        games = [{"id": game, "after_version": versions[game]} for game in versions]
        try:
            with request("POST", "/v1/events", {"games": games}) as stream:
                for line in map(json.loads, filter(bytes.strip, stream)):
                    game = line["game_id"]
                    versions[game] = line.get("version", versions[game])
                    if line["type"] == "closed" and "problem" not in line:
                        del versions[game]
                        yield game
        except OSError as error:
            print(f"the stream broke ({error})", file=sys.stderr)
            time.sleep(1)


def main():
    hosts = create_tables(16)
    won, played = collections.Counter(), collections.Counter()
    for game in follow(hosts):
        view = read("GET", f"/v1/games/{game}", **{"Dog-Token": hosts[game]})
        winners = [seat for seat in view["seats"] if seat["team"] == view["winner"]]
        won.update(seat["data"]["account"] for seat in winners)
        played.update(seat["data"]["account"] for seat in view["seats"])
        names = " and ".join(seat["data"]["account"] for seat in winners)
        print(f"table {view['data']['table']}: {names}")
    for account in sorted(ACCOUNTS, key=lambda account: -won[account] / played[account]):
        print(f"{account:6} won {won[account]:2} of {played[account]:2}")


main()
