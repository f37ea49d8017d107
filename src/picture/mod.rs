//! The board as a picture: a position, and perhaps a move, as an SVG document.
//!
//! Pure: the same picture is drawn the same to the byte. It holds no script, refers to nothing
//! outside itself and asks for no font but the reader's own. What the marks mean is told in
//! `docs/picture.md`.

mod board;
mod layout;
mod legend;
mod style;
#[cfg(test)]
mod tests;
mod trail;

use dog_rules::{
    Board, Move, Rules, Seat,
    judge::{Capture, MoveKind, PlayedPart},
};

use self::{
    layout::{BoardLayout, Number, WIDTH},
    style::{DARK, PAPER, SAND, SvgWriter},
};

/// What is to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    pub rules: &'a Rules,
    /// The board as it is shown: after the move, if there is one.
    pub board: &'a Board,
    /// What the seats are called, in turn order; whoever is missing is "Seat 2".
    pub names: &'a [&'a str],
    /// The seat to move, to be marked.
    pub turn: Option<Seat>,
    /// A move to show on the board.
    pub shown: Option<Shown<'a>>,
}

/// A move and what it did, or would do.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Who plays it.
    pub seat: Seat,
    pub mv: Move,
    pub kind: MoveKind,
    pub parts: &'a [PlayedPart],
    pub captures: &'a [Capture],
    /// Whether it has not been played: then it is drawn in dashes.
    pub preview: bool,
}

impl Picture<'_> {
    /// What the seat is called.
    fn name(&self, seat: Seat) -> &str {
        const NAMELESS: [&str; 6] = ["Seat 0", "Seat 1", "Seat 2", "Seat 3", "Seat 4", "Seat 5"];
        let number = usize::from(seat.number());
        self.names.get(number).unwrap_or(&NAMELESS[number])
    }
}

/// Draws the picture: an SVG document of 40 KB at most, in UTF-8 without an XML declaration.
pub fn svg(picture: &Picture<'_>) -> String {
    let layout = BoardLayout::new(picture.rules);
    let (width, height) = (Number(WIDTH), Number(WIDTH + legend::height(picture)));
    let mut ink = SvgWriter::default();
    ink.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" font-family=\"sans-serif\" fill=\"{DARK}\">"
    ));
    legend::words(&mut ink, picture);
    ink.add(format_args!(
        "<rect x=\"2\" y=\"2\" width=\"{}\" height=\"{}\" rx=\"28\" fill=\"{PAPER}\" stroke=\"{SAND}\" stroke-width=\"4\"/>",
        Number(WIDTH - 4.0),
        Number(WIDTH + legend::height(picture) - 4.0),
    ));
    board::board(&mut ink, &layout, picture);
    if let Some(shown) = &picture.shown {
        trail::ways(&mut ink, &layout, shown);
    }
    board::pieces(&mut ink, &layout, picture);
    if let Some(shown) = &picture.shown {
        trail::captures(&mut ink, &layout, shown);
        trail::card(&mut ink, &layout, shown);
    }
    legend::legend(&mut ink, picture);
    ink.add(format_args!("</svg>\n"));
    ink.text()
}
