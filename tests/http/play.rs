//! `POST /v1/games/{id}/play`

use serde_json::{Value, json};

use crate::support::{CARDS, TestGame, TestServer, TestViewer::*, UNKNOWN_TOKEN};

#[test]
fn a_move_answers_with_view_version_and_events() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    for version in 7..40 {
        let view = game.view(Spectator);
        let Some(seat) = view["turn"].as_u64() else {
            return;
        };
        let seat = seat as usize;
        let listed = game.get(Seat(seat), "/legal-moves").send().expect(200);
        let mv = &listed["moves"][0];
        let before = game.view(Seat(seat));
        let played = game.play(seat, mv["id"].as_str().expect("an id"));
        assert_eq!(played["version"], version);
        assert_eq!(played["game"], game.view(Seat(seat)));
        assert_eq!(played["game"]["board"], mv["board"]);
        assert_eq!(played["game"]["last_action"], played["events"][0]);
        let Some(card) = mv["card"].as_str() else {
            continue;
        };
        let discarded = |view: &Value| view["discards"][card].as_u64().unwrap_or(0);
        assert_eq!(discarded(&played["game"]), discarded(&before) + 1);
        let cards = |view: &Value| view["seats"][seat]["cards"].as_u64();
        if played["game"]["phase"] == "play" {
            assert_eq!(cards(&played["game"]).map(|n| n + 1), cards(&before));
        }
    }
}

#[test]
fn illegal_moves_leave_the_game_as_it_was() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let (seat, legal) = game.first_move();
    let hand = game.hand(seat);
    let before = game.snapshot();
    let mut ids: Vec<String> = [
        "",
        " ",
        "x",
        "fold ",
        "Fold",
        "FOLD",
        ":",
        "K:",
        ":out",
        "K:out:",
        "k:out",
        "Q:17>29",
        "Q:017>29",
        "Q:17>>29",
        "Q:17>29,",
        "4:0>g0",
        "5:62>g4",
        "5:p0>p2",
        "5:g0>g1",
        "J:17<>33",
        "J:33<>33",
        "J:none",
        "7:",
        "7:0>7",
        "7:0>1,1>2,2>3,3>4,4>5,5>6,6>7,7>8",
        "joker:out",
        "joker=joker:out",
        "joker=K:64>77",
        "joker=Q:255>11",
        "2:99>101",
        "2:1000>1002",
        "2:-1>1",
        "2:0>\u{662}",
        "\u{0}",
        "K:out\n",
        "\"K:out\"",
        "K:out;DROP TABLE games",
    ]
    .map(str::to_owned)
    .into();
    let absent = CARDS
        .iter()
        .filter(|card| !hand.iter().any(|held| held == *card));
    ids.extend(absent.map(|card| format!("{card}:out")));
    ids.push(format!(" {legal}"));
    ids.push(format!("{legal} "));
    ids.push("9".repeat(5000));
    if legal != "fold" {
        ids.push("fold".to_owned());
    }
    for id in ids {
        let problem = game
            .post(Seat(seat), "/play")
            .json(&json!({"move": id}))
            .send();
        let problem = problem.refused("illegal_move");
        assert!(
            problem["detail"]
                .as_str()
                .is_some_and(|detail| detail.len() < 1000),
            "{problem}"
        );
    }
    assert_eq!(game.snapshot(), before);
    assert_eq!(game.version(), 6);
    game.play(seat, &legal);
}

#[test]
fn other_bodies_are_refused() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let before = game.snapshot();
    let bodies = [
        json!({}),
        json!({"move": null}),
        json!({"move": 5}),
        json!({"move": ["fold"]}),
        json!({"move": {"id": "fold"}}),
        json!({"id": "fold"}),
        json!({"move": "fold", "card": "K"}),
        json!({"move": "fold", "version": "6"}),
        json!({"move": "fold", "version": -6}),
    ];
    for body in bodies {
        let response = game.post(Seat(1), "/play").json(&body).send();
        response.refused("invalid_request");
    }
    game.post(Seat(1), "/play")
        .send()
        .refused("invalid_request");
    assert_eq!(game.snapshot(), before);
}

#[test]
fn a_guard_lets_only_its_version_pass() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let (seat, id) = game.first_move();
    let before = game.snapshot();
    for tag in ["\"5\"", "\"7\"", "\"5-1\"", "\"6-0\"", "\"6-host\"", "\"\""] {
        let request = game.post(Seat(seat), "/play").json(&json!({"move": id}));
        request.if_match(tag).send().refused("stale_version");
    }
    for version in [0, 5, 7] {
        let body = json!({"move": id, "version": version});
        game.post(Seat(seat), "/play")
            .json(&body)
            .send()
            .refused("stale_version");
    }
    assert_eq!(game.snapshot(), before);
    let body = json!({"move": id, "version": 6});
    let request = game.post(Seat(seat), "/play").json(&body);
    request.if_match("\"6-1\"").send().expect(200);
    let (seat, id) = game.first_move();
    let request = game.post(Seat(seat), "/play").json(&json!({"move": id}));
    request.if_match("\"7\"").send().expect(200);
}

#[test]
fn nobody_plays_for_another_seat() {
    let server = TestServer::shared();
    let (game, other) = (TestGame::in_play(&server), TestGame::in_play(&server));
    let (turn, id) = game.first_move();
    let body = json!({"move": id});
    let before = game.snapshot();
    for seat in (0..4).filter(|seat| *seat != turn) {
        game.post(Seat(seat), "/play")
            .json(&body)
            .send()
            .refused("not_your_turn");
    }
    game.post(Host, "/play")
        .json(&body)
        .send()
        .refused("forbidden");
    game.post(Spectator, "/play")
        .json(&body)
        .send()
        .refused("unauthorized");
    for token in [UNKNOWN_TOKEN, &other.tokens[turn]] {
        let response = server
            .post(&game.path("/play"))
            .token(token)
            .json(&body)
            .send();
        response.refused("unauthorized");
    }
    assert_eq!(game.snapshot(), before);
}

#[test]
fn the_next_seat_with_cards_is_to_move() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    for _ in 0..24 {
        let (seat, id) = game.first_move();
        let view = game.play(seat, &id)["game"].take();
        if view["phase"] != "play" {
            assert_eq!(view["phase"], "deal");
            assert_eq!(view["round"], 2);
            assert_eq!(view["last_action"]["seat"], seat);
            return;
        }
        let holds = |seat: &usize| view["seats"][*seat]["cards"] != 0;
        let next = (1..=4).map(|steps| (seat + steps) % 4).find(holds);
        assert_eq!(view["turn"], json!(next));
    }
    panic!("the round does not end");
}
