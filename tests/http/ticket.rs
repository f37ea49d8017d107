//! Tickets, for clients that cannot send a token with a stream.

use jiff::Timestamp;

use crate::support::{
    Stream, TestGame, TestServer,
    TestViewer::{self, *},
};

/// The path of a stream with a new ticket of this viewer.
fn path(game: &TestGame<'_>, viewer: TestViewer) -> String {
    let response = game.post(viewer, "/events/ticket").send().expect(200);
    let ticket = response["ticket"].as_str().expect("a ticket");
    game.server.forbid_in_log(ticket);
    let expires_at = response["expires_at"].as_str().expect("a time");
    let expires_at: Timestamp = expires_at.parse().expect("RFC 3339");
    let left = expires_at.duration_since(Timestamp::now()).as_secs();
    assert!((1..=30).contains(&left), "{left}");
    format!("/events?ticket={ticket}")
}

#[test]
fn a_ticket_stands_for_its_token_once() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    for viewer in [Seat(0), Seat(3), Host] {
        let path = path(&game, viewer);
        // A HEAD request does not use it up.
        let head = game.request("HEAD", Spectator, &path).send();
        assert_eq!(head.status, 200);
        let stream = Stream::open(game.get(Spectator, &path));
        let view = stream.next().expect("the game").data;
        assert_eq!(view, game.view(viewer), "{viewer}");
        game.get(Spectator, &path).send().refused("unauthorized");
    }
}

#[test]
fn a_refused_stream_does_not_use_up_its_ticket() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let path = path(&game, Seat(0));
    let absurd = game.get(Spectator, &format!("{path}&last_event_id=x"));
    absurd.send().refused("invalid_request");
    let html = game.get(Spectator, &path).header("Accept", "text/html");
    html.send().refused("not_acceptable");
    let view = Stream::open(game.get(Spectator, &path)).next();
    assert_eq!(view.expect("the game").data, game.view(Seat(0)));
}

#[test]
fn a_ticket_is_valid_for_its_game_only() {
    let server = TestServer::shared();
    let (game, other) = (TestGame::dealt(&server), TestGame::dealt(&server));
    let path = path(&game, Seat(0));
    other.get(Spectator, &path).send().refused("unauthorized");
    let (empty, ticket) = path.split_once('=').expect("a ticket");
    let empty = game.get(Spectator, &format!("{empty}=")).send();
    empty.refused("unauthorized");
    let as_token = game.get(Spectator, "").token(ticket).send();
    as_token.refused("unauthorized");
    // It is still valid for its own game.
    let stream = Stream::open(game.get(Spectator, &path));
    stream.next().expect("the game");
}

#[test]
fn a_ticket_of_a_replaced_token_is_invalid() {
    let server = TestServer::shared();
    let game = TestGame::dealt(&server);
    let path = path(&game, Seat(0));
    game.post(Seat(0), "/seats/0/token").send().expect(200);
    game.get(Spectator, &path).send().refused("token_replaced");
}
