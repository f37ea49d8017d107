//! The change feed.

use tokio::sync::watch;

/// A receiver that is woken when this or another process has changed a game.
#[derive(Clone, Debug)]
pub struct Feed(pub(super) watch::Receiver<i64>);

impl Feed {
    /// Waits for a change after the last one returned, and returns the number of the latest.
    /// Changes by this process arrive at once, those by another within about 10 ms. Never returns
    /// once the store is closed.
    pub async fn changed(&mut self) -> i64 {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.last()
    }

    /// The number of the last change.
    pub fn last(&mut self) -> i64 {
        *self.0.borrow_and_update()
    }
}
