//! What a seat knows, in an analysis: the same past leads to the same advice as in a game.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    analysis::{advise, bare},
    support::{Dice, PRESETS, TestGame, TestServer, TestViewer::*},
};

/// What a seat knows of the first round of a game, from the log and from its own view.
fn known(game: &TestGame, seat: usize) -> Value {
    let (mut played, mut asked) = (Vec::new(), Vec::new());
    for entry in game.entries(Seat(seat)) {
        for event in entry["events"].as_array().expect("events") {
            let seat = &event["seat"];
            match event["type"].as_str().expect("a type") {
                "help_asked" => asked.push(seat.clone()),
                "card_played" => played.push(json!({"seat": seat, "move": event["move"]["id"]})),
                "hand_folded" => {
                    played.push(json!({"seat": seat, "move": "fold", "cards": event["cards"]}));
                }
                _ => {}
            }
        }
    }
    let view = game.view(Seat(seat));
    let own = &view["seats"][seat];
    let mut known = json!({
        "beginner": view["beginner"], "asked": asked, "played": played, "round_began": "-",
    });
    if own["exchange"] == "swapped" {
        (known["gave"], known["received"]) = (own["gave"].clone(), own["received"].clone());
    }
    known
}

/// At every decision of first rounds, an analysis of what a seat has seen gives the same advice as
/// the game.
#[test]
fn the_same_past_gives_the_same_advice() {
    let server = TestServer::shared();
    let mut dice = Dice::new(9);
    let mut folds = 0;
    for preset in PRESETS {
        for number in 0..2 {
            let game = TestGame::create(
                &server,
                &json!({"rules": {"preset": preset}, "shuffle_seed": format!("{number:064x}")}),
            );
            game.deal();
            while game.view(Spectator)["phase"] == "exchange" {
                let to_act = game.view(Spectator)["to_act"].take();
                let seat = dice.pick(&to_act).as_u64().expect("a seat") as usize;
                let answer = game.any_answer(seat, &mut dice);
                game.swap(seat, &answer);
            }
            while game.view(Spectator)["phase"] == "play" {
                let (seat, view) = (game.turn(), game.view(Spectator));
                let body = json!({
                    "rules": view["rules"],
                    "position": view["position"],
                    "seat": seat,
                    "hand": game.hand(seat),
                    "known": known(&game, seat),
                    "level": "fast",
                    "samples": 24,
                    "seed": 5,
                });
                let path = "/suggest-move?level=fast&samples=24&seed=5";
                let in_game = game.get(Seat(seat), path).send().expect(200);
                let analysed = advise(&server, &body).expect(200);
                assert_eq!(bare(analysed), bare(in_game), "{body}");
                let (seat, id) = game.first_move();
                folds += u32::from(id == "fold");
                game.play(seat, &id);
            }
        }
    }
    assert!(folds > 12, "{folds}");
}

/// In every round of whole games, an analysis of what a seat has seen, and of how the seats are taken
/// to play, gives the same advice as the game.
#[test]
fn whole_games_and_their_analyses_give_the_same_advice() {
    let server = TestServer::shared();
    for (number, rules) in ["dogspiel-it", "hausregeln"].into_iter().enumerate() {
        let game = TestGame::create(
            &server,
            &json!({"rules": {"preset": rules}, "shuffle_seed": format!("{number:064x}")}),
        );
        let (mut start, mut played, mut asked) = (Value::Null, Vec::new(), Vec::new());
        let (mut swapped, mut decisions, mut unlike) = (BTreeMap::new(), 0, 0);
        loop {
            let view = game.view(Spectator);
            let phase = view["phase"].as_str().expect("a phase");
            let seat = match phase {
                "finished" => break,
                "deal" => {
                    start = game.deal()["game"].take();
                    (played, asked, swapped) = Default::default();
                    continue;
                }
                "exchange" => view["to_act"][0].as_u64().expect("a seat") as usize,
                _ => game.turn(),
            };
            let known = json!({
                "round": view["round"],
                "beginner": view["beginner"],
                "gone": start["discards"],
                "asked": asked,
            });
            let mut body = json!({
                "rules": view["rules"],
                "position": view["position"],
                "seat": seat,
                "hand": game.hand(seat),
                "known": known,
                "level": "fast",
                "samples": 16,
                "seed": 5,
            });
            if phase == "exchange" {
                let states = view["seats"].as_array().expect("seats").iter();
                body["phase"] = json!("exchange");
                body["exchange"] = states.map(|seat| seat["exchange"].clone()).collect();
            } else {
                body["known"]["round_began"] = start["position"].clone();
                body["known"]["played"] = json!(played);
                if let Some((gave, received)) = swapped.get(&seat) {
                    body["known"]["gave"] = json!(gave);
                    body["known"]["received"] = json!(received);
                }
            }
            let path = "/suggest-move?level=fast&samples=16&seed=5";
            let in_game = game.get(Seat(seat), path).send().expect(200);
            body["known"]["players"] = in_game["players"].clone();
            let analysed = advise(&server, &body).expect(200);
            assert_eq!(bare(analysed), bare(in_game.clone()), "{body}");
            decisions += 1;
            body["known"]
                .as_object_mut()
                .expect("known")
                .remove("players");
            unlike += u32::from(bare(advise(&server, &body).expect(200)) != bare(in_game.clone()));
            let best = &in_game["suggestions"][0];
            if phase == "exchange" {
                if best["swap"]["ask"] == true {
                    asked.push(seat);
                }
                game.swap(seat, &best["swap"]);
                for seat in 0..4 {
                    let own = game.view(Seat(seat))["seats"][seat].take();
                    if own["exchange"] == "swapped" {
                        let cards = (own["gave"].clone(), own["received"].clone());
                        swapped.insert(seat, cards);
                    }
                }
            } else {
                let id = best["move"]["id"].as_str().expect("an id");
                let mut entry = json!({"seat": seat, "move": id});
                if id == "fold" {
                    entry["cards"] = body["hand"].clone();
                }
                played.push(entry);
                game.play(seat, id);
            }
        }
        assert!(
            decisions > 60 && unlike > 20,
            "{rules}: {decisions} {unlike}"
        );
    }
}

#[test]
fn players_that_cannot_be_are_refused() {
    let server = TestServer::shared();
    let ask = |players: Value| {
        let mut body = told();
        body["known"]["players"] = players;
        advise(&server, &body)
    };
    let policies = |policies: Value| json!([{"seat": 1, "policies": policies}]);
    let random = policies(json!([{"policy": "random", "permille": 1000}]));
    let found = ask(random).expect(200);
    let own = &found["players"][1]["policies"];
    assert_eq!(own[5], json!({"policy": "random", "permille": 1000}));
    assert_eq!(own[0], json!({"policy": "net", "permille": 0}));
    assert_ne!(bare(found), bare(ask(json!([])).expect(200)));
    let few = policies(json!([{"policy": "net", "permille": 999}]));
    let stranger = json!([{"seat": 4, "policies": [{"policy": "net", "permille": 1000}]}]);
    let many = json!(vec![json!({"policy": "net", "permille": 1000}); 7]);
    for wrong in [few, stranger, policies(json!([])), policies(many)] {
        let refused = ask(wrong).refused("invalid_knowledge");
        assert_eq!(refused["errors"][0]["pointer"], "/known/players");
    }
    for wrong in [
        json!([{"policy": "wise", "permille": 1000}]),
        json!([{"policy": "net"}]),
    ] {
        ask(policies(wrong)).refused("invalid_request");
    }
}

/// A position of seat 2 after four turns, with all that is known of them.
fn told() -> Value {
    json!({
        "rules": {"preset": "dogspiel-it"},
        "position": "10 / 20 / 40 / -",
        "seat": 2,
        "hand": ["9", "7"],
        "known": {
            "gave": "5",
            "received": "9",
            "round_began": "5 / 18 / 38 / -",
            "played": [
                {"seat": 2, "move": "2:38>40"},
                {"seat": 3, "move": "fold", "cards": ["3", "8", "9"]},
                {"seat": 0, "move": "5:5>10"},
                {"seat": 1, "move": "2:18>20"},
            ],
        },
        "level": "fast", "samples": 24, "seed": 1,
    })
}

#[test]
fn cards_without_moves_tell_the_counts() {
    let server = TestServer::shared();
    let ask = |body: &Value| bare(advise(&server, body).expect(200));
    let mut by_cards = told();
    let known = &mut by_cards["known"];
    known.as_object_mut().expect("known").remove("round_began");
    known["played"] = json!([
        {"seat": 2, "card": "2"},
        {"seat": 3, "fold": ["3", "8", "9"]},
        {"seat": 0, "card": "5"},
        {"seat": 1, "card": "2"},
    ]);
    let cards = ask(&by_cards);
    // The moves also say something about the hands.
    assert_ne!(cards, ask(&told()));
    let mut counted = by_cards.clone();
    counted["known"]["counts"] = json!([2, 2, 2, 0]);
    assert_eq!(ask(&counted), cards);
    // The same, told one by one. The given card was played.
    counted["known"] = json!({
        "counts": [2, 2, 2, 0], "folded": [3], "beginner": 2, "received": "9", "gave": "5",
        "gone": {"2": 2, "3": 1, "5": 1, "8": 1, "9": 1},
    });
    assert_ne!(ask(&counted), cards);
    for body in [&mut counted, &mut by_cards] {
        let known = body["known"].as_object_mut().expect("known");
        known.retain(|name, _| !["gave", "received"].contains(&name.as_str()));
    }
    assert_eq!(ask(&counted), ask(&by_cards));
}

#[test]
fn an_impossible_past_is_refused() {
    let server = TestServer::shared();
    advise(&server, &told()).expect(200);
    let mut pointers = BTreeSet::new();
    let mut refused = |change: &dyn Fn(&mut Value)| {
        let mut body = told();
        change(&mut body["known"]);
        let refused = advise(&server, &body).refused("invalid_knowledge");
        pointers.extend(refused["errors"][0]["pointer"].as_str().map(str::to_owned));
    };
    // Not its turn, not legal, another board, too many cards, more than the deck.
    refused(&|known| known["played"][0]["seat"] = json!(1));
    refused(&|known| known["played"][0]["seat"] = json!(4));
    refused(&|known| known["played"][0]["move"] = json!("3:38>40"));
    refused(&|known| known["played"][0]["move"] = json!("2 by two"));
    refused(&|known| known["played"][0]["move"] = json!("3:38>41"));
    refused(&|known| known["played"][0]["cards"] = json!(["2"]));
    refused(&|known| known["played"][1]["cards"] = json!(["3", "8"]));
    refused(&|known| known["played"][1]["cards"] = json!(["3", "8", "9", "9"]));
    refused(&|known| known["played"][1]["cards"] = json!(["3", "8", "A"]));
    refused(&|known| known["played"][1]["cards"] = json!([]));
    refused(&|known| known["played"][1]["cards"] = Value::Null);
    refused(&|known| known["played"][2] = json!({"seat": 0, "card": "5"}));
    refused(&|known| known["played"] = json!([]));
    refused(&|known| known["played"] = json!([{"seat": 2, "move": "2:38>40"}]));
    refused(&|known| known["round_began"] = json!("5 / 18 / 37 / -"));
    refused(&|known| known["round_began"] = Value::Null);
    refused(&|known| known["beginner"] = json!(1));
    refused(&|known| known["counts"] = json!([2, 2, 2, 2]));
    refused(&|known| known["folded"] = json!([0]));
    refused(&|known| known["gone"] = json!({"9": 7, "5": 8}));
    refused(&|known| known["gave"] = Value::Null);
    refused(&|known| known["received"] = json!("K"));
    refused(&|known| known["hands"] = json!({"0": ["A", "K", "Q"]}));
    assert!(pointers.len() > 10, "{pointers:?}");
    for (member, value, code) in [
        ("round_began", json!("5 / 18 / 38 / x"), "invalid_board"),
        ("gave", json!("Z"), "unknown_card"),
        ("received", json!("Z"), "unknown_card"),
        ("round", json!(0), "invalid_knowledge"),
        ("round", json!(u32::MAX), "invalid_knowledge"),
        (
            "played",
            json!(vec![json!({"seat": 2, "move": "2:38>40"}); 200]),
            "invalid_knowledge",
        ),
    ] {
        let mut body = told();
        body["known"][member] = value;
        advise(&server, &body).refused(code);
    }
    // All cards of the partner were seen.
    for (gave, is_possible) in [("5", true), ("K", false)] {
        let mut body = told();
        body["known"] = json!({"gave": gave, "received": "9", "played": [
            {"seat": 2, "card": "2"},
            {"seat": 3, "fold": ["3", "8", "9"]},
            {"seat": 0, "fold": ["4", "5", "6"]},
            {"seat": 1, "card": "2"},
        ]});
        let answer = advise(&server, &body);
        if is_possible {
            answer.expect(200);
        } else {
            answer.refused("invalid_knowledge");
        }
    }
    let mut own_seat = told();
    own_seat["known"] = json!({"folded": [2]});
    advise(&server, &own_seat).refused("invalid_knowledge");
    for known in [
        json!({"played": [{"seat": 2, "card": "2"}]}),
        json!({"gave": "2", "received": "9"}),
        json!({"counts": [2, 0, 2, 2]}),
        json!({"folded": [1]}),
        json!({"folded": [2]}),
        json!({"folded": [0]}),
    ] {
        let mut exchange = told();
        (exchange["phase"], exchange["known"]) = (json!("exchange"), known);
        advise(&server, &exchange).refused("invalid_knowledge");
    }
}
