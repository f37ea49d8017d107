//! What clients attach to games and to seats, and who sees it.

use serde_json::{Value, json};

use crate::{
    limits::{HERE, behind_a_proxy, from},
    support::{TestGame, TestServer, TestTable, TestViewer::*, with},
};

const WORD: &str = "attached-2718";

/// An object that no other text has.
fn attached(what: &str) -> Value {
    json!({ "note": format!("{WORD} {what}"), "list": [1, {"b": null, "a": 1e2}] })
}

/// What a viewer sees of the game's and of each seat's.
fn seen(view: &Value) -> (Value, Vec<Value>) {
    let seats = view["seats"].as_array().expect("seats").iter();
    let has = |view: &Value| view.get("data").cloned().unwrap_or(json!("nothing"));
    (has(view), seats.map(has).collect())
}

#[test]
fn only_the_host_and_the_seats_see_it() {
    let server = TestServer::start();
    let bot = json!({"kind": "bot", "level": "greedy", "data": attached("bot")});
    let seats = json!([{"data": attached("0")}, {}, {"data": attached("2")}, bot]);
    let body = json!({"seats": seats, "data": attached("game"), "bot_pace_ms": 0});
    let created = server.create(&body).expect(201);
    let game = TestGame::from_created(&server, &created);
    let nothing = || json!("nothing");
    let all = vec![attached("0"), nothing(), attached("2"), attached("bot")];
    assert_eq!(seen(&created["game"]), (attached("game"), all.clone()));
    let own = |seat: usize| {
        let mut own = vec![nothing(); 4];
        own[seat] = all[seat].clone();
        own
    };
    for _ in 0..2 {
        assert_eq!(seen(&game.view(Host)), (attached("game"), all.clone()));
        assert_eq!(seen(&game.view(Seat(0))), (attached("game"), own(0)));
        assert_eq!(seen(&game.view(Seat(1))), (attached("game"), own(1)));
        assert_eq!(seen(&game.view(Spectator)), (nothing(), vec![nothing(); 4]));
        game.post(Host, "/deal").send();
    }
    // It is nowhere else.
    let silent = |what: &str, text: &str| assert!(!text.contains(WORD), "{what}: {text}");
    let change = json!({"kind": "human", "name": "Anna"});
    silent("change", &game.put(Seat(0), 0, &change).text());
    for viewer in [Host, Seat(0), Spectator] {
        for rest in [
            "/history",
            "/presence",
            "/board.svg",
            "/events?after_end=true",
        ] {
            if rest.starts_with("/events") {
                let stream = game.lines(viewer, "?include=game");
                silent("stream", &stream.text(1));
                continue;
            }
            silent(rest, &game.get(viewer, rest).send().text());
        }
    }
    let game_line = json!({"games": [{"id": game.id, "token": game.host}]});
    let many = server.post("/v1/events").json(&game_line);
    silent("many", &crate::support::Stream::open(many).text(1));
    silent("list", &server.get("/v1/games").send().text());
    silent("metrics", &server.get("/metrics").send().text());
    silent("log", &server.log());
}

#[test]
fn it_moves_with_its_person() {
    let server = TestServer::start();
    let mut table = TestTable::create(&server, &json!({"data": {"table": 7}}));
    let invitation = table.invitation.clone();
    let joined =
        table.join(&json!({"invitation": invitation, "seat": 1, "data": attached("Anna")}));
    let of = |view: &Value, seat: usize| view["seats"][seat].get("data").cloned();
    assert_eq!(of(&joined["game"], 1), Some(attached("Anna")));
    assert_eq!(joined["game"]["data"], json!({"table": 7}));
    let game = &table.game;
    // A bot plays meanwhile; the person comes back.
    for kind in ["bot", "human"] {
        table.put(Seat(1), 1, &json!({"kind": kind})).expect(200);
        assert_eq!(of(&game.view(Host), 1), Some(attached("Anna")), "{kind}");
    }
    let invitation = table.open(1);
    assert_eq!(of(&game.view(Host), 1), None);
    assert!(
        !server
            .database()
            .sql("SELECT data FROM games")
            .concat()
            .contains(WORD)
    );
    let other = table.ask_to_join(&json!({"invitation": invitation, "name": "Bea"}));
    assert_eq!(of(&other.expect(201)["game"], 1), None);
    assert_eq!(game.view(Host)["data"], json!({"table": 7}));
}

#[test]
fn it_moves_with_its_person_into_the_rematch() {
    let server = TestServer::start();
    let seats = [0, 1, 2, 3].map(|seat| json!({"data": {"account": seat}}));
    let body = json!({"seats": seats, "data": {"table": 7}, "bot_pace_ms": 0});
    let game = TestGame::create(&server, &body);
    let bot = json!({"kind": "bot", "level": "greedy"});
    for seat in 0..4 {
        game.put(Seat(seat), seat, &bot).expect(200);
    }
    game.post(Host, "/deal").send();
    game.wait_for(|view| view["phase"] == "finished");
    // Partners change.
    let asked = game.post_json(Seat(0), "/rematch", &json!({"seats": [0, 2, 1, 3]}));
    let next = asked.expect(201);
    assert!(!next.to_string().contains("account"), "{next}");
    let path = format!("/v1/games/{}", next["id"].as_str().expect("an id"));
    let view = |token: &str| server.get(&path).token(token).send().expect(200);
    let accounts = [0, 2, 1, 3].map(|seat| json!({"account": seat}));
    let all = (json!({"table": 7}), accounts.to_vec());
    assert_eq!(seen(&view(&game.host)), all);
    let (_, own) = seen(&view(&game.tokens[1]));
    assert_eq!(own[2], json!({"account": 1}));
    assert_eq!(own[1], json!("nothing"));
}

#[test]
fn what_is_no_object_or_too_large_is_refused() {
    let server = TestServer::start();
    let deep = |levels: usize| {
        let text = "{\"a\":".repeat(levels - 1) + "{}" + &"}".repeat(levels - 1);
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let long = |bytes: usize| json!({ "a": "x".repeat(bytes - 8) });
    for (data, is_right) in [
        (json!({}), true),
        (long(1024), true),
        (long(1025), false),
        (deep(16), true),
        (deep(17), false),
        (json!([]), false),
        (json!("text"), false),
        (json!(1), false),
    ] {
        for (body, pointer) in [
            (json!({"data": data}), "/data"),
            (
                json!({"seats": [{}, {}, {"data": data}, {}]}),
                "/seats/2/data",
            ),
        ] {
            let answer = server.create(&body);
            if is_right {
                answer.expect(201);
            } else {
                let problem = answer.refused("invalid_request");
                assert_eq!(problem["errors"][0]["pointer"], pointer, "{data}");
            }
        }
    }
    // White space does not count, and texts stay as they were sent.
    let number = "12345678901234567890.50";
    let body = format!(
        "{{\"data\": {{ {} \"n\" : {number}, \"s\": \" a\\\" }} \" }} }}",
        " ".repeat(2_000)
    );
    let answer = server
        .post("/v1/games")
        .text("application/json", &body)
        .send();
    let text = answer.text();
    let sent = format!("\"data\":{{\"n\":{number},\"s\":\" a\\\" }} \"}}");
    assert!(text.contains(&sent), "{text}");
    // A mistake elsewhere is told as such.
    let wrong = with(json!({"data": {"a": 1}}), &json!({"bot_pace_ms": "x"}));
    let problem = server.create(&wrong).refused("invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/bot_pace_ms");
}

#[test]
fn it_counts_in_the_quota() {
    let server = behind_a_proxy(&[("DOG_KEPT_PER_ADDRESS", "1")]);
    let data = json!({ "a": "x".repeat(1_000) });
    let seat = json!({"data": data});
    let created = |body: &Value| {
        from(server.post("/v1/games").json(body), HERE)
            .send()
            .status
    };
    let body = json!({"data": data, "seats": [seat, seat, seat, seat]});
    // 21 KiB each, of 1,024 KiB.
    let number = (0..100).take_while(|_| created(&body) == 201).count();
    assert_eq!(number, 48);
    assert_eq!(created(&body), 429);
}
