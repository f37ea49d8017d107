//! nginx in front of several nodes, with the `upstream` of `deploy/nginx-nodes.conf`.

use dog_cluster::Cluster;
use serde_json::{Value, json};

use crate::{
    node::{DogNodes, start},
    support::{Exposition, Nginx, TestGame},
};

const ADDRESSES: [&str; 3] = ["node-1:8080", "node-2:8080", "node-3:8080"];
const GAMES: usize = 12;

/// What `deploy/nginx-nodes.conf` has in place of the block `upstream` of `deploy/nginx.conf`, for
/// these nodes.
fn documented_upstream(nodes: &DogNodes) -> String {
    let block = include_str!("../../deploy/nginx-nodes.conf");
    let addresses = ADDRESSES.iter().enumerate();
    addresses.fold(block.to_owned(), |block, (number, address)| {
        assert_eq!(block.matches(address).count(), 1, "{address}");
        block.replace(address, &nodes.at(number).address())
    })
}

/// How many views of games each node has sent.
fn views(nodes: &DogNodes) -> [f64; 3] {
    let labels = [
        ("method", "GET"),
        ("route", "/v1/games/{id}"),
        ("status", "200"),
    ];
    let name = "dog_http_requests_total";
    [0, 1, 2].map(|number| Exposition::scrape(nodes.at(number)).value(name, &labels))
}

#[test]
fn requests_for_a_game_go_to_the_same_node() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let Some(nodes) = start(3) else { return };
    let folder = cluster.folder().join("nginx");
    let conf = include_str!("../../deploy/nginx.conf");
    let (_, block) = conf.split_once("upstream dog {").expect("a block");
    let (block, _) = block.split_once("\n}\n").expect("its end");
    let block = format!("upstream dog {{{block}\n}}\n");
    let Some(nginx) = Nginx::start(folder, &[(&block, &documented_upstream(&nodes))]) else {
        return;
    };
    let node = nodes.at(0);
    let url = |path: &str| format!("{}{path}", nginx.url);
    let create = |_| {
        let created = node.agent().post(url("/v1/games")).send_json(json!({}));
        let created = created.and_then(|mut created| created.body_mut().read_json::<Value>());
        TestGame::from_created(node, &created.expect("a game"))
    };
    let games: Vec<TestGame<'_>> = (0..GAMES).map(create).collect();
    let mut used = [false; 3];
    for game in &games {
        let before = views(&nodes);
        for _ in 0..5 {
            let view = node.agent().get(url(&game.path(""))).call();
            assert_eq!(view.expect("a view").status(), 200);
        }
        let after = views(&nodes);
        let sent = [0, 1, 2].map(|number| after[number] - before[number]);
        let number = sent.iter().position(|&count| count == 5.0);
        used[number.unwrap_or_else(|| panic!("divided: {sent:?}"))] = true;
    }
    assert!(used.iter().filter(|used| **used).count() > 1, "{used:?}");

    // Without one of the nodes every game is still reached, and can be changed.
    nodes.kill(1);
    for game in &games {
        let deal = node.agent().post(url(&game.path("/deal")));
        let deal = deal.header("Authorization", format!("Bearer {}", game.host));
        assert_eq!(deal.send_empty().expect("an answer").status(), 200);
    }
}
