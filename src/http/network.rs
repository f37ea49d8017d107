//! The addresses at which other devices in the same network reach the server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use actix_web::{
    HttpRequest,
    http::{Version, header, uri::Authority},
};
use if_addrs::get_if_addrs;

use crate::{
    headers::origin::{authority_of, host},
    limits::{Address, ClientAddress, is_forwarded},
};

/// Addresses outside of every network, from the ranges for documentation. The route to them is the
/// default route.
const OUTSIDE: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
];

/// The ports at which the server listens.
#[derive(Clone, Debug)]
pub struct HomeNetwork {
    ports: Vec<OwnPort>,
}

/// A port, and whether it is open on all addresses of a family.
#[derive(Clone, Copy, Debug)]
struct OwnPort {
    port: u16,
    ipv4: bool,
    ipv6: bool,
}

/// An address of this machine.
#[derive(Clone, Debug)]
struct OwnAddress {
    ip: IpAddr,
    /// The name of its interface.
    interface: String,
    /// Whether the interface leads to one other machine only, as that of a VPN.
    point_to_point: bool,
}

impl HomeNetwork {
    /// The ports of these sockets.
    pub fn new(listeners: &[TcpListener]) -> HomeNetwork {
        HomeNetwork {
            ports: listeners.iter().filter_map(OwnPort::new).collect(),
        }
    }

    /// Where other devices reach the server now, the most likely address first; nowhere if it does
    /// not listen on all addresses. Takes some microseconds.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        if !self.ports.iter().any(|port| port.ipv4 || port.ipv6) {
            return Vec::new();
        }
        let interfaces = get_if_addrs().unwrap_or_else(|error| {
            log::warn!("cannot list the network's interfaces: {error}");
            Vec::new()
        });
        let own = interfaces
            .into_iter()
            .filter(|found| found.is_oper_up())
            .map(|found| OwnAddress {
                ip: found.ip(),
                point_to_point: found.is_p2p(),
                interface: found.name,
            });
        let usable = usable(own, &OUTSIDE.map(source_address));
        self.ports
            .iter()
            .flat_map(|port| {
                usable
                    .iter()
                    .filter(|ip| if ip.is_ipv4() { port.ipv4 } else { port.ipv6 })
                    .map(|&ip| SocketAddr::new(ip, port.port))
            })
            .collect()
    }

    /// Whether somebody at this machine sends the request, with a page of its own server or with a
    /// program. Not so if a proxy passes it on, as far as that can be seen, or if it comes from a
    /// page of another site: that would learn the addresses of its reader.
    pub fn is_local(&self, client: ClientAddress, request: &HttpRequest) -> bool {
        let is_direct = request.version() == Version::HTTP_11
            && request.uri().authority().is_none()
            && !is_forwarded(request.headers());
        let from_here = request.headers().get(header::ORIGIN).is_none_or(|origin| {
            let origin = origin.to_str().ok().and_then(authority_of);
            origin.is_some_and(|origin| is_this_machine(&origin))
        });
        let to_here = host(request.head()).ok().flatten().is_some_and(|host| {
            let asked = host.port_u16().unwrap_or(80);
            is_this_machine(&host) && self.ports.iter().any(|own| own.port == asked)
        });
        let is_here = client
            .0
            .is_none_or(|address| address == Address::FOREIGN_PAGES);
        is_here && is_direct && from_here && to_here
    }
}

impl OwnPort {
    /// The port of a socket. It is open if the socket listens on an unspecified address, such as
    /// `0.0.0.0`.
    fn new(listener: &TcpListener) -> Option<OwnPort> {
        let address = listener.local_addr().ok()?;
        let is_open = address.ip().is_unspecified();
        Some(OwnPort {
            port: address.port(),
            ipv4: is_open && (address.is_ipv4() || accepts_ipv4(listener)),
            ipv6: is_open && address.is_ipv6(),
        })
    }
}

impl OwnAddress {
    /// Whether other devices can reach it.
    fn is_usable(&self) -> bool {
        let is_local = match self.ip {
            IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local(),
        };
        !is_local && !is_of_containers(&self.interface)
    }
}

/// The addresses that other devices can reach: IPv4 first, those of VPNs after others, those of the
/// default routes before others.
fn usable(own: impl Iterator<Item = OwnAddress>, default_routes: &[Option<IpAddr>]) -> Vec<IpAddr> {
    let mut usable: Vec<OwnAddress> = own.filter(OwnAddress::is_usable).collect();
    usable.sort_by_key(|found| {
        let is_default = default_routes.contains(&Some(found.ip));
        (found.ip.is_ipv6(), found.point_to_point, !is_default)
    });
    usable.into_iter().map(|found| found.ip).collect()
}

/// Whether an interface with this name leads to containers or virtual machines on this machine
/// only.
fn is_of_containers(name: &str) -> bool {
    ["docker", "podman", "cni", "veth", "virbr"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        // The networks of Docker have the first 12 digits of their ids.
        || name.strip_prefix("br-").is_some_and(|id| {
            id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

/// Whether this is a name that each machine has for itself, with a port or without.
fn is_this_machine(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let address = address.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// The address from which this machine sends to another one. Nothing is sent.
fn source_address(to: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = match to {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // The discard port.
    socket.connect((to, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Whether a socket that listens on IPv6 accepts IPv4 too.
#[cfg(target_os = "linux")]
fn accepts_ipv4(listener: &TcpListener) -> bool {
    rustix::net::sockopt::ipv6_v6only(listener).is_ok_and(|only| !only)
}

/// The same where the system's default is known.
#[cfg(not(target_os = "linux"))]
fn accepts_ipv4(_: &TcpListener) -> bool {
    cfg!(target_os = "macos")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_likely_address_is_first() {
        let own = |interface: &str, ip: &str| OwnAddress {
            ip: ip.parse().unwrap(),
            interface: interface.to_owned(),
            point_to_point: interface.starts_with("tun"),
        };
        let all = [
            own("lo", "127.0.0.1"),
            own("lo", "::1"),
            own("wlan0", "fe80::1"),
            own("wlan0", "fd00::7"),
            own("tun0", "10.8.0.2"),
            own("eth1", "169.254.7.7"),
            own("docker0", "172.17.0.1"),
            own("br-0123456789ab", "172.18.0.1"),
            own("br-lan", "192.168.7.1"),
            own("wlan0", "192.168.1.5"),
        ];
        let expected = ["192.168.1.5", "192.168.7.1", "10.8.0.2", "fd00::7"];
        let found = |default: &str| {
            let addresses = usable(all.iter().cloned(), &[default.parse().ok(), None]);
            addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>()
        };
        assert_eq!(found("192.168.1.5"), expected);
        // A VPN that has the default route leads to no phone.
        let with_vpn = ["192.168.7.1", "192.168.1.5", "10.8.0.2", "fd00::7"];
        assert_eq!(found("10.8.0.2"), with_vpn);
        assert_eq!(found("none"), with_vpn);
    }

    #[test]
    fn only_sockets_on_all_addresses_count() {
        let bind = |address: &str| TcpListener::bind(address).unwrap();
        let network = HomeNetwork::new(&[bind("127.0.0.1:0")]);
        assert_eq!(network.addresses(), []);
        let open = bind("0.0.0.0:0");
        let port = open.local_addr().unwrap().port();
        let network = HomeNetwork::new(&[bind("127.0.0.1:0"), open]);
        let outside = source_address(OUTSIDE[0]).filter(|ip| !ip.is_loopback());
        let addresses = network.addresses();
        assert!(addresses.iter().all(SocketAddr::is_ipv4), "{addresses:?}");
        if let Some(ip) = outside {
            let expected = SocketAddr::new(ip, port);
            assert!(addresses.contains(&expected), "{addresses:?}");
        }
    }
}
