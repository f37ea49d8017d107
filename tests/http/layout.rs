//! `GET /v1/layout`

use std::collections::{BTreeMap, HashSet};

use roxmltree::Document;
use serde_json::json;

use crate::support::{TestGame, TestServer, TestViewer::Spectator};

/// The boards that exist: seats, fields per seat, and the seat at the bottom.
fn boards() -> impl Iterator<Item = (u8, u8, u8)> {
    [(4, 15), (4, 16), (6, 15), (6, 16)]
        .into_iter()
        .flat_map(|(seats, fields)| (0..seats).map(move |bottom| (seats, fields, bottom)))
}

/// The middle of every place in a picture.
fn drawn(picture: &str) -> BTreeMap<String, (f64, f64)> {
    let document = Document::parse(picture).expect("a well-formed document");
    let places = document.descendants().filter_map(|node| {
        let place = node.attribute("data-place")?;
        let text = |name| node.attribute(name).expect("a coordinate");
        let number = |name| text(name).parse().expect("a number");
        let free = node.attribute("data-seat").is_none();
        free.then(|| (place.to_owned(), (number("cx"), number("cy"))))
    });
    places.collect()
}

#[test]
fn the_layout_is_where_the_picture_draws() {
    let server = TestServer::shared();
    for (seats, fields, bottom) in boards() {
        let query = format!("seats={seats}&fields_per_seat={fields}&bottom={bottom}");
        let layout = server.get(&format!("/v1/layout?{query}")).send();
        let layout = layout.expect(200);
        let rules = json!({"preset": "dogspiel-it", "seats": seats, "fields_per_seat": fields});
        let game = TestGame::create(&server, &json!({"rules": rules}));
        let path = format!("/board.svg?bottom={bottom}&legend=false");
        let picture = game.get(Spectator, &path).send().text();
        let places = layout["places"].as_object().expect("places").iter();
        let laid_out: BTreeMap<String, (f64, f64)> = places
            .map(|(key, at)| {
                let number = |name: &str| at[name].as_f64().expect("a number");
                (key.clone(), (number("x"), number("y")))
            })
            .collect();
        assert_eq!(laid_out.len(), usize::from(seats * (fields + 8)));
        assert_eq!(drawn(&picture), laid_out, "{query}");
        let viewed = format!("viewBox=\"0 0 {} {}\"", layout["width"], layout["height"]);
        assert!(picture.contains(&viewed.replace(".0", "")), "{viewed}");
        let listed = layout["seats"].as_array().expect("seats");
        assert_eq!(listed.len(), usize::from(seats));
        for (seat, style) in listed.iter().enumerate() {
            assert_eq!(style["start"], seat * usize::from(fields));
            let text = |name: &str| style[name].as_str().expect("a text");
            let colour = format!("<g fill=\"{}\"", text("colour"));
            let shape = format!("(seat {seat}, {})", text("shape"));
            assert!(
                picture.contains(&colour) && picture.contains(&shape),
                "{style}"
            );
        }
    }
}

#[test]
fn a_board_of_four_seats_is_the_default() {
    let server = TestServer::shared();
    let full = server
        .get("/v1/layout?seats=4&fields_per_seat=16&bottom=0")
        .send();
    for query in ["", "?seats=4", "?bottom=0"] {
        let response = server.get(&format!("/v1/layout{query}")).send();
        assert_eq!(response.body, full.body);
        assert_eq!(response.header("etag"), full.header("etag"));
    }
    assert_eq!(
        full.expect(200)["places"]["0"],
        json!({"x": 500.0, "y": 926.0})
    );
}

#[test]
fn a_layout_may_be_cached() {
    let server = TestServer::shared();
    let mut etags = HashSet::new();
    for (seats, fields, bottom) in boards() {
        let path = format!("/v1/layout?seats={seats}&fields_per_seat={fields}&bottom={bottom}");
        let get = |known: &str| server.get(&path).header("If-None-Match", known).send();
        let first = get("\"x\"");
        let etag = first.header("etag").expect("an ETag").to_owned();
        assert!(etag.starts_with('"') && etag.len() == 34, "{etag}");
        let kept = ["public", "max-age=31536000", "immutable"];
        assert_eq!(first.list("cache-control"), kept);
        assert_eq!(server.get(&path).send().body, first.body);
        let same = get(&etag);
        assert_eq!((same.status, same.body.len()), (304, 0));
        assert_eq!(same.header("etag"), Some(etag.as_str()));
        assert!(etags.insert(etag));
    }
}

#[test]
fn only_boards_that_exist_have_a_layout() {
    let server = TestServer::shared();
    let ask = |query: &str| server.get(&format!("/v1/layout?{query}")).send();
    for (query, parameter) in [
        ("seats=5", "/seats"),
        ("seats=0", "/seats"),
        ("fields_per_seat=14", "/fields_per_seat"),
        ("fields_per_seat=17", "/fields_per_seat"),
        ("bottom=4", "/bottom"),
        ("seats=6&bottom=6", "/bottom"),
    ] {
        let problem = ask(query).refused("invalid_request");
        assert_eq!(problem["reason"], "wrong_value", "{query}");
        assert_eq!(problem["errors"][0]["pointer"], parameter, "{query}");
    }
    for query in [
        "seats=x",
        "seats=-4",
        "bottom=",
        "theme=dark",
        "seats=4&seats=6",
    ] {
        ask(query).refused("invalid_request");
    }
}
