//! The picture in words, for whoever cannot see it.

use dog_rules::{board::Field, judge::PlayedPart, notation::Move, seat::Seat};

use super::{Picture, Shown, ink::Escaped, ink::Ink, style::shape_name};

/// Writes the picture's title and description.
pub fn words(ink: &mut Ink, picture: &Picture<'_>) {
    let (seats, fields) = (picture.rules.seats, picture.rules.ring().length());
    ink.add(format_args!(
        "<title>DOG: {seats} seats, {fields} fields</title><desc>"
    ));
    if let Some(shown) = &picture.shown {
        told(ink, shown);
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
        ink.add(format_args!(": {}. ", places(picture, seat)));
    }
    if let Some(team) = picture.board.winner(picture.rules) {
        ink.add(format_args!("Team {team} has won."));
    }
    ink.add(format_args!("</desc>"));
}

/// Where the seat's pieces stand.
fn places(picture: &Picture<'_>, seat: Seat) -> String {
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

/// What the move did.
fn told(ink: &mut Ink, shown: &Shown<'_>) {
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
