//! `/metrics`: what it shows, and what it must not show.

use std::{collections::BTreeSet, io::Write, net::TcpStream, process::Command, thread};

use serde_json::{Value, json};

use crate::support::{
    Contract, Dice, Exposition, ServerDatabase, Stream, TestGame, TestServer, TestViewer::*,
    UNKNOWN_TOKEN, available, raw, run,
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
fn metrics_are_as_a_scraper_wants_them() {
    let server = TestServer::start();
    TestGame::in_play(&server);
    let metrics = Exposition::scrape(&server);
    for name in [
        "dog_build",
        "dog_http_requests",
        "dog_http_request_seconds",
        "dog_http_requests_in_flight",
        "dog_streams_open",
        "dog_pool_threads",
        "dog_pool_jobs_waiting",
        "dog_pool_threads_busy",
        "dog_pool_jobs",
        "dog_pool_jobs_refused",
        "dog_advice_requests",
        "dog_advice_samples",
        "dog_advice_think_seconds",
        "dog_store_writes_waiting",
        "dog_store_commits",
        "dog_store_commit_seconds",
        "dog_store_commit_writes",
        "dog_database_bytes",
        "dog_database_wal_bytes",
        "dog_database_schema_version",
        "dog_games",
        "dog_bot_decisions",
        "dog_bot_think_seconds",
        "dog_bot_games_due",
        "dog_bot_decisions_stale",
        "process_start_time_seconds",
    ] {
        assert!(metrics.families.contains_key(name), "{name}");
    }
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
    server.post("/metrics").send().refused("method_not_allowed");
}

/// The linter of Prometheus finds nothing in the text format.
#[test]
fn the_text_format_is_as_prometheus_wants_it() {
    let server = TestServer::start();
    TestGame::in_play(&server);
    let response = server.get("/metrics").send();
    let content_type = response.header("content-type");
    assert_eq!(
        content_type,
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    let text = response.text();
    assert!(
        text.contains("# TYPE dog_http_requests_total counter\n"),
        "{text}"
    );
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
    let before = Exposition::scrape(&server);
    let game = TestGame::dealt(&server);
    for _ in 0..3 {
        game.view(Spectator);
    }
    let known = game.get(Seat(1), "").header("If-None-Match", "\"2-1\"");
    assert_eq!(known.send().status, 304);
    let stranger = game.get(Spectator, "").token(UNKNOWN_TOKEN);
    stranger.send().refused("unauthorized");
    game.post(Seat(0), "/play")
        .json(&json!({"move": "fold"}))
        .send()
        .refused("wrong_phase");
    server
        .request("PATCH", "/v1/games")
        .send()
        .refused("method_not_allowed");
    server.get("/v1/nothing").send().refused("route_not_found");
    let metrics = Exposition::scrape(&server);
    let game = "/v1/games/{id}";
    assert_eq!(answered(&metrics, "POST", "/v1/games", 201), 1.0);
    assert_eq!(answered(&metrics, "POST", "/v1/games/{id}/deal", 200), 1.0);
    assert_eq!(answered(&metrics, "GET", game, 200), 3.0);
    assert_eq!(answered(&metrics, "GET", game, 304), 1.0);
    assert_eq!(answered(&metrics, "GET", game, 401), 1.0);
    assert_eq!(answered(&metrics, "POST", "/v1/games/{id}/play", 409), 1.0);
    assert_eq!(answered(&metrics, "PATCH", "/v1/games", 405), 1.0);
    assert_eq!(answered(&metrics, "GET", "-", 404), 1.0);
    assert_eq!(answered(&metrics, "GET", "/metrics", 200), 1.0);
    assert_eq!(timed(&metrics, game), 5.0);
    assert_eq!(timed(&metrics, "/v1/games"), 2.0);
    // The scrape itself.
    assert_eq!(metrics.value("dog_http_requests_in_flight", &[]), 1.0);
    let commits = |metrics: &Exposition| metrics.value("dog_store_commits_total", &[]);
    // A refused play may be part of a commit, too.
    let made = commits(&metrics) - commits(&before);
    assert!((2.0..=3.0).contains(&made), "{made}");
    // The clean-up at the start may share a commit with the first of them.
    let writes = metrics.value("dog_store_commit_writes_sum", &[]);
    assert!(
        (0.0..=1.0).contains(&(writes - commits(&metrics))),
        "{writes}"
    );
    assert_eq!(
        metrics.value("dog_store_commit_seconds_count", &[]),
        commits(&metrics)
    );
    assert_eq!(metrics.value("dog_store_writes_waiting", &[]), 0.0);
}

#[test]
fn games_are_counted_by_phase() {
    let server = TestServer::start();
    TestGame::fixed(&server);
    TestGame::dealt(&server);
    TestGame::dealt(&server);
    TestGame::in_play(&server);
    TestGame::imported(&server);
    crate::support::TestTable::create(&server, &json!({}));
    let games = |metrics: &Exposition, phase| metrics.value("dog_games", &[("phase", phase)]);
    let metrics = Exposition::scrape(&server);
    let counts =
        ["seating", "deal", "exchange", "play", "finished"].map(|phase| games(&metrics, phase));
    assert_eq!(counts, [1.0, 1.0, 2.0, 1.0, 1.0]);
}

#[test]
#[ignore = "waits ten seconds: the count of games is kept so long: \
            cargo test --test http -- --ignored games_are_counted_again"]
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
        ask(
            "GET",
            &format!("/v1/games/{}/{}?{}={}", game.id, word(), word(), word()),
        );
        ask("GET", &format!("/docs/{}", word()));
        // An invented method, which no real client sends.
        let request = format!(
            "{method} /v1/games/{} HTTP/1.1\r\nHost: dog\r\n\r\n",
            word()
        );
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
    assert_eq!(
        asked(&after) - asked(&before),
        1_001.0,
        "a thousand and a scrape"
    );
    assert_eq!(answered(&after, "other", "/v1/games/{id}", 405), 201.0);
}

#[test]
fn streams_and_waiting_clients_are_counted_but_not_timed() {
    let server = TestServer::start();
    let game = TestGame::dealt(&server);
    let open = |metrics: &Exposition| metrics.value("dog_streams_open", &[]);
    let in_flight = |metrics: &Exposition| metrics.value("dog_http_requests_in_flight", &[]);
    let stream = Stream::open(game.get(Spectator, "/events"));
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
    let mut gone = TcpStream::connect(server.address()).expect("a connection");
    let version = game.view(Spectator)["version"].clone();
    let path = game.path(&format!("?after_version={version}"));
    write!(gone, "GET {path} HTTP/1.1\r\nHost: dog\r\n\r\n").expect("sent");
    Exposition::wait_for(&server, |metrics| in_flight(metrics) == 2.0);
    drop(gone);
    let (seat, id) = game.first_move();
    game.play(seat, &id);
    Exposition::wait_for(&server, |metrics| in_flight(metrics) == 1.0);
    assert_eq!(game.request("DELETE", Host, "").send().status, 204);
    assert_eq!(stream.rest().last().map(|_| ()), Some(()), "the exchange");
    Exposition::wait_for(&server, |metrics| open(metrics) == 0.0);
}

#[test]
fn advice_is_counted() {
    let server = TestServer::start();
    let game = TestGame::in_play(&server);
    let path = "/suggest-move?level=fast&samples=300&seed=1";
    let advice = game.get(Seat(1), path).send().expect(200);
    game.get(Seat(1), "/suggest-move?level=greedy")
        .send()
        .expect(200);
    game.get(Seat(1), "/legal-moves").send().expect(200);
    let metrics = Exposition::scrape(&server);
    let level = [("level", "fast")];
    assert_eq!(metrics.value("dog_advice_requests_total", &level), 1.0);
    assert_eq!(
        metrics.value("dog_advice_requests_total", &[("level", "greedy")]),
        1.0
    );
    assert_eq!(metrics.sum("dog_advice_requests_total"), 2.0);
    let samples = advice["samples"].as_f64().expect("samples");
    assert!(samples > 0.0);
    assert_eq!(metrics.value("dog_advice_samples_total", &level), samples);
    let seconds = metrics.value("dog_advice_think_seconds_total", &level);
    let elapsed = advice["elapsed_ms"].as_f64().expect("a time");
    assert!(
        0.0 < seconds && seconds * 1_000.0 < elapsed + 1.0,
        "{seconds} {elapsed}"
    );
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
    let seats = ["greedy", "random"].map(|level| json!({"kind": "bot", "level": level}));
    let seats = [&seats[0], &seats[1], &seats[0], &seats[1]];
    let game = TestGame::create(&server, &json!({"seats": seats}));
    let log = Stream::open(game.get(Spectator, "/events?last_event_id=0")).rest();
    let of_kind = |kind: &str| {
        let events = log.iter().flat_map(|entry| entry.data["events"].as_array());
        events
            .flatten()
            .filter(|event| event["type"] == kind)
            .count() as f64
    };
    // Dealing and creating the game need no decision.
    let thought = log.len() as f64 - of_kind("cards_dealt") - 1.0;
    let metrics = Exposition::scrape(&server);
    let decisions = ["random", "greedy", "fast", "strong"]
        .map(|level| metrics.value("dog_bot_decisions_total", &[("level", level)]));
    assert_eq!(decisions[2..], [0.0, 0.0]);
    assert!(decisions[0] > 1.0 && decisions[1] > 1.0, "{decisions:?}");
    assert_eq!(
        metrics.sum("dog_bot_decisions_total"),
        thought,
        "{}",
        log[1].data
    );
    assert!(metrics.sum("dog_bot_think_seconds_total") > 0.0);
    assert_eq!(metrics.value("dog_bot_games_due", &[]), 0.0);
    assert_eq!(metrics.value("dog_bot_decisions_stale_total", &[]), 0.0);
}

#[test]
fn metrics_show_nothing_of_any_game() {
    let server = TestServer::start();
    let wishes = json!({
        "seats": [{"name": "Zäzilia"}, {"kind": "bot", "level": "greedy", "name": "Roboto"},
            {"name": "Balthasar"}, {"name": "Melchior"}],
        "bot_pace_ms": 0,
        "first_dealer": 0
    });
    let game = TestGame::create(&server, &wishes);
    let ticket = game.post(Seat(0), "/events/ticket").send().expect(200);
    let ticket = ticket["ticket"].as_str().expect("a ticket").to_owned();
    Stream::open(game.get(Spectator, &format!("/events?ticket={ticket}"))).next();
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
    let names = ["Zäzilia", "Roboto", "Balthasar", "Melchior"].map(str::to_owned);
    secrets.extend(names);
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
    routes.extend([
        "-",
        "/docs",
        "/docs/guide",
        "/docs/guide/{name:.*}",
        "/docs/{file:.*}",
    ]);
    for (name, labels) in metrics.series() {
        for (label, value) in labels {
            let known = match label.as_str() {
                "route" => routes.contains(value.as_str()),
                "method" => value == "other" || value.bytes().all(|byte| byte.is_ascii_uppercase()),
                "status" => (100..600).contains(&value.parse().unwrap_or(0)),
                "le" => value.parse::<f64>().is_ok(),
                "phase" => {
                    ["seating", "deal", "exchange", "play", "finished"].contains(&value.as_str())
                }
                "level" => ["random", "greedy", "fast", "strong"].contains(&value.as_str()),
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
    // Request metrics appear after the first request.
    server.get("/healthz").send().expect(200);
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
    let is_file = matches!(server.database(), ServerDatabase::File(_));
    let rows = rows.filter(|row| !(is_file && row.contains("| PostgreSQL only: ")));
    let explained: Vec<&str> = rows.filter_map(|row| row.split('|').nth(1)).collect();
    let explained = named(&explained.join(" "));
    if cfg!(target_os = "linux") {
        assert_eq!(explained, families);
    }
    let alarms = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/alarms.yml"));
    let dashboard = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/deploy/dashboard.json"
    ));
    let dashboard: Value = serde_json::from_str(dashboard).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array());
    let queries: Vec<&str> = targets
        .flatten()
        .filter_map(|target| target["expr"].as_str())
        .collect();
    assert!(queries.len() > 20, "{queries:?}");
    for name in named(alarms).into_iter().chain(named(&queries.join(" "))) {
        let series = metrics
            .series()
            .into_iter()
            .any(|(series, _)| series == name);
        assert!(series || families.contains(&name), "{name}");
    }
    let count = |text: &str| alarms.matches(text).count();
    assert_eq!(count("- alert: "), count("description: "));
}
