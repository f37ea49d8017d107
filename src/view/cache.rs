//! The cache of rendered views of games: what many requests and streams send alike.
//!
//! Every reader determines the viewer and the version before it looks here.

use actix_web::web::Bytes;
use dog_rules::Viewer;
use dog_store::{GameId, StoredGame};
use jiff::Timestamp;
use quick_cache::{Weighter, sync::Cache};

use super::{change::Include, message::Format};
use crate::{access::Role, problem::Problem};

/// Maximum size of the cache in bytes.
const CACHE_BYTES: u64 = 32 << 20;

/// Bytes of an entry besides its text.
const ENTRY_OVERHEAD: u64 = 128;

/// The typical size of a view, to size the tables.
const TYPICAL_BYTES: usize = 4 << 10;

/// Maximum bytes of a view that is kept. A longer one lists the moves of a seat, which hardly
/// anyone else reads.
const MAX_VIEW_BYTES: usize = 32 << 10;

/// What is rendered of a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rendering {
    /// The game, as JSON.
    Game(Role),
    /// The change that led to it, as a message.
    LastChange(Format, Option<Include>, Role),
    /// The change to an earlier version at this time, as a message. Where the database was set back,
    /// another change may have led to that version.
    EarlierChange(Format, u64, Timestamp, Viewer),
}

/// Rendered views, by game.
pub struct ViewCache(Cache<(GameId, Rendering), View, ByteWeigher>);

#[derive(Clone)]
struct View {
    state: Option<State>,
    body: Bytes,
}

/// The state of the game that a view shows: its version, when that was written (see
/// [`dog_store::ExpectedState`]), and how many tokens were renewed, after which a person may have
/// `joined`; and whether it is a closed table of a match. An earlier change shows none.
type State = (u64, Timestamp, u32, bool);

/// Weighs a view by its bytes.
#[derive(Clone)]
struct ByteWeigher;

impl Weighter<(GameId, Rendering), View> for ByteWeigher {
    fn weight(&self, _: &(GameId, Rendering), view: &View) -> u64 {
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

    /// This rendering of the game, if it is there.
    pub fn find(&self, stored: &StoredGame, rendering: Rendering) -> Option<Bytes> {
        let view = self.0.get(&(stored.id, rendering))?;
        (view.state == state(stored, rendering)).then_some(view.body)
    }

    /// This rendering of the game, which `render` makes if it is not there.
    ///
    /// # Errors
    /// Those of `render`.
    pub fn get(
        &self,
        stored: &StoredGame,
        rendering: Rendering,
        render: impl FnOnce() -> Result<Bytes, Problem>,
    ) -> Result<Bytes, Problem> {
        if let Some(body) = self.find(stored, rendering) {
            return Ok(body);
        }
        let body = render()?;
        if body.len() <= MAX_VIEW_BYTES {
            let view = View {
                state: state(stored, rendering),
                body: body.clone(),
            };
            self.0.insert((stored.id, rendering), view);
        }
        Ok(body)
    }
}

fn state(stored: &StoredGame, rendering: Rendering) -> Option<State> {
    let state = (
        stored.game.version(),
        stored.updated_at,
        stored.admin_changes.renewals,
        stored.is_match_closed(),
    );
    (!matches!(rendering, Rendering::EarlierChange(..))).then_some(state)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dog_rules::{Action, Seat};

    use super::*;
    use crate::{http::json::to_json, testing::new_game, view::game::GameView};

    fn game_json(views: &ViewCache, stored: &StoredGame, role: Role) -> Bytes {
        let render = || Ok(to_json(&GameView::new(stored, role))?.into());
        let body = views.get(stored, Rendering::Game(role), render);
        body.expect("a view")
    }

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
                    assert_eq!(game_json(&views, stored, role), expected);
                }
            }
        }
    }

    #[test]
    fn an_earlier_change_does_not_depend_on_the_present_game() {
        let views = ViewCache::default();
        let first = new_game();
        let mut next = first.clone();
        let deal = Action::Deal { by: None };
        Arc::make_mut(&mut next.game).apply(&deal).unwrap();
        let earlier = Rendering::EarlierChange(Format::Sse, 1, first.updated_at, Viewer::Spectator);
        let last = Rendering::LastChange(Format::Sse, None, Role::Spectator);
        for rendering in [earlier, last] {
            let body = Ok(Bytes::from_static(b"one"));
            assert_eq!(views.get(&first, rendering, || body).unwrap(), "one");
        }
        assert_eq!(views.find(&next, earlier).unwrap(), "one");
        assert!(views.find(&next, last).is_none());
        let other_time = first.updated_at + jiff::SignedDuration::from_millis(1);
        let set_back = Rendering::EarlierChange(Format::Sse, 1, other_time, Viewer::Spectator);
        assert!(views.find(&next, set_back).is_none());
    }

    #[test]
    fn views_have_a_bound() {
        let views = ViewCache::with_bytes(64 << 10);
        for _ in 0..1_000 {
            game_json(&views, &new_game(), Role::Spectator);
            assert!(views.0.weight() <= 64 << 10);
        }
        assert!(views.0.weight() > 32 << 10);
        let long = || Ok(vec![0; MAX_VIEW_BYTES + 1].into());
        let (stored, role) = (new_game(), Role::Spectator);
        views.get(&stored, Rendering::Game(role), long).unwrap();
        assert!(views.find(&stored, Rendering::Game(role)).is_none());
    }
}
