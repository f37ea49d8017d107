//! The board as a picture: a position, and perhaps a move, as an SVG document.
//!
//! The same input always gives the same bytes. The document has no scripts and no external
//! references, and uses the viewer's own fonts. `docs/picture.md` explains the marks.

mod arrows;
mod board;
mod chart;
mod layout;
mod legend;
mod style;
#[cfg(test)]
mod tests;

use dog_rules::{
    Board, Move, Rules, Seat,
    judge::{Capture, MoveKind, PlayedPart},
};

use self::style::{Palette, SvgWriter};
pub use self::{
    chart::{Chart, ChartMark, ChartRound, chart},
    layout::{BoardLayout, Number, WIDTH},
    style::{Theme, piece_colour, shape_name},
};

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct PictureOptions {
    /// The number of the seat at the bottom.
    pub bottom: u8,
    pub theme: Theme,
    /// Whether the names and the move are written below the board.
    pub legend: bool,
}

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    pub rules: &'a Rules,
    /// The board as it is shown: after the move, if there is one.
    pub board: &'a Board,
    /// The names of the seats, in turn order; a seat without one is called "Seat" and its number.
    pub names: &'a [&'a str],
    /// The seat to move, to be marked.
    pub turn: Option<Seat>,
    /// A move to show on the board.
    pub shown: Option<Shown<'a>>,
    pub options: PictureOptions,
}

/// A move and its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Who plays it.
    pub seat: Seat,
    pub mv: Move,
    pub kind: MoveKind,
    pub parts: &'a [PlayedPart],
    pub captures: &'a [Capture],
    /// Whether the move has not been played; then it is drawn in dashes.
    pub preview: bool,
}

impl Picture<'_> {
    /// The name of the seat.
    fn name(&self, seat: Seat) -> &str {
        const NAMELESS: [&str; 6] = ["Seat 0", "Seat 1", "Seat 2", "Seat 3", "Seat 4", "Seat 5"];
        let number = usize::from(seat.number());
        self.names.get(number).unwrap_or(&NAMELESS[number])
    }
}

/// Draws the picture: an SVG document of 40 KiB at most, in UTF-8 without an XML declaration. It
/// has no size of its own, so it fills the width that it is given, or the window.
pub fn svg(picture: &Picture<'_>) -> String {
    let (rules, options) = (picture.rules, picture.options);
    let layout = BoardLayout::new(rules.seats, rules.fields_per_seat, options.bottom);
    let (width, height) = (Number(WIDTH), Number(WIDTH + legend::height(picture)));
    let mut ink = SvgWriter::new(options.theme);
    let Palette {
        background,
        text,
        ring,
        ..
    } = ink.palette();
    ink.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         preserveAspectRatio=\"xMidYMid meet\" role=\"img\" font-family=\"sans-serif\" \
         fill=\"{text}\">"
    ));
    legend::description(&mut ink, picture);
    ink.add(format_args!(
        "<rect x=\"2\" y=\"2\" width=\"{}\" height=\"{}\" rx=\"28\" fill=\"{background}\" \
            stroke=\"{ring}\" stroke-width=\"4\"/>",
        Number(WIDTH - 4.0),
        Number(WIDTH + legend::height(picture) - 4.0),
    ));
    board::board(&mut ink, &layout, picture);
    if let Some(shown) = &picture.shown {
        arrows::move_paths(&mut ink, &layout, picture, shown);
    }
    board::pieces(&mut ink, &layout, picture);
    if let Some(shown) = &picture.shown {
        arrows::captures(&mut ink, &layout, shown);
        arrows::card(&mut ink, &layout, shown);
    }
    if options.legend {
        legend::legend(&mut ink, picture);
    }
    ink.add(format_args!("</svg>\n"));
    ink.text()
}
