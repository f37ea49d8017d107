//! What a client can make the server keep.

use std::{thread, time::Duration};

use serde_json::json;

use super::limits::{HERE, THERE, behind_a_proxy, from};
use crate::support::{
    Exposition, Signal, TestGame, TestResponse, TestServer, TestViewer::*, wait_until,
};

/// How often a change succeeds before it is refused.
#[track_caller]
fn until_refused(change: impl Fn() -> TestResponse) -> usize {
    for made in 0..200 {
        let response = change();
        if response.status != 200 {
            response.refused("too_many_changes");
            return made;
        }
    }
    panic!("200 changes and no end");
}

#[test]
fn admin_changes_have_an_allowance_and_never_block_play() {
    let server = TestServer::start();
    let mut game = TestGame::in_play(&server);
    let version = game.version();
    assert_eq!(version, 6, "the creation, a deal and four cards swapped");
    let host = game.clone();
    let hand_over = |body| host.put(Host, 3, &body);
    let rename = || hand_over(json!({"kind": "human", "name": "Anna"}));
    let by_host = || host.post(Host, "/seats/3/token").send();
    // Names and tokens from the host count against one allowance, a seat's own renewals against
    // that of the seat.
    for _ in 0..30 {
        rename().expect(200);
        by_host().expect(200);
        game.renew(Seat(2), 2);
    }
    // The first renewal is a version too.
    assert_eq!(game.version(), version + 61);
    assert_eq!(until_refused(rename), 41);
    by_host().refused("too_many_changes");
    let refused = rename();
    assert_eq!(refused.header("retry-after"), Some("60"));
    refused.refused("too_many_changes");
    let mut renewals = 30;
    let own = loop {
        let renewed = game.post(Seat(2), "/seats/2/token").send();
        if renewed.status != 200 {
            break renewed;
        }
        let token = renewed.expect(200)["token"].take();
        game.tokens[2] = token.as_str().expect("a token").to_owned();
        renewals += 1;
    };
    own.refused("too_many_changes");
    assert_eq!(renewals, 50);
    // The order of other refusals is unchanged.
    let stale = hand_over(json!({"kind": "human", "version": 1}));
    stale.refused("stale_version");
    hand_over(json!({"kind": 7})).refused("too_many_changes");
    // Play goes on, and increases the allowance.
    for allowed in [false, true] {
        game.play_on();
        if allowed {
            rename().expect(200);
        }
        rename().refused("too_many_changes");
    }
}

#[test]
fn a_game_at_its_last_version_is_left_alone() {
    let server = TestServer::start();
    let humans = json!({"first_dealer": 0, "turn_seconds": 1});
    let game = TestGame::create(&server, &humans);
    game.deal();
    game.exchange();
    let database = server.database();
    let last_but_one = "version = 49999, \
                        snapshot = replace(snapshot, '\"version\":6', '\"version\":49999')";
    database.change_game(&game.id, last_but_one);
    assert_eq!(game.play_on()["version"], 50_000);
    // The turn clock runs, but is not enforced.
    let due = "SELECT id FROM games WHERE due_at IS NOT NULL";
    assert_eq!(database.sql(due), [""; 0]);
    let (seat, id) = game.first_move();
    assert_eq!(game.view(Seat(seat))["actions"], json!([]));
    let play = |body| game.post_json(Seat(seat), "/play", &body);
    play(json!({"move": id})).refused("too_many_versions");
    play(json!({"move": "nonsense"})).refused("too_many_versions");
    play(json!({"move": id, "version": 7})).refused("stale_version");
    let other = game.try_play(Seat((seat + 1) % 4), &id);
    other.refused("not_your_turn");
    // Nothing else gives it another version.
    let bot = json!({"kind": "bot", "level": "random"});
    let reissue = |by| game.post(by, &format!("/seats/{seat}/token")).send();
    for response in [
        game.put(Host, seat, &bot),
        game.put(Seat(seat), seat, &bot),
        reissue(Host),
        game.patch(Host, &json!({"bot_pace_ms": 5})),
        game.post_json(Spectator, "/join", &json!({})),
    ] {
        response.refused("too_many_versions");
    }
    // A new token does not make a version.
    assert_eq!(reissue(Seat(seat)).expect(200)["version"], 50_000);
    // The server acts in another game in the meantime.
    let other = TestGame::create(&server, &humans);
    let dealt = other.get(Spectator, "?after_version=1").send().expect(200);
    assert_eq!(dealt["last_action"]["by"], "clock");
    assert_eq!(game.version(), 50_000);
    let log = server.log();
    assert!(!log.contains(&game.id), "{log}");
    game.remove();
}

#[test]
fn an_address_has_a_storage_quota_per_hour() {
    let server = behind_a_proxy(&[("DOG_KEPT_PER_ADDRESS", "1")]);
    let create = |address| from(server.post("/v1/games"), address).send();
    let game = TestGame::from_created(&server, &create(HERE).expect(201));
    // A creation counts 16 KiB, and 24 with the response saved for a retry.
    let body = json!({"kind": "human", "name": "Anna"});
    let rename = |key: &str| {
        let request = game.request("PUT", Host, "/seats/0").json(&body).key(key);
        from(request, HERE).send()
    };
    for number in 0..64 {
        rename(&format!("key-{number}")).expect(200);
    }
    let record = include_str!("../records/four.dog");
    let import = |address| {
        let import = server.post("/v1/games/import").text("text/plain", record);
        from(import, address).send()
    };
    let kib = 3 * record.len().div_ceil(1024);
    for _ in 0..(1024 - 16 - 64 * 8) / kib {
        import(HERE).expect(201);
    }
    import(HERE).refused("too_many_requests");
    let mut creations = (0..10).map(|_| create(HERE));
    let refused = creations.find(|response| response.status != 201);
    let refused = refused.expect("a refusal");
    let policy = refused.header("ratelimit-policy");
    let mib = "\"storage\";q=1048576;qu=\"content-bytes\";w=3600";
    assert_eq!(policy, Some(mib));
    let detail = refused.refused("too_many_requests")["detail"].take();
    assert_eq!(detail, "rate limit exceeded: bytes stored for this address");
    rename("another").refused("too_many_requests");
    // Plays are not refused, nor are other addresses.
    from(game.post(Host, "/deal"), HERE).send().expect(200);
    create(THERE).expect(201);
    import(THERE).expect(201);
}

/// The status in `/readyz`.
fn status(server: &TestServer) -> String {
    let response = server.get("/readyz").send().expect(200);
    response["status"].as_str().expect("a status").to_owned()
}

#[test]
fn a_full_database_refuses_new_games_and_others_go_on() {
    let max: u64 = 1 << 20;
    let server = TestServer::start_with(&[("DOG_MAX_DATABASE_BYTES", &max.to_string())]);
    assert_eq!(status(&server), "ok");
    let game = TestGame::in_play(&server);
    let bots = TestGame::with_bots(&server, "random", 500);
    let mut others = Vec::new();
    let refused = loop {
        let created = server.post("/v1/games").send();
        if created.status != 201 {
            break created;
        }
        others.push(TestGame::from_created(&server, &created.expect(201)));
        assert!(others.len() < 1_000, "a limit");
    };
    refused.refused("database_full");
    let record = include_str!("../records/four.dog");
    let import = || server.import(record);
    import().refused("database_full");
    // However fast they are made.
    let shown = Exposition::scrape(&server);
    assert_eq!(shown.value("dog_database_max_bytes", &[]), max as f64);
    let share = || {
        let shown = Exposition::scrape(&server);
        shown.value("dog_database_used_bytes", &[]) / max as f64
    };
    assert!((0.88..0.93).contains(&share()), "{}", share());
    wait_until("it is reported", || status(&server) == "nearly_full");
    wait_until("bots stop among themselves", || {
        let version = bots.version();
        thread::sleep(Duration::from_secs(2));
        bots.version() == version
    });
    assert_ne!(bots.view(Spectator)["phase"], "finished");
    // Play goes on.
    game.play_on();
    // In the end nothing can be written, but everything can be read.
    let body = json!({"kind": "human", "name": "Anna"});
    let refused = (0..2_000).find_map(|number| {
        let game = &others[number % others.len()];
        let rename = game.request("PUT", Host, "/seats/0").json(&body);
        let response = rename.key(&format!("key-{number}")).send();
        (response.status != 200).then_some(response)
    });
    refused.expect("a refusal").refused("database_full");
    assert!((0.94..1.1).contains(&share()), "{}", share());
    server.wait_until_ready(false);
    let before = game.snapshot();
    server.restart(Signal::Kill);
    assert_eq!(game.snapshot(), before);
    game.get(Spectator, "/history").send().expect(200);
    server.get("/v1/games").send().expect(200);
    // Removing games frees space, and needs none.
    for game in others.drain(..) {
        game.remove();
    }
    server.wait_until_ready(true);
    game.play_on();
    wait_until("there is room again", || {
        server.post("/v1/games").send().status == 201
    });
    import().expect(201);
}
