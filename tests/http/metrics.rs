//! `/metrics`: what it shows, and what it must not show.

use std::{collections::BTreeSet, process::Command, thread};

use serde_json::{Value, json};

use crate::support::{
    Contract, Dice, Exposition, LEVELS, Message, Raw, ServerDatabase, TestGame, TestServer,
    TestTable, TestViewer::*, UNCACHED, UNKNOWN_TOKEN, available, raw, run,
};

/// How many requests of a route got this status.
fn answered(metrics: &Exposition, method: &str, route: &str, status: u16) -> f64 {
    let status = status.to_string();
    let labels = [("method", method), ("route", route), ("status", &status)];
    metrics.value("dog_http_requests_total", &labels)
}

/// How many durations of a route were measured.
fn timed(metrics: &Exposition, route: &str) -> f64 {
    metrics.value("dog_http_request_seconds_count", &[("route", route)])
}

#[test]
fn the_program_and_its_process_are_described() {
    let server = TestServer::start();
    let metrics = Exposition::scrape(&server);
    let build = server.get("/healthz").send().expect(200);
    let revision = build["revision"].as_str().unwrap_or_default();
    let version = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("revision", revision),
    ];
    assert_eq!(metrics.value("dog_build_info", &version), 1.0);
    if cfg!(target_os = "linux") {
        for name in ["resident_memory_bytes", "threads", "open_fds", "max_fds"] {
            assert!(metrics.sum(&format!("process_{name}")) > 1.0, "{name}");
        }
    }
}

/// The linter of Prometheus finds nothing in the text format.
#[test]
fn the_text_format_is_as_prometheus_wants_it() {
    let server = TestServer::start();
    TestGame::in_play(&server);
    let response = server.get("/metrics").send();
    let content_type = response.header("content-type");
    let plain = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(content_type, Some(plain));
    let text = response.text();
    let line = "# TYPE dog_http_requests_total counter\n";
    assert!(text.contains(line), "{text}");
    if !available(&["promtool"]) {
        return;
    }
    let mut check = Command::new("promtool");
    let output = run(check.args(["check", "metrics"]), text.as_bytes());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "");
}

#[test]
fn requests_are_counted_by_route_and_answer() {
    let server = TestServer::start();
    // The server's own check, which is not made again for some seconds.
    Exposition::wait_for(&server, |metrics| {
        metrics.value("dog_writes_possible", &[]) == 1.0
    });
    let before = Exposition::scrape(&server);
    let game = TestGame::dealt(&server);
    for _ in 0..3 {
        game.view(Spectator);
    }
    let known = game.get(Seat(1), "").header("If-None-Match", "\"2-1\"");
    assert_eq!(known.send().status, 304);
    let stranger = game.get(Spectator, "").token(UNKNOWN_TOKEN);
    stranger.send().refused("unauthorized");
    game.try_play(Seat(0), "fold").refused("wrong_phase");
    let patch = server.request("PATCH", "/v1/games").send();
    patch.refused("method_not_allowed");
    server.get("/v1/nothing").send().refused("route_not_found");
    let metrics = Exposition::scrape(&server);
    for (method, route, status, count) in [
        ("POST", "/v1/games", 201, 1.0),
        ("POST", "/v1/games/{id}/deal", 200, 1.0),
        ("GET", "/v1/games/{id}", 200, 3.0),
        ("GET", "/v1/games/{id}", 304, 1.0),
        ("GET", "/v1/games/{id}", 401, 1.0),
        ("POST", "/v1/games/{id}/play", 409, 1.0),
        ("PATCH", "/v1/games", 405, 1.0),
        ("GET", "-", 404, 1.0),
    ] {
        let counted = answered(&metrics, method, route, status);
        assert_eq!(counted, count, "{method} {route} {status}");
    }
    assert_eq!(timed(&metrics, "/v1/games/{id}"), 5.0);
    assert_eq!(timed(&metrics, "/v1/games"), 2.0);
    // The scrape itself.
    assert_eq!(metrics.value("dog_http_requests_in_flight", &[]), 1.0);
    let commits = |metrics: &Exposition| metrics.value("dog_store_commits_total", &[]);
    // A refused play may be part of a commit, too.
    let made = commits(&metrics) - commits(&before);
    assert!((2.0..=3.0).contains(&made), "{made}");
    // The clean-up and the check at the start may share a commit with others.
    let writes = metrics.value("dog_store_commit_writes_sum", &[]);
    let shared = writes - commits(&metrics);
    assert!((0.0..=2.0).contains(&shared), "{writes}");
    let timed = metrics.value("dog_store_commit_seconds_count", &[]);
    assert_eq!(timed, commits(&metrics));
    assert_eq!(metrics.value("dog_store_writes_waiting", &[]), 0.0);
}

const PHASES: [&str; 5] = ["seating", "deal", "exchange", "play", "finished"];

#[test]
fn games_are_counted_by_phase() {
    let server = TestServer::start();
    TestGame::fixed(&server);
    TestGame::dealt(&server);
    TestGame::dealt(&server);
    TestGame::in_play(&server);
    TestGame::imported(&server);
    TestTable::create(&server, &json!({}));
    let metrics = Exposition::scrape(&server);
    let counts = PHASES.map(|phase| metrics.value("dog_games", &[("phase", phase)]));
    assert_eq!(counts, [1.0, 1.0, 2.0, 1.0, 1.0]);
}

#[test]
#[ignore = "waits ten seconds: the count of games is kept that long"]
fn games_are_counted_again() {
    let server = TestServer::start();
    let games = |metrics: &Exposition| metrics.value("dog_games", &[("phase", "deal")]);
    assert_eq!(games(&Exposition::scrape(&server)), 0.0);
    TestGame::fixed(&server);
    Exposition::wait_for(&server, |metrics| games(metrics) == 1.0);
}

#[test]
fn bad_requests_make_no_labels() {
    let server = TestServer::start();
    let game = TestGame::dealt(&server);
    let ask = |method: &str, path: &str| {
        let response = server.request(method, path).send();
        assert!((400..500).contains(&response.status), "{method} {path}");
    };
    let round = |dice: &mut Dice| {
        let mut word = || format!("{:08x}{:08x}", dice.below(1 << 32), dice.below(1 << 32));
        let method = format!("M{}", word().to_uppercase());
        ask("GET", &format!("/{}", word()));
        ask("GET", &format!("/v1/games/{}", word()));
        let inside = game.path(&format!("/{}?{}={}", word(), word(), word()));
        ask("GET", &inside);
        ask("GET", &format!("/docs/{}", word()));
        // An invented method, which no real client sends.
        let path = format!("/v1/games/{}", word());
        let request = format!("{method} {path} HTTP/1.1\r\nHost: dog\r\n\r\n");
        assert_eq!(raw(&server, request.as_bytes()).status, 405);
    };
    let mut dice = Dice::new(5);
    round(&mut dice);
    Exposition::scrape(&server);
    let before = Exposition::scrape(&server);
    (0..200).for_each(|_| round(&mut dice));
    let after = Exposition::scrape(&server);
    assert_eq!(before.series(), after.series());
    let asked = |metrics: &Exposition| metrics.sum("dog_http_requests_total");
    // A thousand and a scrape.
    assert_eq!(asked(&after) - asked(&before), 1_001.0);
    assert_eq!(answered(&after, "other", "/v1/games/{id}", 405), 201.0);
}

#[test]
fn streams_and_waiting_clients_are_counted_but_not_timed() {
    let server = TestServer::start();
    let game = TestGame::dealt(&server);
    let open = |metrics: &Exposition| metrics.value("dog_streams_open", &[]);
    let in_flight = |metrics: &Exposition| metrics.value("dog_http_requests_in_flight", &[]);
    let stream = game.events(Spectator, "");
    stream.next().expect("the game");
    let metrics = Exposition::scrape(&server);
    assert_eq!((open(&metrics), in_flight(&metrics)), (1.0, 1.0));
    let before = timed(&metrics, "/v1/games/{id}");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| game.get(Seat(0), "?after_version=2").send().expect(200));
        Exposition::wait_for(&server, |metrics| in_flight(metrics) == 2.0);
        game.exchange();
        waiting.join().expect("a response");
    });
    let metrics = Exposition::scrape(&server);
    // Every view is timed except the waiting one; `exchange` requests views, too.
    let views = answered(&metrics, "GET", "/v1/games/{id}", 200);
    assert_eq!(timed(&metrics, "/v1/games/{id}"), views - 1.0);
    assert!(views > before);
    assert_eq!(timed(&metrics, "/v1/games/{id}/events"), 0.0);
    assert_eq!(answered(&metrics, "GET", "/v1/games/{id}/events", 200), 1.0);
    // A closed connection is noticed at the next write to it.
    let wait = format!("?after_version={}", game.version());
    let gone = Raw::get(&game, Spectator, &wait);
    Exposition::wait_for(&server, |metrics| in_flight(metrics) == 2.0);
    drop(gone);
    game.play_on();
    Exposition::wait_for(&server, |metrics| in_flight(metrics) == 1.0);
    game.remove();
    assert!(!stream.rest().is_empty(), "the exchange");
    Exposition::wait_for(&server, |metrics| open(metrics) == 0.0);
}

#[test]
fn advice_is_counted() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let path = "/suggest-move?level=fast&samples=300&seed=1";
    let advice = game.get(Seat(1), path).send().expect(200);
    let greedy = game.get(Seat(1), "/suggest-move?level=greedy");
    greedy.send().expect(200);
    game.get(Seat(1), "/legal-moves").send().expect(200);
    let metrics = Exposition::scrape(&server);
    let level = [("level", "fast")];
    assert_eq!(metrics.value("dog_advice_requests_total", &level), 1.0);
    assert_eq!(metrics.sum("dog_advice_requests_total"), 2.0);
    let samples = advice["samples"].as_f64().expect("samples");
    assert!(samples > 0.0);
    assert_eq!(metrics.value("dog_advice_samples_total", &level), samples);
    let seconds = metrics.value("dog_advice_think_seconds_total", &level);
    let elapsed = advice["elapsed_ms"].as_f64().expect("a time");
    assert!(0.0 < seconds && seconds * 1_000.0 < elapsed + 1.0);
    for (pool, jobs) in [("advice", 2.0), ("moves", 1.0)] {
        let pool = [("pool", pool)];
        assert_eq!(metrics.value("dog_pool_jobs_total", &pool), jobs);
        assert!(metrics.value("dog_pool_threads", &pool) >= 1.0);
        for name in ["jobs_waiting", "jobs_refused_total"] {
            assert_eq!(metrics.value(&format!("dog_pool_{name}"), &pool), 0.0);
        }
    }
    // A response may be sent before its thread has updated the metrics.
    Exposition::wait_for(&server, |metrics| {
        metrics.sum("dog_pool_threads_busy") == 0.0
    });
}

#[test]
fn actions_of_bots_are_counted() {
    let server = TestServer::start();
    let bot = |level: &str| json!({"kind": "bot", "level": level});
    let seats = ["greedy", "random", "greedy", "random"].map(bot);
    let game = TestGame::create(&server, &json!({"seats": seats}));
    let log = game.events_after(Spectator, 0).rest();
    // Dealing and creating the game need no decision.
    let is_thought = |entry: &&Message| {
        let what = &entry.data["events"][0]["type"];
        what != "cards_dealt" && what != "game_created"
    };
    let thought = log.iter().filter(is_thought).count() as f64;
    let metrics = Exposition::scrape(&server);
    let decisions =
        LEVELS.map(|level| metrics.value("dog_bot_decisions_total", &[("level", level)]));
    assert_eq!(decisions[2..], [0.0, 0.0]);
    assert!(decisions[0] > 1.0 && decisions[1] > 1.0, "{decisions:?}");
    assert_eq!(metrics.sum("dog_bot_decisions_total"), thought);
    assert!(metrics.sum("dog_bot_think_seconds_total") > 0.0);
    assert_eq!(metrics.value("dog_bot_games_due", &[]), 0.0);
    assert_eq!(metrics.value("dog_bot_decisions_stale_total", &[]), 0.0);
}

#[test]
fn reviews_that_wait_and_games_that_are_due_are_measured() {
    let server = TestServer::start_with(&[UNCACHED]);
    let game = TestGame::with_bots(&server, "greedy", 60_000);
    let reviewed = [(); 3].map(|()| TestGame::imported(&server));
    for game in &reviewed {
        game.post(Spectator, "/review").send();
    }
    // It cannot be read, so nobody acts in it.
    let damaged = "due_at = 1, version = version + 7";
    server.database().change_game(&game.id, damaged);
    let metrics = Exposition::scrape(&server);
    let value = |name| metrics.value(name, &[]);
    assert_eq!(value("dog_bot_games_due"), 1.0);
    assert!(
        value("dog_oldest_due_game_seconds") > 1e9,
        "{}",
        metrics.text
    );
    let waiting = value("dog_reviews_waiting");
    assert!((2.0..=3.0).contains(&waiting), "{waiting}");
}

#[test]
fn metrics_show_nothing_of_any_game() {
    let server = TestServer::start();
    let body = json!({
        "seats": [{"name": "Zäzilia"}, {"kind": "bot", "level": "greedy", "name": "Roboto"},
            {"name": "Balthasar"}, {"name": "Melchior"}],
        "bot_pace_ms": 0,
        "first_dealer": 0
    });
    let game = TestGame::create(&server, &body);
    let ticket = game.post(Seat(0), "/events/ticket").send().expect(200);
    let ticket = ticket["ticket"].as_str().expect("a ticket").to_owned();
    game.events(Spectator, &format!("?ticket={ticket}")).next();
    game.deal();
    let moved = game.view(Seat(0));
    game.get(Seat(0), "/suggest-move?level=fast").send();
    game.get(Seat(2), "/history").send().expect(200);
    let finished = TestGame::imported(&server);
    let metrics = Exposition::scrape(&server);
    let mut secrets = vec![game.id.clone(), finished.id.clone(), ticket];
    for game in [&game, &finished] {
        secrets.extend(game.tokens.iter().chain([&game.host]).cloned());
    }
    secrets.extend(["Zäzilia", "Roboto", "Balthasar", "Melchior"].map(str::to_owned));
    let commitment = moved["shuffle_commitment"].as_str().expect("a commitment");
    secrets.push(commitment.to_owned());
    secrets.retain(|secret| secret != "none");
    for secret in secrets {
        assert!(!metrics.text.contains(&secret), "{secret}");
    }
    // All other label values are known in advance, so none can be a card.
    let document = &Contract::get().document;
    let paths = document["paths"].as_object().expect("paths");
    let mut routes: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    let outside = "- /docs /docs/guide /docs/guide/{name:.*} /docs/{file:.*}";
    routes.extend(outside.split(' '));
    for (name, labels) in metrics.series() {
        for (label, value) in labels {
            let known = match label.as_str() {
                "route" => routes.contains(value.as_str()),
                "method" => value == "other" || value.bytes().all(|byte| byte.is_ascii_uppercase()),
                "status" => (100..600).contains(&value.parse().unwrap_or(0)),
                "le" => value.parse::<f64>().is_ok(),
                "phase" => PHASES.contains(&value.as_str()),
                "level" => LEVELS.contains(&value.as_str()),
                "pool" => ["moves", "history", "advice"].contains(&value.as_str()),
                "version" | "revision" => name == "dog_build_info",
                _ => false,
            };
            assert!(known, "{name}: {label}={value}");
        }
    }
}

/// The names of metrics in a text, delimited by non-word characters.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let metric = |word: &&str| word.starts_with("dog_") || word.starts_with("process_");
    words.filter(metric).map(str::to_owned).collect()
}

#[test]
fn every_metric_is_explained_and_every_alarm_rests_on_one() {
    let server = TestServer::start();
    // Request metrics appear after the first request, the age of a backup after a backup.
    server.get("/healthz").send().expect(200);
    let is_file = matches!(server.database(), ServerDatabase::File(_));
    if is_file {
        let mark = server.database().file().with_extension("db-backup");
        std::fs::write(mark, "").expect("a mark");
    }
    let metrics = Exposition::scrape(&server);
    let suffix = |kind: &str| match kind {
        "counter" => "_total",
        "info" => "_info",
        _ => "",
    };
    let families = metrics.families.iter();
    let families: BTreeSet<String> = families
        .map(|(name, kind)| format!("{name}{}", suffix(kind)))
        .collect();
    let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operations.md"));
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `dog_") || line.starts_with("| `process_"));
    let of_others = match is_file {
        true => "| PostgreSQL only: ",
        false => "| File only: ",
    };
    let (others, rows): (Vec<&str>, Vec<&str>) = rows.partition(|row| row.contains(of_others));
    let names = |rows: &[&str]| {
        let names = rows.iter().filter_map(|row| row.split('|').nth(1));
        named(&names.collect::<Vec<_>>().join(" "))
    };
    let (others, explained) = (names(&others), names(&rows));
    if cfg!(target_os = "linux") {
        assert_eq!(explained, families);
    }
    let alarms = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/alarms.yml"));
    let dashboard = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/deploy/dashboard.json"
    ));
    let dashboard: Value = serde_json::from_str(dashboard).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels").iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array());
    let queries = targets
        .flatten()
        .filter_map(|target| target["expr"].as_str());
    let queries: Vec<&str> = queries.collect();
    assert!(queries.len() > 20, "{queries:?}");
    for name in named(alarms).into_iter().chain(named(&queries.join(" "))) {
        let mut series = metrics.series().into_iter();
        let is_series = series.any(|(series, _)| series == name);
        let is_known = is_series || families.contains(&name) || others.contains(&name);
        assert!(is_known, "{name}");
    }
    let count = |text: &str| alarms.matches(text).count();
    assert_eq!(count("- alert: "), count("description: "));
}
