//! Creating a game.

use actix_web::{HttpResponse, http::StatusCode, web::Data};
use dog_bot::Level;
use dog_rules::{
    BySeat, Game, Player, Rules, Seat, SeatKind, Seed, Setup,
    name::{default_name, distinct},
};
use dog_store::{
    ClientData, Creator, JoinPolicy, MatchTable, NewGame, SeatData, Seating, StartPolicy,
    StoredGame, Timing,
};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{PartialSchema, ToSchema, openapi::schema::Schema};

use super::settings::{MAX_BOT_PACE_MS, MAX_TURN_SECONDS};
use crate::{
    access::Role,
    api::{
        errors::errors,
        parameters::{BoundedList, PlayerName, RetryHeaders, client_data, in_range, seat_of},
    },
    app::App,
    http::{
        answer::Answer,
        request::WriteRequest,
        secrets::{Secret, Secrets, random_bytes},
    },
    limits::{ClientAddress, Cost, LimitState},
    problem::Problem,
    view::{
        game::GameView,
        moves::or_null,
        rules::{RulesRequest, checked_rules},
    },
    write::{Decision, create},
};

errors! {
    CreateErrors: [BODY, RETRY, SECRET, KEY, GATE], [InvalidRules, InvalidSeed];
}

/// The default pace of bots in games with humans, in milliseconds.
const BOT_PACE_MS: u32 = 250;

/// Maximum seconds until bots take the seats that are still open: a day.
const MAX_BOTS_AFTER_SECONDS: u32 = 24 * 60 * 60;

/// Creates a game. All fields may be omitted.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "rules": {"preset": "hausregeln"},
    "seats": [{"name": "Anna"}, {"name": "Beat"}, {"name": "Carla"}, {"name": "Dani"}]
}))]
pub struct CreateGame {
    /// The rules to play by; `dogspiel-it` by default.
    #[serde(default)]
    pub rules: Option<RulesRequest>,
    /// One entry per seat; by default humans with default names.
    #[schema(value_type = Option<Vec<SeatRequest>>)]
    pub seats: Option<BoundedList<SeatRequest>>,
    /// Who deals the first round; by default drawn from the shuffle seed.
    #[schema(maximum = 5)]
    pub first_dealer: Option<u8>,
    /// 64 hex digits; random by default. Whoever knows the seed knows every card.
    #[schema(pattern = "^[0-9A-Fa-f]{64}$")]
    pub shuffle_seed: Option<String>,
    /// Whether the game is in the public list; true by default.
    pub listed: Option<bool>,
    /// Whether people may react; true by default. A table may switch it off, since partners can agree
    /// on what a reaction means: `hausregeln` forbids agreed signs (RULES §11).
    pub reactions: Option<bool>,
    /// Minimum milliseconds between a change and a bot's next action, so that people can follow; by
    /// default 250, or 0 if only bots play.
    #[schema(maximum = 60_000)]
    pub bot_pace_ms: Option<u32>,
    /// Seconds that a seat has to act; then the server acts for it, by the seat's level. By default
    /// there is no clock.
    #[schema(minimum = 1, maximum = 604_800)]
    pub turn_seconds: Option<u32>,
    /// Who may take the open seats; by default those who are invited.
    pub join: Option<JoinPolicy>,
    /// Who has the rounds dealt; by default the host or the dealer's seat.
    pub start: Option<StartPolicy>,
    /// Seats still open this many seconds after the creation are given to bots. By default they
    /// stay open.
    #[schema(minimum = 1, maximum = 86_400)]
    pub bots_after_seconds: Option<u32>,
    /// What you attach to the game: an object of at most 1 KiB without white space and 16 levels,
    /// which only the host and the seats see, and nobody changes.
    #[schema(value_type = Option<Object>)]
    pub data: Option<Box<RawValue>>,
}

/// Who plays a seat.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "bot", "level": "fast"}))]
pub struct SeatRequest {
    /// `human` by default. People can take an open seat.
    pub kind: Option<SeatKind>,
    /// By default `Seat` or `Bot` and its number.
    pub name: Option<PlayerName>,
    /// A bot's level, `fast` by default. For a human, how the server plays when the time is up; for
    /// an open seat, how the bot plays it meanwhile.
    pub level: Option<Level>,
    /// The same for the seat: only the host and the seat see it, until it is opened or somebody else
    /// joins.
    #[schema(value_type = Option<Object>)]
    pub data: Option<Box<RawValue>>,
}

/// A game to create.
#[derive(Clone)]
pub struct NewTable {
    pub setup: Setup,
    pub listed: bool,
    pub reactions: bool,
    pub timing: Timing,
    pub join: JoinPolicy,
    pub start: StartPolicy,
    /// After how many seconds seats that are still open are given to bots.
    pub bots_after_seconds: Option<u32>,
    pub data: ClientData,
    /// The table of a match that it is.
    pub match_table: Option<MatchTable>,
}

impl NewTable {
    /// KiB that are stored for what is attached.
    pub fn data_kib(&self) -> u32 {
        let seats = self.data.seats.iter().flatten().map(|data| &data.text);
        let bytes: usize = seats.chain(&self.data.game).map(String::len).sum();
        bytes.div_ceil(1024) as u32
    }
}

impl CreateGame {
    /// The game to create.
    ///
    /// # Errors
    /// What is wrong with it, with the code of that error.
    pub fn table(mut self) -> Result<NewTable, Problem> {
        let rules = checked_rules(self.rules.take())?;
        self.table_by(rules)
    }

    /// The game to create, by these rules.
    ///
    /// # Errors
    /// What is wrong with it, with the code of that error.
    pub fn table_by(self, rules: Rules) -> Result<NewTable, Problem> {
        let seats = self.seats.map(|BoundedList(seats)| seats);
        let seats = seats.unwrap_or_else(|| {
            let seats = Seat::all(rules.seats);
            seats.map(|_| SeatRequest::default()).collect()
        });
        if seats.len() != usize::from(rules.seats) {
            let (found, needed) = (seats.len(), rules.seats);
            let detail = format!("by these rules seats must have {needed} entries, not {found}");
            return Err(Problem::wrong_value("seats", detail));
        }
        let (players, seats) = players(&rules, seats)?;
        let data = ClientData {
            game: client_data(self.data, "data")?,
            seats,
        };
        let first_dealer = self
            .first_dealer
            .map(|number| seat_of(number, &rules, "first_dealer"))
            .transpose()?;
        let given = self.shuffle_seed.as_deref();
        let given = given.map(Seed::from_hex).transpose()?;
        let setup = Setup {
            players,
            first_dealer,
            seed_given: given.is_some(),
            seed: given.unwrap_or_else(|| Seed::new(random_bytes())),
            rules,
            must_confirm: Vec::new(),
        };
        if setup.seed_given && setup.players.iter().any(Player::is_open) {
            let detail = "with open seats no shuffle seed can be chosen: its chooser would know the \
                          hands of those who join";
            return Err(Problem::wrong_combination(detail));
        }
        let mut players = setup.players.iter();
        let has_human = players.any(|player| player.kind != SeatKind::Bot);
        let turn_seconds = in_range("turn_seconds", self.turn_seconds, 1, MAX_TURN_SECONDS)?;
        let pace = in_range("bot_pace_ms", self.bot_pace_ms, 0, MAX_BOT_PACE_MS)?;
        let timing = Timing {
            bot_pace_ms: pace.unwrap_or(if has_human { BOT_PACE_MS } else { 0 }),
            turn_seconds,
        };
        let bots_after_seconds = in_range(
            "bots_after_seconds",
            self.bots_after_seconds,
            1,
            MAX_BOTS_AFTER_SECONDS,
        )?;
        Ok(NewTable {
            setup,
            listed: self.listed.unwrap_or(true),
            reactions: self.reactions.unwrap_or(true),
            timing,
            join: self.join.unwrap_or_default(),
            start: self.start.unwrap_or_default(),
            bots_after_seconds,
            data,
            match_table: None,
        })
    }
}

/// The players of a new game, one per seat, and what is attached to their seats. A given name that
/// another seat has is numbered.
fn players(
    rules: &Rules,
    seats: Vec<SeatRequest>,
) -> Result<(Vec<Player>, BySeat<Option<SeatData>>), Problem> {
    let mut data = BySeat::default();
    let given: Vec<bool> = seats.iter().map(|seat| seat.name.is_some()).collect();
    let players = Seat::all(rules.seats).zip(seats).map(|(seat, request)| {
        let kind = request.kind.unwrap_or_default();
        let member = format!("seats/{}/name", seat.number());
        let name = (request.name.as_ref()).map(|name| name.checked(kind, &member));
        let attached = client_data(request.data, &format!("seats/{}/data", seat.number()))?;
        data[seat] = attached.map(|text| SeatData { person: 0, text });
        Ok(Player {
            name: name.unwrap_or_else(|| Ok(default_name(seat, kind)))?,
            kind,
            level: request.level.unwrap_or_default(),
        })
    });
    let mut players = players.collect::<Result<Vec<_>, Problem>>()?;
    let (mut named, unnamed): (Vec<_>, Vec<_>) =
        (players.iter_mut().zip(given)).partition(|&(_, given)| given);
    let mut taken: Vec<String> = unnamed
        .iter()
        .map(|(other, _)| other.name.clone())
        .collect();
    for (player, _) in &mut named {
        player.name = distinct(&player.name, taken.iter().map(String::as_str));
        taken.push(player.name.clone());
    }
    Ok((players, data))
}

/// The response to a creation. The tokens are shown only once.
#[derive(Serialize, ToSchema)]
pub struct Created {
    #[serde(flatten)]
    access: NewAccess,
    /// The game as the host sees it.
    game: GameView,
}

/// A new game's id and its secrets, which are shown only once.
#[derive(Serialize, ToSchema)]
pub struct NewAccess {
    id: String,
    /// One entry per seat: its token; null for a bot, an open seat, and in an imported game.
    #[schema(value_type = Vec<Option<String>>)]
    seat_tokens: Vec<Option<Secret>>,
    /// The host's token.
    #[schema(value_type = String)]
    host_token: Secret,
    /// One entry per seat: the invitation to it, or null if it is not open. Null where anyone may
    /// join; only for a game with open seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = invitations_or_null, required = false)]
    invitations: Option<Option<Vec<Option<Secret>>>>,
    /// The invitation to any of the open seats. Null where anyone may join; only for a game with
    /// open seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = text_or_null, required = false)]
    invitation: Option<Option<Secret>>,
}

impl NewAccess {
    /// That of this game.
    pub fn new(stored: &StoredGame) -> NewAccess {
        let (game, seats) = (&stored.game, stored.game.rules().seats);
        let kind = |seat| game.player(seat).kind;
        let has_open = Seat::all(seats).any(|seat| kind(seat) == SeatKind::Open);
        let invited = stored.seating.join == JoinPolicy::Invited;
        let invitation =
            |seat| (kind(seat) == SeatKind::Open).then_some(Secret::Invitation(Some(seat)));
        NewAccess {
            id: stored.id.to_string(),
            seat_tokens: Seat::all(seats)
                .map(|seat| stored.tokens.seats[seat].map(|_| Secret::Seat(seat)))
                .collect(),
            host_token: Secret::Host,
            invitations: has_open
                .then(|| invited.then(|| Seat::all(seats).map(invitation).collect())),
            invitation: has_open.then(|| invited.then_some(Secret::Invitation(None))),
        }
    }
}

fn text_or_null() -> Schema {
    or_null(String::schema())
}

fn invitations_or_null() -> Schema {
    or_null(Vec::<Option<String>>::schema())
}

/// Create a game.
///
/// Creates a game and returns its tokens, which are shown only once.
///
/// With an `Idempotency-Key`, a retry gets the same response with the same tokens; the key must
/// carry 128 random bits or more.
#[utoipa::path(post, path = "/v1/games", tag = "games",
    params(RetryHeaders),
    request_body(content = CreateGame, description = "All fields may be omitted, and so may the body."),
    responses((status = 201, description = "The game and its tokens.", body = Created,
        headers(("Location" = String, description = "The game's \
            path."), ("ETag" = String, description = "The version as the host sees it.")),
        links(
            ("deal_cards" = (operation_id = "deal_cards", parameters(("id" = "$response.body#/id")))),
            ("stream_events" = (operation_id = "stream_events",
                parameters(("id" = "$response.body#/id")))))),
        CreateErrors))]
pub async fn create_game(
    app: Data<App>,
    client: ClientAddress,
    limits: Data<LimitState>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    create(&app.store, &request, || {
        let secrets = request.secrets()?;
        let table = request.body::<CreateGame>()?.table()?;
        limits.charge_more(client, Cost::NewGame, 0, table.data_kib())?;
        created(new_game(&table, creator, &secrets)?, secrets)
    })
    .await
}

/// The decision to add this game.
///
/// # Errors
/// Never in practice: answers can be serialized.
pub fn created(new: NewGame, secrets: Secrets) -> Result<Decision, Problem> {
    let body = Created {
        access: NewAccess::new(&new.game),
        game: GameView::with_data(&new.game, Role::Host),
    };
    let answer = Answer::new(StatusCode::CREATED, &body)?
        .with_etag(&new.game, Role::Host)
        .with_location(format_args!("/v1/games/{}", new.game.id))
        .with_secrets(secrets);
    Ok(Decision::Change(new.into(), answer))
}

/// A game whose host has these secrets, and nobody else.
pub fn game_of_host(
    game: Game,
    listed: bool,
    creator: Option<Creator>,
    secrets: &Secrets,
) -> StoredGame {
    let mut stored = StoredGame::new(game, listed, creator);
    stored.tokens.host = Some(secrets.hash(Secret::Host));
    stored
}

/// The game to add for this table.
///
/// # Errors
/// Never in practice: it is at its first version.
pub fn new_game(
    table: &NewTable,
    creator: Option<Creator>,
    secrets: &Secrets,
) -> Result<NewGame, Problem> {
    let game = Game::new(table.setup.clone());
    let game = match table.match_table {
        Some(_) => game.as_duplicate(),
        None => game,
    };
    let event = game.last_event().clone();
    let mut stored = game_of_host(game, table.listed, creator, secrets);
    let after = |seconds: u32| stored.created_at + SignedDuration::from_secs(seconds.into());
    let mut seating = Seating {
        join: table.join,
        start: table.start,
        bots_at: table.bots_after_seconds.map(after),
        ..Seating::default()
    };
    for seat in Seat::all(stored.game.rules().seats) {
        match stored.game.player(seat).kind {
            SeatKind::Human => {
                stored.tokens.seats[seat] = Some(secrets.hash(Secret::Seat(seat)));
            }
            SeatKind::Open if table.join == JoinPolicy::Invited => {
                let invitation = |seat| Some(secrets.hash(Secret::Invitation(seat)));
                seating.seats[seat].invitation = invitation(Some(seat));
                seating.invitation = invitation(None);
            }
            SeatKind::Open | SeatKind::Bot => {}
        }
    }
    stored.seating = seating.into();
    stored.data = table.data.clone().into();
    stored.table = table.match_table;
    stored.timing = table.timing;
    stored.reactions = table.reactions;
    Ok(NewGame::created(stored, &event)?)
}
