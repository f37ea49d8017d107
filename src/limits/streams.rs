//! The streams and long polls of each address, also behind a proxy, where many addresses share a
//! connection's peer.

use std::{rc::Rc, time::Duration};

use actix_web::{HttpRequest, web::Data};
use parking_lot::Mutex;

use super::{
    address::{Address, AddressCounts, ClientAddress},
    connections::Connection,
};
use crate::problem::{Code, Problem};

/// Maximum number for an address without tokens of the games.
const MAX_WITHOUT_TOKEN: usize = 128;

/// When to ask again.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// How many there are.
#[derive(Debug)]
pub struct StreamsByAddress {
    /// Of one address; 0 for no limit.
    limit: usize,
    /// Those without a token and those with one.
    open: Mutex<[AddressCounts; 2]>,
}

impl StreamsByAddress {
    /// None yet. At most this many may be open for one address; 0 is no limit.
    pub fn new(limit: usize) -> StreamsByAddress {
        StreamsByAddress {
            limit,
            open: Mutex::default(),
        }
    }

    /// Counts one, unless the address has as many as it may.
    fn admit(&self, address: Address, has_token: bool) -> bool {
        if self.limit == 0 {
            return true;
        }
        let mut open = self.open.lock();
        let [without_token, with_token] = open.each_ref().map(|counts| counts.get(address));
        let is_full = without_token + with_token >= self.limit
            || !has_token && without_token >= MAX_WITHOUT_TOKEN;
        if !is_full {
            open[usize::from(has_token)].add(address, 1);
        }
        !is_full
    }

    fn leave(&self, address: Address, has_token: bool) {
        self.open.lock()[usize::from(has_token)].subtract(address, 1);
    }
}

/// The client of a request, for whose address streams are counted.
pub struct StreamClient(Option<(Data<StreamsByAddress>, Address)>);

impl StreamClient {
    pub fn new(request: &HttpRequest) -> StreamClient {
        let streams = request.app_data::<Data<StreamsByAddress>>().cloned();
        StreamClient(streams.zip(ClientAddress::from_extensions(request).0))
    }

    /// Counts one more; `has_token` says whether it has a token of the game.
    ///
    /// # Errors
    /// `too_many_streams`, if the address has as many as it may.
    pub fn count(&self, has_token: bool) -> Result<CountedStream, Problem> {
        if let Some((streams, address)) = &self.0
            && !streams.admit(*address, has_token)
        {
            let detail = "this address has as many streams and waiting requests open as it may";
            let problem = Problem::new(Code::TooManyStreams, detail);
            return Err(problem.retry_after(RETRY_AFTER));
        }
        Ok(CountedStream {
            counted: self.0.clone(),
            has_token,
        })
    }
}

/// A stream or a long poll that is counted until this is dropped.
pub struct CountedStream {
    /// Where, and for which address.
    counted: Option<(Data<StreamsByAddress>, Address)>,
    has_token: bool,
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        if let Some((streams, address)) = &self.counted {
            streams.leave(*address, self.has_token);
        }
    }
}

/// A response that waits for something to happen, until this is dropped. Then the connection ends
/// as soon as the client closes its side: nobody reads the rest. Other responses are sent to clients
/// that have closed only their own side.
pub struct WaitingResponse(Option<Rc<Connection>>);

impl WaitingResponse {
    /// The response to this request waits.
    pub fn begin(request: &HttpRequest) -> WaitingResponse {
        let connection = request.conn_data::<Rc<Connection>>().cloned();
        if let Some(connection) = &connection {
            connection.waits.set(true);
        }
        WaitingResponse(connection)
    }
}

impl Drop for WaitingResponse {
    fn drop(&mut self) {
        if let Some(connection) = &self.0 {
            connection.waits.set(false);
        }
    }
}

/// The response to this request is a stream or a long poll, until what is returned is dropped.
/// `has_token` says whether it has a token of the game.
///
/// # Errors
/// `too_many_streams`, if the address has as many as it may.
pub fn begin(
    request: &HttpRequest,
    has_token: bool,
) -> Result<(CountedStream, WaitingResponse), Problem> {
    let counted = StreamClient::new(request).count(has_token)?;
    Ok((counted, WaitingResponse::begin(request)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_and_fewer_without_tokens() {
        let [one, other] = ["192.0.2.1:1", "192.0.2.2:1"].map(|peer| {
            let peer = peer.parse().expect("an address");
            Address::from_peer(peer).expect("not this machine")
        });
        let counts = StreamsByAddress::new(130);
        for _ in 0..MAX_WITHOUT_TOKEN {
            assert!(counts.admit(one, false));
        }
        assert!(!counts.admit(one, false), "one too many without a token");
        assert!(counts.admit(one, true) && counts.admit(one, true));
        assert!(!counts.admit(one, true), "one too many");
        assert!(counts.admit(other, false), "another's share");
        counts.leave(one, true);
        assert!(!counts.admit(one, false) && counts.admit(one, true));
        counts.leave(one, false);
        assert!(counts.admit(one, false));
        for _ in 0..MAX_WITHOUT_TOKEN {
            counts.leave(one, false);
        }
        counts.leave(one, true);
        counts.leave(one, true);
        counts.leave(other, false);
        assert!(counts.open.lock().iter().all(AddressCounts::is_empty));
    }
}
