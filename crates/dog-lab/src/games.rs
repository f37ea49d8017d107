//! Games that experiments play: what they are named by on the command line, on many threads, from
//! set-up to victory.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use clap::Args;
use dog_rules::{Action, Game, Phase, Player, Preset, Rules, Seat, Seed, Setup};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

/// After this many turns, cards played and hands folded, a game is given up: nobody has won.
pub const MOST_TURNS: u32 = 10_000;

/// The games of an experiment, but for their number.
#[derive(Clone, Debug, Args)]
pub struct GamesArgs {
    /// A preset, and options such as "hausregeln seats=6".
    #[arg(long, default_value = Preset::DogspielIt.name())]
    pub rules: Rules,
    /// What the cards and the players' luck are drawn from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub threads: ThreadsArg,
}

/// How many threads are to be used.
#[derive(Clone, Copy, Debug, Args)]
pub struct ThreadsArg {
    /// Threads to use; as many as there are cores if left out.
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,
}

/// Reads a number of threads.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &NonZeroUsize| number.get() <= 512)
        .ok_or_else(|| "a number of threads is 1 to 512".to_owned())
}

impl ThreadsArg {
    /// The number asked for, or the number of cores.
    pub fn number(self) -> NonZeroUsize {
        let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(cores)
    }
}

impl GamesArgs {
    /// Plays so many games on many threads; what each came to, in the order of their numbers.
    pub fn each<T: Send>(&self, games: u32, play: impl Fn(u32) -> T + Sync) -> Vec<T> {
        let threads = self.threads.number().get();
        each_game(games, threads, || (), |(), number| play(number))
    }

    /// One of the streams of random numbers that follow from the seed.
    pub fn stream(&self, number: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number);
        rng
    }
}

/// What each of so many games came to, in the order of their numbers: what is made of it does not
/// depend on the threads that played them. `begin` makes what a thread keeps between games.
///
/// # Panics
/// If `play` does.
pub fn each_game<S, T: Send>(
    games: u32,
    threads: usize,
    begin: impl Fn() -> S + Sync,
    play: impl Fn(&mut S, u32) -> T + Sync,
) -> Vec<T> {
    let next = AtomicU32::new(0);
    let played = Mutex::new(BTreeMap::new());
    let work = || {
        let mut state = begin();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= games {
                break;
            }
            let game = play(&mut state, number);
            let mut played = played.lock().expect("no thread panicked");
            played.insert(number, game);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let played = played.into_inner().expect("no thread panicked");
    played.into_values().collect()
}

/// A game before the first deal, its shuffle seed drawn.
pub fn set_up(rules: &Rules, rng: &mut impl Rng) -> Game {
    let mut seed = [0; 32];
    rng.fill_bytes(&mut seed);
    Game::new(Setup {
        rules: rules.clone(),
        players: vec![Player::human(""); usize::from(rules.seats)],
        first_dealer: None,
        seed: Seed::new(seed),
        seed_given: true,
    })
}

/// Plays a game to its end as `decide` says; the winning team, none if the game was given up.
///
/// # Panics
/// If `decide` does what the rules refuse.
pub fn play_out(game: &mut Game, mut decide: impl FnMut(&Game, Seat) -> Action) -> Option<u8> {
    let seats = game.rules().seats;
    let mut seat = game.beginner();
    let mut turns = 0;
    while turns < MOST_TURNS {
        match game.phase() {
            Phase::Finished => break,
            Phase::Deal => {
                let dealt = game.apply(&Action::Deal { by: None });
                dealt.expect("the round is over");
                // So that the beginner is the first to be asked in the exchange.
                seat = game.beginner().plus(seats - 1, seats);
                continue;
            }
            // Round and round, so that who said "help!" answers after the others have heard.
            Phase::Exchange => {
                let next = seat.next_of(seats, |seat| game.check_exchange(seat).is_ok());
                seat = next.expect("an exchange waits for somebody");
            }
            Phase::Play => {
                turns += 1;
                seat = game.turn().expect("somebody is to move");
            }
        }
        let action = decide(game, seat);
        if let Err(refusal) = game.apply(&action) {
            panic!("{seat}: {action:?} refused: {refusal}");
        }
    }
    game.winner()
}
