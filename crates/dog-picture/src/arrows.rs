//! The move: its arrows, the captured pieces, and the card.

use dog_rules::{
    Card, Field, Move, Seat,
    judge::{MoveKind, PlayedPart},
};

use super::{
    Picture, Shown,
    layout::{BoardLayout, CENTRE, Number, Point},
    style::{Palette, SvgWriter, circle, shape},
};

/// The path of a piece, which ends in the head of an arrow.
struct Arrow {
    /// The path in SVG, up to the arrow's head.
    path: String,
    /// Where the head begins.
    base: Point,
    tip: Point,
}

/// The dashes of a preview and the spaces between them, as an attribute; none of a played move.
fn dashes(shown: &Shown<'_>, dash: f64, space: f64) -> String {
    if !shown.preview {
        return String::new();
    }
    let (dash, space) = (Number(dash), Number(space));
    format!(" stroke-dasharray=\"{dash} {space}\"")
}

/// Draws what lies under the pieces: the path of each part, and the field where it began.
pub fn move_paths(
    ink: &mut SvgWriter,
    layout: &BoardLayout,
    picture: &Picture<'_>,
    shown: &Shown<'_>,
) {
    let gap = layout.gap;
    let dashes = dashes(shown, 0.22 * gap, 0.16 * gap);
    for part in shown.parts {
        let (Some(from), colours) = (part.from, ink.colours(part.seat)) else {
            continue;
        };
        let width = Number(0.09 * gap);
        let (home, line) = (colours.home, colours.line);
        let left = format!(" fill=\"{home}\" stroke=\"{line}\" stroke-width=\"{width}\"{dashes}");
        circle(ink, layout.field(part.seat, from), 0.38 * gap, &left);
    }
    for (index, part) in shown.parts.iter().enumerate() {
        let arrow = if shown.kind == MoveKind::Swap {
            swap(layout, part, index)
        } else {
            walk(layout, picture, part, shown.kind == MoveKind::Retreat)
        };
        draw(ink, gap, &arrow, part.seat, &dashes);
    }
}

fn draw(ink: &mut SvgWriter, gap: f64, arrow: &Arrow, seat: Seat, dashes: &str) {
    let Arrow { path, base, tip } = arrow;
    let colours = ink.colours(seat);
    let forward = base.direction_to(*tip);
    let side = forward.left();
    let (left, right) = (
        base.towards(side, 0.27 * gap),
        base.towards(side, -0.27 * gap),
    );
    let (full, deep) = (colours.piece, colours.line);
    let (wide, narrow, line) = (Number(0.22 * gap), Number(0.12 * gap), Number(0.05 * gap));
    ink.add(format_args!(
        "<g fill=\"none\" stroke-linejoin=\"round\"{dashes}><path d=\"{path}\" stroke=\"{deep}\" \
            stroke-width=\"{wide}\"/>\
         <path d=\"{path}\" stroke=\"{full}\" stroke-width=\"{narrow}\"/></g>\
         <path d=\"M{tip}L{left} {right}Z\" fill=\"{full}\" stroke=\"{deep}\" \
         stroke-width=\"{line}\" stroke-linejoin=\"round\"/>"
    ));
}

/// How far before the middle of the last field an arrow's head ends and begins, in gaps.
const HEAD: (f64, f64) = (0.42, 0.8);

/// The path of a piece that walks or leaves its kennel.
fn walk(layout: &BoardLayout, picture: &Picture<'_>, part: &PlayedPart, backward: bool) -> Arrow {
    let ring = picture.rules.ring();
    let along = |from: u8, to: u8| {
        let step = move |field: &u8| {
            if *field == to {
                None
            } else if backward {
                Some(ring.backward(*field, 1))
            } else {
                Some(ring.forward(*field, 1))
            }
        };
        std::iter::successors(Some(from), step).map(|field| layout.track(field))
    };
    let goals = |range| {
        let goal = |depth| layout.field(part.seat, Field::Goal(depth));
        Iterator::map(range, goal)
    };
    let points: Vec<Point> = match (part.from, part.to) {
        (None, to) => {
            // The place that the piece left is the first empty one.
            let left = usize::from(picture.board.kennel(part.seat)).min(3);
            vec![layout.kennel(part.seat)[left], layout.field(part.seat, to)]
        }
        (Some(Field::Track(from)), Field::Track(to)) => along(from, to).collect(),
        (Some(Field::Track(from)), Field::Goal(depth)) => along(from, ring.door(part.seat))
            .chain(goals(0..=depth))
            .collect(),
        (Some(Field::Goal(from)), Field::Goal(depth)) if from < depth => {
            goals(from..=depth).collect()
        }
        (Some(from), to) => vec![layout.field(part.seat, from), layout.field(part.seat, to)],
    };
    through(layout, &points)
}

/// An arrow through these points.
fn through(layout: &BoardLayout, points: &[Point]) -> Arrow {
    let [way @ .., last] = points else {
        unreachable!("a part of a move has a target");
    };
    let back = last.direction_to(*way.last().unwrap_or(last));
    let base = last.towards(back, HEAD.1 * layout.gap);
    let path = way
        .iter()
        .enumerate()
        .map(|(index, point)| match index {
            0 => format!("M{point}L"),
            _ => format!("{point} "),
        })
        .collect::<String>()
        + &base.to_string();
    Arrow {
        path,
        base,
        tip: last.towards(back, HEAD.0 * layout.gap),
    }
}

/// One of the two paths of a swap. They are bent inward, the second more than the first; if the
/// straight line is close to the centre, they pass it on either side.
fn swap(layout: &BoardLayout, part: &PlayedPart, index: usize) -> Arrow {
    let from = layout.field(part.seat, part.from.unwrap_or(part.to));
    let to = layout.field(part.seat, part.to);
    let middle = Point {
        x: (from.x + to.x) / 2.0,
        y: (from.y + to.y) / 2.0,
    };
    let side = from.direction_to(to).left();
    let off_centre = middle.distance(CENTRE);
    let bend = if off_centre < 0.7 * layout.card() {
        // Each passes the card on its left. The middle of such a curve lies half way between the
        // middle of the straight line and the control point.
        let past = CENTRE.towards(side, 0.85 * layout.card());
        past.towards(middle.direction_to(past), middle.distance(past))
    } else {
        let further = if index == 0 { 0.8 } else { 2.4 };
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

/// Draws the captured pieces: crossed out, beside the field where they stood.
pub fn captures(ink: &mut SvgWriter, layout: &BoardLayout, shown: &Shown<'_>) {
    let (gap, palette) = (layout.gap, ink.palette());
    for capture in shown.captures {
        // A start is larger than other fields, and may have a fresh piece by now.
        let far = if layout.is_start(capture.from) {
            0.74
        } else {
            0.62
        };
        let at = layout
            .track(capture.from)
            .towards(layout.beside(capture.from), far * gap);
        let colours = ink.colours(capture.seat);
        let (full, deep) = (colours.piece, colours.line);
        let line = Number(0.05 * gap);
        let piece = format!(" fill=\"{full}\" stroke=\"{deep}\" stroke-width=\"{line}\"");
        shape(ink, capture.seat, at, 0.25 * gap, &piece);
        let arm = 0.28 * gap;
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
            "<path data-captured=\"{}\" d=\"M{a}L{b}M{c}L{d}\" stroke=\"{}\" \
                stroke-width=\"{}\" stroke-linecap=\"round\"/>",
            capture.from,
            palette.text,
            Number(0.08 * gap),
        ));
    }
}

/// Draws the card in the middle of the board, with the shape of the seat that plays it.
pub fn card(ink: &mut SvgWriter, layout: &BoardLayout, shown: &Shown<'_>) {
    let Move::Play { card, rank, .. } = shown.mv else {
        return;
    };
    let Palette {
        field, text: dark, ..
    } = *ink.palette();
    let height = layout.card();
    let width = 0.7 * height;
    let (left, top) = (CENTRE.x - width / 2.0, CENTRE.y - height / 2.0);
    let colours = ink.colours(shown.seat);
    let line = Number(0.04 * height);
    let dashes = dashes(shown, 0.08 * height, 0.06 * height);
    ink.add(format_args!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{field}\" stroke=\"{}\" \
            stroke-width=\"{line}\"{dashes}/>",
        Number(left),
        Number(top),
        Number(width),
        Number(height),
        Number(0.1 * height),
        colours.line,
    ));
    let mut text = |text: &str, below: f64, size: f64| {
        ink.add(format_args!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" font-weight=\"bold\" fill=\"{dark}\" \
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
        " fill=\"{}\" stroke=\"{dark}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
        colours.piece,
        Number(0.02 * height)
    );
    shape(ink, shown.seat, at, 0.085 * height, &piece);
}
