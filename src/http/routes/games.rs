//! Games: create, list, read, draw, change settings, remove.

use std::time::{Duration, Instant};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::{StatusCode, header},
    rt::time::timeout,
    web::{Data, Path},
};
use dog_rules::{
    Action, BySeat, Game, Level, Phase, Player, Rules, Seat, SeatKind, Seed, Setup, TableSettings,
    name::{default_name, distinct},
};
use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{AnyOfBuilder, ObjectBuilder, Schema, Type},
    },
};

use super::{App, load_game, picture, seats::TokenRequest};
use crate::{
    access::{Caller, Role, etag},
    http::{
        headers::{check_if_match, is_not_modified, private_response, send_content},
        json::from_query,
        limits::{ClientAddress, connections::Waiting},
        metrics::SkipLatency,
        pool::SHORT_JOB_COST,
        problem::Problem,
        request::WriteRequest,
        secrets::{Secret, Secrets, random_bytes},
        wire::{
            game::{ActionResponse, GameList, GameView},
            picture::{PictureParams, of_game},
            request::{BySeatList, GameParams, ListParams, given_name, in_range, seat_of},
            rules::{self, RulesRequest},
        },
        write::{
            Answer, Decision, GameWrite, MAX_ATTEMPTS, attempt, create,
            load_game as load_for_write, write,
        },
    },
    store::{
        AdminChanges, Creator, GameId, JoinPolicy, ListQuery, NewGame, Seating, StartPolicy,
        StoredGame, Timing, Tokens, WriteOp, now,
    },
};

/// How long a client may wait for a change.
const MAX_WAIT: Duration = Duration::from_secs(25);

/// The least turn clock that a host may set once cards were dealt, in seconds.
const MIN_TURN_SECONDS: u32 = 10;

/// The default pace of bots in games with humans, in milliseconds.
const BOT_PACE_MS: u32 = 250;

/// Maximum pace in milliseconds.
const MAX_BOT_PACE_MS: u32 = 60_000;

/// Maximum seconds until bots take the seats that are still open: a day.
const MAX_BOTS_AFTER_SECONDS: u32 = 24 * 60 * 60;

/// Maximum seconds of the turn clock: a week.
const MAX_TURN_SECONDS: u32 = 7 * 24 * 60 * 60;

/// Creates a game. All fields may be omitted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "rules": {"preset": "hausregeln"},
    "seats": [{"name": "Anna"}, {"name": "Beat"}, {"name": "Carla"}, {"name": "Dani"}]
}))]
pub struct CreateGame {
    /// The rules to play by; `dogspiel-it` by default.
    #[serde(default)]
    rules: Option<RulesRequest>,
    /// One entry per seat; by default humans with default names.
    #[schema(value_type = Option<Vec<SeatRequest>>)]
    seats: Option<BySeatList<SeatRequest>>,
    /// Who deals the first round; by default drawn from the shuffle seed.
    #[schema(maximum = 5)]
    first_dealer: Option<u8>,
    /// 64 hex digits; random by default. Whoever knows the seed knows every card.
    #[schema(pattern = "^[0-9A-Fa-f]{64}$")]
    shuffle_seed: Option<String>,
    /// Whether the game is in the public list; true by default.
    listed: Option<bool>,
    /// Minimum milliseconds between a change and a bot's next action, so that people can follow; by
    /// default 250, or 0 if only bots play.
    #[schema(maximum = 60_000)]
    bot_pace_ms: Option<u32>,
    /// Seconds that a seat has to act; then the server acts for it, by the seat's level. By default
    /// there is no clock.
    #[schema(minimum = 1, maximum = 604_800)]
    turn_seconds: Option<u32>,
    /// Who may take the open seats; by default those who are invited.
    join: Option<JoinPolicy>,
    /// Who has the rounds dealt; by default the host or the dealer's seat.
    start: Option<StartPolicy>,
    /// Seats still open this many seconds after the creation are given to bots. By default they stay
    /// open.
    #[schema(minimum = 1, maximum = 86_400)]
    bots_after_seconds: Option<u32>,
}

/// Who plays a seat.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "bot", "level": "fast"}))]
pub struct SeatRequest {
    /// `human` by default. People can take an open seat.
    kind: Option<SeatKind>,
    /// 1 to 40 characters, of which one can be seen; by default `Seat` or `Bot` and its number. White
    /// space around it is left out. The second `Anna` at a table is `Anna (2)`. A person's name is not
    /// `Bot` and a number.
    #[schema(
        min_length = 1,
        max_length = 40,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
    )]
    name: Option<String>,
    /// A bot's level, `fast` by default. For a human, how the server plays when the time is up; for an
    /// open seat, how the bot plays that stands in.
    level: Option<Level>,
}

/// A game to create.
pub struct NewTable {
    pub setup: Setup,
    pub listed: bool,
    pub timing: Timing,
    pub join: JoinPolicy,
    pub start: StartPolicy,
    /// After how many seconds seats that are still open are given to bots.
    pub bots_after_seconds: Option<u32>,
}

impl CreateGame {
    /// The game to create.
    ///
    /// # Errors
    /// What is wrong with it, with the code of that error.
    pub fn table(self) -> Result<NewTable, Problem> {
        let rules = rules::rules(self.rules)?;
        let seats = self.seats.map(|BySeatList(seats)| seats);
        let seats = seats.unwrap_or_else(|| {
            let seats = Seat::all(rules.seats);
            seats.map(|_| SeatRequest::default()).collect()
        });
        if seats.len() != usize::from(rules.seats) {
            let (found, needed) = (seats.len(), rules.seats);
            let detail =
                format!("seats has {found} entries, but the rules are for {needed} players");
            return Err(Problem::wrong_value("seats", detail));
        }
        let players = players(&rules, seats)?;
        let dealer = |number| seat_of(number, &rules, "first_dealer");
        let first_dealer = self.first_dealer.map(dealer).transpose()?;
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
        let is = |kind| move |player: &Player| player.kind == kind;
        if setup.seed_given && setup.players.iter().any(is(SeatKind::Open)) {
            let detail = "with open seats no shuffle seed can be chosen: its chooser would know the \
                          hands of those who join";
            return Err(Problem::wrong_combination(detail));
        }
        let has_human = !setup.players.iter().all(is(SeatKind::Bot));
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
            timing,
            join: self.join.unwrap_or_default(),
            start: self.start.unwrap_or_default(),
            bots_after_seconds,
        })
    }
}

/// The players of a new game, one a seat. A given name that another seat has is numbered.
fn players(rules: &Rules, seats: Vec<SeatRequest>) -> Result<Vec<Player>, Problem> {
    let given: Vec<bool> = seats.iter().map(|seat| seat.name.is_some()).collect();
    let players = Seat::all(rules.seats).zip(seats).map(|(seat, request)| {
        let kind = request.kind.unwrap_or_default();
        let member = format!("seats/{}/name", seat.number());
        let name = given_name(request.name.as_deref(), kind, &member)?;
        Ok(Player {
            name: name.unwrap_or_else(|| default_name(seat, kind)),
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
    Ok(players)
}

/// The response to a creation. The tokens are shown only once.
#[derive(Serialize, ToSchema)]
pub struct Created {
    pub id: String,
    /// One entry per seat: its token, or null for a bot.
    #[schema(value_type = Vec<Option<String>>)]
    pub seat_tokens: Vec<Option<Secret>>,
    /// The host's token.
    #[schema(value_type = String)]
    pub host_token: Secret,
    /// One entry per seat: the invitation to it, or null if it is not open. Null where anyone may
    /// join; only for a game with open seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = invitations_or_null, required = false)]
    pub invitations: Option<Option<Vec<Option<Secret>>>>,
    /// The invitation to any of the open seats. Null where anyone may join; only for a game with
    /// open seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = text_or_null, required = false)]
    pub invitation: Option<Option<Secret>>,
    /// The game as the host sees it.
    pub game: GameView,
}

impl Created {
    /// The response to the creation of this game.
    pub fn new(stored: &StoredGame) -> Created {
        let (game, seats) = (&stored.game, stored.game.rules().seats);
        let kind = |seat| game.player(seat).kind;
        let has_open = Seat::all(seats).any(|seat| kind(seat) == SeatKind::Open);
        let invited = stored.seating.join == JoinPolicy::Invited;
        let invitation =
            |seat| (kind(seat) == SeatKind::Open).then_some(Secret::Invitation(Some(seat)));
        Created {
            id: stored.id.to_string(),
            seat_tokens: Seat::all(seats)
                .map(|seat| stored.tokens.seats[seat].map(|_| Secret::Seat(seat)))
                .collect(),
            host_token: Secret::Host,
            invitations: has_open
                .then(|| invited.then(|| Seat::all(seats).map(invitation).collect())),
            invitation: has_open.then(|| invited.then_some(Secret::Invitation(None))),
            game: GameView::new(stored, Role::Host),
        }
    }
}

/// Null too, although it may be absent.
fn or_null(schema: impl Into<RefOr<Schema>>) -> Schema {
    let null = ObjectBuilder::new().schema_type(Type::Null);
    AnyOfBuilder::new().item(schema).item(null).into()
}

fn text_or_null() -> Schema {
    or_null(String::schema())
}

fn invitations_or_null() -> Schema {
    or_null(Vec::<Option<String>>::schema())
}

/// Creates a game and returns its tokens, which are shown only once.
///
/// With an `Idempotency-Key`, a retry gets the same response with the same tokens; the key must
/// carry 128 random bits or more.
#[utoipa::path(post, path = "/v1/games", operation_id = "create_game", tag = "games",
    request_body(content = CreateGame, description = "All fields may be omitted, and so may the body."),
    responses((status = 201, description = "The game and its tokens.", body = Created,
        headers(("Location" = String, description = "The game's \
            path."), ("ETag" = String, description = "The version as the host sees it.")))))]
pub async fn create_game(
    app: Data<App>,
    client: ClientAddress,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    create(&app.store, &request, || {
        let secrets = request.secrets()?;
        let table = request.body::<CreateGame>()?.table()?;
        created(new_game(&table, creator, &secrets)?, secrets)
    })
    .await
}

/// The decision to add this game.
///
/// # Errors
/// Never in practice: answers can be serialized.
pub fn created(new: NewGame, secrets: Secrets) -> Result<Decision, Problem> {
    let answer = Answer::new(StatusCode::CREATED, &Created::new(&new.game))?;
    let answer = answer
        .with_etag(&new.game, Role::Host)
        .with_location(new.game.id);
    Ok(Decision::Change(
        WriteOp::Insert(new.into()),
        answer.with_secrets(secrets),
    ))
}

/// A game whose host has these secrets, and nobody else.
pub fn game_of_host(
    game: Game,
    listed: bool,
    creator: Option<Creator>,
    secrets: &Secrets,
) -> StoredGame {
    let now = now();
    StoredGame {
        id: GameId::random(),
        listed,
        imported: false,
        creator,
        created_at: now,
        updated_at: now,
        tokens: Tokens {
            host: Some(secrets.hash(Secret::Host)),
            seats: BySeat::default(),
        },
        seating: Seating::default().into(),
        timing: Timing::default(),
        admin_changes: AdminChanges::default(),
        deadline: None,
        game: game.into(),
    }
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
    stored.timing = table.timing;
    Ok(NewGame::created(stored, &event)?)
}

/// The public games, newest first, without secrets.
///
/// The list comes in pages: `next` of one page is the `cursor` of the following page. With
/// `open=true` it has the tables with a seat that anyone may take. To follow a list, ask for it every
/// 10 seconds with the last `ETag`.
#[utoipa::path(get, path = "/v1/games", operation_id = "list_games", tag = "games",
    params(ListParams, ("If-None-Match" = Option<String>, Header, description = "An ETag; the \
        response is 304 if the page is still the same.")),
    responses(
        (status = 200, description = "A page of the list.", body = GameList,
            headers(("ETag" = String, description = "A hash of the page."))),
        (status = 304, description = "The page is still the one of If-None-Match.")))]
pub async fn list_games(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let params: ListParams = from_query(request.query_string())?;
    let (phase, limit) = (params.phase, params.limit()?);
    let cursor = params.cursor.as_deref().map(str::parse).transpose();
    let after = cursor.map_err(|_| {
        Problem::wrong_value("cursor", "cursor must be `next` of an earlier response")
    })?;
    let query = ListQuery {
        phase,
        open: params.open.unwrap_or(false),
        after,
        limit,
    };
    let page = app.store.games(&query).await?;
    let list = move || {
        let next = page.next.map(|next| next.to_string());
        Ok(GameList::new(&page.games, next))
    };
    app.move_pool
        .answer_if_changed(&request, SHORT_JOB_COST, list)
        .await
}

/// The game as the caller may see it: a seat, the host, or without a token a spectator.
///
/// With `after_version`, the response waits for the next change. A stream of events is better for
/// clients that can read one.
#[utoipa::path(get, path = "/v1/games/{id}", operation_id = "get_game", tag = "games",
    params(("id" = String, Path, description = "The game's id."), GameParams,
        ("If-None-Match" = Option<String>, Header, description = "An ETag; the response is 304 if \
            the view is still the same.")),
    responses(
        (status = 200, description = "The game.", body = GameView,
            headers(("ETag" = String, description = "The version and the viewer, such as \"17-2\"."))),
        (status = 304, description = "The view is still the one of If-None-Match, or the game is \
            still at `after_version`.")),
    security((), ("token" = [])))]
pub async fn get_game(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let mut record = load_game(&app.store, &id).await?;
    let mut role = caller.role(&record)?;
    let GameParams { after_version } = from_query(request.query_string())?;
    // The client may know a later version, of before the operator restored a backup.
    let is_known = |version| after_version == Some(version);
    if let Some(known) = after_version
        && is_known(record.game.version())
        && record.game.phase() != Phase::Finished
    {
        request.extensions_mut().insert(SkipLatency);
        let _waiting = Waiting::begin(&request);
        let connection = app.presence.connection(record.id, role);
        wait(&app, record.id, known).await?;
        record = load_game(&app.store, &id).await?;
        role = match (caller.role(&record), connection) {
            (Err(error), Some(connection)) => {
                connection.lose_seat();
                return Err(error.into());
            }
            (role, _) => role?,
        };
    }
    let version = record.game.version();
    let etag = etag(version, role);
    let of_version = version.to_string();
    check_if_match(request.headers(), &[&etag, &of_version])?;
    let unchanged = is_known(version) || is_not_modified(request.headers(), &etag);
    let mut response = private_response(match unchanged {
        true => StatusCode::NOT_MODIFIED,
        false => StatusCode::OK,
    });
    response.insert_header((header::ETAG, etag));
    if unchanged {
        return Ok(response.finish());
    }
    let view = app.views.of_game(&record, role)?;
    Ok(response.content_type("application/json").body(view))
}

/// Waits while the game is at this version, at most [`MAX_WAIT`].
async fn wait(app: &App, id: GameId, known: u64) -> Result<(), Problem> {
    let mut subscription = app.hub.subscribe(id);
    let until = Instant::now() + MAX_WAIT;
    // The version is read after the subscription, so that no change is missed.
    while !subscription.closed()
        && app
            .store
            .version(&id)
            .await?
            .is_some_and(|now| now == known)
    {
        let left = until.saturating_duration_since(Instant::now());
        if timeout(left, subscription.changed()).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// The board as a picture, with the last move on it or a preview of another.
///
/// It shows only what everybody at the table sees, so it is the same for all. A preview depends on
/// the board alone, so it reveals nothing about a hand.
#[utoipa::path(get, path = "/v1/games/{id}/board.svg", operation_id = "get_board_picture", tag = "games",
    params(("id" = String, Path, description = "The game's id."), PictureParams,
        ("If-None-Match" = Option<String>, Header, description = "An ETag; the response is 304 if \
            the picture is still the same.")),
    responses(
        (status = 200, description = "The picture, an SVG document of 40 KB at \
            most.", body = String, content_type = "image/svg+xml",
            headers(("ETag" = String, description = "A hash of the picture."))),
        (status = 304, description = "The picture is still the one of If-None-Match.")),
    security((), ("token" = [])))]
pub async fn get_board_picture(
    app: Data<App>,
    id: Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let record = load_game(&app.store, &id).await?;
    caller.role(&record)?;
    let params: PictureParams = from_query(request.query_string())?;
    let game = &record.game;
    let preview = params.preview(game)?;
    let options = params.options(game.rules())?;
    // Drawing takes less time than passing it to another thread.
    let svg = of_game(game, preview.as_ref(), options);
    // A later build may draw the same board otherwise, so the version does not identify a picture.
    let mut response = picture(HttpResponse::Ok());
    response
        .insert_header((header::VARY, "Authorization, Accept-Encoding"))
        .insert_header((header::CACHE_CONTROL, "no-cache"));
    send_content(&request, &mut response, svg.into_bytes())
}

/// Changes settings of a game. A member that is left out keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"turn_seconds": 60}), min_properties = 1)]
pub struct SettingsRequest {
    /// Seconds that a seat has to act, from the next turn on: 10 or more once cards were dealt. Null
    /// removes the clock.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 604_800)]
    turn_seconds: Option<Option<u32>>,
    /// Minimum milliseconds between a change and a bot's next action.
    #[schema(maximum = 60_000)]
    bot_pace_ms: Option<u32>,
    /// Whether the game is in the public list.
    listed: Option<bool>,
    /// Refuse with 412 unless the game is at this version.
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// A member that is there, if only as null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Changes the turn clock, the pace of bots, or whether the game is listed: the host.
///
/// It is a public event. A clock counts from the next turn on.
#[utoipa::path(patch, path = "/v1/games/{id}", operation_id = "change_settings", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    request_body = SettingsRequest,
    responses((status = 200, description = "The settings are changed.", body = ActionResponse)),
    security(("token" = [])))]
pub async fn change_settings(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &id, &request, |game| {
        let role = game.host("change settings")?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        game.stored.game.check_not_over()?;
        game.check_limit()?;
        game.check_admin_change()?;
        let settings = settings(game, game.body()?)?;
        game.act(role, &Action::ChangeSettings { settings })
    })
    .await
}

/// The settings after a change.
///
/// # Errors
/// `invalid_request`, if it changes nothing, or a value is out of range.
fn settings(stored: &StoredGame, change: SettingsRequest) -> Result<TableSettings, Problem> {
    let SettingsRequest {
        turn_seconds,
        bot_pace_ms,
        listed,
        ..
    } = change;
    if turn_seconds.is_none() && bot_pace_ms.is_none() && listed.is_none() {
        let detail = "one of turn_seconds, bot_pace_ms and listed must be there";
        return Err(Problem::wrong_combination(detail));
    }
    let seconds = in_range("turn_seconds", turn_seconds.flatten(), 1, MAX_TURN_SECONDS)?;
    let pace = in_range("bot_pace_ms", bot_pace_ms, 0, MAX_BOT_PACE_MS)?;
    let game = &stored.game;
    let dealt = game.round() > 1 || !matches!(game.phase(), Phase::Seating | Phase::Deal);
    if dealt && seconds.is_some_and(|seconds| seconds < MIN_TURN_SECONDS) {
        let detail = "/turn_seconds must be 10 or more once cards were dealt";
        return Err(Problem::wrong_value("turn_seconds", detail));
    }
    Ok(TableSettings {
        turn_seconds: turn_seconds.unwrap_or(stored.timing.turn_seconds),
        bot_pace_ms: pace.unwrap_or(stored.timing.bot_pace_ms),
        listed: listed.unwrap_or(stored.listed),
    })
}

/// A fresh token for the host. It is shown only once; the old one is invalid.
#[derive(Serialize, ToSchema)]
pub struct FreshHostToken {
    #[schema(value_type = String)]
    pub token: Secret,
}

/// Gives the host a fresh token; the old one becomes invalid.
///
/// It makes no new version.
#[utoipa::path(post, path = "/v1/games/{id}/host/token", operation_id = "renew_host_token", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    request_body(content = TokenRequest, description = "May be empty."),
    responses((status = 200, description = "The fresh token, which is shown only once.", body = FreshHostToken)),
    security(("token" = [])))]
pub async fn renew_host_token(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    write(&app.store, &id, &request, |game| {
        if let Some(answer) = game.first_answer_if_revoked()? {
            return Ok(answer);
        }
        let role = game.host("renew its token")?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        game.check_admin_change()?;
        let TokenRequest { .. } = game.body()?;
        let secrets = request.secrets()?;
        let (mut tokens, mut seating) = (game.tokens.clone(), (*game.seating).clone());
        seating.replace_host_token(&mut tokens, secrets.hash(Secret::Host));
        let op = WriteOp::SetTokens(game.expected_state(), tokens, seating.into());
        let answer = Answer::new(
            StatusCode::OK,
            &FreshHostToken {
                token: Secret::Host,
            },
        )?;
        Ok(Decision::Change(op, answer.with_secrets(secrets)))
    })
    .await
}

/// Removes a game. The body may be empty; unknown fields are ignored.
#[derive(Deserialize)]
pub struct RemoveRequest {
    #[serde(rename = "version")]
    _version: Option<u64>,
}

/// Removes the game; only its host may do so.
///
/// Its streams end, and later requests get 404.
#[utoipa::path(delete, path = "/v1/games/{id}", operation_id = "delete_game", tag = "games",
    params(("id" = String, Path, description = "The game's id.")),
    responses((status = 204, description = "The game is removed.")),
    security(("token" = [])))]
pub async fn delete_game(
    app: Data<App>,
    id: Path<String>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let load = load_for_write(&app.store, &id, &request)?;
    attempt(&app.store, &request, MAX_ATTEMPTS, load, |loaded| {
        if loaded.game.is_none()
            && let Some(answer) = request.first_answer(loaded.saved_response.as_ref())?
        {
            return Ok(Decision::Answer(answer));
        }
        let game = GameWrite::new(loaded, &request)?;
        let role = game.host("remove a game")?;
        if let Some(answer) = game.first_answer()? {
            return Ok(answer);
        }
        game.check_state(role)?;
        let RemoveRequest { .. } = game.body()?;
        let op = WriteOp::Remove(game.expected_state());
        Ok(Decision::Change(op, Answer::empty(StatusCode::NO_CONTENT)))
    })
    .await
}
