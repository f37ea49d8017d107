//! `GET /v1/games`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Signal, TestGame, TestServer, TestTable,
    TestViewer::{Host, Seat, Spectator},
    UNCACHED, seed, wait_until,
};

fn ids(list: &Value) -> Vec<String> {
    let games = list["games"].as_array().expect("games");
    let id = |game: &Value| game["id"].as_str().expect("an id").to_owned();
    games.iter().map(id).collect()
}

/// Follows the cursors of a query (which ends in `?` or `&`) to the end; returns each page's ids.
fn parts(server: &TestServer, query: &str) -> Vec<Vec<String>> {
    let mut parts = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/games{query}{cursor}");
        let list = server.get(&path).send().expect(200);
        parts.push(ids(&list));
        match list["next"].as_str() {
            Some(next) => cursor = format!("cursor={next}"),
            None => return parts,
        }
        assert!(parts.len() < 100, "the list does not end");
    }
}

#[test]
fn paging_shows_every_game_once_with_the_newest_first() {
    let server = TestServer::start();
    assert_eq!(parts(&server, "?limit=1&"), [[""; 0]]);
    let mut created: Vec<String> = (0..7).map(|_| TestGame::fixed(&server).id).collect();
    created.reverse();
    for limit in 1..=8 {
        let parts = parts(&server, &format!("?limit={limit}&"));
        assert!(parts.iter().all(|part| part.len() <= limit));
        assert_eq!(parts.concat(), created, "limit {limit}");
    }
}

#[test]
fn games_created_or_removed_while_paging_do_no_harm() {
    let server = TestServer::start();
    let games: Vec<TestGame> = (0..6).map(|_| TestGame::fixed(&server)).collect();
    let first = server.get("/v1/games?limit=2").send().expect(200);
    let seen = ids(&first);
    let next = first["next"].as_str().expect("a cursor");
    TestGame::fixed(&server);
    // The last game of the page, and one of a later page.
    let last_seen = games.iter().find(|game| game.id == seen[1]);
    let to_come = games.iter().find(|game| !seen.contains(&game.id));
    let to_come = to_come.expect("another");
    last_seen.expect("a game of ours").remove();
    to_come.remove();
    let rest = server
        .get(&format!("/v1/games?limit=100&cursor={next}"))
        .send();
    let rest = BTreeSet::from_iter(ids(&rest.expect(200)));
    let expected = games.iter().map(|game| game.id.clone());
    let expected = expected.filter(|id| !seen.contains(id) && *id != to_come.id);
    assert_eq!(rest, expected.collect::<BTreeSet<_>>());
}

#[test]
fn the_phase_filter_lists_one_phase() {
    let server = TestServer::start();
    for (phase, game) in [
        ("deal", TestGame::fixed(&server)),
        ("exchange", TestGame::dealt(&server)),
        ("play", TestGame::in_play(&server)),
    ] {
        let list = server.get(&format!("/v1/games?phase={phase}")).send();
        let list = list.expect(200);
        assert_eq!(ids(&list), [game.id]);
        assert_eq!(list["games"][0]["phase"], phase);
    }
    let list = server.get("/v1/games?phase=finished").send().expect(200);
    assert_eq!(list["games"], json!([]));
    for _ in 0..4 {
        TestGame::fixed(&server);
    }
    let all = parts(&server, "?phase=deal&limit=2&").concat();
    assert_eq!(BTreeSet::from_iter(all).len(), 5);
}

#[test]
fn entries_follow_their_games_and_hold_no_secret() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    TestGame::imported(&server);
    let list = server.get("/v1/games").send().expect(200);
    assert_eq!(list["games"][0]["imported"], true);
    let entry = &list["games"][1];
    assert_eq!(
        json!([entry["version"], entry["turn"], entry["imported"]]),
        json!([6, 1, false])
    );
    let text = entry.to_string();
    for secret in game.tokens.iter().chain([&game.host, &seed(1)]) {
        assert!(!text.contains(secret.as_str()), "{text}");
    }
    for field in ["hand", "hands", "stock", "shuffle_seed"] {
        assert!(entry.get(field).is_none_or(Value::is_null), "{text}");
    }
}

/// The ids of the open tables of one page, and how many seats anyone may take at each.
fn open_tables(server: &TestServer, more: &str) -> Vec<(String, u64)> {
    let list = server.get(&format!("/v1/games?open=true{more}")).send();
    let list = list.expect(200);
    let games = list["games"].as_array().expect("games").iter();
    let open_seats = games.map(|game| game["open_seats"].as_u64().expect("a number"));
    ids(&list).into_iter().zip(open_seats).collect()
}

#[test]
fn open_tables_have_a_seat_that_anyone_may_take() {
    let server = TestServer::start();
    TestGame::dealt(&server);
    let invited = TestTable::create(&server, &json!({})).game.id;
    TestTable::create(&server, &json!({"join": "anyone", "listed": false}));
    let mut table = TestTable::create(&server, &json!({"join": "anyone", "turn_seconds": 60}));
    let id = table.game.id.clone();
    let with = |seats| vec![(id.clone(), seats)];
    assert_eq!(open_tables(&server, ""), with(4));
    let list = server.get("/v1/games").send().expect(200);
    let mut entries = list["games"].as_array().expect("games").iter();
    let of_invited = entries
        .find(|game| game["id"] == invited)
        .expect("the table");
    assert_eq!(of_invited["open_seats"], 0);

    // A join takes one away, and a seat with an invitation of the host does not count.
    table.join(&json!({"name": "Anna"}));
    assert_eq!(open_tables(&server, ""), with(3));
    table.open(1);
    assert_eq!(open_tables(&server, ""), with(2));
    let list = server.get("/v1/games?open=true").send().expect(200);
    let (entry, view) = (&list["games"][0], table.game.view(Spectator));
    for member in ["rules", "turn_seconds", "phase", "imported", "updated_at"] {
        assert_eq!(entry[member], view[member], "{member}");
    }
    for seat in 0..4 {
        for member in ["seat", "team", "name", "kind"] {
            let shown = &view["seats"][seat][member];
            assert_eq!(entry["seats"][seat][member], *shown, "{member}");
        }
    }
    assert_eq!(entry["seats"][0]["name"], "Anna");

    table.join(&json!({"seat": 2}));
    table.join(&json!({"seat": 3}));
    assert_eq!(open_tables(&server, ""), []);
    table.put(Host, 1, &json!({"kind": "bot"})).expect(200);
    assert_eq!(open_tables(&server, ""), []);

    // A seat that its person gives up comes back, even in a game that has begun.
    table.game.deal();
    table.put(Seat(2), 2, &json!({"kind": "open"})).expect(200);
    assert_eq!(open_tables(&server, ""), with(1));
    for (phase, expected) in [("exchange", with(1)), ("seating", vec![])] {
        let found = open_tables(&server, &format!("&phase={phase}"));
        assert_eq!(found, expected, "{phase}");
    }
    for (listed, expected) in [(false, vec![]), (true, with(1))] {
        let settings = json!({"listed": listed});
        table.game.patch(Host, &settings).expect(200);
        assert_eq!(open_tables(&server, ""), expected);
    }
    table.game.remove();
    assert_eq!(open_tables(&server, ""), []);
}

#[test]
fn a_finished_game_is_not_an_open_table() {
    let server = TestServer::start();
    let bot = json!({"kind": "bot", "level": "greedy"});
    let seats = json!([{"kind": "open", "level": "greedy"}, bot, bot, bot]);
    let body = json!({"seats": seats, "join": "anyone", "start": "full", "bot_pace_ms": 0});
    let mut table = TestTable::create(&server, &body);
    table.join(&json!({}));
    let wait_for = |phase: &str| table.game.wait_for(|view| view["phase"] == phase);
    wait_for("exchange");
    // A bot plays the game to its end for the person who left.
    table.put(Seat(0), 0, &json!({"kind": "open"})).expect(200);
    let view = wait_for("finished");
    assert_eq!(view["seats"][0]["kind"], "open");
    assert_eq!(open_tables(&server, ""), []);
    let list = server.get("/v1/games").send().expect(200);
    assert_eq!(list["games"][0]["open_seats"], 0);
}

#[test]
fn open_tables_are_paged_with_the_newest_first() {
    let server = TestServer::start();
    let mut expected = Vec::new();
    for _ in 0..5 {
        TestTable::create(&server, &json!({}));
        let table = TestTable::create(&server, &json!({"join": "anyone"}));
        expected.insert(0, table.game.id);
    }
    for query in ["?open=true&limit=2&", "?phase=seating&open=true&limit=2&"] {
        let parts = parts(&server, query);
        assert_eq!(parts.len(), 3);
        assert_eq!(parts.concat(), expected);
    }
    assert_eq!(parts(&server, "?open=false&limit=100&").concat().len(), 10);
}

#[test]
fn a_page_that_has_not_changed_is_not_sent_again() {
    let server = TestServer::start();
    let mut table = TestTable::create(&server, &json!({"join": "anyone"}));
    for path in ["/v1/games?open=true", "/v1/games"] {
        let first = server.get(path).send();
        let etag = first.header("etag").expect("an ETag").to_owned();
        let again = || server.get(path).header("If-None-Match", &etag).send();
        let unchanged = again();
        assert_eq!((unchanged.status, unchanged.body.len()), (304, 0));
        assert_eq!(unchanged.header("etag"), Some(&*etag));
        table.join(&json!({}));
        let changed = again();
        assert_ne!(changed.header("etag"), Some(&*etag));
        changed.expect(200);
    }
}

#[test]
fn invalid_queries_are_refused() {
    let server = TestServer::start();
    TestGame::fixed(&server);
    let long = format!("cursor={}", "A".repeat(5000));
    let queries = "phase= phase=Deal limit=0 limit=-1 limit=1.5 limit= cursor= cursor=x \
        cursor=AAAA cursor=%00 cursor=%ff%fe cursor=-1 cursor=9999999999999999999999999 \
        cursor='%20OR%201=1-- open= open=1 open=TRUE open=true&open=true";
    for query in queries.split(' ').chain([&*long]) {
        let response = server.get(&format!("/v1/games?{query}")).send();
        response.refused("invalid_request");
    }
}

#[test]
fn a_cursor_goes_with_another_limit_and_survives_a_restart() {
    let server = TestServer::start();
    let created: BTreeSet<String> = (0..5).map(|_| TestGame::fixed(&server).id).collect();
    let first = server.get("/v1/games?limit=2").send().expect(200);
    let next = first["next"].as_str().expect("a cursor").to_owned();
    server.restart(Signal::Term);
    let rest = server
        .get(&format!("/v1/games?limit=50&cursor={next}"))
        .send();
    let rest = rest.expect(200);
    let all = ids(&first).into_iter().chain(ids(&rest));
    assert_eq!(all.collect::<BTreeSet<_>>(), created);
    assert_eq!(rest["next"], Value::Null);
}

#[test]
fn a_game_that_nobody_uses_leaves_the_list_until_somebody_does() {
    let server = TestServer::start_with(&[UNCACHED]);
    let game = TestGame::fixed(&server);
    let listed = || ids(&server.get("/v1/games").send().expect(200)) == [&*game.id];
    assert!(listed());
    server.database().change_game(&game.id, "listed_until = 1");
    game.view(Spectator);
    assert!(!listed());
    let told = game.view(Host);
    assert!(told.get("listed_until").is_none(), "{told}");
    wait_until("it is listed", listed);
}
