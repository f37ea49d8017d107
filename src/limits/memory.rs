//! The limit for the memory of large bodies, over all connections: those of requests until they are
//! answered, those of responses until the client has read them.

use std::sync::Arc;

use actix_web::{
    Error, ResponseError,
    body::{BodySize, BoxBody, EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
    web::Data,
};
use parking_lot::Mutex;

use super::address::{Address, AddressCounts, ClientAddress};
use crate::problem::{Code, Problem};

/// From this size on, a response is large.
const LARGE_BODY_BYTES: u64 = 32 * 1024;

/// One address may use one part in this many of the memory.
const ADDRESS_FRACTION: usize = 4;

/// One part in this many of the memory is reserved for open connections. When the rest is in use,
/// no new stream begins.
const RESERVE_FRACTION: usize = 8;

/// The limit, and how much of it is in use.
#[derive(Debug)]
pub struct BodyMemory {
    /// In bytes.
    pub limit: usize,
    usage: Mutex<MemoryUse>,
}

#[derive(Debug, Default)]
struct MemoryUse {
    total: usize,
    by_address: AddressCounts,
}

/// Bytes that are reserved until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<BodyMemory>,
    address: Option<Address>,
    bytes: usize,
}

impl BodyMemory {
    /// A limit of this many bytes.
    pub fn new(limit: usize) -> BodyMemory {
        BodyMemory {
            limit,
            usage: Mutex::default(),
        }
    }

    /// Reserves bytes for a client at this address, or without one for a client on this machine.
    /// None if there is no room, or the address would exceed its share.
    pub fn reserve(
        self: &Arc<BodyMemory>,
        address: Option<Address>,
        bytes: usize,
    ) -> Option<Reservation> {
        let mut usage = self.usage.lock();
        if usage.total + bytes > self.limit {
            return None;
        }
        if let Some(address) = address {
            if usage.by_address.get(address) + bytes > self.limit / ADDRESS_FRACTION {
                return None;
            }
            usage.by_address.add(address, bytes);
        }
        usage.total += bytes;
        Some(Reservation {
            memory: Arc::clone(self),
            address,
            bytes,
        })
    }

    /// Whether only the reserve is left, so that no new stream may begin.
    pub fn is_full(&self) -> bool {
        self.used() > self.limit - self.limit / RESERVE_FRACTION
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.usage.lock().total
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut usage = self.memory.usage.lock();
        usage.total -= self.bytes;
        if let Some(address) = self.address {
            usage.by_address.subtract(address, self.bytes);
        }
    }
}

/// The refusal when there is no memory for a body.
pub fn no_memory() -> Problem {
    Problem::new(Code::Unavailable, "too many large bodies are in memory")
}

/// Marks a response whose body is shared by all readers.
#[derive(Clone, Copy, Debug)]
pub struct SharedBody;

/// Reserves memory for a large response until all of it is sent. Without room, the response is 503.
pub async fn reserve<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    let mut response = next.call(request).await?;
    let large = match response.response().body().size() {
        BodySize::Sized(length) if length >= LARGE_BODY_BYTES => usize::try_from(length).ok(),
        _ => None,
    };
    let shared = response.response().extensions().contains::<SharedBody>();
    if let (Some(bytes), false) = (large, shared) {
        let memory = response.request().app_data::<Data<BodyMemory>>();
        let memory = memory.expect("every server has its memory");
        let ClientAddress(address) = ClientAddress::from_extensions(response.request());
        let Some(reservation) = memory.reserve(address, bytes) else {
            let refusal = no_memory().error_response();
            return Ok(response.into_response(refusal).map_into_right_body());
        };
        let mut extensions = response.response_mut().extensions_mut();
        extensions.insert(reservation);
    }
    Ok(response.map_into_left_body())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_a_bound_and_each_address_a_share() {
        let memory = Arc::new(BodyMemory::new(400));
        let [one, other] = ["192.0.2.1:1", "192.0.2.2:1"].map(|peer| {
            let peer = peer.parse().expect("an address");
            Address::from_peer(peer)
        });
        let first = memory.reserve(one, 60).expect("room");
        assert!(memory.reserve(one, 41).is_none(), "more than a share");
        let second = memory.reserve(one, 40).expect("the rest of the share");
        let third = memory.reserve(other, 100).expect("another's share");
        assert!(memory.reserve(None, 201).is_none(), "more than there is");
        let fourth = memory
            .reserve(None, 200)
            .expect("this machine has no share");
        assert!(memory.reserve(None, 1).is_none());
        drop((first, second, third, fourth));
        assert_eq!(memory.used(), 0);
        assert!(memory.usage.lock().by_address.is_empty());
    }
}
