//! The next game of the same people.

use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};
use dog_rules::{
    Action, Actor, BySeat, Game, Player, Seat, SeatKind, Seed, Setup,
    name::{checked, default_name, distinct},
};
use dog_store::{
    ClientData, Creator, Draft, NewGame, SeatData, Seating, StoreError, StoredGame, Tokens,
    WAIT_FOR_OTHERS, WriteOp, now,
};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    access::{AccessError, Caller, Role},
    api::{
        errors::errors,
        parameters::{BoundedList, GamePath, GameRequest, ReadHeaders, WriteHeaders},
    },
    app::App,
    http::{
        answer::Answer,
        content::send_state,
        json::to_json,
        request::{NoQuery, WriteRequest},
        secrets::random_bytes,
    },
    limits::ClientAddress,
    problem::Problem,
    rematch::{rematch_of, role_in, unique_key},
    view::game::Rematch,
    write::{Decision, GameWrite, MAX_ATTEMPTS, attempt, load_for_write},
};

errors! {
    AskRematchErrors: [READ, BODY, RETRY, CHANGE], [GameNotOver, TooManyChanges];
    RematchErrors: [READ], [InvalidRequest, NoRematch, StaleVersion];
}

/// Asks for a rematch. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RematchRequest, example = json!({"seats": [0, 2, 1, 3]}))]
pub struct RematchBody {
    /// The old seat of whoever sits at each new one; by default nobody moves. That of the first who
    /// asks counts.
    #[schema(value_type = Option<Vec<Seat>>, min_items = 4, max_items = 6)]
    seats: Option<BoundedList<u8>>,
}

/// Ask for a rematch.
///
/// Asks for the next game of the same people: the first who asks makes it, and the others get it.
///
/// It has the same rules, clock and tokens, and the next seat deals first. It begins when all
/// people have asked, or when the host deals, and not before one has asked. The seat of a person
/// who had left or was away is kept for the token: 60 seconds after the first request, or when the
/// host deals, a bot gets it, until the person takes it back.
#[utoipa::path(post, path = "/v1/games/{id}/rematch", tag = "seats",
    params(GamePath, WriteHeaders),
    request_body(content = RematchBody, description = "May be empty."),
    responses((status = 201, description = "The next game, which this request has made.", body = Rematch,
        headers(("ETag" = String, description = "The version of the next game as the caller sees it.")),
        links(
            ("get_game" = (operation_id = "get_game", parameters(("id" = "$response.body#/id")))),
            ("stream_events" = (operation_id = "stream_events",
                parameters(("id" = "$response.body#/id")))))),
        (status = 200, description = "The next game, which was made before.", body = Rematch),
        AskRematchErrors),
    security(("token" = [])))]
pub async fn ask_rematch(
    app: Data<App>,
    path: Path<GamePath>,
    client: ClientAddress,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let creator = client.creator(&app.store);
    let load_old = load_for_write(&app.store, &path.id, &request)?;
    let load = async || {
        let old = load_old().await?;
        let next = match &old.game {
            Some(old) => rematch_of(&app.store, &old.id).await?,
            None => None,
        };
        Ok((old, next))
    };
    attempt(&app.store, &request, MAX_ATTEMPTS, load, |(old, next)| {
        let old = GameWrite::new(old, &request)?;
        let role = old.role()?;
        let asker = match role {
            Role::Seat(seat) => Some(seat),
            Role::Host => None,
            Role::Spectator => return Err(AccessError::NoToken.into()),
        };
        if let Some(answer) = old.first_answer()? {
            return Ok(answer);
        }
        // The client does not know the next game, so `If-None-Match` does not count.
        request.check_version(old.stored, role)?;
        if !old.stored.is_laid_open() {
            return Err(AccessError::GameNotOver.into());
        }
        let order = order(&old.stored.game, old.body::<RematchBody>()?.seats)?;
        let Some(next) = next else {
            let mut new = new_game(&old, &order, asker, creator)?;
            new.unique_key = Some(unique_key(&old.id));
            new.follows = Some((old.id, old.stored.game.version()));
            let answer = answer(StatusCode::CREATED, &new.game, request.caller)?;
            return Ok(Decision::Change(new.into(), answer));
        };
        match role_in(next, request.caller) {
            Role::Seat(seat) if next.game.awaits_confirmation(seat) => {
                let draft = Draft::new(next, &Action::AskRematch { seat }, Actor::Player)?;
                let answer = answer(StatusCode::OK, &draft.next, request.caller)?;
                Ok(Decision::Change(draft.into(), answer))
            }
            _ => {
                let answer = answer(StatusCode::OK, next, request.caller)?;
                Ok(match request.retry {
                    Some(_) => Decision::Change(WriteOp::SaveResponse, answer),
                    None => Decision::Answer(answer),
                })
            }
        }
    })
    .await
}

/// The answer with the next game, as this caller may see it.
fn answer(status: StatusCode, next: &StoredGame, caller: Caller) -> Result<Answer, Problem> {
    let role = role_in(next, caller);
    Ok(Answer::new(status, &Rematch::new(next, role))?.with_etag(next, role))
}

/// The old seat of each new one.
///
/// # Errors
/// `invalid_request`, if they are not a permutation of the seats.
fn order(old: &Game, seats: Option<BoundedList<u8>>) -> Result<Vec<Seat>, Problem> {
    let all = old.rules().seats;
    let Some(BoundedList(numbers)) = seats else {
        return Ok(Seat::all(all).collect());
    };
    let order: Option<Vec<Seat>> = numbers.iter().map(|&seat| Seat::new(seat, all)).collect();
    order
        .filter(|order| order.len() == usize::from(all))
        .filter(|order| Seat::all(all).all(|seat| order.contains(&seat)))
        .ok_or_else(|| {
            let detail = "/seats must name each seat of the game once";
            Problem::wrong_value("seats", detail)
        })
}

/// The next game: the same rules, people and tokens, with the seats in this order. It waits for all
/// people but the one who asks for it. The seats of those who had left or were away are bots' that
/// are kept for them.
fn new_game(
    old: &StoredGame,
    order: &[Seat],
    asker: Option<Seat>,
    creator: Option<Creator>,
) -> Result<NewGame, StoreError> {
    let rules = old.game.rules().clone();
    let mut tokens = Tokens {
        // The host of a match is not the host of its tables.
        host: old.tokens.host.filter(|_| old.table.is_none()),
        seats: BySeat::default(),
    };
    let mut seating = Seating {
        join: old.seating.join,
        start: old.seating.start,
        ..Seating::default()
    };
    let mut data = ClientData {
        game: old.data.game.clone(),
        ..ClientData::default()
    };
    let (mut players, mut must_confirm) = (Vec::<Player>::new(), Vec::new());
    let mut is_timed = tokens.host.is_none();
    for (seat, &from) in Seat::all(rules.seats).zip(order) {
        let player = old.game.player(from);
        let kind = match (player.kind, old.tokens.seats[from]) {
            // Nobody has a token of a seat of an imported game.
            (SeatKind::Human, None) => SeatKind::Open,
            (SeatKind::Bot | SeatKind::Open, None) => SeatKind::Bot,
            (_, token) => {
                tokens.seats[seat] = token;
                let text = old.data.of_seat(&old.game, from).map(str::to_owned);
                data.seats[seat] = text.map(|text| SeatData { person: 0, text });
                seating.seats[seat].joined = old.seating.seats[from].joined;
                let left = !player.is_human() || old.game.is_away(from);
                if asker == Some(from) {
                    SeatKind::Human
                } else {
                    must_confirm.push(seat);
                    is_timed |= left;
                    if left { SeatKind::Bot } else { SeatKind::Human }
                }
            }
        };
        // Old and imported games may have names that nobody can have now.
        let named_as = match tokens.seats[seat] {
            Some(_) => SeatKind::Human,
            None => kind,
        };
        let name = checked(&player.name, named_as).unwrap_or_else(|_| default_name(seat, named_as));
        let name = distinct(&name, players.iter().map(|other| other.name.as_str()));
        players.push(Player {
            name,
            kind,
            level: player.level,
        });
    }
    seating.bots_at = is_timed.then(|| now() + WAIT_FOR_OTHERS);
    let game = Game::new(Setup {
        first_dealer: Some(old.game.first_dealer().next(rules.seats)),
        rules,
        players,
        seed: Seed::new(random_bytes()),
        seed_given: false,
        must_confirm,
    });
    let event = game.last_event().clone();
    let stored = StoredGame {
        reactions: old.reactions,
        tokens,
        seating: seating.into(),
        data: data.into(),
        timing: old.timing,
        ..StoredGame::new(game, old.listed, creator)
    };
    NewGame::created(stored, &event)
}

/// Find the rematch.
///
/// The next game of the same people, if somebody has asked for it.
///
/// A token of the finished game is valid in the next game too, unless it was renewed in one of
/// them.
#[utoipa::path(get, path = "/v1/games/{id}/rematch", tag = "seats",
    params(GamePath,
        ReadHeaders),
    responses((status = 200, description = "The next game.", body = Rematch,
        headers(("ETag" = String, description = "The version of the next game as the caller sees it.")),
        links(
            ("get_game" = (operation_id = "get_game", parameters(("id" = "$response.body#/id")))),
            ("stream_events" = (operation_id = "stream_events",
                parameters(("id" = "$response.body#/id")))))),
        (status = 304, description = "The next game is still the one of If-None-Match."),
        RematchErrors),
    security((), ("token" = [])))]
pub async fn get_rematch(read: GameRequest) -> Result<HttpResponse, Problem> {
    let (stored, _) = read.game().await?;
    let NoQuery {} = read.query()?;
    let next = rematch_of(&read.app.store, &stored.id).await?;
    let next = next.ok_or(AccessError::NoRematch)?;
    let role = role_in(&next, read.caller);
    send_state(&read.request, &next, role, false, || {
        Ok(to_json(&Rematch::new(&next, role))?.into())
    })
}
