//! `…/review`: what was luck, what was play, and what would have been better.

use std::{io::Write as _, thread, time::Duration};

use flate2::{Compression, write::DeflateEncoder};
use serde_json::{Value, json};

use super::limits::{behind_a_proxy, from};
use crate::support::{
    ServerDatabase, Signal, TestGame, TestResponse, TestServer,
    TestViewer::{self, *},
    UNCACHED,
};

/// The review once it has this status.
fn once(status: &str, game: &TestGame<'_>, viewer: TestViewer) -> Value {
    loop {
        let review = game.get(viewer, "/review").send().expect(200);
        if review["status"] == status {
            return review;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

pub fn done(game: &TestGame<'_>, viewer: TestViewer) -> Value {
    once("done", game, viewer)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// The sum of these members of an object, or of one place in each if they are lists.
fn sum(object: &Value, parts: &[&str], place: Option<usize>) -> f64 {
    let part = |name: &&str| match place {
        Some(place) => number(&object[*name][place]),
        None => number(&object[*name]),
    };
    parts.iter().map(part).sum()
}

#[test]
fn nothing_of_a_review_exists_before_the_end() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    for viewer in game.viewers() {
        game.post(viewer, "/review").send().refused("game_not_over");
        for rest in ["/review", "/review.svg"] {
            let refused = game.get(viewer, rest).send();
            refused.refused("review_not_found");
        }
    }
    let record = game.get(Host, "/history?review=true");
    let record = record.header("Accept", "text/plain").send();
    record.refused("game_not_over");
    let none = server.post("/v1/games/1y51r0ztfn8hp2zw9f8m33tzg0/review");
    none.send().refused("game_not_found");
}

#[test]
fn a_finished_game_is_reviewed_once() {
    let server = TestServer::shared();
    let game = TestGame::imported(&server);
    let missing = game.get(Spectator, "/review").send();
    missing.refused("review_not_found");
    let judged = || {
        let record = game.get(Spectator, "/history?review=true");
        record.header("Accept", "text/plain").send()
    };
    let plain = game.record();
    judged().refused("review_not_found");
    let events = game.events(Spectator, "?after_end=true");
    let asked = game.post(Spectator, "/review").send();
    assert_eq!(asked.header("Location"), Some(&*game.path("/review")));
    asked.expect(202);
    let again = game.post(Host, "/review").send();
    assert_eq!((again.status, again.header("Location")), (200, None));
    let notice = events.notice_of("review");
    assert_eq!(notice, json!({"type": "review", "status": "done"}));
    let review = done(&game, Spectator);
    assert_eq!(review["progress"], 1.0);
    check(&review);
    assert_eq!(game.record(), plain);
    let judged = judged().text();
    check_record(&review, &plain, &judged);
    server.import(&judged).expect(201);
    let picture = game.get(Spectator, "/review.svg?theme=dark").send();
    let svg = picture.text();
    assert_eq!(picture.header("Content-Type"), Some("image/svg+xml"));
    // It marks what the list has, up to a version.
    let seats = list(&review["seats"]).iter();
    let costliest = seats.flat_map(|seat| list(&seat["costliest"])).map(number);
    let mut costliest: Vec<f64> = costliest.collect();
    costliest.sort_by(f64::total_cmp);
    assert!(costliest.len() > 6, "{costliest:?}");
    let marks = |svg: &str| {
        let marks = svg.split("data-version=\"").skip(1);
        let marks = marks.map(|rest| {
            rest.split('"')
                .next()
                .unwrap_or_default()
                .parse()
                .expect("a version")
        });
        let mut marks: Vec<f64> = marks.collect();
        marks.sort_by(f64::total_cmp);
        marks
    };
    assert_eq!(marks(&svg), costliest);
    let until = |version: u64| {
        game.get(Spectator, &format!("/review.svg?until={version}"))
            .send()
            .text()
    };
    let part = until(200);
    assert!(part.len() < svg.len(), "{part}");
    let drawn = marks(&part);
    assert!(
        !drawn.is_empty() && drawn.iter().all(|&version| version <= 200.0),
        "{drawn:?}"
    );
    let light = game.get(Spectator, "/review.svg").send().text();
    assert_eq!(until(100_000), light);
    // Teams have the names of their players, or those that the caller gives them.
    let called = |teams: &str| {
        let path = format!("/review.svg?teams={teams}");
        game.get(Spectator, &path).send().text()
    };
    assert_eq!(called("|"), light);
    assert_ne!(called("You+%3C"), light);
    assert!(called("You+%3C").contains(">You &lt;<"));
}

/// The sums of a review that is done.
#[track_caller]
fn check(review: &Value) {
    let decisions = list(&review["decisions"]);
    assert!(decisions.len() > 100, "{}", decisions.len());
    for made in decisions {
        let loss = number(&made["difference"]).max(0.0);
        assert_eq!(number(&made["loss"]), loss);
        assert_eq!(made["judgement"] == "best", made["played"] == made["best"]);
        let is_clear = number(&made["difference"]) > 2.0 * number(&made["standard_error"]);
        let is_good = made["judgement"] == "best" || made["judgement"] == "good";
        let is_mistake = is_clear && loss >= 0.02 && made["judgement"] != "best";
        assert_eq!(!is_good, is_mistake, "{made}");
        assert!(made["random_loss"].is_number(), "{made}");
    }
    check_moments(review);
    for (number, seat) in list(&review["seats"]).iter().enumerate() {
        let own = decisions.iter();
        let own = own.filter(|made| made["seat"] == number && made["by"].is_null());
        assert_eq!(seat["decisions"], own.count());
        let by_bots = decisions.iter();
        let by_bots = by_bots.filter(|made| made["seat"] == number && made["by"] == "bot");
        assert!(seat["bot_accuracy"].is_null() || by_bots.count() >= 10);
        // With the few worlds of a test, choices at random may lose nothing in all.
        let accuracy = seat["accuracy"].as_f64();
        assert!(
            accuracy.is_none_or(|accuracy| (0.0..=100.0).contains(&accuracy)),
            "{seat}"
        );
        assert_eq!(seat["accuracy_of"], "random");
    }
    let parts = ["luck", "decisions", "rest"];
    for (place, team) in list(&review["teams"]).iter().enumerate() {
        let whole = number(&team["start"]) + sum(team, &parts, None);
        assert!((whole - number(&team["result"])).abs() < 1e-9, "{team}");
        for rounds in list(&review["rounds"]).windows(2) {
            assert_eq!(rounds[0]["end"], rounds[1]["before"]);
        }
        for round in list(&review["rounds"]) {
            let whole = number(&round["before"][place]) + sum(round, &parts, Some(place));
            let end = number(&round["end"][place]);
            assert!((whole - end).abs() < 1e-9, "{round}");
        }
    }
}

/// At most one moment of a kind, in this order.
#[track_caller]
fn check_moments(review: &Value) {
    let moments = list(&review["moments"]);
    let kinds = moments.iter().map(|moment| &moment["kind"]);
    let all = ["turning_point", "best_find", "costliest"];
    let all = all
        .iter()
        .filter(|&&kind| kinds.clone().any(|found| found == kind));
    assert!(kinds.clone().eq(all.clone()), "{moments:?}");
    assert_eq!(moments[0]["kind"], "turning_point");
    let decisions = list(&review["decisions"]);
    let largest = decisions
        .iter()
        .filter(|made| made["judgement"] != "best" && made["judgement"] != "good");
    let largest = largest
        .map(|made| number(&made["loss"]))
        .fold(0.0, f64::max);
    for moment in moments {
        assert!(number(&moment["round"]) >= 1.0);
        let made = decisions
            .iter()
            .find(|made| made["version"] == moment["version"]);
        assert_eq!(made.map(|made| &made["seat"]), moment.get("seat"));
        match (moment["kind"].as_str(), made) {
            (Some("turning_point"), _) => {}
            (Some("best_find"), Some(made)) => assert_eq!(made["judgement"], "best"),
            (Some("costliest"), Some(made)) => assert_eq!(number(&made["loss"]), largest),
            _ => panic!("{moment}"),
        }
    }
}

/// A record with judgements is the plain one with a comment for each decision.
#[track_caller]
fn check_record(review: &Value, plain: &str, judged: &str) {
    let bare = judged
        .lines()
        .map(|line| line.split(" ; ").next().unwrap_or_default());
    assert!(bare.eq(plain.lines()));
    let comments = judged.lines().filter_map(|line| line.split_once(" ; "));
    let comments: Vec<&str> = comments.map(|(_, comment)| comment).collect();
    let decisions = list(&review["decisions"]);
    assert_eq!(comments.len(), decisions.len());
    for (comment, made) in comments.iter().zip(decisions) {
        let judgement = made["judgement"].as_str().expect("a name");
        assert!(comment.starts_with(judgement), "{comment}: {made}");
    }
}

#[test]
#[ignore = "two reviews take half a minute"]
fn a_review_goes_on_after_a_kill() {
    let server = TestServer::start();
    let (killed, whole) = (TestGame::imported(&server), TestGame::imported(&server));
    whole.post(Host, "/review").send().expect(202);
    let expected = done(&whole, Host);
    killed.post(Host, "/review").send().expect(202);
    while killed.get(Host, "/review").send().expect(200)["status"] == "waiting" {
        thread::sleep(Duration::from_millis(50));
    }
    server.restart(Signal::Kill);
    assert_eq!(done(&killed, Host), expected);
}

#[test]
fn a_review_is_removed_with_its_game() {
    let server = TestServer::shared();
    let game = TestGame::imported(&server);
    game.post(Host, "/review").send().expect(202);
    game.remove();
    game.get(Host, "/review").send().refused("game_not_found");
}

#[test]
fn a_game_of_very_many_versions_is_not_reviewed() {
    let server = TestServer::start_with(&[UNCACHED]);
    let game = TestGame::imported(&server);
    let version = game.version();
    let columns = |version: u64, other: u64| {
        format!(
            "version = {other}, \
             snapshot = replace(snapshot, '\"version\":{version}', '\"version\":{other}')"
        )
    };
    server
        .database()
        .change_game(&game.id, &columns(version, 10_001));
    let refused = game.post(Host, "/review").send();
    refused.refused("too_many_versions");
    server
        .database()
        .change_game(&game.id, &columns(10_001, 10_000));
    game.post(Host, "/review").send().expect(202);
}

#[test]
fn a_damaged_log_costs_that_review_only() {
    let server = TestServer::start();
    let (damaged, sound) = (TestGame::imported(&server), TestGame::imported(&server));
    damaged.damage_log();
    let events = damaged.events(Spectator, "?after_end=true");
    for game in [&damaged, &sound] {
        game.post(Host, "/review").send().expect(202);
    }
    let notice = events.notice_of("review");
    assert_eq!(notice, json!({"type": "review", "status": "failed"}));
    let failed = once("failed", &damaged, Host);
    assert_eq!(list(&failed["decisions"]).len(), 0);
    assert!(
        failed["detail"]
            .as_str()
            .is_some_and(|why| why.contains("damaged"))
    );
    let sound = done(&sound, Host);
    check(&sound);
    assert_eq!(sound["detail"], Value::Null);
    let again = damaged.post(Host, "/review").send().expect(202);
    assert_eq!(
        (&again["status"], &again["detail"]),
        (&json!("waiting"), &Value::Null)
    );
    once("failed", &damaged, Host);
    let line = format!("game {} cannot be reviewed", damaged.id);
    assert_eq!(server.log().matches(&line).count(), 2);
}

#[test]
fn what_was_found_is_damaged_and_the_queue_goes_on() {
    let server = TestServer::start_with(&[("DOG_REVIEW_PERCENT", "1")]);
    let [first, damaged, last] = [(); 3].map(|()| TestGame::imported(&server));
    first.post(Host, "/review").send().expect(202);
    let found = done(&first, Host);
    let (bytes, empty) = match server.database() {
        ServerDatabase::File(_) => ("x'ffff'", "x'0300'"),
        ServerDatabase::Postgres(_) => (r"'\xffff'", r"'\x0300'"),
    };
    // As if something had overwritten a review that is done.
    for damaged in [bytes, empty, "substr(content, 9)"] {
        let sql = format!("UPDATE reviews SET content = {damaged}");
        server.database().sql(&sql);
        let failed = first.get(Host, "/review").send().expect(200);
        assert_eq!(
            (&failed["status"], &failed["rounds"]),
            (&json!("failed"), &json!([]))
        );
        assert!(failed["detail"].is_string());
        first.get(Host, "/review.svg").send().text();
        first.post(Host, "/review").send().expect(202);
        assert_eq!(done(&first, Host), found);
        assert_eq!(first.post(Host, "/review").send().status, 200);
    }
    // As if something had overwritten a review that goes on.
    server.database().sql(&format!(
        "INSERT INTO reviews (game, asked_at, status, content) \
         SELECT row_id, 0, 'waiting', {bytes} FROM games \
         WHERE row_id NOT IN (SELECT game FROM reviews)"
    ));
    for game in [&damaged, &last] {
        let failed = once("failed", game, Host);
        assert!(failed["detail"].is_string());
        game.post(Host, "/review").send().expect(202);
        check(&done(game, Host));
    }
}

#[test]
fn a_review_made_before_0_3_0_is_made_anew() {
    let server = TestServer::start();
    let game = TestGame::imported(&server);
    game.post(Host, "/review").send().expect(202);
    let new = done(&game, Host);
    // As a server of before has stored it.
    let offer = |card: &str| json!({"action": "offer", "seat": 1, "card": card});
    let made = json!({
        "version": 5, "seat": 1, "by": null, "played": offer("2"), "best": offer("3"),
        "win_probability": 0.5, "difference": 0.05, "standard_error": 0.01,
    });
    let deal = json!({
        "round": 1, "version": 2, "before": [0.5, 0.5], "luck": [0.01, -0.01],
        "luck_standard_error": [0.01, 0.01],
    });
    let found = json!({
        "version": game.version(), "decisions": vec![made; 12], "deals": [deal], "winner": 0,
    });
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    packed
        .write_all(found.to_string().as_bytes())
        .expect("a review");
    let packed = packed.finish().expect("a review");
    let hex: String = packed.iter().map(|byte| format!("{byte:02x}")).collect();
    let literal = match server.database() {
        ServerDatabase::File(_) => format!("x'{hex}'"),
        ServerDatabase::Postgres(_) => format!(r"'\x{hex}'"),
    };
    let sql = format!("UPDATE reviews SET content = {literal}");
    server.database().sql(&sql);
    let old = game.get(Host, "/review").send().expect(200);
    assert_eq!(
        (&old["status"], &old["decisions"][0]["loss"]),
        (&json!("done"), &json!(0.05))
    );
    assert!(old["decisions"][0]["random_loss"].is_null());
    assert!(old["seats"][1]["accuracy"].is_null());
    // Of two who ask at the same time, one begins it.
    let ask = || game.post(Host, "/review").send().status;
    let mut asked = thread::scope(|scope| {
        let other = scope.spawn(ask);
        [ask(), other.join().expect("an answer")]
    });
    asked.sort_unstable();
    assert_eq!(asked, [200, 202]);
    assert_eq!(done(&game, Host), new);
    assert_eq!(ask(), 200);
    let (said, is_sound) = server.check();
    assert!(is_sound, "{said}");
}

/// Asks for the review of a game from this address.
fn ask(game: &TestGame<'_>, address: &str) -> TestResponse {
    from(game.post(Spectator, "/review"), address).send()
}

#[test]
fn an_address_has_ten_reviews_that_are_not_done() {
    // With so many playouts the first one is not done before the end of this test.
    let server = behind_a_proxy(&[("DOG_REVIEW_PERCENT", "1000")]);
    let games: Vec<TestGame<'_>> = (0..11).map(|_| TestGame::imported(&server)).collect();
    for game in &games[..10] {
        ask(game, "192.0.2.1").expect(202);
    }
    let refused = ask(&games[10], "192.0.2.1");
    assert_eq!(refused.header("Retry-After"), Some("60"));
    refused.refused("too_many_requests");
    ask(&games[0], "192.0.2.1").expect(200);
    ask(&games[10], "192.0.2.2").expect(202);
}

#[test]
fn a_displaced_review_is_told_and_asked_for_again() {
    let server = behind_a_proxy(&[("DOG_REVIEW_PERCENT", "1000")]);
    let games = [(); 3].map(|()| TestGame::imported(&server));
    for (game, address) in games
        .iter()
        .zip(["2001:db8::1", "2001:db8:0:1::1", "192.0.2.1"])
    {
        ask(game, address).expect(202);
    }
    // The addresses of a customer have one network.
    let differing = |what: &str| {
        let sql = format!("SELECT count(DISTINCT {what}) FROM reviews");
        server.database().number(&sql)
    };
    assert_eq!(differing("creator"), 3);
    assert_eq!(differing("substr(creator, 1, 8)"), 2);
    // As if the queue had become full.
    let displaced = "UPDATE reviews SET status = 'displaced', creator = NULL";
    server.database().sql(displaced);
    let (said, is_sound) = server.check();
    assert!(is_sound, "{said}");
    for game in &games {
        let review = once("failed", game, Spectator);
        let detail = review["detail"].as_str().expect("a reason");
        assert!(detail.contains("too many reviews"), "{detail}");
        ask(game, "192.0.2.2").expect(202);
        ask(game, "192.0.2.2").expect(200);
    }
}
