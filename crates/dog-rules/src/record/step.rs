//! One line of a transcript: something that was done, written and read.

use std::fmt;

use super::{
    Step,
    read::{Problem, unquote},
    write::quote,
};
use crate::{
    card::{Card, Cards},
    event::Action,
    notation::Move,
    options::Rules,
    player::{Level, Player},
    seat::Seat,
};

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

/// The cards of a hand as a line shows them.
pub(super) struct Hand(pub(super) Cards);

impl fmt::Display for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cards: Vec<&str> = self.0.sorted().map(Card::name).collect();
        f.write_str(&cards.join(" "))
    }
}

impl Step {
    /// Reads the step of a line that has no comment; `round` is the one that a deal would be of.
    pub(super) fn read(rules: &Rules, round: usize, line: &str) -> Result<Step, Problem> {
        let (who, what) = line.split_once(' ').unwrap_or((line, ""));
        if who == "deal" {
            return read_deal(rules, round, what);
        }
        let action = match who {
            "host" => read_host(rules, what)?,
            _ => read_act(read_seat(rules, who)?, what.trim())?,
        };
        let hands = None;
        Ok(Step { action, hands })
    }
}

/// `3 by 2: A 4 | 5 K | joker | 9`, or without the hands.
fn read_deal(rules: &Rules, round: usize, text: &str) -> Result<Step, Problem> {
    let (deal, hands) = match text.split_once(':') {
        Some((deal, hands)) => (deal, Some(read_hands(rules, hands)?)),
        None => (text, None),
    };
    let words: Vec<&str> = deal.split_whitespace().collect();
    let &[number, "by", dealer] = words.as_slice() else {
        return Err(Problem::Deal);
    };
    if number.parse() != Ok(round) {
        let number = number.to_owned();
        return Err(Problem::DealNumber { number, round });
    }
    let by = match dealer {
        "host" => None,
        seat => Some(read_seat(rules, seat)?),
    };
    let action = Action::Deal { by };
    Ok(Step { action, hands })
}

/// What the host does: `reissues token 2`, `hands 2 to bot strong "Berta"`.
fn read_host(rules: &Rules, text: &str) -> Result<Action, Problem> {
    let (text, name) = text.split_once('"').unwrap_or((text, ""));
    let words: Vec<&str> = text.split_whitespace().collect();
    match *words.as_slice() {
        ["reissues", "token", seat] if name.is_empty() => Ok(Action::ReissueToken {
            seat: read_seat(rules, seat)?,
        }),
        ["hands", seat, "to", kind, level] => {
            let (name, rest) = unquote(name).ok_or(Problem::Host)?;
            let seat = read_seat(rules, seat)?;
            let bot = read_kind(kind).ok_or(Problem::Host)?;
            let level = Level::by_name(level).ok_or(Problem::Host)?;
            if !rest.trim().is_empty() {
                return Err(Problem::Host);
            }
            let player = Player { name, bot, level };
            Ok(Action::HandOver { seat, player })
        }
        _ => Err(Problem::Host),
    }
}

/// What a seat does: `asks`, `declines`, `offers K` or a move.
fn read_act(seat: Seat, text: &str) -> Result<Action, Problem> {
    if let Some(card) = text.strip_prefix("offers ") {
        let card = read_card(card.trim())?;
        return Ok(Action::Offer { seat, card });
    }
    match text {
        "asks" => Ok(Action::Ask { seat }),
        "declines" => Ok(Action::Decline { seat }),
        id => {
            let mv: Move = id.parse().map_err(|problem| Problem::Move {
                id: id.to_owned(),
                problem,
            })?;
            Ok(Action::Play { seat, mv })
        }
    }
}

/// Each seat's hand, all out of one deck.
fn read_hands(rules: &Rules, text: &str) -> Result<Vec<Cards>, Problem> {
    let mut deck = rules.deck();
    let mut hands = Vec::new();
    for words in text.split('|') {
        let mut hand = Cards::EMPTY;
        for word in words.split_whitespace() {
            let card = read_card(word)?;
            if !deck.remove(card) {
                return Err(Problem::TooMany(card));
            }
            hand.add(card);
        }
        hands.push(hand);
    }
    if hands.len() == usize::from(rules.seats) {
        Ok(hands)
    } else {
        Err(Problem::Hands {
            found: hands.len(),
            seats: rules.seats,
        })
    }
}

fn read_card(word: &str) -> Result<Card, Problem> {
    word.parse().map_err(|_| Problem::Card(word.to_owned()))
}

/// The seat of that number.
pub(super) fn read_seat(rules: &Rules, word: &str) -> Result<Seat, Problem> {
    let number = word.parse().map_err(|_| Problem::Step(word.to_owned()))?;
    Seat::new(number, rules.seats).ok_or(Problem::Seat(number))
}

/// Whether players of this kind are bots.
pub(super) fn read_kind(word: &str) -> Option<bool> {
    match word {
        "human" => Some(false),
        "bot" => Some(true),
        _ => None,
    }
}
