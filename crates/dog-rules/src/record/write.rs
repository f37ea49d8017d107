//! Writing a record.

use std::fmt::{self, Write};

use super::{DisplayHand, RecordStep, SEATS, Transcript};
use crate::{Action, By, Player, TableSettings};

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (about, setup) = (&self.about, &self.setup);
        write_header(f, "Dog", self.format.name())?;
        let origin = [
            ("Game", &about.game),
            ("Created", &about.created),
            ("Ended", &about.ended),
        ];
        for (name, text) in origin {
            if let Some(text) = text {
                write_header(f, name, text)?;
            }
        }
        write_header(f, "Rules", &setup.rules.to_string())?;
        let mut kinds = Vec::new();
        let mut levels = Vec::new();
        for (name, player) in SEATS.into_iter().zip(&setup.players) {
            write_header(f, name, &player.name)?;
            kinds.push(player.kind.name());
            levels.push(player.level.name());
        }
        write_header(f, "Kinds", &kinds.join(" "))?;
        write_header(f, "Levels", &levels.join(" "))?;
        if let Some(dealer) = setup.first_dealer {
            write_header(f, "Dealer", &dealer.number().to_string())?;
        }
        if !setup.must_confirm.is_empty() {
            let seats: Vec<String> = setup
                .must_confirm
                .iter()
                .map(|seat| seat.number().to_string())
                .collect();
            write_header(f, "Awaited", &seats.join(" "))?;
        }
        write_header(f, "Commitment", &self.commitment)?;
        write_header(f, "Seed", &setup.seed.hex())?;
        write_header(f, "SeedGiven", if setup.seed_given { "yes" } else { "no" })?;
        if let Some(winner) = self.winner {
            write_header(f, "Winner", &winner.to_string())?;
        }
        f.write_char('\n')?;
        let mut writer = StepWriter::default();
        let mut steps = self.steps.iter();
        steps.try_for_each(|step| writer.write(f, step))
    }
}

/// Writes the steps of a transcript, one line each, with a blank line before each round but the
/// first.
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
    pub fn write(&mut self, to: &mut impl Write, step: &RecordStep) -> fmt::Result {
        if matches!(step.action, Action::Deal { .. }) {
            self.round += 1;
            if self.steps > 0 {
                to.write_char('\n')?;
            }
        }
        self.steps += 1;
        let round = self.round;
        writeln!(to, "{}", DisplayStep { step, round })
    }
}

/// A step, displayed as its line.
pub(super) struct DisplayStep<'a> {
    pub(super) step: &'a RecordStep,
    /// The number of the round that a deal begins.
    pub(super) round: usize,
}

impl fmt::Display for DisplayStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.step.by;
        if let Some(mark @ (By::Bot | By::Clock)) = by {
            write!(f, "({}) ", mark.name())?;
        }
        let host = match by {
            Some(By::Server) => "server",
            _ => "host",
        };
        match self.step.action {
            Action::Deal { by } => {
                write!(f, "deal {} by ", self.round)?;
                match by {
                    Some(seat) => write!(f, "{}", seat.number())?,
                    None => f.write_str(host)?,
                }
                for (seat, hand) in self.step.hands.iter().flatten().enumerate() {
                    let separator = if seat == 0 { ":" } else { " |" };
                    write!(f, "{separator} {}", DisplayHand(*hand))?;
                }
                Ok(())
            }
            Action::Offer { seat, card } => write!(f, "{} offers {card}", seat.number()),
            Action::Decline { seat } => write!(f, "{} declines", seat.number()),
            Action::Ask { seat } => write!(f, "{} asks", seat.number()),
            Action::Pass { seat } => write!(f, "{} passes", seat.number()),
            Action::Play { seat, ref mv } => write!(f, "{} {mv}", seat.number()),
            Action::ReissueToken { seat } => write!(f, "host reissues token {}", seat.number()),
            Action::HandOver { seat, ref player } => {
                write!(f, "{host} hands {} to ", seat.number())?;
                write_player(f, player)
            }
            Action::Join { seat, ref name } => {
                write!(f, "{} joins ", seat.number())?;
                write_quoted(f, name)
            }
            Action::ChangeSeat { seat, ref player } => {
                write!(f, "{} becomes ", seat.number())?;
                write_player(f, player)
            }
            Action::RenewToken { seat } => write!(f, "{} renews token", seat.number()),
            Action::AskRematch { seat } => write!(f, "{} asks for rematch", seat.number()),
            Action::Forfeit { seat, offered } => {
                let what = if offered { "gives up" } else { "plays on" };
                write!(f, "{} {what}", seat.number())
            }
            Action::ChangeSettings { ref settings } => {
                let TableSettings {
                    turn_seconds,
                    bot_pace_ms,
                    listed,
                    reactions,
                } = settings;
                let turn_seconds =
                    turn_seconds.map_or("none".to_owned(), |limit| limit.to_string());
                let listed = if *listed { "yes" } else { "no" };
                write!(
                    f,
                    "host sets turn_seconds {turn_seconds} bot_pace_ms {bot_pace_ms} listed {listed}"
                )?;
                if !reactions {
                    f.write_str(" reactions no")?;
                }
                Ok(())
            }
        }
    }
}

fn write_player(f: &mut fmt::Formatter<'_>, player: &Player) -> fmt::Result {
    write!(f, "{} {} ", player.kind.name(), player.level.name())?;
    write_quoted(f, &player.name)
}

fn write_header(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    write!(f, "[{name} ")?;
    write_quoted(f, text)?;
    f.write_str("]\n")
}

/// Writes a text in quotes and on one line.
fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
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
