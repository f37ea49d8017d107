//! Which games are due, and which of them is next: the time of the threads is shared among those
//! who created the games.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    time::{Duration, Instant},
};

use rand::seq::IndexedRandom;

use crate::{
    fair::{Service, Shares},
    store::{Creator, GameId, Store, StoreError},
};

/// The expected cost of a decision, until it is known.
const EXPECTED: Duration = Duration::from_millis(5);

/// Of so many games with the same right, those that are due for the longest, chance picks one, so
/// that processes that serve the same file seldom work at the same one.
const CHOICE: usize = 8;

/// The games that threads are at, and what their creators have used.
#[derive(Debug)]
pub(super) struct DueScheduler {
    /// Threads that one creator may occupy.
    most_threads: usize,
    /// Some thread is at them, or what it decided has not been announced yet.
    taken: HashSet<GameId>,
    /// Until when they are left alone.
    aside: HashMap<GameId, Instant>,
    shares: Shares<ShareKey>,
    /// Threads that each creator occupies.
    threads: HashMap<ShareKey, usize>,
    /// Payers with a game that is due, when a game was last chosen.
    waiting: usize,
}

/// Who answers for the time of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ShareKey {
    Creator(Creator),
    /// A game whose creator is not known.
    Game(GameId),
}

/// A game that was taken.
#[derive(Debug)]
pub(super) struct ClaimedGame {
    pub id: GameId,
    service: Service<ShareKey>,
}

impl DueScheduler {
    /// No game is taken; there are so many threads.
    pub fn new(threads: usize) -> DueScheduler {
        DueScheduler {
            // Never all, so that the long decisions of one creator's bots do not keep another's
            // waiting.
            most_threads: threads.saturating_sub(1).max(1),
            taken: HashSet::new(),
            aside: HashMap::new(),
            shares: Shares::default(),
            threads: HashMap::new(),
            waiting: 0,
        }
    }

    /// Games that are not to be taken, whether they are due or not.
    pub fn busy(&mut self) -> usize {
        self.aside.retain(|_, until| *until > Instant::now());
        self.taken.len() + self.aside.len()
    }

    /// Takes one of these games that are due, which are in the order of service among the games of
    /// one creator: one whose creator has used the least time lately.
    pub fn take(
        &mut self,
        due: impl IntoIterator<Item = (GameId, Option<Creator>)>,
    ) -> Option<ClaimedGame> {
        let (mut best, mut smallest) = (Vec::new(), Duration::MAX);
        let mut payers = HashSet::new();
        for (id, creator) in due {
            if self.taken.contains(&id) || self.aside.contains_key(&id) {
                continue;
            }
            let payer = creator.map_or(ShareKey::Game(id), ShareKey::Creator);
            payers.insert(payer);
            let threads = self.threads.get(&payer).copied().unwrap_or(0);
            let tag = self.shares.tag(&payer);
            if threads >= self.most_threads || tag > smallest {
                continue;
            }
            if tag < smallest {
                smallest = tag;
                best.clear();
            }
            if best.len() < CHOICE {
                best.push((id, payer));
            }
        }
        self.waiting = payers.len();
        let &(id, payer) = best.choose(&mut rand::rng())?;
        self.taken.insert(id);
        *self.threads.entry(payer).or_default() += 1;
        let service = self.shares.begin(payer, EXPECTED);
        Some(ClaimedGame { id, service })
    }

    /// The thread has decided, which took so long.
    pub fn decided(&mut self, turn: ClaimedGame, took: Duration) {
        if let Entry::Occupied(mut threads) = self.threads.entry(turn.service.payer) {
            *threads.get_mut() -= 1;
            if *threads.get() == 0 {
                threads.remove();
            }
        }
        self.shares.end(turn.service, took, self.waiting);
    }

    /// The game may be taken again.
    pub fn let_go(&mut self, id: GameId) {
        self.taken.remove(&id);
    }

    /// The game may be taken again, but not before then.
    pub fn set_aside(&mut self, id: GameId, until: Instant) {
        self.taken.remove(&id);
        self.aside.insert(id, until);
    }
}

/// Games that one look finds, the longest due first.
const LOOK: usize = 64;

/// Creators that a wider look asks for.
const CREATORS: u32 = 256;

/// How long what a wider look has found is used.
const WIDER_EVERY: Duration = Duration::from_millis(100);

/// What was found lately by wider looks: for games with people and for those without.
#[derive(Debug, Default)]
pub(super) struct DueGames([Wider; 2]);

/// A look at one game of each creator, for when very many games of one creator are due.
#[derive(Debug, Default)]
struct Wider {
    at: Option<Instant>,
    games: Vec<(GameId, Option<Creator>)>,
    /// The last creator that was asked for, if there are more.
    after: Option<Creator>,
}

impl DueGames {
    /// Games in which the server is to act now, with people or without. Of each creator they are in
    /// the order in which they are due; so many of them at most are not to be taken.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn look(
        &mut self,
        store: &Store,
        attended: bool,
        busy: usize,
    ) -> Result<Vec<(GameId, Option<Creator>)>, StoreError> {
        let limit = u32::try_from(busy + LOOK).unwrap_or(u32::MAX);
        let mut due = store.due(attended, limit).await?;
        if due.len() >= limit as usize {
            let wider = &mut self.0[usize::from(attended)];
            wider.refresh(store, attended).await?;
            due.extend(wider.games.iter().copied());
        }
        Ok(due)
    }
}

impl Wider {
    async fn refresh(&mut self, store: &Store, attended: bool) -> Result<(), StoreError> {
        if self.at.is_some_and(|at| at.elapsed() < WIDER_EVERY) {
            return Ok(());
        }
        let (games, after) = store.due_by_creator(attended, self.after, CREATORS).await?;
        *self = Wider {
            at: Some(Instant::now()),
            games,
            after,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_millis(200);
    const SHORT: Duration = Duration::from_millis(1);

    fn creator(number: u8) -> Option<Creator> {
        Some(Creator([number; 16]))
    }

    fn games(count: usize, creator: Option<Creator>) -> Vec<(GameId, Option<Creator>)> {
        (0..count).map(|_| (GameId::random(), creator)).collect()
    }

    /// Takes a game, which is decided in that time and due again as the last of all.
    fn serve(
        turns: &mut DueScheduler,
        due: &mut Vec<(GameId, Option<Creator>)>,
        took: Duration,
    ) -> GameId {
        let turn = turns.take(due.iter().copied()).expect("a game");
        let id = turn.id;
        turns.decided(turn, took);
        turns.let_go(id);
        let place = due.iter().position(|(other, _)| *other == id);
        let game = due.remove(place.expect("one of them"));
        due.push(game);
        id
    }

    #[test]
    fn creators_get_equal_time_however_many_games_they_have() {
        let mut turns = DueScheduler::new(1);
        let (many, one) = (games(60, creator(1)), games(1, creator(2)));
        let mut due = [many.clone(), one.clone()].concat();
        let mut served = HashMap::<GameId, u32>::new();
        for _ in 0..600 {
            *served.entry(serve(&mut turns, &mut due, LONG)).or_default() += 1;
        }
        let ours = served[&one[0].0];
        assert!((295..=305).contains(&ours), "{ours}");
        // The games of one creator take turns.
        assert!(many.iter().all(|(id, _)| (2..=9).contains(&served[id])));
    }

    #[test]
    fn games_without_a_creator_get_equal_time_each() {
        let mut turns = DueScheduler::new(2);
        let mut due = games(10, None);
        let mut served = HashMap::<GameId, u32>::new();
        for _ in 0..1_000 {
            *served
                .entry(serve(&mut turns, &mut due, SHORT))
                .or_default() += 1;
        }
        assert!(
            served.values().all(|times| (95..=105).contains(times)),
            "{served:?}"
        );
    }

    #[test]
    fn one_creator_leaves_a_thread_to_others() {
        let mut turns = DueScheduler::new(3);
        let due = games(10, creator(1));
        let take = |turns: &mut DueScheduler| turns.take(due.iter().copied());
        let first = take(&mut turns).expect("a game");
        let second = take(&mut turns).expect("another");
        assert_ne!(first.id, second.id);
        assert!(take(&mut turns).is_none());
        let other = turns.take([due.clone(), games(1, creator(2))].concat());
        assert!(other.is_some());
        turns.decided(first, LONG);
        assert!(take(&mut turns).is_some());
        // The only thread is everybody's.
        assert!(DueScheduler::new(1).take(due).is_some());
    }

    #[test]
    fn what_is_taken_or_set_aside_is_not_taken_again() {
        let mut turns = DueScheduler::new(4);
        let due = games(1, None);
        let take = |turns: &mut DueScheduler| turns.take(due.iter().copied());
        let turn = take(&mut turns).expect("the game");
        turns.decided(turn, SHORT);
        assert!(take(&mut turns).is_none(), "its decision was not announced");
        turns.let_go(due[0].0);
        let turn = take(&mut turns).expect("the game");
        turns.decided(turn, SHORT);
        turns.set_aside(due[0].0, Instant::now() + LONG * 1_000);
        assert_eq!(turns.busy(), 1);
        assert!(take(&mut turns).is_none());
        turns.set_aside(due[0].0, Instant::now());
        assert_eq!(turns.busy(), 0);
        assert!(take(&mut turns).is_some());
    }
}
