//! `GET /v1/games/{id}/board.svg`, and the analysis routes as pictures

use std::collections::HashSet;

use roxmltree::Document;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{CARDS, TestGame, TestRequest, TestResponse, TestServer, TestViewer::*, seed};

const SVG: &str = "image/svg+xml";

/// The query of a preview.
fn of_move(id: &str) -> String {
    format!("move={}", id.replace('<', "%3C").replace('>', "%3E"))
}

/// The picture in a response, checked to be an SVG of at most the documented size.
#[track_caller]
pub fn picture(response: TestResponse) -> String {
    let text = response.text();
    assert_eq!(response.status, 200, "{}: {text}", response.what);
    assert_eq!(response.header("content-type"), Some(SVG));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(
        response.header("content-security-policy"),
        Some("default-src 'none'; style-src 'unsafe-inline'")
    );
    assert!(text.len() <= 40 * 1024);
    let document = Document::parse(&text).expect("a well-formed document");
    assert!(
        document
            .root_element()
            .has_tag_name(("http://www.w3.org/2000/svg", "svg"))
    );
    text
}

/// The board that the picture shows, one entry per seat as in a view.
fn pieces(picture: &str, seats: usize) -> Vec<Value> {
    let document = Document::parse(picture).expect("a well-formed document");
    let with = |name: &str, value: &str| -> Vec<&str> {
        document
            .descendants()
            .filter(|node| node.attribute(name) == Some(value))
            .filter_map(|node| node.attribute("data-place"))
            .collect()
    };
    let of_seat = |seat: usize| {
        let places = with("data-seat", &seat.to_string());
        let numbers = |prefix: &str| -> Vec<u64> {
            let number = |place: &&str| place.strip_prefix(prefix)?.parse().ok();
            places.iter().filter_map(number).collect()
        };
        let goal = format!("{seat}:goal:");
        let kennel = numbers(&format!("{seat}:kennel:"));
        assert_eq!(kennel, (0..kennel.len() as u64).collect::<Vec<_>>());
        let fresh = document.descendants().any(|node| {
            let start = node.attribute("data-fresh");
            start.is_some_and(|start| places.contains(&start))
        });
        let (track, goal) = (numbers(""), numbers(&goal));
        json!({"track": track, "goal": goal, "kennel": kennel.len(), "fresh": fresh})
    };
    (0..seats).map(of_seat).collect()
}

/// The text of the elements that show the move's id.
fn ids(picture: &str) -> Vec<String> {
    let document = Document::parse(picture).expect("a well-formed document");
    document
        .descendants()
        .filter(|node| node.attribute("font-family") == Some("monospace"))
        .filter_map(|node| node.text().map(str::to_owned))
        .collect()
}

#[test]
fn everyone_sees_the_same_board() {
    let server = TestServer::shared();
    for (preset, seats) in [("dogspiel-it", 4), ("dogspiel-it", 6), ("hausregeln", 4)] {
        let rules = json!({"preset": preset, "seats": seats});
        let game = TestGame::create(&server, &json!({"rules": rules, "shuffle_seed": seed(3)}));
        game.deal();
        game.exchange();
        for _ in 0..12 {
            let spectator = picture(game.get(Spectator, "/board.svg").send());
            for viewer in game.viewers() {
                assert_eq!(picture(game.get(viewer, "/board.svg").send()), spectator);
            }
            let view = game.view(Spectator);
            assert_eq!(json!(pieces(&spectator, seats)), view["board"]);
            if view["phase"] != "play" {
                break;
            }
            let (seat, id) = game.first_move();
            game.play(seat, &id);
            let after = picture(game.get(Spectator, "/board.svg").send());
            assert_eq!(ids(&after), [id]);
            assert!(after.contains("last move") && !after.contains("stroke-dasharray"));
        }
    }
}

#[test]
fn an_etag_is_a_hash_of_the_picture_and_saves_the_body() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let mut seen = HashSet::new();
    for query in ["", "?theme=dark", "?move=K:out"] {
        let path = format!("/board.svg{query}");
        let first = game.get(Seat(0), &path).send();
        let digest = hex::encode(&Sha256::digest(&first.body)[..16]);
        let etag = format!("\"{digest}\"");
        for known in [etag.clone(), format!("W/{etag}"), "*".to_owned()] {
            let same = game.get(Host, &path).header("If-None-Match", &known).send();
            assert_eq!((same.status, same.body.len()), (304, 0));
            assert_eq!(same.header("etag"), Some(etag.as_str()));
            assert_eq!(same.list("cache-control"), ["no-cache"]);
            assert!(same.list("vary").contains(&"authorization".to_owned()));
        }
        let other = game.get(Host, &path).header("If-None-Match", "\"6-board\"");
        assert_eq!(other.send().body, first.body);
        let head = game.request("HEAD", Spectator, &path).send();
        assert_eq!((head.status, head.body.len()), (200, 0));
        for response in [head, first] {
            assert_eq!(response.header("etag"), Some(etag.as_str()));
        }
        assert!(seen.insert(etag));
    }
    game.play_on();
    for etag in seen {
        let stale = game.get(Host, "/board.svg").header("If-None-Match", &etag);
        picture(stale.send());
    }
    // A matching `If-None-Match` does not turn a refusal into a 304.
    let illegal = game.get(Host, "/board.svg?move=Q:0%3E1");
    let illegal = illegal.header("If-None-Match", "*").send();
    illegal.refused("illegal_move");
}

#[test]
fn it_is_a_picture_whatever_is_accepted() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    for accept in [
        "image/avif,image/webp,*/*;q=0.8",
        "text/html",
        "application/json",
    ] {
        let request = game.get(Spectator, "/board.svg").header("Accept", accept);
        picture(request.send());
    }
}

#[test]
fn queries_are_exact() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let queries = "colour=red seat=0 seat=4&move=K:out seat=-1&move=K:out seat=x&move=K:out \
        move=K:out&move=A:out size=300 bottom=4 bottom=-1 bottom=x theme=blue theme=Dark legend=no \
        bottom=1&bottom=2";
    for query in queries.split(' ') {
        let response = game.get(Spectator, &format!("/board.svg?{query}")).send();
        response.refused("invalid_request");
    }
}

#[test]
fn a_preview_is_the_board_after_the_move() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    for _ in 0..10 {
        let seat = game.turn();
        let moves = game.get(Seat(seat), "/legal-moves").send().expect(200)["moves"].take();
        for mv in moves.as_array().expect("moves").iter().take(8) {
            let id = mv["id"].as_str().expect("an id");
            let path = format!("/board.svg?{}", of_move(id));
            let shown = picture(game.get(Spectator, &path).send());
            assert_eq!(json!(pieces(&shown, 4)), mv["board"], "{id}");
            assert_eq!(ids(&shown), [id]);
            assert!(shown.contains("preview") && shown.contains("stroke-dasharray"));
        }
        game.play(seat, moves[0]["id"].as_str().expect("an id"));
    }
}

/// The number after `name="` in the first element with that place.
fn coordinate(picture: &str, place: &str, name: &str) -> f64 {
    let document = Document::parse(picture).expect("a well-formed document");
    let circle = document
        .descendants()
        .find(|node| node.attribute("data-place") == Some(place))
        .expect("a place");
    let number = circle.attribute(name).expect("a coordinate");
    number.parse().expect("a number")
}

#[test]
fn a_picture_can_be_turned_darkened_and_without_legend() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let ask = |query: &str| picture(game.get(Spectator, &format!("/board.svg{query}")).send());
    let plain = ask("");
    assert_eq!(ask("?bottom=0&theme=light&legend=true"), plain);
    for bottom in 0..4 {
        let turned = ask(&format!("?bottom={bottom}"));
        assert_eq!(pieces(&turned, 4), pieces(&plain, 4));
        let start = (16 * bottom).to_string();
        assert_eq!(coordinate(&turned, &start, "cx"), 500.0);
        assert!(coordinate(&turned, &start, "cy") > 900.0);
        assert!(coordinate(&turned, &format!("{bottom}:kennel:0"), "cy") > 800.0);
    }
    let dark = ask("?theme=dark");
    assert!(dark != plain && pieces(&dark, 4) == pieces(&plain, 4));
    let bare = ask("?legend=false");
    assert!(bare.contains("viewBox=\"0 0 1000 1000\""));
    assert!(plain.contains(">Seat 0<") && !bare.contains(">Seat 0<"));
    let preview = ask("?move=K:out&bottom=2&theme=dark&legend=false");
    assert!(preview.contains("stroke-dasharray"));
}

/// Previews of every card, legal and not, in a game where seat 1 is to move.
fn previews() -> Vec<String> {
    let ranks = || CARDS.into_iter().filter(|&card| card != "joker");
    let out = ranks().flat_map(|card| [format!("{card}:out"), format!("joker={card}:out")]);
    let walk = ranks().map(|card| format!("{card}:16>20"));
    let others = [
        "fold", "J:none", "J:16<>17", "7:16>23", "Q:0>1", "x", "", "K:out:",
    ];
    out.chain(walk).chain(others.map(str::to_owned)).collect()
}

/// The same game with other hidden cards: every response is the same, byte for byte.
#[test]
fn a_preview_does_not_depend_on_a_hand() {
    let server = TestServer::shared();
    let dealt = |byte: u8| {
        let body = json!({"first_dealer": 0, "shuffle_seed": seed(byte)});
        let game = TestGame::create(&server, &body);
        game.deal();
        game.exchange();
        game
    };
    // Some hands can play and others cannot, so a fold is legal only for some.
    let plays = |game: &TestGame| game.legal_moves(1)[0]["kind"] != "fold";
    let first = dealt(1);
    assert!(plays(&first));
    let mut others = vec![dealt(2), dealt(3)];
    others.extend((4..=255).map(dealt).find(|game| !plays(game)));
    assert_eq!(others.len(), 3, "somebody can always play");
    for game in &others {
        assert_ne!(game.hand(1), first.hand(1));
    }
    let mut legal = 0;
    for id in previews() {
        for seat in ["", "&seat=0", "&seat=3"] {
            let path = format!("/board.svg?{}{seat}", of_move(&id));
            let here = first.get(Spectator, &path).send();
            legal += u32::from(here.status == 200);
            for game in &others {
                for viewer in [Seat(1), Host] {
                    let there = game.get(viewer, &path).send();
                    assert_eq!(
                        (there.status, &there.body),
                        (here.status, &here.body),
                        "{id}"
                    );
                }
            }
        }
    }
    // For each seat: a fold, and leaving the kennel with an ace, a king, or a joker as either.
    assert_eq!(legal, 15);
}

#[test]
fn an_illegal_preview_is_refused_in_the_rules_words() {
    let server = TestServer::shared();
    let game = TestGame::in_play(&server);
    let refused = game.get(Spectator, "/board.svg?move=Q:0%3E12").send();
    let detail = refused.refused("illegal_move")["detail"].to_string();
    assert!(detail.contains("no piece stands on field 0"), "{detail}");
    // No deck of these rules holds a joker.
    let rules = json!({"preset": "dogspiel-it", "jokers": 0});
    let game = TestGame::create(&server, &json!({"rules": rules}));
    let path = "/board.svg?seat=0&move";
    let refused = game.get(Spectator, &format!("{path}=joker=K:out")).send();
    refused.refused("illegal_move");
    picture(game.get(Spectator, &format!("{path}=K:out")).send());
}

#[test]
fn a_preview_without_a_seat_is_for_the_seat_to_move() {
    let server = TestServer::shared();
    let game = TestGame::fixed(&server);
    let ask = |query: &str| game.get(Spectator, &format!("/board.svg?{query}")).send();
    let phases: [fn(&TestGame); 2] = [|game| drop(game.deal()), |game| drop(game.exchange())];
    for next in phases {
        ask("move=x").refused("wrong_phase");
        picture(ask("move=K:out&seat=2"));
        next(&game);
    }
    for (query, entered) in [("move=K:out", 1), ("move=K:out&seat=3", 3)] {
        let pieces = pieces(&picture(ask(query)), 4);
        let on_track = |seat: &Value| seat["track"] != json!([]);
        assert_eq!(pieces.iter().position(on_track), Some(entered));
    }
    let game = TestGame::imported(&server);
    let ask = |query: &str| game.get(Spectator, &format!("/board.svg{query}")).send();
    ask("?move=K:out&seat=0").refused("game_over");
    assert_eq!(picture(ask("")).matches(">won<").count(), 2);
}

const MOVES: &str = "/v1/analysis/legal-moves";
const ADVICE: &str = "/v1/analysis/suggest-move";

fn position() -> Value {
    json!({
        "rules": {"preset": "hausregeln", "seats": 6},
        "position": "30 87 g3 / 33 / - / - / - / 75f",
        "seat": 0,
        "hand": ["3", "4", "Q"],
    })
}

fn analysis<'a>(server: &'a TestServer, path: &str, accept: &str) -> TestRequest<'a> {
    let body = position();
    server.post(path).json(&body).header("Accept", accept)
}

#[test]
fn an_analysis_is_a_picture_where_that_is_preferred() {
    let server = TestServer::shared();
    for path in [MOVES, ADVICE] {
        let ask = |accept: &str| analysis(&server, path, accept).send();
        let varies = |response: &TestResponse| response.list("vary").contains(&"accept".to_owned());
        for accept in ["*/*", "image/svg+xml;q=0.5, application/json"] {
            let response = ask(accept);
            assert_eq!(response.header("content-type"), Some("application/json"));
            assert!(varies(&response) && response.status == 200, "{accept}");
        }
        for accept in [SVG, "image/svg+xml, */*;q=0.1"] {
            let response = ask(accept);
            assert!(varies(&response), "{accept}");
            picture(response);
        }
        ask("text/html").refused("not_acceptable");
    }
}

#[test]
fn the_analysis_of_moves_draws_the_position_or_a_move() {
    let server = TestServer::shared();
    let moves = analysis(&server, MOVES, "*/*").send().expect(200)["moves"].take();
    let still = picture(analysis(&server, MOVES, SVG).send());
    let placed = pieces(&still, 6);
    for (seat, track, fresh) in [(1, 33, false), (5, 75, true)] {
        let expected = json!({"track": [track], "goal": [], "kennel": 3, "fresh": fresh});
        assert_eq!(placed[seat], expected);
    }
    assert_eq!(ids(&still), [""; 0]);
    let preview = |id: &str| analysis(&server, &format!("{MOVES}?{}", of_move(id)), SVG).send();
    for mv in moves.as_array().expect("moves") {
        let id = mv["id"].as_str().expect("an id");
        let shown = picture(preview(id));
        assert_eq!(json!(pieces(&shown, 6)), mv["board"], "{id}");
        assert_eq!(ids(&shown), [id]);
        let captured = mv["captures"].as_array().expect("captures").len();
        assert_eq!(shown.matches("data-captured").count(), captured, "{id}");
    }
    // In an analysis the hand is the caller's own, so legality is checked.
    for id in ["K:out", "fold", "Q:87>10", "x"] {
        preview(id).refused("illegal_move");
    }
    for (query, accept) in [("move=3:30%3E33", "*/*"), ("seat=1", SVG)] {
        let response = analysis(&server, &format!("{MOVES}?{query}"), accept).send();
        response.refused("invalid_request");
    }
    let empty = json!({"position": "-", "seat": 0, "hand": []});
    let empty = server.post(MOVES).header("Accept", SVG).json(&empty);
    empty.send().refused("invalid_hand");
}

#[test]
fn pictures_of_an_analysis_can_be_turned_and_darkened() {
    let server = TestServer::shared();
    for path in [MOVES, ADVICE] {
        let ask = |query: &str, accept: &str| {
            analysis(&server, &format!("{path}?{query}"), accept).send()
        };
        let turned = picture(ask("bottom=5&theme=dark&legend=false", SVG));
        assert_eq!(coordinate(&turned, "75", "cx"), 500.0);
        assert!(turned.contains("viewBox=\"0 0 1000 1000\""));
        for query in ["bottom=6", "theme=grey", "legend=2"] {
            ask(query, SVG).refused("invalid_request");
        }
        for query in ["bottom=0", "theme=dark", "legend=true"] {
            ask(query, "*/*").refused("invalid_request");
        }
    }
}

#[test]
fn the_analysis_with_advice_draws_the_best_move() {
    let server = TestServer::shared();
    let mut body = position();
    (body["level"], body["samples"], body["seed"]) = (json!("strong"), json!(50), json!(7));
    let ask = |accept: &str| {
        server
            .post(ADVICE)
            .json(&body)
            .header("Accept", accept)
            .send()
    };
    let best = ask("application/json").expect(200)["suggestions"][0]["move"].take();
    let shown = picture(ask(SVG));
    assert_eq!(ids(&shown), [best["id"].as_str().expect("an id")]);
    assert_eq!(json!(pieces(&shown, 6)), best["board"]);
    assert!(shown.contains("preview"));
    body["level"] = json!("nobody");
    let nobody = server.post(ADVICE).json(&body).header("Accept", SVG).send();
    nobody.refused("invalid_request");
}
