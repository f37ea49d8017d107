//! The headers of a transcript: what the game is made of, and what is said of it.

use std::collections::BTreeMap;

use super::{
    About, FORMAT, Problem, TextError, Transcript,
    read::unquote,
    step::{read_kind, read_seat},
};
use crate::{
    game::Setup,
    options::{Rules, RulesTextError},
    player::{Level, Player},
    seat::MAX_SEATS,
    shuffle::Seed,
};

/// Every header but the seats'.
const HEADERS: [&str; 12] = [
    "Dog",
    "Game",
    "Created",
    "Ended",
    "Rules",
    "Kinds",
    "Levels",
    "Dealer",
    "Commitment",
    "Seed",
    "SeedGiven",
    "Winner",
];

/// The seats' headers, which hold their names.
pub(super) const SEATS: [&str; MAX_SEATS] = ["Seat0", "Seat1", "Seat2", "Seat3", "Seat4", "Seat5"];

/// The headers of a text, each with its line.
pub(super) struct Headers {
    texts: BTreeMap<&'static str, (usize, String)>,
    /// The line where they end.
    end: usize,
}

impl Headers {
    /// Reads the headers; `end` is the line after them.
    pub(super) fn read(lines: &[(usize, &str)], end: usize) -> Result<Headers, TextError> {
        let mut texts = BTreeMap::new();
        for &(number, line) in lines {
            let at = |problem| TextError {
                line: number,
                problem,
            };
            let (name, text) = header(line).map_err(at)?;
            if texts.is_empty() && name != "Dog" {
                return Err(at(Problem::NoRecord));
            }
            if name == "Dog" && text != FORMAT {
                return Err(at(Problem::Format(text)));
            }
            if texts.insert(name, (number, text)).is_some() {
                return Err(at(Problem::HeaderTwice(name)));
            }
        }
        match texts.is_empty() {
            true => Err(TextError {
                line: end,
                problem: Problem::NoRecord,
            }),
            false => Ok(Headers { texts, end }),
        }
    }

    /// What the headers say; there are no steps yet.
    pub(super) fn transcript(&self) -> Result<Transcript, TextError> {
        let rules: Rules = (self.needed("Rules")?.parse())
            .map_err(|error: RulesTextError| self.at("Rules", error.into()))?;
        let seat = |word: &str| read_seat(&rules, word).ok();
        let team = |word: &str| {
            word.parse()
                .ok()
                .filter(|&team: &u8| team < rules.seats / 2)
        };
        let yes = |word: &str| {
            [("yes", true), ("no", false)]
                .into_iter()
                .find(|(name, _)| *name == word)
        };
        Ok(Transcript {
            about: About {
                game: self.text("Game"),
                created: self.text("Created"),
                ended: self.text("Ended"),
            },
            commitment: self.needed("Commitment")?.to_owned(),
            steps: Vec::new(),
            winner: self.optional("Winner", "the number of a team", team)?,
            setup: Setup {
                players: self.players(&rules)?,
                first_dealer: self.optional("Dealer", "the number of a seat", seat)?,
                seed: Seed::from_hex(self.needed("Seed")?)
                    .map_err(|error| self.at("Seed", error.into()))?,
                seed_given: self.value("SeedGiven", "yes or no", yes)?.1,
                rules,
            },
        })
    }

    /// One player a seat.
    fn players(&self, rules: &Rules) -> Result<Vec<Player>, TextError> {
        let (names, strangers) = SEATS.split_at(usize::from(rules.seats));
        for (seat, header) in (rules.seats..).zip(strangers) {
            if self.texts.contains_key(header) {
                return Err(self.at(header, Problem::Seat(seat)));
            }
        }
        let kinds = self.value("Kinds", "human or bot for each seat", |text| {
            each(rules, text, read_kind)
        })?;
        let levels = self.value("Levels", "a bot's level for each seat", |text| {
            each(rules, text, Level::by_name)
        })?;
        let mut players = Vec::new();
        for ((header, bot), level) in names.iter().zip(kinds).zip(levels) {
            let name = self.needed(header)?.to_owned();
            players.push(Player { name, bot, level });
        }
        Ok(players)
    }

    /// A header that must be there.
    fn needed(&self, name: &'static str) -> Result<&str, TextError> {
        let text = self.texts.get(name).map(|(_, text)| text.as_str());
        text.ok_or(TextError {
            line: self.end,
            problem: Problem::HeaderMissing(name),
        })
    }

    /// What a header that must be there says.
    fn value<T>(
        &self,
        header: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, TextError> {
        let value = read(self.needed(header)?);
        value.ok_or_else(|| self.at(header, Problem::Value { header, expected }))
    }

    /// What a header says, if it is there.
    fn optional<T>(
        &self,
        header: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, TextError> {
        match self.texts.contains_key(header) {
            true => self.value(header, expected, read).map(Some),
            false => Ok(None),
        }
    }

    fn text(&self, name: &'static str) -> Option<String> {
        self.texts.get(name).map(|(_, text)| text.clone())
    }

    /// The line of a header.
    pub(super) fn line(&self, name: &'static str) -> usize {
        self.texts.get(name).map_or(self.end, |&(line, _)| line)
    }

    /// What is wrong with a header.
    fn at(&self, name: &'static str, problem: Problem) -> TextError {
        let line = self.line(name);
        TextError { line, problem }
    }
}

/// The name and the text of a header's line.
fn header(line: &str) -> Result<(&'static str, String), Problem> {
    let inside = line
        .strip_prefix('[')
        .and_then(|line| line.strip_suffix(']'));
    let (name, text) = inside
        .and_then(|inside| inside.split_once(' '))
        .ok_or(Problem::Header)?;
    let text = text.trim_start().strip_prefix('"').and_then(unquote);
    let (text, rest) = text.ok_or(Problem::Header)?;
    if !rest.trim().is_empty() {
        return Err(Problem::Header);
    }
    let known = HEADERS
        .into_iter()
        .chain(SEATS)
        .find(|known| *known == name);
    let name = known.ok_or_else(|| Problem::UnknownHeader(name.to_owned()))?;
    Ok((name, text))
}

/// One word a seat, each read.
fn each<T>(rules: &Rules, text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let read: Vec<T> = text.split_whitespace().map(read).collect::<Option<_>>()?;
    (read.len() == usize::from(rules.seats)).then_some(read)
}
