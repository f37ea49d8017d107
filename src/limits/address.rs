//! The address of a client.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
    future::{Ready, ready},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    dev::Payload,
    http::header::{HeaderMap, HeaderName, HeaderValue},
};

use dog_store::{Creator, Store};

/// The unit by which clients are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// One IPv4 address, or a /64 network of IPv6: a customer gets at least that much.
    Known(IpAddr),
    /// All clients for which the trusted header contains no address.
    Unreadable,
}

/// Whether a proxy has passed on a request with these headers, as far as they tell.
pub fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| {
        let name = name.as_str();
        ["forwarded", "via", "x-real-ip"].contains(&name) || name.starts_with("x-forwarded-")
    })
}

impl Address {
    /// All pages of other sites in browsers on this machine.
    pub const FOREIGN_PAGES: Address = Address::Known(IpAddr::V4(Ipv4Addr::LOCALHOST));

    /// The client's address: the last one in the trusted header, which the proxy itself has
    /// written, or without that header the peer's.
    ///
    /// None for a connection from this machine without that header. It comes from an operator, or
    /// from a proxy that is not configured as trusted; one limit for all its clients would lock
    /// them all out.
    pub fn from_head(
        peer: Option<SocketAddr>,
        headers: &HeaderMap,
        trusted: Option<&HeaderName>,
    ) -> Option<Address> {
        match trusted.and_then(|name| headers.get_all(name).last()) {
            Some(value) => Some(Address::from_forwarded(value).unwrap_or(Address::Unreadable)),
            None => Address::from_peer(peer?),
        }
    }

    /// The address of a connection's peer; none for this machine.
    pub fn from_peer(peer: SocketAddr) -> Option<Address> {
        let peer = peer.ip().to_canonical();
        (!peer.is_loopback()).then(|| Address::grouped(peer))
    }

    /// The last address in the value of a header such as `X-Forwarded-For` or `X-Real-IP`, with a
    /// port or without.
    fn from_forwarded(value: &HeaderValue) -> Option<Address> {
        let last = value.to_str().ok()?.rsplit(',').next()?.trim();
        let bare = last.trim_start_matches('[').trim_end_matches(']');
        let address = bare
            .parse()
            .or_else(|_| last.parse().map(|address: SocketAddr| address.ip()))
            .ok()?;
        Some(Address::grouped(address.to_canonical()))
    }

    /// The network of an address of IPv6, a /48. A customer may have that much.
    pub fn network(self) -> Option<Address> {
        match self {
            Address::Known(IpAddr::V6(address)) => Some(Address::prefix(address, 48)),
            _ => None,
        }
    }

    /// Bytes that identify the address.
    pub fn bytes(&self) -> [u8; 16] {
        match self {
            Address::Known(IpAddr::V4(address)) => address.to_ipv6_mapped().octets(),
            Address::Known(IpAddr::V6(address)) => address.octets(),
            Address::Unreadable => [0; 16],
        }
    }

    fn grouped(address: IpAddr) -> Address {
        match address {
            IpAddr::V4(_) => Address::Known(address),
            IpAddr::V6(address) => Address::prefix(address, 64),
        }
    }

    /// The first bits of an address of IPv6.
    fn prefix(address: Ipv6Addr, bits: u32) -> Address {
        let rest = u128::BITS - bits;
        let network = address.to_bits() >> rest << rest;
        Address::Known(IpAddr::V6(Ipv6Addr::from_bits(network)))
    }
}

/// The address of a request. None stands for this machine, which has no limits by address.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub Option<Address>);

impl ClientAddress {
    /// The address to which a request is charged.
    pub fn from_extensions(request: &HttpRequest) -> ClientAddress {
        let client = request.extensions().get::<ClientAddress>().copied();
        client.unwrap_or(ClientAddress(None))
    }

    /// The hash under which the store keeps the creator of a game.
    pub fn creator(self, store: &Store) -> Option<Creator> {
        self.0.map(|address| store.creator(&address.bytes()))
    }

    /// The hash under which the store keeps who asked for a review.
    pub fn creator_in_network(self, store: &Store) -> Option<Creator> {
        let address = self.0?;
        let network = store.creator(&address.network().unwrap_or(address).bytes());
        Some(store.creator(&address.bytes()).in_network(network))
    }
}

impl FromRequest for ClientAddress {
    type Error = Infallible;
    type Future = Ready<Result<ClientAddress, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(ClientAddress::from_extensions(request)))
    }
}

/// An amount for each address.
#[derive(Debug, Default)]
pub struct AddressCounts(HashMap<Address, usize>);

impl AddressCounts {
    pub fn get(&self, address: Address) -> usize {
        self.0.get(&address).copied().unwrap_or_default()
    }

    /// Adds an amount and returns the sum.
    pub fn add(&mut self, address: Address, amount: usize) -> usize {
        let own = self.0.entry(address).or_default();
        *own += amount;
        *own
    }

    /// Subtracts an amount. An address with nothing left is removed.
    pub fn subtract(&mut self, address: Address, amount: usize) {
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

    fn client(peer: &str, values: &[&'static str], trusted: bool) -> Option<Address> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, HeaderValue::from_static(value));
        }
        let peer = SocketAddr::new(peer.parse().unwrap(), 50_000);
        Address::from_head(Some(peer), &headers, trusted.then_some(&HEADER))
    }

    fn address(text: &str) -> Option<Address> {
        Some(Address::Known(text.parse().unwrap()))
    }

    #[test]
    fn without_a_trusted_header_only_the_connection_counts() {
        assert_eq!(client("192.0.2.1", &[], false), address("192.0.2.1"));
        let spoofed = client("192.0.2.1", &["198.51.100.7"], false);
        assert_eq!(spoofed, address("192.0.2.1"));
        for here in ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(client(here, &[], false), None);
            assert_eq!(client(here, &["198.51.100.7"], false), None);
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
            assert_eq!(client("127.0.0.1", values, true), real, "{values:?}");
        }
        let six = address("2001:db8:1:2::");
        for value in [
            "2001:db8:1:2:3:4:5:6",
            "[2001:db8:1:2::9]",
            "[2001:db8:1:2::9]:443",
        ] {
            assert_eq!(client("127.0.0.1", &[value], true), six, "{value}");
        }
    }

    #[test]
    fn without_the_header_the_connection_counts() {
        assert_eq!(client("192.0.2.1", &[], true), address("192.0.2.1"));
        assert_eq!(client("::1", &[], true), None);
    }

    #[test]
    fn all_unreadable_headers_are_one_client() {
        for values in [
            &["nonsense"][..],
            &[""],
            &["203.0.113.5,"],
            &["203.0.113.5", ""],
        ] {
            for peer in ["192.0.2.1", "127.0.0.1", "::1"] {
                let found = client(peer, values, true);
                assert_eq!(found, Some(Address::Unreadable), "{values:?}");
            }
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let direct = |peer| client(peer, &[], false);
        assert_eq!(direct("2001:db8::1"), direct("2001:db8::ffff:0:0:2"));
        assert_ne!(direct("2001:db8::1"), direct("2001:db8:0:1::1"));
        let network = |peer| direct(peer).and_then(Address::network);
        assert_eq!(network("2001:db8:7:1::1"), address("2001:db8:7::"));
        assert_eq!(network("2001:db8:7:ffff::1"), network("2001:db8:7::"));
        assert_eq!(network("192.0.2.1"), None);
    }
}
