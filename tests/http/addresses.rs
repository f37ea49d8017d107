//! The addresses at which other devices in the same network reach the server: those that
//! `dog serve` prints, and `GET /v1/addresses`.

use std::net::{IpAddr, UdpSocket};

use serde_json::{Value, json};

use crate::support::{TestServer, raw, wait_until};

const PATH: &str = "/v1/addresses";

/// The URLs of a response.
fn urls(list: &Value) -> Vec<String> {
    let urls = list["addresses"].as_array().expect("addresses").iter();
    let text = |url: &Value| url.as_str().expect("a URL").to_owned();
    urls.map(text).collect()
}

/// The URLs that the server has printed for other devices.
fn printed(server: &TestServer) -> Vec<String> {
    let log = server.log();
    let lines = log
        .lines()
        .filter_map(|line| line.strip_prefix("in this network: "));
    lines.map(str::to_owned).collect()
}

/// This machine's address on the way to others; none if it is in no network. No packet is sent.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("198.51.100.1:9").ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_loopback()).then_some(own)
}

#[test]
fn a_server_on_all_addresses_says_where_phones_reach_it() {
    let server = TestServer::on_all_addresses(&[]);
    let told = urls(&server.get(PATH).send().expect(200));
    let port = server.url().rsplit(':').next().expect("a port").to_owned();
    if let Some(own) = own_address() {
        assert!(told.contains(&format!("http://{own}:{port}")), "{told:?}");
    } else {
        eprintln!("this machine is in no network");
    }
    wait_until("it has printed them", || printed(&server) == told);
    for url in told {
        let is_of_others = !url.contains("127.0.0.1") && !url.contains("0.0.0.0");
        assert!(is_of_others, "{url}");
        // A client that has come over the network is told nothing, whatever it says it asked for.
        let request = server.agent().get(format!("{url}/v1/addresses"));
        let mut response = request.header("Host", "localhost").call().expect(&url);
        assert_eq!(response.status(), 200);
        let list = response.body_mut().read_to_string().expect("a body");
        assert_eq!(list, r#"{"addresses":[]}"#);
    }
}

#[test]
fn only_the_servers_own_page_and_local_programs_are_told() {
    let proxy = ("DOG_TRUSTED_PROXY_HEADER", "X-Real-IP");
    let servers = [
        TestServer::on_all_addresses(&[]),
        TestServer::on_all_addresses(&[proxy]),
    ];
    for server in &servers {
        let all = server.get(PATH).send().expect(200);
        let nothing = json!({"addresses": []});
        // Unchecked, because the document lists no headers such as `Host`.
        let told = |name, value: &str| -> Value {
            let mut response = server.get(PATH).header(name, value).run();
            assert_eq!(response.status(), 200);
            let body = response.body_mut().read_to_string().expect("a body");
            serde_json::from_str(&body).expect("JSON")
        };
        let port = server.url().rsplit(':').next().expect("a port").to_owned();
        let host = |name: &str| format!("{name}:{port}");
        for (name, value) in [
            ("Host", host("localhost")),
            ("Host", host("127.0.0.1")),
            ("Host", host("127.1.2.3")),
            ("Host", host("[::1]")),
            ("Origin", "http://localhost:5173".to_owned()),
            ("Origin", server.url()),
        ] {
            assert_eq!(told(name, &value), all, "{name}: {value}");
        }
        // Nor is whoever comes through a proxy, the reader of a foreign page, or of a page whose
        // name was made to lead here.
        for (name, value) in [
            ("X-Real-IP", "198.51.100.7"),
            ("X-Real-IP", "127.0.0.1"),
            ("X-Forwarded-For", "198.51.100.7"),
            ("X-Forwarded-Proto", "http"),
            ("X-Forwarded-Host", "localhost"),
            ("Forwarded", "for=198.51.100.7"),
            ("Via", "1.1 proxy"),
            ("Host", "localhost"),
            ("Host", "127.0.0.1"),
            ("Host", "localhost:8080"),
            ("Host", "dog.example.org"),
            ("Host", &host("dog.example.org")),
            ("Host", &host("192.0.2.1")),
            ("Origin", "https://example.org"),
            ("Origin", "null"),
        ] {
            assert_eq!(told(name, value), nothing, "{name}: {value}");
        }
        // As proxies ask: in an older version, or for a whole address.
        for line in [
            format!("{PATH} HTTP/1.0"),
            format!("http://127.0.0.1:{port}{PATH} HTTP/1.1"),
        ] {
            let head = format!("GET {line}\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
            let told: Value = raw(server, head.as_bytes()).expect(200);
            assert_eq!(told, nothing, "{line}");
        }
    }
}

#[test]
fn a_server_on_one_address_has_no_others() {
    let server = TestServer::shared();
    let response = server.get(PATH).send();
    assert_eq!(response.header("cache-control"), Some("no-store"));
    assert_eq!(response.expect(200), json!({"addresses": []}));
    assert_eq!(printed(&server), [""; 0]);
    let refused = server.get("/v1/addresses?port=1").send();
    refused.refused("invalid_request");
}
