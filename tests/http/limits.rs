//! Limits on rates, sizes, counts and slow clients.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{
    Raw, Stream, TestGame, TestRequest, TestResponse, TestServer, TestViewer::*, UNKNOWN_TOKEN,
    raw, wait_until,
};

pub const HERE: &str = "198.51.100.1";
pub const THERE: &str = "198.51.100.2";

/// More requests than any quota in these tests allows at once.
const MANY: usize = 200;

/// A server behind a proxy, with these limits too.
pub fn behind_a_proxy(limits: &[(&'static str, &str)]) -> TestServer {
    let proxy = ("DOG_TRUSTED_PROXY_HEADER", "X-Forwarded-For");
    TestServer::start_with(&[&[proxy], limits].concat())
}

pub fn from<'a>(request: TestRequest<'a>, address: &str) -> TestRequest<'a> {
    request.header("X-Forwarded-For", address)
}

/// Repeats a request until it is refused by the rate limit.
#[track_caller]
fn exhaust<'a>(ask: impl Fn() -> TestRequest<'a>) -> TestResponse {
    let mut responses = (0..MANY).map(|_| ask().send());
    let refused = responses.find(|response| response.status == 429);
    let refused = refused.expect("too many requests");
    refused.clone().refused("too_many_requests");
    refused
}

#[test]
fn a_refusal_by_rate_says_when_to_retry() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "1")]);
    let rules = |address| from(server.get("/v1/rules"), address);
    let refused = exhaust(|| rules(HERE));
    assert_eq!(refused.header("retry-after"), Some("1"));
    let policy = refused.header("ratelimit-policy");
    assert_eq!(policy, Some("\"requests\";q=5;w=5"));
    assert_eq!(refused.header("access-control-allow-origin"), None);
    assert!(refused.header("x-request-id").is_some());
    // Other addresses are not affected, whatever addresses the client itself adds to the header.
    rules(THERE).send().expect(200);
    exhaust(|| from(server.get("/v1/rules"), &format!("{THERE}, {HERE}")));
    rules(THERE).send().expect(200);
    // Nor are the operator's routes.
    for path in ["/healthz", "/readyz"] {
        for _ in 0..20 {
            from(server.get(path), HERE).send().expect(200);
        }
    }
    // A web page must be able to read the reason.
    let refused = exhaust(|| rules(HERE).header("Origin", "https://example.org"));
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
    // The quota refills by one a second.
    let is_served = || rules(HERE).send().status != 429;
    wait_until("the address is served again", is_served);
}

/// CORS answers them, but they count like other requests.
#[test]
fn preflights_have_the_limits_of_other_requests() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "1")]);
    let preflight = |address| {
        let request = server
            .request("OPTIONS", "/v1/rules")
            .header("Origin", "https://example.org");
        from(
            request.header("Access-Control-Request-Method", "GET"),
            address,
        )
    };
    let allowed = preflight(HERE).send();
    assert_eq!(allowed.status, 200);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("*"));
    exhaust(|| preflight(HERE));
    let large = preflight(THERE)
        .header("X-Large", &"x".repeat(20_000))
        .send();
    large.refused("headers_too_large");
    assert_eq!(preflight(THERE).send().status, 200);
}

/// A game in play that this address has created.
#[track_caller]
fn game_from<'a>(server: &'a TestServer, address: &str) -> TestGame<'a> {
    let body = json!({"rules": {"preset": "hausregeln"}, "first_dealer": 0});
    let created = from(server.post("/v1/games").json(&body), address).send();
    let game = TestGame::from_created(server, &created.expect(201));
    game.deal();
    game.exchange();
    game
}

#[test]
fn a_token_of_the_game_has_its_own_quota() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "1"), ("DOG_TOKEN_RATE", "1000")]);
    let game = game_from(&server, THERE);
    exhaust(|| from(game.get(Spectator, ""), HERE));
    for _ in 0..6 {
        let (seat, id) = game.first_move();
        let play = game.post(Seat(seat), "/play").json(&json!({"move": id}));
        from(play, HERE).send().expect(200);
        from(game.get(Seat(seat), ""), HERE).send().expect(200);
        from(game.get(Host, ""), HERE).send().expect(200);
    }
    Stream::open(from(game.get(Seat(0), "/events"), HERE)).take(1);
    // Without one, everything is a request like another.
    for (method, rest) in [
        ("GET", "/events"),
        ("GET", "/events?ticket=x"),
        ("GET", "?after_version=0"),
        ("POST", "/events/ticket"),
        ("POST", "/deal"),
    ] {
        let ask = |_| from(game.request(method, Spectator, rest), HERE).run();
        let refused = (0..MANY).map(ask).any(|response| response.status() == 429);
        assert!(refused, "{method} {rest}");
    }
}

#[test]
fn inventing_tokens_gains_nothing() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "1"), ("DOG_TOKEN_RATE", "1000")]);
    let game = game_from(&server, THERE);
    let other = game_from(&server, THERE);
    let ask = |game: &TestGame<'_>, token: &str| {
        let request = server.get(&game.path("")).token(token);
        from(request, HERE)
    };
    exhaust(|| ask(&game, UNKNOWN_TOKEN));
    // The address has no quota left for clients without a token of this game.
    exhaust(|| ask(&game, &other.tokens[0]));
    ask(&game, &game.tokens[0]).send().expect(200);
    ask(&other, &other.tokens[0]).send().expect(200);
    // A replaced token is no longer a token of the game.
    let old = &game.tokens[2];
    ask(&game, old).send().expect(200);
    game.post(Seat(2), "/seats/2/token").send().expect(200);
    exhaust(|| ask(&game, old));
}

#[test]
fn an_exhausted_token_affects_no_other() {
    let server = behind_a_proxy(&[("DOG_TOKEN_RATE", "1")]);
    let game = TestGame::in_play(&server);
    for address in [HERE, THERE] {
        exhaust(|| from(game.get(Seat(0), ""), address));
    }
    from(game.get(Seat(1), ""), HERE).send().expect(200);
    from(game.get(Spectator, ""), HERE).send().expect(200);
}

#[test]
fn an_address_has_a_quota_of_creations() {
    let server = behind_a_proxy(&[("DOG_GAMES_PER_ADDRESS", "2")]);
    let create = |address| from(server.post("/v1/games"), address).send();
    let import = |address| {
        let import = server.post("/v1/games/import");
        let import = import.text("text/plain", include_str!("../records/four.dog"));
        from(import, address).send()
    };
    create(HERE).expect(201);
    import(HERE).expect(201);
    let refused = create(HERE);
    let wait = refused.header("retry-after").unwrap_or("0");
    let wait: u64 = wait.parse().expect("seconds");
    assert!((900..=1800).contains(&wait), "{wait}");
    refused.refused("too_many_requests");
    import(HERE).refused("too_many_requests");
    // A path that is written in another way is the same path.
    let other_way = format!(
        "POST /v1/%67ames HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: {HERE}\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    raw(&server, other_way.as_bytes()).refused("too_many_requests");
    from(server.get("/v1/games"), HERE).send().expect(200);
    create(THERE).expect(201);
}

/// A question that is charged as advice.
fn analysis(server: &TestServer) -> TestRequest<'_> {
    let position = json!({"board": [{}, {}, {}, {}], "seat": 0, "hand": ["2"]});
    server.post("/v1/analysis/legal-moves").json(&position)
}

#[test]
fn an_address_has_a_quota_of_advice() {
    let server = behind_a_proxy(&[("DOG_ADVICE_PER_ADDRESS", "1")]);
    let game = TestGame::in_play(&server);
    let (seat, id) = game.first_move();
    exhaust(|| from(game.get(Seat(seat), "/suggest-move?level=random"), HERE));
    exhaust(|| from(analysis(&server), HERE));
    let play = game.post(Seat(seat), "/play").json(&json!({"move": id}));
    from(play, HERE).send().expect(200);
}

/// The name of the limit that a response announces, its quota and window, and what is left.
fn announced(response: &TestResponse) -> Option<(String, u64, u64, u64)> {
    let policy = response.header("ratelimit-policy")?;
    let (name, rest) = policy.split_once(";q=").expect("a quota");
    let (quota, window) = rest.split_once(";w=").expect("a window");
    let limit = response.header("ratelimit").expect("what is left");
    let (same, rest) = limit.split_once(";r=").expect("a remainder");
    let (left, wait) = rest.split_once(";t=").expect("a time");
    assert_eq!(name, same);
    let number = |text: &str| text.parse().expect("a number");
    let [quota, window, left, wait] = [quota, window, left, wait].map(number);
    assert!(wait > 0 && wait <= window && left < quota, "{limit}");
    Some((name.to_owned(), quota, window, left))
}

#[test]
fn limits_are_announced_where_they_are_tight() {
    let server = behind_a_proxy(&[
        ("DOG_GAMES_PER_ADDRESS", "4"),
        ("DOG_ADVICE_PER_ADDRESS", "1"),
        ("DOG_TOKEN_RATE", "1"),
    ]);
    let games = |left| Some(("\"games\"".to_owned(), 4, 3600, left));
    let body = json!({"seats": [{}, {"kind": "open"}, {}, {}], "join": "anyone"});
    let create = || from(server.post("/v1/games").json(&body), HERE).send();
    let created = create();
    assert_eq!(announced(&created), games(3));
    let id = created.expect(201)["id"].as_str().unwrap().to_owned();
    let join = server.post(&format!("/v1/games/{id}/join"));
    let joined = from(join, HERE).send();
    assert_eq!((joined.status, announced(&joined)), (201, games(2)));
    let record = include_str!("../records/four.dog");
    let import = server.post("/v1/games/import").text("text/plain", record);
    assert_eq!(announced(&from(import, HERE).send()), games(1));
    // What fails is charged, too.
    let failed = server.post("/v1/games").json(&json!({"x": 0}));
    let failed = from(failed, HERE).send();
    assert_eq!((failed.status, announced(&failed)), (422, games(0)));
    let refused = create();
    assert_eq!((refused.status, announced(&refused)), (429, games(0)));

    let advice = |left| Some(("\"advice\"".to_owned(), 10, 10, left));
    let first = from(analysis(&server), THERE).send();
    assert_eq!(announced(&first), advice(9));
    let refused = exhaust(|| from(analysis(&server), THERE));
    assert_eq!(announced(&refused), advice(0));

    // Elsewhere only a refusal tells, and a client on this machine has no limits.
    let game = TestGame::fixed(&server);
    let look = || from(game.get(Seat(0), ""), THERE);
    assert_eq!(announced(&look().send()), None);
    let refused = exhaust(look);
    assert_eq!(announced(&refused), Some(("\"token\"".to_owned(), 5, 5, 0)));
    assert_eq!(announced(&analysis(&server).send()), None);
}

/// A request by a proxy without the header does not count as a local client.
#[test]
fn clients_that_the_proxy_does_not_name_count_as_one() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "1")]);
    let ask = |address: &str| from(server.get("/v1/rules"), address);
    for unreadable in ["", "unknown", "_hidden", "198.51.100.1,", "é", "1.2.3.4.5"] {
        exhaust(|| ask(unreadable));
    }
    ask(HERE).send().expect(200);
    // Without the header it is a local program.
    for _ in 0..20 {
        server.get("/v1/rules").send().expect(200);
    }
}

#[test]
fn local_clients_have_no_limit_and_only_a_trusted_header_counts() {
    let server = TestServer::start_with(&[
        ("DOG_ADDRESS_RATE", "1"),
        ("DOG_TOKEN_RATE", "1"),
        ("DOG_GAMES_PER_ADDRESS", "1"),
        ("DOG_ADVICE_PER_ADDRESS", "1"),
    ]);
    let game = TestGame::fixed(&server);
    for _ in 0..30 {
        from(server.get("/v1/rules"), HERE).send().expect(200);
        from(game.get(Seat(0), ""), HERE).send().expect(200);
        from(server.post("/v1/games"), HERE).send().expect(201);
    }
}

#[test]
fn zero_means_no_limit() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "0"), ("DOG_GAMES_PER_ADDRESS", "0")]);
    for _ in 0..600 {
        from(server.get("/v1/rules"), HERE).send().expect(200);
    }
    for _ in 0..310 {
        from(server.post("/v1/games"), HERE).send().expect(201);
    }
}

#[test]
fn paths_and_headers_have_a_size() {
    let server = TestServer::start();
    let query = |length| server.get(&format!("/v1/rules?{}", "x".repeat(length)));
    query(8_000).send().refused("invalid_request");
    query(9_000).send().refused("uri_too_long");
    let path = format!("/v1/games/{}", "x".repeat(9_000));
    server.get(&path).send().refused("uri_too_long");
    for length in [60_000, 65_000] {
        query(length).send().refused("uri_too_long");
    }
    // A head longer than 64 KiB is refused while it is read, and the connection is closed.
    for length in [70_000, 100_000, 200_000, 2_000_000] {
        let mut connection = Raw::connect(&server);
        let query = "x".repeat(length);
        let head = format!("GET /v1/rules?{query} HTTP/1.1\r\nHost: a\r\n\r\n");
        connection.send(head.as_bytes());
        let response = connection.response().expect("a response");
        let status = response.status;
        assert!([400, 431].contains(&status), "{length}: {status}");
        assert!(connection.responses().is_empty(), "it ends");
    }
    let get = |headers: &str| {
        let head =
            format!("GET /v1/rules HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
        raw(&server, head.as_bytes())
    };
    let header = |length: usize| format!("X-Large: {}\r\n", "x".repeat(length));
    get(&header(16_000)).expect(200);
    get(&header(17_000)).refused("headers_too_large");
    get(&header(9_000).repeat(2)).refused("headers_too_large");
    get(&"X-Many: 1\r\n".repeat(60)).expect(200);
    get(&"X-Many: 1\r\n".repeat(70)).refused("headers_too_large");
}

#[test]
fn what_is_refused_by_its_head_is_charged() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "1")]);
    let heads = [
        (
            414,
            format!("GET /v1/rules?{} HTTP/1.1\r\nHost: a", "x".repeat(9_000)),
        ),
        (
            431,
            format!("GET /none HTTP/1.1\r\nHost: a\r\nA: {}", "x".repeat(17_000)),
        ),
        (400, "GET /healthz HTTP/1.1\r\nHost: a b".to_owned()),
        (
            400,
            "POST /v1/games HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\
             Authorization: Bearer y"
                .to_owned(),
        ),
    ];
    for (number, (status, head)) in heads.iter().enumerate() {
        let address = format!("192.0.2.{number}");
        let request = format!("{head}\r\nX-Forwarded-For: {address}\r\nContent-Length: 0\r\n\r\n");
        let mut connection = Raw::connect(&server);
        let mut answers = (0..20).map(|_| {
            connection.send(request.as_bytes());
            connection.response().expect("a response")
        });
        let first = answers.next().expect("an answer");
        assert_eq!(first.status, *status, "{head}");
        let refused = answers.find(|answer| answer.status == 429);
        refused.expect("a limit").refused("too_many_requests");
        // As one request like another, whatever it would have cost.
        from(server.get("/v1/rules"), &address)
            .send()
            .refused("too_many_requests");
        from(server.get("/healthz"), &address).send().expect(200);
    }
}

#[test]
fn a_network_of_ipv6_has_ten_times_as_much_as_an_address() {
    let server = behind_a_proxy(&[
        ("DOG_GAMES_PER_ADDRESS", "1"),
        ("DOG_ADVICE_PER_ADDRESS", "1"),
        ("DOG_ADDRESS_RATE", "20"),
    ]);
    let create = |address: &str| from(server.post("/v1/games"), address).send();
    for number in 0..10 {
        let address = format!("2001:db8:7:{number}::1");
        create(&address).expect(201);
        // What one address is refused is not charged to its network.
        create(&address).refused("too_many_requests");
    }
    let refused = create("2001:db8:7:ffff::1");
    let policy = refused.header("ratelimit-policy");
    assert_eq!(policy, Some("\"games\";q=10;w=3600"));
    refused.refused("too_many_requests");
    create("2001:db8:8::1").expect(201);
    let advised = from(analysis(&server), "2001:db8:7:1::1").send();
    assert_eq!(
        announced(&advised).map(|(name, ..)| name),
        Some("\"advice\"".to_owned())
    );
    // Requests are counted by /64 alone.
    for number in 0..300 {
        let rules = server.get("/v1/rules");
        from(rules, &format!("2001:db8:7:{number:x}::1"))
            .send()
            .expect(200);
    }
}

/// A connection from this address on which a GET request about a game was sent.
fn send_from(game: &TestGame<'_>, address: &str, token: &str, rest: &str) -> Raw {
    let request = from(game.get(Spectator, rest), address);
    match token {
        "" => Raw::sent(&request),
        token => Raw::sent(&request.token(token)),
    }
}

#[test]
fn streams_of_one_address_have_a_limit_behind_a_proxy_too() {
    let server = behind_a_proxy(&[("DOG_STREAMS_PER_ADDRESS", "3")]);
    let game = TestGame::dealt(&server);
    let events = |address: &str, seat| from(game.get(seat, "/events"), address);
    let networks = ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1"];
    let open = [Seat(0), Spectator].map(|seat| Stream::open(events(networks[0], seat)));
    let wait = format!("?after_version={}", game.version());
    let mut waiting = send_from(&game, networks[1], &game.tokens[1], &wait);
    wait_until("it waits", || {
        let presence = game.get(Spectator, "/presence").send().expect(200);
        presence["present"][1] == true
    });
    let refused = events(networks[0], Seat(2)).send();
    assert_eq!(refused.header("retry-after"), Some("10"));
    refused.refused("too_many_streams");
    let refused = from(game.get(Seat(1), &wait), networks[0]).send();
    refused.refused("too_many_streams");
    // Neither other requests nor other addresses are affected, nor this machine.
    from(game.get(Seat(1), ""), networks[0]).send().expect(200);
    let head = from(game.request("HEAD", Spectator, "/events"), networks[0]);
    assert_eq!(head.send().status, 200);
    Stream::open(events(networks[2], Spectator)).take(1);
    let _here = [(); 4].map(|()| Stream::open(game.get(Spectator, "/events")));
    // Those that are open go on.
    game.offer(0);
    waiting.response().expect("a response").expect(200);
    for stream in &open {
        let last = stream.take(2).pop().map(|message| message.name);
        assert_eq!(last.as_deref(), Some("change"));
    }
    let again = send_from(&game, networks[0], &game.tokens[2], "/events").status();
    assert_eq!(again, 200, "the long poll has made room");
    drop(open);
    wait_until("there is room again", || {
        send_from(&game, networks[0], "", "/events").status() == 200
    });
}

#[test]
fn an_address_has_few_streams_without_tokens() {
    let server = behind_a_proxy(&[]);
    let game = TestGame::dealt(&server);
    let open = |token: &str, rest: &str| {
        let mut connection = send_from(&game, HERE, token, rest);
        (connection.status(), connection)
    };
    let open_ones: Vec<_> = (0..128).map(|_| open("", "/events")).collect();
    assert!(open_ones.iter().all(|(status, _)| *status == 200));
    let wait = format!("?after_version={}", game.version());
    for rest in ["/events", &wait] {
        let refused = from(game.get(Spectator, rest), HERE).send();
        refused.refused("too_many_streams");
    }
    let ticket = game.post(Seat(1), "/events/ticket").send().expect(200);
    let ticket = ticket["ticket"].as_str().expect("a ticket");
    let with_ticket = open("", &format!("/events?ticket={ticket}"));
    let with_token = open(&game.tokens[1], "/events");
    assert_eq!((with_ticket.0, with_token.0), (200, 200));
    let other = send_from(&game, THERE, "", "/events").status();
    assert_eq!(other, 200);
}

#[test]
fn a_proxy_that_is_not_trusted_is_told_of_once() {
    let warnings = |server: &TestServer| {
        server
            .log()
            .matches("no --trusted-proxy-header is set")
            .count()
    };
    let trusting = behind_a_proxy(&[]);
    let server = TestServer::start();
    for (name, value) in [
        ("X-Forwarded-For", HERE),
        ("Forwarded", "for=198.51.100.1"),
        ("Via", "1.1 proxy"),
    ] {
        server.get("/v1/rules").send().expect(200);
        assert_eq!(warnings(&server), usize::from(name != "X-Forwarded-For"));
        // Unchecked, because the document lists no such headers.
        for server in [&server, &trusting] {
            let response = server.get("/v1/rules").header(name, value).run();
            assert_eq!(response.status(), 200);
        }
    }
    assert_eq!((warnings(&server), warnings(&trusting)), (1, 0));
}

/// A request after which the connection stays open.
const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn one_connection_too_many_is_refused() {
    let server = TestServer::start_with(&[("DOG_MAX_CONNECTIONS", "8")]);
    let mut open = Vec::new();
    let refused = loop {
        let mut connection = Raw::connect(&server);
        connection.send(HEALTH);
        let response = connection.response().expect("a response");
        if response.status != 200 {
            assert!(connection.response().is_none(), "it ends");
            break response;
        }
        open.push(connection);
        assert!(open.len() <= 8, "a limit");
    };
    refused.refused("unavailable");
    // Open connections are served; a closed one makes room.
    for connection in &mut open {
        connection.send(HEALTH);
        connection.response().expect("a response").expect(200);
    }
    open.truncate(4);
    wait_until("there is room again", || raw(&server, HEALTH).status == 200);
}

/// A server with short timeouts.
fn impatient() -> TestServer {
    TestServer::start_with(&[
        ("DOG_CLIENT_TIMEOUT", "1"),
        ("DOG_KEEP_ALIVE", "1"),
        ("DOG_READER_TIMEOUT", "1"),
    ])
}

#[test]
fn a_client_that_sends_no_head_is_cut_off() {
    let server = impatient();
    let begin = |begun: &str| {
        let mut connection = Raw::connect(&server);
        connection.send(begun.as_bytes());
        let responses = connection.responses();
        let are_timeouts = responses.iter().all(|response| response.status == 408);
        assert!(are_timeouts, "{begun:?}");
    };
    let after_a_request = || {
        let mut connection = Raw::connect(&server);
        connection.send(HEALTH);
        connection.response().expect("a response").expect(200);
        connection
    };
    // A later one on the same connection, too.
    let go_on = || {
        let mut connection = after_a_request();
        connection.send(b"GET /v1/ru");
        assert!(connection.responses().is_empty());
    };
    // Even if it comes, a byte at a time.
    let drip = || {
        let mut connection = after_a_request();
        connection.send(b"GET /v1/rules HTTP/1.1\r\nX-Slow: ");
        while connection.try_send(b"x") {
            thread::sleep(Duration::from_millis(100));
        }
    };
    thread::scope(|scope| {
        for begun in ["", "G", "GET /v1/rules HTTP/1.1\r\nHost: a\r\n"] {
            scope.spawn(move || begin(begun));
        }
        scope.spawn(go_on);
        scope.spawn(drip);
    });
}

#[test]
fn a_client_that_sends_a_body_too_slowly_is_cut_off() {
    let server = impatient();
    let before = server.get("/v1/games").send().expect(200);
    let head = |path: &str, how: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{how}\r\n\r\n"
        )
    };
    let stop = |path: &str, how: &str| {
        let mut connection = Raw::connect(&server);
        connection.send(head(path, how).as_bytes());
        let response = connection.response().expect("a response");
        assert_eq!(response.header("connection"), Some("close"));
        response.refused("request_timeout");
        assert!(connection.response().is_none(), "it ends");
    };
    // A byte now and then does not help, whether the handler reads the body or not.
    let drip = |path: &str, how: &str| {
        let mut connection = Raw::connect(&server);
        connection.send(head(path, how).as_bytes());
        let chunk: &[u8] = if how.starts_with('T') {
            b"1\r\n \r\n"
        } else {
            b" "
        };
        while connection.try_send(chunk) {
            thread::sleep(Duration::from_millis(100));
        }
    };
    thread::scope(|scope| {
        for how in ["Content-Length: 1000", "Transfer-Encoding: chunked"] {
            for path in ["/v1/games", "/v1/analysis/legal-moves", "/v1/games/import"] {
                scope.spawn(move || stop(path, how));
            }
            for path in ["/v1/games", "/nowhere"] {
                scope.spawn(move || drip(path, how));
            }
        }
    });
    assert_eq!(server.get("/v1/games").send().expect(200), before);
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_that_reads_nothing_is_cut_off() {
    let server = TestServer::start_with(&[("DOG_READER_TIMEOUT", "1")]);
    let mut connection = Raw::connect(&server);
    // Sends until the server accepts no more: the responses wait to be read. In the end the
    // connection is closed, or this panics.
    let question = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100);
    while connection.try_send(&question) {}
    raw(&server, HEALTH).expect(200);
}

#[test]
fn creating_games_does_not_raise_the_limit_of_an_address() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "1"), ("DOG_TOKEN_RATE", "1000")]);
    let create = |_| {
        let created = from(server.post("/v1/games"), HERE).send();
        TestGame::from_created(&server, &created.expect(201))
    };
    let games = [(); 3].map(create);
    let next = AtomicUsize::new(0);
    let look = |server| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let game = &games[number / 4 % 3];
        TestServer::get(server, &game.path("")).token(&game.tokens[number % 4])
    };
    // Each of the twelve tokens would have had its own limit.
    exhaust(|| from(look(&server), HERE));
    // Every node on the database knows who created them.
    let other = TestServer::beside(&server);
    exhaust(|| from(look(&other), HERE));
    // A friend with a token plays from another address, and the creator does not pay for it.
    for _ in 0..40 {
        from(look(&server), THERE).send().expect(200);
    }
}

/// A refusal costs the server as much as a short response.
#[test]
fn a_client_that_ignores_refusals_gets_them_slowly() {
    let server = behind_a_proxy(&[("DOG_ADDRESS_RATE", "1")]);
    let mut connection = Raw::connect(&server);
    let mut response = |path: &str, address: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: dog\r\nX-Forwarded-For: {address}");
        connection.send((head + "\r\n\r\n").as_bytes());
        let started = Instant::now();
        let status = connection.response().expect("a response").status;
        (status, started.elapsed())
    };
    let second = Duration::from_secs(1);
    let too_long = format!("/{}", "x".repeat(9_000));
    let is_slow = (0..MANY).any(|number| {
        // A refusal of another kind ends no row of refusals.
        let (status, _) = response(&too_long, &format!("203.0.113.{number}"));
        assert_eq!(status, 414);
        let (status, time) = response("/v1/rules", HERE);
        status == 429 && time >= second
    });
    assert!(is_slow, "refusals remain as quick as they were");
    // Others who come over the same connection, as through a proxy, are answered as ever.
    assert_eq!(response("/v1/rules", THERE).0, 200);
}
