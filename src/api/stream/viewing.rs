//! One stream: what one viewer is told of a game, from where it stopped listening to its end.

use std::time::{Duration, Instant};

use actix_web::{rt::time::timeout, web::Bytes};
use futures_util::{Stream, stream};

use super::{Format, hub::Subscription};
use crate::{
    api::{
        problem::Problem,
        request::Caller,
        wire::game::{GameView, Role},
    },
    rules::{game::Phase, options::Rules},
    store::Record,
};

/// How often something is sent when nothing happens, so that nobody on the way takes the
/// connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a message may wait for the reader before the reader is too slow. The stream then ends,
/// and goes on where the reader resumes it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the game as it is.
    Game,
    /// With what came after this version.
    After(u64),
}

/// A stream in the making.
pub struct Viewing {
    subscription: Subscription,
    caller: Caller,
    role: Role,
    rules: Rules,
    format: Format,
    /// The last version that was sent.
    version: u64,
    /// What comes before everything else.
    first: Option<Bytes>,
    /// Whether the last entry was sent.
    over: bool,
    /// When the last message was handed over.
    handed_over: Option<Instant>,
}

impl Viewing {
    /// What this role may see of the game from there on.
    ///
    /// # Errors
    /// None that can happen: a view has a JSON form.
    pub fn new(
        subscription: Subscription,
        record: &Record,
        caller: Caller,
        role: Role,
        format: Format,
        start: Start,
    ) -> Result<Viewing, Problem> {
        let now = record.game.version();
        let (version, first) = match start {
            Start::After(version) => (version, None),
            Start::Game => {
                let view = GameView::new(record, role);
                let message = format.message("game", now, &view);
                (now, Some(message.map_err(Problem::internal)?.into()))
            }
        };
        let finished = record.game.phase() == Phase::Finished;
        Ok(Viewing {
            subscription,
            caller,
            role,
            rules: record.game.rules().clone(),
            format,
            version,
            first,
            over: finished && version == now,
            handed_over: None,
        })
    }

    /// The stream, to be sent as it comes; `while_open` lives as long.
    pub fn stream<T>(self, while_open: T) -> impl Stream<Item = Result<Bytes, Problem>> {
        stream::unfold((self, while_open), |(mut viewing, while_open)| async {
            let message = viewing.next().await?;
            viewing.handed_over = Some(Instant::now());
            Some((Ok(message), (viewing, while_open)))
        })
    }

    /// The next message; none at the end. What goes wrong on the way ends the stream, too: the
    /// reader resumes it.
    async fn next(&mut self) -> Option<Bytes> {
        if self
            .handed_over
            .is_some_and(|then| then.elapsed() > PATIENCE)
        {
            return None;
        }
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        while !self.over && !self.subscription.closed() {
            match self.news() {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(problem) => {
                    problem.log();
                    return None;
                }
            }
            let changed = timeout(HEARTBEAT, self.subscription.changed()).await;
            if changed.is_err() {
                return Some(Bytes::from_static(self.format.heartbeat().as_bytes()));
            }
        }
        None
    }

    /// What is new, in one piece, if anything is.
    ///
    /// # Errors
    /// The game is gone, the token is no longer good, or the store cannot be read.
    fn news(&mut self) -> Result<Option<Bytes>, Problem> {
        let news = self.subscription.news(self.version)?;
        let news = news.ok_or_else(crate::api::routes::game_not_found)?;
        // A token that was replaced while the stream was open shows nothing more.
        self.caller.still(self.role, &news.tokens)?;
        let viewer = self.role.viewer();
        let mut messages = Vec::with_capacity(news.entries.len());
        for entry in &news.entries {
            messages.push(entry.message(&self.rules, self.format, viewer)?);
            self.version = entry.version;
            self.over = entry.last;
        }
        Ok(match messages.len() {
            0 => None,
            1 => messages.pop(),
            _ => Some(messages.concat().into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::PathBuf};

    use super::*;
    use crate::{
        api::stream::hub::{Hub, Watching},
        rules::{
            game::{Game, Setup},
            options::Preset,
            player::Player,
            seat::BySeat,
            shuffle::Seed,
        },
        store::{GameId, LogEntry, Store, Tempo, TokenHash, Tokens, now},
    };

    /// A game nobody has touched, in a store of its own, and where to wait for it.
    struct Table {
        folder: PathBuf,
        record: Record,
        subscription: Option<Subscription>,
        watching: Watching,
    }

    impl Table {
        async fn new() -> Table {
            let id = GameId::random();
            let folder = env::temp_dir().join(format!("dog-stream-{id}"));
            fs::create_dir(&folder).unwrap();
            let store = Store::open(folder.join("games.db")).unwrap();
            let now = now();
            let record = Record {
                id,
                listed: true,
                imported: false,
                creator: None,
                created_at: now,
                updated_at: now,
                tokens: Tokens {
                    host: TokenHash([0; 32]),
                    seats: BySeat::default(),
                },
                tempo: Tempo::default(),
                deadline: None,
                game: Game::new(Setup {
                    rules: Preset::DogspielIt.rules(),
                    players: vec![Player::human("Anna"); 4],
                    first_dealer: None,
                    seed: Seed::new([7; 32]),
                    seed_given: false,
                })
                .into(),
            };
            let mut added = record.clone();
            let entry = LogEntry {
                version: 1,
                at: now,
                action: None,
                events: vec![record.game.last_event().clone()],
            };
            let add = store.write(move |tx| tx.insert(&mut added, &[entry]));
            add.await.unwrap();
            let (hub, watching) = Hub::start(&store).unwrap();
            Table {
                folder,
                subscription: Some(hub.subscribe(id)),
                record,
                watching,
            }
        }

        /// A spectator's stream that begins there.
        fn viewing(&mut self, start: Start) -> Viewing {
            let subscription = self.subscription.take().unwrap();
            let (caller, role) = (Caller::nobody(), Role::Spectator);
            Viewing::new(
                subscription,
                &self.record,
                caller,
                role,
                Format::Ndjson,
                start,
            )
            .unwrap()
        }
    }

    impl Drop for Table {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.folder).unwrap();
        }
    }

    #[actix_web::test]
    async fn a_reader_that_is_too_slow_is_cut_off() {
        let mut table = Table::new().await;
        let mut viewing = table.viewing(Start::After(0));
        let first = viewing.next().await.expect("the creation");
        assert!(first.starts_with(b"{\"version\":1,"), "{first:?}");
        // Had the message waited for its reader for so long, the stream would end here.
        viewing.handed_over = Instant::now().checked_sub(PATIENCE + Duration::from_secs(1));
        if viewing.handed_over.is_some() {
            assert_eq!(viewing.next().await, None);
        }
    }

    #[actix_web::test]
    async fn a_stream_ends_when_the_server_stops() {
        let mut table = Table::new().await;
        let mut viewing = table.viewing(Start::Game);
        assert!(viewing.next().await.is_some(), "the game");
        table.watching.close();
        assert_eq!(viewing.next().await, None);
    }
}
