//! The next game of the same people.

use dog_store::{GameId, Store, StoreError, StoredGame};

use crate::access::{Caller, Role};

/// The rematch of this game, if somebody has asked for one.
///
/// # Errors
/// The store cannot be read.
pub async fn rematch_of(store: &Store, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
    store.game_by_unique_key(&unique_key(id)).await
}

/// The unique key of the rematch of this game.
pub fn unique_key(id: &GameId) -> String {
    format!("rematch of {id}")
}

/// The caller's role in the rematch. A token that was renewed in one of the two games is a
/// stranger's in the other.
pub fn role_in(next: &StoredGame, caller: Caller) -> Role {
    caller.role(next).unwrap_or(Role::Spectator)
}
