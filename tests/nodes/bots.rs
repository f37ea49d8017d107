//! Bots and clocks, for which all nodes act.

use std::time::Instant;

use serde_json::{Value, json};

use crate::{
    load::assert_logs_are_whole,
    node::start,
    support::{Exposition, TestGame, TestViewer::*, wait_until},
};

#[test]
fn bots_of_three_nodes_act_once() {
    let Some(nodes) = start(3) else { return };
    let games: Vec<TestGame<'_>> = (0..8)
        .map(|number| TestGame::with_bots(nodes.at(number), "greedy", 0))
        .collect();
    let mut chosen = 0.0;
    for game in &games {
        let there = nodes.game(game, 0);
        there.wait_for(|view| view["phase"] == "finished");
        let entries = nodes.game(game, 1).entries(Spectator);
        for (index, entry) in entries.iter().enumerate() {
            assert_eq!(entry["version"], index + 1);
        }
        let is_choice = |entry: &&Value| {
            let kind = entry["events"][0]["type"].as_str().expect("a type");
            !["game_created", "cards_dealt"].contains(&kind)
        };
        chosen += entries.iter().filter(is_choice).count() as f64;
    }
    let of_each = |name| [0, 1, 2].map(|node| Exposition::scrape(nodes.at(node)).sum(name));
    let decisions = of_each("dog_bot_decisions_total");
    let decided: f64 = decisions.iter().sum();
    let stale: f64 = of_each("dog_bot_decisions_stale_total").iter().sum();
    println!("{chosen} actions of bots, {decided} decisions, {stale} too late");
    assert!(chosen <= decided && decided <= chosen + stale);
    assert!(!decisions.contains(&0.0), "an idle node: {decisions:?}");
}

#[test]
fn clocks_of_three_nodes_act_once() {
    let Some(nodes) = start(3) else { return };
    let games: Vec<TestGame<'_>> = (0..4)
        .map(|number| TestGame::create(nodes.at(number), &json!({"turn_seconds": 1})))
        .collect();
    for game in &games {
        wait_until("the clock has acted for all seats", || {
            nodes.game(game, 0).version() > 10
        });
    }
    assert_logs_are_whole(|sql| nodes.database.psql(sql));
    // The dealer has a second to deal.
    let early = nodes.database.psql(
        "SELECT later.at - first.at FROM log AS first JOIN log AS later USING (game) \
         WHERE first.version = 1 AND later.version = 2 AND later.at - first.at < 1000000",
    );
    assert_eq!(early, "");
}

#[test]
fn bots_of_a_killed_node_are_played_by_the_others() {
    let Some(nodes) = start(3) else { return };
    for number in 0..30 {
        TestGame::with_bots(nodes.at(number), "greedy", 200);
    }
    let versions = || {
        nodes
            .database
            .psql("SELECT id, version, phase FROM games ORDER BY row_id")
    };
    let all_advance = || {
        let before = versions();
        wait_until("all games advance", || {
            let now = versions();
            let mut both = before.lines().zip(now.lines());
            both.all(|(before, now)| before != now || now.ends_with("finished"))
        });
    };
    // In microseconds.
    let longest_wait = || {
        let wait = nodes.database.psql(
            "SELECT max(waited) FROM (SELECT at - lag(at) OVER \
             (PARTITION BY game ORDER BY version) AS waited FROM log) AS actions",
        );
        wait.parse::<u64>().expect("a time") / 1000
    };
    all_advance();
    println!("without a kill, bots waited {} ms at most", longest_wait());
    for number in 0..6 {
        let killed = Instant::now();
        nodes.kill(number);
        all_advance();
        println!("all games had advanced {:?} after a kill", killed.elapsed());
        nodes.at(number).replace();
    }
    println!("with kills, bots waited {} ms at most", longest_wait());
    assert!(longest_wait() < 30_000);
    assert_logs_are_whole(|sql| nodes.database.psql(sql));
}
