//! How much memory large bodies may take, over all connections: those of requests until they are
//! answered, those of responses until the client has read them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::{
    Error, ResponseError,
    body::{BodySize, BoxBody, EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
    web::Data,
};

use super::address::{Address, AddressCounts, ClientAddress};
use crate::http::problem::{Code, Problem};

/// Bytes from which on a response is a large one.
const LARGE: u64 = 32 * 1024;

/// One address may take the fourth part of the memory.
const SHARES: usize = 4;

/// The eighth part of the memory is left to the connections that are open: when the rest is taken,
/// no stream begins.
const RESERVED_OF: usize = 8;

/// The memory that may be taken, and who has taken it.
#[derive(Debug)]
pub struct BodyMemory {
    limit: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    by_address: AddressCounts,
}

/// Bytes that are taken as long as this lives.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<BodyMemory>,
    address: Option<Address>,
    bytes: usize,
}

impl BodyMemory {
    /// So many bytes may be taken in all.
    pub fn new(limit: usize) -> BodyMemory {
        BodyMemory {
            limit,
            taken: Mutex::default(),
        }
    }

    /// Takes so many bytes for a client at this address, or of this machine; none if there is no
    /// room, or the address has its share already.
    pub fn reserve(
        self: &Arc<BodyMemory>,
        address: Option<Address>,
        bytes: usize,
    ) -> Option<Reservation> {
        let mut taken = self.taken();
        if taken.total + bytes > self.limit {
            return None;
        }
        if let Some(address) = address {
            if taken.by_address.of(address) + bytes > self.limit / SHARES {
                return None;
            }
            taken.by_address.add(address, bytes);
        }
        taken.total += bytes;
        Some(Reservation {
            memory: Arc::clone(self),
            address,
            bytes,
        })
    }

    /// Whether so much is taken that nothing more is to begin that may wait for its reader.
    pub fn is_full(&self) -> bool {
        self.used() > self.limit - self.limit / RESERVED_OF
    }

    /// Bytes that are taken.
    pub fn used(&self) -> usize {
        self.taken().total
    }

    /// Bytes that may be taken.
    pub fn limit(&self) -> usize {
        self.limit
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Nothing panics while the lock is held.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut taken = self.memory.taken();
        taken.total -= self.bytes;
        if let Some(address) = self.address {
            taken.by_address.take(address, self.bytes);
        }
    }
}

/// The refusal of what there is no memory for.
pub fn no_memory() -> Problem {
    Problem::new(Code::Unavailable, "too many large bodies are in memory")
}

/// Marks a response whose body is the same memory for all readers.
#[derive(Clone, Copy, Debug)]
pub struct SharedBody;

/// Takes memory for a large response, until the last of it is sent; without room it is refused.
pub async fn reserve<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    let mut response = next.call(request).await?;
    let large = match response.response().body().size() {
        BodySize::Sized(length) if length >= LARGE => usize::try_from(length).ok(),
        _ => None,
    };
    let shared = response.response().extensions().contains::<SharedBody>();
    if let (Some(bytes), false) = (large, shared) {
        let memory = response.request().app_data::<Data<BodyMemory>>();
        let memory = memory.expect("every server has its memory");
        let ClientAddress(address) = ClientAddress::of(response.request());
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
            Address::of_peer(peer)
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
        assert!(memory.taken().by_address.is_empty());
    }
}
