//! Connections that many callers share.
//!
//! Statements are sent without waiting for the answers to those before them, and are answered in
//! the same order. So a connection that many share carries single statements only, each of which is
//! a transaction of its own. A connection is replaced when it ends.

mod settings;
mod tls;

use std::{collections::HashMap, future::poll_fn, sync::Arc, time::Duration};

use futures_util::TryStreamExt;
use parking_lot::Mutex;
use tokio::{
    runtime::Handle,
    sync::{Notify, watch},
    task::{AbortHandle, JoinHandle},
    time::{sleep, timeout},
};
use tokio_postgres::{
    AsyncMessage, Client, Error, Row, Statement,
    error::{Severity, SqlState},
    tls::TlsStream,
    types::ToSql,
};

pub use self::settings::{ConnectionSettings, SettingsError};
use crate::StoreError;

/// How long a statement may take. Then the connection is closed. The statement is not cancelled:
/// PostgreSQL reports a commit as done whose wait for a standby was cancelled. A slow read is ended
/// by the server before this.
pub(super) const DEADLINE: Duration = Duration::from_secs(5);

/// The time between two tries to connect.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// How often a connection is tried out. An idle one does not notice by itself that the server
/// hangs.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A parameter of a statement.
pub(super) type SqlParam = Arc<dyn ToSql + Sync + Send>;

/// The parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$(std::sync::Arc::new($value) as $crate::postgres::connection::SqlParam),*]
    };
}
pub(super) use params;

/// Raises `synchronous_commit`, so that no answered write is lost with the primary.
const SYNCHRONOUS: &str = "SELECT set_config('synchronous_commit', 'on', false) \
     WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')";

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Statements that a request waits for.
    Requests,
    /// Batches of writes; each connection has one user.
    Writes,
    /// Statements of background work, which may take long.
    Background,
    /// Transactions of a command, which may take hours.
    LongTransactions,
}

impl Purpose {
    /// The first setting of a session, since the role or the database may have a short time; the
    /// others; and how long the client waits. A write has no `statement_timeout`, because that
    /// would also cancel the wait of a commit for its standby.
    fn settings(self) -> (String, String, Duration) {
        // The timeouts of statements, of locks and of idle transactions come first.
        let (statement, lock, idle, jit, synchronous, deadline) = match self {
            Purpose::Requests => ("'4s'", "'2s'", "DEFAULT", "off", SYNCHRONOUS, DEADLINE),
            Purpose::Writes => ("0", "'2s'", "'5s'", "DEFAULT", SYNCHRONOUS, DEADLINE),
            Purpose::Background => ("0", "'2s'", "'60s'", "off", "", 12 * DEADLINE),
            // The network finds out whether the server is there.
            Purpose::LongTransactions => ("0", "'10s'", "0", "DEFAULT", SYNCHRONOUS, Duration::MAX),
        };
        let others = format!(
            "SET lock_timeout = {lock}; SET idle_in_transaction_session_timeout = {idle}; \
             SET jit = {jit}; {synchronous}"
        );
        (
            format!("SET statement_timeout = {statement}"),
            others,
            deadline,
        )
    }
}

/// The timeouts of later versions of PostgreSQL are off.
const NO_TIMEOUTS: &str = "SELECT set_config(name, '0', false) FROM pg_settings \
     WHERE name IN ('transaction_timeout', 'idle_session_timeout') AND setting <> '0'";

/// The error of the first statements of a session, which are not cancelled for another reason.
fn too_short(error: QueryError) -> StoreError {
    match error {
        QueryError::Failed(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
            let reason = "the statement_timeout of its role or database is too short to begin with";
            StoreError::Unsuitable(reason.to_owned())
        }
        other => other.into(),
    }
}

/// An open connection.
pub(super) struct PgConnection {
    pub client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
    driver: AbortHandle,
    deadline: Duration,
}

impl PgConnection {
    /// Opens a connection. It lasts as long as the task that is returned. `notified` is notified of
    /// notifications.
    ///
    /// # Errors
    /// No host accepts the connection and can be written.
    pub async fn open(
        settings: &ConnectionSettings,
        purpose: Purpose,
        notified: Arc<Notify>,
    ) -> Result<(Arc<PgConnection>, JoinHandle<()>), StoreError> {
        let (client, connection) = settings.connect().await?;
        let driver = Handle::current().spawn(async move {
            if let Err(error) = drive(connection, &notified).await {
                log::debug!(
                    "a connection to the database ended: {}",
                    StoreError::from(error)
                );
            }
        });
        let (statement_timeout, session, deadline) = purpose.settings();
        let connection = Arc::new(PgConnection {
            client,
            statements: Mutex::default(),
            driver: driver.abort_handle(),
            deadline,
        });
        for settings in [&*statement_timeout, &*session, NO_TIMEOUTS] {
            connection.execute(settings).await.map_err(too_short)?;
        }
        Ok((connection, driver))
    }

    /// Opens a connection for the long transactions of a command.
    ///
    /// # Errors
    /// As [`PgConnection::open`].
    pub async fn open_for_command(
        settings: &ConnectionSettings,
    ) -> Result<Arc<PgConnection>, StoreError> {
        let opened = PgConnection::open(settings, Purpose::LongTransactions, Arc::default());
        opened.await.map(|(connection, _)| connection)
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// It failed, or took too long: then the connection is closed.
    pub async fn query(
        &self,
        sql: &'static str,
        params: &[SqlParam],
    ) -> Result<Vec<Row>, QueryError> {
        self.within_deadline(self.query_prepared(sql, params)).await
    }

    /// Runs statements without parameters and without results.
    ///
    /// # Errors
    /// As [`PgConnection::query`].
    pub async fn execute(&self, sql: &str) -> Result<(), QueryError> {
        self.within_deadline(self.client.batch_execute(sql)).await
    }

    /// [`PgConnection::query`] without a deadline. Once [prepared](PgConnection::prepare), it is
    /// sent when it is first polled.
    pub async fn query_prepared(
        &self,
        sql: &'static str,
        params: &[SqlParam],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.prepare(sql).await?;
        let params = params.iter().map(|param| &**param as &(dyn ToSql + Sync));
        let rows = self.client.query_raw(&statement, params).await?;
        rows.try_collect().await
    }

    /// Waits for an answer. If that takes too long, the connection is closed.
    pub async fn within_deadline<T>(
        &self,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, QueryError> {
        match timeout(self.deadline, answer).await {
            Ok(answer) => answer.map_err(QueryError::Failed),
            Err(_) => {
                self.driver.abort();
                Err(QueryError::TimedOut)
            }
        }
    }

    /// The statement with this text, prepared.
    pub async fn prepare(&self, sql: &'static str) -> Result<Statement, Error> {
        let known = self.statements.lock().get(sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.lock().insert(sql, statement.clone());
        Ok(statement)
    }
}

/// Why a statement has no result.
#[derive(Debug)]
pub(super) enum QueryError {
    Failed(Error),
    TimedOut,
    /// There is no connection at present.
    NotConnected,
}

impl From<QueryError> for StoreError {
    fn from(error: QueryError) -> StoreError {
        match error {
            QueryError::Failed(error) => error.into(),
            QueryError::TimedOut => StoreError::unreachable("it does not answer"),
            QueryError::NotConnected => StoreError::unreachable("there is no connection"),
        }
    }
}

/// Exchanges messages with the server until the connection ends.
async fn drive<S: TlsStream + Unpin>(
    mut connection: tokio_postgres::Connection<tokio_postgres::Socket, S>,
    notified: &Notify,
) -> Result<(), Error> {
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message? {
            AsyncMessage::Notification(_) => notified.notify_one(),
            AsyncMessage::Notice(notice) if notice.parsed_severity() == Some(Severity::Warning) => {
                crate::warn_rarely!("the database warns: {}", notice.message());
            }
            _ => {}
        }
    }
    Ok(())
}

/// A place for a connection, which is opened again when it has ended.
#[derive(Clone)]
pub(super) struct Slot(watch::Receiver<Option<Arc<PgConnection>>>);

impl Slot {
    /// Opens the connection, and starts the task that replaces it.
    ///
    /// # Errors
    /// The first connection cannot be opened.
    pub async fn open(
        settings: &Arc<ConnectionSettings>,
        purpose: Purpose,
        notified: &Arc<Notify>,
    ) -> Result<Slot, StoreError> {
        let (settings, notified) = (Arc::clone(settings), Arc::clone(notified));
        let (connection, mut driver) =
            PgConnection::open(&settings, purpose, Arc::clone(&notified)).await?;
        let (current, slot) = watch::channel(Some(connection));
        Handle::current().spawn(async move {
            loop {
                while timeout(CHECK_INTERVAL, &mut driver).await.is_err() {
                    let connection = current.borrow().clone();
                    if let Some(connection) = connection {
                        let _ = connection.query("SELECT", &[]).await;
                    }
                }
                current.send_replace(None);
                driver = loop {
                    match PgConnection::open(&settings, purpose, Arc::clone(&notified)).await {
                        Ok((connection, driver)) => {
                            current.send_replace(Some(connection));
                            break driver;
                        }
                        Err(error) => {
                            crate::warn_rarely!(
                                "cannot connect to the {}: {error}",
                                settings.name()
                            );
                        }
                    }
                    sleep(RETRY_DELAY).await;
                };
            }
        });
        Ok(Slot(slot))
    }

    /// The connection, if there is one.
    pub fn get(&self) -> Option<Arc<PgConnection>> {
        self.0.borrow().clone()
    }

    /// Waits for a connection, at most this long.
    pub async fn wait(&mut self, at_most: Duration) -> Option<Arc<PgConnection>> {
        let connected = self.0.wait_for(Option::is_some);
        match timeout(at_most, connected).await {
            Ok(Ok(connection)) => connection.clone(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::database::PgDatabase;
    use crate::{
        Location, StoreConfig,
        tests::{TestStore, wait},
    };

    #[test]
    fn small_writes_are_synchronous_whatever_the_database_says() {
        let Some(store) = TestStore::postgres() else {
            return;
        };
        store.sql(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', \
             current_database()); END $$",
        );
        let Location::Postgres(settings) = store.location() else {
            unreachable!("it was asked for");
        };
        let database = PgDatabase::connect(settings, StoreConfig::default()).unwrap();
        let rows = wait(database.small_write("SHOW synchronous_commit", params![]));
        assert_eq!(rows[0].get::<_, &str>(0), "on");
    }
}
