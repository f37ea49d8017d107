//! `POST /v1/games/{id}/join`, and the creation of games with open seats.

use std::thread;

use serde_json::{Value, json};

use crate::support::{
    Signal, TestGame, TestServer, TestTable,
    TestViewer::{self, *},
};

const KEY: &str = "Zk3vQ9xT1bN7cR5wY8mLpA";

fn kinds(view: &Value) -> Vec<&str> {
    let seats = view["seats"].as_array().expect("seats");
    seats
        .iter()
        .filter_map(|seat| seat["kind"].as_str())
        .collect()
}

#[test]
fn four_friends_join_by_one_link() {
    let server = TestServer::shared();
    let mut table = TestTable::create(&server, &json!({"first_dealer": null}));
    let view = table.game.view(Spectator);
    assert_eq!(view["phase"], "seating");
    assert_eq!(
        (&view["dealer"], &view["beginner"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!((&view["round"], &view["stock"]), (&json!(1), &json!(110)));
    assert_eq!(kinds(&view), ["open"; 4]);
    assert_eq!(
        view["last_action"],
        json!({"type": "game_created", "dealer": null})
    );
    assert_eq!(view["join"], "invited");
    assert!(view["actions"].as_array().is_some_and(Vec::is_empty));
    table.game.post(Host, "/deal").send().refused("seats_open");

    let mut seats = Vec::new();
    for name in ["Anna", "Beat", "Carla", "Dani"] {
        let joined = table.join(&json!({"invitation": table.invitation, "name": name}));
        let seat = joined["seat"].as_u64().expect("a seat") as usize;
        seats.push(seat);
        assert_eq!(
            joined["events"],
            json!([{"type": "seat_taken", "seat": seat, "name": name}])
        );
        assert_eq!(joined["game"]["seats"][seat]["kind"], "human");
        assert_eq!(joined["game"]["seats"][seat]["joined"], true);
        assert_eq!(joined["version"], joined["game"]["version"]);
        if seats.len() < 4 {
            let deal = table.game.post(Seat(seat), "/deal").send();
            deal.refused("seats_open");
        }
    }
    // The lowest open seat of the team with the fewest people: the teams fill evenly.
    assert_eq!(seats, [0, 1, 2, 3]);
    let view = table.game.view(Spectator);
    assert_eq!(view["phase"], "deal");
    let dealer = view["dealer"].as_u64().expect("the dealer is known now") as usize;
    table.game.post(Seat(dealer), "/deal").send().expect(200);
    table.game.exchange();
    let (seat, id) = table.game.first_move();
    table.game.play(seat, &id);
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
    // A link for another seat, and a link that was never one.
    let other = json!({"invitation": links[2], "seat": 1});
    table.ask_to_join(&other).refused("wrong_invitation");
    for wrong in ["", "2-", "any-00", "2-00000000000000000000000000000000"] {
        let body = json!({"invitation": wrong});
        table.ask_to_join(&body).refused("wrong_invitation");
    }
    let joined = table.join(&json!({"invitation": links[2], "seat": 2}));
    assert_eq!(
        (&joined["seat"], &joined["events"][0]["name"]),
        (&json!(2), &json!("Seat 2"))
    );
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
    assert_eq!(
        (table.invitations.len(), table.invitation.as_str()),
        (0, "")
    );
    table.join(&json!({}));
    table.join(&json!({"seat": 3, "name": "Eva"}));
    let wrong = json!({"invitation": "any-00000000000000000000000000000000"});
    table.ask_to_join(&wrong).refused("wrong_invitation");
    // A seat that the host opens is by invitation at every table.
    let invitation = table.open(2);
    table
        .ask_to_join(&json!({"seat": 2}))
        .refused("invitation_needed");
    table.join(&json!({}));
    table.ask_to_join(&json!({})).refused("no_open_seat");
    let joined = table.join(&json!({"invitation": invitation}));
    assert_eq!(joined["seat"], 2);
    assert_eq!(table.game.view(Spectator)["phase"], "deal");
}

#[test]
fn each_refusal_has_its_code_and_changes_nothing() {
    let server = TestServer::shared();
    let mut table = TestTable::create(&server, &json!({}));
    table.join(&json!({"invitation": table.invitation, "seat": 0}));
    let before = table.game.view(Spectator);
    let with = |more: Value| {
        let mut body = json!({"invitation": table.invitation});
        for (name, value) in more.as_object().expect("members") {
            body[name] = value.clone();
        }
        body
    };
    let refusals = [
        (json!({"invitation": 5}), "invalid_request"),
        (json!({"seat": -1}), "invalid_request"),
        (json!({"invite": "any"}), "invalid_request"),
        (with(json!({"seat": 4})), "seat_not_found"),
        (json!({}), "invitation_needed"),
        (json!({"seat": 1}), "invitation_needed"),
        (json!({"invitation": "any-1"}), "wrong_invitation"),
        // The invitation is refused before the seat, and the seat before the name.
        (
            json!({"invitation": "x", "seat": 0, "name": ""}),
            "wrong_invitation",
        ),
        (with(json!({"seat": 0, "name": ""})), "seat_taken"),
        (with(json!({"name": "x".repeat(41)})), "invalid_request"),
        (with(json!({"name": ""})), "invalid_request"),
    ];
    for (body, code) in refusals {
        table.ask_to_join(&body).refused(code);
        assert_eq!(table.game.view(Spectator), before, "{body}");
    }
    let weak = server.post(&table.game.path("/join")).key("order-17");
    weak.json(&with(json!({})))
        .send()
        .refused("weak_idempotency_key");
    let nobody = server.post("/v1/games/06zgrb0wmrqk9y7ttx2vbkhq1r/join");
    nobody
        .json(&json!({"name": ""}))
        .send()
        .refused("game_not_found");
    // A game that is over, and one that never had open seats.
    let over = TestGame::imported(&server);
    let over = server
        .post(&over.path("/join"))
        .json(&json!({"invitation": "x"}));
    over.send().refused("game_over");
    let classic = TestGame::fixed(&server);
    let classic = server.post(&classic.path("/join"));
    classic.json(&json!({})).send().refused("invitation_needed");
    assert_eq!(table.game.view(Spectator), before);
}

#[test]
fn a_creation_with_open_seats_is_checked() {
    let server = TestServer::shared();
    let open = json!({"kind": "open"});
    let seats = json!([open, {"name": "Anna"}, {"kind": "bot"}, open]);
    let with = |name: &str, value: Value| {
        let mut body = json!({"seats": seats});
        body[name] = value;
        server.post("/v1/games").json(&body).send()
    };
    with("shuffle_seed", json!("ab".repeat(32))).refused("invalid_request");
    for (name, value) in [
        ("join", json!("nobody")),
        ("start", json!("now")),
        ("bots_after_seconds", json!(0)),
        ("bots_after_seconds", json!(86_401)),
    ] {
        with(name, value).refused("invalid_request");
    }
    let created = with("start", json!("host")).expect(201);
    let null = &Value::Null;
    let (tokens, invitations) = (&created["seat_tokens"], &created["invitations"]);
    assert!(tokens[1].is_string() && [&tokens[0], &tokens[2], &tokens[3]] == [null; 3]);
    assert!(invitations[0].is_string() && invitations[3].is_string());
    assert_eq!((&invitations[1], &invitations[2]), (null, null));
    // Without open seats the response is as it always was.
    let plain = server.post("/v1/games").json(&json!({})).send().expect(201);
    assert!(plain.get("invitations").is_none() && plain.get("invitation").is_none());
    let anyone = with("join", json!("anyone")).expect(201);
    assert_eq!(
        (&anyone["invitations"], &anyone["invitation"]),
        (null, null)
    );
    let listed = server
        .get("/v1/games?phase=seating&limit=100")
        .send()
        .expect(200);
    let listed = listed["games"].as_array().expect("games");
    assert!(listed.iter().any(|game| game["id"] == created["id"]));
}

#[test]
fn a_retry_gets_the_same_seat_and_secrets() {
    let server = TestServer::start();
    let create = || {
        let open = json!({"kind": "open"});
        let body = json!({"seats": [open, open, open, open]});
        server
            .post("/v1/games")
            .key(KEY)
            .json(&body)
            .send()
            .expect(201)
    };
    let created = create();
    assert_eq!(create(), created);
    let path = format!("/v1/games/{}/join", created["id"].as_str().expect("an id"));
    let body = json!({"invitation": created["invitation"], "name": "Eva"});
    let join = || server.post(&path).key(KEY).json(&body).send();
    let joined = join().expect(201);
    server.restart(Signal::Kill);
    assert_eq!(join().expect(201), joined);
    let other = json!({"invitation": created["invitation"]});
    let other = server.post(&path).key(KEY).json(&other).send();
    other.refused("idempotency_key_reused");
    // Opening a seat answers with a secret too.
    let host = created["host_token"].as_str().expect("a token");
    let path = format!(
        "/v1/games/{}/seats/1",
        created["id"].as_str().expect("an id")
    );
    let open = |key: &str| {
        let request = server.request("PUT", &path).token(host).key(key);
        request.json(&json!({"kind": "open"})).send()
    };
    open("weak").refused("weak_idempotency_key");
    let opened = open(KEY).expect(200);
    assert_eq!(open(KEY).expect(200), opened);
    assert!(
        opened["invitation"]
            .as_str()
            .is_some_and(|text| text.starts_with("1-"))
    );
}

#[test]
fn bots_fill_the_seats_of_people_who_do_not_come() {
    let server = TestServer::shared();
    let wishes = json!({"bots_after_seconds": 1, "start": "full", "bot_pace_ms": 0});
    let mut table = TestTable::create(&server, &wishes);
    assert!(table.game.view(Spectator)["bots_at"].is_string());
    table.join(&json!({"invitation": table.invitation, "seat": 2, "name": "Eva"}));
    let mut version = 2;
    let dealt = loop {
        let path = format!("?after_version={version}");
        let waited = table.game.get(Seat(2), &path).send();
        if waited.status == 304 {
            continue;
        }
        let view = waited.expect(200);
        if view["phase"] != "seating" && view["phase"] != "deal" {
            break view;
        }
        version = view["version"].as_u64().expect("a version");
    };
    assert_eq!(kinds(&dealt), ["bot", "bot", "human", "bot"]);
    let history = table.game.get(Seat(2), "/history").send().expect(200);
    let events: Vec<&Value> = history["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| &entry["events"][0])
        .collect();
    for (event, seat) in events[2..5].iter().zip([0, 1, 3]) {
        assert_eq!(event["type"], "seat_handed_over");
        assert_eq!(
            (&event["seat"], &event["by"]),
            (&json!(seat), &json!("server"))
        );
    }
    assert_eq!(
        (&events[5]["type"], &events[5]["by"]),
        (&json!("cards_dealt"), &json!("server"))
    );
    // The seat's own hand is there.
    assert_eq!(table.game.hand(2).len(), 6);
}

#[test]
fn the_server_deals_every_round_also_after_a_kill() {
    let server = TestServer::start();
    let bots = [(); 3].map(|()| json!({"kind": "bot", "level": "random"}));
    let seats = json!([{"kind": "open"}, bots[0], bots[1], bots[2]]);
    let wishes = json!({"seats": seats, "start": "full", "bot_pace_ms": 0});
    let mut table = TestTable::create(&server, &wishes);
    table.join(&json!({"invitation": table.invitation}));
    server.restart(Signal::Kill);
    let game = &table.game;
    loop {
        let view = game.view(Seat(0));
        let action = &view["actions"][0];
        match action["route"].as_str() {
            None => thread::sleep(std::time::Duration::from_millis(5)),
            Some("swap") => drop(game.swap(0, &json!({"card": game.hand(0)[0]}))),
            Some("play") => {
                let (seat, id) = game.first_move();
                game.play(seat, &id);
            }
            Some(other) => panic!("the server deals, not seat 0: {other}"),
        }
        if view["round"] == 3 || view["phase"] == "finished" {
            break;
        }
    }
    let history = game.get(Seat(0), "/history").send().expect(200);
    let entries = history["entries"].as_array().expect("entries");
    let deals = entries
        .iter()
        .filter(|entry| entry["events"][0]["type"] == "cards_dealt");
    let by: Vec<&Value> = deals.map(|entry| &entry["events"][0]["by"]).collect();
    assert!(
        by.len() >= 2 && by.iter().all(|by| **by == json!("server")),
        "{by:?}"
    );
}

#[test]
fn of_hundreds_who_want_the_last_seat_one_gets_it() {
    let server = TestServer::start();
    let other = TestServer::beside(&server);
    let mut table = TestTable::create(&server, &json!({}));
    for seat in 0..3 {
        table.join(&json!({"invitation": table.invitation, "seat": seat}));
    }
    let body = json!({"invitation": table.invitation});
    let path = table.game.path("/join");
    let responses = thread::scope(|scope| {
        let join = |at: usize| {
            let server = if at.is_multiple_of(2) {
                &server
            } else {
                &other
            };
            let (path, body) = (&path, &body);
            scope.spawn(move || {
                let send = || server.post(path).json(body).send();
                [(); 10].map(|()| send())
            })
        };
        let threads: Vec<_> = (0..30).map(join).collect();
        let responses = threads
            .into_iter()
            .map(|thread| thread.join().expect("responses"));
        responses.flatten().collect::<Vec<_>>()
    });
    let (won, lost): (Vec<_>, Vec<_>) = responses
        .into_iter()
        .partition(|response| response.status == 201);
    assert_eq!((won.len(), lost.len()), (1, 299));
    for response in lost {
        response.refused_one_of(&["no_open_seat", "unavailable"]);
    }
    let view = table.game.view(Spectator);
    assert_eq!(
        (&view["version"], &view["phase"]),
        (&json!(5), &json!("deal"))
    );
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
        let joined = thread::scope(|scope| {
            let join = |at: usize| {
                let server = if at.is_multiple_of(2) {
                    &server
                } else {
                    &other
                };
                let path = &path;
                scope.spawn(move || server.post(path).json(&json!({})).send())
            };
            let threads: Vec<_> = (0..6).map(join).collect();
            let seat = round % 4;
            let bot = table.put(Host, seat, &json!({"kind": "bot"}));
            assert!([200, 503].contains(&bot.status), "{}", bot.text());
            if round % 5 == 0 {
                other.restart(Signal::Kill);
            }
            let responses = threads.into_iter().map(|thread| thread.join());
            responses.filter_map(Result::ok).collect::<Vec<_>>()
        });
        let mut seats = Vec::new();
        for response in joined {
            if response.status != 201 {
                response.refused_one_of(&["no_open_seat", "unavailable"]);
                continue;
            }
            let joined = response.expect(201);
            let seat = joined["seat"].as_u64().expect("a seat");
            assert!(!seats.contains(&seat), "seat {seat} was given twice");
            seats.push(seat);
            let token = joined["token"].as_str().expect("a token");
            let view = server.get(&game.path("")).token(token).send();
            assert_eq!(view.status, 200, "a token that was answered is valid");
        }
    }
}

#[test]
fn joins_race_with_the_time_when_bots_fill_the_seats() {
    let server = TestServer::start();
    let other = TestServer::beside(&server);
    let more = json!({"bots_after_seconds": 1, "join": "anyone", "bot_pace_ms": 60_000});
    let tables: Vec<TestTable<'_>> = (0..10).map(|_| TestTable::create(&server, &more)).collect();
    // Each table gets joins from 0.9 to 1.1 seconds after its creation.
    thread::sleep(std::time::Duration::from_millis(900));
    let joined = thread::scope(|scope| {
        let join = |table: &TestTable<'_>, at: usize| {
            let server = if at.is_multiple_of(2) {
                &server
            } else {
                &other
            };
            let path = table.game.path("/join");
            scope.spawn(move || {
                thread::sleep(std::time::Duration::from_millis(50 * at as u64));
                server.post(&path).json(&json!({})).send()
            })
        };
        let threads = |table| (0..4).map(|at| join(table, at)).collect::<Vec<_>>();
        let threads: Vec<_> = tables.iter().map(threads).collect();
        let responses = threads.into_iter().map(|threads| {
            let responses = threads.into_iter().map(|thread| thread.join());
            responses.map(|response| response.expect("a response"))
        });
        responses.map(Iterator::collect).collect::<Vec<Vec<_>>>()
    });
    for (table, responses) in tables.iter().zip(joined) {
        let mut seats = Vec::new();
        for response in responses {
            if response.status == 201 {
                seats.push(response.expect(201)["seat"].as_u64().expect("a seat") as usize);
            } else {
                response.refused_one_of(&["no_open_seat", "unavailable"]);
            }
        }
        while table.game.view(Spectator)["phase"] == "seating" {
            thread::sleep(std::time::Duration::from_millis(5));
        }
        let view = table.game.view(Spectator);
        let kinds = kinds(&view);
        for (seat, kind) in kinds.iter().enumerate() {
            let is_human = seats.iter().filter(|&&taken| taken == seat).count();
            assert!(is_human < 2, "seat {seat} was given twice");
            let expected = if is_human == 1 { "human" } else { "bot" };
            assert_eq!(*kind, expected, "seat {seat}");
        }
    }
}

#[test]
fn nobody_else_can_have_the_token_of_a_person_who_joined() {
    let server = TestServer::shared();
    let table = TestTable::full(&server, &json!({}));
    let game = &table.game;
    let refused = game
        .post(Host, "/seats/1/token")
        .send()
        .refused("forbidden");
    assert_eq!(refused["reason"], "seat_joined");
    for body in [
        json!({"kind": "human"}),
        json!({"name": "Eve"}),
        json!({"kind": "bot", "name": "x"}),
    ] {
        let refused = table.put(Host, 1, &body).refused("forbidden");
        assert_eq!(refused["reason"], "seat_joined", "{body}");
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
    game.post(Seat(0), "/host/token")
        .send()
        .refused("forbidden");
    game.post(Spectator, "/host/token")
        .send()
        .refused("unauthorized");
    let renew = |game: &TestGame| game.post(Host, "/host/token").key(KEY).send();
    let made = |game: &TestGame| game.post(Host, "/seats/1/token").key(KEY).send();
    let opened = |game: &TestGame| {
        let open = json!({"kind": "open"});
        let request = game.request("PUT", Host, "/seats/3").key(KEY);
        request.json(&open).send()
    };
    made(&game).expect(200);
    opened(&game).expect(200);
    let before = game.view(Spectator);
    let fresh = renew(&game).expect(200);
    assert_eq!(
        renew(&game).expect(200),
        fresh,
        "the request that killed the token is replayed"
    );
    game.post(Host, "/deal").send().refused("token_replaced");
    // Retries of other requests with the dead token get nothing.
    made(&game).refused("token_replaced");
    opened(&game).refused("token_replaced");
    let token = fresh["token"].as_str().expect("a token").to_owned();
    server.forbid_in_log(&token);
    game.host = token;
    assert_eq!(game.view(Spectator), before);
    let bot = game.request("PUT", Host, "/seats/3");
    bot.json(&json!({"kind": "bot"})).send().expect(200);
    game.deal();
}

#[test]
fn a_seat_owns_its_token_after_the_first_renewal() {
    let server = TestServer::shared();
    let mut game = TestGame::fixed(&server);
    assert_eq!(game.view(Host)["seats"][2]["joined"], false);
    let renew = |game: &TestGame, by: TestViewer| game.post(by, "/seats/2/token").send();
    let fresh = renew(&game, Seat(2)).expect(200);
    assert_eq!(fresh["version"], 2, "the first renewal is a version");
    let view = game.view(Host);
    assert_eq!(
        view["last_action"],
        json!({"type": "token_renewed", "seat": 2})
    );
    assert_eq!(view["seats"][2]["joined"], true);
    game.tokens[2] = fresh["token"].as_str().expect("a token").to_owned();
    server.forbid_in_log(&game.tokens[2]);
    let refused = renew(&game, Host).refused("forbidden");
    assert_eq!(refused["reason"], "seat_joined");
    assert_eq!(renew(&game, Seat(2)).expect(200)["version"], 2);
}
