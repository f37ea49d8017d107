//! Clients of one address that ask for very much, and what others notice of it.

use crate::support::{Exposition, Game, Raw, Request, Server, Viewer::*};

const GREEDY: &str = "198.51.100.1";
const OTHER: &str = "198.51.100.2";

/// A server that sees addresses, and limits the rate of none.
fn server(environment: &[(&'static str, &str)]) -> Server {
    let unlimited = [
        ("DOG_TRUSTED_PROXY_HEADER", "X-Forwarded-For"),
        ("DOG_ADDRESS_RATE", "0"),
        ("DOG_TOKEN_RATE", "0"),
        ("DOG_ADVICE_PER_ADDRESS", "0"),
    ];
    Server::start_with(&[&unlimited, environment].concat())
}

fn from<'a>(request: Request<'a>, address: &str) -> Request<'a> {
    request.header("X-Forwarded-For", address)
}

/// Sends a GET request of the greedy address, as the last one of a connection.
fn send(server: &Server, path: &str, headers: &str) -> Raw {
    let mut connection = Raw::connect(server);
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: {GREEDY}\r\nConnection: close\r\n{headers}\r\n"
    );
    connection.send(head.as_bytes());
    connection
}

#[test]
fn advice_is_shared_among_addresses_by_its_time() {
    let server = server(&[("DOG_ADVICE_THREADS", "2")]);
    let game = Game::in_play(&server);
    let seat = game.turn();
    let path = game.path("/suggest-move?budget_ms=2000");
    let token = format!("Authorization: Bearer {}\r\n", game.tokens[seat]);
    let greedy: Vec<Raw> = (0..100).map(|_| send(&server, &path, &token)).collect();
    // Until each of them waits, or is refused.
    loop {
        let told = Exposition::scrape(&server);
        let pool = [("pool", "advisers")];
        let values = ["busy", "waiting", "refused_total"]
            .map(|name| told.value(&format!("dog_pool_{name}"), &pool));
        if values.iter().sum::<f64>() >= 100.0 {
            break;
        }
    }
    for _ in 0..60 {
        let ask = game.get(Seat(seat), "/suggest-move?budget_ms=5");
        from(ask, OTHER).send().expect(200);
    }
    drop(greedy);
}
