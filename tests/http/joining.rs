//! `POST /v1/games/{id}/join`, and the creation of games with open seats.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::support::{
    Signal, TestGame, TestResponse, TestServer, TestTable, TestViewer::*, at_once, of_seats,
};

const KEY: &str = "Zk3vQ9xT1bN7cR5wY8mLpA";

#[test]
fn four_friends_join_by_one_link() {
    let server = TestServer::shared();
    let mut table = TestTable::create(&server, &json!({"first_dealer": null}));
    let view = table.game.view(Spectator);
    let created = json!({"type": "game_created", "dealer": null});
    let expected = json!({
        "phase": "seating", "dealer": null, "beginner": null, "round": 1, "stock": 110,
        "last_action": created, "join": "invited", "actions": [],
    });
    for (name, value) in expected.as_object().expect("members") {
        assert_eq!(view[name], *value, "{name}");
    }
    assert_eq!(of_seats(&view, "kind"), json!(vec!["open"; 4]));
    table.game.post(Host, "/deal").send().refused("seats_open");

    // The lowest open seat of the team with the fewest people: the teams fill evenly.
    for (seat, name) in ["Anna", "Beat", "Carla", "Dani"].into_iter().enumerate() {
        let joined = table.join(&json!({"invitation": table.invitation, "name": name}));
        assert_eq!(joined["seat"], seat);
        let event = json!({"type": "seat_taken", "seat": seat, "name": name});
        assert_eq!(joined["events"], json!([event]));
        let of_seat = &joined["game"]["seats"][seat];
        assert_eq!(
            json!([of_seat["kind"], of_seat["joined"]]),
            json!(["human", true])
        );
        assert_eq!(joined["version"], joined["game"]["version"]);
        if seat < 3 {
            let deal = table.game.post(Seat(seat), "/deal").send();
            deal.refused("seats_open");
        }
    }
    let view = table.game.view(Spectator);
    assert_eq!(view["phase"], "deal");
    let dealer = view["dealer"].as_u64().expect("the dealer is known now") as usize;
    table.game.post(Seat(dealer), "/deal").send().expect(200);
    table.game.exchange();
    table.game.play_on();
}

#[test]
fn partners_are_chosen_with_a_link_per_seat() {
    let server = TestServer::shared();
    let mut table = TestTable::create(&server, &json!({}));
    let links = table.invitations.clone();
    for (seat, link) in links.iter().enumerate() {
        assert!(link.starts_with(&format!("{seat}-")), "{link}");
        assert!(link.len() >= 2 + 32, "128 bits");
    }
    assert!(table.invitation.starts_with("any-"));
    // A link for another seat, and links that never were.
    let other = json!({"invitation": links[2], "seat": 1});
    table.ask_to_join(&other).refused("wrong_invitation");
    for wrong in ["", "2-", "any-00", "2-00000000000000000000000000000000"] {
        let body = json!({"invitation": wrong});
        table.ask_to_join(&body).refused("wrong_invitation");
    }
    let joined = table.join(&json!({"invitation": links[2], "seat": 2}));
    assert_eq!(joined["seat"], 2);
    assert_eq!(joined["events"][0]["name"], "Seat 2");
    let again = table.ask_to_join(&json!({"invitation": links[2]}));
    assert_eq!(again.refused("seat_taken")["seat"], 2);
    let named = json!({"invitation": table.invitation, "seat": 2});
    table.ask_to_join(&named).refused("seat_taken");
    // The next person gets a seat of the team with fewer people.
    let joined = table.join(&json!({"invitation": table.invitation}));
    assert_eq!(joined["seat"], 1);
}

#[test]
fn anyone_may_join_where_the_table_says_so() {
    let server = TestServer::shared();
    let mut table = TestTable::create(&server, &json!({"join": "anyone"}));
    assert!(table.invitations.is_empty() && table.invitation.is_empty());
    table.join(&json!({}));
    table.join(&json!({"seat": 3, "name": "Eva"}));
    // The host decides when bots come.
    assert!(table.game.view(Spectator)["bots_at"].is_null());
    let wrong = json!({"invitation": "any-00000000000000000000000000000000"});
    table.ask_to_join(&wrong).refused("wrong_invitation");
    // A seat that the host opens is by invitation at every table.
    let invitation = table.open(2);
    let uninvited = table.ask_to_join(&json!({"seat": 2}));
    uninvited.refused("invitation_needed");
    table.join(&json!({}));
    table.ask_to_join(&json!({})).refused("no_open_seat");
    let joined = table.join(&json!({"invitation": invitation}));
    assert_eq!(joined["seat"], 2);
    assert_eq!(table.game.view(Spectator)["phase"], "deal");
}

/// Requests to join a table where seat 0 is taken; `@` stands for its invitation. The invitation is
/// refused before the seat, and the seat before the name.
const REFUSED: &str = r#"
invalid_request   {"invitation": 5}
invalid_request   {"seat": -1}
invalid_request   {"invite": "any"}
seat_not_found    {"invitation": "@", "seat": 4}
invitation_needed {}
invitation_needed {"seat": 1}
wrong_invitation  {"invitation": "any-1"}
wrong_invitation  {"invitation": "x", "seat": 0, "name": ""}
seat_taken        {"invitation": "@", "seat": 0, "name": ""}
invalid_request   {"invitation": "@", "name": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}
invalid_request   {"invitation": "@", "name": ""}"#;

#[test]
fn each_refusal_has_its_code_and_changes_nothing() {
    let server = TestServer::shared();
    let mut table = TestTable::create(&server, &json!({}));
    table.join(&json!({"invitation": table.invitation, "seat": 0}));
    let before = table.game.view(Spectator);
    for line in REFUSED.lines().skip(1) {
        let (code, body) = line.split_once(' ').expect("a code");
        let body = body.replace('@', &table.invitation);
        let join = server.post(&table.game.path("/join"));
        join.text("application/json", body.trim())
            .send()
            .refused(code);
        assert_eq!(table.game.view(Spectator), before, "{line}");
    }
    for (length, code) in [(100, "wrong_invitation"), (101, "invalid_request")] {
        let join = server.post(&table.game.path("/join"));
        let join = join.json(&json!({"invitation": "x".repeat(length)}));
        join.send().refused(code);
    }
    let weak = server.post(&table.game.path("/join")).key("order-17");
    let weak = weak.json(&json!({"invitation": table.invitation}));
    weak.send().refused("weak_idempotency_key");
    let nobody = server.post("/v1/games/06zgrb0wmrqk9y7ttx2vbkhq1r/join");
    let nobody = nobody.json(&json!({"name": ""}));
    nobody.send().refused("game_not_found");
    // A game that is over, and one that never had open seats.
    let over = TestGame::imported(&server).post(Spectator, "/join");
    let over = over.json(&json!({"invitation": "x"}));
    over.send().refused("game_over");
    let classic = TestGame::fixed(&server).post(Spectator, "/join");
    classic.send().refused("invitation_needed");
    assert_eq!(table.game.view(Spectator), before);
}

#[test]
fn a_creation_with_open_seats_is_checked() {
    let server = TestServer::shared();
    let seats = json!([{"kind": "open"}, {"name": "Anna"}, {"kind": "bot"}, {"kind": "open"}]);
    let with = |name: &str, value: Value| server.create(&json!({"seats": seats, name: value}));
    for (name, value) in [
        ("shuffle_seed", json!("ab".repeat(32))),
        ("join", json!("nobody")),
        ("start", json!("now")),
        ("bots_after_seconds", json!(0)),
        ("bots_after_seconds", json!(86_401)),
    ] {
        with(name, value).refused("invalid_request");
    }
    let created = with("start", json!("host")).expect(201);
    let which = |secrets: &Value| {
        let secrets = secrets.as_array().expect("one for each seat").iter();
        secrets.map(Value::is_string).collect::<Vec<_>>()
    };
    assert_eq!(which(&created["seat_tokens"]), [false, true, false, false]);
    assert_eq!(which(&created["invitations"]), [true, false, false, true]);
    // Without open seats the response is as it always was.
    let plain = server.create(&json!({})).expect(201);
    assert!(plain.get("invitations").is_none() && plain.get("invitation").is_none());
    let anyone = with("join", json!("anyone")).expect(201);
    assert!(anyone["invitations"].is_null() && anyone["invitation"].is_null());
    let listed = server.get("/v1/games?phase=seating&limit=100").send();
    let listed = listed.expect(200)["games"].take();
    let mut listed = listed.as_array().expect("games").iter();
    assert!(listed.any(|game| game["id"] == created["id"]));
}

#[test]
fn a_retry_gets_the_same_seat_and_secrets() {
    let server = TestServer::start();
    let open = json!({"kind": "open"});
    let body = json!({"seats": [open, open, open, open]});
    let create = || server.post("/v1/games").key(KEY).json(&body).send();
    let created = create().expect(201);
    assert_eq!(create().expect(201), created);
    let game = TestGame::from_created(&server, &created);
    let join = |body: &Value| game.post(Spectator, "/join").key(KEY).json(body).send();
    let eva = json!({"invitation": created["invitation"], "name": "Eva"});
    let joined = join(&eva).expect(201);
    server.restart(Signal::Kill);
    assert_eq!(join(&eva).expect(201), joined);
    join(&json!({"invitation": created["invitation"]})).refused("idempotency_key_reused");
    // Opening a seat answers with a secret too.
    let open = |key: &str| {
        let request = game.request("PUT", Host, "/seats/1").key(key);
        request.json(&json!({"kind": "open"})).send()
    };
    open("weak").refused("weak_idempotency_key");
    let opened = open(KEY).expect(200);
    assert_eq!(open(KEY).expect(200), opened);
    let invitation = opened["invitation"].as_str().expect("an invitation");
    assert!(invitation.starts_with("1-"), "{invitation}");
}

#[test]
fn bots_fill_the_seats_of_people_who_do_not_come() {
    let server = TestServer::shared();
    let body = json!({"bots_after_seconds": 1, "start": "full", "bot_pace_ms": 0});
    let mut table = TestTable::create(&server, &body);
    assert!(table.game.view(Spectator)["bots_at"].is_string());
    table.join(&json!({"invitation": table.invitation, "seat": 2, "name": "Eva"}));
    let game = &table.game;
    let view = game.wait_for(|view| view["phase"] != "seating" && view["phase"] != "deal");
    let expected = json!(["bot", "bot", "human", "bot"]);
    assert_eq!(of_seats(&view, "kind"), expected);
    let entries = game.entries(Seat(2));
    let events = entries[2..6].iter().map(|entry| &entry["events"][0]);
    let told = events.map(|event| json!([event["type"], event["seat"], event["by"]]));
    let taken = [0, 1, 3].map(|seat| json!(["seat_handed_over", seat, "server"]));
    let dealt = json!(["cards_dealt", null, "server"]);
    assert!(told.eq(taken.into_iter().chain([dealt])));
    // The seat's own hand is there.
    assert_eq!(game.hand(2).len(), 6);
}

#[test]
fn the_server_deals_every_round_also_after_a_kill() {
    let server = TestServer::start();
    let bot = json!({"kind": "bot", "level": "random"});
    let seats = json!([{"kind": "open"}, bot, bot, bot]);
    let body = json!({"seats": seats, "start": "full", "bot_pace_ms": 0});
    let mut table = TestTable::create(&server, &body);
    table.join(&json!({"invitation": table.invitation}));
    server.restart(Signal::Kill);
    let game = &table.game;
    loop {
        let view = game.view(Seat(0));
        match view["actions"][0]["route"].as_str() {
            None => thread::sleep(Duration::from_millis(5)),
            Some("swap") => drop(game.offer(0)),
            Some("play") => {
                game.play_on();
            }
            Some(other) => panic!("the server deals, not seat 0: {other}"),
        }
        if view["round"] == 3 || view["phase"] == "finished" {
            break;
        }
    }
    let entries = game.entries(Seat(0));
    let mut deals: Vec<&Value> = entries.iter().map(|entry| &entry["events"][0]).collect();
    deals.retain(|event| event["type"] == "cards_dealt");
    assert!(deals.len() >= 2, "{deals:?}");
    assert!(deals.iter().all(|deal| deal["by"] == "server"), "{deals:?}");
}

#[test]
fn one_of_hundreds_gets_the_last_seat() {
    let server = TestServer::start();
    let other = TestServer::beside(&server);
    let mut table = TestTable::create(&server, &json!({}));
    for seat in 0..3 {
        table.join(&json!({"invitation": table.invitation, "seat": seat}));
    }
    let body = json!({"invitation": table.invitation});
    let path = table.game.path("/join");
    let responses = at_once(30, |at| {
        let server = [&server, &other][at % 2];
        [(); 10].map(|()| server.post(&path).json(&body).send())
    });
    let responses = responses.into_iter().flatten();
    let (won, lost): (Vec<_>, Vec<_>) = responses.partition(|response| response.status == 201);
    assert_eq!((won.len(), lost.len()), (1, 299));
    for response in lost {
        response.refused_one_of(&["no_open_seat", "unavailable"]);
    }
    let view = table.game.view(Spectator);
    assert_eq!(json!([view["version"], view["phase"]]), json!([5, "deal"]));
}

#[test]
fn joins_race_with_the_host_and_with_bots() {
    let server = TestServer::start();
    let other = TestServer::beside(&server);
    for round in 0..20 {
        let more = json!({"start": "full", "bot_pace_ms": 0, "join": "anyone"});
        let table = TestTable::create(&server, &more);
        let game = &table.game;
        let path = game.path("/join");
        let joined = at_once(7, |at| {
            if at < 6 {
                let server = [&server, &other][at % 2];
                return server.post(&path).json(&json!({})).try_send();
            }
            let bot = table.put(Host, round % 4, &json!({"kind": "bot"}));
            assert!([200, 503].contains(&bot.status), "{}", bot.text());
            if round % 5 == 0 {
                other.restart(Signal::Kill);
            }
            None
        });
        for joined in seated(joined.into_iter().flatten()) {
            let token = joined["token"].as_str().expect("a token");
            let view = server.get(&game.path("")).token(token).send();
            assert_eq!(view.status, 200, "a token that was answered is valid");
        }
    }
}

/// The responses of those who got a seat, each another one.
#[track_caller]
fn seated(responses: impl Iterator<Item = TestResponse>) -> Vec<Value> {
    let mut seated: Vec<Value> = Vec::new();
    for response in responses {
        if response.status != 201 {
            response.refused_one_of(&["no_open_seat", "unavailable"]);
            continue;
        }
        let joined = response.expect(201);
        let is_taken = seated.iter().any(|other| other["seat"] == joined["seat"]);
        assert!(!is_taken, "seat {} was given twice", joined["seat"]);
        seated.push(joined);
    }
    seated
}

#[test]
fn joins_race_with_the_time_when_bots_fill_the_seats() {
    let server = TestServer::start();
    let other = TestServer::beside(&server);
    let more = json!({"bots_after_seconds": 1, "join": "anyone", "bot_pace_ms": 60_000});
    let tables: Vec<TestTable<'_>> = (0..10).map(|_| TestTable::create(&server, &more)).collect();
    // Each table gets joins from 0.9 to 1.1 seconds after its creation.
    thread::sleep(Duration::from_millis(900));
    let joined = at_once(4 * tables.len(), |number| {
        let (path, at) = (tables[number / 4].game.path("/join"), number % 4);
        thread::sleep(Duration::from_millis(50 * at as u64));
        let join = [&server, &other][at % 2].post(&path);
        join.json(&json!({})).send()
    });
    for (table, responses) in tables.iter().zip(joined.chunks(4)) {
        let mut expected = ["bot"; 4];
        for joined in seated(responses.iter().cloned()) {
            expected[joined["seat"].as_u64().expect("a seat") as usize] = "human";
        }
        let view = table.game.wait_for(|view| view["phase"] != "seating");
        assert_eq!(of_seats(&view, "kind"), json!(expected));
    }
}

#[test]
fn nobody_else_can_have_the_token_of_a_person_who_joined() {
    let server = TestServer::shared();
    let table = TestTable::full(&server, &json!({}));
    let game = &table.game;
    let token = game.post(Host, "/seats/1/token").send();
    let bodies = [
        json!({"kind": "human"}),
        json!({"name": "Eve"}),
        json!({"kind": "bot", "name": "x"}),
    ];
    let puts = bodies.map(|body| table.put(Host, 1, &body));
    for response in puts.into_iter().chain([token]) {
        assert_eq!(response.refused("forbidden")["reason"], "seat_joined");
    }
    // The creator has the host's token alone: no hand is in its views.
    game.deal();
    let view = game.view(Host);
    for seat in 0..4 {
        assert_eq!(view["seats"][seat]["hand"], Value::Null);
    }
    let renewed = game.post(Seat(1), "/seats/1/token").send().expect(200);
    assert_eq!(renewed["version"], view["version"], "it had joined before");
    game.get(Seat(1), "").send().refused("token_replaced");
}

#[test]
fn the_host_renews_its_token() {
    let server = TestServer::shared();
    let mut game = TestGame::fixed(&server);
    let ask = |viewer| game.post(viewer, "/host/token").send();
    ask(Seat(0)).refused("forbidden");
    ask(Spectator).refused("unauthorized");
    let renew = || game.post(Host, "/host/token").key(KEY).send();
    let made = || game.post(Host, "/seats/1/token").key(KEY).send();
    let opened = || {
        let request = game.request("PUT", Host, "/seats/3").key(KEY);
        request.json(&json!({"kind": "open"})).send()
    };
    made().expect(200);
    opened().expect(200);
    let before = game.view(Spectator);
    let fresh = renew().expect(200);
    let again = renew().expect(200);
    assert_eq!(
        again, fresh,
        "the request that killed the token is replayed"
    );
    game.post(Host, "/deal").send().refused("token_replaced");
    // Retries of other requests with the dead token get nothing.
    made().refused("token_replaced");
    opened().refused("token_replaced");
    game.host = fresh["token"].as_str().expect("a token").to_owned();
    server.forbid_in_log(&game.host);
    assert_eq!(game.view(Spectator), before);
    game.put(Host, 3, &json!({"kind": "bot"})).expect(200);
    game.deal();
}
