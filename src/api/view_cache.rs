//! A cache of rendered views of games.
//!
//! The view of a game at a version for a viewer never changes. Every request determines the viewer
//! and the version before it looks here.

use actix_web::web::Bytes;
use dog_store::{GameId, StoredGame};
use jiff::Timestamp;
use quick_cache::{Weighter, sync::Cache};

use super::view::GameView;
use crate::{
    access::Role,
    http::{json::to_json, problem::Problem},
};

/// Maximum size of the cache in bytes.
const CACHE_BYTES: u64 = 32 << 20;

/// Bytes of an entry besides its text.
const ENTRY_OVERHEAD: u64 = 128;

/// The typical size of a view, to size the tables.
const TYPICAL_BYTES: usize = 4 << 10;

/// Rendered views, by game and viewer.
pub struct ViewCache(Cache<(GameId, Role), View, ByteWeigher>);

/// A game at a version, as JSON.
#[derive(Clone)]
struct View {
    version: u64,
    /// See [`dog_store::ExpectedState`].
    updated_at: Timestamp,
    /// Tokens that were renewed, after which a person may have `joined`.
    renewals: u32,
    body: Bytes,
}

/// Weighs a view by its bytes.
#[derive(Clone)]
struct ByteWeigher;

impl Weighter<(GameId, Role), View> for ByteWeigher {
    fn weight(&self, _: &(GameId, Role), view: &View) -> u64 {
        view.body.len() as u64 + ENTRY_OVERHEAD
    }
}

impl Default for ViewCache {
    fn default() -> ViewCache {
        ViewCache::with_bytes(CACHE_BYTES)
    }
}

impl ViewCache {
    fn with_bytes(bytes: u64) -> ViewCache {
        let capacity = usize::try_from(bytes).unwrap_or(usize::MAX) / TYPICAL_BYTES;
        ViewCache(Cache::with_weighter(capacity.max(1), bytes, ByteWeigher))
    }

    /// The game as this role may see it, as JSON.
    ///
    /// # Errors
    /// None in practice: a view can always be written as JSON.
    pub fn get(&self, stored: &StoredGame, role: Role) -> Result<Bytes, Problem> {
        let (version, updated_at) = (stored.game.version(), stored.updated_at);
        let (key, renewals) = ((stored.id, role), stored.admin_changes.renewals);
        if let Some(view) = self.0.get(&key)
            && (view.version, view.updated_at, view.renewals) == (version, updated_at, renewals)
        {
            return Ok(view.body);
        }
        let body = Bytes::from(to_json(&GameView::new(stored, role))?);
        let view = View {
            version,
            updated_at,
            renewals,
            body: body.clone(),
        };
        self.0.insert(key, view);
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dog_rules::{Action, Seat};

    use super::*;
    use crate::testing::new_game;

    #[test]
    fn a_view_is_that_of_its_game_its_version_and_its_viewer() {
        let views = ViewCache::default();
        let (one, other) = (new_game(), new_game());
        let roles = [
            Role::Host,
            Role::Spectator,
            Role::Seat(Seat::default()),
            Role::Seat(Seat::new(1, 4).unwrap()),
        ];
        let mut next = one.clone();
        let deal = Action::Deal { by: None };
        Arc::make_mut(&mut next.game).apply(&deal).unwrap();
        let mut joined = one.clone();
        joined.admin_changes.renewals += 1;
        Arc::make_mut(&mut joined.seating).seats[Seat::default()].joined = true;
        for stored in [&one, &other, &next, &one, &joined] {
            for role in roles {
                let expected = to_json(&GameView::new(stored, role)).unwrap();
                for _ in 0..2 {
                    assert_eq!(views.get(stored, role).unwrap(), expected);
                }
            }
        }
    }

    #[test]
    fn views_have_a_bound() {
        let views = ViewCache::with_bytes(64 << 10);
        for _ in 0..1_000 {
            views.get(&new_game(), Role::Spectator).unwrap();
            assert!(views.0.weight() <= 64 << 10);
        }
        assert!(views.0.weight() > 32 << 10);
    }
}
