//! Ending a match.

use actix_web::{
    HttpResponse,
    http::StatusCode,
    web::{Data, Path},
};
use dog_store::WriteOp;
use serde::Deserialize;
use utoipa::ToSchema;

use super::result::{MatchPath, MatchView, load_match};
use crate::{
    access::{AccessError, NO_BEARER},
    api::{errors::errors, parameters::RetryHeaders},
    app::App,
    http::{answer::Answer, request::WriteRequest},
    problem::Problem,
    write::{Decision, MAX_ATTEMPTS, attempt},
};

errors! {
    EndErrors: [BODY, RETRY], [MatchNotFound, Unauthorized];
}

/// Ends a match. The body may be empty.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct EndMatch {}

/// End a match.
///
/// Ends the match; only its host may do so. Tables that have not ended are removed. Their pairs count
/// for nothing, and are not laid open. Complete pairs stay as they are.
#[utoipa::path(post, path = "/v1/matches/{id}/end", tag = "matches",
    params(MatchPath, RetryHeaders),
    request_body(content = EndMatch, description = "May be empty."),
    responses((status = 200, description = "The match.", body = MatchView),
        EndErrors),
    security(("token" = [])))]
pub async fn end_match(
    app: Data<App>,
    path: Path<MatchPath>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let load = async || {
        let stored = load_match(&app.store, &path.id).await?;
        let saved = app.store.load(None, request.scope()).await?.saved_response;
        Ok((stored, saved))
    };
    attempt(
        &app.store,
        &request,
        MAX_ATTEMPTS,
        load,
        |(stored, saved)| {
            match request.caller.token() {
                None => return Err(AccessError::NoToken.into()),
                Some(token) if token == stored.host => {}
                Some(token) if token == NO_BEARER => return Err(AccessError::NoBearer.into()),
                Some(_) => return Err(AccessError::UnknownToken.into()),
            }
            if let Some(answer) = request.first_answer(saved.as_ref())? {
                return Ok(Decision::Answer(answer));
            }
            let EndMatch {} = request.body()?;
            let mut view = MatchView::new(stored);
            view.ended = true;
            let answer = Answer::new(StatusCode::OK, &view)?;
            Ok(match (stored.ended, &request.retry) {
                (false, _) => Decision::Change(WriteOp::EndMatch(stored.id), answer),
                (true, Some(_)) => Decision::Change(WriteOp::SaveResponse, answer),
                (true, None) => Decision::Answer(answer),
            })
        },
    )
    .await
}
