//! Draws, and looks at what was drawn.

use std::{fs, path::Path};

use dog_rules::{Field, judge, position};
use roxmltree::{Document, Node};

use super::{
    layout::{kennel_key, place_key},
    *,
};

/// A preset for this many seats, with this many fields each.
fn rules(preset: &str, seats: u8, fields_per_seat: u8) -> Rules {
    let text = format!("{preset} seats={seats} fields_per_seat={fields_per_seat}");
    text.parse().expect("a possible combination")
}

/// A position and a move in it.
struct Scene {
    rules: Rules,
    board: Board,
    /// Who plays which move, and whether it is a preview.
    mv: Option<(u8, &'static str, bool)>,
    names: Vec<&'static str>,
}

impl Scene {
    /// `played` is the number of a seat and its move, or the preview of one; or empty.
    fn new(rules: Rules, pieces: &str, played: &'static str) -> Scene {
        Scene {
            board: position::read(&rules, pieces).expect("a possible board"),
            mv: played.split_once(' ').map(|(seat, mv)| {
                let preview = mv.strip_suffix(" preview");
                let seat = seat.parse().expect("a number");
                (seat, preview.unwrap_or(mv), preview.is_some())
            }),
            names: NAMES[..usize::from(rules.seats)].to_vec(),
            rules,
        }
    }

    fn svg(&self) -> String {
        self.drawn(0, Theme::Light, true).1
    }

    /// The board after the move, and its picture; the next seat is to move, or in a preview this
    /// one.
    fn drawn(&self, bottom: u8, theme: Theme, legend: bool) -> (Board, String) {
        let options = PictureOptions {
            bottom,
            theme,
            legend,
        };
        let Scene { rules, board, .. } = self;
        let still = Picture {
            rules,
            board,
            names: &self.names,
            turn: None,
            shown: None,
            options,
        };
        let Some((number, id, preview)) = self.mv else {
            return (*board, svg(&still));
        };
        let mv = id.parse().expect("a move");
        let mover = Seat::new(number, rules.seats).expect("a seat");
        let outcome = judge::judge(rules, board, mover, rules.deck(), &mv)
            .unwrap_or_else(|refusal| panic!("{id}: {refusal}"));
        let next = mover.next(rules.seats);
        let turn = if preview { mover } else { next };
        let svg = svg(&Picture {
            board: &outcome.board,
            turn: outcome.board.winner(rules).is_none().then_some(turn),
            shown: Some(Shown {
                seat: mover,
                mv,
                kind: outcome.kind,
                parts: &outcome.parts,
                captures: &outcome.captures,
                preview,
            }),
            ..still
        });
        (outcome.board, svg)
    }
}

const NAMES: [&str; 6] = ["Anna", "Beat", "Carla", "Dani", "Elif", "Fritz"];

const BUSY: &str = "0f 21 50 g2 / 17 58 / 29 40 g0 g3 / 48f 5";
const SIX: &str = "0f 12 40 / 16 41 43 g3 / 32f 90 g2 g3 / 48 66 11 / 70 71 g0 / 80f 20 95";
const SIX_NINETY: &str = "0f 12 40 / 16 41 43 g3 / 32 88 g2 g3 / 45 66 11 / 70 71 g0 / 75f 20 89";

fn scenes() -> Vec<(&'static str, Scene)> {
    let it = || rules("dogspiel-it", 4, 16);
    let house = || rules("hausregeln", 4, 15);
    let six = || rules("dogspiel-it", 6, 16);
    let ninety = || rules("hausregeln", 6, 15);
    let canadian = || rules("dogspiel-it seven_partner=always", 6, 16);
    let seven = "0 7:40>41,41>42,42>43,12>13,66>67,11>12,67>68";
    let small = "2 30 g3 / 14 46 / 29 33 g1 / 45f 1";
    let last = "57 g1 g2 g3 / 14 46 / g0 g1 g2 g3 / 45f 1";
    vec![
        ("start", Scene::new(it(), "-", "")),
        ("last-move", Scene::new(it(), BUSY, "1 Q:17>29")),
        ("swap", Scene::new(it(), BUSY, "0 J:21<>58")),
        ("opposite", Scene::new(it(), BUSY, "1 J:17<>50")),
        (
            "preview",
            Scene::new(it(), BUSY, "0 7:21>22,50>55,22>23 preview"),
        ),
        (
            "preview-out",
            Scene::new(it(), BUSY, "1 joker=K:out preview"),
        ),
        ("house", Scene::new(house(), small, "0 4:2>g0")),
        ("six", Scene::new(six(), SIX, "3 A:out")),
        ("six-seats", Scene::new(canadian(), SIX, seven)),
        (
            "six-ninety",
            Scene::new(ninety(), SIX_NINETY, "1 5:41>46 preview"),
        ),
        ("won", Scene::new(house(), last, "0 joker=7:57>g0")),
    ]
}

fn scene(name: &str) -> Scene {
    let mut scenes = scenes().into_iter();
    scenes.find(|(other, _)| *other == name).expect("a scene").1
}

/// Draws every scene into a folder, to be looked at; and the examples of the documentation.
#[test]
#[ignore = "writes files: cargo test -p dog-picture --lib -- --ignored draw_the_scenes"]
fn draw_the_scenes() {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/pictures");
    fs::create_dir_all(&target).expect("a folder");
    for (name, scene) in scenes() {
        fs::write(target.join(name).with_extension("svg"), scene.svg()).expect("a file");
        for bottom in 0..scene.rules.seats {
            let (_, svg) = scene.drawn(bottom, Theme::Dark, bottom % 2 == 0);
            fs::write(target.join(format!("{name}-dark-{bottom}.svg")), svg).expect("a file");
        }
    }
    for name in EXAMPLES {
        fs::write(example(name), scene(name).svg()).expect("a file");
    }
}

/// The scenes that the documentation shows.
const EXAMPLES: [&str; 3] = ["last-move", "preview", "six-seats"];

fn example(name: &str) -> std::path::PathBuf {
    let file = format!("../../docs/pictures/{name}.svg");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

#[test]
fn the_examples_are_up_to_date() {
    for name in EXAMPLES {
        let kept = fs::read_to_string(example(name)).unwrap_or_default();
        assert!(
            kept == scene(name).svg(),
            "{name}.svg is out of date: cargo test -p dog-picture -- --ignored"
        );
    }
}

#[test]
fn pictures_are_well_formed_and_stand_alone() {
    for (name, scene) in scenes() {
        let svg = scene.svg();
        assert_eq!(scene.svg(), svg, "{name} is not always the same");
        let document = parse(&svg);
        for node in document.descendants().filter(Node::is_element) {
            let element = node.tag_name();
            assert_eq!(element.namespace(), Some("http://www.w3.org/2000/svg"));
            let mut known = "svg title desc g path circle rect text".split(' ');
            assert!(known.any(|name| name == element.name()), "{element:?}");
            for attribute in node.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                let bad_name = name.contains("href") || name.starts_with("on") || name == "style";
                let bad_value = ["url(", "NaN", "inf"]
                    .iter()
                    .any(|part| value.contains(part));
                assert!(!bad_name && !bad_value, "{name}={value}");
            }
        }
    }
}

fn parse(svg: &str) -> Document<'_> {
    Document::parse(svg).expect("a document")
}

/// The elements with this attribute, each with its value.
fn with<'a, 'i>(
    document: &'a Document<'i>,
    name: &'a str,
) -> impl Iterator<Item = (&'a str, Node<'a, 'i>)> {
    let nodes = document.descendants();
    nodes.filter_map(move |node| Some((node.attribute(name)?, node)))
}

/// All texts of a picture.
fn texts<'a>(document: &'a Document<'_>) -> Vec<&'a str> {
    let nodes = document.descendants();
    nodes.filter_map(|node| node.text()).collect()
}

/// Where an element's corners, or its middle, lie on average.
fn middle(node: Node<'_, '_>) -> (f64, f64) {
    let number = |name| {
        node.attribute(name)
            .expect("an attribute")
            .parse()
            .expect("a number")
    };
    let Some(path) = node.attribute("d") else {
        return (number("cx"), number("cy"));
    };
    let numbers: Vec<f64> = path
        .split(|letter: char| letter.is_ascii_alphabetic() || letter == ' ')
        .filter_map(|number| number.parse().ok())
        .collect();
    let mean = |numbers: Vec<f64>| numbers.iter().sum::<f64>() / numbers.len() as f64;
    let (x, y) = (numbers.iter().copied(), numbers.iter().copied().skip(1));
    (mean(x.step_by(2).collect()), mean(y.step_by(2).collect()))
}

/// The boards that there are: seats, fields per seat, and the seat at the bottom.
fn boards() -> impl Iterator<Item = (u8, u8, u8)> {
    [(4, 15), (4, 16), (6, 15), (6, 16)]
        .into_iter()
        .flat_map(|(seats, fields)| (0..seats).map(move |bottom| (seats, fields, bottom)))
}

#[test]
fn every_piece_is_drawn_where_it_stands() {
    for (name, scene) in scenes() {
        let (board, svg) = scene.drawn(0, Theme::Light, true);
        let rules = &scene.rules;
        let layout = BoardLayout::new(rules.seats, rules.fields_per_seat, 0);
        let document = parse(&svg);
        for seat in rules.ring().seats() {
            let number = seat.number().to_string();
            let pieces = with(&document, "data-seat").filter(|(owner, _)| *owner == number);
            let mut drawn: Vec<_> = pieces
                .filter_map(|(_, node)| Some((node.attribute("data-place")?, middle(node))))
                .collect();
            assert_eq!(drawn.len(), 4, "{name}: {seat}");
            let places = board.pieces(seat).places();
            let places = places.map(|place| (place_key(seat, place), layout.field(seat, place)));
            let kennel = layout.kennel(seat).into_iter().enumerate();
            let kennel = kennel.map(|(index, at)| (kennel_key(seat, index), at));
            for (at, point) in places.chain(kennel.take(board.kennel(seat).into())) {
                let index = drawn.iter().position(|(other, _)| *other == at);
                let (x, y) = drawn.remove(index.expect("a piece")).1;
                let off = point.distance(layout::Point { x, y });
                assert!(off < 0.2 * layout.gap, "{name}: {seat} on {at}: {off}");
            }
            let fresh = format!("data-fresh=\"{}\"", rules.ring().start(seat));
            assert_eq!(svg.contains(&fresh), board.fresh(seat), "{name}: {seat}");
        }
    }
}

#[test]
fn every_place_is_drawn_where_the_layout_says() {
    for (seats, fields, bottom) in boards() {
        let layout = BoardLayout::new(seats, fields, bottom);
        let scene = Scene {
            rules: rules("dogspiel-it", seats, fields),
            board: Board::new(),
            mv: None,
            names: Vec::new(),
        };
        let (_, svg) = scene.drawn(bottom, Theme::Light, false);
        let document = parse(&svg);
        let root = document.root_element();
        assert_eq!(root.attribute("viewBox"), Some("0 0 1000 1000"));
        assert!(!root.has_attribute("width") && !root.has_attribute("height"));
        let places = with(&document, "data-place");
        let places = places.filter(|(_, node)| !node.has_attribute("data-seat"));
        let mut drawn: Vec<_> = places
            .map(|(place, node)| (place.to_owned(), middle(node)))
            .collect();
        let mut laid_out: Vec<_> = layout
            .places()
            .map(|(key, at)| (key, (Number(at.x).rounded(), Number(at.y).rounded())))
            .collect();
        drawn.sort_by(|one, other| one.0.cmp(&other.0));
        laid_out.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(drawn, laid_out, "{seats} {fields} {bottom}");
        assert_eq!(drawn.len(), usize::from(seats * (fields + 8)));
        for (seat, piece) in with(&document, "data-seat") {
            let seat = Seat::new(seat.parse().expect("a number"), seats).expect("a seat");
            assert_eq!(inherited(piece, "fill"), piece_colour(seat));
            let numbers = |path: &str| path.matches(' ').count();
            let corners = piece.attribute("d").map_or(0, numbers).div_ceil(2);
            let expected = match shape_name(seat) {
                "disc" => 0,
                "triangle" => 3,
                "square" | "diamond" => 4,
                "star" => 10,
                "cross" => 12,
                other => panic!("{other}"),
            };
            assert_eq!(corners, expected, "{seat}");
        }
    }
}

/// At the table: the nearest seat at the bottom, then anticlockwise, as the fields run.
#[test]
fn fields_run_anticlockwise_from_the_bottom() {
    for (seats, fields, bottom) in boards() {
        let layout = BoardLayout::new(seats, fields, bottom);
        let ring = rules("dogspiel-it", seats, fields).ring().clone();
        let first = bottom * fields;
        let length = ring.length();
        assert_eq!(layout.length(), length);
        let at = |steps: u8| {
            let at = layout.track(ring.forward(first, steps));
            (at.x - 500.0, at.y - 500.0)
        };
        let near = |value: f64, other: f64| (value - other).abs() < 1e-6;
        let (start, opposite) = (at(0), at(length / 2));
        assert!(near(start.0, 0.0) && start.1 > 400.0);
        assert!(near(opposite.0, 0.0) && opposite.1 < -400.0);
        assert!(at(1).0 > 0.0 && at(length - 1).0 < 0.0);
        for seat in Seat::all(seats) {
            assert_eq!(layout.start(seat), ring.start(seat));
        }
    }
}

/// On a phone whose page is 360 pixels wide, places are as far apart as docs/picture.md says.
#[test]
fn neighbours_can_be_told_apart_with_a_finger() {
    for (seats, fields, bottom) in boards() {
        let layout = BoardLayout::new(seats, fields, bottom);
        let points: Vec<_> = layout.places().collect();
        let mut nearest = f64::INFINITY;
        for (index, (_, point)) in points.iter().enumerate() {
            for (_, other) in &points[..index] {
                nearest = nearest.min(point.distance(*other));
            }
        }
        let pixels = 360.0 * nearest / WIDTH;
        let least = if seats == 4 { 24.0 } else { 22.5 };
        assert!(pixels >= least, "{seats} {fields}: {pixels}");
        for field in 0..layout.length() {
            let next = layout.track((field + 1) % layout.length());
            let apart = layout.track(field).distance(next);
            assert!((apart - layout.gap).abs() < 0.2, "{field}: {apart}");
        }
    }
}

/// The relative luminance of a colour (WCAG 2.2).
fn luminance(colour: &str) -> f64 {
    let channel = |index: usize| {
        let text = &colour[1 + 2 * index..3 + 2 * index];
        let value = f64::from(u8::from_str_radix(text, 16).expect("two digits")) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2)
}

/// The contrast of two colours (WCAG 2.2).
fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The value of an attribute that an element has itself or inherits.
fn inherited<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    let mut nodes = node.ancestors();
    nodes
        .find_map(|node| node.attribute(name))
        .unwrap_or("none")
}

#[test]
fn everything_stands_out_from_what_is_behind_it() {
    for (name, scene) in scenes() {
        for theme in [Theme::Light, Theme::Dark] {
            let (_, svg) = scene.drawn(0, theme, true);
            let document = parse(&svg);
            let first = document
                .descendants()
                .find(|node| node.has_tag_name("rect"));
            let background = inherited(first.expect("a background"), "fill");
            let palette = theme.palette();
            assert_eq!(background, palette.background);
            let stands_out = |colour: &str, behind: &str, least: f64| {
                let found = contrast(colour, behind);
                assert!(found >= least, "{name}: {colour} on {behind}: {found}");
            };
            stands_out(palette.ring, background, 3.0);
            let texts = document
                .descendants()
                .filter(|node| node.has_tag_name("text"));
            for text in texts {
                for behind in [background, palette.panel, palette.field] {
                    stands_out(inherited(text, "fill"), behind, 4.5);
                }
            }
            for (_, node) in with(&document, "data-place") {
                // The line around a place or a piece, or its inside, differs from what is behind.
                let (fill, line) = (inherited(node, "fill"), inherited(node, "stroke"));
                let mut behind = vec![background, palette.field];
                behind.extend(Seat::all(6).map(|seat| theme.colours(seat).home));
                if !node.has_attribute("data-seat") {
                    behind.truncate(1);
                }
                for behind in behind {
                    let fill_is_best = contrast(fill, behind) > contrast(line, behind);
                    stands_out(if fill_is_best { fill } else { line }, behind, 3.0);
                }
            }
            for seat in Seat::all(6) {
                let colours = theme.colours(seat);
                for behind in [colours.home, palette.field, background] {
                    stands_out(colours.line, behind, 3.0);
                }
                // The entry of the seat to move.
                stands_out(palette.text, colours.home, 4.5);
                stands_out(palette.faded, colours.home, 4.5);
            }
        }
    }
}

#[test]
fn a_picture_without_a_legend_is_a_square_with_the_same_board() {
    for (name, scene) in scenes() {
        let full = scene.svg();
        let (_, bare) = scene.drawn(0, Theme::Light, false);
        assert!(bare.contains("viewBox=\"0 0 1000 1000\""), "{name}");
        assert!(!bare.contains("monospace") && bare.len() < full.len());
        let places = |svg: &str| {
            let document = parse(svg);
            let places = with(&document, "data-place");
            let places = places.map(|(place, node)| (place.to_owned(), middle(node)));
            places.collect::<Vec<_>>()
        };
        assert_eq!(places(&bare), places(&full), "{name}");
    }
}

#[test]
fn a_move_is_marked_and_a_preview_dashed() {
    for (name, scene) in scenes() {
        let svg = scene.svg();
        let Some((_, id, preview)) = scene.mv else {
            assert!(!svg.contains("monospace"), "{name}");
            continue;
        };
        let document = parse(&svg);
        let texts = texts(&document);
        assert!(texts.contains(&id), "{name}: {texts:?}");
        assert_eq!(texts.contains(&"preview"), preview, "{name}");
        assert_eq!(texts.contains(&"last move"), !preview, "{name}");
        assert_eq!(svg.contains("stroke-dasharray"), preview, "{name}");
        for number in id.split(|letter: char| !letter.is_ascii_digit()).skip(1) {
            let named = number.is_empty() || id.contains(&format!("g{number}"));
            assert!(named || texts.contains(&number), "{name}: {number}");
        }
    }
    let captured = |name| scene(name).svg().matches("data-captured").count();
    assert_eq!((captured("last-move"), captured("six-seats")), (1, 2));
    assert_eq!((captured("swap"), captured("preview")), (0, 0));
}

#[test]
fn the_description_names_every_piece() {
    let svg = scene("last-move").svg();
    let document = parse(&svg);
    let text = |name| {
        let mut nodes = document.descendants();
        nodes.find(|node| node.has_tag_name(name))?.text()
    };
    assert_eq!(text("title"), Some("DOG: 4 seats, 64 fields"));
    let words = "Last move, seat 1: Q:17>29; seat 1 from field 17 to field 29; seat 2 captured on \
        field 29. Anna (seat 0, disc): field 0, fresh; field 21; field 50; goal 2. \
        Beat (seat 1, square): field 29; field 58; 2 in the kennel. \
        Carla (seat 2, triangle), to move: field 40; goal 0; goal 3; 1 in the kennel. \
        Dani (seat 3, cross): field 5; field 48, fresh; 2 in the kennel. ";
    assert_eq!(text("desc"), Some(words));
}

#[test]
fn names_are_text_whatever_they_hold() {
    let names = ["</text><script>", "a & b", "\"'>]]>", "\u{0}\u{b}\u{fffe}z"];
    let scene = Scene {
        names: names.to_vec(),
        ..scene("preview")
    };
    let svg = scene.svg();
    let document = parse(&svg);
    let texts = texts(&document);
    let description = texts.iter().find(|text| text.contains("(seat"));
    for name in [names[0], names[1], names[2], "z"] {
        let described = description.is_some_and(|text| text.contains(&format!("{name} (seat")));
        assert!(described, "{name}: {texts:?}");
    }
    assert!(texts.contains(&"a & b") && texts.contains(&"z"));
    assert!(!svg.contains("<script"));
    let nameless = Scene {
        names: Vec::new(),
        ..scene
    };
    assert!(nameless.svg().contains(">Seat 3<"));
}

/// A number below `n`, the next of a sequence that is always the same.
fn below(state: &mut u64, n: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % n
}

/// As much as a picture can hold: every piece out, the longest names and the longest move.
#[test]
fn the_fullest_pictures_are_within_40_kilobytes() {
    let mut largest = 0;
    let mut state = 1;
    for (seats, fields) in [(4, 15), (4, 16), (6, 15), (6, 16)] {
        let rules = rules("hausregeln", seats, fields);
        let length = rules.ring().length();
        for name in ["&", "\"", "il", "🐕"].map(|text| text.repeat(40 / text.chars().count())) {
            for round in 0..20 {
                let mut free: Vec<u8> = (0..length).collect();
                let mut pieces = |seat: Seat| {
                    let goal = seat.number() % 5;
                    let start = rules.ring().start(seat);
                    let track = (goal..4).map(|_| {
                        let field = free.swap_remove(below(&mut state, free.len() as u64) as usize);
                        format!("{field}{}", if field == start { "f" } else { "" })
                    });
                    let goal = (0..goal).map(|field| format!("g{field}"));
                    track.chain(goal).collect::<Vec<_>>().join(" ")
                };
                let pieces: Vec<_> = rules.ring().seats().map(&mut pieces).collect();
                let board = position::read(&rules, &pieces.join("/")).expect("a board");
                let seat = Seat::new(seats - 1, seats).expect("a seat");
                let door = rules.ring().door(seat);
                let first = below(&mut state, length.into()) as u8;
                let next = |index: u8| (first + 3 * index + 1) % length;
                let part = |index: u8| {
                    let (from, to) = match round % 2 {
                        0 => ((first + 3 * index) % length, Field::Track(next(index))),
                        _ => (rules.ring().backward(door, index), Field::Goal(index % 4)),
                    };
                    PlayedPart {
                        seat,
                        from: Some(Field::Track(from)),
                        to,
                        steps: 1,
                    }
                };
                let capture = |index: u8| Capture {
                    seat: Seat::new(5.min(seats - 1), seats).expect("a seat"),
                    from: next(index),
                };
                let parts: Vec<_> = (0..7).map(part).collect();
                let captures: Vec<_> = (0..7).map(capture).collect();
                let last = length - 1;
                let id = format!("joker=7:{}", vec![format!("{last}>{last}"); 7].join(","));
                let names = vec![name.as_str(); seats.into()];
                let drawn = svg(&Picture {
                    rules: &rules,
                    board: &board,
                    names: &names,
                    turn: Some(seat),
                    shown: Some(Shown {
                        seat,
                        mv: id.parse().expect("a move"),
                        kind: MoveKind::Seven,
                        parts: &parts,
                        captures: &captures,
                        preview: round % 3 != 0,
                    }),
                    options: PictureOptions {
                        bottom: 0,
                        theme: Theme::Light,
                        legend: true,
                    },
                });
                largest = largest.max(drawn.len());
            }
        }
    }
    println!("the largest picture has {largest} bytes");
    assert!(largest <= 40 * 1024, "{largest} bytes");
}
