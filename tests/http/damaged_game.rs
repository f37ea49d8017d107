//! A game that cannot be read: others go on, and nobody is shown what is in it.

use std::time::Instant;

use serde_json::Value;

use crate::support::{TestGame, TestServer, TestViewer::*, UNCACHED, wait_until};

#[test]
fn a_damaged_game_costs_that_game_only() {
    let started = Instant::now();
    let server = TestServer::start_with(&[UNCACHED]);
    let bad = [(); 2].map(|()| TestGame::with_bots(&server, "greedy", 60_000));
    let sound = TestGame::in_play(&server);
    let set = |what: &str, game: &TestGame<'_>| server.database().change_game(&game.id, what);
    // One game is unreadable, one has a wrong version.
    let joker = "due_at = 1, snapshot = replace(snapshot, 'deal', 'joker')";
    set(joker, &bad[0]);
    set("due_at = 1, version = version + 7", &bad[1]);
    for game in &bad {
        for response in [
            game.get(Spectator, "").send(),
            game.get(Spectator, "/history").send(),
            game.get(Spectator, "/events").send(),
            game.request("DELETE", Host, "").send(),
            game.post(Host, "/deal").send(),
        ] {
            assert!(!response.text().contains("joker"), "{}", response.text());
            response.refused("internal");
        }
    }
    let listed = server.get("/v1/games").send().expect(200);
    assert_eq!(listed["games"].as_array().map(Vec::len), Some(1));
    // Bots play another game to its end, and its stream reports it.
    let told = TestGame::with_bots(&server, "greedy", 0).events_after(Spectator, 0);
    let told = told.rest();
    let last: &Value = &told.last().expect("an end").data["events"];
    assert!(last.to_string().contains("game_won"), "{last}");
    let (seat, id) = sound.first_move();
    sound.play(seat, &id);
    let log = server.log();
    // Each error is logged once a minute.
    let most = 1 + started.elapsed().as_secs() / 60;
    for game in &bad {
        let left = format!("game {} is suspended for a minute", game.id);
        let times = log.matches(&left).count() as u64;
        assert!((1..=most).contains(&times), "{times} times: {log}");
    }
    assert!(!log.contains("waits"), "{log}");
    assert!(!log.contains("joker"), "{log}");
    let (said, is_sound) = server.check();
    assert!(!is_sound && said.contains("2 things are wrong"), "{said}");
    for game in &bad {
        assert!(said.contains(&format!("game {}: ", game.id)), "{said}");
    }
    assert!(!said.contains(&sound.id), "{said}");
    assert!(!said.contains("joker"), "{said}");
}

#[test]
fn a_game_whose_due_time_another_version_has_computed_goes_on() {
    let server = TestServer::start_with(&[UNCACHED]);
    let paced = TestGame::with_bots(&server, "greedy", 60_000);
    server.database().sql("UPDATE games SET due_at = 1");
    wait_until("it is corrected", || {
        server
            .database()
            .number("SELECT count(*) FROM games WHERE due_at > 1")
            == 1
    });
    assert_eq!(paced.get(Spectator, "").send().expect(200)["version"], 1);
    let (said, is_sound) = server.check();
    assert!(is_sound, "{said}");
    assert!(!server.log().contains("suspended"), "{}", server.log());
}
