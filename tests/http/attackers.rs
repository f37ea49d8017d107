//! Attackers beside people who play: what they do costs nobody else.

use std::{
    iter,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    limits::from,
    quick_join::{Taken, end_the_wait, join},
    support::{
        Dice, Message, Signal, Stream, TestGame, TestRequest, TestServer, TestTable, TestViewer::*,
        UNKNOWN_TOKEN, seed,
    },
};

const PROXY: (&str, &str) = ("DOG_TRUSTED_PROXY_HEADER", "X-Forwarded-For");

const PEOPLE: &str = "198.51.100.1";
const FRIEND: &str = "198.51.100.2";
const ATTACKER: &str = "198.51.100.66";

/// What each attacker does, over and over.
const ATTACKS: usize = 60;

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

/// The body of a quick join at one of several tables, each of which has rules of its own.
fn rules_of(table: usize) -> Value {
    json!({"rules": {"preset": "hausregeln", "jokers": 1 + table}})
}

#[test]
fn people_play_on_beside_attackers() {
    let server = TestServer::start_with(&[PROXY]);
    let create = |address: &str, body: Value| {
        let created = from(server.post("/v1/games").json(&body), address).send();
        TestGame::from_created(&server, &created.expect(201))
    };
    let open = vec![json!({"kind": "open"}); 4];
    let table = create(PEOPLE, json!({"seats": open, "join": "anyone"}));
    // With these cards, the game lasts longer than the test.
    let game = json!({"first_dealer": 0, "shuffle_seed": seed(1)});
    let game = create(PEOPLE, game);
    let started = Instant::now();
    let bots = vec![json!({"kind": "bot", "level": "greedy"}); 4];
    let bots = json!({"seats": bots, "bot_pace_ms": 0});
    let bot_games = [(); 8].map(|()| create(ATTACKER, bots.clone()));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ATTACKS {
                come_and_go(&server, server.post(&table.path("/join")));
            }
        });
        scope.spawn(|| {
            for number in 0..ATTACKS {
                let join = server.post("/v1/join").json(&rules_of(number % 6));
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
        let join = server.post(&table.path("/join"));
        let join = join.json(&json!({"seat": seat}));
        from(join, PEOPLE).send().expect(201);
        if seat == 0 {
            let open = server.get("/v1/games?open=true").send().expect(200);
            let open = open["games"].as_array().expect("games");
            assert_eq!(open.len(), 1, "{open:?}");
            assert_eq!(open[0]["id"], table.id);
        }
    }
    // 50 decisions a second, and as many at once.
    let versions: u64 = bot_games.iter().map(TestGame::version).sum();
    let most = 50 * (started.elapsed() + Duration::from_secs(2)).as_secs() + 8;
    assert!((9..=most).contains(&versions), "{versions} of {most}");
    assert_eq!(table.view(Host)["seats"][3]["kind"], "human");
}

/// The server is down for long, and attackers are back before the people.
#[test]
fn nobody_loses_a_seat_by_an_outage_beside_attackers() {
    const TABLES: usize = 6;
    let server = TestServer::start_with(&[PROXY]);
    // Two people wait at each table.
    let people: Vec<Taken<'_>> = (0..2 * TABLES)
        .map(|number| join(&server, &rules_of(number / 2)))
        .collect();
    let attack = || {
        for number in 0..ATTACKS {
            let join = server.post("/v1/join").json(&rules_of(number % TABLES));
            come_and_go(&server, join);
        }
    };
    let come_back = || {
        let streams: Vec<Stream> = people.iter().map(Taken::events).collect();
        for stream in &streams {
            stream.wait_for_presence(json!([true, true, null, null]));
        }
        streams
    };
    let before = come_back();
    attack();
    server.stop(Signal::Kill);
    drop(before);
    for pair in people.chunks(2) {
        assert_eq!(pair[0].id(), pair[1].id());
        end_the_wait(server.database(), pair[0].id());
    }
    server.restart(Signal::Kill);
    thread::scope(|scope| {
        scope.spawn(attack);
        thread::sleep(Duration::from_secs(2));
    });
    let _here = come_back();
    for person in &people {
        let seat = person.seat;
        // The token is still valid, too.
        let view = person.game.view(Seat(seat));
        assert_eq!(view["seats"][seat]["kind"], "human", "{view}");
    }
}

/// People join tables and follow them, while somebody guesses tokens.
#[test]
fn fresh_tokens_open_streams_beside_guesses() {
    const RATE: u64 = 20;
    let server = TestServer::start_with(&[PROXY, ("DOG_ADDRESS_RATE", "20")]);
    let open = |_| TestTable::create(&server, &json!({"join": "anyone"}));
    let tables = [0; 4].map(open);
    let paths = tables.each_ref().map(|table| table.game.path("/events"));
    let _follows = paths.each_ref().map(|path| Stream::open(server.get(path)));
    let (done, refused, limited) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let guess = |seed| {
        let mut dice = Dice::new(seed);
        while !done.load(Ordering::Relaxed) || limited.load(Ordering::Relaxed) == 0 {
            let token: String = (0..UNKNOWN_TOKEN.len())
                .map(|_| char::from(b"0123456789abcdef"[dice.below(16)]))
                .collect();
            let stream = server.get(&paths[dice.below(4)]).token(&token);
            match from(stream, ATTACKER).send().status {
                401 => refused.fetch_add(1, Ordering::Relaxed),
                429 => limited.fetch_add(1, Ordering::Relaxed),
                status => panic!("{status}"),
            };
            assert!(refused.load(Ordering::Relaxed) < 10_000, "no limit");
        }
    };
    let started = Instant::now();
    let streams: Vec<Stream> = thread::scope(|scope| {
        let attackers = [1, 2].map(|seed| scope.spawn(move || guess(seed)));
        let people = tables.map(|mut table| {
            scope.spawn(move || {
                let mut last = Vec::new();
                for seat in 0..4 {
                    table.join(&json!({"seat": seat}));
                    for renewal in 0..6 {
                        if renewal > 0 {
                            table.game.renew(Seat(seat), seat);
                        }
                        let mine = table.game.events(Seat(seat), "");
                        assert_eq!(mine.next().expect("the game").name, "game");
                        if renewal == 5 {
                            last.push(mine);
                        }
                    }
                }
                let settings = json!({"bot_pace_ms": 777});
                table.game.patch(Host, &settings).expect(200);
                last
            })
        });
        let streams = people.map(|person| person.join().expect("streams"));
        done.store(true, Ordering::Relaxed);
        for attacker in attackers {
            attacker.join().expect("refusals");
        }
        streams.into_iter().flatten().collect()
    });
    // The streams of the last tokens go on.
    assert_eq!(streams.len(), 16);
    for stream in &streams {
        let mut changes = iter::from_fn(|| stream.next());
        let changed = |change: Message| change.data["events"][0]["type"] == "settings_changed";
        assert!(changes.any(changed), "it has ended");
    }
    // A guess counts as a request of its address.
    let most = RATE * (started.elapsed().as_secs() + 1 + 5);
    let refused = refused.into_inner();
    assert!(refused <= most, "{refused} of {most}");
}

/// The creator of a game that ended long ago is not known.
#[test]
fn tokens_of_finished_games_give_no_more_than_the_address_has() {
    const RATE: u64 = 2;
    let server = TestServer::start_with(&[PROXY, ("DOG_ADDRESS_RATE", "2")]);
    let finished: Vec<TestGame<'_>> = (0..12)
        .map(|_| {
            let game = TestGame::imported(&server);
            server.database().change_game(&game.id, "creator = NULL");
            game
        })
        .collect();
    let started = Instant::now();
    // A rematch belongs to whoever asks for it.
    let rematches: Vec<TestGame<'_>> = finished[..3]
        .iter()
        .map(|game| {
            let rematch = from(game.post(Host, "/rematch"), ATTACKER).send();
            let rematch = rematch.expect(201);
            let id = rematch["id"].as_str().expect("an id").to_owned();
            TestGame { id, ..game.clone() }
        })
        .collect();
    let games: Vec<&TestGame<'_>> = finished.iter().chain(&rematches).collect();
    let answered = AtomicU64::new(0);
    let read_all = || {
        let mut refused = 0;
        for game in games.iter().cycle().take(60) {
            match from(game.get(Host, ""), ATTACKER).send().status {
                200 => answered.fetch_add(1, Ordering::Relaxed),
                429 => {
                    refused += 1;
                    if refused == 15 {
                        return;
                    }
                    0
                }
                status => panic!("{status}"),
            };
        }
    };
    let created = from(server.post("/v1/games"), FRIEND).send();
    let game = TestGame::from_created(&server, &created.expect(201));
    thread::scope(|scope| {
        let attackers = [(); 4].map(|()| scope.spawn(read_all));
        // Somebody who got a token from a friend is answered as ever.
        for _ in 0..40 {
            from(game.get(Seat(0), ""), PEOPLE).send().expect(200);
        }
        for attacker in attackers {
            attacker.join().expect("answers");
        }
    });
    let most = RATE * (started.elapsed().as_secs() + 1 + 5);
    let answered = answered.into_inner();
    assert!((1..=most).contains(&answered), "{answered} of {most}");
}
