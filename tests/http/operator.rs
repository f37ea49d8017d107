//! What an operator may do with games: by the key of the operator, and by `dog games`.

use serde_json::{Value, json};

use crate::support::{OperatorFile, Signal, TestGame, TestRequest, TestServer, TestViewer::*, dog};

const OPERATOR: &str = "the-key-of-the-operator";

/// A server whose operator has this key, behind a proxy.
fn start(keys: &OperatorFile) -> TestServer {
    TestServer::start_with(&[
        ("DOG_OPERATOR_KEY", keys.path()),
        ("DOG_TRUSTED_PROXY_HEADER", "X-Forwarded-For"),
    ])
}

/// A game whose creator has an address that is counted.
fn create_from_afar<'a>(server: &'a TestServer, body: &Value) -> TestGame<'a> {
    let create = server.post("/v1/games").json(body);
    let created = create.header("X-Forwarded-For", "198.51.100.1").send();
    TestGame::from_created(server, &created.expect(201))
}

#[test]
fn an_operator_lists_changes_and_removes_any_game() {
    let keys = OperatorFile::new("operator", OPERATOR);
    let server = start(&keys);
    let seats = json!([{}, {"kind": "bot"}, {"kind": "bot"}, {"kind": "bot"}]);
    let game = create_from_afar(&server, &json!({"seats": seats, "listed": false}));
    create_from_afar(&server, &json!({}));
    let by_operator = |request: TestRequest<'_>| request.header("Dog-Token", OPERATOR).send();
    let list = |query: &str| {
        let listed = by_operator(server.get(&format!("/v1/games?all=true{query}"))).expect(200);
        listed["games"].as_array().expect("a list").clone()
    };
    let all = list("");
    assert_eq!(all.len(), 2);
    let own = &all[1];
    assert_eq!(
        (&own["id"], &own["listed"]),
        (&json!(game.id), &json!(false))
    );
    assert!(own["size"].as_u64().is_some_and(|size| size > 500), "{own}");
    // The games of a creator, page by page.
    let creator = own["creator"].as_str().expect("a creator");
    assert_eq!(list(&format!("&creator={creator}&limit=1")).len(), 1);
    assert_eq!(list(&format!("&creator={}", "0".repeat(32))).len(), 0);
    assert_eq!(list("&phase=finished").len(), 0);
    // Nobody else sees that, and to everything else the operator is a stranger.
    let public = server.get("/v1/games").send().expect(200);
    assert!(public["games"][0].get("creator").is_none(), "{public}");
    for token in [None, game.token(Host), Some("a-key-of-somebody")] {
        let request = server.get("/v1/games?all=true");
        let request = match token {
            Some(token) => request.header("Dog-Token", token),
            None => request,
        };
        assert_eq!(
            request.send().refused("forbidden")["reason"],
            "operator_only"
        );
    }
    for query in ["creator=0", "all=true&creator=0"] {
        let request = server.get(&format!("/v1/games?{query}"));
        by_operator(request).refused("invalid_request");
    }
    let seen = by_operator(server.get(&game.path(""))).expect(200);
    assert_eq!(seen, game.view(Spectator));
    let deal = server
        .post(&game.path("/deal"))
        .header("Dog-Token", OPERATOR);
    assert_eq!(deal.send().refused("unauthorized")["reason"], "no_token");
    // A seat is given to a bot, and the game is removed.
    let put = server.request("PUT", &game.path("/seats/0"));
    by_operator(put.json(&json!({"kind": "bot"}))).expect(200);
    let stream = game.lines(Spectator, "");
    let remove = || server.request("DELETE", &game.path(""));
    remove().send().refused("unauthorized");
    assert_eq!(by_operator(remove()).status, 204);
    stream.rest();
    game.get(Spectator, "").send().refused("game_not_found");
}

#[test]
fn games_are_in_the_hands_of_who_runs_the_server() {
    let keys = OperatorFile::new("operator-cli", &format!("# mine\n{OPERATOR}\n"));
    let server = start(&keys);
    let run = |arguments: &[&str]| {
        let mut command = dog(&server.database().location(), &[]);
        let output = command.arg("games").args(arguments).output();
        let output = output.expect("an end");
        let done = output.status.success();
        let said = if done { output.stdout } else { output.stderr };
        (done, String::from_utf8_lossy(&said).into_owned())
    };
    let url = server.url();
    let beside = ["--url", &url, "--operator-key", keys.path()];
    let mut remaining = 5;
    let create = |_| create_from_afar(&server, &json!({}));
    let games: Vec<_> = (0..remaining).map(create).collect();
    for place in [&beside[..], &[]] {
        if place.is_empty() {
            server.stop(Signal::Term);
        }
        let run = |arguments: &[&str]| run(&[arguments, place].concat());
        let (done, json) = run(&["list", "--json"]);
        assert!(done, "{json}");
        let listed: Vec<Value> = json
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        assert_eq!(listed.len(), remaining, "{json}");
        let creator = listed[0]["creator"].as_str().expect("a creator");
        for (filter, count) in [
            (&["--phase", "seating"][..], 0),
            (&["--older-than", "1"], 0),
            (&["--unlisted"], 0),
            (&["--creator", creator], remaining),
        ] {
            let (done, table) = run(&[&["list"], filter].concat());
            assert!(done && table.starts_with("id "), "{table}");
            assert_eq!(table.lines().count(), 1 + count, "{filter:?}: {table}");
        }
        // Several are removed only on request, and what is not there is said.
        let one = &games[remaining - 1].id;
        let (done, shown) = run(&["show", one]);
        assert!(done && shown.contains("\"seats\""), "{shown}");
        let (done, said) = run(&["remove", "--creator", creator]);
        assert!(
            !done && said.contains(&format!("these are {remaining} games")),
            "{said}"
        );
        let (done, said) = run(&["remove", one, &games[remaining - 2].id, "--yes"]);
        assert!(done && said.contains("2 removed"), "{said}");
        let (done, said) = run(&["remove", one]);
        assert!(!done && said.contains(one.as_str()), "{said}");
        remaining -= 2;
    }
    let (done, said) = run(&[
        "list",
        "--url",
        "https://dog.example",
        "--operator-key",
        beside[3],
    ]);
    assert!(!done && said.contains("http://"), "{said}");
    let missing = server.folder().join("missing.db");
    let place = ["list", "--database", missing.to_str().expect("a name")];
    let (done, said) = run(&place);
    assert!(!done && said.contains("there is no database"), "{said}");
    assert!(!missing.exists(), "it was made");
    let (done, said) = run(&["list", "--url", &url]);
    assert!(!done && said.contains("--operator-key"), "{said}");
}
