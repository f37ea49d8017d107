//! Games that were played in thought before, so that clients do nothing but send the next request
//! and wait for its answer.

use std::{
    thread,
    time::{Duration, Instant},
};

use dog_server::{
    bot::{self, net::nets::Nets},
    rules::{
        event::Action,
        game::{Game, Phase, Setup},
        options::Preset,
        player::{Level, Player},
        seat::Seat,
        shuffle::Seed,
    },
};
use rand::{Rng, SeedableRng, rngs::Xoshiro256PlusPlus};
use serde_json::json;

use super::support::{Client, Server, request};

/// A game from its beginning to its end.
pub struct Script {
    pub seed: Seed,
    pub steps: Vec<Step>,
}

/// An action, and what the store keeps of it.
pub struct Step {
    pub action: Action,
    /// The game after it.
    pub snapshot: String,
    /// Its events.
    pub entry: String,
}

/// Plays a game in thought, all seats greedily.
pub fn script(number: u8) -> Script {
    let nets = Nets::built_in().expect("nets that fit");
    let seed = Seed::new([number; 32]);
    let mut game = Game::new(Setup {
        rules: Preset::DogspielIt.rules(),
        players: vec![Player::human(""); 4],
        first_dealer: Seat::new(0, 4),
        seed: seed.clone(),
        seed_given: true,
    });
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(number.into());
    let mut steps = Vec::new();
    while game.phase() != Phase::Finished {
        let action = next(&game, &nets, &mut dice);
        let events = game.apply(&action).expect("a legal action");
        steps.push(Step {
            snapshot: serde_json::to_string(&game).expect("JSON"),
            entry: serde_json::to_string(&events).expect("JSON"),
            action,
        });
    }
    Script { seed, steps }
}

/// What is to be done next.
fn next(game: &Game, nets: &Nets, dice: &mut impl Rng) -> Action {
    let awaited = |seat: &Seat| game.check_exchange(*seat).is_ok();
    let seat = match game.phase() {
        Phase::Deal => return Action::Deal { by: None },
        Phase::Exchange => Seat::all(4).find(awaited),
        _ => game.turn(),
    };
    let seat = seat.expect("somebody is to act");
    bot::choose(nets, Level::Greedy, None, &game.seen_from(seat), dice).action(seat)
}

/// Has so many clients play for that long; how many plays there were a second, and how many
/// milliseconds each took.
pub fn plays(
    server: &Server,
    scripts: &[Script],
    clients: usize,
    time: Duration,
) -> (f64, Vec<f64>) {
    let begun = Instant::now();
    let client = |number: usize| {
        let mut client = Client::new(&server.address);
        let mut times = Vec::new();
        // Not all at the same place of their games.
        for script in scripts.iter().cycle().skip(number) {
            if !play(
                &mut client,
                script,
                script.steps.len(),
                begun + time,
                &mut times,
            ) {
                break;
            }
        }
        times
    };
    let times: Vec<f64> = thread::scope(|scope| {
        let clients: Vec<_> = (0..clients)
            .map(|number| scope.spawn(move || client(number)))
            .collect();
        let times = clients.into_iter();
        times
            .flat_map(|client| client.join().expect("a client"))
            .collect()
    });
    (times.len() as f64 / time.as_secs_f64(), times)
}

/// Plays a script's first steps; says whether there was time enough.
fn play(
    client: &mut Client,
    script: &Script,
    steps: usize,
    end: Instant,
    times: &mut Vec<f64>,
) -> bool {
    let wish = json!({"shuffle_seed": script.seed.hex(), "first_dealer": 0, "listed": false});
    let game = client.send("POST", "/v1/games", None, Some(wish));
    let path = format!("/v1/games/{}", game["id"].as_str().expect("an id"));
    let host = game["host_token"].as_str().expect("a token");
    let token = |seat: Seat| game["seat_tokens"][usize::from(seat.number())].as_str();
    for step in &script.steps[..steps] {
        let (route, token, body) = match &step.action {
            Action::Deal { .. } => ("deal", Some(host), None),
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
        let request = request("POST", &format!("{path}/{route}"), token, body);
        let sent = Instant::now();
        let (status, _) = client.exchange(request.as_bytes());
        assert_eq!(status, 200, "{route}");
        if Instant::now() > end {
            return false;
        }
        if route == "play" {
            times.push(sent.elapsed().as_secs_f64() * 1_000.0);
        }
    }
    true
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
