//! Refuses requests that are too large or too frequent, and those over a connection beyond the
//! limit.

use std::{
    net::{IpAddr, SocketAddr},
    rc::Rc,
    sync::{Arc, Once},
};

use actix_web::{
    Error, HttpMessage, ResponseError,
    body::MessageBody,
    dev::{RequestHead, ServiceRequest, ServiceResponse},
    http::{
        Method, StatusCode,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
    rt::time::sleep,
    web::Data,
};
use dog_rules::record::MAX_LENGTH;
use dog_store::{GameId, Store, TokenHash};

use super::{
    address::{Address, ClientAddress, is_forwarded},
    connections::Connection,
    gates::Gates,
    rates::{Cost, Limits, RateKey, Rates},
};
use crate::{
    headers::{
        IDEMPOTENCY_KEY,
        origin::{Cors, host},
        token::{TOKEN_HEADERS, caller},
    },
    problem::{Code, Problem, announce::announce},
    quota::{CreatorQuotas, RateLimit},
};

/// Maximum bytes of a body with a game's record, which may be longer in JSON than as text.
pub const MAX_RECORD: usize = MAX_LENGTH + MAX_LENGTH / 8;

/// Maximum bytes of a path with its query.
const MAX_URI: usize = 8 * 1024;

/// Maximum bytes of all headers.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// Maximum number of headers.
const MAX_HEADERS: usize = 64;

/// KiB stored for a new game.
const STORAGE_KIB_GAME: u32 = 16;

/// KiB stored for an import of 10,000 versions with few names. A packed log is less than three
/// times as long as its record.
const STORAGE_KIB_IMPORT: u32 = 512;

/// KiB stored for the response to a retry.
const STORAGE_KIB_RESPONSE: u32 = 8;

/// The limits of a running server, with the present counts.
pub struct LimitState {
    pub limits: Limits,
    cors: Cors,
    rates: Rates,
    gates: Gates,
    /// Knows the creators of games.
    store: Store,
    /// The log says once that a proxy is there which is not trusted.
    proxy_warning: Once,
}

impl LimitState {
    pub fn new(
        limits: Limits,
        cors: Cors,
        gates: Gates,
        store: Store,
        creators: Arc<CreatorQuotas>,
    ) -> LimitState {
        LimitState {
            rates: Rates::new(&limits, creators),
            cors,
            gates,
            limits,
            store,
            proxy_warning: Once::new(),
        }
    }

    /// The address of a request; none if it has no limits by address.
    fn address(&self, request: &ServiceRequest) -> Option<Address> {
        let (peer, head) = (request.peer_addr(), request.head());
        let trusted = self.limits.trusted_proxy_header.as_ref();
        if trusted.is_none() && is_forwarded(head.headers()) {
            self.proxy_warning.call_once(|| {
                log::warn!(
                    "requests come through a proxy, and no --trusted-proxy-header is set: limits by \
                     address count all its clients as one, or not at all if it is on this machine"
                );
            });
        }
        let address = Address::from_head(peer, head.headers(), trusted);
        // Pages of other sites must not use what is for programs on this machine.
        address.or_else(|| self.cors.is_foreign(head).then_some(Address::FOREIGN_PAGES))
    }

    /// The address of a request, if it is to be logged: the /64 of one of IPv6.
    pub fn address_to_log(&self, peer: Option<SocketAddr>, headers: &HeaderMap) -> Option<IpAddr> {
        if !self.limits.log_client_address {
            return None;
        }
        let trusted = self.limits.trusted_proxy_header.as_ref();
        match Address::from_head(peer, headers, trusted) {
            Some(Address::Known(address)) => Some(address),
            Some(Address::Unreadable) => None,
            None => Some(peer?.ip()),
        }
    }

    /// Charges what a request turned out to cost when its body was read, besides what its route
    /// costs: so many more of that, and KiB that are stored. Returns the limit to announce.
    ///
    /// # Errors
    /// The refusal, if it is over a limit.
    pub fn charge_more(
        &self,
        ClientAddress(address): ClientAddress,
        cost: Cost,
        count: u32,
        kib: u32,
    ) -> Result<Option<RateLimit>, Problem> {
        let Some(address) = address else {
            return Ok(None);
        };
        let creator = |address: Address| self.store.creator(&address.bytes());
        let limit = self.rates.charge(address, creator, None, cost, count);
        let limit = limit.map_err(|limit| cost.exceeds(limit))?;
        let kib = match cost {
            Cost::NewGame => kib + count * STORAGE_KIB_GAME,
            _ => kib,
        };
        let stored = self.rates.charge_storage(address, creator, kib);
        stored.map_err(exceeds_storage)?;
        Ok(limit)
    }

    /// To what requests with this token are charged; none if it is not one of the game's.
    async fn key(&self, game: GameId, token: TokenHash) -> Option<RateKey> {
        if let Some(key) = self.rates.cached_key(game, token) {
            return Some(key);
        }
        let head = self.store.head(&game).await.unwrap_or_else(|error| {
            log::debug!("cannot look up a token: {error}");
            None
        });
        let head = head.filter(|head| head.tokens.contains(&token))?;
        let key = RateKey {
            game,
            token,
            creator: head.creator.filter(|_| !head.has_joined(&token)),
        };
        self.rates.remember(key);
        Some(key)
    }
}

/// Refuses a request beyond a limit, or without the key that it needs, before its body is read.
pub async fn guard(
    cost: Cost,
    needs_key: bool,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse, Error> {
    let state = request.app_data::<Data<LimitState>>().cloned();
    let state = state.expect("every server has its limits");
    state.gates.take_operator_key(&mut request);
    let checked = check_head(&request, &state.cors);
    let checked = match needs_key {
        true => checked.and_then(|()| state.gates.check_key(request.headers())),
        false => checked,
    };
    // What is refused is charged, too, as a request.
    let cost = if checked.is_ok() { cost } else { Cost::Request };
    let charged = charge(&request, cost, &state).await;
    let admitted = charged.and_then(|charge| checked.map(|()| charge));
    let too_often = matches!(&admitted, Err(refusal) if refusal.code() == Code::TooManyRequests);
    let connection = request.conn_data::<Rc<Connection>>();
    // Neither what costs nothing nor another refusal ends a row of refusals.
    let counted = connection.filter(|_| too_often || admitted.is_ok() && cost != Cost::Free);
    let delay = counted.map(|connection| connection.refusal_delay(too_often));
    let RateCharge { key, limit } = match admitted {
        Ok(charge) => charge,
        Err(refusal) => {
            if let Some(delay) = delay.filter(|delay| !delay.is_zero()) {
                sleep(delay).await;
            }
            return Ok(request.into_response(refusal.error_response()));
        }
    };
    let mut response = next.call(request).await?;
    let unknown = [StatusCode::UNAUTHORIZED, StatusCode::NOT_FOUND].contains(&response.status());
    if let (true, Some(key)) = (unknown, key) {
        state.rates.forget(key);
    }
    announce(limit.as_ref(), response.headers_mut());
    if needs_key && state.gates.are_closed() {
        make_private(response.headers_mut());
    }
    Ok(response.map_into_boxed_body())
}

/// Refuses a preflight beyond a limit. CORS answers it before it reaches a route with its guard.
pub async fn guard_preflight(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse, Error> {
    let asks = header::ACCESS_CONTROL_REQUEST_METHOD;
    if request.method() == Method::OPTIONS && request.headers().contains_key(asks) {
        return guard(Cost::Request, false, request, next).await;
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

/// No cache that others read may keep what not everybody may ask for.
fn make_private(headers: &mut HeaderMap) {
    if let Some(control) = headers.get_mut(header::CACHE_CONTROL)
        && let Some(rest) = control
            .to_str()
            .ok()
            .and_then(|text| text.strip_prefix("public"))
        && let Ok(private) = HeaderValue::try_from(format!("private{rest}"))
    {
        *control = private;
    }
}

/// To what a request was charged; nothing if it is not limited.
#[derive(Default)]
struct RateCharge {
    key: Option<RateKey>,
    /// The limit to announce.
    limit: Option<RateLimit>,
}

fn check_head(request: &ServiceRequest, cors: &Cors) -> Result<(), Problem> {
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
    let is_twice = |name: &&HeaderName| headers.get_all(*name).nth(1).is_some();
    if let Some(name) = TOKEN_HEADERS.iter().find(is_twice) {
        let detail = format!("there is more than one {name} header");
        return Err(Problem::new(Code::BadRequest, detail));
    }
    host(request.head())?;
    if cors.refuses(request.head()) {
        return Err(Code::OriginNotAllowed.into());
    }
    Ok(())
}

/// Charges a request.
///
/// # Errors
/// The refusal, if it is over a limit or comes over a connection beyond the limit.
async fn charge(
    request: &ServiceRequest,
    cost: Cost,
    state: &LimitState,
) -> Result<RateCharge, Problem> {
    let connection = request.conn_data::<Rc<Connection>>();
    if connection.is_some_and(|connection| connection.over_limit) {
        let problem = Problem::new(Code::Unavailable, "too many connections are open");
        return Err(problem.and_close());
    }
    if cost == Cost::Free {
        return Ok(RateCharge::default());
    }
    let LimitState { rates, store, .. } = state;
    let address = state.address(request);
    request.extensions_mut().insert(ClientAddress(address));
    let Some(address) = address else {
        return Ok(RateCharge::default());
    };
    let gate = state.gates.check_address(address, cost);
    // What is refused is charged, too, as a request.
    let cost = if gate.is_ok() { cost } else { Cost::Request };
    let token = caller(request.headers()).token();
    let game = request
        .match_info()
        .get("id")
        .and_then(|id| id.parse().ok());
    let key = match game.zip(token) {
        Some((game, token)) => state.key(game, token).await,
        None => None,
    };
    let creator = |address: Address| store.creator(&address.bytes());
    let limit = rates
        .charge(address, creator, key, cost, 1)
        .map_err(|limit| cost.exceeds(limit))?;
    gate?;
    let stored = rates.charge_storage(address, creator, storage_kib(request.head(), cost));
    stored.map_err(exceeds_storage)?;
    Ok(RateCharge { key, limit })
}

fn exceeds_storage(limit: RateLimit) -> Problem {
    Problem::too_many("rate limit exceeded: bytes stored for this address", limit)
}

/// Maximum KiB stored for a request, besides what an action adds to its game.
fn storage_kib(head: &RequestHead, cost: Cost) -> u32 {
    let game = match cost {
        Cost::Free | Cost::Request | Cost::Advice => return 0,
        Cost::Write | Cost::Join => 0,
        Cost::NewGame => STORAGE_KIB_GAME,
        Cost::Import => {
            let length = head.headers.get(header::CONTENT_LENGTH);
            let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
            let length = length.map_or(MAX_RECORD, |length: usize| length.min(MAX_RECORD));
            let kib = length.div_ceil(1024) as u32;
            (3 * kib).min(STORAGE_KIB_IMPORT).max(kib)
        }
    };
    let response = if head.headers.contains_key(&IDEMPOTENCY_KEY) {
        STORAGE_KIB_RESPONSE
    } else {
        0
    };
    game + response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_charged_for_the_longest_possible_body() {
        let storage = |cost, headers: &[(HeaderName, &str)]| {
            let mut head = RequestHead::default();
            for (name, value) in headers {
                head.headers.insert(name.clone(), value.parse().unwrap());
            }
            storage_kib(&head, cost)
        };
        let key = || (IDEMPOTENCY_KEY, "k");
        let length = |length| (header::CONTENT_LENGTH, length);
        assert_eq!(storage(Cost::NewGame, &[]), 16);
        assert_eq!(storage(Cost::NewGame, &[key()]), 24);
        assert_eq!(storage(Cost::Import, &[length("5000")]), 15);
        assert_eq!(storage(Cost::Import, &[length("1025"), key()]), 14);
        assert_eq!(storage(Cost::Import, &[length("300000")]), 512);
        assert_eq!(storage(Cost::Import, &[length("1048576")]), 1024);
        assert_eq!(storage(Cost::Import, &[]), 1152);
        assert_eq!(storage(Cost::Import, &[length("99999999999")]), 1152);
        assert_eq!(storage(Cost::Write, &[]), 0);
        assert_eq!(storage(Cost::Write, &[key()]), 8);
        assert_eq!(storage(Cost::Request, &[key()]), 0);
    }
}
