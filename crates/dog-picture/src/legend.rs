//! The legend below the board: who plays which shape, whose turn it is, and the id of the move.
//! Also the title and description, for those who cannot see the picture.

use dog_rules::{Field, Move, Seat, judge::PlayedPart};

use super::{
    Picture, Shown,
    layout::{Number, Point, WIDTH},
    style::{Escaped, Palette, SvgWriter, fitted, shape, shape_name},
};

/// Height of a line.
const LINE_HEIGHT: f64 = 62.0;

/// From the edge of the picture to the legend.
const MARGIN: f64 = 28.0;

/// The height of the legend; 0 if there is none.
pub fn height(picture: &Picture<'_>) -> f64 {
    if !picture.options.legend {
        return 0.0;
    }
    let teams = f64::from(picture.rules.seats / 2);
    let lines = teams + f64::from(u8::from(picture.shown.is_some()));
    lines * LINE_HEIGHT + MARGIN
}

/// Draws the legend: one line per team, and one for the move.
pub fn legend(ink: &mut SvgWriter, picture: &Picture<'_>) {
    let seats = picture.rules.seats;
    let Palette { text, ring, .. } = ink.palette();
    let winner = picture.board.winner(picture.rules);
    ink.add(format_args!("<g font-size=\"30\" fill=\"{text}\">"));
    for team in 0..seats / 2 {
        let y = Number(WIDTH + f64::from(team) * LINE_HEIGHT + 21.0);
        ink.add(format_args!(
            "<rect x=\"480\" y=\"{y}\" width=\"40\" height=\"10\" fill=\"{ring}\"/>"
        ));
    }
    for seat in Seat::all(seats) {
        let team = seat.team(seats);
        let column = if seat.number() < seats / 2 { 0.0 } else { 1.0 };
        let width = (WIDTH - 2.0 * MARGIN - 16.0) / 2.0;
        let left = MARGIN + column * (width + 16.0);
        let top = WIDTH + f64::from(team) * LINE_HEIGHT;
        entry(
            ink,
            picture,
            seat,
            Line { left, top, width },
            winner == Some(team),
        );
    }
    if let Some(shown) = &picture.shown {
        caption(ink, shown, WIDTH + f64::from(seats / 2) * LINE_HEIGHT);
    }
    ink.add(format_args!("</g>"));
}

/// Draws the line with the id of the move.
fn caption(ink: &mut SvgWriter, shown: &Shown<'_>, top: f64) {
    let faded = ink.palette().faded;
    let (label, dashes) = if shown.preview {
        ("preview", " stroke-dasharray=\"10 7\"")
    } else {
        ("last move", "")
    };
    let (left, width) = (Number(MARGIN), Number(WIDTH - 2.0 * MARGIN));
    ink.add(format_args!(
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"52\" rx=\"12\" fill=\"none\" \
            stroke=\"{faded}\" stroke-width=\"2\"{dashes}/>"
    ));
    let piece = Point {
        x: MARGIN + 30.0,
        y: top + 26.0,
    };
    piece_icon(ink, shown.seat, piece);
    let id = shown.mv.to_string();
    // The longest id, a joker's seven in seven parts, has to fit too.
    let size = (1.64 * 735.0 / id.len() as f64).min(34.0);
    let y = Number(top + 36.0);
    ink.add(format_args!(
        "<text x=\"84\" y=\"{y}\" fill=\"{faded}\" font-size=\"26\">{label}</text>\
         <text x=\"226\" y=\"{y}\" font-family=\"monospace\" font-weight=\"bold\" font-size=\"{}\">{}</text>",
        Number(size),
        Escaped(&id),
    ));
}

/// Where an entry is.
struct Line {
    left: f64,
    top: f64,
    width: f64,
}

/// Draws the entry of a seat: its shape, number and name.
fn entry(
    ink: &mut SvgWriter,
    picture: &Picture<'_>,
    seat: Seat,
    Line { left, top, width }: Line,
    won: bool,
) {
    let to_move = picture.turn == Some(seat);
    let Palette {
        text,
        faded,
        ring,
        panel,
        ..
    } = *ink.palette();
    let (fill, stroke, line) = if to_move {
        (ink.colours(seat).home, text, 3)
    } else {
        (panel, ring, 2)
    };
    ink.add(format_args!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"52\" rx=\"12\" fill=\"{fill}\" \
            stroke=\"{stroke}\" stroke-width=\"{line}\"/>",
        Number(left),
        Number(top),
        Number(width),
    ));
    let middle = top + 26.0;
    piece_icon(
        ink,
        seat,
        Point {
            x: left + 30.0,
            y: middle,
        },
    );
    let note = match (won, to_move) {
        (true, _) => "won",
        (false, true) => "to move",
        (false, false) => "",
    };
    let room = width - 100.0 - if note.is_empty() { 0.0 } else { 120.0 };
    let name = fitted(picture.name(seat), room / 30.0);
    ink.add(format_args!(
        "<text x=\"{}\" y=\"{}\" font-size=\"24\" fill=\"{faded}\">{}</text><text x=\"{}\" \
            y=\"{}\">{}</text>",
        Number(left + 56.0),
        Number(middle + 9.0),
        seat.number(),
        Number(left + 84.0),
        Number(middle + 10.0),
        Escaped(&name),
    ));
    if !note.is_empty() {
        ink.add(format_args!(
            "<text x=\"{}\" y=\"{}\" font-size=\"24\" font-weight=\"bold\" text-anchor=\"end\">{note}</text>",
            Number(left + width - 16.0),
            Number(middle + 9.0),
        ));
    }
}

/// Draws the seat's shape in its colour.
fn piece_icon(ink: &mut SvgWriter, seat: Seat, at: Point) {
    let (full, line) = (ink.colours(seat).piece, ink.palette().text);
    let piece =
        format!(" fill=\"{full}\" stroke=\"{line}\" stroke-width=\"3\" stroke-linejoin=\"round\"");
    shape(ink, seat, at, 14.0, &piece);
}

/// Writes the picture's title and description.
pub fn description(ink: &mut SvgWriter, picture: &Picture<'_>) {
    let (seats, fields) = (picture.rules.seats, picture.rules.ring().length());
    ink.add(format_args!(
        "<title>DOG: {seats} seats, {fields} fields</title><desc>"
    ));
    if let Some(shown) = &picture.shown {
        describe_move(ink, shown);
    }
    for seat in Seat::all(seats) {
        let name = picture.name(seat);
        ink.add(format_args!(
            "{} ({}, {})",
            Escaped(name),
            seat,
            shape_name(seat)
        ));
        if picture.turn == Some(seat) {
            ink.add(format_args!(", to move"));
        }
        ink.add(format_args!(": {}. ", describe_pieces(picture, seat)));
    }
    if let Some(team) = picture.board.winner(picture.rules) {
        ink.add(format_args!("Team {team} has won."));
    }
    ink.add(format_args!("</desc>"));
}

/// Where the seat's pieces stand, in words.
fn describe_pieces(picture: &Picture<'_>, seat: Seat) -> String {
    let board = picture.board;
    let start = picture.rules.ring().start(seat);
    let place = |place: Field| match place {
        Field::Track(field) if field == start && board.fresh(seat) => {
            format!("field {field}, fresh")
        }
        place => name(place),
    };
    let mut places: Vec<String> = board.pieces(seat).places().map(place).collect();
    match board.kennel(seat) {
        0 => {}
        waiting => places.push(format!("{waiting} in the kennel")),
    }
    places.join("; ")
}

fn name(field: Field) -> String {
    match field {
        Field::Track(field) => format!("field {field}"),
        Field::Goal(depth) => format!("goal {depth}"),
    }
}

/// Writes the move and its outcome in words.
fn describe_move(ink: &mut SvgWriter, shown: &Shown<'_>) {
    let what = if shown.preview {
        "Preview"
    } else {
        "Last move"
    };
    ink.add(format_args!("{what}, {}: ", shown.seat));
    if shown.mv == Move::Fold {
        ink.add(format_args!("fold. "));
        return;
    }
    ink.add(format_args!("{}", Escaped(&shown.mv.to_string())));
    for PlayedPart { seat, from, to, .. } in shown.parts {
        let from = from.map_or_else(|| "the kennel".to_owned(), name);
        ink.add(format_args!("; {seat} from {from} to {}", name(*to)));
    }
    for capture in shown.captures {
        let (seat, from) = (capture.seat, capture.from);
        ink.add(format_args!("; {seat} captured on field {from}"));
    }
    ink.add(format_args!(". "));
}
