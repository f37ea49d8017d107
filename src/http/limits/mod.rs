//! What a client may ask of the server, and how much of it: looked at before anything else is.
//!
//! [`guard`] refuses what is too large, what comes over a connection beyond the limit, and whoever
//! asks too often. [`connections`] and [`io`] bound what a connection holds, [`memory`] what
//! all large bodies hold.

mod address;
pub mod connections;
pub mod framing;
pub mod io;
pub mod memory;
mod rates;

use std::{rc::Rc, time::Duration};

use actix_web::{
    Error, HttpMessage, ResponseError,
    body::{BoxBody, EitherBody, MessageBody},
    dev::{RequestHead, ServiceRequest, ServiceResponse},
    http::{Method, StatusCode, header},
    middleware::Next,
    rt::time::sleep,
    web::Data,
};
use dog_rules::record::MAX_LENGTH;

pub use self::{
    address::{Address, Client},
    rates::Limits,
};
use self::{
    connections::Connection,
    rates::{Asked, Payer, Rates},
};
use super::{
    caller::{Caller, IDEMPOTENCY_KEY},
    problem::{Code, Problem},
};
use crate::store::{Creator, GameId, Store, TokenHash};

/// Bytes of a body that holds a game's record at most: a text may become longer in JSON.
pub const MAX_RECORD: usize = MAX_LENGTH + MAX_LENGTH / 8;

/// Bytes of a path with its query at most.
const MAX_URI: usize = 8 * 1024;

/// Bytes of all headers together at most.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// Headers at most.
const MAX_HEADERS: usize = 64;

/// KiB that are kept of a new game.
const KEPT_GAME: u32 = 16;

/// KiB that are kept of an import of 10,000 versions, if its names are few. A packed log is less
/// than three times as long as its record.
const KEPT_IMPORT: u32 = 512;

/// KiB that are kept of a response for a retry.
const KEPT_RESPONSE: u32 = 8;

/// Paths by which an operator looks at the server; they are asked for all the time.
const FREE: [&str; 2] = ["/healthz", "/readyz"];

/// The limits of a server that runs, with what has been counted.
pub struct Counted {
    pub limits: Limits,
    rates: Rates,
    /// Says who has created a game.
    store: Store,
}

impl Counted {
    pub fn new(limits: Limits, store: Store) -> Counted {
        Counted {
            rates: Rates::new(&limits),
            limits,
            store,
        }
    }
}

/// Refuses what is beyond a limit, before anything is read of its body.
pub async fn guard<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    let counted = request.app_data::<Data<Counted>>().cloned();
    let counted = counted.expect("every server has its limits");
    let admitted = check_size(&request)
        .and_then(|()| check_connection(&request))
        .and_then(|()| charge(&request, &counted));
    let refusal = admitted.as_ref().err().map(Problem::code);
    let too_often = refusal == Some(Code::TooManyRequests);
    let connection = request.conn_data::<Rc<Connection>>();
    let delay = connection.map(|connection| connection.refusal_delay(too_often));
    let payer = match admitted {
        Ok(payer) => payer,
        Err(problem) => {
            if let Some(delay) = delay.filter(|delay| !delay.is_zero()) {
                sleep(delay).await;
            }
            let refusal = problem.error_response();
            return Ok(request.into_response(refusal).map_into_right_body());
        }
    };
    let response = next.call(request).await?;
    let unknown = [StatusCode::UNAUTHORIZED, StatusCode::NOT_FOUND].contains(&response.status());
    if let (true, Some(payer)) = (unknown, payer) {
        counted.rates.forget(&payer);
    }
    Ok(response.map_into_left_body())
}

fn check_size(request: &ServiceRequest) -> Result<(), Problem> {
    let uri = request.uri();
    let length = uri.path().len() + uri.query().map_or(0, str::len);
    if length > MAX_URI {
        return Err(Code::UriTooLong.into());
    }
    let headers = request.headers();
    let bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if headers.len() > MAX_HEADERS || bytes > MAX_HEADER_BYTES {
        return Err(Code::HeadersTooLarge.into());
    }
    Ok(())
}

fn check_connection(request: &ServiceRequest) -> Result<(), Problem> {
    match request.conn_data::<Rc<Connection>>() {
        Some(connection) if connection.over_limit => {
            Err(Problem::new(Code::Unavailable, "too many connections are open").and_close())
        }
        _ => Ok(()),
    }
}

/// Counts a request for whoever has to answer for it; says who that is, if anybody.
fn charge(request: &ServiceRequest, counted: &Counted) -> Result<Option<Payer>, Problem> {
    let Counted {
        limits,
        rates,
        store,
    } = counted;
    // Decoded, as the routes see it: "/v1/%67ames" is no way round.
    let path = request.match_info().as_str();
    if FREE.contains(&path) {
        return Ok(None);
    }
    let header = limits.trusted_proxy_header.as_ref();
    let address = Address::of(request.peer_addr(), request.headers(), header);
    request.extensions_mut().insert(Client(address));
    let Some(address) = address else {
        return Ok(None);
    };
    let presented = Caller::of(request.headers()).token();
    let payer = match (presented, game_of(path)) {
        (Some(token), Some(game)) => rates.payer(game, token, || creator_of(store, &game, &token)),
        _ => Payer::Address,
    };
    let asked = asked(request.method(), path);
    let own = || store.creator(&address.bytes());
    let charged = rates.charge(address, own, &payer, asked);
    charged.map_err(|wait| exceeded(asked.what(), wait))?;
    let charged = rates.charge_kept(address, kept(request.head(), path));
    charged.map_err(|wait| exceeded(": bytes kept for this address", wait))?;
    Ok(Some(payer))
}

fn exceeded(what: &str, wait: Duration) -> Problem {
    let detail = format!("rate limit exceeded{what}");
    Problem::new(Code::TooManyRequests, detail).retry_after(wait)
}

/// KiB that are kept at most because of a request, besides what an action adds to its game.
fn kept(head: &RequestHead, path: &str) -> u32 {
    if !path.starts_with("/v1/games") || head.method.is_safe() {
        return 0;
    }
    let game = match path {
        "/v1/games" => KEPT_GAME,
        "/v1/games/import" => {
            let length = head.headers.get(header::CONTENT_LENGTH);
            let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
            let length = length.map_or(MAX_RECORD, |length: usize| length.min(MAX_RECORD));
            let kib = length.div_ceil(1024) as u32;
            (3 * kib).min(KEPT_IMPORT).max(kib)
        }
        _ => 0,
    };
    let response = if head.headers.contains_key(&IDEMPOTENCY_KEY) {
        KEPT_RESPONSE
    } else {
        0
    };
    game + response
}

/// What counts besides the request itself.
fn asked(method: &Method, path: &str) -> Asked {
    let advice = path.starts_with("/v1/analysis/")
        || (path.starts_with("/v1/games/") && path.ends_with("/suggest-move"));
    match path {
        "/v1/games" | "/v1/games/import" if method == Method::POST => Asked::Game,
        _ if advice => Asked::Advice,
        _ => Asked::Other,
    }
}

/// The game that a path is about.
fn game_of(path: &str) -> Option<GameId> {
    let rest = path.strip_prefix("/v1/games/")?;
    rest.split('/').next()?.parse().ok()
}

/// Who created the game, if that is known, provided that this is one of its tokens.
fn creator_of(store: &Store, game: &GameId, token: &TokenHash) -> Option<Option<Creator>> {
    match store.read(|reader| reader.standing(game)) {
        Ok(standing) => standing
            .filter(|standing| standing.tokens.hold(token))
            .map(|standing| standing.creator),
        Err(error) => {
            log::debug!("a token is taken for unknown: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use actix_web::http::header::HeaderName;

    use super::*;

    #[test]
    fn what_is_kept_is_the_longest_it_can_be() {
        let head = |method: Method, headers: &[(HeaderName, &str)]| {
            let mut head = RequestHead::default();
            head.method = method;
            for (name, value) in headers {
                head.headers.insert(name.clone(), value.parse().unwrap());
            }
            head
        };
        let (key, length) = ((IDEMPOTENCY_KEY, "k"), |length| {
            (header::CONTENT_LENGTH, length)
        });
        let (post, import) = (
            |headers: &[_]| head(Method::POST, headers),
            "/v1/games/import",
        );
        assert_eq!(kept(&post(&[]), "/v1/games"), 16);
        assert_eq!(kept(&post(slice::from_ref(&key)), "/v1/games"), 24);
        assert_eq!(kept(&post(&[length("5000")]), import), 15);
        assert_eq!(kept(&post(&[length("1025"), key.clone()]), import), 14);
        assert_eq!(kept(&post(&[length("300000")]), import), 512);
        assert_eq!(kept(&post(&[length("1048576")]), import), 1024);
        assert_eq!(kept(&post(&[]), import), 1152);
        assert_eq!(kept(&post(&[length("99999999999")]), import), 1152);
        assert_eq!(kept(&post(&[]), "/v1/games/x/play"), 0);
        assert_eq!(kept(&post(slice::from_ref(&key)), "/v1/games/x/play"), 8);
        let delete = head(Method::DELETE, slice::from_ref(&key));
        assert_eq!(kept(&delete, "/v1/games/x"), 8);
        assert_eq!(kept(&head(Method::GET, &[key]), "/v1/games"), 0);
    }

    #[test]
    fn what_a_path_asks_for_is_seen() {
        let (get, post) = (Method::GET, Method::POST);
        assert_eq!(asked(&post, "/v1/games"), Asked::Game);
        assert_eq!(asked(&post, "/v1/games/import"), Asked::Game);
        assert_eq!(asked(&get, "/v1/games"), Asked::Other);
        assert_eq!(asked(&post, "/v1/analysis/suggest-move"), Asked::Advice);
        let id = GameId::random();
        let path = |rest| format!("/v1/games/{id}{rest}");
        assert_eq!(asked(&get, &path("/suggest-move")), Asked::Advice);
        assert_eq!(asked(&post, &path("/play")), Asked::Other);
        assert_eq!(game_of(&path("/play")), Some(id));
        assert_eq!(game_of(&path("")), Some(id));
        assert_eq!(game_of("/v1/games/import"), None);
        assert_eq!(game_of("/v1/rules"), None);
    }
}
