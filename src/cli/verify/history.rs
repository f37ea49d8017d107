//! A history, as `GET /v1/games/{id}/history` answers, compared with what its seed and the rules
//! make of it: every field of every event.

use anyhow::{Context, bail, ensure};
use dog_rules::{
    card::Card,
    event::{Action, Event},
    game::{Game, Setup},
    notation::Move,
    options::Rules,
    player::{Level, Player},
    record::{Entry, Replayed},
    seat::Seat,
    shuffle::Seed,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Deserializer, Map, Value};

use crate::api::history::{HistoryHead, LogEntryView};

/// What became of a history.
pub struct Verified {
    /// The game's id.
    pub game: Option<String>,
    /// The game as far as it could be played.
    pub replayed: Replayed,
    /// Where the history differs from it, in the order of the game.
    pub differences: Vec<String>,
}

/// Plays a finished game again.
///
/// # Errors
/// If the text is not the history of a finished game.
pub fn verify(text: &str) -> anyhow::Result<Verified> {
    let (head, entries) = split(text)?;
    let setup = setup(&head)?;
    let mut game = Game::new(setup);
    let mut log = Vec::new();
    let mut differences = Differences::default();
    let commitment = head.get("shuffle_commitment").and_then(Value::as_str);
    let mut goes_on = commitment == Some(game.commitment().as_str());
    if !goes_on {
        let computed = game.commitment();
        differences.add(
            "/shuffle_commitment",
            format!("SHA-256 of the seed is {computed}"),
        );
    }
    for entry in &entries {
        if !goes_on {
            break;
        }
        goes_on = step(&mut game, &mut log, entry, &mut differences)?;
    }
    if goes_on {
        let known = HistoryHead::new(&game, String::new(), String::new(), String::new());
        let opaque = ["id", "created_at", "updated_at"];
        differences.fields("", &head, &as_data(&known, &head, &opaque)?);
    }
    Ok(Verified {
        game: head.get("id").and_then(Value::as_str).map(str::to_owned),
        replayed: Replayed { game, log },
        differences: differences.found,
    })
}

/// The head of a history and its entries: one object that holds them, or a line for each.
fn split(text: &str) -> anyhow::Result<(Map<String, Value>, Vec<Value>)> {
    let values = Deserializer::from_str(text).into_iter::<Value>();
    let values: Vec<Value> = values.collect::<Result<_, _>>().context("no JSON")?;
    let mut values = values.into_iter();
    let Some(Value::Object(mut head)) = values.next() else {
        bail!("a history begins with an object");
    };
    let lines: Vec<Value> = values.collect();
    match head.remove("entries") {
        None => Ok((head, lines)),
        Some(Value::Array(entries)) if lines.is_empty() => Ok((head, entries)),
        Some(_) => bail!("a history has its entries in one list, or each on a line of its own"),
    }
}

/// What a game is made of, as the head of its history says.
#[derive(Deserialize)]
struct Head {
    rules: Rules,
    players: Vec<SeatPlayer>,
    first_dealer: Seat,
    shuffle_seed: Option<Seed>,
    shuffle_seed_given: bool,
}

/// Who plays a seat.
#[derive(Deserialize)]
struct SeatPlayer {
    name: String,
    kind: Kind,
    level: Level,
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Human,
    Bot,
}

impl From<SeatPlayer> for Player {
    fn from(player: SeatPlayer) -> Player {
        Player {
            name: player.name,
            bot: player.kind == Kind::Bot,
            level: player.level,
        }
    }
}

fn setup(head: &Map<String, Value>) -> anyhow::Result<Setup> {
    let head: Head = parse(&Value::Object(head.clone())).context("the head of the history")?;
    let seats = head.rules.seats;
    let players = head.players.len();
    ensure!(
        players == usize::from(seats),
        "{players} players, but {seats} seats"
    );
    Ok(Setup {
        first_dealer: Some(at_table(head.first_dealer, seats)?),
        players: head.players.into_iter().map(Player::from).collect(),
        seed: head
            .shuffle_seed
            .context("the seed is not published: the game is not over")?,
        seed_given: head.shuffle_seed_given,
        rules: head.rules,
    })
}

/// The first event of an action, as far as it tells what the action was.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Cause {
    /// Whether the dealer's seat or the host dealt is not told, and is the same to the cards.
    CardsDealt {},
    HelpAsked {
        seat: Seat,
    },
    CardOffered {
        seat: Seat,
        card: Card,
    },
    ExchangeDeclined {
        seat: Seat,
    },
    CardPlayed {
        seat: Seat,
        #[serde(rename = "move")]
        mv: Id,
    },
    HandFolded {
        seat: Seat,
    },
    TokenReissued {
        seat: Seat,
    },
    SeatHandedOver {
        seat: Seat,
        #[serde(flatten)]
        player: SeatPlayer,
    },
}

#[derive(Deserialize)]
struct Id {
    id: Move,
}

impl Cause {
    fn action(self, seats: u8) -> anyhow::Result<Action> {
        let at_table = |seat| at_table(seat, seats);
        Ok(match self {
            Cause::CardsDealt {} => Action::Deal { by: None },
            Cause::HelpAsked { seat } => Action::Ask {
                seat: at_table(seat)?,
            },
            Cause::CardOffered { seat, card } => Action::Offer {
                seat: at_table(seat)?,
                card,
            },
            Cause::ExchangeDeclined { seat } => Action::Decline {
                seat: at_table(seat)?,
            },
            Cause::CardPlayed { seat, mv } => Action::Play {
                seat: at_table(seat)?,
                mv: mv.id,
            },
            Cause::HandFolded { seat } => Action::Play {
                seat: at_table(seat)?,
                mv: Move::Fold,
            },
            Cause::TokenReissued { seat } => Action::ReissueToken {
                seat: at_table(seat)?,
            },
            Cause::SeatHandedOver { seat, player } => Action::HandOver {
                seat: at_table(seat)?,
                player: player.into(),
            },
        })
    }
}

/// A seat that was read from a number.
fn at_table(seat: Seat, seats: u8) -> anyhow::Result<Seat> {
    Seat::new(seat.number(), seats).with_context(|| format!("there is no {seat} at this table"))
}

/// Carries out what an entry tells and compares what comes of it. Says whether the game can go on.
fn step(
    game: &mut Game,
    log: &mut Vec<Entry>,
    entry: &Value,
    differences: &mut Differences,
) -> anyhow::Result<bool> {
    let (action, events) = if log.is_empty() {
        (None, vec![game.last_event().clone()])
    } else {
        let version = game.version() + 1;
        differences.place = format!("version {version} ");
        match act(game, &entry["events"][0]) {
            Ok((action, events)) => (Some(action), events),
            Err(error) => {
                differences.add("/events/0", format!("{error:#}"));
                return Ok(false);
            }
        }
    };
    let version = game.version();
    differences.place = format!("version {version} ");
    let known = LogEntryView::in_full(game.rules(), version, String::new(), events.clone());
    match entry {
        Value::Object(entry) => {
            differences.fields("", entry, &as_data(&known, entry, &["at"])?);
        }
        _ => differences.add("", "an entry is an object".to_owned()),
    }
    differences.place.clear();
    log.push(Entry {
        version,
        action,
        events,
    });
    Ok(true)
}

/// Carries out the action that an event tells of.
fn act(game: &mut Game, event: &Value) -> anyhow::Result<(Action, Vec<Event>)> {
    let cause: Cause = parse(event).context("that tells of no action")?;
    let action = cause.action(game.rules().seats)?;
    let events = game.apply(&action).context("that is refused")?;
    Ok((action, events))
}

fn parse<T: DeserializeOwned>(value: &Value) -> anyhow::Result<T> {
    Ok(T::deserialize(value)?)
}

/// An answer as JSON, with those of its fields that follow from nothing as they were found.
fn as_data<T: Serialize>(
    known: &T,
    found: &Map<String, Value>,
    opaque: &[&str],
) -> anyhow::Result<Map<String, Value>> {
    let Value::Object(mut known) = serde_json::to_value(known)? else {
        bail!("an answer is an object");
    };
    for &name in opaque {
        match found.get(name) {
            Some(value) => known.insert(name.to_owned(), value.clone()),
            None => known.remove(name),
        };
    }
    Ok(known)
}

/// What was found to differ.
#[derive(Default)]
struct Differences {
    /// Where in the history the paths begin.
    place: String,
    found: Vec<String>,
}

impl Differences {
    fn add(&mut self, path: &str, what: String) {
        let place = &self.place;
        self.found.push(format!("{place}{path}: {what}"));
    }

    /// Compares two values, and names the smallest parts in which they differ.
    fn compare(&mut self, path: &str, found: &Value, known: &Value) {
        match (found, known) {
            (Value::Object(found), Value::Object(known)) => self.fields(path, found, known),
            (Value::Array(found), Value::Array(known)) if found.len() == known.len() => {
                for (index, (found, known)) in found.iter().zip(known).enumerate() {
                    self.compare(&format!("{path}/{index}"), found, known);
                }
            }
            _ if found == known => {}
            _ => self.add(path, format!("{} should be {}", short(found), short(known))),
        }
    }

    /// As [`Differences::compare`], for two objects.
    fn fields(&mut self, path: &str, found: &Map<String, Value>, known: &Map<String, Value>) {
        for (name, known) in known {
            let path = format!("{path}/{name}");
            match found.get(name) {
                Some(found) => self.compare(&path, found, known),
                None => self.add(&path, format!("{} is missing", short(known))),
            }
        }
        for name in found.keys().filter(|&name| !known.contains_key(name)) {
            self.add(
                &format!("{path}/{name}"),
                "there is no such field".to_owned(),
            );
        }
    }
}

/// A value, cut off where it is long.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
