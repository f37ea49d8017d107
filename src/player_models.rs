//! How the seats of stored games play, judged by what everybody has seen: see
//! [`dog_bot::player_model`].
//!
//! The models follow from the log. They are computed when somebody asks, and kept in memory until
//! the next round ends. Nothing of it is stored, so every process comes to the same result, also
//! for imported games. The cost is bounded: at most the last 511 entries of a game's log are read.
//! Nearly all games are shorter.

use std::{mem, sync::Arc};

use dog_bot::{
    net::{evaluator::Scratch, nets::Nets},
    player_model::PlayerModels,
};
use dog_rules::{Board, BySeat, Event, EventKind, Rules, Seat, round_history::PastMove};
use quick_cache::sync::Cache;

use dog_store::{GameId, LogEntry, LogPage, Store, StoreError, StoredGame};

/// The first entry that counts is after a version divisible by this, and at least this many entries
/// count if there are as many.
const STEP: u64 = 256;

/// Entries read at once.
const PAGE: u64 = 64;

/// Games whose models are kept, about 250 bytes each.
const CAPACITY: usize = 32_768;

/// Computes models of games, and keeps some.
#[derive(Debug)]
pub struct ModelCache {
    store: Store,
    nets: Arc<Nets>,
    games: Cache<GameId, GameModels>,
}

/// The models of a game at the end of a round.
#[derive(Clone, Debug)]
struct GameModels {
    /// Only entries after this version count.
    after: u64,
    /// The version at which the round ended, or [`GameModels::after`].
    version: u64,
    /// The round that begins then; none if that is not known.
    round: Option<u32>,
    /// The board, if it is known.
    board: Option<Board>,
    models: PlayerModels,
}

/// A game's models, and the entries of the log that they do not include yet.
pub struct UnreadLog {
    known: GameModels,
    pages: Vec<LogPage>,
}

impl ModelCache {
    /// An empty cache.
    pub fn new(store: &Store, nets: &Arc<Nets>) -> ModelCache {
        ModelCache {
            store: store.clone(),
            nets: Arc::clone(nets),
            games: Cache::new(CAPACITY),
        }
    }

    /// Reads what is needed to compute the models of a game.
    ///
    /// # Errors
    /// The log cannot be read.
    pub async fn read(&self, stored: &StoredGame) -> Result<UnreadLog, StoreError> {
        let version = stored.game.version();
        let after = (version / STEP).saturating_sub(1) * STEP;
        let known = self
            .games
            .get(&stored.id)
            .filter(|known| known.after == after && known.version <= version)
            .unwrap_or_else(|| GameModels::new(after));
        let mut pages = Vec::new();
        if known.round != Some(stored.game.round()) {
            let mut from = known.version;
            while from < version {
                let count = PAGE.min(version - from);
                let page = self.store.log(&stored.id, from, count as u32).await?;
                pages.push(page);
                from += count;
            }
        }
        Ok(UnreadLog { known, pages })
    }

    /// Computes the models of a game. That takes up to 20 ms, but usually less than one.
    ///
    /// # Errors
    /// An entry of the log cannot be parsed.
    pub fn models(&self, stored: &StoredGame, log: UnreadLog) -> Result<PlayerModels, StoreError> {
        let UnreadLog { mut known, pages } = log;
        if pages.is_empty() {
            return Ok(known.models);
        }
        let mut entries = Vec::new();
        for page in pages {
            entries.extend(page.entries()?);
        }
        known.add(stored.game.rules(), &self.nets, entries);
        let models = known.models;
        self.games.insert(stored.id, known);
        Ok(models)
    }
}

impl GameModels {
    /// Nothing is known.
    fn new(after: u64) -> GameModels {
        let is_whole = after == 0;
        GameModels {
            after,
            version: after,
            round: is_whole.then_some(1),
            board: is_whole.then(Board::new),
            models: PlayerModels::default(),
        }
    }

    /// Adds the rounds that end in these entries.
    fn add(&mut self, rules: &Rules, nets: &Nets, entries: Vec<LogEntry>) {
        let mut scratch = Scratch::default();
        let mut board = self.board;
        let (mut moves, mut is_new) = (Vec::new(), BySeat::<bool>::default());
        for (version, event) in entries.into_iter().flat_map(events) {
            moves.extend(board.and_then(|before| PastMove::from_event(&event, &before)));
            match event.what {
                EventKind::CardPlayed { board: after, .. } => board = Some(after),
                EventKind::SeatHandedOver { seat, .. } | EventKind::SeatTaken { seat, .. } => {
                    is_new[seat] = true;
                }
                EventKind::RoundEnded { round } => {
                    // A round counts if its beginning is known.
                    if self.round == Some(round) {
                        let evaluator = nets.for_rules(rules);
                        self.models.observe(evaluator, rules, &moves, &mut scratch);
                    }
                    moves.clear();
                    for seat in Seat::all(rules.seats) {
                        if mem::take(&mut is_new[seat]) {
                            self.models.forget(seat);
                        }
                    }
                    self.version = version;
                    self.board = board;
                    self.round = board.map(|_| round + 1);
                }
                _ => {}
            }
        }
    }
}

/// The events of an entry, each with the entry's version.
fn events(entry: LogEntry) -> impl Iterator<Item = (u64, Event)> {
    entry
        .events
        .into_iter()
        .map(move |event| (entry.version, event))
}

#[cfg(test)]
mod tests {
    use dog_rules::{Action, Actor, Player};
    use dog_store::{CommitResult, Draft};

    use super::*;
    use crate::testing::{TempDatabase, add, new_game, played_to_end};

    /// The versions of a long game of random moves, in which the second seat changes hands once.
    fn versions() -> (StoredGame, Vec<Draft>) {
        let first = new_game();
        let mut drafts = played_to_end(&first);
        let third = drafts[200].next.clone();
        let seat = Seat::new(1, third.game.rules().seats).unwrap();
        let player = Player::human("another");
        let hand_over = Action::HandOver { seat, player };
        drafts.truncate(201);
        drafts.push(Draft::new(&third, &hand_over, Actor::Player).unwrap());
        drafts.extend(played_to_end(&drafts[201].next));
        (first, drafts)
    }

    #[actix_web::test]
    async fn models_do_not_depend_on_what_is_cached() {
        let nets = Arc::new(Nets::built_in());
        let database = TempDatabase::new();
        let store = database.store();
        let cache = ModelCache::new(&store, &nets);
        let (first, drafts) = versions();
        assert!(drafts.len() > 3 * STEP as usize, "{}", drafts.len());
        add(&store, first).await;
        let mut is_forgotten = false;
        let (mut read, mut rounds, mut last) = (Vec::new(), 0, PlayerModels::default());
        for (number, draft) in drafts.into_iter().enumerate() {
            let stored = draft.next.clone();
            let committed = store.commit(draft.into()).await;
            assert_eq!(committed.unwrap(), CommitResult::Done);
            let log = cache.read(&stored).await.unwrap();
            read.push(log.pages.len());
            let models = cache.models(&stored, log).unwrap();
            if number % 40 == 0 || models != last {
                let fresh = ModelCache::new(&store, &nets);
                let log = fresh.read(&stored).await.unwrap();
                assert!(log.pages.len() as u64 * PAGE <= 2 * STEP);
                assert_eq!(fresh.models(&stored, log).unwrap(), models, "{number}");
            }
            rounds += u32::from(models != last);
            // What was seen of the second seat before the hand-over is forgotten when the round
            // ends.
            let seat = Seat::new(1, stored.game.rules().seats).unwrap();
            let unseen = PlayerModels::default().posterior(seat);
            if number > 201 && models != last && !mem::replace(&mut is_forgotten, true) {
                assert_ne!(last.posterior(seat), unseen);
                assert_eq!(models.posterior(seat), unseen);
            }
            last = models;
        }
        assert!(rounds > 20, "{rounds}");
        assert!(is_forgotten);
        // Most decisions read nothing.
        let nothing = read.iter().filter(|pages| **pages == 0).count();
        assert!(nothing * 10 > read.len() * 8, "{nothing} of {}", read.len());
    }
}
