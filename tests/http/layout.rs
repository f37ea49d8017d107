//! `GET /v1/layout`

use std::collections::BTreeMap;

use roxmltree::Document;
use serde_json::{Value, json};

use crate::support::{TestGame, TestServer, TestViewer::Spectator};

/// The boards that there are: seats, fields per seat, and the seat at the bottom.
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
        let number = |name| {
            node.attribute(name)
                .expect("a coordinate")
                .parse()
                .expect("a number")
        };
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
        let layout = server
            .get(&format!("/v1/layout?{query}"))
            .send()
            .expect(200);
        let rules = json!({"preset": "dogspiel-it", "seats": seats, "fields_per_seat": fields});
        let game = TestGame::create(&server, &json!({"rules": rules}));
        let path = format!("/board.svg?bottom={bottom}&legend=false");
        let picture = game.get(Spectator, &path).send().text();
        let drawn = drawn(&picture);
        let places = layout["places"].as_object().expect("places");
        assert_eq!(places.len(), usize::from(seats * (fields + 8)));
        let laid_out: BTreeMap<String, (f64, f64)> = places
            .iter()
            .map(|(key, at)| {
                let number = |name: &str| at[name].as_f64().expect("a number");
                (key.clone(), (number("x"), number("y")))
            })
            .collect();
        assert_eq!(drawn, laid_out, "{query}");
        let viewed = format!("viewBox=\"0 0 {} {}\"", layout["width"], layout["height"]);
        assert!(picture.contains(&viewed.replace(".0", "")), "{viewed}");
        let listed = layout["seats"].as_array().expect("seats");
        assert_eq!(listed.len(), usize::from(seats));
        for (seat, style) in listed.iter().enumerate() {
            assert_eq!(style["start"], seat * usize::from(fields));
            let colour = style["colour"].as_str().expect("a colour");
            assert!(
                picture.contains(&format!("<g fill=\"{colour}\"")),
                "{colour}"
            );
            let shape = style["shape"].as_str().expect("a shape");
            assert!(
                picture.contains(&format!("(seat {seat}, {shape})")),
                "{shape}"
            );
        }
    }
}

#[test]
fn a_board_of_four_seats_is_the_default() {
    let server = TestServer::shared();
    let get = |path: &str| server.get(path).send();
    let full = get("/v1/layout?seats=4&fields_per_seat=16&bottom=0");
    for path in ["/v1/layout", "/v1/layout?seats=4", "/v1/layout?bottom=0"] {
        let response = get(path);
        assert_eq!(response.body, full.body);
        assert_eq!(response.header("etag"), full.header("etag"));
    }
    let layout: Value = full.expect(200);
    assert_eq!(layout["places"]["0"], json!({"x": 500.0, "y": 926.0}));
}

#[test]
fn a_layout_can_be_kept() {
    let server = TestServer::shared();
    let mut etags = Vec::new();
    for (seats, fields, bottom) in boards() {
        let path = format!("/v1/layout?seats={seats}&fields_per_seat={fields}&bottom={bottom}");
        let first = server.get(&path).send();
        let etag = first.header("etag").expect("an ETag").to_owned();
        assert!(etag.starts_with('"') && etag.len() == 34, "{etag}");
        assert_eq!(
            first.list("cache-control"),
            ["public", "max-age=31536000", "immutable"]
        );
        assert_eq!(server.get(&path).send().body, first.body);
        let same = server.get(&path).header("If-None-Match", &etag).send();
        assert_eq!((same.status, same.body.len()), (304, 0));
        assert_eq!(same.header("etag"), Some(etag.as_str()));
        let other = server.get(&path).header("If-None-Match", "\"x\"").send();
        assert_eq!((other.status, other.body), (200, first.body));
        etags.push(etag);
    }
    let count = etags.len();
    etags.sort();
    etags.dedup();
    assert_eq!(etags.len(), count);
}

#[test]
fn only_boards_that_there_are_have_a_layout() {
    let server = TestServer::shared();
    for (query, parameter) in [
        ("seats=5", "/seats"),
        ("seats=0", "/seats"),
        ("seats=8", "/seats"),
        ("fields_per_seat=14", "/fields_per_seat"),
        ("fields_per_seat=17", "/fields_per_seat"),
        ("bottom=4", "/bottom"),
        ("seats=6&bottom=6", "/bottom"),
    ] {
        let response = server.get(&format!("/v1/layout?{query}")).send();
        let problem = response.refused("invalid_request");
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
        let response = server.get(&format!("/v1/layout?{query}")).send();
        response.refused("invalid_request");
    }
}
