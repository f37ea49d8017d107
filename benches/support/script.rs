//! Games that were played out in advance, so that clients only send the next request
//! and wait for the response.

#![allow(dead_code, reason = "not every bench uses all of it")]

use std::{
    io::ErrorKind,
    time::{Duration, Instant},
};

use actix_web::rt::{System, net::TcpStream};
use dog_bot::{net::nets::Nets, player_model::PlayerModels};
use dog_rules::{Action, Game, Level, Player, Preset, Seat, Seed, Setup};
use futures_util::future::join_all;
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use serde_json::{Value, json};

use super::support::{BenchServer, request};

/// A game from its beginning to its end.
pub struct Script {
    pub seed: Seed,
    pub steps: Vec<ScriptStep>,
}

impl Script {
    /// The body that creates the game.
    pub fn creation(&self) -> Value {
        json!({"shuffle_seed": self.seed.hex(), "first_dealer": 0, "listed": false})
    }

    /// The requests that play it, given the response to its creation.
    pub fn requests(&self, game: &Value) -> impl Iterator<Item = String> {
        let path = format!("/v1/games/{}", game["id"].as_str().expect("an id"));
        let host = game["host_token"].as_str();
        let token = |seat: Seat| game["seat_tokens"][usize::from(seat.number())].as_str();
        self.steps.iter().map(move |step| {
            let (route, token, body) = match &step.action {
                Action::Deal { .. } => ("deal", host, None),
                Action::Offer { seat, card } => (
                    "swap",
                    token(*seat),
                    Some(json!({"card": card.to_string()})),
                ),
                Action::Play { seat, mv } => {
                    ("play", token(*seat), Some(json!({"move": mv.to_string()})))
                }
                _ => unreachable!("no other action is in a script"),
            };
            request("POST", &format!("{path}/{route}"), token, body)
        })
    }
}

/// An action, and what the store saves for it.
pub struct ScriptStep {
    pub action: Action,
    /// The game after it.
    pub snapshot: String,
    /// Its events.
    pub entry: String,
}

/// Plays a game in memory, all seats greedily.
pub fn script(number: u8) -> Script {
    let nets = Nets::built_in();
    let seed = Seed::new([number; 32]);
    let mut game = beginning(&seed);
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(number.into());
    let mut steps = Vec::new();
    let mut choose = |game: &Game, seat| {
        let (view, models) = (game.seen_from(seat), PlayerModels::default());
        dog_bot::choose(&nets, Level::Greedy, None, &view, &models, &mut dice).action(seat)
    };
    while let Some((action, events)) = game.step(&mut choose).expect("a legal action") {
        steps.push(ScriptStep {
            snapshot: serde_json::to_string(&game).expect("JSON"),
            entry: serde_json::to_string(&events).expect("JSON"),
            action,
        });
    }
    Script { seed, steps }
}

/// A script's game before its first step.
pub fn beginning(seed: &Seed) -> Game {
    Game::new(Setup {
        rules: Preset::DogspielIt.rules(),
        players: vec![Player::human(""); 4],
        first_dealer: Seat::new(0, 4),
        seed: seed.clone(),
        seed_given: true,
        must_confirm: Vec::new(),
    })
}

/// Lets this many clients deal, swap and play for this long. Returns the number of actions per
/// second and the milliseconds that each took. All clients share one thread, which leaves the
/// machine to the server.
pub fn actions(
    server: &BenchServer,
    scripts: &[Script],
    clients: usize,
    time: Duration,
) -> (f64, Vec<f64>) {
    let end = Instant::now() + time;
    let client = async |number: usize| {
        let mut player = ScriptClient::new(&server.address);
        // Clients start at different points of their games.
        for script in scripts.iter().cycle().skip(number) {
            if !player.plays(script, end).await {
                break;
            }
        }
        player.times
    };
    let times: Vec<f64> = System::new()
        .block_on(join_all((0..clients).map(client)))
        .concat();
    (times.len() as f64 / time.as_secs_f64(), times)
}

/// A client that plays scripts.
struct ScriptClient {
    stream: TcpStream,
    response: Vec<u8>,
    /// Milliseconds that each of its actions took.
    times: Vec<f64>,
}

impl ScriptClient {
    fn new(address: &str) -> ScriptClient {
        let stream = std::net::TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        stream.set_nonblocking(true).expect("an async socket");
        ScriptClient {
            stream: TcpStream::from_std(stream).expect("an async socket"),
            response: Vec::new(),
            times: Vec::new(),
        }
    }

    /// Plays a script; returns whether there was enough time.
    async fn plays(&mut self, script: &Script, end: Instant) -> bool {
        let created = request("POST", "/v1/games", None, Some(script.creation()));
        let (201, body) = self.exchange(&created).await else {
            panic!("no game");
        };
        let game: Value = serde_json::from_slice(body).expect("JSON");
        for request in script.requests(&game) {
            let sent = Instant::now();
            let (status, _) = self.exchange(&request).await;
            assert_eq!(status, 200, "{request}");
            if Instant::now() > end {
                return false;
            }
            self.times.push(sent.elapsed().as_secs_f64() * 1_000.0);
        }
        true
    }

    /// Sends a request and waits for the response: its status and body.
    async fn exchange(&mut self, request: &str) -> (u16, &[u8]) {
        self.stream.writable().await.expect("a connection");
        let sent = self.stream.try_write(request.as_bytes()).expect("sent");
        assert_eq!(sent, request.len(), "sent at once");
        self.response.clear();
        loop {
            self.stream.readable().await.expect("a response");
            let mut piece = [0; 16 * 1024];
            match self.stream.try_read(&mut piece) {
                Ok(0) => panic!("the server hung up"),
                Ok(length) => self.response.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => panic!("{error}"),
            }
            if let Some((status, start)) = whole(&self.response) {
                return (status, &self.response[start..]);
            }
        }
    }
}

/// The status of a response and where its body begins; none while it is incomplete.
fn whole(response: &[u8]) -> Option<(u16, usize)> {
    let end = response.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = str::from_utf8(&response[..end]).expect("a head");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().expect("a length"));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let start = end + 4;
    (response.len() >= start + length).then(|| (status.expect("a status"), start))
}

/// The median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
