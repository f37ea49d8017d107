//! Which games are due and which of them comes next. The threads' time is shared fairly among the
//! creators of the games.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    time::{Duration, Instant},
};

use dog_store::{CLOCK_TOLERANCE, Creator, GameId, Store, StoreError, now};
use jiff::Timestamp;
use rand::seq::IndexedRandom;

use crate::fair::{Charge, FairShares};

/// The expected cost of a decision, until it is known.
const EXPECTED_COST: Duration = Duration::from_millis(5);

/// The next game is picked at random among this many that have been due the longest, so that two
/// nodes seldom pick the same one.
const PICK_FROM: usize = 8;

/// The games that threads work on, and the time that their creators have used.
#[derive(Debug, Default)]
pub(super) struct DueScheduler {
    /// Threads that one creator may occupy.
    max_threads: usize,
    /// A thread is deciding in these games, or its decision is not committed yet.
    claimed: HashSet<GameId>,
    /// Games that are left alone until then, after an error.
    backed_off: HashMap<GameId, Instant>,
    /// Creators whose games without people are left alone until then.
    suspended: HashMap<Creator, Instant>,
    shares: FairShares<ShareKey>,
    /// Threads that each creator occupies.
    threads: HashMap<ShareKey, usize>,
    /// Keys with a due game, when a game was last claimed.
    waiting: usize,
}

/// To whom the time of a decision is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ShareKey {
    Creator(Creator),
    /// A game whose creator is not known.
    Game(GameId),
}

/// A claimed game, with the charge for the decision.
#[derive(Debug)]
pub(super) struct ClaimedGame {
    pub id: GameId,
    charge: Charge<ShareKey>,
}

impl ClaimedGame {
    /// The creator to whom the decision is charged, if it is known.
    pub fn creator(&self) -> Option<Creator> {
        match self.charge.payer {
            ShareKey::Creator(creator) => Some(creator),
            ShareKey::Game(_) => None,
        }
    }
}

impl DueScheduler {
    /// A scheduler for this many threads, with no game claimed.
    pub fn new(threads: usize) -> DueScheduler {
        DueScheduler {
            // Not all, so that the long decisions of one creator's bots do not block those of
            // others.
            max_threads: threads.saturating_sub(1).max(1),
            ..DueScheduler::default()
        }
    }

    /// The number of games that cannot be claimed, due or not.
    pub fn busy(&mut self) -> usize {
        self.backed_off.retain(|_, until| *until > Instant::now());
        self.suspended.retain(|_, until| *until > Instant::now());
        self.claimed.len() + self.backed_off.len()
    }

    /// Claims one of these due games: one whose creator has used the least time recently. The games
    /// of one creator must be in the order in which they are due.
    pub fn claim(&mut self, due: &[(GameId, Option<Creator>)]) -> Option<ClaimedGame> {
        let (mut best, mut smallest) = (Vec::new(), Duration::MAX);
        let mut keys = HashSet::new();
        for &(id, creator) in due {
            if self.claimed.contains(&id) || self.backed_off.contains_key(&id) {
                continue;
            }
            let key = creator.map_or(ShareKey::Game(id), ShareKey::Creator);
            keys.insert(key);
            let threads = self.threads.get(&key).copied().unwrap_or(0);
            let tag = self.shares.tag(&key);
            if threads >= self.max_threads || tag > smallest {
                continue;
            }
            if tag < smallest {
                smallest = tag;
                best.clear();
            }
            if best.len() < PICK_FROM {
                best.push((id, key));
            }
        }
        self.waiting = keys.len();
        let &(id, key) = best.choose(&mut rand::rng())?;
        self.claimed.insert(id);
        *self.threads.entry(key).or_default() += 1;
        let charge = self.shares.begin(key, EXPECTED_COST);
        Some(ClaimedGame { id, charge })
    }

    /// Ends the charge for a decision that took this long. The game stays claimed.
    pub fn decided(&mut self, game: ClaimedGame, took: Duration) {
        if let Entry::Occupied(mut threads) = self.threads.entry(game.charge.payer) {
            *threads.get_mut() -= 1;
            if *threads.get() == 0 {
                threads.remove();
            }
        }
        self.shares.end(game.charge, took, self.waiting);
    }

    /// Gives a claimed game back in which nothing was decided.
    pub fn give_back(&mut self, game: ClaimedGame) {
        let id = game.id;
        self.decided(game, Duration::ZERO);
        self.release(id);
    }

    /// Gives a claimed game back, and leaves its creator's games without people alone until then.
    pub fn suspend(&mut self, game: ClaimedGame, creator: Creator, until: Instant) {
        self.give_back(game);
        self.suspended.insert(creator, until);
    }

    /// Whether the creator's games without people are left alone now.
    pub fn is_suspended(&self, creator: Creator) -> bool {
        self.suspended
            .get(&creator)
            .is_some_and(|until| *until > Instant::now())
    }

    /// Lets the game be claimed again.
    pub fn release(&mut self, id: GameId) {
        self.claimed.remove(&id);
    }

    /// Releases the game, but lets nobody claim it before then.
    pub fn back_off(&mut self, id: GameId, until: Instant) {
        self.claimed.remove(&id);
        self.backed_off.insert(id, until);
    }
}

/// Games read by one query, those due the longest first.
const DUE_BATCH: usize = 64;

/// Creators read by one scan.
const CREATOR_BATCH: u32 = 256;

/// How long the result of a scan is used.
const SCAN_INTERVAL: Duration = Duration::from_millis(100);

/// How often games are looked for whose last change is in the future, if none was found and nothing
/// shows that the clock was put back. The query reads all games that wait.
const FUTURE_SCAN_INTERVAL: Duration = Duration::from_secs(10);

/// How long the games of one query are used. A query costs a database server more than a claim.
const DUE_LIST_LIFETIME: Duration = Duration::from_millis(20);

/// Finds due games. The two lists are for games of bots only, and for games with humans.
#[derive(Debug, Default)]
pub(super) struct DueGames([DueList; 2]);

/// The games of one query that no thread of this process has claimed since.
#[derive(Debug, Default)]
struct DueList {
    read_at: Option<Instant>,
    games: Vec<(GameId, Option<Creator>)>,
    scan: CreatorScan,
    future: FutureScan,
}

/// When games were looked for whose last change is in the future, since the clock was put back.
#[derive(Debug, Default)]
struct FutureScan {
    /// By the monotonic clock and by that which may be put back.
    at: Option<(Instant, Timestamp)>,
    found: bool,
}

/// One due game of each creator, for when very many games of one creator are due.
#[derive(Debug, Default)]
struct CreatorScan {
    at: Option<Instant>,
    games: Vec<(GameId, Option<Creator>)>,
    /// The last creator that was read, if there are more.
    after: Option<Creator>,
}

impl DueGames {
    /// Games in which the server was to act a moment ago, with humans or without. Those of one
    /// creator are in the order in which they are due.
    pub fn cached(&self, for_people: bool) -> &[(GameId, Option<Creator>)] {
        let list = &self.0[usize::from(for_people)];
        if list
            .read_at
            .is_some_and(|at| at.elapsed() < DUE_LIST_LIFETIME)
        {
            &list.games
        } else {
            &[]
        }
    }

    /// Reads the games in which the server is to act now. At most `busy` of them cannot be claimed.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn read(
        &mut self,
        store: &Store,
        for_people: bool,
        busy: usize,
    ) -> Result<(), StoreError> {
        let list = &mut self.0[usize::from(for_people)];
        let limit = u32::try_from(busy + DUE_BATCH).unwrap_or(u32::MAX);
        list.games = store.due(for_people, limit).await?;
        if list.games.len() >= limit as usize {
            list.scan.refresh(store, for_people).await?;
            list.games.extend(list.scan.games.iter().copied());
        }
        if list.future.is_time(now()) {
            let games = store.due_from_future(for_people, limit).await?;
            list.future = FutureScan {
                at: Some((Instant::now(), now())),
                found: !games.is_empty(),
            };
            list.games.extend(games);
        }
        list.read_at = Some(Instant::now());
        Ok(())
    }

    /// Removes a game that a thread has claimed.
    pub fn remove(&mut self, id: GameId) {
        for list in &mut self.0 {
            list.games.retain(|&(other, _)| other != id);
            list.scan.games.retain(|&(other, _)| other != id);
        }
    }
}

impl FutureScan {
    /// Whether it is time for the next scan.
    fn is_time(&self, now: Timestamp) -> bool {
        let Some((at, time)) = self.at else {
            return true;
        };
        let interval = if self.found {
            SCAN_INTERVAL
        } else {
            FUTURE_SCAN_INTERVAL
        };
        at.elapsed() >= interval || now + CLOCK_TOLERANCE < time
    }
}

impl CreatorScan {
    async fn refresh(&mut self, store: &Store, for_people: bool) -> Result<(), StoreError> {
        if self.at.is_some_and(|at| at.elapsed() < SCAN_INTERVAL) {
            return Ok(());
        }
        let (games, after) = store
            .due_by_creator(for_people, self.after, CREATOR_BATCH)
            .await?;
        *self = CreatorScan {
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

    const LONG_DECISION: Duration = Duration::from_millis(200);
    const SHORT_DECISION: Duration = Duration::from_millis(1);

    fn creator(number: u8) -> Option<Creator> {
        Some(Creator([number; 16]))
    }

    fn games(count: usize, creator: Option<Creator>) -> Vec<(GameId, Option<Creator>)> {
        (0..count).map(|_| (GameId::random(), creator)).collect()
    }

    /// Claims a game, decides in it in that time, and puts it at the end of the due games.
    fn serve(
        scheduler: &mut DueScheduler,
        due: &mut Vec<(GameId, Option<Creator>)>,
        took: Duration,
    ) -> GameId {
        let game = scheduler.claim(due).expect("a game");
        let id = game.id;
        scheduler.decided(game, took);
        scheduler.release(id);
        let place = due.iter().position(|(other, _)| *other == id);
        let game = due.remove(place.expect("one of them"));
        due.push(game);
        id
    }

    #[test]
    fn a_claimed_game_is_in_no_list() {
        let mut due = DueGames::default();
        let games = games(2, creator(1));
        for list in &mut due.0 {
            list.games.clone_from(&games);
            list.scan.games.clone_from(&games);
        }
        due.remove(games[0].0);
        for list in &due.0 {
            assert_eq!(list.games, games[1..]);
            assert_eq!(list.scan.games, games[1..]);
        }
    }

    #[test]
    fn creators_get_equal_time_however_many_games_they_have() {
        let mut scheduler = DueScheduler::new(1);
        let (many, one) = (games(60, creator(1)), games(1, creator(2)));
        let mut due = [many.clone(), one.clone()].concat();
        let mut served = HashMap::<GameId, u32>::new();
        for _ in 0..600 {
            let id = serve(&mut scheduler, &mut due, LONG_DECISION);
            *served.entry(id).or_default() += 1;
        }
        let ours = served[&one[0].0];
        assert!((295..=305).contains(&ours), "{ours}");
        // The games of one creator take turns.
        assert!(many.iter().all(|(id, _)| (2..=9).contains(&served[id])));
    }

    #[test]
    fn games_without_a_creator_get_equal_time_each() {
        let mut scheduler = DueScheduler::new(2);
        let mut due = games(10, None);
        let mut served = HashMap::<GameId, u32>::new();
        for _ in 0..1_000 {
            let id = serve(&mut scheduler, &mut due, SHORT_DECISION);
            *served.entry(id).or_default() += 1;
        }
        let is_fair = |times: &u32| (95..=105).contains(times);
        assert!(served.values().all(is_fair), "{served:?}");
    }

    #[test]
    fn one_creator_leaves_a_thread_to_others() {
        let mut scheduler = DueScheduler::new(3);
        let due = games(10, creator(1));
        let claim = |scheduler: &mut DueScheduler| scheduler.claim(&due);
        let first = claim(&mut scheduler).expect("a game");
        let second = claim(&mut scheduler).expect("another");
        assert_ne!(first.id, second.id);
        assert!(claim(&mut scheduler).is_none());
        let other = scheduler.claim(&[due.clone(), games(1, creator(2))].concat());
        assert!(other.is_some());
        scheduler.decided(first, LONG_DECISION);
        assert!(claim(&mut scheduler).is_some());
        // A single thread is for all creators.
        assert!(DueScheduler::new(1).claim(&due).is_some());
    }

    #[test]
    fn a_claimed_or_backed_off_game_is_not_claimed_again() {
        let mut scheduler = DueScheduler::new(4);
        let due = games(1, None);
        let claim = |scheduler: &mut DueScheduler| scheduler.claim(&due);
        let game = claim(&mut scheduler).expect("the game");
        scheduler.decided(game, SHORT_DECISION);
        // Its decision is not committed.
        assert!(claim(&mut scheduler).is_none());
        scheduler.release(due[0].0);
        let game = claim(&mut scheduler).expect("the game");
        scheduler.decided(game, SHORT_DECISION);
        scheduler.back_off(due[0].0, Instant::now() + LONG_DECISION * 1_000);
        assert_eq!(scheduler.busy(), 1);
        assert!(claim(&mut scheduler).is_none());
        scheduler.back_off(due[0].0, Instant::now());
        assert_eq!(scheduler.busy(), 0);
        assert!(claim(&mut scheduler).is_some());
    }
}
