//! A transcript written out.

use std::fmt::{self, Write};

use super::{FORMAT, Hand, SEATS, Step, Transcript};
use crate::event::Action;

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (about, setup) = (&self.about, &self.setup);
        header(f, "Dog", FORMAT)?;
        let origin = [
            ("Game", &about.game),
            ("Created", &about.created),
            ("Ended", &about.ended),
        ];
        for (name, text) in origin {
            if let Some(text) = text {
                header(f, name, text)?;
            }
        }
        header(f, "Rules", &setup.rules.to_string())?;
        let mut kinds = Vec::new();
        let mut levels = Vec::new();
        for (name, player) in SEATS.into_iter().zip(&setup.players) {
            header(f, name, &player.name)?;
            kinds.push(player.kind());
            levels.push(player.level.name());
        }
        header(f, "Kinds", &kinds.join(" "))?;
        header(f, "Levels", &levels.join(" "))?;
        if let Some(dealer) = setup.first_dealer {
            header(f, "Dealer", &dealer.number().to_string())?;
        }
        header(f, "Commitment", &self.commitment)?;
        header(f, "Seed", &setup.seed.hex())?;
        header(f, "SeedGiven", if setup.seed_given { "yes" } else { "no" })?;
        if let Some(winner) = self.winner {
            header(f, "Winner", &winner.to_string())?;
        }
        f.write_char('\n')?;
        let mut writer = StepWriter::default();
        let mut steps = self.steps.iter();
        steps.try_for_each(|step| writer.write(f, step))
    }
}

/// Writes the steps of a transcript one after another: a line each, with a blank line before each
/// further round.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepWriter {
    round: usize,
    steps: usize,
}

impl StepWriter {
    /// Writes the next step.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, to: &mut impl Write, step: &Step) -> fmt::Result {
        if matches!(step.action, Action::Deal { .. }) {
            self.round += 1;
            if self.steps > 0 {
                to.write_char('\n')?;
            }
        }
        self.steps += 1;
        let round = self.round;
        writeln!(to, "{}", Line { step, round })
    }
}

/// A step as its line shows it.
pub(super) struct Line<'a> {
    pub(super) step: &'a Step,
    /// The number that a deal has.
    pub(super) round: usize,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step.action {
            Action::Deal { by } => {
                write!(f, "deal {} by ", self.round)?;
                match by {
                    Some(seat) => write!(f, "{}", seat.number())?,
                    None => f.write_str("host")?,
                }
                for (seat, hand) in self.step.hands.iter().flatten().enumerate() {
                    let before = if seat == 0 { ":" } else { " |" };
                    write!(f, "{before} {}", Hand(*hand))?;
                }
                Ok(())
            }
            Action::Offer { seat, card } => write!(f, "{} offers {card}", seat.number()),
            Action::Decline { seat } => write!(f, "{} declines", seat.number()),
            Action::Ask { seat } => write!(f, "{} asks", seat.number()),
            Action::Play { seat, ref mv } => write!(f, "{} {mv}", seat.number()),
            Action::ReissueToken { seat } => write!(f, "host reissues token {}", seat.number()),
            Action::HandOver { seat, ref player } => {
                let (kind, level) = (player.kind(), player.level.name());
                write!(f, "host hands {} to {kind} {level} ", seat.number())?;
                quote(f, &player.name)
            }
        }
    }
}

fn header(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    write!(f, "[{name} ")?;
    quote(f, text)?;
    f.write_str("]\n")
}

/// Writes any text in quotes and on one line.
fn quote(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for letter in text.chars() {
        match letter {
            '"' => f.write_str("\\\""),
            '\\' => f.write_str("\\\\"),
            '\n' => f.write_str("\\n"),
            '\r' => f.write_str("\\r"),
            letter => f.write_char(letter),
        }?;
    }
    f.write_char('"')
}
