//! `dog games`: lists, shows and removes games, through a server or in the database itself.

use std::{fs, path::PathBuf};

use actix_web::rt::{System, SystemRunner};
use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use dog_rules::Phase;
use dog_store::{
    CommitResult, Creator, Cursor, GameId, ListQuery, Location, Store, StoreConfig, Write, WriteOp,
    now,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, to_value};
use ureq::{Agent, Body, http::Response};

use super::{location, print};
use crate::{access::Role, api::games::game::GameList, limits::gates::lines, view::game::GameView};

/// Games on a page of the list.
const PAGE: u32 = 100;

#[derive(Debug, Args)]
pub struct GamesArgs {
    #[command(subcommand)]
    command: Command,
    /// Address of a running server on this machine, such as http://127.0.0.1:8080; without it the
    /// database is opened, which of a file no server may use meanwhile.
    #[arg(long, global = true)]
    url: Option<String>,
    /// File with the operator's key of the server.
    #[arg(long, env = "DOG_OPERATOR_KEY", value_name = "FILE", global = true)]
    operator_key: Option<PathBuf>,
    #[command(flatten)]
    database: location::DatabaseArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List games, newest first, also those that are in no public list.
    List {
        /// Only games that have not changed for this many days.
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// Only games in this phase.
        #[arg(long, value_parser = phase)]
        phase: Option<Phase>,
        /// Only games of this creator, as the list names it.
        #[arg(long)]
        creator: Option<Creator>,
        /// Only games that are in no public list.
        #[arg(long)]
        unlisted: bool,
        /// Print one JSON object per game, in place of a table.
        #[arg(long)]
        json: bool,
    },
    /// Show a game as a spectator sees it.
    Show { id: GameId },
    /// Remove games for good. Their streams end.
    Remove {
        #[arg(required_unless_present = "creator")]
        ids: Vec<GameId>,
        /// All games of this creator, as the list names it.
        #[arg(long, conflicts_with = "ids")]
        creator: Option<Creator>,
        /// Remove several games without asking.
        #[arg(long)]
        yes: bool,
    },
}

impl GamesArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// If the server or the database cannot be reached, or refuses it, or a game is not there.
    pub fn run(self) -> anyhow::Result<()> {
        let place = match self.url {
            Some(url) => Place::server(url, self.operator_key)?,
            None => Place::database(&self.database)?,
        };
        match self.command {
            Command::List {
                older_than,
                phase,
                creator,
                unlisted,
                json,
            } => {
                let days = i64::from(older_than.unwrap_or_default());
                let latest = now() - SignedDuration::from_hours(24 * days);
                if !json {
                    print(
                        "id                          phase     version  changed            size  listed  creator                           names\n",
                    )?;
                }
                place.each_game(phase, creator, |game| {
                    let changed: Timestamp = text(game, "updated_at").parse()?;
                    if changed > latest || unlisted && game["listed"] == true {
                        return Ok(());
                    }
                    print(&match json {
                        true => format!("{game}\n"),
                        false => row(game),
                    })
                })
            }
            Command::Show { id } => print(&format!("{:#}\n", place.game(id)?)),
            Command::Remove { ids, creator, yes } => {
                let mut ids = ids;
                if creator.is_some() {
                    place.each_game(None, creator, |game| {
                        ids.push(text(game, "id").parse()?);
                        Ok(())
                    })?;
                }
                let many = ids.len();
                ensure!(
                    yes || many < 2,
                    "these are {many} games; to remove them, add --yes"
                );
                for id in ids {
                    place
                        .remove(id)
                        .with_context(|| format!("cannot remove {id}"))?;
                }
                print(&format!("{many} removed\n"))
            }
        }
    }
}

/// Where the games are.
enum Place {
    Server {
        agent: Agent,
        url: String,
        key: String,
    },
    Database(SystemRunner, Store),
}

impl Place {
    fn server(url: String, key: Option<PathBuf>) -> anyhow::Result<Place> {
        let file = key.context("--url needs the operator's key: --operator-key FILE")?;
        let text = fs::read_to_string(&file);
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        ensure!(
            url.starts_with("http://"),
            "the key is sent to the server itself, on its machine, such as http://127.0.0.1:8080"
        );
        // The key goes nowhere else.
        let agent = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .build();
        Ok(Place::Server {
            agent: agent.into(),
            url: url.trim_end_matches('/').to_owned(),
            key: lines(&text)
                .next()
                .context("the file has no key")?
                .1
                .to_owned(),
        })
    }

    fn database(database: &location::DatabaseArgs) -> anyhow::Result<Place> {
        let location = database.location()?;
        let config = StoreConfig {
            check: false,
            ..StoreConfig::default()
        };
        let name = location.name();
        if let Location::Sqlite(file) = &location {
            ensure!(file.exists(), "there is no {name}");
        }
        let store = location.open(config).with_context(|| {
            format!("cannot open the {name}; beside a server, use --url and --operator-key")
        })?;
        Ok(Place::Database(System::new(), store))
    }

    /// Passes on each game of the list of all games.
    fn each_game(
        &self,
        phase: Option<Phase>,
        creator: Option<Creator>,
        mut pass: impl FnMut(&Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut after: Option<Cursor> = None;
        loop {
            let page = match self {
                Place::Server { agent, url, key } => {
                    let request = agent.get(format!("{url}/v1/games?all=true&limit={PAGE}"));
                    let phase = phase.map(|phase| ("phase", phase.name().to_owned()));
                    let creator = creator.map(|creator| ("creator", creator.to_string()));
                    let cursor = after.map(|cursor| ("cursor", cursor.to_string()));
                    let filters = phase.into_iter().chain(creator).chain(cursor);
                    answer(
                        request
                            .query_pairs(filters)
                            .header("Dog-Token", key)
                            .call()?,
                    )?
                }
                Place::Database(system, store) => {
                    let query = ListQuery {
                        phase,
                        after,
                        limit: PAGE,
                        ..ListQuery::default()
                    };
                    let (page, sizes) = system.block_on(store.all_games(&query, creator))?;
                    to_value(GameList::new(&page, Some(&sizes)))?
                }
            };
            for game in page["games"].as_array().into_iter().flatten() {
                pass(game)?;
            }
            match page["next"].as_str() {
                Some(next) => after = Some(next.parse()?),
                None => return Ok(()),
            }
        }
    }

    fn game(&self, id: GameId) -> anyhow::Result<Value> {
        match self {
            Place::Server { agent, url, .. } => {
                answer(agent.get(format!("{url}/v1/games/{id}")).call()?)
            }
            Place::Database(system, store) => {
                let stored = system.block_on(store.load(Some(&id), None))?.game;
                let stored = stored.context("there is no such game")?;
                Ok(to_value(GameView::new(&stored, Role::Spectator))?)
            }
        }
    }

    fn remove(&self, id: GameId) -> anyhow::Result<()> {
        match self {
            Place::Server { agent, url, key } => {
                let request = agent.delete(format!("{url}/v1/games/{id}"));
                answer(request.header("Dog-Token", key).call()?).map(drop)
            }
            Place::Database(system, store) => system.block_on(async {
                loop {
                    let stored = store.load(Some(&id), None).await?.game;
                    let stored = stored.context("there is no such game")?;
                    let op = WriteOp::Remove(stored.expected_state());
                    // Another node may have changed it meanwhile.
                    if store.commit(Write { op, save: None }).await? == CommitResult::Done {
                        return Ok(());
                    }
                }
            }),
        }
    }
}

/// The body of an answer; null without one.
fn answer(mut response: Response<Body>) -> anyhow::Result<Value> {
    let status = response.status();
    let body = response.body_mut().read_to_string()?;
    let body: Value = serde_json::from_str(&body).unwrap_or_default();
    if !status.is_success() {
        let why = body["detail"].as_str().or(body["title"].as_str());
        bail!(
            "the server answers {status}: {}",
            why.unwrap_or("it is no dog-server")
        );
    }
    Ok(body)
}

/// The row of a game in the table.
fn row(game: &Value) -> String {
    let names = game["names"].as_array().into_iter().flatten();
    let names: Vec<_> = names.filter_map(Value::as_str).collect();
    let listed = if game["listed"] == true { "yes" } else { "no" };
    format!(
        "{:26}  {:8}  {:>7}  {:.16}  {:>7}  {listed:6}  {:32}  {}\n",
        text(game, "id"),
        text(game, "phase"),
        game["version"].to_string(),
        text(game, "updated_at"),
        game["size"].to_string(),
        text(game, "creator"),
        names.join(", ")
    )
}

fn text<'a>(game: &'a Value, member: &str) -> &'a str {
    game[member].as_str().unwrap_or_default()
}

fn phase(text: &str) -> Result<Phase, String> {
    let phases = || format!("the phases are {}", Phase::ALL.map(Phase::name).join(", "));
    Phase::by_name(text).ok_or_else(phases)
}
