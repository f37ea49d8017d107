//! The games of experiments: their command line options, threads, and play from set-up to victory.

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
use dog_bot::{
    Choice,
    net::{evaluator::Scratch, nets::Nets},
    player_model::PlayerModels,
};
use dog_rules::{
    Action, Cards, Game, Phase, Player, Preset, Rules, Seat, SeatView, Seed, Setup, judge::judge,
    round_history::PastMove,
};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

/// A game is abandoned after this many turns (cards played and hands folded). Nobody has won it.
pub const MAX_TURNS: u32 = 10_000;

/// The games of an experiment, except their number.
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

/// The number of threads to use.
#[derive(Clone, Copy, Debug, Default, Args)]
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
    /// The configured number, or the number of cores.
    pub fn number(self) -> NonZeroUsize {
        self.threads
            .unwrap_or_else(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl GamesArgs {
    /// Plays this many games on many threads. Returns the result of each, in the order of their
    /// numbers.
    pub fn each<T: Send>(&self, games: u32, play: impl Fn(u32) -> T + Sync) -> Vec<T> {
        let threads = self.threads.number().get();
        each_game(games, threads, || (), |(), number| play(number))
    }

    /// One of the random streams that follow from the seed.
    pub fn stream(&self, number: u64) -> ChaCha8Rng {
        stream(self.seed, number)
    }
}

/// One of the random streams that follow from a seed.
pub fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

/// The result of each of this many games, in the order of their numbers, so it does not depend on
/// the threads. `begin` makes what a thread keeps between games.
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

/// A game before the first deal, with a random shuffle seed.
pub fn set_up(rules: &Rules, rng: &mut impl Rng) -> Game {
    let mut seed = [0; 32];
    rng.fill_bytes(&mut seed);
    Game::new(Setup {
        rules: rules.clone(),
        players: vec![Player::human(""); usize::from(rules.seats)],
        first_dealer: None,
        seed: Seed::new(seed),
        seed_given: true,
        must_confirm: Vec::new(),
    })
}

/// What somebody who watches a game learns of how the seats play.
pub struct Watching<'n> {
    nets: &'n Nets,
    pub models: PlayerModels,
    /// The number of the round, and its moves so far.
    round: (u32, Vec<PastMove>),
    scratch: Scratch,
}

impl<'n> Watching<'n> {
    /// Before the first move.
    pub fn new(nets: &'n Nets) -> Watching<'n> {
        Watching {
            nets,
            models: PlayerModels::default(),
            round: (1, Vec::new()),
            scratch: Scratch::default(),
        }
    }

    /// Sees a game in which this seat is to act.
    pub fn see(&mut self, view: &SeatView) {
        if view.round > self.round.0 {
            let (evaluator, moves) = (self.nets.for_rules(view.rules), &self.round.1);
            self.models
                .observe(evaluator, view.rules, moves, &mut self.scratch);
            self.round = (view.round, Vec::new());
        }
    }

    /// Sees what the seat chooses.
    pub fn see_choice(&mut self, view: &SeatView, choice: Choice) {
        let Choice::Play(mv) = choice else { return };
        if let Ok(outcome) = judge(view.rules, &view.board, view.seat, view.hand, &mv) {
            self.round.1.push(PastMove {
                seat: view.seat,
                before: view.board,
                card: mv.card(),
                revealed: mv.card().map_or(view.hand, Cards::one),
                after: outcome.board,
            });
        }
    }
}

/// Plays a game to its end by the actions of `decide`. Returns the winning team; none if the game
/// was abandoned.
///
/// # Panics
/// If the rules refuse an action of `decide`.
pub fn play_out(game: &mut Game, mut decide: impl FnMut(&Game, Seat) -> Action) -> Option<u8> {
    let seats = game.rules().seats;
    let mut seat = game.beginner();
    let mut turns = 0;
    while turns < MAX_TURNS {
        match game.phase() {
            Phase::Finished => break,
            Phase::Seating | Phase::Deal => {
                let dealt = game.apply(&Action::Deal { by: None });
                dealt.expect("the round is over");
                // The beginner is asked first in the exchange.
                seat = game.beginner().plus(seats - 1, seats);
                continue;
            }
            // In turns, so that a seat that said "help!" answers after the others have heard it.
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
