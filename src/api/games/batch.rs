//! Creating many games at once.

use actix_web::{HttpResponse, http::StatusCode, web::Data};
use dog_store::WriteOp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::create::{CreateErrors, CreateGame, NewAccess, NewTable, new_game};
use crate::{
    api::parameters::{BoundedList, InnerBody, RetryHeaders},
    app::App,
    http::{
        answer::Answer,
        request::{BodyContent, LongWrite, MAX_LIST_BODY},
        secrets::in_list,
    },
    limits::{ClientAddress, Cost, LimitState},
    problem::{Problem, announce::announce},
    write::{Decision, create},
};

/// Maximum number of games of a batch.
const MAX_GAMES: usize = 16;

/// Creates many games, all or none.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"games": [{"data": {"table": 1}}, {"data": {"table": 2}}]}))]
pub struct CreateGames {
    /// What `POST /v1/games` takes, for each.
    #[schema(value_type = Vec<CreateGame>, min_items = 1, max_items = 16)]
    games: BoundedList<InnerBody, MAX_GAMES>,
}

impl CreateGames {
    fn tables(self) -> Result<Vec<NewTable>, Problem> {
        let games = self.games.not_empty("games")?.into_iter().enumerate();
        let tables = games.map(|(index, game)| {
            let table = game.read().and_then(CreateGame::table);
            table.map_err(|problem| problem.within(&format!("/games/{index}")))
        });
        tables.collect()
    }
}

/// The response to the creation of many games, in their order. The tokens are shown only once.
#[derive(Serialize, ToSchema)]
pub struct CreatedGames {
    #[schema(value_type = Vec<CreatedInBatch>)]
    games: Vec<Box<RawValue>>,
}

/// A game of a batch.
#[derive(Serialize, ToSchema)]
pub struct CreatedInBatch {
    #[serde(flatten)]
    access: NewAccess,
    /// SHA-256 of the shuffle seed, as 64 hex digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shuffle_commitment: String,
}

/// Create many games.
///
/// Creates up to 16 games, all or none, in one write.
///
/// It counts as so many creations. A pointer in an error begins with the game, such as `/games/3`.
/// With an `Idempotency-Key`, a retry gets the same response with the same tokens; the key must
/// carry 128 random bits or more.
#[utoipa::path(post, path = "/v1/games/batch", tag = "games",
    params(RetryHeaders),
    request_body = CreateGames,
    responses((status = 201, description = "The games and their tokens.", body = CreatedGames),
        CreateErrors))]
pub async fn create_games(
    app: Data<App>,
    client: ClientAddress,
    limits: Data<LimitState>,
    LongWrite(request): LongWrite<MAX_LIST_BODY, false>,
) -> Result<HttpResponse, Problem> {
    let tables = match request.content() {
        // It may be too long for an async worker.
        Ok(content) => {
            let read = |content: &BodyContent| content.parse::<CreateGames>()?.tables();
            content.read_with(read).await
        }
        Err(problem) => Err(problem),
    };
    let limit = match &tables {
        Ok(tables) => {
            let kib = tables.iter().map(NewTable::data_kib).sum();
            limits.charge_more(client, Cost::NewGame, tables.len() as u32 - 1, kib)?
        }
        Err(_) => None,
    };
    let creator = client.creator(&app.store);
    let mut response = create(&app.store, &request, || {
        let secrets = request.secrets()?;
        let (mut added, mut games) = (Vec::new(), Vec::new());
        for (index, table) in tables.as_ref().map_err(Clone::clone)?.iter().enumerate() {
            let new = new_game(table, creator, &secrets.of_game(index))?;
            let body = CreatedInBatch {
                access: NewAccess::new(&new.game),
                shuffle_commitment: new.game.game.commitment(),
            };
            games.push(in_list(&body, index)?);
            added.push(new);
        }
        let answer = Answer::new(StatusCode::CREATED, &CreatedGames { games })?;
        let answer = answer.with_secrets(secrets);
        Ok(Decision::Change(WriteOp::Insert(added, None), answer))
    })
    .await?;
    announce(limit.as_ref(), response.headers_mut());
    Ok(response)
}
