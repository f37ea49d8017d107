#!/usr/bin/env python3
"""Plays a whole game of DOG with four clients, each of which joins by invitation.

usage: play.py [URL [PRESET]]    (http://127.0.0.1:8080 and hausregeln by default)

Where the operator asks for a key of those who create games, it is read from DOG_KEY.

Seats 0 and 2 do what the server advises. Seats 1 and 3 choose for themselves: a seven or a joker
if they can play one.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import TypeVar

import httpx
from dog_client import AuthenticatedClient, Client, models as dog
from dog_client.api.games import create_game, get_game
from dog_client.api.play import deal_cards, list_legal_moves, play_move, suggest_move, swap_cards
from dog_client.api.seats import join_game
from dog_client.models.preset import check_preset

T = TypeVar("T")


class Patient(httpx.AsyncHTTPTransport):
    """Sends a request again after as many seconds as the server asks for."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        while seconds := response.headers.get("Retry-After"):
            await response.aclose()
            await asyncio.sleep(float(seconds))
            response = await super().handle_async_request(request)
        return response


class Refusal(Exception):
    def __init__(self, problem: dog.ProblemDetails):
        super().__init__(f"{problem.code}: {problem.detail}")
        self.problem = problem


def ok(kind: type[T], answer: object) -> T:
    """The body of a response, of the type expected."""
    if isinstance(answer, dog.ProblemDetails):
        raise Refusal(answer)
    assert isinstance(answer, kind), answer
    return answer


KINDS: dict[str | None, type[dog.Game | dog.Change]] = {"game": dog.Game, "change": dog.Change}


async def follow(api: AuthenticatedClient, game_id: str) -> AsyncIterator[dog.Game | dog.Change]:
    """The game, then each change until the game is over. Resumes a broken stream."""
    http = api.get_async_httpx_client()
    headers = {"Accept": "application/x-ndjson"}
    while True:
        try:
            async with http.stream("GET", f"/v1/games/{game_id}/events", headers=headers) as stream:
                if stream.status_code == 204:  # nothing comes after the last version
                    return
                stream.raise_for_status()
                async for line in stream.aiter_lines():
                    body = json.loads(line or "{}")  # empty lines are heartbeats
                    if kind := KINDS.get(body.get("type")):  # the others tell who is present
                        message = kind.from_dict(body)
                        headers["Last-Event-ID"] = str(message.version)
                        yield message
        except httpx.TransportError:
            await asyncio.sleep(0.1)


async def choose(
    api: AuthenticatedClient, game: dog.Game, action: dog.PossibleAction
) -> dog.PlayRequest | dog.SwapRequest:
    """A move, or an answer in the exchange."""
    if action.seat % 2 == 0:
        advice = ok(dog.Advice, await suggest_move.asyncio(game.id, client=api, level="greedy"))
        known = (dog.SuggestedMove, dog.SuggestedSwap)
        return next(best.request.body for best in advice.suggestions if isinstance(best, known))
    if action.choices:
        hand = game.seats[action.seat].hand
        assert hand is not None, "a seat sees its own hand"
        gives = "card" in action.choices
        return dog.SwapRequest(card=hand[0]) if gives else dog.SwapRequest(pass_=True)
    moves = ok(dog.LegalMoves, await list_legal_moves.asyncio(game.id, client=api)).moves
    move = max(moves, key=lambda move: (move.kind == "seven", move.card == "joker"))
    return dog.PlayRequest(move.id)


def partner_is_first(game: dog.Game, action: dog.PossibleAction) -> bool:
    """Of two partners who may ask each other for a card, the lower seat decides first."""
    return "pass" in (action.choices or []) and any(
        seat.team == game.seats[action.seat].team
        and seat.exchange == "pending"
        and seat.kind == "human"
        and not (seat.away or seat.stand_in)
        for seat in game.seats[: action.seat]
    )


async def act(api: AuthenticatedClient, game: dog.Game) -> int:
    """Does what the seat may do now, if anything. Returns the version of the game after it."""
    for action in game.actions:
        if action.route not in ("deal", "swap", "play") or partner_is_first(game, action):
            continue
        if action.route == "deal":
            answer = await deal_cards.asyncio(game.id, client=api)
        elif isinstance(choice := await choose(api, game, action), dog.PlayRequest):
            choice.version = game.version  # plays in this state of the game only
            answer = await play_move.asyncio(game.id, client=api, body=choice)
        else:
            answer = await swap_cards.asyncio(game.id, client=api, body=choice)
        return ok(dog.Changed, answer).version
    return game.version


async def play(url: str, game_id: str, invitation: str, name: str) -> int:
    """Joins a game and plays until it is over. Returns the team that has won."""
    body = dog.JoinRequest(invitation=invitation, name=name)
    joined = ok(dog.Joined, await join_game.asyncio(game_id, client=Client(url), body=body))
    api = AuthenticatedClient(url, joined.token, httpx_args={"transport": Patient()})
    winners = []
    newest = 0  # the newest version that an answer has told of
    async for message in follow(api, game_id):
        if isinstance(message, dog.Game):
            newest = 0  # the first line, or the operator has restored a backup
        else:
            winners += [event.team for event in message.events if isinstance(event, dog.GameWon)]
        if message.version < newest or joined.seat not in (message.to_act or []):
            continue
        try:
            newest = await act(api, ok(dog.Game, await get_game.asyncio(game_id, client=api)))
        except Refusal as refusal:
            if refusal.problem.status not in (409, 412):  # another acted first: the stream will tell
                raise
    return winners[0]


async def main(url: str = "http://127.0.0.1:8080", preset: str = "hausregeln") -> None:
    rules = dog.RulesRequest(preset=check_preset(preset))
    names = ["Anna", "Beat", "Carla", "Dani"]
    body = dog.CreateGame(rules=rules, seats=[dog.SeatRequest(kind="open") for _ in names])
    key = os.environ.get("DOG_KEY", "")
    creator = AuthenticatedClient(url, token=key, prefix="", auth_header_name="Dog-Key")
    created = ok(dog.Created, await create_game.asyncio(client=creator, body=body))
    assert isinstance(created.invitation, str), "the game has open seats"
    players = (play(url, created.id, created.invitation, name) for name in names)
    winners = await asyncio.gather(*players)
    assert len(set(winners)) == 1, "the seats disagree"
    print(f"team {winners[0]} has won")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
