//! `PATCH` with `skip_to_deal`: bots act without their pace until the next deal.

use serde_json::{Value, json};

use crate::support::{
    Signal, TestGame, TestRequest, TestServer,
    TestViewer::{self, *},
};

/// A pace at which no test sees a round end.
const SLOW: u32 = 60_000;

fn skip<'a>(game: &TestGame<'a>, viewer: TestViewer) -> TestRequest<'a> {
    let request = game.request("PATCH", viewer, "");
    request.json(&json!({"skip_to_deal": true}))
}

/// Waits until the bots have dealt this round.
#[track_caller]
fn wait_for_round(game: &TestGame<'_>, round: u64) {
    game.wait_for(|view| view["round"] == round && view["phase"] != "deal");
}

/// Plays until a seat has folded. Returns the seat.
#[track_caller]
fn until_a_fold(game: &TestGame<'_>) -> usize {
    loop {
        let (seat, id) = game.first_move();
        game.play(seat, &id);
        if id == "fold" {
            return seat;
        }
    }
}

#[test]
fn a_person_who_has_folded_skips_to_the_next_deal() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let refused = |viewer, code: &str| skip(&game, viewer).send().refused(code);
    assert_eq!(refused(Host, "wrong_phase")["phase"], "deal");
    game.deal();
    assert_eq!(refused(Host, "wrong_phase")["phase"], "exchange");
    game.exchange();
    let folded = until_a_fold(&game);
    // The others have cards, and are people.
    for viewer in [Host, Seat(folded), Seat((folded + 1) % 4)] {
        assert_eq!(refused(viewer, "wrong_phase")["phase"], "play");
    }
    refused(Spectator, "unauthorized");
    game.patch(Host, &json!({"bot_pace_ms": SLOW})).expect(200);
    let bot = json!({"kind": "bot", "level": "greedy"});
    for seat in (0..4).filter(|&seat| seat != folded) {
        game.put(Host, seat, &bot).expect(200);
    }
    let problem = refused(Seat((folded + 1) % 4), "forbidden");
    assert_eq!(problem["reason"], "bot_plays");
    let both = game.patch(Host, &json!({"skip_to_deal": true, "listed": false}));
    both.refused("invalid_request");
    let no = game.patch(Host, &json!({"skip_to_deal": false}));
    no.refused("invalid_request");
    let stale = skip(&game, Seat(folded)).if_match("\"1\"");
    stale.send().refused("stale_version");

    let before = game.view(Seat(folded));
    let answer = skip(&game, Seat(folded)).key("skip").send();
    let tag = format!("\"{}-{folded}\"", before["version"]);
    assert_eq!(answer.header("etag"), Some(&*tag));
    let answer = answer.expect(200);
    let expected = json!({"version": before["version"], "events": [], "game": before});
    assert_eq!(answer, expected);
    let again = skip(&game, Seat(folded)).key("skip").send();
    assert_eq!(again.expect(200), answer);
    // The next deal may be the person's to make.
    let view = game.wait_for(|view| view["round"] == 2);
    assert_eq!(view["bot_pace_ms"], SLOW);
    let entries = game.entries(Host);
    let is_settings = |entry: &&Value| entry["events"][0]["type"] == "settings_changed";
    let settings = entries.iter().filter(is_settings);
    assert_eq!(settings.count(), 1, "that of the pace");
}

#[test]
fn skipping_ends_with_the_deal_and_goes_on_after_a_kill() {
    let server = TestServer::start();
    let game = TestGame::with_bots(&server, "greedy", SLOW);
    game.deal();
    skip(&game, Host).send().expect(200);
    wait_for_round(&game, 2);
    // As often as anybody likes.
    skip(&game, Host).send().expect(200);
    server.restart(Signal::Kill);
    wait_for_round(&game, 3);
    // The pace is back: the bots are not to act for a minute.
    let due = server.database().number(&format!(
        "SELECT count(*) FROM games WHERE id = '{}' AND due_at = updated_at + 60000000",
        game.id
    ));
    assert_eq!(due, 1);
}
