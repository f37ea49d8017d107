//! Where a request comes from.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
    future::{Ready, ready},
    net::{IpAddr, Ipv6Addr, SocketAddr},
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    dev::Payload,
    http::header::{HeaderMap, HeaderName, HeaderValue},
};

use crate::store::{Creator, Store};

/// Whose requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// One IPv4 address, or a /64 of IPv6, which is what one customer gets at least.
    Known(IpAddr),
    /// All those together of whom the trusted header names no address.
    Unreadable,
}

impl Address {
    /// The client's: the last address in the trusted header, which the proxy itself has written;
    /// without that header the connection's other end.
    ///
    /// None for a connection from this machine without that header: it is an operator's, or a
    /// proxy's that the server was not told of, and one limit for all its clients would shut them
    /// all out.
    pub fn of(
        peer: Option<SocketAddr>,
        headers: &HeaderMap,
        trusted: Option<&HeaderName>,
    ) -> Option<Address> {
        match trusted.and_then(|name| headers.get_all(name).last()) {
            Some(value) => Some(told(value).map_or(Address::Unreadable, Address::counted)),
            None => Address::of_peer(peer?),
        }
    }

    /// That of a connection's other end; none for this very machine.
    pub fn of_peer(peer: SocketAddr) -> Option<Address> {
        let peer = peer.ip().to_canonical();
        (!peer.is_loopback()).then(|| Address::counted(peer))
    }

    /// What tells it from all others.
    pub fn bytes(&self) -> [u8; 16] {
        match self {
            Address::Known(IpAddr::V4(address)) => address.to_ipv6_mapped().octets(),
            Address::Known(IpAddr::V6(address)) => address.octets(),
            Address::Unreadable => [0; 16],
        }
    }

    fn counted(address: IpAddr) -> Address {
        Address::Known(match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
        })
    }
}

/// The last address in the value of a header such as `X-Forwarded-For` or `X-Real-IP`, with a port
/// or without.
fn told(value: &HeaderValue) -> Option<IpAddr> {
    let text = value.to_str().ok()?;
    let last = text.rsplit(',').next()?.trim();
    let bare = last.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>();
    let address = address.or_else(|_| last.parse::<SocketAddr>().map(|address| address.ip()));
    address.ok().map(|address| address.to_canonical())
}

/// The address that a request comes from. None stands for this machine, which has no limits by
/// address.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub Option<Address>);

impl ClientAddress {
    /// Whom a request is charged to.
    pub fn of(request: &HttpRequest) -> ClientAddress {
        let client = request.extensions().get::<ClientAddress>().copied();
        client.unwrap_or(ClientAddress(None))
    }

    /// Under what the store keeps who has created a game.
    pub fn creator(self, store: &Store) -> Option<Creator> {
        self.0.map(|address| store.creator(&address.bytes()))
    }
}

impl FromRequest for ClientAddress {
    type Error = Infallible;
    type Future = Ready<Result<ClientAddress, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(ClientAddress::of(request)))
    }
}

/// How much each address has of something.
#[derive(Debug, Default)]
pub struct AddressCounts(HashMap<Address, usize>);

impl AddressCounts {
    pub fn of(&self, address: Address) -> usize {
        self.0.get(&address).copied().unwrap_or_default()
    }

    /// Adds so much; how much the address has then.
    pub fn add(&mut self, address: Address, amount: usize) -> usize {
        let own = self.0.entry(address).or_default();
        *own += amount;
        *own
    }

    /// Takes so much away. An address that has nothing takes no memory.
    pub fn take(&mut self, address: Address, amount: usize) {
        if let Entry::Occupied(mut own) = self.0.entry(address) {
            *own.get_mut() -= amount;
            if *own.get() == 0 {
                own.remove();
            }
        }
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: HeaderName = HeaderName::from_static("x-forwarded-for");

    fn seen(peer: &str, values: &[&'static str], trusted: bool) -> Option<Address> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, HeaderValue::from_static(value));
        }
        let peer = SocketAddr::new(peer.parse().unwrap(), 50_000);
        Address::of(Some(peer), &headers, trusted.then_some(&HEADER))
    }

    fn address(text: &str) -> Option<Address> {
        Some(Address::Known(text.parse().unwrap()))
    }

    #[test]
    fn without_a_trusted_header_only_the_connection_counts() {
        assert_eq!(seen("192.0.2.1", &[], false), address("192.0.2.1"));
        let spoofed = seen("192.0.2.1", &["198.51.100.7"], false);
        assert_eq!(spoofed, address("192.0.2.1"));
        for here in ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(seen(here, &[], false), None);
            assert_eq!(seen(here, &["198.51.100.7"], false), None);
        }
    }

    #[test]
    fn the_proxy_has_the_last_word() {
        let real = address("203.0.113.5");
        for values in [
            &["203.0.113.5"][..],
            &["198.51.100.7, 203.0.113.5"],
            &["198.51.100.7", "203.0.113.5"],
            &["nonsense, 203.0.113.5:4711"],
            &["::ffff:203.0.113.5"],
        ] {
            assert_eq!(seen("127.0.0.1", values, true), real, "{values:?}");
        }
        let six = address("2001:db8:1:2::");
        for value in [
            "2001:db8:1:2:3:4:5:6",
            "[2001:db8:1:2::9]",
            "[2001:db8:1:2::9]:443",
        ] {
            assert_eq!(seen("127.0.0.1", &[value], true), six, "{value}");
        }
    }

    #[test]
    fn without_the_header_the_connection_counts() {
        assert_eq!(seen("192.0.2.1", &[], true), address("192.0.2.1"));
        assert_eq!(seen("::1", &[], true), None);
    }

    #[test]
    fn all_unreadable_headers_are_one_client() {
        for values in [
            &["nonsense"][..],
            &[""],
            &["203.0.113.5,"],
            &["unknown"],
            &["203.0.113.5", ""],
        ] {
            for peer in ["192.0.2.1", "127.0.0.1", "::1"] {
                let seen = seen(peer, values, true);
                assert_eq!(seen, Some(Address::Unreadable), "{values:?}");
            }
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let of = |peer| seen(peer, &[], false);
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:0:0:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
    }
}
