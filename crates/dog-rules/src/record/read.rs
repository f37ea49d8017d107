//! Reads a transcript from text. Errors name the line.

use std::{borrow::Cow, collections::BTreeMap};

use super::{
    Lines, MAX_LENGTH, MAX_LINE, ParsedRecord, RecordFormat, RecordHeaders, RecordStep, SEATS,
    TextError, TextErrorKind, Transcript,
};
use crate::{
    Action, By, Card, Cards, Level, Move, Player, Rules, Seat, SeatKind, Seed, Setup,
    event::TableSettings, options::RulesTextError,
};

impl ParsedRecord {
    /// Reads a transcript. [`ParsedRecord::replay`] then checks whether the game can have been
    /// played like this.
    ///
    /// # Errors
    /// Which line is wrong, and why.
    pub fn read(text: &str) -> Result<ParsedRecord, TextError> {
        let lines = contents(text)?;
        let last = lines.last().map_or(1, |(number, _)| *number);
        let begin = lines.iter().position(|(_, line)| !line.starts_with('['));
        let (headers, steps) = lines.split_at(begin.unwrap_or(lines.len()));
        let headers = Headers::read(headers, steps.first().map_or(last, |(number, _)| *number))?;
        let mut transcript = headers.transcript()?;
        let rules = &transcript.setup.rules;
        let mut round = 1;
        for (line, text) in steps {
            if text.starts_with('[') {
                return Err(TextErrorKind::HeaderLate.at(*line));
            }
            let step = RecordStep::read(transcript.format, rules, round, text)
                .map_err(|problem| problem.at(*line))?;
            round += usize::from(matches!(step.action, Action::Deal { .. }));
            transcript.steps.push(step);
        }
        Ok(ParsedRecord {
            lines: Lines {
                commitment: headers.line("Commitment"),
                winner: transcript.winner.map_or(last, |_| headers.line("Winner")),
                steps: steps.iter().map(|(number, _)| *number).collect(),
                last,
            },
            transcript,
        })
    }
}

/// The lines that have content, with their numbers.
fn contents(text: &str) -> Result<Vec<(usize, Cow<'_, str>)>, TextError> {
    let mut contents = Vec::new();
    let mut length = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        length += line.len() + 1;
        if length > MAX_LENGTH + 1 {
            return Err(TextErrorKind::TooLong.at(number));
        }
        if line.len() > MAX_LINE {
            return Err(TextErrorKind::LineTooLong.at(number));
        }
        let content = content(line);
        if !content.is_empty() {
            contents.push((number, content));
        }
    }
    Ok(contents)
}

/// Whether this is white space. Mail programs make no-break spaces of blanks, and some editors
/// begin a file with a byte order mark.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

/// The line without its comment and the white space around it, and with one blank for any white
/// space between words. What is in quotes stays as it is.
fn content(line: &str) -> Cow<'_, str> {
    let mut content = String::with_capacity(line.len());
    let (mut quoted, mut escaped) = (false, false);
    for letter in line.chars() {
        match letter {
            ';' if !quoted => break,
            _ if quoted || !is_blank(letter) => content.push(letter),
            _ if content.ends_with(' ') => {}
            _ => content.push(' '),
        }
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = quoted,
            '"' => quoted = !quoted,
            _ => {}
        }
    }
    let content = content.trim_matches(is_blank);
    // Most lines are as they were written.
    match line.trim_matches(is_blank) {
        line if line == content => Cow::Borrowed(line),
        _ => Cow::Owned(content.to_owned()),
    }
}

/// The text whose opening quote has been read, and what follows its closing quote.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut unquoted = String::new();
    let mut letters = text.chars();
    loop {
        match letters.next()? {
            '"' => return Some((unquoted, letters.as_str())),
            '\\' => unquoted.push(match letters.next()? {
                'n' => '\n',
                'r' => '\r',
                letter @ ('"' | '\\') => letter,
                _ => return None,
            }),
            letter => unquoted.push(letter),
        }
    }
}

/// Every header except the seats'.
const HEADERS: &str = "Dog Game Created Ended Rules Kinds Levels Dealer Awaited Commitment Seed \
                       SeedGiven Winner";

/// The headers of a text, each with its line.
struct Headers {
    texts: BTreeMap<&'static str, (usize, String)>,
    /// The line where they end.
    end: usize,
}

impl Headers {
    /// Reads the headers; `end` is the line after them.
    fn read(lines: &[(usize, Cow<'_, str>)], end: usize) -> Result<Headers, TextError> {
        let mut texts = BTreeMap::new();
        for &(number, ref line) in lines {
            let (name, text) = header(line).map_err(|problem| problem.at(number))?;
            if texts.is_empty() && name != "Dog" {
                return Err(TextErrorKind::NoRecord.at(number));
            }
            if name == "Dog" && RecordFormat::ALL.iter().all(|format| format.name() != text) {
                return Err(TextErrorKind::Format(text).at(number));
            }
            if texts.insert(name, (number, text)).is_some() {
                return Err(TextErrorKind::HeaderTwice(name).at(number));
            }
        }
        if texts.is_empty() {
            return Err(TextErrorKind::NoRecord.at(end));
        }
        Ok(Headers { texts, end })
    }

    /// The transcript of the headers, without steps.
    fn transcript(&self) -> Result<Transcript, TextError> {
        let rules: Rules = (self.needed("Rules")?.parse())
            .map_err(|error: RulesTextError| self.at("Rules", error.into()))?;
        let must_confirm = self.optional("Awaited", "numbers of seats", |text| {
            text.split_whitespace()
                .map(|word| read_seat(&rules, word).ok())
                .collect()
        })?;
        if must_confirm.is_some() && self.format() == RecordFormat::One {
            return Err(self.at("Awaited", TextErrorKind::Format2Only));
        }
        Ok(Transcript {
            format: self.format(),
            about: RecordHeaders {
                game: self.text("Game"),
                created: self.text("Created"),
                ended: self.text("Ended"),
            },
            commitment: self.needed("Commitment")?.to_owned(),
            steps: Vec::new(),
            winner: self.optional("Winner", "the number of a team", |word| {
                word.parse()
                    .ok()
                    .filter(|&team: &u8| team < rules.seats / 2)
            })?,
            setup: Setup {
                players: self.players(&rules)?,
                first_dealer: self.optional("Dealer", "the number of a seat", |word| {
                    read_seat(&rules, word).ok()
                })?,
                seed: Seed::from_hex(self.needed("Seed")?)
                    .map_err(|error| self.at("Seed", error.into()))?,
                seed_given: self.value("SeedGiven", "yes or no", yes_or_no)?,
                must_confirm: must_confirm.unwrap_or_default(),
                rules,
            },
        })
    }

    fn format(&self) -> RecordFormat {
        match self.texts.get("Dog") {
            Some((_, text)) if text == RecordFormat::Two.name() => RecordFormat::Two,
            _ => RecordFormat::One,
        }
    }

    /// One player a seat.
    fn players(&self, rules: &Rules) -> Result<Vec<Player>, TextError> {
        let (names, surplus) = SEATS.split_at(usize::from(rules.seats));
        for (seat, header) in (rules.seats..).zip(surplus) {
            if self.texts.contains_key(header) {
                return Err(self.at(header, TextErrorKind::Seat(seat)));
            }
        }
        let may_be_open = self.format() == RecordFormat::Two;
        let kinds = self.value(
            "Kinds",
            "human, bot or (in format 2) open for each seat",
            |text| {
                each(rules, text, |name| {
                    SeatKind::by_name(name).filter(|&kind| kind != SeatKind::Open || may_be_open)
                })
            },
        )?;
        let levels = self.value("Levels", "a bot's level for each seat", |text| {
            each(rules, text, Level::by_name)
        })?;
        let mut players = Vec::new();
        for ((header, kind), level) in names.iter().zip(kinds).zip(levels) {
            let name = self.needed(header)?.to_owned();
            players.push(Player { name, kind, level });
        }
        Ok(players)
    }

    /// A header that must be present.
    fn needed(&self, name: &'static str) -> Result<&str, TextError> {
        let text = self.texts.get(name).map(|(_, text)| text.as_str());
        text.ok_or(TextErrorKind::HeaderMissing(name).at(self.end))
    }

    /// The value of a header that must be present.
    fn value<T>(
        &self,
        header: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, TextError> {
        let value = read(self.needed(header)?);
        value.ok_or_else(|| self.at(header, TextErrorKind::Value { header, expected }))
    }

    /// The value of a header, if it is present.
    fn optional<T>(
        &self,
        header: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, TextError> {
        let there = self.texts.contains_key(header);
        there
            .then(|| self.value(header, expected, read))
            .transpose()
    }

    fn text(&self, name: &'static str) -> Option<String> {
        self.texts.get(name).map(|(_, text)| text.clone())
    }

    /// The line of a header.
    fn line(&self, name: &'static str) -> usize {
        self.texts.get(name).map_or(self.end, |&(line, _)| line)
    }

    /// An error at the line of a header.
    fn at(&self, name: &'static str, problem: TextErrorKind) -> TextError {
        problem.at(self.line(name))
    }
}

/// The name and the text of a header's line.
fn header(line: &str) -> Result<(&'static str, String), TextErrorKind> {
    let inside = line
        .strip_prefix('[')
        .and_then(|line| line.strip_suffix(']'));
    let (name, text) = inside
        .and_then(|inside| inside.split_once(' '))
        .ok_or(TextErrorKind::Header)?;
    let text = text.trim_start().strip_prefix('"').and_then(unquote);
    let (text, rest) = text.ok_or(TextErrorKind::Header)?;
    if !rest.trim().is_empty() {
        return Err(TextErrorKind::Header);
    }
    let mut headers = HEADERS.split(' ').chain(SEATS);
    let known = headers.find(|known| *known == name);
    let name = known.ok_or_else(|| TextErrorKind::UnknownHeader(name.to_owned()))?;
    Ok((name, text))
}

/// Reads one word per seat.
fn each<T>(rules: &Rules, text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let read: Vec<T> = text.split_whitespace().map(read).collect::<Option<_>>()?;
    (read.len() == usize::from(rules.seats)).then_some(read)
}

impl From<Action> for RecordStep {
    /// The step of a seat's person or the host.
    fn from(action: Action) -> RecordStep {
        RecordStep {
            action,
            by: None,
            hands: None,
        }
    }
}

impl RecordStep {
    /// Reads the step of a line without comments; `round` is the number of the next deal.
    fn read(
        format: RecordFormat,
        rules: &Rules,
        round: usize,
        line: &str,
    ) -> Result<RecordStep, TextErrorKind> {
        let (mark, line) = match line.strip_prefix('(') {
            Some(marked) => {
                let (mark, line) = marked.split_once(')').ok_or(TextErrorKind::Mark)?;
                let marks = [By::Bot, By::Clock];
                let mark = marks.into_iter().find(|by| by.name() == mark);
                (Some(mark.ok_or(TextErrorKind::Mark)?), line.trim())
            }
            None => (None, line),
        };
        let (who, what) = line.split_once(' ').unwrap_or((line, ""));
        let what = what.trim();
        let mut step = match who {
            "deal" => read_deal(rules, round, what)?,
            "host" => read_host_action(rules, what)?.into(),
            "server" => read_server(rules, what)?,
            _ => read_act(read_seat(rules, who)?, what)?.into(),
        };
        if mark.is_some() {
            // Only what a seat does can be done for it.
            let is_by_seat = step.action.is_play() && step.action.seat().is_some();
            step.by = mark.filter(|_| is_by_seat);
            step.by.ok_or(TextErrorKind::Mark)?;
        }
        if format == RecordFormat::One {
            if step.is_new_in_format_2() {
                return Err(TextErrorKind::Format2Only);
            }
            step.by = None;
        }
        Ok(step)
    }

    fn is_new_in_format_2(&self) -> bool {
        let is_new = match &self.action {
            Action::HandOver { player, .. } => player.kind == SeatKind::Open,
            Action::ReissueToken { .. } => false,
            action => !action.is_play(),
        };
        is_new || matches!(self.by, Some(By::Bot | By::Clock | By::Server))
    }
}

/// Reads `3 by 2: A 4 | 5 K | joker | 9`, with or without the hands.
fn read_deal(rules: &Rules, round: usize, text: &str) -> Result<RecordStep, TextErrorKind> {
    let (deal, hands) = match text.split_once(':') {
        Some((deal, hands)) => (deal, Some(read_hands(rules, hands)?)),
        None => (text, None),
    };
    let words: Vec<&str> = deal.split_whitespace().collect();
    let &[number, "by", dealer] = words.as_slice() else {
        return Err(TextErrorKind::Deal);
    };
    if number.parse() != Ok(round) {
        let number = number.to_owned();
        return Err(TextErrorKind::DealNumber { number, round });
    }
    let (dealer, by) = match dealer {
        "host" => (None, None),
        "server" => (None, Some(By::Server)),
        seat => (Some(read_seat(rules, seat)?), None),
    };
    let action = Action::Deal { by: dealer };
    Ok(RecordStep { action, by, hands })
}

/// Reads what the server does: `hands 2 to bot strong "Berta"`.
fn read_server(rules: &Rules, text: &str) -> Result<RecordStep, TextErrorKind> {
    match read_host_action(rules, text) {
        Ok(action @ Action::HandOver { .. }) => Ok(RecordStep {
            by: Some(By::Server),
            ..action.into()
        }),
        _ => Err(TextErrorKind::Server),
    }
}

/// Reads what the host does: `reissues token 2`, `hands 2 to bot strong "Berta"`,
/// `sets turn_seconds 30 bot_pace_ms 250 listed yes`.
fn read_host_action(rules: &Rules, text: &str) -> Result<Action, TextErrorKind> {
    let (text, name) = text.split_once('"').unwrap_or((text, ""));
    let words: Vec<&str> = text.split_whitespace().collect();
    match *words.as_slice() {
        ["reissues", "token", seat] if name.is_empty() => Ok(Action::ReissueToken {
            seat: read_seat(rules, seat)?,
        }),
        ["hands", seat, "to", kind, level] => {
            let seat = read_seat(rules, seat)?;
            let player = read_player(kind, level, name).ok_or(TextErrorKind::Host)?;
            Ok(Action::HandOver { seat, player })
        }
        [
            "sets",
            "turn_seconds",
            clock,
            "bot_pace_ms",
            pace,
            "listed",
            listed,
            ref rest @ ..,
        ] => {
            let reactions = match rest {
                [] => true,
                ["reactions", "no"] => false,
                _ => return Err(TextErrorKind::Settings),
            };
            let settings = table_settings(clock, pace, listed, reactions);
            let settings = settings.ok_or(TextErrorKind::Settings)?;
            Ok(Action::ChangeSettings { settings })
        }
        _ => Err(TextErrorKind::Host),
    }
}

fn table_settings(clock: &str, pace: &str, listed: &str, reactions: bool) -> Option<TableSettings> {
    Some(TableSettings {
        turn_seconds: match clock {
            "none" => None,
            seconds => Some(seconds.parse().ok()?),
        },
        bot_pace_ms: pace.parse().ok()?,
        listed: yes_or_no(listed)?,
        reactions,
    })
}

fn yes_or_no(word: &str) -> Option<bool> {
    match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// Reads a player: a kind, a level and a name, whose opening quote has been read.
fn read_player(kind: &str, level: &str, name: &str) -> Option<Player> {
    let (name, rest) = unquote(name)?;
    rest.trim().is_empty().then_some(Player {
        name,
        kind: SeatKind::by_name(kind)?,
        level: Level::by_name(level)?,
    })
}

/// Reads an action of a seat: `asks`, `declines`, `passes`, `offers K`, a move,
/// `joins "Eva"`, `becomes bot fast "Eva"`, `renews token`, `asks for rematch`, `gives up` or
/// `plays on`.
fn read_act(seat: Seat, text: &str) -> Result<Action, TextErrorKind> {
    if let Some(card) = text.strip_prefix("offers ") {
        let card = read_card(card.trim())?;
        return Ok(Action::Offer { seat, card });
    }
    if let Some(name) = text.strip_prefix("joins ") {
        let name = name.trim().strip_prefix('"').and_then(unquote);
        let (name, rest) = name.ok_or(TextErrorKind::Joins)?;
        return match rest.trim() {
            "" => Ok(Action::Join { seat, name }),
            _ => Err(TextErrorKind::Joins),
        };
    }
    if let Some(player) = text.strip_prefix("becomes ") {
        let (words, name) = player.split_once('"').ok_or(TextErrorKind::Joins)?;
        let words: Vec<&str> = words.split_whitespace().collect();
        let &[kind, level] = words.as_slice() else {
            return Err(TextErrorKind::Joins);
        };
        let player = read_player(kind, level, name).ok_or(TextErrorKind::Joins)?;
        return Ok(Action::ChangeSeat { seat, player });
    }
    match text {
        "asks" => Ok(Action::Ask { seat }),
        "declines" => Ok(Action::Decline { seat }),
        "passes" => Ok(Action::Pass { seat }),
        "renews token" => Ok(Action::RenewToken { seat }),
        "asks for rematch" => Ok(Action::AskRematch { seat }),
        "gives up" | "plays on" => Ok(Action::Forfeit {
            seat,
            offered: text == "gives up",
        }),
        id => {
            let mv: Move = id.parse().map_err(|problem| TextErrorKind::Move {
                id: id.to_owned(),
                problem,
            })?;
            Ok(Action::Play { seat, mv })
        }
    }
}

/// Each seat's hand, all from one deck.
fn read_hands(rules: &Rules, text: &str) -> Result<Vec<Cards>, TextErrorKind> {
    let mut deck = rules.deck();
    let mut hands = Vec::new();
    for words in text.split('|') {
        let mut hand = Cards::EMPTY;
        for word in words.split_whitespace() {
            let card = read_card(word)?;
            if !deck.remove(card) {
                return Err(TextErrorKind::TooMany(card));
            }
            hand.add(card);
        }
        hands.push(hand);
    }
    let (found, seats) = (hands.len(), rules.seats);
    if found != usize::from(seats) {
        return Err(TextErrorKind::Hands { found, seats });
    }
    Ok(hands)
}

fn read_card(word: &str) -> Result<Card, TextErrorKind> {
    word.parse()
        .map_err(|_| TextErrorKind::Card(word.to_owned()))
}

/// The seat with this number.
fn read_seat(rules: &Rules, word: &str) -> Result<Seat, TextErrorKind> {
    let number = word
        .parse()
        .map_err(|_| TextErrorKind::Step(word.to_owned()))?;
    Seat::new(number, rules.seats).ok_or(TextErrorKind::Seat(number))
}
