//! Files of the operator that are read again: keys to create games, blocked addresses, a notice.

use std::{
    fs,
    path::PathBuf,
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    limits::{behind_a_proxy, from},
    support::{Signal, TestGame, TestRequest, TestServer, TestViewer::*, dog},
};

const KEY: &str = "a-key-of-the-club";

/// The longest time until a changed file is read: it is looked at every five seconds.
const LONGEST: Duration = Duration::from_secs(60);

/// Waits until this holds.
#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONGEST, "{what}");
        sleep(Duration::from_millis(200));
    }
}

/// A file of a test, removed with it.
struct OperatorFile(PathBuf);

impl OperatorFile {
    fn new(name: &str, content: &str) -> OperatorFile {
        let name = format!("dog-{name}-{}", std::process::id());
        let file = OperatorFile(std::env::temp_dir().join(name));
        file.write(content);
        file
    }

    fn write(&self, content: &str) {
        fs::write(&self.0, content).expect("a file");
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path")
    }
}

impl Drop for OperatorFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn with_key<'a>(request: TestRequest<'a>) -> TestRequest<'a> {
    request.header("Dog-Key", KEY)
}

#[test]
fn a_closed_server_lets_those_with_a_key_create_games() {
    let keys = OperatorFile::new("keys", &format!("# the club\n{KEY}\n"));
    let server = TestServer::start_with(&[("DOG_CREATE_KEYS", keys.path())]);
    let people = json!({"seats": [{}, {"kind": "bot"}, {"kind": "bot"}, {"kind": "open"}]});
    let position =
        json!({"position": "0f / - / - / -", "seat": 0, "hand": ["5"], "level": "greedy"});
    let address = "/v1/analysis/suggest-move?position=0f/-/-/-&seat=0&hand=5&level=greedy";
    type Ask<'a> = Box<dyn Fn() -> TestRequest<'a> + 'a>;
    let asked: [(&str, Ask); 5] = [
        (
            "creation",
            Box::new(|| server.post("/v1/games").json(&people)),
        ),
        (
            "quick join",
            Box::new(|| server.post("/v1/join").json(&json!({"name": "A"}))),
        ),
        (
            "import",
            Box::new(|| {
                server
                    .post("/v1/games/import")
                    .json(&json!({"record": "x"}))
            }),
        ),
        (
            "advice",
            Box::new(|| server.post("/v1/analysis/suggest-move").json(&position)),
        ),
        ("advice by address", Box::new(|| server.get(address))),
    ];
    for (what, ask) in &asked {
        for wrong in [None, Some("another-key-of-some-club"), Some("")] {
            let request = ask();
            let request = match wrong {
                Some(key) => request.header("Dog-Key", key),
                None => request,
            };
            let refused = request.send();
            assert_eq!(refused.status, 403, "{what}");
            assert!(!refused.text().contains(KEY), "{what}");
            refused.refused("key_required");
        }
        let status = with_key(ask()).send().status;
        assert!([200, 201, 422].contains(&status), "{what}: {status}");
    }
    let kept = with_key(server.get(address)).send();
    assert_eq!(kept.header("cache-control"), Some("private, max-age=86400"));
    // Who was invited needs none.
    let created = with_key(server.post("/v1/games").json(&people))
        .send()
        .expect(201);
    let game = TestGame::from_created(&server, &created);
    let path = format!("/v1/games/{}/join", created["id"].as_str().expect("an id"));
    let join = json!({"name": "B", "invitation": created["invitation"]});
    server.post(&path).json(&join).send().expect(201);
    let moves = json!({"position": "0f / - / - / -", "seat": 0, "hand": ["5"]});
    server
        .post("/v1/analysis/legal-moves")
        .json(&moves)
        .send()
        .expect(200);
    assert_eq!(game.view(Spectator)["seats"][3]["name"], "B");
}

#[test]
fn keys_are_read_again_and_a_faulty_file_changes_nothing() {
    let keys = OperatorFile::new("new-keys", &format!("{KEY}\n"));
    let server = TestServer::start_with(&[("DOG_CREATE_KEYS", keys.path())]);
    let status = |key: &str| {
        let request = server.post("/v1/games").json(&json!({}));
        request.header("Dog-Key", key).send().status
    };
    assert_eq!((status(KEY), status("a-newer-key-of-the-club")), (201, 403));
    keys.write("short\n");
    let warning = "what was read before stays in force";
    wait_until(warning, || server.log().contains(warning));
    assert_eq!(status(KEY), 201);
    keys.write("a-newer-key-of-the-club\n");
    wait_until("the new key", || status("a-newer-key-of-the-club") == 201);
    assert_eq!(status(KEY), 403);
}

#[test]
fn nothing_is_created_or_joined_from_a_blocked_address() {
    let blocked = OperatorFile::new("blocked", "203.0.113.0/24\n2001:db8:7::/48\n");
    let server = behind_a_proxy(&[("DOG_BLOCKED", blocked.path())]);
    let create = || server.post("/v1/games").json(&json!({}));
    for address in ["203.0.113.9", "2001:db8:7:1::5"] {
        from(create(), address).send().refused("blocked");
        let join = server.post("/v1/join").json(&json!({"name": "A"}));
        from(join, address).send().refused("blocked");
        from(server.get("/v1/games"), address).send().expect(200);
    }
    from(create(), "198.51.100.1").send().expect(201);
    blocked.write("# nobody\n");
    wait_until("the end of the block", || {
        from(create(), "203.0.113.9").send().status == 201
    });
}

#[test]
fn a_notice_reaches_open_streams() {
    let file = OperatorFile::new("notice", "");
    let server = TestServer::start_with(&[("DOG_NOTICE", file.path())]);
    let notice = || server.get("/v1/notice").send().expect(200)["notice"].take();
    assert_eq!(notice(), Value::Null);
    let game = TestGame::create(&server, &json!({}));
    let stream = game.lines(Spectator, "");
    file.write("Back at 22:00.\n");
    wait_until("the notice", || notice() == "Back at 22:00.");
    let expected = json!({"type": "notice", "notice": "Back at 22:00."});
    assert_eq!(stream.notice_of("notice"), expected);
    // A new stream is told at once.
    assert_eq!(game.lines(Spectator, "").notice_of("notice"), expected);
}

const OPERATOR: &str = "the-key-of-the-operator";

/// A game whose creator has an address that is counted.
fn create_from_afar<'a>(server: &'a TestServer, body: &Value) -> TestGame<'a> {
    let created = from(server.post("/v1/games").json(body), "198.51.100.1").send();
    TestGame::from_created(server, &created.expect(201))
}

#[test]
fn an_operator_lists_changes_and_removes_any_game() {
    let keys = OperatorFile::new("operator", OPERATOR);
    let server = behind_a_proxy(&[("DOG_OPERATOR_KEY", keys.path())]);
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
    let server = behind_a_proxy(&[("DOG_OPERATOR_KEY", keys.path())]);
    let run = |arguments: &[&str]| {
        let mut command = dog(&server.database().location(), &[]);
        let output = command
            .arg("games")
            .args(arguments)
            .output()
            .expect("an end");
        let said =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.success(), said.into_owned())
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
    let (done, said) = run(&["list", "--url", &url]);
    assert!(!done && said.contains("--operator-key"), "{said}");
}
