//! One pair: games with the same cards, in which player A holds each team once.

use std::time::{Duration, Instant};

use dog_rules::{
    event::Action,
    game::{Game, Phase, Setup},
    options::Rules,
    player,
    seat::{BySeat, Seat},
    shuffle::Seed,
};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

use crate::player::Player;

/// After this many turns, cards played and hands folded, a game is given up: nobody has won.
pub const MOST_TURNS: u32 = 10_000;

/// The stream of random numbers that the shuffle seed is taken from; those below are the seats'.
const SHUFFLE_STREAM: u64 = 7;
/// Streams set aside for each pair.
const STREAMS: u64 = 8;

/// What the games of one pair came to. Of two entries, the first is player A's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Games won; with three teams, B wins those of either other team.
    pub wins: [u32; 2],
    /// Games that were given up.
    pub unfinished: u32,
    pub thinking: [Thinking; 2],
}

/// How long a player thought, by the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thinking {
    /// Decisions, those with a single choice included.
    pub decisions: u64,
    pub total: Duration,
    pub longest: Duration,
}

impl Thinking {
    /// The mean of a decision; zero if there was none.
    pub fn mean(&self) -> Duration {
        let nanos = self.total.as_nanos() / u128::from(self.decisions.max(1));
        Duration::from_nanos(nanos as u64)
    }

    fn decided(&mut self, time: Duration) {
        self.decisions += 1;
        self.total += time;
        self.longest = self.longest.max(time);
    }

    /// Adds what was thought elsewhere.
    pub fn add(&mut self, other: &Thinking) {
        self.decisions += other.decisions;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }
}

/// Where pairs are played, one after another: one thread's.
pub struct Table<'a> {
    rules: &'a Rules,
    /// The match seed as the key of every stream of random numbers.
    key: [u8; 32],
    players: [Box<dyn Player>; 2],
}

impl<'a> Table<'a> {
    /// A table for players A and B.
    pub fn new(rules: &'a Rules, seed: u64, players: [Box<dyn Player>; 2]) -> Table<'a> {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Table {
            rules,
            key,
            players,
        }
    }

    /// Plays pair `number` of the match: the same cards once for each team that A may hold.
    ///
    /// # Panics
    /// If a player does what it may not.
    pub fn pair(&mut self, number: u32) -> Pair {
        let mut pair = Pair::default();
        for team in 0..self.rules.seats / 2 {
            match self.game(number, team, &mut pair.thinking) {
                Some(winner) => pair.wins[usize::from(winner != team)] += 1,
                None => pair.unfinished += 1,
            }
        }
        pair
    }

    /// Plays one game in which A holds `team`; the winning team.
    fn game(&mut self, pair: u32, team: u8, thinking: &mut [Thinking; 2]) -> Option<u8> {
        let seats = self.rules.seats;
        let mut game = self.set_up(pair);
        // Each seat has its own luck, whoever sits there: a player against itself plays the same
        // game again.
        let mut luck = BySeat::from_fn(|seat| self.stream(pair, seat as u64));
        play_out(&mut game, |game, seat| {
            let side = usize::from(seat.team(seats) != team);
            self.decide(side, game, seat, &mut luck[seat], &mut thinking[side])
        })
    }

    fn decide(
        &mut self,
        side: usize,
        game: &Game,
        seat: Seat,
        luck: &mut ChaCha8Rng,
        thinking: &mut Thinking,
    ) -> Action {
        let view = game.seen_from(seat);
        let begin = Instant::now();
        let choice = self.players[side].choose(&view, luck);
        thinking.decided(begin.elapsed());
        choice.action(seat)
    }

    /// The game of this pair before the first deal.
    fn set_up(&self, pair: u32) -> Game {
        let mut seed = [0; 32];
        self.stream(pair, SHUFFLE_STREAM).fill_bytes(&mut seed);
        set_up(self.rules, seed)
    }

    /// The random numbers of one seat, or of the cards, in one pair: they follow from the match
    /// seed, the pair and the seat, and from nothing else.
    fn stream(&self, pair: u32, number: u64) -> ChaCha8Rng {
        let mut stream = ChaCha8Rng::from_seed(self.key);
        stream.set_stream(u64::from(pair) * STREAMS + number);
        stream
    }
}

/// A game before the first deal.
pub(super) fn set_up(rules: &Rules, seed: [u8; 32]) -> Game {
    let nobody = player::Player::human("");
    Game::new(Setup {
        rules: rules.clone(),
        players: vec![nobody; usize::from(rules.seats)],
        first_dealer: None,
        seed: Seed::new(seed),
        seed_given: true,
    })
}

/// Plays a game to its end as `decide` says; the winning team, none if the game was given up.
///
/// # Panics
/// If `decide` does what the rules refuse.
pub(super) fn play_out(
    game: &mut Game,
    mut decide: impl FnMut(&Game, Seat) -> Action,
) -> Option<u8> {
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
