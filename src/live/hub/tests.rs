use std::{sync::Barrier, thread};

use dog_rules::{Board, Card, Cards, Game, Placement};
use serde_json::json;

use super::{super::messages::Start, *};
use crate::{
    access::{Caller, Role},
    metrics::PoolMetrics,
    testing::{POOL, TempDatabase, creation, new_game},
    view::{change::Include, message::Format},
};

#[actix_web::test]
async fn the_last_subscription_takes_the_channel_with_it() {
    let (database, id) = (TempDatabase::new(), new_game().id);
    let pool = Arc::new(WorkerPool::start(POOL, PoolMetrics::default()).expect("a pool"));
    let (hub, _feed_task) = Hub::start(&database.store(), &pool, &pool, &Arc::default());
    for _ in 0..2_000 {
        let together = Arc::new(Barrier::new(2));
        let threads = [hub.subscribe(id), hub.subscribe(id)].map(|subscription| {
            let together = Arc::clone(&together);
            thread::spawn(move || {
                together.wait();
                drop(subscription);
            })
        });
        for thread in threads {
            thread.join().expect("a thread that only drops");
        }
        assert!(hub.channels.lock().by_game.is_empty());
        assert_eq!(hub.waiting(), 0);
    }
}

/// A new game in which seat 0 is to play one card, with four pieces far from each other.
fn to_play(card: Card) -> StoredGame {
    let stored = new_game();
    let rules = stored.game.rules();
    let mut placements = vec![Placement::default(); 4];
    placements[0].track = vec![5, 20, 35, 50];
    let board = Board::place(rules, &placements).unwrap();
    let hand: Cards = [card].into_iter().collect();
    let mut game = json!(*stored.game);
    game["phase"] = json!("play");
    game["turn"] = json!(0);
    game["board"] = json!(board);
    game["seats"][0]["hand"] = json!(hand);
    game["stock"] = json!(rules.deck().without(hand));
    let game: Game = serde_json::from_value(game).unwrap();
    StoredGame {
        game: game.into(),
        ..stored
    }
}

#[actix_web::test]
async fn a_message_with_a_long_list_of_moves_is_not_kept() {
    let database = TempDatabase::new();
    let pool = Arc::new(WorkerPool::start(POOL, PoolMetrics::default()).expect("a pool"));
    let (hub, _feed_task) = Hub::start(&database.store(), &pool, &pool, &Arc::default());
    let options = StreamOptions {
        format: Format::Ndjson,
        include: Some(Include::GameAndMoves),
        start: Start::Game,
        after_end: false,
    };
    for (card, is_kept) in [(Card::Five, true), (Card::Seven, false)] {
        let stored = Arc::new(to_play(card));
        let entry = Arc::new(creation(&stored));
        let subscription = hub.subscribe(stored.id);
        // The others get no list.
        for (role, is_kept) in [
            (Role::Seat(Seat::default()), is_kept),
            (Role::Spectator, true),
        ] {
            let reader = StreamReader {
                caller: Caller::new(None),
                role,
                viewer: role.viewer(&stored.game),
                client: ClientAddress(None),
            };
            let message = || subscription.message(&stored, &entry, options, reader);
            let first = message().await.unwrap();
            let kept = hub.views.find(&stored, options.rendering(role));
            assert_eq!(kept.is_some(), is_kept);
            assert_eq!(message().await.unwrap(), first);
        }
    }
}
