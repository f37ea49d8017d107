//! Fresh tokens for seats.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use dog_rules::event::Action;

use super::{find, find_seat};
use crate::{
    api::{
        App,
        answer::{self, Answer, Memory, TokenMaker, random},
        problem::{Code, Problem},
        request::WriteRequest,
        wire::{
            game::{FreshToken, Role},
            request::TokenRequest,
        },
    },
    store::{Draft, TokenHash},
};

/// Gives the seat a fresh token; the old one dies.
///
/// Whoever was sent a token makes it their own in this way. By the host it is a public event.
#[utoipa::path(post, path = "/v1/games/{id}/seats/{seat}/token", operation_id = "reissue_token", tag = "games",
    params(("id" = String, Path, description = "The game's id."),
        ("seat" = u8, Path, description = "The seat's number.")),
    request_body(content = TokenRequest, description = "May be empty."),
    responses((status = 200, description = "The fresh token, shown this once.", body = FreshToken)),
    security(("token" = [])))]
pub async fn reissue_token(
    app: Data<App>,
    path: Path<(String, String)>,
    request: WriteRequest,
) -> Result<HttpResponse, Problem> {
    let (id, number) = path.into_inner();
    let answer = app
        .store
        .write(move |transaction| -> Result<Answer, Problem> {
            let mut record = find(transaction, &id)?;
            let seat = find_seat(&record, &number)?;
            let role = match request.caller.known_role(&record) {
                Ok(role) => role,
                // The seat's own retry comes with the token that its first try has killed.
                Err(unknown) => return request.replay(transaction)?.ok_or(unknown),
            };
            if role != Role::Host && role != Role::Seat(seat) {
                let detail = "only the seat itself and the host reissue its token";
                return Err(Problem::new(Code::Forbidden, detail));
            }
            if let Some(answer) = request.replay(transaction)? {
                return Ok(answer);
            }
            request.check_version(record.game.version(), role)?;
            if record.game.player(seat).bot {
                // Its holder could see a hand that nobody is to see.
                let detail = format!("a bot plays {seat}: hand it to a human first");
                return Err(Problem::new(Code::NoHuman, detail));
            }
            record.check_table_change()?;
            request.content::<TokenRequest>()?;
            let salt = random();
            let tokens = TokenMaker::new(request.key(), &salt)?;
            let fresh = Some(TokenHash::of(&tokens.seat(seat)));
            if role == Role::Host {
                let mut draft = Draft::new(&record, &Action::ReissueToken { seat })?;
                draft.record.tokens.seats[seat] = fresh;
                transaction.keep(&draft)?;
                record = draft.record;
            } else {
                record.tokens.seats[seat] = fresh;
                transaction.set_tokens(&record.id, &record.tokens)?;
            }
            let version = record.game.version();
            request.remember(transaction, || Memory::FreshToken {
                seat,
                version,
                salt,
            })?;
            answer::fresh_token(seat, version, &tokens)
        });
    Ok(answer.await?.into())
}
