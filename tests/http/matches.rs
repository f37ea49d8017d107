//! Duplicate matches: `/v1/matches`, and their tables.

use serde_json::{Value, json};

use crate::{
    limits::{HERE, behind_a_proxy, from},
    support::{
        GameSecrets, OperatorFile, Signal, Stream, TestGame, TestMatch, TestServer,
        TestViewer::{self, *},
        UNKNOWN_TOKEN, document, verify, wait_until, with,
    },
};

/// The people of this team give up.
fn forfeit(game: &TestGame, team: usize) -> Value {
    game.post(Seat(team), "/forfeit").send().expect(200);
    game.post(Seat(team + 2), "/forfeit").send().expect(200)
}

/// A match of one pair whose tables were dealt.
fn dealt<'a>(server: &'a TestServer, more: &Value) -> TestMatch<'a> {
    let mut of = TestMatch::create(server, more);
    for table in 0..of.tables.len() {
        let game = of.fill(table);
        wait_until("the first deal", || {
            game.view(Seat(0))["phase"] == "exchange"
        });
    }
    of
}

fn hands(game: &TestGame) -> Vec<Vec<String>> {
    (0..4).map(|seat| game.hand(seat)).collect()
}

/// Whether nobody but its seats sees it.
fn is_closed(game: &TestGame) -> bool {
    let seen = game.get(Spectator, "").send();
    let (closed, own) = (seen.status == 403, game.view(Seat(1)));
    assert_eq!(own["match_closed"], closed);
    if closed {
        seen.refused("match_running");
    }
    closed
}

#[test]
fn the_tables_of_a_pair_play_the_same_cards_with_the_sides_changed() {
    let server = TestServer::start();
    let sides = json!([
        {"name": "Red", "kind": "open"}, {"name": "Blue", "kind": "bot", "level": "greedy"}]);
    let body = json!({"pairs": 2, "rules": {"preset": "hausregeln"}, "turn_seconds": 60,
        "sides": sides, "first_dealer": 1, "bot_pace_ms": 2_000, "reactions": false});
    let key = "8c1f0d3f6b0c4f5b9d4c0f7a2e6b1d90";
    let response = server.post("/v1/matches").key(key).json(&body).send();
    let path = response.header("location").expect("a path").to_owned();
    let created = response.expect(201);
    let again = server.post("/v1/matches").key(key).json(&body).send();
    assert_eq!(again.expect(201), created);
    let commitments = [0, 1].map(|pair| created["pairs"][pair]["commitment"].clone());
    assert_ne!(commitments[0], commitments[1]);

    let mut of = TestMatch::from_created(&server, &created);
    assert_eq!(path, format!("/v1/matches/{}", of.id));
    let ids: Vec<_> = of
        .tables
        .iter()
        .map(|table| table.game.id.clone())
        .collect();
    assert_eq!(ids.len(), 4);
    let all: Vec<_> = (0..4)
        .map(|number| {
            let open: Vec<_> = of.tables[number]
                .invitations
                .iter()
                .map(|one| !one.is_empty())
                .collect();
            let first = number % 2 == 0;
            assert_eq!(open, [first, !first, first, !first]);
            let before = of.tables[number].game.view(Spectator);
            assert_eq!(before["match_id"], of.id);
            assert_eq!(before["match_table"], number);
            assert_eq!(before["match_closed"], false);
            assert_eq!(before["shuffle_commitment"], commitments[number / 2]);
            assert_eq!(before["dealer"], 1);
            assert_eq!(before["start"], "full");
            assert_eq!(before["bot_pace_ms"], 2_000);
            for (seat, &open) in open.iter().enumerate() {
                let [kind, name, level] = match open {
                    true => ["open", "Seat", "fast"],
                    false => ["bot", "Bot", "greedy"],
                };
                let shown = &before["seats"][seat];
                assert_eq!(shown["kind"], kind);
                assert_eq!(shown["name"], format!("{name} {seat}"));
                assert_eq!(shown["level"], level);
            }
            let game = of.fill(number);
            let own = usize::from(!first);
            wait_until("the first deal", || {
                game.view(Seat(own))["phase"] == "exchange"
            });
            let view = game.view(Seat(own));
            assert_eq!(view["match_closed"], true);
            assert_eq!(view["turn_seconds"], 60);
            assert_eq!(view["reactions"], false);
            let secrets = GameSecrets::read(server.database(), &game.id);
            let hand = |seat| secrets.hand(seat);
            let etag = game.get(Seat(own), "").send();
            let etag = etag.header("etag").expect("a tag").to_owned();
            assert_eq!(etag, format!("\"{}-{own}-closed\"", view["version"]));
            let known = game.get(Seat(own), "").header("If-None-Match", &etag);
            assert_eq!(known.send().status, 304);
            [0, 1, 2, 3].map(hand)
        })
        .collect();
    assert_eq!(all[0], all[1]);
    assert_eq!(all[2], all[3]);
    assert_ne!(all[0], all[2]);

    let view = of.view(&server);
    assert_eq!(view["rules"]["preset"], "hausregeln");
    assert_eq!(view["pairs"], 2);
    assert_eq!(view["complete_pairs"], json!([]));
    let empty = json!({"pairs": 0, "games": 0, "won": 0, "score": null, "low": null, "high": null,
        "margin": null});
    let (red, blue) = (json!({"level": "fast"}), json!({}));
    for (side, more) in [red, blue].iter().enumerate() {
        let expected = with(with(sides[side].clone(), more), &empty);
        assert_eq!(view["sides"][side], expected);
    }
}

#[test]
fn only_what_a_match_has_is_taken() {
    let server = TestServer::start();
    let open = json!({"name": "Red", "kind": "open"});
    let good = json!({"turn_seconds": 60, "sides": [open, open]});
    let wrong = [
        (json!({"pairs": 0}), "invalid_request"),
        (json!({"pairs": 33}), "invalid_request"),
        (json!({"turn_seconds": 9}), "invalid_request"),
        (json!({"turn_seconds": null}), "invalid_request"),
        (json!({"sides": [open]}), "invalid_request"),
        (json!({"sides": [open, open, open]}), "invalid_request"),
        (
            json!({"sides": [open, {"name": "Blue", "kind": "human"}]}),
            "invalid_request",
        ),
        (
            json!({"sides": [open, {"name": "", "kind": "bot"}]}),
            "invalid_request",
        ),
        (
            json!({"rules": {"preset": "dogspiel-it", "seats": 6}}),
            "invalid_request",
        ),
        (json!({"first_dealer": 4}), "invalid_request"),
        (json!({"shuffle_seed": "00"}), "invalid_request"),
        (json!({"listed": false}), "invalid_request"),
        (json!({"join": "anyone"}), "invalid_request"),
        (json!({"start": "host"}), "invalid_request"),
        (json!({"seats": []}), "invalid_request"),
        (json!({"rules": {"jokers": 99}}), "invalid_rules"),
    ];
    for (more, code) in wrong {
        let body = with(good.clone(), &more);
        server.post("/v1/matches").json(&body).send().refused(code);
    }
    server.post("/v1/matches").json(&good).send().expect(201);
    let twice = server.post("/v1/matches").key("weak").json(&good);
    twice.send().refused("weak_idempotency_key");
    for id in ["06zgrb0wmrqk9y7ttx2vbkhq1r", "nonsense"] {
        server
            .get(&format!("/v1/matches/{id}"))
            .send()
            .refused("match_not_found");
    }
}

#[test]
fn a_match_costs_its_tables() {
    let server = behind_a_proxy(&[("DOG_GAMES_PER_ADDRESS", "8")]);
    let side = json!({"name": "Bots", "kind": "bot", "level": "random"});
    let create = |pairs: u32| {
        let body = json!({"pairs": pairs, "turn_seconds": 60, "sides": [side, side]});
        from(server.post("/v1/matches"), HERE).json(&body).send()
    };
    let first = create(3);
    assert!(
        first.header("ratelimit").expect("a limit").contains("r=2"),
        "{first:?}"
    );
    first.expect(201);
    create(2).refused("too_many_requests");
}

/// Every route of the document about one game, with a body that it takes.
fn routes() -> Vec<(String, String, Option<Value>)> {
    let document = document();
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        if !path.starts_with("/v1/games/{id}") {
            continue;
        }
        for (method, operation) in operations.as_object().expect("operations") {
            let content = &operation["requestBody"]["content"]["application/json"];
            let name = content["schema"]["$ref"].as_str().unwrap_or_default();
            let name = name.rsplit('/').next().expect("a name");
            let example = &document["components"]["schemas"][name]["example"];
            let body = (!content.is_null()).then(|| example.clone());
            routes.push((method.to_uppercase(), path.clone(), body));
        }
    }
    assert!(routes.len() > 20);
    routes
}

#[test]
fn no_route_shows_a_closed_table_to_others() {
    let server = TestServer::start();
    let of = dealt(&server, &json!({}));
    let [one, other] = [0, 1].map(|table| &of.tables[table].game);
    let check = |when: &str| {
        for (method, path, body) in routes() {
            let path = path.replace("{id}", &one.id).replace("{seat}", "0");
            let send = |token: Option<&str>| {
                let mut request = server.request(&method, &path);
                if let Some(token) = token {
                    request = request.token(token);
                }
                if let Some(body) = &body {
                    request = request.json(body);
                }
                request.send()
            };
            let what = format!("{method} {path} {when}");
            for token in [
                None,
                Some(&*of.host),
                Some(&*other.tokens[0]),
                Some(UNKNOWN_TOKEN),
            ] {
                let response = send(token);
                let code = response.json()["code"].clone();
                let is_stranger = token.is_some() && token != Some(&of.host);
                let allowed = match (token, path.ends_with("/join")) {
                    (_, true) => ["match_running"; 2],
                    (None, _) => ["match_running", "unauthorized"],
                    _ if is_stranger => ["unauthorized"; 2],
                    _ => ["match_running"; 2],
                };
                assert!(
                    allowed.iter().any(|allowed| code == *allowed),
                    "{what}: {code}"
                );
            }
        }
        let listed = server.get("/v1/games?limit=100").send().expect(200);
        assert!(!listed.to_string().contains(&one.id), "{when}");
        let followed = json!({"games": [{"id": one.id}, {"id": one.id, "token": of.host}]});
        let lines = Stream::open(server.post("/v1/events").json(&followed));
        for _ in 0..2 {
            let line = lines.any().expect("a line").data;
            assert_eq!(line["problem"]["code"], "match_running", "{when}");
        }
    };
    check("while it is played");
    forfeit(one, 0);
    check("once it has ended");
    assert!(is_closed(one) && is_closed(other));
    forfeit(other, 0);
    assert!(!is_closed(one) && !is_closed(other));
    let listed = one.get(Spectator, "/history").send().expect(200);
    assert_eq!(listed["winner"], 1);
}

#[test]
fn in_the_seating_a_table_is_seen_like_any_other() {
    let server = TestServer::start();
    let mut of = TestMatch::create(&server, &json!({}));
    let other = of.fill(1).clone();
    wait_until("the first deal", || {
        other.view(Seat(0))["match_closed"] == true
    });
    assert!(is_closed(&other));
    let id = of.tables[0].game.id.clone();
    let listed = server.get("/v1/games").send().expect(200).to_string();
    assert!(listed.contains(&id) && !listed.contains(&other.id));
    let table = of.tables[0].game.clone();
    assert_eq!(table.view(Spectator)["phase"], "seating");
    // The host of the match is a spectator at its tables.
    assert_eq!(table.view(Host), table.view(Spectator));
    table
        .post_json(Host, "/deal", &json!({}))
        .refused("unauthorized");
    table
        .patch(Host, &json!({"listed": false}))
        .refused("unauthorized");
    table.get(Host, "").header("Authorization", "").send();

    let streams = [
        table.events(Spectator, "?after_end=true"),
        table.events(Host, ""),
        Stream::open(
            server
                .post("/v1/events")
                .json(&json!({"games": [{"id": table.id}]})),
        ),
    ];
    let version = table.version();
    let last = version + 3;
    let waits = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let seen = table.get(Spectator, &format!("?after_version={last}"));
            // It is seated by three people when the request waits.
            wait_until("three people", || table.version() == last);
            seen.send()
        });
        let invitations = of.tables[0].invitations.clone();
        for invitation in &invitations[..3] {
            of.tables[0].join(&json!({"invitation": invitation}));
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        of.tables[0].join(&json!({"invitation": invitations[3]}));
        waiting.join().expect("an answer")
    });
    // The join of the last person may be seen before the first deal.
    if waits.status != 200 {
        waits.refused("match_running");
    }
    for (number, stream) in streams.iter().enumerate() {
        for message in stream.rest() {
            let data = message.data.to_string();
            assert!(!data.contains("cards_dealt"), "stream {number}: {data}");
        }
    }
    let game = &of.tables[0].game;
    wait_until("the first deal", || {
        game.view(Seat(0))["match_closed"] == true
    });
    assert!(is_closed(game));
}

#[test]
fn a_pair_opens_once_both_tables_have_ended() {
    let server = TestServer::start();
    let of = dealt(&server, &json!({}));
    let [one, other] = [0, 1].map(|table| &of.tables[table].game);
    let follow = |seat| one.events(Seat(seat), "?after_end=true");
    let streams = [follow(0), follow(1)];
    let waiting = |after: usize| server.get(&format!("/v1/matches/{}?after={after}", of.id));

    let end = forfeit(one, 0);
    let won = json!({"type": "table_won", "team": 1});
    assert_eq!(end["events"][2], won);
    assert!(!end.to_string().contains("game_won"));
    assert_eq!(end["game"]["shuffle_seed"], Value::Null);
    assert_eq!(end["game"]["winner"], 1);
    for seat in 0..4 {
        let view = one.view(Seat(seat));
        assert_eq!(
            (&view["phase"], &view["shuffle_seed"]),
            (&json!("finished"), &Value::Null)
        );
        let history = one.get(Seat(seat), "/history").send().expect(200);
        assert_eq!(history["shuffle_seed"], Value::Null);
        let deal = history["entries"].as_array().expect("entries").iter();
        let mut deals = deal.filter(|entry| entry["events"][0]["type"] == "cards_dealt");
        let dealt = &deals.next().expect("a deal")["events"][0]["hands"];
        for other in 0..4 {
            assert_eq!(dealt[other].is_null(), other != seat, "{dealt}");
        }
        let text = one
            .get(Seat(seat), "/history")
            .header("Accept", "text/plain");
        text.send().refused("game_not_over");
        one.post_json(Seat(seat), "/review", &json!({}))
            .refused("game_not_over");
        one.post_json(Seat(seat), "/rematch", &json!({}))
            .refused("game_not_over");
    }
    assert_eq!(of.view(&server)["complete_pairs"], json!([]));
    assert!(is_closed(one));
    // The end of one table alone ends no wait.
    assert_eq!(
        waiting(0).header("If-None-Match", "W/\"0\"").send().status,
        304
    );

    let view = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| waiting(0).send().expect(200));
        std::thread::sleep(std::time::Duration::from_millis(100));
        forfeit(other, 0);
        waiting.join().expect("an answer")
    });
    assert_eq!(view, of.view(&server));
    assert_eq!(
        waiting(1).header("If-None-Match", "\"1\"").send().status,
        304
    );
    // Team 1 has won both: side 1 the first, side 0 the second.
    let pair = &view["complete_pairs"][0];
    let seed = &pair["shuffle_seed"];
    assert_eq!(pair["pair"], 0);
    assert_eq!(
        [&pair["tables"][0]["winner"], &pair["tables"][1]["winner"]],
        [1, 0]
    );
    assert_eq!(
        [&pair["tables"][0]["id"], &pair["tables"][1]["id"]],
        [&one.id, &other.id]
    );
    for side in view["sides"].as_array().expect("sides") {
        assert_eq!(
            (&side["pairs"], &side["games"], &side["won"]),
            (&json!(1), &json!(2), &json!(1))
        );
        assert_eq!(
            (&side["score"], &side["margin"]),
            (&json!(0.5), &json!(0.0))
        );
        let [low, high] = ["low", "high"].map(|end| side[end].as_f64().expect("a number"));
        // As docs/arena.md says: 3.84 pairs are added, half of them lost and half won.
        let half = 1.96 * (3.8416 * 0.25 / 4.8416_f64.powi(2)).sqrt();
        assert!((low - (0.5 - half)).abs() < 1e-9 && (high - (0.5 + half)).abs() < 1e-9);
    }

    for game in [one, other] {
        assert!(!is_closed(game));
        let seen = game.view(Spectator);
        assert_eq!(&seen["shuffle_seed"], seed);
        assert_eq!(seen["match_closed"], false);
        let text = game.record();
        let (verified, words) = verify(&text);
        assert!(verified, "{words}");
        let history = game.get(Spectator, "/history").send().expect(200);
        assert_eq!(&history["shuffle_seed"], seed);
        assert!(history.to_string().contains("table_won"));
        game.post_json(Seat(0), "/rematch", &json!({})).expect(201);
    }
    for stream in &streams {
        let told = stream.notice_of("match");
        let expected = json!({"type": "match", "match_id": of.id, "shuffle_seed": seed});
        assert_eq!(told, expected);
    }
    let etag = one.get(Seat(1), "").send();
    let expected = format!("\"{}-1\"", one.version());
    assert_eq!(etag.header("etag"), Some(&*expected));
    assert_eq!(hands(one).len(), 4);
}

#[test]
fn after_the_first_deal_a_seat_goes_to_nobody_else() {
    let server = TestServer::start();
    let of = dealt(&server, &json!({"bots_after_seconds": 86_400}));
    let table = &of.tables[0];
    let game = &table.game;
    let put = |viewer: TestViewer, body: Value| game.put(viewer, 1, &body);
    put(Seat(1), json!({"kind": "open"})).refused("match_running");
    put(Seat(1), json!({"kind": "bot"})).expect(200);
    let invitation = json!({"invitation": table.invitations[1], "seat": 1});
    table.ask_to_join(&invitation).refused("match_running");
    put(Host, json!({"kind": "open"})).refused("match_running");
    put(Seat(1), json!({"kind": "human"})).expect(200);
    assert_eq!(game.view(Seat(1))["seats"][1]["kind"], "human");
    // A token can be renewed, and is the only one then.
    let old = game.tokens[1].clone();
    let mut renewed = game.clone();
    renewed.renew(Seat(1), 1);
    game.get(Seat(1), "").send().refused("token_replaced");
    assert_ne!(old, renewed.tokens[1]);
    renewed
        .request("DELETE", Seat(1), "")
        .send()
        .refused("forbidden");
    renewed
        .request("DELETE", Host, "")
        .send()
        .refused("match_running");
}

#[test]
fn a_match_that_is_ended_keeps_its_complete_pairs_only() {
    let server = TestServer::start();
    let of = dealt(&server, &json!({"pairs": 3}));
    let games: Vec<_> = of.tables.iter().map(|table| &table.game).collect();
    let path = format!("/v1/matches/{}", of.id);
    let end = |token: Option<&str>| {
        let request = server.post(&format!("{path}/end"));
        match token {
            Some(token) => request.token(token),
            None => request,
        }
    };
    forfeit(games[0], 0);
    forfeit(games[1], 1);
    forfeit(games[2], 0);
    end(None).send().refused("unauthorized");
    end(Some(&games[0].tokens[0]))
        .send()
        .refused("unauthorized");
    end(Some(&of.host))
        .json(&json!({"pairs": 1}))
        .send()
        .refused("invalid_request");
    let waited = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.get(&format!("{path}?after=1")).send());
        std::thread::sleep(std::time::Duration::from_millis(100));
        let key = "8c1f0d3f6b0c4f5b9d4c0f7a2e6b1d91";
        let ended = end(Some(&of.host)).key(key).send().expect(200);
        assert_eq!(end(Some(&of.host)).key(key).send().expect(200), ended);
        assert_eq!(ended["ended"], true);
        assert_eq!(ended, of.view(&server));
        assert_eq!(end(Some(&of.host)).send().expect(200), ended);
        waiting.join().expect("an answer")
    });
    assert_eq!(waited.header("etag"), Some("W/\"1-ended\""));
    let view = of.view(&server);
    assert_eq!(view["complete_pairs"].as_array().expect("pairs").len(), 1);
    assert_eq!([&view["sides"][0]["won"], &view["sides"][1]["won"]], [0, 2]);
    assert!(!is_closed(games[0]) && !is_closed(games[1]));
    assert!(is_closed(games[2]), "its pair is not laid open");
    for game in &games[3..] {
        game.get(Spectator, "").send().refused("game_not_found");
    }
    server.restart(Signal::Kill);
    assert_eq!(of.view(&server), view);
    assert!(is_closed(&games[2].at(&server)));
}

#[test]
fn a_table_that_is_removed_ends_its_pair_without_a_result() {
    let key = "the-key-of-the-operator";
    let file = OperatorFile::new("operator", key);
    let server = TestServer::start_with(&[("DOG_OPERATOR_KEY", file.path())]);
    let of = dealt(&server, &json!({"pairs": 2}));
    let games: Vec<_> = of.tables.iter().map(|table| &table.game).collect();
    let remove = |game: &TestGame| {
        let request = server.request("DELETE", &game.path(""));
        request.header("Dog-Token", key).send()
    };
    let hand_over = server.request("PUT", &games[0].path("/seats/0"));
    let hand_over = hand_over
        .header("Dog-Token", key)
        .json(&json!({"kind": "bot"}));
    assert_ne!(hand_over.send().status, 200);
    assert_eq!(remove(games[0]).status, 204);
    assert!(is_closed(games[1]), "it is played on");
    forfeit(games[1], 0);
    assert!(!is_closed(games[1]));
    forfeit(games[2], 0);
    assert!(is_closed(games[2]));
    assert_eq!(remove(games[3]).status, 204);
    assert!(!is_closed(games[2]));
    assert_eq!(of.view(&server)["complete_pairs"], json!([]));
}

#[test]
fn bots_play_a_match_to_its_end() {
    let server = TestServer::start();
    let side = |name: &str, level: &str| json!({"name": name, "kind": "bot", "level": level});
    let sides = json!([side("Greedy", "greedy"), side("Random", "random")]);
    let body = json!({"pairs": 4, "turn_seconds": 60, "sides": sides});
    let created = server.post("/v1/matches").json(&body).send().expect(201);
    let of = TestMatch::from_created(&server, &created);
    wait_until("the end of all pairs", || {
        of.view(&server)["complete_pairs"]
            .as_array()
            .expect("pairs")
            .len()
            == 4
    });
    let view = of.view(&server);
    let won = [0, 1].map(|side| view["sides"][side]["won"].as_u64().expect("a number"));
    assert_eq!(won[0] + won[1], 8);
    assert!(won[0] > won[1], "{view}");
    let [score, low, high] =
        ["score", "low", "high"].map(|name| view["sides"][0][name].as_f64().expect("a number"));
    assert!(low < score && score <= high, "{view}");
    let margins = [0, 1].map(|side| view["sides"][side]["margin"].as_f64().expect("a number"));
    assert!(margins[0] > 0.0 && (margins[0] + margins[1]).abs() < 1e-9);
    let mut checked = 0;
    for pair in view["complete_pairs"].as_array().expect("pairs") {
        for (number, table) in pair["tables"]
            .as_array()
            .expect("tables")
            .iter()
            .enumerate()
        {
            let id = table["id"].as_str().expect("an id");
            let game = server.get(&format!("/v1/games/{id}")).send().expect(200);
            let team = game["winner"].as_u64().expect("a winner") as usize;
            assert_eq!(table["winner"], (team + number) % 2);
            assert_eq!(game["shuffle_seed"], pair["shuffle_seed"]);
            let pieces = [0, 1].map(|side| table["pieces"][side].as_u64().expect("a number"));
            let winner = (team + number) % 2;
            assert!(pieces[winner] == 8 && pieces[1 - winner] < 8, "{pair}");
            checked += 1;
        }
    }
    assert_eq!(checked, 8);
}
