//! Draws, and looks at what was drawn.

use std::{fs, path::Path};

use dog_rules::{Field, Options, Placement, Preset, SevenPartner, judge};
use roxmltree::{Document, Node};

use super::{
    layout::{kennel_key, place_key},
    *,
};

/// Rules for this many seats, with this many fields each.
fn rules(preset: Preset, seats: u8, fields_per_seat: u8) -> Rules {
    let options = Options {
        seats,
        fields_per_seat,
        ..preset.options()
    };
    Rules::try_from(options).expect("a possible combination")
}

/// One seat's pieces: those on the track, in the goal, and whether the one on the start is fresh.
type SeatPieces<'a> = (&'a [u8], &'a [u8], bool);

fn board(rules: &Rules, pieces: &[SeatPieces<'_>]) -> Board {
    let placement = |&(track, goal, fresh): &SeatPieces<'_>| Placement {
        track: track.to_vec(),
        goal: goal.to_vec(),
        kennel: None,
        fresh,
    };
    let placements: Vec<Placement> = pieces.iter().map(placement).collect();
    Board::place(rules, &placements).expect("a possible board")
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
    fn svg(&self) -> String {
        self.drawn().1
    }

    /// The board after the move, and its picture; the next seat is to move, or in a preview this
    /// one.
    fn drawn(&self) -> (Board, String) {
        self.drawn_with(PictureOptions::default())
    }

    fn drawn_with(&self, options: PictureOptions) -> (Board, String) {
        let Scene {
            rules,
            board,
            mv,
            names,
        } = self;
        let seat = |number| Seat::new(number, rules.seats).expect("a seat");
        let still = Picture {
            rules,
            board,
            names,
            turn: None,
            shown: None,
            options,
        };
        let Some((number, id, preview)) = *mv else {
            return (*board, svg(&still));
        };
        let mv = id.parse().expect("a move");
        let mover = seat(number);
        let outcome = judge::judge(rules, board, mover, rules.deck(), &mv)
            .unwrap_or_else(|refusal| panic!("{id}: {refusal}"));
        let turn = if preview {
            mover
        } else {
            mover.next(rules.seats)
        };
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

const FOUR: [&str; 4] = ["Anna", "Beat", "Carla", "Dani"];
const SIX: [&str; 6] = ["Anna", "Beat", "Carla", "Dani", "Elif", "Fritz"];

fn scenes() -> Vec<(&'static str, Scene)> {
    let of = |rules: Rules, pieces: &[SeatPieces<'_>], mv| {
        let names = if rules.seats == 4 {
            FOUR.to_vec()
        } else {
            SIX.to_vec()
        };
        let board = board(&rules, pieces);
        Scene {
            rules,
            board,
            mv,
            names,
        }
    };
    let none: SeatPieces<'_> = (&[], &[], false);
    let it = || rules(Preset::DogspielIt, 4, 16);
    let busy: [SeatPieces<'_>; 4] = [
        (&[0, 21, 50], &[2], true),
        (&[17, 58], &[], false),
        (&[29, 40], &[0, 3], false),
        (&[48, 5], &[], true),
    ];
    let six: [SeatPieces<'_>; 6] = [
        (&[0, 12, 40], &[], true),
        (&[16, 41, 43], &[3], false),
        (&[32, 90], &[2, 3], true),
        (&[48, 66, 11], &[], false),
        (&[70, 71], &[0], false),
        (&[80, 20, 95], &[], true),
    ];
    let house = || rules(Preset::Hausregeln, 4, 15);
    let canadian = || {
        let options = Options {
            seven_partner: SevenPartner::Always,
            ..rules(Preset::DogspielIt, 6, 16).options().clone()
        };
        Rules::try_from(options).expect("a possible combination")
    };
    vec![
        ("start", of(it(), &[none; 4], None)),
        ("last-move", of(it(), &busy, Some((1, "Q:17>29", false)))),
        ("swap", of(it(), &busy, Some((0, "J:21<>58", false)))),
        ("opposite", of(it(), &busy, Some((1, "J:17<>50", false)))),
        (
            "preview",
            of(it(), &busy, Some((0, "7:21>22,50>55,22>23", true))),
        ),
        (
            "preview-out",
            of(it(), &busy, Some((1, "joker=K:out", true))),
        ),
        (
            "house",
            of(
                house(),
                &[
                    (&[2, 30], &[3], false),
                    (&[14, 46], &[], false),
                    (&[29, 33], &[1], false),
                    (&[45, 1], &[], true),
                ],
                Some((0, "4:2>g0", false)),
            ),
        ),
        (
            "six",
            of(
                rules(Preset::DogspielIt, 6, 16),
                &six,
                Some((3, "A:out", false)),
            ),
        ),
        (
            "six-seats",
            of(
                canadian(),
                &six,
                Some((0, "7:40>41,41>42,42>43,12>13,66>67,11>12,67>68", false)),
            ),
        ),
        (
            "six-ninety",
            of(
                rules(Preset::Hausregeln, 6, 15),
                &[
                    (&[0, 12, 40], &[], true),
                    (&[16, 41, 43], &[3], false),
                    (&[32, 88], &[2, 3], false),
                    (&[45, 66, 11], &[], false),
                    (&[70, 71], &[0], false),
                    (&[75, 20, 89], &[], true),
                ],
                Some((1, "5:41>46", true)),
            ),
        ),
        (
            "won",
            of(
                house(),
                &[
                    (&[57], &[1, 2, 3], false),
                    (&[14, 46], &[], false),
                    (&[], &[0, 1, 2, 3], false),
                    (&[45, 1], &[], true),
                ],
                Some((0, "joker=7:57>g0", false)),
            ),
        ),
    ]
}

fn scene(name: &str) -> Scene {
    let mut scenes = scenes().into_iter();
    scenes.find(|(other, _)| *other == name).expect("a scene").1
}

/// Draws every scene into a folder, to be looked at; and the examples of the documentation.
#[test]
#[ignore = "writes files"]
fn draw_the_scenes() {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/pictures");
    fs::create_dir_all(&target).expect("a folder");
    for (name, scene) in scenes() {
        fs::write(target.join(name).with_extension("svg"), scene.svg()).expect("a file");
        for bottom in 0..scene.rules.seats {
            let options = PictureOptions {
                bottom,
                theme: Theme::Dark,
                legend: bottom % 2 == 0,
            };
            let target = target.join(format!("{name}-dark-{bottom}.svg"));
            fs::write(target, scene.drawn_with(options).1).expect("a file");
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
        let document = Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        for node in document.descendants().filter(Node::is_element) {
            let element = node.tag_name();
            assert_eq!(element.namespace(), Some("http://www.w3.org/2000/svg"));
            let known = [
                "svg", "title", "desc", "g", "path", "circle", "rect", "text",
            ];
            assert!(known.contains(&element.name()), "{element:?}");
            for attribute in node.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                let refers = name.contains("href") || value.contains("url(");
                assert!(
                    !refers && !name.starts_with("on") && name != "style",
                    "{name}={value}"
                );
                assert!(
                    !value.contains("NaN") && !value.contains("inf"),
                    "{name}={value}"
                );
            }
        }
    }
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

/// A picture of every kind of board in every position, without a legend.
fn bare(seats: u8, fields: u8, bottom: u8, theme: Theme) -> String {
    let rules = rules(Preset::DogspielIt, seats, fields);
    let none: SeatPieces<'_> = (&[], &[], false);
    svg(&Picture {
        rules: &rules,
        board: &board(&rules, &vec![none; seats.into()]),
        names: &[],
        turn: Seat::new(1, seats),
        shown: None,
        options: PictureOptions {
            bottom,
            theme,
            legend: false,
        },
    })
}

#[test]
fn every_piece_is_drawn_where_it_stands() {
    for (name, scene) in scenes() {
        let (board, svg) = scene.drawn();
        let rules = &scene.rules;
        let layout = BoardLayout::new(rules.seats, rules.fields_per_seat, 0);
        let document = Document::parse(&svg).expect("a document");
        for seat in rules.ring().seats() {
            let number = seat.number().to_string();
            let pieces = document
                .descendants()
                .filter(|node| node.attribute("data-seat") == Some(&number));
            let mut drawn: Vec<_> = pieces
                .filter_map(|node| Some((node.attribute("data-place")?, middle(node))))
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
                assert!(
                    off < 0.2 * layout.gap,
                    "{name}: {seat} on {at} is {off} off"
                );
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
        let svg = bare(seats, fields, bottom, Theme::Light);
        let document = Document::parse(&svg).expect("a document");
        let root = document.root_element();
        assert_eq!(root.attribute("viewBox"), Some("0 0 1000 1000"));
        assert_eq!(
            (root.attribute("width"), root.attribute("height")),
            (None, None)
        );
        let places = document.descendants().filter_map(|node| {
            let place = node.attribute("data-place")?;
            node.attribute("data-seat")
                .is_none()
                .then_some((place, node))
        });
        let mut drawn: Vec<_> = places
            .map(|(place, node)| (place.to_owned(), middle(node)))
            .collect();
        let mut laid_out: Vec<_> = layout
            .places()
            .map(|(key, at)| (key, (Number(at.x).rounded(), Number(at.y).rounded())))
            .collect();
        let by_key = |one: &(String, _), other: &(String, _)| one.0.cmp(&other.0);
        drawn.sort_by(by_key);
        laid_out.sort_by(by_key);
        assert_eq!(drawn, laid_out, "{seats} {fields} {bottom}");
        assert_eq!(drawn.len(), usize::from(seats * (fields + 8)));
        let pieces = document.descendants().filter_map(|node| {
            let seat = node.attribute("data-seat")?;
            Some((node, seat.parse().expect("a number")))
        });
        for (piece, seat) in pieces {
            let seat = Seat::new(seat, seats).expect("a seat");
            assert_eq!(inherited(piece, "fill"), piece_colour(seat));
            let corners = piece
                .attribute("d")
                .map_or(0, |path| path.matches(' ').count().div_ceil(2));
            let shape = match corners {
                0 => "disc",
                3 => "triangle",
                4 if shape_name(seat) == "diamond" => "diamond",
                4 => "square",
                10 => "star",
                12 => "cross",
                _ => "unknown",
            };
            assert_eq!(shape, shape_name(seat), "{corners} corners");
        }
    }
}

/// At the table: the nearest seat at the bottom, then anticlockwise, as the fields run.
#[test]
fn fields_run_anticlockwise_from_the_bottom() {
    for (seats, fields, bottom) in boards() {
        let layout = BoardLayout::new(seats, fields, bottom);
        let ring = rules(Preset::DogspielIt, seats, fields).ring().clone();
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
            let options = PictureOptions {
                theme,
                ..PictureOptions::default()
            };
            let svg = scene.drawn_with(options).1;
            let document = Document::parse(&svg).expect("a document");
            let mut rects = document
                .descendants()
                .filter(|node| node.has_tag_name("rect"));
            let background = inherited(rects.next().expect("a background"), "fill");
            let palette = theme.palette();
            assert_eq!(background, palette.background);
            let stands_out = |colour: &str, behind: &str, least: f64| {
                let contrast = contrast(colour, behind);
                assert!(
                    contrast >= least,
                    "{name}, {theme:?}: {colour} on {behind} is {contrast:.2}"
                );
            };
            stands_out(palette.ring, background, 3.0);
            for node in document.descendants().filter(Node::is_element) {
                if node.has_tag_name("text") {
                    for behind in [background, palette.panel, palette.field] {
                        stands_out(inherited(node, "fill"), behind, 4.5);
                    }
                }
                if node.attribute("data-place").is_none() {
                    continue;
                }
                // The line around a place or a piece, or its inside, differs from what is behind.
                let (fill, line) = (inherited(node, "fill"), inherited(node, "stroke"));
                let mut behind = vec![background, palette.field];
                behind.extend(Seat::all(6).map(|seat| theme.colours(seat).home));
                if node.attribute("data-seat").is_none() {
                    behind.truncate(1);
                }
                for behind in behind {
                    let best = if contrast(fill, behind) > contrast(line, behind) {
                        fill
                    } else {
                        line
                    };
                    stands_out(best, behind, 3.0);
                }
            }
            for seat in Seat::all(6) {
                let colours = theme.colours(seat);
                stands_out(colours.line, colours.home, 3.0);
                stands_out(colours.line, palette.field, 3.0);
                stands_out(colours.line, background, 3.0);
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
        let options = PictureOptions {
            legend: false,
            ..PictureOptions::default()
        };
        let bare = scene.drawn_with(options).1;
        assert!(bare.contains("viewBox=\"0 0 1000 1000\""), "{name}");
        assert!(
            !bare.contains("monospace") && bare.len() < full.len(),
            "{name}"
        );
        let places = |svg: &str| {
            let document = Document::parse(svg).expect("a document");
            let places = document
                .descendants()
                .filter(|node| node.attribute("data-place").is_some());
            places
                .map(|node| format!("{:?} {:?}", node.attribute("data-place"), middle(node)))
                .collect::<Vec<_>>()
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
        let document = Document::parse(&svg).expect("a document");
        let texts: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.text())
            .collect();
        assert!(texts.contains(&id), "{name}: {texts:?}");
        assert_eq!(texts.contains(&"preview"), preview, "{name}");
        assert_eq!(texts.contains(&"last move"), !preview, "{name}");
        assert_eq!(svg.contains("stroke-dasharray"), preview, "{name}");
        for number in id.split(|letter: char| !letter.is_ascii_digit()).skip(1) {
            let named = number.is_empty() || id.contains(&format!("g{number}"));
            assert!(
                named || texts.contains(&number),
                "{name}: no number {number}"
            );
        }
    }
    let captured = |name| scene(name).svg().matches("data-captured").count();
    assert_eq!((captured("last-move"), captured("six-seats")), (1, 2));
    assert_eq!((captured("swap"), captured("preview")), (0, 0));
}

#[test]
fn the_description_names_every_piece() {
    let svg = scene("last-move").svg();
    let document = Document::parse(&svg).expect("a document");
    let text = |name| {
        let mut nodes = document.root_element().children();
        nodes
            .find(|node| node.has_tag_name(name))
            .and_then(|node| node.text())
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
    let document = Document::parse(&svg).expect("a document");
    let texts: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.text())
        .collect();
    for name in [names[0], names[1], names[2], "z"] {
        let found = texts
            .iter()
            .any(|text| text.contains(&format!("{name} (seat")));
        assert!(found, "{name}: {texts:?}");
    }
    assert!(
        texts.contains(&"a & b") && texts.contains(&"z"),
        "{texts:?}"
    );
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
        let rules = rules(Preset::Hausregeln, seats, fields);
        let length = rules.ring().length();
        for name in [
            "&".repeat(40),
            "\"".repeat(40),
            "il".repeat(20),
            "🐕".repeat(40),
        ] {
            for round in 0..20 {
                let mut free: Vec<u8> = (0..length).collect();
                let mut placement = |seat: Seat| {
                    let mut field = || {
                        let index = below(&mut state, free.len() as u64) as usize;
                        free.swap_remove(index)
                    };
                    let goal = seat.number() % 5;
                    let start = rules.ring().start(seat);
                    let track: Vec<u8> = (goal..4).map(|_| field()).collect();
                    Placement {
                        fresh: track.contains(&start),
                        track,
                        goal: (0..goal).collect(),
                        kennel: None,
                    }
                };
                let placements: Vec<_> = rules.ring().seats().map(&mut placement).collect();
                let board = Board::place(&rules, &placements).expect("a board");
                let seat = Seat::new(seats - 1, seats).expect("a seat");
                let field = |state: &mut u64| below(state, length.into()) as u8;
                let from = field(&mut state);
                let step = |index: u8| PlayedPart {
                    seat,
                    from: Some(Field::Track((from + 3 * index) % length)),
                    to: Field::Track((from + 3 * index + 1) % length),
                    steps: 1,
                };
                let door = rules.ring().door(seat);
                let home = |index: u8| PlayedPart {
                    from: Some(Field::Track(rules.ring().backward(door, index))),
                    to: Field::Goal(index % 4),
                    ..step(index)
                };
                let parts: Vec<_> = (0..7)
                    .map(|index| {
                        if round % 2 == 0 {
                            step(index)
                        } else {
                            home(index)
                        }
                    })
                    .collect();
                let captures: Vec<_> = (0..7)
                    .map(|index| Capture {
                        seat: Seat::new(5.min(seats - 1), seats).expect("a seat"),
                        from: (from + 3 * index + 1) % length,
                    })
                    .collect();
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
                    options: PictureOptions::default(),
                });
                largest = largest.max(drawn.len());
            }
        }
    }
    println!("the largest picture has {largest} bytes");
    assert!(largest <= 40 * 1024, "{largest} bytes");
}
