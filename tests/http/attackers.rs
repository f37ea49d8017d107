//! Attackers beside people who play: what they do costs nobody else.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Dice, TestGame, TestRequest, TestServer, TestViewer::*};

const PEOPLE: &str = "198.51.100.1";
const ATTACKER: &str = "198.51.100.66";

/// What each attacker does, over and over.
const ATTACKS: usize = 60;

fn from<'a>(request: TestRequest<'a>, address: &str) -> TestRequest<'a> {
    request.header("X-Forwarded-For", address)
}

/// Takes a seat by this request, and gives it up again.
fn come_and_go(server: &TestServer, join: TestRequest<'_>) {
    let joined = from(join, ATTACKER).send();
    if joined.status == 429 {
        return;
    }
    let joined = joined.expect(201);
    let (id, seat) = (joined["game"]["id"].as_str(), &joined["seat"]);
    let token = joined["token"].as_str().expect("a token");
    let path = format!("/v1/games/{}/seats/{seat}", id.expect("an id"));
    let leave = server.request("PUT", &path).token(token);
    let left = from(leave.json(&json!({"kind": "open"})), ATTACKER).send();
    assert!([200, 429].contains(&left.status), "{}", left.status);
}

#[test]
fn people_play_on_beside_attackers() {
    let server = TestServer::start_with(&[("DOG_TRUSTED_PROXY_HEADER", "X-Forwarded-For")]);
    let create = |address: &str, wishes: &Value| {
        let created = from(server.post("/v1/games").json(wishes), address).send();
        TestGame::of(&server, &created.expect(201))
    };
    let seats = |seat: Value| vec![seat; 4];
    let table = create(
        PEOPLE,
        &json!({"seats": seats(json!({"kind": "open"})), "join": "anyone"}),
    );
    let game = create(PEOPLE, &json!({"first_dealer": 0}));
    let begun = Instant::now();
    let bots = json!({"seats": seats(json!({"kind": "bot", "level": "greedy"})), "bot_pace_ms": 0});
    let of_bots = [(); 8].map(|()| create(ATTACKER, &bots));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ATTACKS {
                come_and_go(&server, server.post(&table.path("/join")));
            }
        });
        scope.spawn(|| {
            for number in 0..ATTACKS {
                // Other rules, another table.
                let rules = json!({"preset": "hausregeln", "jokers": 1 + number % 6});
                let join = server.post("/v1/join").json(&json!({"rules": rules}));
                come_and_go(&server, join);
            }
        });
        let mut dice = Dice::new(1);
        for _ in 0..150 {
            game.step(&mut dice);
        }
    });
    // Everybody else sits down, and finds only tables at which somebody sits or is the host.
    for seat in 0..4 {
        let join = server
            .post(&table.path("/join"))
            .json(&json!({"seat": seat}));
        from(join, PEOPLE).send().expect(201);
        if seat == 0 {
            let open = server.get("/v1/games?open=true").send().expect(200);
            let open = open["games"].as_array().expect("games");
            assert_eq!(open.len(), 1, "{open:?}");
            assert_eq!(open[0]["id"], table.id);
        }
    }
    // 50 decisions a second, and as many at once.
    let versions: u64 = of_bots.iter().map(TestGame::version).sum();
    let most = 50 * (begun.elapsed() + Duration::from_secs(2)).as_secs() + 8;
    assert!((9..=most).contains(&versions), "{versions} of {most}");
    assert_eq!(table.view(Host)["seats"][3]["kind"], "human");
}
