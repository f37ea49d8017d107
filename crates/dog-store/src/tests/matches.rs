//! Matches: when the tables of a pair open.

use dog_rules::{Level, Preset, Seed};

use super::*;
use crate::matches::NO_RESULT;

each_store![
    a_pair_opens_with_the_write_that_ends_its_second_table,
    a_table_that_is_removed_ends_without_a_result,
    a_match_that_is_ended_keeps_what_has_ended,
    a_match_is_moved_with_its_tables,
];

on_postgres![two_tables_that_end_at_once_on_two_nodes_open];

/// A match of so many pairs, and its tables, which were dealt.
fn deal_match(store: &Store, pairs: usize) -> (GameId, Vec<StoredGame>) {
    let id = GameId::random();
    let new = NewMatch {
        id,
        created_at: now(),
        host: TokenHash::new("host"),
        setup: MatchSetup {
            rules: Preset::DogspielIt.rules(),
            sides: ["Red", "Blue"].map(|name| MatchSide {
                name: name.to_owned(),
                kind: SeatKind::Open,
                level: Level::default(),
            }),
        },
        seeds: (0..pairs).map(|pair| Seed::new([pair as u8; 32])).collect(),
    };
    let game = |number: usize| {
        let seed = [number as u8 / 2; 32];
        let game = game(|seat| Player::human(format!("player {seat}")), seed);
        let table = MatchTable {
            match_id: id,
            number: number as u32,
            closed: false,
        };
        StoredGame {
            game: Game::clone(&game).as_duplicate().into(),
            table: Some(table),
            ..new_game()
        }
    };
    let games: Vec<StoredGame> = (0..2 * pairs).map(game).collect();
    let tables = games
        .iter()
        .map(|game| NewGame::created(game.clone(), game.game.last_event()));
    let tables = tables.collect::<Result<_, _>>().unwrap();
    commit_done(store, WriteOp::Insert(tables, Some(new)));
    let deal = |game: &StoredGame| act(store, &game.id, &Action::Deal { by: None });
    let dealt: Vec<StoredGame> = games.iter().map(deal).collect();
    assert!(
        dealt
            .iter()
            .all(|game| game.is_match_closed() && !game.listed)
    );
    (id, dealt)
}

/// The drafts with which team 0 gives up.
fn giving_up(game: &StoredGame) -> [Draft; 2] {
    let gives_up = |game: &StoredGame, seat: u8| {
        let seat = Seat::new(seat, 4).unwrap();
        let action = Action::Forfeit {
            seat,
            offered: true,
        };
        Draft::new(game, &action, Actor::Player).unwrap()
    };
    let first = gives_up(game, 0);
    let last = gives_up(&first.next, 2);
    [first, last]
}

fn end(store: &Store, game: &StoredGame) {
    for draft in giving_up(&wait(store.game(&game.id)).unwrap()) {
        commit_done(store, draft.into());
    }
}

fn found(store: &Store, id: GameId) -> StoredMatch {
    wait(store.find_match(&id)).unwrap()
}

fn complete(store: &Store, id: GameId) -> Vec<Option<[usize; 2]>> {
    let winners = |pair: &MatchPair| Some(pair.complete()?.map(|table| table.winner));
    found(store, id).pairs.iter().map(winners).collect()
}

fn are_closed<'a>(store: &Store, games: impl IntoIterator<Item = &'a StoredGame>) -> Vec<bool> {
    let game = |game: &StoredGame| wait(store.game(&game.id)).unwrap().is_match_closed();
    games.into_iter().map(game).collect()
}

fn a_pair_opens_with_the_write_that_ends_its_second_table(database: &TestStore) {
    let store = database.store();
    let (id, games) = deal_match(&store, 2);
    assert_eq!(games[0].game.at_creation(), games[1].game.at_creation());
    let since = last_change(&store);
    end(&store, &games[1]);
    assert_eq!(are_closed(&store, &games), [true; 4]);
    let ended = wait(store.game(&games[1].id)).unwrap();
    assert!(ended.published_seed().is_none() && !ended.is_laid_open());
    assert!(
        !changes(&store, since)
            .iter()
            .any(|change| { matches!(change, Change::Game { id, .. } if *id == games[0].id) })
    );
    end(&store, &games[2]);
    // A write that was computed before the pair opened is stale then.
    let renewed = set_tokens(&wait(store.game(&games[1].id)).unwrap(), "later");
    let since = last_change(&store);
    end(&store, &games[0]);
    commit_stale(&store, renewed);
    assert_eq!(are_closed(&store, &games), [false, false, true, true]);
    let told = changes(&store, since);
    for id in [id, games[0].id, games[1].id] {
        let is_told = |change: &Change| matches!(change, Change::Game { id: of, .. } if *of == id);
        assert!(told.iter().any(is_told), "{told:?}");
    }
    // Team 1 is side 1 at the first table, and side 0 at the second.
    assert_eq!(complete(&store, id), [Some([1, 0]), None]);
    let pair = &found(&store, id).pairs[0];
    assert_eq!(pair.games, [games[0].id, games[1].id]);
    assert_eq!(pair.seed, Seed::new([0; 32]).hex());
    let seed = wait(store.game(&games[1].id)).unwrap().published_seed();
    assert_eq!(seed, Some(pair.seed.clone()));
    drop(store);
    assert_eq!(database.check().defects, []);
}

fn a_table_that_is_removed_ends_without_a_result(database: &TestStore) {
    let store = database.store();
    let (id, games) = deal_match(&store, 2);
    let game = |number: usize| wait(store.game(&games[number].id)).unwrap();
    commit_done(&store, removal(&game(0)));
    assert_eq!(are_closed(&store, &games[1..]), [true; 3]);
    end(&store, &games[1]);
    end(&store, &games[2]);
    let expired = ExpiredGame {
        id: games[3].id,
        version: game(3).game.version(),
    };
    assert_eq!(wait(store.remove_expired(vec![expired])), 1);
    assert_eq!(are_closed(&store, &games[1..3]), [false, false]);
    assert_eq!(complete(&store, id), [None, None]);
    // It is forgotten a day after its tables are gone.
    let later = now() + SignedDuration::from_hours(25);
    wait(store.delete_expired(later, 10));
    assert!(wait(store.find_match(&id)).is_some());
    for number in [1, 2] {
        commit_done(&store, removal(&game(number)));
    }
    wait(store.delete_expired(now(), 10));
    assert!(wait(store.find_match(&id)).is_some());
    wait(store.delete_expired(later, 10));
    assert!(wait(store.find_match(&id)).is_none());
    assert_eq!(database.number("SELECT count(*) FROM match_tables"), 0);
}

fn a_match_that_is_ended_keeps_what_has_ended(database: &TestStore) {
    let store = database.store();
    let (id, games) = deal_match(&store, 3);
    for number in [0, 1, 2] {
        end(&store, &games[number]);
    }
    commit_done(&store, WriteOp::EndMatch(id));
    commit_stale(&store, WriteOp::EndMatch(id));
    assert!(found(&store, id).ended);
    assert_eq!(complete(&store, id), [Some([1, 0]), None, None]);
    assert_eq!(are_closed(&store, &games[..3]), [false, false, true]);
    for game in &games[3..] {
        assert_eq!(wait(store.game(&game.id)), None);
        assert!(log(&store, &game.id).is_empty());
    }
    let sql = format!("SELECT count(*) FROM match_tables WHERE result = '{NO_RESULT}'");
    assert_eq!(database.number(&sql), 3);
    commit_stale(&store, WriteOp::EndMatch(GameId::random()));
}

fn a_match_is_moved_with_its_tables(database: &TestStore) {
    let (here, there) = (database.store(), database.another());
    let (id, games) = deal_match(&here, 2);
    for number in [0, 1, 2] {
        end(&here, &games[number]);
    }
    drop(here);
    let to = match database {
        // Also from one kind of store to the other.
        TestStore::Sqlite(_) => TestStore::postgres().unwrap_or(there),
        TestStore::Postgres(_) => TestStore::sqlite(),
    };
    copy(&database.location(), &to.location(), |_, _| {}).unwrap();
    let store = to.store();
    assert_eq!(complete(&store, id), [Some([1, 0]), None]);
    assert_eq!(are_closed(&store, &games), [false, false, true, true]);
    end(&store, &games[3]);
    assert_eq!(complete(&store, id), [Some([1, 0]), Some([1, 0])]);
    assert_eq!(are_closed(&store, &games), [false; 4]);
}

fn two_tables_that_end_at_once_on_two_nodes_open(database: &TestStore) {
    let stores = database.two_stores();
    let (id, games) = deal_match(&stores[0], 32);
    for number in 0..games.len() {
        let [first, _] = giving_up(&games[number]);
        commit_done(&stores[number % 2], first.into());
    }
    for pair in games.chunks(2) {
        thread::scope(|scope| {
            for (store, game) in stores.iter().zip(pair) {
                let before = wait(store.game(&game.id)).unwrap();
                let action = Action::Forfeit {
                    seat: Seat::new(2, 4).unwrap(),
                    offered: true,
                };
                let last = Draft::new(&before, &action, Actor::Player).unwrap();
                scope.spawn(move || commit_done(store, last.into()));
            }
        });
        for store in &stores {
            assert_eq!(are_closed(store, pair), [false, false]);
        }
    }
    assert!(complete(&stores[1], id).iter().all(Option::is_some));
}
