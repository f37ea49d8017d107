//! One stream of many games: the messages of their streams, as lines that name the game.

use std::{collections::VecDeque, time::Instant, vec};

use actix_web::{rt::time::timeout, web::Bytes};
use futures_util::{
    FutureExt, Stream, StreamExt,
    future::LocalBoxFuture,
    stream::{self, FuturesUnordered},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::event_stream::{EventStream, HEARTBEAT, SEND_TIMEOUT, Step};
use crate::{
    pool::wait_before_retry,
    problem::{Problem, ProblemDetails, request_id::RequestId},
    view::message::Format,
};

/// What a line tells.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the others are written by the games' own streams")]
pub enum LineType {
    Game,
    Change,
    Presence,
    Reaction,
    /// No more lines of this game follow.
    Closed,
}

/// A line of a stream of many games. It has the members of the StreamMessage of this type besides;
/// only `closed` is none.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"game_id": "3greww0c87bewv0nam07asx29d", "type": "closed"}))]
pub struct GameLine {
    game_id: String,
    #[serde(rename = "type")]
    type_: LineType,
    /// Why no more lines follow; absent at the end of the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<ProblemDetails>,
}

/// The stream of one of the games, and what is dropped when it ends.
struct OpenedGame<T> {
    id: String,
    stream: EventStream,
    _while_open: T,
}

/// The state of a stream. `open` opens the stream of a game, or says why it has none: a problem, or
/// none if the game is over.
pub struct ManyGames<G, T, O> {
    request: RequestId,
    open: O,
    /// The ids of the games that are not opened yet, each with what else is known of it. They are
    /// opened one by one, so that not all are kept that a game begins with.
    unopened: vec::IntoIter<(String, G)>,
    /// Whether the next game is opened now, in turn with what the others have to send.
    opens: bool,
    /// Those that may have something to send.
    ready: VecDeque<OpenedGame<T>>,
    /// Those that wait for a change.
    waiting: FuturesUnordered<LocalBoxFuture<'static, OpenedGame<T>>>,
    /// When the last line was handed over to be sent.
    sent_at: Option<Instant>,
}

impl<G, T: 'static, O: AsyncFn(&str, G) -> Result<Option<(EventStream, T)>, Problem>>
    ManyGames<G, T, O>
{
    pub fn new(request: RequestId, games: Vec<(String, G)>, open: O) -> ManyGames<G, T, O> {
        ManyGames {
            request,
            open,
            unopened: games.into_iter(),
            opens: false,
            ready: VecDeque::new(),
            waiting: FuturesUnordered::new(),
            sent_at: None,
        }
    }

    /// The lines. `while_open` is dropped at their end.
    pub fn stream<W>(self, while_open: W) -> impl Stream<Item = Result<Bytes, Problem>> {
        stream::unfold((self, while_open), |(mut games, while_open)| async {
            let lines = games.next().await?;
            games.sent_at = Some(Instant::now());
            Some((lines, (games, while_open)))
        })
    }

    /// The next lines; none when all games are closed, the client reads too slowly or the server
    /// stops. The client resumes it with the versions that it has.
    async fn next(&mut self) -> Option<Result<Bytes, Problem>> {
        if self
            .sent_at
            .is_some_and(|sent| sent.elapsed() > SEND_TIMEOUT)
        {
            return None;
        }
        loop {
            // A game that always has something to send must not keep the others waiting.
            while let Some(Some(game)) = self.waiting.next().now_or_never() {
                self.ready.push_back(game);
            }
            self.opens = !self.opens;
            let unopened = match self.opens || self.ready.is_empty() {
                true => self.unopened.next(),
                false => None,
            };
            let mut game = if let Some((id, game)) = unopened {
                match (self.open)(&id, game).await {
                    Ok(Some((stream, _while_open))) => OpenedGame {
                        id,
                        stream,
                        _while_open,
                    },
                    Ok(None) => return Some(closed(id, None)),
                    Err(problem) => return Some(closed(id, Some(problem))),
                }
            } else if let Some(game) = self.ready.pop_front() {
                game
            } else {
                match timeout(HEARTBEAT, self.waiting.next()).await {
                    Ok(game) => game?,
                    Err(_) => return Some(Ok(Format::Ndjson.heartbeat())),
                }
            };
            let step = game.stream.step(&self.request).await;
            if game.stream.stops() {
                return None;
            }
            let retries = match step {
                Step::Message(lines) => {
                    let lines = with_id(&lines, &game.id);
                    self.ready.push_back(game);
                    return Some(Ok(lines));
                }
                Step::End(problem) => return Some(closed(game.id, problem)),
                Step::Wait => false,
                Step::Retry => true,
            };
            let wait = async move {
                match retries {
                    true => wait_before_retry().await,
                    false => game.stream.changed().await,
                }
                game
            };
            self.waiting.push(wait.boxed_local());
        }
    }
}

fn closed(game_id: String, problem: Option<Problem>) -> Result<Bytes, Problem> {
    let closed = GameLine {
        game_id,
        type_: LineType::Closed,
        problem: problem.map(|problem| *problem.details),
    };
    Format::Ndjson.notice("closed", &closed)
}

/// Lines of a game's stream with the game's id. Each is an object with members.
fn with_id(lines: &[u8], id: &str) -> Bytes {
    let mut tagged = Vec::with_capacity(lines.len() + 64);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        tagged.extend_from_slice(b"{\"game_id\":\"");
        tagged.extend_from_slice(id.as_bytes());
        tagged.extend_from_slice(b"\",");
        tagged.extend_from_slice(&line[1..]);
    }
    tagged.into()
}
