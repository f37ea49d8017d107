//! What an open file keeps in memory, because nobody else has it: who is present, recent reactions,
//! tickets, and who works on a review. It ends with the process.

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    hash::Hash,
    sync::Arc,
    time::{Duration, Instant},
};

use dog_rules::{BySeat, Seat, seat::MAX_SEATS};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::{
    Change, ChangesSince, ClaimedReview, GameId, Lease, MAX_REACTIONS, NewTicket, ProcessId,
    REACTION_TIME, REACTION_WINDOW, REVIEW_CLAIM, Reaction, RecentReaction, ReviewStatus,
    SeatPresence, TICKET_TTL, TokenHash, feed::ChangeList, stored_game::now,
};

/// A seat's reaction, and its time for clients.
type Reacted = (Seat, Reaction, Timestamp);

/// What is kept in memory.
#[derive(Debug)]
pub(crate) struct Memory {
    changes: Arc<ChangeList>,
    present: Mutex<HashSet<(GameId, Seat)>>,
    pub(super) reactions: Mutex<Expiring<GameId, Reacted>>,
    /// The tokens that tickets stand for.
    pub(super) tickets: Mutex<Expiring<(GameId, [u8; 32]), TokenHash>>,
    /// The numbers of claims.
    pub(super) reviews: Mutex<Expiring<GameId, i64>>,
}

impl Memory {
    /// An empty memory, which notes its changes in this feed.
    pub fn new(changes: &Arc<ChangeList>) -> Memory {
        Memory {
            changes: Arc::clone(changes),
            present: Mutex::default(),
            reactions: Mutex::new(Expiring::after(REACTION_WINDOW)),
            tickets: Mutex::new(Expiring::after(TICKET_TTL)),
            reviews: Mutex::new(Expiring::after(REVIEW_CLAIM)),
        }
    }

    /// At which seats of a game somebody is present.
    pub fn present(&self, id: &GameId, _: SignedDuration) -> BySeat<bool> {
        let (present, mut seats) = (self.present.lock(), BySeat::default());
        for seat in Seat::all(MAX_SEATS as u8) {
            seats[seat] = present.contains(&(*id, seat));
        }
        seats
    }

    /// Notes who is now present or no longer. Nothing is lost of what was noted before.
    pub fn set_present(&self, _: ProcessId, changes: &[SeatPresence]) -> Lease {
        let mut present = self.present.lock();
        let changed = changes.iter().filter(|change| {
            let seat = (change.game, change.seat);
            match change.is_present {
                true => present.insert(seat),
                false => present.remove(&seat),
            }
        });
        let changed = changed.map(|change| Change::Presence(change.game));
        self.changes.add(ChangesSince::Only(changed.collect()));
        Lease {
            is_new: false,
            more_to_remove: false,
        }
    }

    /// The recent reactions in a game, with their ages.
    pub fn reactions(&self, id: &GameId) -> Vec<RecentReaction> {
        let mut reactions = self.reactions.lock();
        let recent = reactions.get(id).iter().filter_map(|&(added, reacted)| {
            let ((seat, reaction, at), age) = (reacted, added.elapsed());
            (age < REACTION_TIME.unsigned_abs()).then_some(RecentReaction {
                seat,
                reaction,
                at,
                age,
            })
        });
        recent.collect()
    }

    /// Adds the reaction of a seat's person, unless the person has reacted too often. Returns how
    /// long the person must wait in that case.
    pub fn react(&self, id: &GameId, seat: Seat, reaction: Reaction) -> Option<SignedDuration> {
        let mut reactions = self.reactions.lock();
        let of_seat = reactions.get(id).iter().filter(|(_, by)| by.0 == seat);
        let of_seat: Vec<Instant> = of_seat.map(|&(added, _)| added).collect();
        if of_seat.len() >= MAX_REACTIONS as usize {
            let age = of_seat.first().map(Instant::elapsed).unwrap_or_default();
            return Some(REACTION_WINDOW - SignedDuration::try_from(age).unwrap_or_default());
        }
        reactions.add(*id, (seat, reaction, now()));
        let changed = vec![Change::Reaction(*id)];
        self.changes.add(ChangesSince::Only(changed));
        None
    }

    /// Adds a ticket for a stream of a game.
    pub fn add_ticket(&self, id: GameId, ticket: NewTicket) {
        let mut tickets = self.tickets.lock();
        tickets.remove(&(id, ticket.hash.0));
        tickets.add((id, ticket.hash.0), ticket.token);
    }

    /// See [`Store::ticket`](crate::Store::ticket).
    pub fn ticket(&self, id: &GameId, ticket: &TokenHash) -> Option<TokenHash> {
        let mut tickets = self.tickets.lock();
        let token = tickets.get(&(*id, ticket.0)).first();
        token.map(|&(_, token)| token)
    }

    /// See [`Store::take_ticket`](crate::Store::take_ticket).
    pub fn take_ticket(&self, id: &GameId, ticket: &TokenHash) -> Option<TokenHash> {
        let mut tickets = self.tickets.lock();
        let token = tickets.get(&(*id, ticket.0)).first().copied();
        tickets.remove(&(*id, ticket.0));
        token.map(|(_, token)| token)
    }

    /// Whether somebody works on the review of a game.
    pub fn is_claimed(&self, id: &GameId) -> bool {
        !self.reviews.lock().get(id).is_empty()
    }

    /// Claims the review of a game that nobody works on.
    pub fn claim_review(&self, review: &ClaimedReview) {
        self.reviews.lock().add(review.game, review.claim);
    }

    /// Extends a claim, or ends it, as this status says. Returns whether it still held.
    pub fn renew_claim(&self, id: &GameId, claim: i64, status: ReviewStatus) -> bool {
        let mut reviews = self.reviews.lock();
        let is_held = reviews.get(id).iter().any(|&(_, held)| held == claim);
        if is_held {
            reviews.remove(id);
            if status == ReviewStatus::Running {
                reviews.add(*id, claim);
            }
        }
        is_held
    }
}

/// Values that are kept for a fixed time.
#[derive(Debug)]
pub(super) struct Expiring<K, V> {
    kept: Duration,
    /// The values of each key and when they were added, oldest first.
    pub(super) values: HashMap<K, Vec<(Instant, V)>>,
    /// The keys of all of them, and of some that were removed, oldest first.
    pub(super) order: VecDeque<(Instant, K)>,
}

impl<K: Copy + Eq + Hash, V> Expiring<K, V> {
    fn after(kept: SignedDuration) -> Expiring<K, V> {
        Expiring {
            kept: kept.unsigned_abs(),
            values: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    fn add(&mut self, key: K, value: V) {
        self.expire();
        let now = Instant::now();
        self.values.entry(key).or_default().push((now, value));
        self.order.push_back((now, key));
    }

    /// The values of a key that have not expired.
    fn get(&mut self, key: &K) -> &[(Instant, V)] {
        self.expire();
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    fn remove(&mut self, key: &K) {
        self.values.remove(key);
    }

    /// Removes what has expired.
    fn expire(&mut self) {
        while let Some(&(first, old)) = self.order.front()
            && first.elapsed() >= self.kept
        {
            self.order.pop_front();
            if let Entry::Occupied(mut values) = self.values.entry(old) {
                values.get_mut().retain(|&(added, _)| added > first);
                if values.get().is_empty() {
                    values.remove();
                }
            }
        }
    }
}
