#!/usr/bin/env python3
"""Reviews a finished game by its text record: what was luck, what was play, what was better.

    python3 review.py game.dog [http://127.0.0.1:8080]
"""

import json
import sys
import time
import urllib.request


def send(method, path, body=None, content_type="text/plain"):
    """The answer of the server, as JSON."""
    request = urllib.request.Request(SERVER + path, body, {"Content-Type": content_type}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def text(choice):
    """A choice as a person reads it."""
    return choice.get("move") or " ".join(str(part) for part in choice["swap"].values())


SERVER = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8080"
with open(sys.argv[1], "rb") as file:
    game = send("POST", "/v1/games/import", file.read())["id"]
review = send("POST", f"/v1/games/{game}/review")
while review["status"] in ("waiting", "running"):
    time.sleep(2)
    review = send("GET", f"/v1/games/{game}/review")
    print(f"\r{review['progress']:.0%} ", end="", file=sys.stderr)
if review["status"] == "failed":
    sys.exit(review["detail"])

decisions = {made["version"]: made for made in review["decisions"]}
for seat in review["seats"]:
    accuracy = "-" if seat["accuracy"] is None else f"{seat['accuracy']:.0f}"
    print(f"seat {seat['seat']}: {seat['decisions']} decisions, accuracy {accuracy}")
    for made in (decisions[version] for version in seat["costliest"]):
        cost = f"{made['loss']:.1%} ({made['judgement']})"
        print(f"  {made['version']}: {text(made['played'])} cost {cost}, better {text(made['best'])}")
for team in review["teams"]:
    parts = ", ".join(f"{part} {100 * team[part]:+.1f}" for part in ("luck", "decisions", "rest"))
    print(f"team {team['team']}: {parts} points; {'won' if team['result'] else 'lost'}")
