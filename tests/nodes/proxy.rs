//! nginx in front of several nodes, with the `upstream` of `deploy/nginx-nodes.conf`.

use dog_cluster::Cluster;
use serde_json::json;

use crate::support::{Call, DogNodes, Nginx, NodeTable, start};

const ADDRESSES: [&str; 3] = ["node-1:8080", "node-2:8080", "node-3:8080"];
const GAMES: usize = 12;

/// What `deploy/nginx-nodes.conf` has in place of the block `upstream` of `deploy/nginx.conf`, for
/// these nodes.
fn documented_upstream(nodes: &DogNodes) -> String {
    let block = include_str!("../../deploy/nginx-nodes.conf");
    let addresses = ADDRESSES.iter().enumerate();
    addresses.fold(block.to_owned(), |block, (number, address)| {
        assert_eq!(block.matches(address).count(), 1, "{address}");
        block.replace(address, nodes.url(number).trim_start_matches("http://"))
    })
}

/// How many views of games each node has sent.
fn views(nodes: &DogNodes) -> [u64; 3] {
    let name = r#"dog_http_requests_total{method="GET",route="/v1/games/{id}",status="200"} "#;
    [0, 1, 2].map(|number| {
        let metrics = Call::get("/metrics").send(&nodes.url(number)).text();
        let count = metrics.lines().find_map(|line| line.strip_prefix(name));
        count.map_or(0, |count| count.parse().expect("a count"))
    })
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
    let Some(nginx) = Nginx::start(folder, &block, &documented_upstream(&nodes)) else {
        return;
    };
    let create = |_| NodeTable::create(&nginx.url, json!({}));
    let games: Vec<NodeTable> = (0..GAMES).map(create).collect();
    let mut used = [false; 3];
    for game in &games {
        let before = views(&nodes);
        for _ in 0..5 {
            game.view(&nginx.url);
        }
        let after = views(&nodes);
        let sent = [0, 1, 2].map(|number| after[number] - before[number]);
        let number = sent.iter().position(|&count| count == 5);
        used[number.unwrap_or_else(|| panic!("divided: {sent:?}"))] = true;
    }
    assert!(used.iter().filter(|used| **used).count() > 1, "{used:?}");

    // Without one of the nodes every game is still reached, and can be changed.
    nodes.node(1).kill();
    for game in &games {
        game.act(&nginx.url);
    }
}
