//! Every other kind of choice: what the page offers is what the server lists, and what was clicked
//! on is what happens.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Browser, Look, Situation, Style, TestGame, TestServer,
    TestViewer::{Seat, Spectator},
    choose_part, create_with_people, enabled,
    http::CARDS,
    offers, parts, place_words,
};

fn italian() -> Value {
    json!({"preset": "dogspiel-it"})
}

/// What the page should offer after the card, or the rank of a joker: pieces if there is a choice,
/// else targets. For a seven, the places of the parts that can be first.
fn expected_offers(
    scene: &Situation<'_>,
    moves: &[&Value],
    begun: Option<&str>,
) -> BTreeSet<String> {
    let first_parts: Vec<Value> = match begun {
        Some(begun) => {
            let path = format!("/legal-moves/seven?begun={begun}");
            let seven = scene.game.get(Seat(0), &path).send().expect(200);
            let next = seven["next"].as_array().expect("parts").iter();
            next.map(|next| next["part"].clone()).collect()
        }
        None => moves.iter().map(|one| parts(one)[0].clone()).collect(),
    };
    let place = |part: &Value, name: &str| place_words(part[name].as_str().expect("a place"));
    let from: BTreeSet<String> = first_parts.iter().map(|part| place(part, "from")).collect();
    if from.len() > 1 {
        return from;
    }
    // The other piece of a swap is where the piece goes.
    first_parts.iter().map(|part| place(part, "to")).collect()
}

/// The places that the board offers, without whose pieces are there.
fn offered_places(look: &Look) -> BTreeSet<String> {
    let place = |name: &str| name.split(',').next().unwrap_or_default().to_owned();
    look.board.iter().map(|one| place(&one.name)).collect()
}

#[test]
fn a_joker_is_every_rank() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let ranks = |moves: &[Value]| {
        let ranks = moves.iter().filter_map(|one| one["as"].as_str());
        ranks.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let scene = Situation::find(&server, &italian(), 3, Style::FirstSeat, |_, moves| {
        ranks(moves).len() == 13
    });
    let version = scene.game.version();
    browser.sit(&scene.game, 0);
    browser.choose_card("joker");
    for rank in &CARDS[..13] {
        let look = browser.wait("the ranks", |look| look.ranks.len() == 13);
        assert!(look.todo.contains("What does the joker stand for?"));
        let shown: Vec<&str> = look.ranks.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(shown, CARDS[..13]);
        let choice = look.ranks.iter().find(|one| one.name == *rank);
        browser.click(choice.expect("the rank"));
        let as_rank = |one: &&Value| one["card"] == "joker" && one["as"] == *rank;
        let moves: Vec<&Value> = scene.moves.iter().filter(as_rank).collect();
        let begun = (*rank == "7").then_some("joker=7:");
        let expected = expected_offers(&scene, &moves, begun);
        let look = browser.wait("places", |look| {
            !offers(look).is_empty() && look.ranks.is_empty()
        });
        assert_eq!(offered_places(&look), expected, "joker as {rank}");
        browser.press("Undo");
    }
    assert_eq!(scene.game.version(), version);
    let look = browser.wait("the ranks", |look| look.ranks.len() == 13);
    browser.click(
        look.ranks
            .iter()
            .find(|one| one.name == "Q")
            .expect("a queen"),
    );
    let queen = scene.find_move(|one| one["card"] == "joker" && one["as"] == "Q");
    choose_part(&browser, &parts(queen)[0]);
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(scene.last_move()["id"], queen["id"]);
}

#[test]
fn every_card_offers_what_is_legal_and_nothing_else() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let scene = Situation::find(&server, &italian(), 5, Style::FirstSeat, |view, moves| {
        let hand = view["seats"][0]["hand"].as_array().expect("a hand");
        moves.len() > 8
            && hand.len() > 3
            && moves
                .iter()
                .any(|one| one["kind"] == "swap" && one["card"] == "J")
    });
    browser.sit(&scene.game, 0);
    let playable: BTreeSet<&str> = scene
        .moves
        .iter()
        .filter_map(|one| one["card"].as_str())
        .collect();
    let look = browser.wait("the hand", |look| enabled(&look.hand).next().is_some());
    let shown: BTreeSet<&str> = enabled(&look.hand).map(|card| card.name.as_str()).collect();
    assert_eq!(shown, playable);
    for card in playable.into_iter().filter(|card| *card != "joker") {
        browser.choose_card(card);
        let moves: Vec<&Value> = scene
            .moves
            .iter()
            .filter(|one| one["card"] == card)
            .collect();
        let expected = expected_offers(&scene, &moves, (card == "7").then_some("7:"));
        let look = browser.wait("places", |look| !offers(look).is_empty());
        assert_eq!(offered_places(&look), expected, "{card}");
        assert!(look.hand.iter().any(|one| one.pressed && one.name == card));
        browser.press("Undo");
        browser.wait("no card", |look| look.hand.iter().all(|one| !one.pressed));
    }
    // A swap is a piece, and then the other piece.
    let swap = scene.find_move(|one| one["kind"] == "swap" && one["card"] == "J");
    browser.choose_card("J");
    choose_part(&browser, &parts(swap)[0]);
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(scene.last_move()["id"], swap["id"]);
}

/// Chooses the first card of the hand, and gives it to the partner. Returns the card.
fn give_first(browser: &Browser) -> String {
    let look = browser.wait("the hand", |look| enabled(&look.hand).next().is_some());
    assert!(!look.can("Give"), "no card is chosen yet");
    let given = look.hand[0].name.clone();
    browser.click(&look.hand[0]);
    let look = browser.wait("Give", |look| look.can("Give"));
    assert!(look.hand[0].pressed, "{}", look.todo);
    browser.press("Give");
    given
}

/// The states of seat 0 and its partner in the exchange.
fn exchange_of(game: &TestGame<'_>) -> [Value; 2] {
    let view = game.view(Spectator);
    [0, 2].map(|seat| view["seats"][seat]["exchange"].clone())
}

/// Waits until the page shows what seat 0 and its partner gave each other.
fn wait_for_given(browser: &Browser, game: &TestGame<'_>, given: &str) {
    browser.wait_for_script("what was given", "document.querySelector('.given')");
    let words = "return document.querySelector('.given').innerText";
    let words = browser.script(words, vec![]);
    let words = words.as_str().expect("words");
    assert!(
        words.contains("You gave") && words.contains("You got"),
        "{words}"
    );
    assert_eq!(game.view(Seat(0))["seats"][0]["gave"], given);
}

#[test]
fn an_optional_exchange_has_ask_and_decline() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "hausregeln", "exchange": "optional"});
    let game = create_with_people(&server, &rules, 1);
    game.deal();
    browser.sit(&game, 0);
    let look = browser.wait("the exchange", |look| look.can("Decline"));
    assert!(look.can("Ask for help") && !look.can("Give"));
    assert!(look.button("No help needed").is_none());
    assert_eq!(enabled(&look.hand).count(), 6);
    browser.press("Ask for help");
    let look = browser.wait("the answer", |look| look.button("Ask for help").is_none());
    assert!(look.can("Decline"), "a seat that asked must still answer");
    assert_eq!(exchange_of(&game), ["asked", "pending"]);
    browser.press("Decline");
    browser.wait("the others", |look| look.todo.contains("The others"));
    assert_eq!(exchange_of(&game), ["declined", "kept"]);

    // The partner asks, and both give.
    let game = create_with_people(&server, &rules, 2);
    game.deal();
    game.swap(2, &json!({"ask": true}));
    browser.sit(&game, 0);
    browser.wait_for_script(
        "the partner’s call",
        "document.body.innerText.includes('“Help!”')",
    );
    let given = give_first(&browser);
    browser.wait("the others", |look| look.todo.contains("The others"));
    assert_eq!(exchange_of(&game), ["offered", "asked"]);
    game.swap(2, &json!({"card": game.hand(2)[0]}));
    wait_for_given(&browser, &game, &given);
}

#[test]
fn help_is_asked_for_and_given() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let game = create_with_people(&server, &json!({"preset": "hausregeln"}), 1);
    game.deal();
    browser.sit(&game, 0);
    let look = browser.wait("the exchange", |look| look.can("Ask for help"));
    assert!(look.todo.contains("Do you need help?"), "{}", look.todo);
    assert!(look.can("No help needed") && look.button("Give").is_none());
    assert_eq!(enabled(&look.hand).count(), 0);
    browser.press("Hint");
    let look = browser.wait("suggestions", |look| !look.advice.is_empty());
    let hint = |name: &str| look.advice.iter().any(|one| one.name.starts_with(name));
    assert!(hint("Ask for help") && hint("No help needed"));
    browser.press("Ask for help");
    let look = browser.wait("the partner", |look| look.todo.contains("Waiting for"));
    assert!(look.todo.contains("Waiting for Bruno’s answer."));
    assert!(look.advice.is_empty() && look.button("Ask for help").is_none());
    assert_eq!(enabled(&look.hand).count(), 0);
    assert_eq!(exchange_of(&game), ["asked", "pending"]);

    game.swap(2, &json!({"card": game.hand(2)[0]}));
    let look = browser.wait("the promise", |look| {
        look.todo.contains("Bruno gives you a card.")
    });
    assert!(look.button("Do not help").is_none() && look.button("No help needed").is_none());
    assert_eq!(exchange_of(&game), ["asked", "offered"]);
    let given = give_first(&browser);
    wait_for_given(&browser, &game, &given);
    let look = browser.look();
    assert!(look.todo.contains("The others are still deciding."));
    assert_eq!(exchange_of(&game), ["swapped", "swapped"]);
}

#[test]
fn a_partner_who_asks_is_helped_or_not() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let rules = json!({"preset": "hausregeln"});
    // The player needs no help, but the partner does.
    let game = create_with_people(&server, &rules, 2);
    game.deal();
    browser.sit(&game, 0);
    browser.press("No help needed");
    browser.wait("the partner", |look| {
        look.todo
            .contains("You need no help. Bruno can still ask for it.")
    });
    assert_eq!(exchange_of(&game), ["passed", "pending"]);
    game.swap(2, &json!({"ask": true}));
    let look = browser.wait("the question", |look| {
        look.todo.contains("Bruno asks you for help.")
    });
    assert!(look.can("Do not help") && look.button("Decline").is_none());
    assert_eq!(exchange_of(&game), ["pending", "asked"]);
    let given = give_first(&browser);
    browser.wait("the partner’s card", |look| {
        look.todo.contains("Waiting for Bruno’s card.")
    });
    game.swap(2, &json!({"card": game.hand(2)[0]}));
    wait_for_given(&browser, &game, &given);

    let game = create_with_people(&server, &rules, 3);
    game.deal();
    game.swap(2, &json!({"ask": true}));
    browser.sit(&game, 0);
    browser.press("Do not help");
    browser.wait("the others", |look| {
        look.happened.contains("You decline the exchange.") && look.todo.contains("The others")
    });
    assert_eq!(exchange_of(&game), ["declined", "kept"]);

    // Nobody in the team needs help.
    let game = create_with_people(&server, &rules, 4);
    game.deal();
    game.swap(2, &json!({"pass": true}));
    browser.sit(&game, 0);
    browser.wait_for_words("Bruno needs no help.");
    browser.press("No help needed");
    browser.wait("the others", |look| look.todo.contains("The others"));
    assert_eq!(exchange_of(&game), ["kept", "kept"]);
}

#[test]
fn a_fold_is_confirmed_and_says_why() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let scene = Situation::find(&server, &italian(), 0, Style::FirstSeat, |_, moves| {
        moves[0]["kind"] == "fold"
    });
    let version = scene.game.version();
    browser.sit(&scene.game, 0);
    let look = browser.wait("the fold", |look| look.can("Fold"));
    for words in [
        "You cannot play any card.",
        "No piece to move is on the track.",
    ] {
        assert!(look.todo.contains(words), "{}", look.todo);
    }
    assert_eq!(enabled(&look.hand).count(), 0);
    browser.press("Fold");
    browser.press("Cancel");
    browser.wait("the question", |look| {
        look.todo.contains("You cannot play any card.")
    });
    assert_eq!(scene.game.version(), version);
    browser.press("Fold");
    browser.wait("the question again", |look| look.can("Cancel"));
    browser.press("Fold");
    browser.wait("the fold", |look| look.todo.contains("You have folded."));
    assert_eq!(scene.game.version(), version + 1);
    assert_eq!(scene.game.view(Spectator)["seats"][0]["folded"], true);
}

#[test]
fn a_player_who_is_home_plays_for_the_partner() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let for_partner = |one: &Value| one["kind"] == "advance" && parts(one)[0]["seat"] == 2;
    let scene = Situation::find(&server, &italian(), 6, Style::FirstSeat, |view, moves| {
        let home = view["board"][0]["goal"]
            .as_array()
            .is_some_and(|goal| goal.len() == 4);
        home && moves.len() > 2 && moves.iter().any(for_partner)
    });
    browser.sit(&scene.game, 0);
    let cards: BTreeSet<&str> = scene
        .moves
        .iter()
        .filter_map(|one| one["card"].as_str())
        .collect();
    for card in cards {
        browser.choose_card(card);
        browser.wait("a choice", |look| !offers(look).is_empty());
        let look = browser.look();
        assert!(
            look.board
                .iter()
                .all(|place| !place.name.contains("your piece")),
            "{look:?}"
        );
        browser.press("Undo");
    }
    let wanted = scene.find_move(for_partner);
    browser.choose_card(wanted["card"].as_str().expect("a card"));
    choose_part(&browser, &parts(wanted)[0]);
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(scene.last_move()["id"], wanted["id"]);
}

#[test]
fn capturing_the_partner_asks_once_more() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let captures_partner = |one: &Value| {
        let captures = one["captures"].as_array().expect("captures");
        let plain = one["card"] != "7" && one["card"] != "joker";
        plain && captures.iter().any(|capture| capture["seat"] == 2)
    };
    let scene = Situation::find(&server, &italian(), 8, Style::FirstSeat, |_, moves| {
        moves.iter().any(captures_partner)
    });
    let version = scene.game.version();
    let wanted = scene.find_move(captures_partner);
    let part = &parts(wanted)[0];
    browser.sit(&scene.game, 0);
    browser.choose_card(wanted["card"].as_str().expect("a card"));
    choose_part(&browser, part);
    let question = "This sends a piece of your partner Bruno back to the kennel.";
    let look = browser.wait("the question", |look| look.todo.contains(question));
    assert!(look.can("Play") && look.can("Cancel"));
    browser.press("Cancel");
    browser.wait("the choice again", |look| !look.board.is_empty());
    assert_eq!(scene.game.version(), version);
    choose_part(&browser, part);
    browser.wait("the question again", |look| look.todo.contains(question));
    browser.press("Play");
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(scene.last_move()["id"], wanted["id"]);
}

#[test]
fn the_list_of_all_moves_plays_at_once() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    // While a move is being sent, nothing can be pressed.
    browser.prepare(
        "{ const real = window.fetch;
           window.fetch = async (url, options) => {
             if (String(url).endsWith('/play')) await new Promise((send) => { window.send = send; });
             return real(url, options);
           }; }",
    );
    let many = |_: &Value, moves: &[Value]| moves.len() > 5;
    let scene = Situation::find(&server, &italian(), 4, Style::FirstSeat, many);
    browser.sit(&scene.game, 0);
    browser.press("Hint");
    let look = browser.wait("suggestions", |look| !look.advice.is_empty());
    assert_eq!(look.advice.len(), 3);
    browser.open_details("All moves");
    let look = browser.look();
    assert_eq!(look.moves.len(), scene.moves.len());
    browser.click(&look.moves[1]);
    let look = browser.wait("sending", |look| look.todo.contains("Sending"));
    let pressable = [&look.moves, &look.hand, &look.advice, &look.board];
    assert!(
        pressable
            .iter()
            .all(|choices| enabled(choices).next().is_none())
    );
    assert!(
        look.buttons
            .iter()
            .all(|one| !one.enabled || ["Rules", "Sound"].contains(&one.name.as_str())),
        "{:?}",
        look.buttons
    );
    browser.script("window.send()", vec![]);
    browser.wait("the end of the turn", |look| {
        look.todo.contains("is to move")
    });
    assert_eq!(scene.last_move()["id"], scene.moves[1]["id"]);
}

#[test]
fn a_double_click_is_one_choice() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let many = |_: &Value, moves: &[Value]| moves.len() > 5;
    let scene = Situation::find(&server, &italian(), 4, Style::FirstSeat, many);
    browser.sit(&scene.game, 0);
    let look = browser.wait("the hand", |look| enabled(&look.hand).next().is_some());
    let card = look.hand.iter().position(|card| card.enabled).expect("one");
    browser.double_click(&look.hand[card]);
    browser.wait("places", |look| {
        look.hand[card].pressed && !offers(look).is_empty()
    });
    // A second click later puts it back.
    browser.click(&browser.look().hand[card]);
    browser.wait("no card", |look| look.hand.iter().all(|one| !one.pressed));

    // Nor does it answer the question that it asks.
    let scene = Situation::find(&server, &italian(), 0, Style::FirstSeat, |_, moves| {
        moves[0]["kind"] == "fold"
    });
    let version = scene.game.version();
    browser.sit(&scene.game, 0);
    let look = browser.wait("the fold", |look| look.can("Fold"));
    browser.double_click(look.button("Fold").expect("a button"));
    browser.wait("the question", |look| {
        look.can("Cancel") && look.can("Fold")
    });
    assert_eq!(scene.game.version(), version);
}

/// The names that the page gives to its buttons are those that a screen reader reads.
#[test]
fn names_and_roles_are_those_of_the_browser() {
    let server = TestServer::shared();
    let Some(browser) = Browser::open(&server) else {
        return;
    };
    let many = |_: &Value, moves: &[Value]| moves.len() > 5;
    let scene = Situation::find(&server, &italian(), 4, Style::FirstSeat, many);
    browser.sit(&scene.game, 0);
    let look = browser.wait("the hand", |look| enabled(&look.hand).next().is_some());
    browser.click(enabled(&look.hand).next().expect("a card"));
    let look = browser.wait("places", |look| !offers(look).is_empty());
    let buttons = [&look.hand, &look.board, &look.ranks, &look.buttons];
    for choice in buttons.into_iter().flatten() {
        let (role, name) = browser.role_and_name(choice);
        assert_eq!(
            (role.as_str(), name.as_str()),
            ("button", choice.name.as_str())
        );
    }
}
