//! The move: its arrows, the captured pieces, and the card.

use dog_rules::{
    Card, Field, Move, Seat,
    judge::{MoveKind, PlayedPart},
};

use super::{
    Shown,
    layout::{BoardLayout, CENTRE, Number, Point, polar},
    style::{DARK, SvgWriter, circle, colours, shape},
};

/// The path of a piece, which ends in the head of an arrow.
struct Arrow {
    /// The path in SVG, up to the arrow's head.
    path: String,
    /// Where the head begins.
    base: Point,
    tip: Point,
}

/// Draws what lies under the pieces: the path of each part, and the field where it began.
pub fn move_paths(ink: &mut SvgWriter, layout: &BoardLayout<'_>, shown: &Shown<'_>) {
    let gap = layout.gap;
    let dashes = if shown.preview {
        let (dash, space) = (Number(0.34 * gap), Number(0.24 * gap));
        format!(" stroke-dasharray=\"{dash} {space}\"")
    } else {
        String::new()
    };
    for part in shown.parts {
        let (Some(from), colours) = (part.from, colours(part.seat)) else {
            continue;
        };
        let line = Number(0.12 * gap);
        let (light, deep) = (colours.light, colours.deep);
        let left = format!(" fill=\"{light}\" stroke=\"{deep}\" stroke-width=\"{line}\"{dashes}");
        circle(ink, layout.field(part.seat, from), 0.42 * gap, &left);
    }
    for (index, part) in shown.parts.iter().enumerate() {
        let arrow = if shown.kind == MoveKind::Swap {
            swap(layout, part, index)
        } else {
            walk(layout, part, shown.kind == MoveKind::Retreat)
        };
        draw(ink, gap, &arrow, part.seat, &dashes);
    }
}

fn draw(ink: &mut SvgWriter, gap: f64, arrow: &Arrow, seat: Seat, dashes: &str) {
    let Arrow { path, base, tip } = arrow;
    let colours = colours(seat);
    let forward = base.direction_to(*tip);
    let side = forward.left();
    let (left, right) = (
        base.towards(side, 0.34 * gap),
        base.towards(side, -0.34 * gap),
    );
    let (full, deep) = (colours.full, colours.deep);
    let (wide, narrow, line) = (Number(0.3 * gap), Number(0.18 * gap), Number(0.06 * gap));
    ink.add(format_args!(
        "<g fill=\"none\" stroke-linejoin=\"round\"{dashes}><path d=\"{path}\" stroke=\"{deep}\" \
            stroke-width=\"{wide}\"/>\
         <path d=\"{path}\" stroke=\"{full}\" stroke-width=\"{narrow}\"/></g>\
         <path d=\"M{tip}L{left} {right}Z\" fill=\"{full}\" stroke=\"{deep}\" \
         stroke-width=\"{line}\" stroke-linejoin=\"round\"/>"
    ));
}

/// How far before the middle of the last field an arrow's head ends and begins, in gaps.
const HEAD: (f64, f64) = (0.5, 0.95);

/// The path of a piece that walks or leaves its kennel.
fn walk(layout: &BoardLayout<'_>, part: &PlayedPart, backward: bool) -> Arrow {
    let to = layout.field(part.seat, part.to);
    match (part.from, part.to) {
        (None, _) => {
            let kennel = layout.kennel(part.seat);
            let from = kennel.towards(kennel.direction_to(to), 0.9 * layout.gap);
            straight(layout, format!("M{from}"), from, to)
        }
        (Some(Field::Track(from)), Field::Track(field)) => {
            let along = |gaps: f64| {
                let back = gaps * layout.gap / layout.radius;
                let turned = if backward { back } else { -back };
                polar(layout.angle(field) + turned, layout.radius)
            };
            let (tip, base) = (along(HEAD.0), along(HEAD.1));
            let path = format!("M{}{}", layout.track(from), arc(layout, backward, base));
            Arrow { path, base, tip }
        }
        (Some(Field::Track(from)), Field::Goal(_)) => {
            let door = layout.ring.door(part.seat);
            let mut path = format!("M{}", layout.track(from));
            if from != door {
                path += &arc(layout, backward, layout.track(door));
            }
            straight(layout, path, layout.track(door), to)
        }
        (Some(from), _) => {
            let from = layout.field(part.seat, from);
            straight(layout, format!("M{from}"), from, to)
        }
    }
}

/// An arc along the ring. No part goes half way round.
fn arc(layout: &BoardLayout<'_>, backward: bool, to: Point) -> String {
    let (radius, sweep) = (Number(layout.radius), u8::from(backward));
    format!("A{radius} {radius} 0 0 {sweep} {to}")
}

fn straight(layout: &BoardLayout<'_>, path: String, from: Point, to: Point) -> Arrow {
    let back = to.direction_to(from);
    let base = to.towards(back, HEAD.1 * layout.gap);
    Arrow {
        path: format!("{path}L{base}"),
        base,
        tip: to.towards(back, HEAD.0 * layout.gap),
    }
}

/// One of the two paths of a swap. They are bent inward, the second more than the first; if the
/// straight line is close to the centre, they pass it on either side.
fn swap(layout: &BoardLayout<'_>, part: &PlayedPart, index: usize) -> Arrow {
    let from = layout.field(part.seat, part.from.unwrap_or(part.to));
    let to = layout.field(part.seat, part.to);
    let middle = Point {
        x: (from.x + to.x) / 2.0,
        y: (from.y + to.y) / 2.0,
    };
    let side = from.direction_to(to).left();
    let off_centre = middle.distance(CENTRE);
    let bend = if off_centre < 0.6 * layout.inner() {
        // Each passes the card on its left. The middle of such a curve lies half way between the
        // middle of the straight line and the control point.
        let past = CENTRE.towards(side, 0.8 * layout.inner());
        past.towards(middle.direction_to(past), middle.distance(past))
    } else {
        let further = if index == 0 { 1.6 } else { 4.4 };
        middle.towards(middle.direction_to(CENTRE), further * layout.gap)
    };
    let back = to.direction_to(bend);
    let base = to.towards(back, HEAD.1 * layout.gap);
    Arrow {
        path: format!("M{from}Q{bend} {base}"),
        base,
        tip: to.towards(back, HEAD.0 * layout.gap),
    }
}

/// Draws the captured pieces: crossed out, outside the ring beside the field where they stood.
pub fn captures(ink: &mut SvgWriter, layout: &BoardLayout<'_>, shown: &Shown<'_>) {
    let gap = layout.gap;
    for capture in shown.captures {
        // A start is larger than other fields, and may have a fresh piece by now.
        let start = layout
            .ring
            .seats()
            .any(|seat| layout.ring.start(seat) == capture.from);
        let further = if start { 1.08 } else { 0.93 };
        let at = layout.outward(capture.from, layout.radius + further * gap);
        let colours = colours(capture.seat);
        let (full, deep) = (colours.full, colours.deep);
        let line = Number(0.06 * gap);
        let piece =
            format!(" fill=\"{full}\" stroke=\"{deep}\" stroke-width=\"{line}\" opacity=\".8\"");
        shape(ink, capture.seat, at, 0.34 * gap, &piece);
        let arm = 0.38 * gap;
        let corner = |x: f64, y: f64| Point {
            x: at.x + x * arm,
            y: at.y + y * arm,
        };
        let (a, b, c, d) = (
            corner(-1.0, -1.0),
            corner(1.0, 1.0),
            corner(1.0, -1.0),
            corner(-1.0, 1.0),
        );
        ink.add(format_args!(
            "<path data-captured=\"{}\" d=\"M{a}L{b}M{c}L{d}\" stroke=\"{DARK}\" \
                stroke-width=\"{}\" stroke-linecap=\"round\"/>",
            capture.from,
            Number(0.08 * gap),
        ));
    }
}

/// Draws the card in the middle of the board, with the shape of the seat that plays it.
pub fn card(ink: &mut SvgWriter, layout: &BoardLayout<'_>, shown: &Shown<'_>) {
    let Move::Play { card, rank, .. } = shown.mv else {
        return;
    };
    let height = 1.24 * (layout.inner() - 1.5 * layout.gap);
    let width = 0.7 * height;
    let (left, top) = (CENTRE.x - width / 2.0, CENTRE.y - height / 2.0);
    let colours = colours(shown.seat);
    let line = Number(0.04 * height);
    let dashes = if shown.preview {
        format!(
            " stroke-dasharray=\"{} {}\"",
            Number(0.08 * height),
            Number(0.06 * height)
        )
    } else {
        String::new()
    };
    ink.add(format_args!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"#fff\" stroke=\"{}\" \
            stroke-width=\"{line}\"{dashes}/>",
        Number(left),
        Number(top),
        Number(width),
        Number(height),
        Number(0.1 * height),
        colours.deep,
    ));
    let mut text = |text: &str, below: f64, size: f64| {
        ink.add(format_args!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" font-weight=\"bold\" fill=\"{DARK}\" \
                text-anchor=\"middle\">{text}</text>",
            Number(CENTRE.x),
            Number(CENTRE.y + below * height),
            Number(size * height),
        ));
    };
    if card == Card::Joker {
        text("joker", -0.29, 0.16);
    }
    text(rank.name(), 0.13, 0.45);
    let at = Point {
        x: CENTRE.x,
        y: CENTRE.y + 0.32 * height,
    };
    let piece = format!(
        " fill=\"{}\" stroke=\"{DARK}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
        colours.full,
        Number(0.02 * height)
    );
    shape(ink, shown.seat, at, 0.085 * height, &piece);
}
