//! The page through a screen reader: the accessibility tree alone.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::{
    Browser, Dice, Form, KeyboardPlayer, NAMES, Situation, Style, TestGame,
    TestViewer::{Host, Spectator},
    broken, create_with_bots, italian, open, pieces_of,
};

/// A node of the accessibility tree.
#[derive(Clone, Debug)]
struct AxNode {
    role: String,
    name: String,
    disabled: bool,
    children: Vec<String>,
    /// What DevTools calls its element.
    element: Value,
}

/// The value of a property, if it is a text.
fn value_of(property: &Value) -> String {
    property["value"].as_str().unwrap_or_default().to_owned()
}

/// All that a screen reader knows of the page at one moment.
struct Tree {
    nodes: HashMap<String, AxNode>,
    /// Their ids in the order of the document.
    order: Vec<String>,
}

impl Tree {
    fn read(browser: &Browser) -> Tree {
        let tree = browser.devtools("Accessibility.getFullAXTree", json!({}));
        let mut nodes = HashMap::new();
        let mut order = Vec::new();
        for node in tree["nodes"].as_array().expect("nodes") {
            let properties = node["properties"].as_array().into_iter().flatten();
            let mut disabled = properties.filter(|one| one["name"] == "disabled");
            let children = node["childIds"].as_array().into_iter().flatten();
            let id = node["nodeId"].as_str().expect("an id").to_owned();
            order.push(id.clone());
            let read = AxNode {
                role: value_of(&node["role"]),
                name: value_of(&node["name"]),
                disabled: disabled.any(|one| one["value"]["value"] == true),
                children: children
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
                element: node["backendDOMNodeId"].clone(),
            };
            nodes.insert(id, read);
        }
        Tree { nodes, order }
    }

    /// Everything of a role, in the order of the document.
    fn all(&self, role: &str) -> impl Iterator<Item = &AxNode> {
        let nodes = self.order.iter().map(|id| &self.nodes[id]);
        nodes.filter(move |node| node.role == role)
    }

    fn find(&self, role: &str, name: &str) -> Option<&AxNode> {
        self.all(role).find(|node| node.name == name)
    }

    /// What is in a node, itself first.
    fn within<'a>(&'a self, node: &'a AxNode) -> Vec<&'a AxNode> {
        let children = node.children.iter().filter_map(|id| self.nodes.get(id));
        let inner = children.flat_map(|child| self.within(child));
        [node].into_iter().chain(inner).collect()
    }

    /// The text of a node.
    fn text(&self, node: &AxNode) -> String {
        let texts = self.within(node).into_iter();
        let texts = texts.filter(|one| one.role == "StaticText");
        texts.map(|one| one.name.as_str()).collect()
    }

    /// The buttons of a group that can be pressed.
    fn choices(&self, group: &str) -> Vec<&AxNode> {
        let group = self.find("group", group);
        let inner = group.map(|group| self.within(group)).unwrap_or_default();
        let choices = inner.into_iter();
        let choices = choices.filter(|one| one.role == "button" && !one.disabled);
        choices.collect()
    }

    fn button(&self, name: &str) -> Option<&AxNode> {
        self.find("button", name).filter(|one| !one.disabled)
    }

    /// The summary of *Where the pieces are*.
    fn summary(&self) -> Option<&AxNode> {
        let mut all = self.order.iter().map(|id| &self.nodes[id]);
        all.find(|one| one.name == "Where the pieces are" && one.role != "StaticText")
    }

    /// The lines under it. The players and the log are lists with names.
    fn lines(&self) -> Vec<String> {
        let lists = self.all("list").filter(|list| list.name.is_empty());
        let items = lists.flat_map(|list| self.within(list));
        let items = items.filter(|one| one.role == "listitem");
        items.map(|item| self.text(item)).collect()
    }

    fn status(&self) -> String {
        let status = self.find("status", "What to do");
        status.map(|status| self.text(status)).unwrap_or_default()
    }
}

/// Waits until the tree is as wanted.
#[track_caller]
fn wait(browser: &Browser, what: &str, wanted: impl Fn(&Tree) -> bool) -> Tree {
    for _ in 0..2000 {
        let tree = Tree::read(browser);
        if wanted(&tree) {
            return tree;
        }
    }
    panic!("waited for {what}: {}", Tree::read(browser).status());
}

/// Goes to a button and presses it, as a screen reader does.
fn press(browser: &Browser, node: &AxNode) {
    browser.devtools("DOM.focus", json!({"backendNodeId": node.element}));
    browser.key(KeyboardPlayer::ENTER);
}

/// What a player can choose now: the first of these that the page has.
fn choices(tree: &Tree) -> Vec<&AxNode> {
    let buttons = ["Play", "Deal", "Give"].map(|name| tree.button(name));
    if let Some(button) = buttons.into_iter().flatten().next() {
        return vec![button];
    }
    // A fold asks for a second press, and the answers to the question are side by side.
    if let Some(fold) = tree.button("Fold") {
        return vec![fold];
    }
    let groups = ["Board", "Joker as", "Your hand"];
    let mut all = groups.iter().map(|group| tree.choices(group));
    all.find(|choices| !choices.is_empty()).unwrap_or_default()
}

/// The line of each seat under *Where the pieces are*, which is opened.
fn lines(browser: &Browser) -> Vec<String> {
    let tree = wait(browser, "the position", |tree| tree.summary().is_some());
    if tree.lines().is_empty() {
        press(browser, tree.summary().expect("the summary"));
    }
    wait(browser, "the lines", |tree| !tree.lines().is_empty()).lines()
}

/// The places in a line, as the server names them, sorted.
fn places_of(line: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for place in line.split("; ") {
        if let Some(count) = place.strip_suffix(" in the kennel") {
            list.extend(vec!["kennel".to_owned(); count.parse().expect("a number")]);
        } else if let Some(depth) = place.strip_prefix("goal field ") {
            let depth: u8 = depth.parse().expect("a number");
            list.push(format!("goal:{}", depth - 1));
        } else {
            let field = place.strip_prefix("field ").expect("a field");
            list.push(field.split(',').next().expect("a number").to_owned());
        }
    }
    list.sort();
    list
}

/// The places of each seat's pieces, sorted.
fn places_on_server(game: &TestGame<'_>) -> Vec<Vec<String>> {
    let mut seats = vec![Vec::new(); game.seats()];
    for piece in pieces_of(game) {
        let (seat, place) = piece.split_once(' ').expect("a seat and a place");
        seats[seat.parse::<usize>().expect("a seat")].push(place.to_owned());
    }
    seats
}

#[test]
fn a_round_is_played_and_every_piece_is_found() {
    let (server, browser) = open();
    let game = browser.sit_at(create_with_bots(&server, &italian(), 5, 0), 0);
    let mut dice = Dice::new(5);
    let mut turns = 0;
    while game.view(Spectator)["round"] == 1 {
        let over = |tree: &Tree| !choices(tree).is_empty() || tree.status().contains("deal");
        let tree = wait(&browser, "a choice", over);
        let choices = choices(&tree);
        if choices.is_empty() {
            continue;
        }
        // The bots wait for this player.
        if game.view(Spectator)["turn"] == 0 && tree.status().contains("choose a card") {
            let lines = lines(&browser);
            let told = lines.iter().enumerate().map(|(seat, line)| {
                let name = if seat == 0 { "You" } else { NAMES[seat] };
                let places = line.strip_prefix(&format!("{name}: "));
                places_of(places.unwrap_or_else(|| panic!("{line} is not {name}'s")))
            });
            let told: Vec<_> = told.collect();
            assert_eq!(told, places_on_server(&game), "{lines:?}");
            turns += 1;
        }
        let status = tree.status();
        press(&browser, choices[dice.below(choices.len())]);
        // Something else is to be done, and the focus leads there.
        wait(&browser, "what is next", |tree| tree.status() != status);
        let focus = browser.eval("document.activeElement !== document.body");
        assert_eq!(focus, true, "after {status}");
    }
    assert!(turns > 2, "{turns} turns");
}

/// A log tells what happens, and a status what to do. In the end the same status tells how the game
/// ended.
#[test]
fn the_end_of_the_game_is_told_where_the_tasks_were() {
    let (server, browser) = open();
    let game = browser.sit_at(create_with_bots(&server, &italian(), 1, 0), 0);
    browser.script(
        "window.tasks = document.querySelector('[role=status][aria-label=\"What to do\"]');
         window.events = document.querySelector('[role=log]');",
        vec![],
    );
    game.put(Host, 0, &json!({"kind": "bot", "level": "greedy"}))
        .expect(200);
    browser.wait("the end", |look| look.team.is_some());
    let same = "[tasks, events].every((one) => one.isConnected)
      && document.querySelectorAll('[role=status][aria-label=\"What to do\"], [role=log]').length === 2";
    assert_eq!(browser.eval(same), true);
    browser.show_as(Form::sized(360, 616));
    assert_eq!(broken(&browser, "button.primary", ".+"), json!([]));
    let tree = Tree::read(&browser);
    assert!(tree.status().starts_with("You have "), "{}", tree.status());
    let log = tree.find("log", "What happened").expect("the log");
    assert!(tree.text(log).contains("have won"), "{}", tree.text(log));
}

#[test]
fn a_fold_is_told_once() {
    let (server, browser) = open();
    let scene = Situation::find(&server, &italian(), 0, Style::FirstSeat, |view, moves| {
        moves[0]["kind"] == "fold" && view["seats"][1]["cards"].as_u64() > Some(1)
    });
    browser.sit(&scene.game, 0);
    browser.press("Fold");
    browser.press("Fold");
    browser.wait_for_todo("You have folded.");
    browser.script(
        "window.told = 0;
         new MutationObserver(() => { told += 1; })
           .observe(document.querySelector('.status'), { subtree: true, childList: true, characterData: true });",
        vec![],
    );
    let mut dice = Dice::new(1);
    let lines = browser.look().log;
    for _ in 0..2 {
        scene.game.step(&mut dice);
    }
    browser.wait("two moves", |look| look.log >= lines + 2);
    assert_eq!(browser.eval("told"), 0);
}
