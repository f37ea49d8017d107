//! Creating a match.

use actix_web::{HttpResponse, http::StatusCode, web::Data};
use dog_rules::{Level, Seat, SeatKind, Seed, name::default_name};
use dog_store::{GameId, MatchSetup, MatchSide, MatchTable, NewMatch, StartPolicy, WriteOp, now};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    api::{
        games::{
            create::{CreateErrors, CreateGame, NewTable, SeatRequest, new_game},
            settings::MAX_TURN_SECONDS,
        },
        parameters::{BoundedList, PlayerName, RetryHeaders, in_range},
    },
    app::App,
    http::{
        answer::Answer,
        request::WriteRequest,
        secrets::{Secret, in_list, random_bytes},
    },
    limits::{ClientAddress, Cost, LimitState},
    problem::{Problem, announce::announce},
    view::rules::{RulesRequest, checked_rules},
    write::{Decision, create},
};

/// Maximum number of pairs of a match.
const MAX_PAIRS: u32 = 32;

/// Minimum seconds that a seat has to act.
const MIN_TURN_SECONDS: u32 = 10;

/// Creates a match.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "pairs": 1, "rules": {"preset": "dogspiel-it"}, "turn_seconds": 60,
    "sides": [{"name": "Red", "kind": "open"}, {"name": "Blue", "kind": "bot", "level": "fast"}]
}))]
pub struct CreateMatch {
    /// The number of pairs of tables; 1 by default.
    #[schema(minimum = 1, maximum = 32)]
    pairs: Option<u32>,
    /// The rules to play by, for four seats; `dogspiel-it` by default.
    #[serde(default)]
    rules: Option<RulesRequest>,
    /// Seconds that a seat has to act; then the server acts for it.
    #[schema(minimum = 10, maximum = 604_800)]
    turn_seconds: u32,
    /// At the first table of a pair, side 0 has the seats 0 and 2; at the second one, 1 and 3.
    #[schema(value_type = Vec<SideRequest>, min_items = 2, max_items = 2)]
    sides: BoundedList<SideRequest, 2>,
    /// Who deals the first round at all tables; by default drawn from the shuffle seed of the pair.
    #[schema(maximum = 3)]
    first_dealer: Option<u8>,
    /// Minimum milliseconds between a change and a bot's next action; 250 by default, 0 if only bots
    /// play.
    #[schema(maximum = 60_000)]
    bot_pace_ms: Option<u32>,
    /// Whether people may react; true by default.
    reactions: Option<bool>,
    /// Seats still open this many seconds after the creation are given to bots. By default they
    /// stay open.
    #[schema(minimum = 1, maximum = 86_400)]
    bots_after_seconds: Option<u32>,
}

/// A side of a match: the two partners at each of its tables.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Red", "kind": "open"}))]
pub struct SideRequest {
    name: PlayerName,
    /// `open` for people and programs, who join with the invitations; or `bot`.
    kind: SeatKind,
    /// A bot's level; for an open side, how the server plays when the time is up; `fast` by default.
    level: Option<Level>,
}

/// The response to the creation of a match. Its secrets are shown only once.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "06zgrb0wmrqk9y7ttx2vbkhq1r", 
    "host_token": "4740ae6347b0172c01254ff55bae5aff5199f4446e7f6d643d40185b3f475145",
    "pairs": [{"commitment": "a7e130694166cdb95b1e1bbce3f21e4dbd63f46df42b48c5a1f8295033d57d04",
        "tables": [
        {"id": "1y51r0ztfn8hp2zw9f8m33tzg0", "invitations": [
            "0-a763422f72185749a9e91f79c269e315", null, "2-68992173a4b54c5f7908a6eb0f59cfdc", null]},
        {"id": "2k02ek5p4w9xq1tz6n8m33tzg1", "invitations": [
            null, "1-25e6c9b6be0fb773433c28fb74db32a0", null, "3-0b8f633cf0bdc817e053cc4f16061916"]}
    ]}]
}))]
pub struct CreatedMatch {
    #[schema(examples("06zgrb0wmrqk9y7ttx2vbkhq1r"))]
    id: String,
    /// The token with which the match can be ended.
    #[schema(value_type = String)]
    host_token: Secret,
    /// One entry per pair.
    #[schema(min_items = 1, max_items = 32)]
    pairs: Vec<CreatedPair>,
}

/// A pair of tables that play the same cards.
#[derive(Serialize, ToSchema)]
pub struct CreatedPair {
    /// SHA-256 of the shuffle seed of both tables, as 64 hex digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    commitment: String,
    #[schema(value_type = Vec<CreatedTable>, min_items = 2, max_items = 2)]
    tables: Vec<Box<RawValue>>,
}

/// A table of a match.
#[derive(Serialize, ToSchema)]
pub struct CreatedTable {
    /// The game's id.
    id: String,
    /// One entry per seat: the invitation to it; null for a bot.
    #[schema(value_type = Vec<Option<String>>, min_items = 4, max_items = 4)]
    invitations: Vec<Option<Secret>>,
}

/// A match to create.
struct MatchPlan {
    setup: MatchSetup,
    pairs: u32,
    /// The first table of a pair.
    table: NewTable,
}

impl CreateMatch {
    /// # Errors
    /// What is wrong with it, with the code of that error.
    fn plan(self) -> Result<MatchPlan, Problem> {
        let rules = checked_rules(self.rules)?;
        if rules.seats != 4 {
            let detail = "a match is played with four seats";
            return Err(Problem::wrong_combination(detail));
        }
        let pairs = in_range("pairs", self.pairs, 1, MAX_PAIRS)?.unwrap_or(1);
        let turn_seconds = in_range(
            "turn_seconds",
            Some(self.turn_seconds),
            MIN_TURN_SECONDS,
            MAX_TURN_SECONDS,
        )?;
        let BoundedList(sides) = self.sides;
        let sides: Vec<MatchSide> = (sides.into_iter().enumerate())
            .map(|(number, side)| side.checked(number))
            .collect::<Result<_, _>>()?;
        let sides: [MatchSide; 2] = sides
            .try_into()
            .map_err(|_| Problem::wrong_value("sides", "/sides must have 2 entries"))?;
        let seats = Seat::all(rules.seats).map(|seat| {
            let MatchSide { kind, level, .. } = sides[usize::from(seat.number()) % 2];
            SeatRequest {
                kind: Some(kind),
                level: Some(level),
                ..SeatRequest::default()
            }
        });
        let table = CreateGame {
            seats: Some(BoundedList(seats.collect())),
            first_dealer: self.first_dealer,
            reactions: self.reactions,
            bot_pace_ms: self.bot_pace_ms,
            turn_seconds,
            start: Some(StartPolicy::Full),
            bots_after_seconds: self.bots_after_seconds,
            ..CreateGame::default()
        };
        Ok(MatchPlan {
            table: table.table_by(rules.clone())?,
            setup: MatchSetup { rules, sides },
            pairs,
        })
    }
}

impl SideRequest {
    fn checked(self, number: usize) -> Result<MatchSide, Problem> {
        if self.kind == SeatKind::Human {
            let member = format!("sides/{number}/kind");
            let detail = format!("/{member} must be open or bot");
            return Err(Problem::wrong_value(&member, detail));
        }
        let name = self
            .name
            .checked(SeatKind::Bot, &format!("sides/{number}/name"))?;
        Ok(MatchSide {
            name,
            kind: self.kind,
            level: self.level.unwrap_or_default(),
        })
    }
}

impl MatchPlan {
    /// The table of the match with this number.
    fn table(&self, match_id: GameId, number: u32, seed: Seed) -> NewTable {
        let mut table = self.table.clone();
        table.setup.seed = seed;
        let players = &mut table.setup.players;
        players.rotate_left(number as usize % 2);
        for (seat, player) in Seat::all(self.setup.rules.seats).zip(players) {
            player.name = default_name(seat, player.kind);
        }
        table.match_table = Some(MatchTable {
            match_id,
            number,
            closed: false,
        });
        table
    }
}

/// Create a match.
///
/// Creates pairs of tables that play the same cards, with the sides changed, all or none, in one
/// write.
///
/// It counts as so many creations of games. From its first deal until both tables of its pair have
/// ended, a table is seen only by its own seats; all others get `match_running`. With an
/// `Idempotency-Key`, a retry gets the same response with the same secrets; the key must carry 128
/// random bits or more.
#[utoipa::path(post, path = "/v1/matches", tag = "matches",
    params(RetryHeaders),
    request_body = CreateMatch,
    responses((status = 201, description = "The match and its secrets.", body = CreatedMatch,
        headers(("Location" = String, description = "The match's path.")),
        links(
            ("get_match" = (operation_id = "get_match", parameters(("id" = "$response.body#/id")))),
            ("end_match" = (operation_id = "end_match",
                parameters(("id" = "$response.body#/id")))))),
        CreateErrors))]
pub async fn create_match(
    app: Data<App>,
    client: ClientAddress,
    limits: Data<LimitState>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let plan = request.body::<CreateMatch>().and_then(CreateMatch::plan);
    let limit = match &plan {
        Ok(plan) => limits.charge_more(client, Cost::NewGame, 2 * plan.pairs - 1, 0)?,
        Err(_) => None,
    };
    let creator = client.creator(&app.store);
    let mut response = create(&app.store, &request, || {
        let secrets = request.secrets()?;
        let plan = plan.as_ref().map_err(Clone::clone)?;
        let (id, host) = (GameId::random(), secrets.hash(Secret::Host));
        let (mut added, mut pairs, mut seeds) = (Vec::new(), Vec::new(), Vec::new());
        for pair in 0..plan.pairs {
            let seed = Seed::new(random_bytes());
            let mut tables = Vec::new();
            for number in [2 * pair, 2 * pair + 1] {
                let index = number as usize;
                let table = plan.table(id, number, seed.clone());
                let mut new = new_game(&table, creator, &secrets.of_game(index))?;
                new.game.tokens.host = Some(host);
                let invitation = |seat| {
                    let is_open = new.game.game.player(seat).is_open();
                    is_open.then_some(Secret::Invitation(Some(seat)))
                };
                let created = CreatedTable {
                    id: new.game.id.to_string(),
                    invitations: Seat::all(plan.setup.rules.seats).map(invitation).collect(),
                };
                tables.push(in_list(&created, index)?);
                added.push(new);
            }
            let commitment = seed.commitment();
            pairs.push(CreatedPair { commitment, tables });
            seeds.push(seed);
        }
        let body = CreatedMatch {
            id: id.to_string(),
            host_token: Secret::Host,
            pairs,
        };
        let answer = Answer::new(StatusCode::CREATED, &body)?
            .with_location(format_args!("/v1/matches/{id}"))
            .with_secrets(secrets);
        let new_match = NewMatch {
            id,
            created_at: now(),
            host,
            setup: plan.setup.clone(),
            seeds,
        };
        Ok(Decision::Change(
            WriteOp::Insert(added, Some(new_match)),
            answer,
        ))
    })
    .await?;
    announce(limit.as_ref(), response.headers_mut());
    Ok(response)
}
