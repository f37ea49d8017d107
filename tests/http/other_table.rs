//! No answer at a table of a match depends on what is done at the other table of its pair, until
//! both have ended: every answer is byte for byte the same if the other table is played differently.
//!
//! A match is paused at many moments. For each viewer two servers are started on copies of its
//! database. At one of them the other table is played on; then both get the same requests.

use serde_json::json;

use super::permuted::{Probe, questions};
use crate::support::{Dice, Signal, TestGame, TestMatch, TestServer, TestViewer::*};

/// Does something at a table that was dealt, as one of its people: mostly play, but people also come
/// and go, react and give up. Returns whether the table has ended.
fn act(game: &TestGame, gives_up: bool, dice: &mut Dice) -> bool {
    let view = game.view(Seat(0));
    let seat = dice.below(4);
    let is_bot = view["seats"][seat]["kind"] == "bot";
    match dice.below(16) {
        0 => {
            let kind = if is_bot { "human" } else { "bot" };
            game.put(Seat(seat), seat, &json!({"kind": kind}));
        }
        1 => {
            game.post_json(
                Seat(seat),
                "/reactions",
                &json!({"reaction": "well_played"}),
            );
        }
        2 if gives_up => {
            let gives_up = json!({"forfeit": dice.below(3) == 0});
            game.post_json(Seat(seat), "/forfeit", &gives_up);
        }
        _ => {}
    }
    match view["phase"].as_str().expect("a phase") {
        "finished" => return true,
        "deal" => {
            let dealer = view["dealer"].as_u64().expect("a dealer") as usize;
            game.post_json(Seat(dealer), "/deal", &json!({}));
        }
        "exchange" => {
            for seat in 0..4 {
                if !game.exchange_choices(seat).is_empty() {
                    let answer = game.any_answer(seat, dice);
                    game.post_json(Seat(seat), "/swap", &answer);
                }
            }
        }
        "play" => {
            let turn = view["turn"].as_u64().expect("a turn") as usize;
            let listed = game.get(Seat(turn), "/legal-moves").send();
            // A bot may play the seat.
            if listed.status == 200 {
                let id = dice.pick(&listed.json()["moves"])["id"].clone();
                game.post_json(Seat(turn), "/play", &json!({"move": id}));
            }
        }
        _ => {}
    }
    game.view(Seat(0))["phase"] == "finished"
}

/// Requests about this table and the match that need no seat.
fn public(of: &TestMatch, game: &TestGame, other: &TestGame) -> Vec<Probe> {
    let mut probes: Vec<Probe> = [
        "",
        "/history",
        "/presence",
        "/board.svg",
        "/review",
        "/rematch",
        "/legal-moves",
    ]
    .iter()
    .flat_map(|rest| [game, other].map(|game| Probe::get(game.path(rest))))
    .collect();
    let lists = [
        "/v1/games?limit=50",
        "/v1/games?open=true",
        "/v1/games?phase=play",
    ];
    probes.extend(lists.map(|path| Probe::get(path.to_owned())));
    let path = format!("/v1/matches/{}", of.id);
    probes.extend(["", "?after=1"].map(|query| Probe::get(format!("{path}{query}"))));
    for game in [game, other] {
        probes.push(Probe::post(
            game.path("/join"),
            json!({"invitation": "0-00"}),
        ));
        probes.push(Probe::post(game.path("/join"), json!({"version": 1})));
        let followed = json!({"games": [{"id": game.id}]});
        probes.push(Probe::post("/v1/events".to_owned(), followed).messages(1));
    }
    probes
}

/// When the server is to act in the game.
fn due(server: &TestServer, game: &TestGame) -> Vec<String> {
    let sql = format!(
        "SELECT due_at, deadline FROM games WHERE id = '{}'",
        game.id
    );
    server.database().sql(&sql)
}

/// Plays a match, and pauses it at so many moments. Returns how many answers were compared.
fn nothing_passes(moments: usize, seed: u64) -> usize {
    let server = TestServer::start();
    let mut of = TestMatch::create(&server, &json!({"bot_pace_ms": 60_000}));
    let mut dice = Dice::new(seed);
    for table in 0..2 {
        act(of.fill(table), false, &mut dice);
    }
    let number = dice.below(2);
    let [own, other] = [number, 1 - number].map(|table| of.tables[table].game.clone());
    let (mut ended, mut compared) = ([false; 2], 0);
    for moment in 0..moments {
        let steps = dice.below(12);
        for _ in 0..steps {
            ended[0] = ended[0] || act(&own, true, &mut dice);
            // It goes on for as long as the first one does.
            ended[1] = ended[1] || ended[0] || act(&other, false, &mut dice);
        }
        if moment % 5 == 4 {
            server.restart(Signal::Kill);
        }
        for viewer in own.viewers() {
            let [here, there] = [(); 2].map(|()| TestServer::on_copy(&server, |_| {}));
            let played_on = other.at(&there);
            let is_bot = played_on.view(Seat(1))["seats"][1]["kind"] == "bot";
            let kind = if is_bot { "human" } else { "bot" };
            let changed = played_on.put(Seat(1), 1, &json!({"kind": kind}));
            assert!(ended[1] || changed.status == 200, "{}", changed.text());
            // Both tables must not have ended.
            let most = if ended[0] { 0 } else { dice.below(20) };
            for _ in 0..most {
                act(&played_on, true, &mut dice);
            }
            let _present = played_on.events(Seat(dice.below(4)), "");
            assert_eq!(due(&here, &own), due(&there, &own), "{viewer}");
            let mut probes = public(&of, &own, &other);
            match viewer {
                Seat(_) => probes.extend(questions(&own, viewer, &mut dice)),
                _ => probes.push(Probe::get(own.path("/events"))),
            }
            let token = own.token(viewer);
            for probe in &probes {
                let [one, two] = [&here, &there].map(|server| probe.response(server, token));
                assert_eq!(one, two, "{viewer}: {}", probe.what());
            }
            let metrics = there.get("/metrics").send().text();
            assert!(
                [&of.id, &own.id, &other.id]
                    .iter()
                    .all(|id| !metrics.contains(*id))
            );
            compared += probes.len() + 1;
        }
    }
    compared
}

#[test]
fn nothing_passes_between_the_tables_of_a_pair() {
    let compared = nothing_passes(2, 1);
    assert!(compared > 500, "{compared}");
}

#[test]
#[ignore = "takes many minutes"]
fn nothing_passes_in_long_matches() {
    let compared: usize = (10..14).map(|seed| nothing_passes(12, seed)).sum();
    println!("{compared} answers compared");
    assert!(compared >= 20_000, "{compared}");
}
