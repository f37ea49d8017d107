//! The board and the pieces on it.

use dog_rules::{Field, Seat, ring};

use super::{
    Picture,
    layout::{BoardLayout, CENTRE, Number, Point, polar},
    style::{DARK, FADED, FIELD, SAND, SvgWriter, circle, colours, shape},
};

/// Draws what never moves: the ring, the goals, the kennels and the direction of play.
pub fn board(ink: &mut SvgWriter, layout: &BoardLayout<'_>, picture: &Picture<'_>) {
    let gap = layout.gap;
    let width = Number(1.2 * gap);
    circle(
        ink,
        CENTRE,
        layout.radius,
        &format!(" fill=\"none\" stroke=\"{SAND}\" stroke-width=\"{width}\""),
    );
    direction(ink, layout.inner() - 1.5 * gap);
    for seat in layout.ring.seats() {
        home(ink, layout, seat, picture.turn == Some(seat));
    }
    let line = Number(0.05 * gap);
    ink.add(format_args!(
        "<g fill=\"{FIELD}\" stroke=\"#a8997b\" stroke-width=\"{line}\">"
    ));
    for field in 0..layout.ring.length() {
        circle(ink, layout.track(field), 0.36 * gap, "");
    }
    ink.add(format_args!("</g>"));
    for seat in layout.ring.seats() {
        let colours = colours(seat);
        let at = layout.track(layout.ring.start(seat));
        let line = Number(0.09 * gap);
        ink.add(format_args!(
            "<g fill=\"{}\" stroke=\"{}\" stroke-width=\"{line}\">",
            colours.light, colours.deep
        ));
        circle(ink, at, 0.54 * gap, "");
        shape(ink, seat, at, 0.27 * gap, " stroke=\"none\" fill=\"#fff\"");
        ink.add(format_args!("</g>"));
    }
    numbers(ink, layout, picture);
}

/// Draws a seat's goal and kennel, with a dark edge if it is to move.
fn home(ink: &mut SvgWriter, layout: &BoardLayout<'_>, seat: Seat, to_move: bool) {
    let (gap, colours) = (layout.gap, colours(seat));
    let (light, deep) = (colours.light, colours.deep);
    let goal = |depth| layout.field(seat, Field::Goal(depth));
    let (first, last) = (goal(0), goal(3));
    let door = layout.track(layout.ring.door(seat));
    let turn = -layout.angle(layout.ring.start(seat)).to_degrees();
    let (kennel, half) = (layout.kennel(seat), 1.15 * gap);
    let mut draw = |colour: &str, edge: f64| {
        let (narrow, wide) = (Number(0.4 * gap + edge), Number(1.05 * gap + edge));
        let (left, top) = (kennel.x - half - edge / 2.0, kennel.y - half - edge / 2.0);
        let side = Number(2.0 * half + edge);
        ink.add(format_args!(
            "<path d=\"M{door}L{first}\" stroke=\"{colour}\" stroke-width=\"{narrow}\"/>\
             <path d=\"M{first}L{last}\" stroke=\"{colour}\" stroke-width=\"{wide}\" stroke-linecap=\"round\"/>\
             <rect x=\"{}\" y=\"{}\" width=\"{side}\" height=\"{side}\" rx=\"{}\" \
             fill=\"{colour}\" transform=\"rotate({} {kennel})\"/>",
            Number(left),
            Number(top),
            Number(0.5 * gap + edge / 2.0),
            Number(turn),
        ));
    };
    if to_move {
        draw(DARK, 0.26 * gap);
    }
    draw(light, 0.0);
    let line = Number(0.05 * gap);
    ink.add(format_args!(
        "<g fill=\"{FIELD}\" stroke=\"{deep}\" stroke-width=\"{line}\">"
    ));
    for depth in 0..4 {
        circle(ink, goal(depth), 0.36 * gap, "");
    }
    for slot in layout.slots(seat) {
        circle(ink, slot, 0.36 * gap, "");
    }
    ink.add(format_args!("</g>"));
}

/// Draws the direction of play: three arrows around the centre.
fn direction(ink: &mut SvgWriter, radius: f64) {
    ink.add(format_args!(
        "<g fill=\"none\" stroke=\"{SAND}\" stroke-width=\"8\" stroke-linecap=\"round\" \
            stroke-linejoin=\"round\">"
    ));
    for third in 0..3 {
        let begin = f64::from(third) * std::f64::consts::TAU / 3.0 + 0.6;
        let end = begin + 1.3;
        let (from, tip) = (polar(begin, radius), polar(end, radius));
        let outer = polar(end - 0.14, radius + 0.11 * radius);
        let inner = polar(end - 0.14, radius - 0.11 * radius);
        let radius = Number(radius);
        ink.add(format_args!(
            "<path d=\"M{from}A{radius} {radius} 0 0 0 {tip}M{outer}L{tip} {inner}\"/>"
        ));
    }
    ink.add(format_args!("</g>"));
}

/// Draws the numbers of some fields: starts, every fourth or fifth field, and those of the move.
fn numbers(ink: &mut SvgWriter, layout: &BoardLayout<'_>, picture: &Picture<'_>) {
    let per_seat = picture.rules.fields_per_seat;
    let every = if per_seat.is_multiple_of(5) { 5 } else { 4 };
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
    ink.add(format_args!(
        "<g font-size=\"21\" fill=\"{FADED}\" text-anchor=\"middle\">"
    ));
    for field in 0..layout.ring.length() {
        let is = |fields| fields & ring::bit(field) != 0;
        let start = field % per_seat == 0;
        if field % every != 0 && !is(touched | captured) {
            continue;
        }
        // Beside a field of the move there is no room for a less important number.
        let beside = touched | captured;
        let next = layout.ring.forward(field, 1);
        let last = layout.ring.backward(field, 1);
        if !start && !is(beside) && (ring::bit(next) | ring::bit(last)) & beside != 0 {
            continue;
        }
        let further = match (is(captured), start) {
            (true, true) => 1.45,
            (true, false) => 1.3,
            (false, true) => 0.65,
            (false, false) => 0.5,
        };
        let at = layout.outward(field, layout.radius + further * layout.gap + 17.0);
        let weight = if start || is(touched | captured) {
            format!(" font-weight=\"bold\" fill=\"{DARK}\"")
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
pub fn pieces(ink: &mut SvgWriter, layout: &BoardLayout<'_>, picture: &Picture<'_>) {
    let (gap, board) = (layout.gap, picture.board);
    for seat in layout.ring.seats() {
        let colours = colours(seat);
        let line = Number(0.09 * gap);
        ink.add(format_args!(
            "<g data-seat=\"{}\" fill=\"{}\" stroke=\"{DARK}\" stroke-width=\"{line}\" \
                stroke-linejoin=\"round\">",
            seat.number(),
            colours.full,
        ));
        if board.fresh(seat) {
            let at = layout.track(layout.ring.start(seat));
            let ring = format!(
                " data-fresh=\"{}\" fill=\"#fff\" stroke-width=\"{}\"",
                layout.ring.start(seat),
                Number(0.13 * gap)
            );
            circle(ink, at, 0.61 * gap, &ring);
        }
        let mut piece = |at: Point, place: &str| {
            shape(ink, seat, at, 0.45 * gap, &format!(" data-at=\"{place}\""));
        };
        for place in board.pieces(seat).places() {
            let name = match place {
                Field::Track(field) => field.to_string(),
                Field::Goal(depth) => format!("goal:{depth}"),
            };
            piece(layout.field(seat, place), &name);
        }
        let waiting = usize::from(board.kennel(seat));
        for &slot in layout.slots(seat).iter().take(waiting) {
            piece(slot, "kennel");
        }
        ink.add(format_args!("</g>"));
    }
}
