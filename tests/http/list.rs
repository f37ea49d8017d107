//! `GET /v1/games`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{TestGame, TestServer};

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
fn an_empty_list_is_a_list() {
    let server = TestServer::start();
    let list = server.get("/v1/games").send().expect(200);
    assert_eq!(list["games"], json!([]));
    assert_eq!(list["next"], Value::Null);
}

#[test]
fn paging_shows_every_game_once() {
    let server = TestServer::start();
    let created: BTreeSet<String> = (0..7).map(|_| TestGame::fixed(&server).id).collect();
    for limit in 1..=8 {
        let parts = parts(&server, &format!("?limit={limit}&"));
        assert!(parts.iter().all(|part| part.len() <= limit));
        let all: Vec<String> = parts.into_iter().flatten().collect();
        assert_eq!(all.len(), 7, "limit {limit}");
        assert_eq!(BTreeSet::from_iter(all), created);
    }
}

#[test]
fn the_newest_game_comes_first() {
    let server = TestServer::start();
    let mut created: Vec<String> = (0..5).map(|_| TestGame::fixed(&server).id).collect();
    created.reverse();
    let all: Vec<String> = parts(&server, "?limit=2&").into_iter().flatten().collect();
    assert_eq!(all, created);
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
    let last_seen = games
        .iter()
        .find(|game| game.id == seen[1])
        .expect("a game of ours");
    let to_come = games
        .iter()
        .find(|game| !seen.contains(&game.id))
        .expect("another");
    for game in [last_seen, to_come] {
        game.request("DELETE", crate::support::TestViewer::Host, "")
            .send()
            .expect(204);
    }
    let rest = server
        .get(&format!("/v1/games?limit=100&cursor={next}"))
        .send()
        .expect(200);
    let rest = BTreeSet::from_iter(ids(&rest));
    let expected: BTreeSet<String> = games
        .iter()
        .map(|game| game.id.clone())
        .filter(|id| !seen.contains(id) && *id != to_come.id)
        .collect();
    assert_eq!(rest, expected);
}

#[test]
fn the_phase_filter_lists_one_phase() {
    let server = TestServer::start();
    let games = [
        ("deal", TestGame::fixed(&server).id),
        ("exchange", TestGame::dealt(&server).id),
        ("play", TestGame::in_play(&server).id),
    ];
    for (phase, id) in &games {
        let list = server
            .get(&format!("/v1/games?phase={phase}"))
            .send()
            .expect(200);
        assert_eq!(ids(&list), vec![id.clone()]);
        assert_eq!(list["games"][0]["phase"], *phase);
    }
    let list = server.get("/v1/games?phase=finished").send().expect(200);
    assert_eq!(list["games"], json!([]));
    for _ in 0..4 {
        TestGame::fixed(&server);
    }
    let all: Vec<String> = parts(&server, "?phase=deal&limit=2&")
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(BTreeSet::from_iter(all).len(), 5);
}

#[test]
fn entries_follow_their_games_and_hold_no_secret() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let list = server.get("/v1/games").send().expect(200);
    let entry = &list["games"][0];
    assert_eq!(entry["version"], 6);
    assert_eq!(entry["turn"], 1);
    let text = entry.to_string();
    for secret in game
        .tokens
        .iter()
        .chain([&game.host, &crate::support::seed(1)])
    {
        assert!(!text.contains(secret.as_str()), "{text}");
    }
    for field in ["hand", "hands", "stock", "shuffle_seed"] {
        assert!(entry.get(field).is_none_or(Value::is_null), "{text}");
    }
}

#[test]
fn entries_say_whether_their_games_were_imported() {
    let server = TestServer::start();
    let played = TestGame::fixed(&server).id;
    let record = include_str!("../records/four.dog");
    let import = server.post("/v1/games/import").text("text/plain", record);
    let imported = import.send().expect(201)["id"].clone();
    let list = server.get("/v1/games").send().expect(200);
    let told = list["games"].as_array().expect("games").iter();
    let told: Vec<(&Value, &Value)> = told.map(|game| (&game["id"], &game["imported"])).collect();
    assert_eq!(
        told,
        [(&imported, &json!(true)), (&json!(played), &json!(false))]
    );
}

#[test]
fn invalid_queries_are_refused() {
    let server = TestServer::start();
    TestGame::fixed(&server);
    let queries = [
        "phase=lunch",
        "phase=",
        "phase=Deal",
        "limit=0",
        "limit=-1",
        "limit=x",
        "limit=1.5",
        "limit=101",
        "limit=99999999999999999999",
        "limit=",
        "colour=red",
        "cursor=",
        "cursor=x",
        "cursor=AAAA",
        "cursor=%00",
        "cursor=%ff%fe",
        "cursor=-1",
        "cursor=9999999999999999999999999",
        "cursor='%20OR%201=1--",
        "limit=1&limit=2",
    ];
    for query in queries {
        let response = server.get(&format!("/v1/games?{query}")).send();
        response.refused("invalid_request");
    }
    let long = "A".repeat(5000);
    server
        .get(&format!("/v1/games?cursor={long}"))
        .send()
        .refused("invalid_request");
}

#[test]
fn a_cursor_goes_with_another_limit_and_survives_a_restart() {
    let server = TestServer::start();
    let created: BTreeSet<String> = (0..5).map(|_| TestGame::fixed(&server).id).collect();
    let first = server.get("/v1/games?limit=2").send().expect(200);
    let next = first["next"].as_str().expect("a cursor").to_owned();
    server.restart(crate::support::Signal::Term);
    let rest = server
        .get(&format!("/v1/games?limit=50&cursor={next}"))
        .send()
        .expect(200);
    let all = ids(&first).into_iter().chain(ids(&rest));
    assert_eq!(all.collect::<BTreeSet<_>>(), created);
    assert_eq!(rest["next"], Value::Null);
}
