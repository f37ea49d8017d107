//! The bodies and queries that clients send, and their conversion to types of the rules.

use std::{
    fmt,
    future::{Ready, ready},
    marker::PhantomData,
};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    web::{Data, Path},
};
use dog_rules::{Card, Cards, ParseCardError, Rules, Seat, SeatKind, name, seat::MAX_SEATS};
use dog_store::{GameId, Store, StoredGame};
use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeOwned, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::{
    access::{Caller, Role},
    app::App,
    headers::token::caller,
    http::{
        json::{from_body, from_query},
        range::NumberRange,
        request::WriteRequest,
    },
    problem::{Code, Problem, Reason},
};

/// Characters of a text that an error repeats.
const MAX_QUOTED: usize = 20;

/// The game that a path names.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct GamePath {
    /// The game's id.
    #[param(example = "1y51r0ztfn8hp2zw9f8m33tzg0")]
    pub id: String,
}

/// A request that changes the game that its path names.
pub type GameChange = (Data<App>, Path<GamePath>, WriteRequest);

/// A request that changes the seat that its path names.
pub type SeatChange = (Data<App>, Path<SeatPath>, WriteRequest);

/// A request that reads a game.
pub struct GameRequest {
    pub app: Data<App>,
    pub path: Path<GamePath>,
    pub caller: Caller,
    pub request: HttpRequest,
}

impl FromRequest for GameRequest {
    type Error = actix_web::Error;
    type Future = Ready<Result<GameRequest, actix_web::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let app = Data::extract(request).into_inner();
        let path = Path::extract(request).into_inner();
        ready(app.and_then(|app| {
            Ok(GameRequest {
                app,
                path: path?,
                caller: caller(request.headers()),
                request: request.clone(),
            })
        }))
    }
}

impl GameRequest {
    /// The game, and the role of the caller.
    ///
    /// # Errors
    /// `game_not_found`; as [`Caller::role`].
    pub async fn game(&self) -> Result<(StoredGame, Role), Problem> {
        let stored = load_game(&self.app.store, &self.path.id).await?;
        let role = self.caller.role(&stored)?;
        if role != Role::Spectator {
            self.app.store.note_use(&stored);
        }
        Ok((stored, role))
    }

    /// The game, and the seat of the caller in its turn.
    ///
    /// # Errors
    /// `game_not_found`; as [`Caller::holder`].
    pub async fn game_of_holder(&self) -> Result<(StoredGame, Seat), Problem> {
        let stored = load_game(&self.app.store, &self.path.id).await?;
        let seat = self.caller.holder(&stored)?;
        self.app.store.note_use(&stored);
        Ok((stored, seat))
    }

    /// The parameters of the query.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn query<T: DeserializeOwned + IntoParams>(&self) -> Result<T, Problem> {
        from_query(self.request.query_string())
    }
}

/// The seat that a path names.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct SeatPath {
    /// The game's id.
    #[param(example = "1y51r0ztfn8hp2zw9f8m33tzg0")]
    pub id: String,
    /// The seat's number.
    #[param(value_type = u8, maximum = 5, example = 0)]
    pub seat: String,
}

/// The headers of a request that makes something.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "for the document")]
pub struct RetryHeaders {
    /// The client's key for this write. For 24 hours, a retry with the same key and body gets the
    /// same response. If the response contains secrets, the key must carry 128 random bits.
    #[param(rename = "Idempotency-Key", value_type = String, required = false, pattern = "^[!-~]{1,255}$")]
    idempotency_key: (),
}

/// The headers of a request that changes a game.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "for the document")]
pub struct WriteHeaders {
    /// The client's key for this write. For 24 hours, a retry with the same key and body gets the
    /// same response. If the response contains secrets, the key must carry 128 random bits.
    #[param(rename = "Idempotency-Key", value_type = String, required = false, pattern = "^[!-~]{1,255}$")]
    idempotency_key: (),
    /// An ETag, or a version in quotes. The write is refused with 412 if the game is at another
    /// version, and with 400 if the header is malformed.
    #[param(rename = "If-Match", value_type = String, required = false, pattern = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#)]
    if_match: (),
}

/// The condition of a request that reads.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "for the document")]
pub struct ReadHeaders {
    /// An ETag; the response is 304 if the answer is still the same, and 400 if the header is
    /// malformed.
    #[param(rename = "If-None-Match", value_type = String, required = false, pattern = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#)]
    if_none_match: (),
}

/// A request that says only at which version the game must be. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct VersionRequest {
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// The name of a player in a request.
#[derive(Deserialize, ToSchema)]
#[schema(
    min_length = 1,
    max_length = 40,
    description = "1 to 40 characters, of which one can be seen. White space around it is left out. \
     The second `Anna` at a table is `Anna (2)`. A person's name is not `Bot` and a number.",
    pattern = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
)]
pub struct PlayerName(String);

impl PlayerName {
    /// The name for a player of that kind; `member` is the member of the body that gives it.
    ///
    /// # Errors
    /// `invalid_request`, if no such player may have it.
    pub fn checked(&self, kind: SeatKind, member: &str) -> Result<String, Problem> {
        name::checked(&self.0, kind).map_err(|error| Problem::wrong_value(member, error))
    }
}

/// The seat with this number. `what` is the name of the member or parameter.
///
/// # Errors
/// `invalid_request`, if the rules have no such seat.
pub fn seat_of(number: u8, rules: &Rules, what: &str) -> Result<Seat, Problem> {
    Seat::new(number, rules.seats).ok_or_else(|| {
        let last = rules.seats - 1;
        Problem::wrong_value(what, format!("/{what} must be a seat from 0 to {last}"))
    })
}

/// The card of this name, which stands at that place in the body.
///
/// # Errors
/// `unknown_card`.
pub fn card_of(name: &str, pointer: String) -> Result<Card, Problem> {
    name.parse().map_err(|_: ParseCardError| {
        let cards = Card::ALL.map(Card::name);
        let meant = Card::by_common_name(name);
        let (name, names) = (quoted(name), cards.join(" "));
        let detail = match meant {
            Some(card) => format!("there is no card {name}: {card} is meant"),
            None => format!("there is no card {name}: the cards are {names}"),
        };
        let problem = Problem::new(Code::UnknownCard, detail).at(pointer, Some(&cards));
        match meant {
            Some(card) => problem.card(card),
            None => problem,
        }
    })
}

/// The cards of these names, which stand in the list at that place in the body.
pub fn read_cards(names: &[String], pointer: &str) -> Result<Cards, Problem> {
    let names = names.iter().enumerate();
    collect_cards(names.map(|(index, name)| card_of(name, format!("{pointer}/{index}"))))
}

/// These cards together.
///
/// # Errors
/// `invalid_hand`, if there are more of a card than in any deck.
pub fn collect_cards(list: impl Iterator<Item = Result<Card, Problem>>) -> Result<Cards, Problem> {
    let mut cards = Cards::EMPTY;
    for card in list {
        let card = card?;
        // No deck has more, and `Cards` cannot count further.
        if cards.count(card) == 12 {
            let detail = format!("no deck holds so many {card}");
            return Err(Problem::new(Code::InvalidHand, detail)
                .because(Reason::MoreThanDeck)
                .card(card));
        }
        cards.add(card);
    }
    Ok(cards)
}

/// What a client sent, in quotes: the beginning of a long text, without control characters.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The value of a member or parameter of this name, if it is absent or from `min` to `max`.
///
/// # Errors
/// `invalid_request`, if it is out of this range.
pub fn in_range<T: Copy + Into<u64>>(
    name: &str,
    value: Option<T>,
    min: T,
    max: T,
) -> Result<Option<T>, Problem> {
    let range = NumberRange {
        min: min.into(),
        max: max.into(),
    };
    match value {
        Some(value) if !range.contains(value.into()) => {
            let refusal = range.refusal(Some(value.into() as f64));
            Err(Problem::wrong_value(name, format!("/{name} {refusal}")))
        }
        value => Ok(value),
    }
}

/// A list of at most so many entries, by default of one for each seat. Parsing stops when it has
/// more.
pub struct BoundedList<T, const MOST: usize = MAX_SEATS>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for BoundedList<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T, const MOST: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Entries<T, MOST> {
            type Value = BoundedList<T, MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list with at most {MOST} entries")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element()? {
                    entries.push(entry);
                    if entries.len() > MOST {
                        return Err(de::Error::invalid_length(entries.len(), &self));
                    }
                }
                Ok(BoundedList(entries))
            }
        }

        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

/// The body of another request, in a list. Each is read by itself, so that its errors name places
/// in it, and concern no other.
#[derive(Deserialize)]
pub struct InnerBody(Box<RawValue>);

impl InnerBody {
    /// What it says.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read<T: DeserializeOwned + ToSchema>(&self) -> Result<T, Problem> {
        from_body(self.0.get().as_bytes())
    }
}

impl<T, const MOST: usize> BoundedList<T, MOST> {
    /// The entries; `name` is the member of the body that has the list.
    ///
    /// # Errors
    /// `invalid_request`, if there are none.
    pub fn not_empty(self, name: &str) -> Result<Vec<T>, Problem> {
        match self.0.is_empty() {
            true => Err(Problem::wrong_value(
                name,
                format!("/{name} must not be empty"),
            )),
            false => Ok(self.0),
        }
    }
}

/// Maximum bytes of what a client attaches, and maximum levels of its nesting.
const MAX_DATA: usize = 1024;
const MAX_DATA_LEVELS: usize = 16;

/// The object that a client attaches, without white space; `member` is the member of the body that
/// has it.
///
/// # Errors
/// `invalid_request`, if it is no object, too long or nested too deeply.
pub fn client_data(data: Option<Box<RawValue>>, member: &str) -> Result<Option<String>, Problem> {
    let Some(data) = data else { return Ok(None) };
    let (mut text, mut levels, mut most) = (String::new(), 0_usize, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for character in data.get().chars() {
        match character {
            _ if in_string => {
                in_string = is_escaped || character != '"';
                is_escaped = !is_escaped && character == '\\';
            }
            ' ' | '\t' | '\r' | '\n' => continue,
            '"' => in_string = true,
            '{' | '[' => levels += 1,
            '}' | ']' => levels -= 1,
            _ => {}
        }
        most = most.max(levels);
        text.push(character);
    }
    if !text.starts_with('{') || text.len() > MAX_DATA || most > MAX_DATA_LEVELS {
        let detail = format!(
            "/{member} must be an object of at most {MAX_DATA} bytes and {MAX_DATA_LEVELS} levels"
        );
        return Err(Problem::wrong_value(member, detail));
    }
    Ok(Some(text))
}

/// Parses an id; `game_not_found` if it is invalid.
pub fn read_id(id: &str) -> Result<GameId, Problem> {
    id.parse().map_err(|_| Problem::game_not_found())
}

/// Loads the game with that id.
pub async fn load_game(store: &Store, id: &str) -> Result<StoredGame, Problem> {
    let stored = store.game(&read_id(id)?).await?;
    stored.ok_or_else(Problem::game_not_found)
}
