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
    body::MessageBody,
    dev::{RequestHead, ServiceRequest, ServiceResponse},
    http::{StatusCode, header},
    middleware::Next,
    rt::time::sleep,
    web::Data,
};
use dog_rules::record::MAX_LENGTH;

pub use self::{
    address::{Address, ClientAddress},
    rates::Limits,
};
use self::{
    connections::Connection,
    rates::{RateKey, Rates},
};
use super::{
    problem::{Code, Problem},
    request::{IDEMPOTENCY_KEY, caller},
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

/// What a route costs its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Nothing: an operator asks for it all the time.
    Free,
    /// A request.
    Request,
    /// A request, and something that takes long to work out.
    Advice,
    /// A request, and a response that is kept for a retry if there is a key.
    Write,
    /// A write, and a new game.
    NewGame,
    /// A write, and a new game with its record.
    Import,
}

/// The limits of a server that runs, with what has been counted.
pub struct LimitState {
    pub limits: Limits,
    rates: Rates,
    /// Says who has created a game.
    store: Store,
}

impl LimitState {
    pub fn new(limits: Limits, store: Store) -> LimitState {
        LimitState {
            rates: Rates::new(&limits),
            limits,
            store,
        }
    }
}

/// Refuses what is beyond a limit, before anything is read of its body.
pub async fn guard(
    cost: Cost,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse, Error> {
    let counted = request.app_data::<Data<LimitState>>().cloned();
    let counted = counted.expect("every server has its limits");
    let admitted = match check_size(&request).and_then(|()| check_connection(&request)) {
        Ok(()) => charge(&request, cost, &counted).await,
        Err(problem) => Err(problem),
    };
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
            return Ok(request.into_response(problem.error_response()));
        }
    };
    let response = next.call(request).await?;
    let unknown = [StatusCode::UNAUTHORIZED, StatusCode::NOT_FOUND].contains(&response.status());
    if let (true, Some(payer)) = (unknown, payer) {
        counted.rates.forget(&payer);
    }
    Ok(response.map_into_boxed_body())
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
async fn charge(
    request: &ServiceRequest,
    cost: Cost,
    counted: &LimitState,
) -> Result<Option<RateKey>, Problem> {
    if cost == Cost::Free {
        return Ok(None);
    }
    let LimitState {
        limits,
        rates,
        store,
    } = counted;
    let header = limits.trusted_proxy_header.as_ref();
    let address = Address::of(request.peer_addr(), request.headers(), header);
    request.extensions_mut().insert(ClientAddress(address));
    let Some(address) = address else {
        return Ok(None);
    };
    let game = request.match_info().get("id");
    let payer = match (
        caller(request.headers()).token(),
        game.and_then(|id| id.parse().ok()),
    ) {
        (Some(token), Some(game)) => match rates.known_payer(game, token) {
            Some(payer) => payer,
            None => rates.learn(game, token, creator_of(store, &game, &token).await),
        },
        _ => RateKey::Address,
    };
    let own = || store.creator(&address.bytes());
    let charged = rates.charge(address, own, &payer, cost);
    charged.map_err(|wait| exceeded(cost.what(), wait))?;
    let charged = rates.charge_kept(address, kept(request.head(), cost));
    charged.map_err(|wait| exceeded(": bytes kept for this address", wait))?;
    Ok(Some(payer))
}

fn exceeded(what: &str, wait: Duration) -> Problem {
    let detail = format!("rate limit exceeded{what}");
    Problem::new(Code::TooManyRequests, detail).retry_after(wait)
}

impl Cost {
    /// What there was too much of, for the detail of a refusal.
    fn what(self) -> &'static str {
        match self {
            Cost::NewGame | Cost::Import => ": games created by this address",
            Cost::Advice => ": advice for this address",
            Cost::Free | Cost::Request | Cost::Write => "",
        }
    }
}

/// KiB that are kept at most because of a request, besides what an action adds to its game.
fn kept(head: &RequestHead, cost: Cost) -> u32 {
    let game = match cost {
        Cost::Free | Cost::Request | Cost::Advice => return 0,
        Cost::Write => 0,
        Cost::NewGame => KEPT_GAME,
        Cost::Import => {
            let length = head.headers.get(header::CONTENT_LENGTH);
            let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
            let length = length.map_or(MAX_RECORD, |length: usize| length.min(MAX_RECORD));
            let kib = length.div_ceil(1024) as u32;
            (3 * kib).min(KEPT_IMPORT).max(kib)
        }
    };
    let response = if head.headers.contains_key(&IDEMPOTENCY_KEY) {
        KEPT_RESPONSE
    } else {
        0
    };
    game + response
}

/// Who created the game, if that is known, provided that this is one of its tokens.
async fn creator_of(store: &Store, game: &GameId, token: &TokenHash) -> Option<Option<Creator>> {
    match store.head(game).await {
        Ok(head) => head
            .filter(|head| head.tokens.contains(token))
            .map(|head| head.creator),
        Err(error) => {
            log::debug!("a token is taken for unknown: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderName;

    use super::*;

    #[test]
    fn what_is_kept_is_the_longest_it_can_be() {
        let kept = |cost, headers: &[(HeaderName, &str)]| {
            let mut head = RequestHead::default();
            for (name, value) in headers {
                head.headers.insert(name.clone(), value.parse().unwrap());
            }
            kept(&head, cost)
        };
        let key = || (IDEMPOTENCY_KEY, "k");
        let length = |length| (header::CONTENT_LENGTH, length);
        assert_eq!(kept(Cost::NewGame, &[]), 16);
        assert_eq!(kept(Cost::NewGame, &[key()]), 24);
        assert_eq!(kept(Cost::Import, &[length("5000")]), 15);
        assert_eq!(kept(Cost::Import, &[length("1025"), key()]), 14);
        assert_eq!(kept(Cost::Import, &[length("300000")]), 512);
        assert_eq!(kept(Cost::Import, &[length("1048576")]), 1024);
        assert_eq!(kept(Cost::Import, &[]), 1152);
        assert_eq!(kept(Cost::Import, &[length("99999999999")]), 1152);
        assert_eq!(kept(Cost::Write, &[]), 0);
        assert_eq!(kept(Cost::Write, &[key()]), 8);
        assert_eq!(kept(Cost::Request, &[key()]), 0);
    }
}
