//! The state of the server.

use std::sync::Arc;

use dog_bot::net::nets::Nets;
use dog_store::Store;
use utoipa_swagger_ui::Config;

use crate::{
    http::{network::HomeNetwork, static_files::StaticFiles},
    limits::{gates::Gates, memory::BodyMemory},
    live::{Hub, PresenceTracker},
    metrics::Metrics,
    player_models::ModelCache,
    pool::WorkerPool,
    quick_joins::QuickJoins,
    readiness::Readiness,
    view::{cache::ViewCache, notice::Notice},
    watched_file::WatchedFile,
};

/// The shared state of the handlers. Games are in the store only.
pub struct App {
    pub store: Store,
    /// Wakes requests that wait for a game to change.
    pub hub: Arc<Hub>,
    /// Who is connected.
    pub presence: Arc<PresenceTracker>,
    pub quick_joins: QuickJoins,
    /// The pool for players: lists of moves and of games.
    pub move_pool: Arc<WorkerPool>,
    /// The pool for long logs: histories, streams that catch up, imports.
    pub history_pool: Arc<WorkerPool>,
    /// The pool for advice and analysis, so that these do not delay players.
    pub advice_pool: WorkerPool,
    /// What bots and advice evaluate positions with.
    pub nets: Arc<Nets>,
    /// How the seats of games play.
    pub models: Arc<ModelCache>,
    /// Cached views of games.
    pub views: Arc<ViewCache>,
    /// The memory for large bodies.
    pub memory: Arc<BodyMemory>,
    /// For `/metrics`.
    pub metrics: Metrics,
    /// The last result of `/readyz`.
    pub readiness: Arc<Readiness>,
    pub files: StaticFiles,
    pub docs: Arc<Config<'static>>,
    pub network: HomeNetwork,
    /// Who may create games.
    pub gates: Gates,
    /// What the operator has to say.
    pub notice: Arc<WatchedFile<Notice>>,
    /// Whether the page is served.
    pub has_page: bool,
}
