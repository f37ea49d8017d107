//! The board and the pieces on it.

use dog_rules::{Field, Seat, ring};

use super::{
    Picture,
    layout::{BoardLayout, Number, Point, kennel_key, place_key},
    style::{Palette, SvgWriter, circle, shape},
};

/// The radius of an empty field, in gaps.
const FIELD_RADIUS: f64 = 0.36;

/// Draws what never moves: the ring, the goals, the kennels and the direction of play.
pub fn board(ink: &mut SvgWriter, layout: &BoardLayout, picture: &Picture<'_>) {
    let gap = layout.gap;
    ring(ink, layout);
    for seat in Seat::all(layout.seats) {
        let door = layout.track(picture.rules.ring().door(seat));
        home(ink, layout, seat, door, picture.turn == Some(seat));
    }
    let Palette { field, edge, .. } = *ink.palette();
    let line = Number(0.05 * gap);
    ink.add(format_args!(
        "<g fill=\"{field}\" stroke=\"{edge}\" stroke-width=\"{line}\">"
    ));
    for number in (0..layout.length()).filter(|&number| !layout.is_start(number)) {
        let place = format!(" data-place=\"{number}\"");
        circle(ink, layout.track(number), FIELD_RADIUS * gap, &place);
    }
    ink.add(format_args!("</g>"));
    for seat in Seat::all(layout.seats) {
        let colours = ink.colours(seat);
        let start = layout.start(seat);
        let line = Number(0.09 * gap);
        ink.add(format_args!(
            "<g fill=\"{}\" stroke=\"{}\" stroke-width=\"{line}\">",
            colours.home, colours.line
        ));
        let at = layout.track(start);
        circle(ink, at, 0.52 * gap, &format!(" data-place=\"{start}\""));
        let line = Number(0.05 * gap);
        let mark = format!(" fill=\"{field}\" stroke-width=\"{line}\"");
        shape(ink, seat, at, 0.27 * gap, &mark);
        ink.add(format_args!("</g>"));
    }
    numbers(ink, layout, picture);
}

/// Draws the ring under the fields, and on it the direction of play: two arrowheads per seat.
fn ring(ink: &mut SvgWriter, layout: &BoardLayout) {
    let Palette {
        ring, background, ..
    } = *ink.palette();
    let (gap, length) = (layout.gap, layout.length());
    ink.add(format_args!(
        "<g fill=\"none\" stroke-linejoin=\"round\"><path stroke=\"{ring}\" stroke-width=\"{}\" d=\"",
        Number(0.5 * gap)
    ));
    for field in 0..length {
        let step = if field == 0 { "M" } else { " " };
        ink.add(format_args!("{step}{}", layout.track(field)));
    }
    ink.add(format_args!(
        "Z\"/><path stroke=\"{background}\" stroke-width=\"{}\" stroke-linecap=\"round\" d=\"",
        Number(0.06 * gap)
    ));
    for seat in Seat::all(layout.seats) {
        let start = layout.start(seat);
        for before in [start + 1, start + layout.fields_per_seat - 2] {
            let (from, to) = (layout.track(before), layout.track(before + 1));
            let forward = from.direction_to(to);
            let tip = from.towards(forward, 0.56 * gap);
            let (base, side) = (from.towards(forward, 0.46 * gap), forward.left());
            let (left, right) = (
                base.towards(side, 0.14 * gap),
                base.towards(side, -0.14 * gap),
            );
            ink.add(format_args!("M{left}L{tip} {right}"));
        }
    }
    ink.add(format_args!("\"/></g>"));
}

/// Draws a seat's goal and kennel, with a thick edge if it is to move.
fn home(ink: &mut SvgWriter, layout: &BoardLayout, seat: Seat, door: Point, to_move: bool) {
    let (gap, colours, palette) = (layout.gap, ink.colours(seat), ink.palette());
    let goal = |depth| layout.field(seat, Field::Goal(depth));
    let (first, last) = (goal(0), goal(3));
    let kennel = layout.kennel(seat);
    let [a, b, c, d] = kennel;
    // With six seats the goal lies between the rows of the kennel.
    let rows = if layout.seats == 4 {
        format!("M{a}L{b} {d} {c}Z")
    } else {
        format!("M{a}L{b}M{c}L{d}")
    };
    let mut draw = |colour: &str, edge: f64| {
        let (narrow, wide) = (
            Number((0.3 + 2.0 * edge) * gap),
            Number((0.82 + 2.0 * edge) * gap),
        );
        ink.add(format_args!(
            "<g fill=\"{colour}\" stroke=\"{colour}\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\
             <path d=\"M{door}L{first}\" stroke-width=\"{narrow}\"/>\
             <path d=\"M{first}L{last}{rows}\" stroke-width=\"{wide}\"/></g>"
        ));
    };
    if to_move {
        draw(palette.text, 0.12);
    } else {
        draw(colours.line, 0.045);
    }
    draw(colours.home, 0.0);
    let line = Number(0.05 * gap);
    ink.add(format_args!(
        "<g fill=\"{}\" stroke=\"{}\" stroke-width=\"{line}\">",
        palette.field, colours.line
    ));
    for depth in 0..4 {
        let key = place_key(seat, Field::Goal(depth));
        let place = format!(" data-place=\"{key}\"");
        circle(ink, goal(depth), FIELD_RADIUS * gap, &place);
    }
    for (index, &at) in kennel.iter().enumerate() {
        let place = format!(" data-place=\"{}\"", kennel_key(seat, index));
        circle(ink, at, FIELD_RADIUS * gap, &place);
    }
    ink.add(format_args!("</g>"));
}

/// Draws the numbers of some fields: starts, every fourth or fifth field, and those of the move.
fn numbers(ink: &mut SvgWriter, layout: &BoardLayout, picture: &Picture<'_>) {
    let every = if layout.fields_per_seat.is_multiple_of(5) {
        5
    } else {
        4
    };
    let (mut touched, mut captured) = (0, 0);
    if let Some(shown) = &picture.shown {
        for part in shown.parts {
            for field in [part.from, Some(part.to)] {
                if let Some(Field::Track(field)) = field {
                    touched |= ring::bit(field);
                }
            }
        }
        for capture in shown.captures {
            captured |= ring::bit(capture.from);
        }
    }
    let Palette { text, faded, .. } = *ink.palette();
    ink.add(format_args!(
        "<g font-size=\"21\" fill=\"{faded}\" text-anchor=\"middle\">"
    ));
    for field in 0..layout.length() {
        let is = |fields| fields & ring::bit(field) != 0;
        if field % every != 0 && !is(touched | captured) {
            continue;
        }
        let side = layout.beside(field);
        let far = match (is(captured), layout.is_start(field)) {
            (true, true) => 0.85,
            (true, false) => 0.62,
            (false, true) => 0.56,
            (false, false) => 0.42,
        };
        let mut at = layout.track(field).towards(side, far * layout.gap + 15.0);
        if is(captured) {
            // The captured piece lies there too.
            at = at.towards(side.left(), 0.45 * layout.gap);
        }
        let bold = layout.is_start(field) || is(touched | captured);
        let mut kennels = Seat::all(layout.seats).flat_map(|seat| layout.kennel(seat));
        if !bold && kennels.any(|place| at.distance(place) < 0.8 * layout.gap) {
            continue;
        }
        let weight = if bold {
            format!(" font-weight=\"bold\" fill=\"{text}\"")
        } else {
            String::new()
        };
        let (x, y) = (Number(at.x), Number(at.y + 7.5));
        ink.add(format_args!(
            "<text x=\"{x}\" y=\"{y}\"{weight}>{field}</text>"
        ));
    }
    ink.add(format_args!("</g>"));
}

/// Draws every piece in its seat's colour and shape; a fresh one has a ring around it.
pub fn pieces(ink: &mut SvgWriter, layout: &BoardLayout, picture: &Picture<'_>) {
    let (gap, board) = (layout.gap, picture.board);
    let Palette { field, text, .. } = *ink.palette();
    for seat in Seat::all(layout.seats) {
        ink.add(format_args!(
            "<g fill=\"{}\" stroke=\"{text}\" stroke-width=\"{}\" stroke-linejoin=\"round\">",
            ink.colours(seat).piece,
            Number(0.07 * gap)
        ));
        if board.fresh(seat) {
            let start = layout.start(seat);
            let ring = format!(
                " data-fresh=\"{start}\" fill=\"{field}\" stroke-width=\"{}\"",
                Number(0.1 * gap)
            );
            circle(ink, layout.track(start), 0.58 * gap, &ring);
        }
        let mut piece = |at: Point, place: &str| {
            let attributes = format!(" data-seat=\"{}\" data-place=\"{place}\"", seat.number());
            shape(ink, seat, at, 0.38 * gap, &attributes);
        };
        for place in board.pieces(seat).places() {
            piece(layout.field(seat, place), &place_key(seat, place));
        }
        let waiting = usize::from(board.kennel(seat));
        for (index, &at) in layout.kennel(seat).iter().enumerate().take(waiting) {
            piece(at, &kennel_key(seat, index));
        }
        ink.add(format_args!("</g>"));
    }
}
