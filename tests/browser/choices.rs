//! Every other kind of choice: what the page offers is what the server lists, and what was clicked
//! on is what happens.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    connection::replace_fetch,
    support::{
        Browser, Button, Look, Situation, Style, TestGame,
        TestViewer::{Seat, Spectator},
        captures, choose_part, deal_to_people, enabled,
        http::CARDS,
        is_swap, italian, offers, open, parts, place_words, text, wait_for_offers,
    },
};

/// What the page should offer after the card, or the rank of a joker: pieces if there is a choice,
/// otherwise targets. For a seven, the places of the parts that can be first.
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
    let place = |part: &Value, name: &str| place_words(text(&part[name]));
    let from: BTreeSet<String> = first_parts.iter().map(|part| place(part, "from")).collect();
    if from.len() > 1 {
        return from;
    }
    // The other piece of a swap is where the piece goes.
    first_parts.iter().map(|part| place(part, "to")).collect()
}

/// The places that the board offers, without the owners of the pieces there.
fn offered_places(look: &Look) -> BTreeSet<String> {
    let place = |name: &str| name.split(',').next().unwrap_or_default().to_owned();
    look.board.iter().map(|one| place(&one.name)).collect()
}

/// Chooses a move of one part: its card, then its places. Waits until it was played.
fn play(browser: &Browser, scene: &Situation<'_>, wanted: &Value) {
    browser.choose_card(text(&wanted["card"]));
    choose_part(browser, &parts(wanted)[0]);
    scene.wait_until_played(browser, wanted);
}

/// The different cards of moves.
fn cards(moves: &[Value]) -> BTreeSet<&str> {
    moves.iter().map(|one| text(&one["card"])).collect()
}

#[test]
fn a_joker_is_every_rank() {
    let (server, browser) = open();
    let ranks = |moves: &[Value]| {
        let ranks = moves.iter().filter_map(|one| one["as"].as_str());
        ranks.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let scene = Situation::find(&server, &italian(), 3, Style::FirstSeat, |_, moves| {
        ranks(moves).len() == 13
    });
    browser.sit(&scene.game, 0);
    browser.choose_card("joker");
    let choose_rank = |rank: &str| {
        let look = browser.wait("the ranks", |look| look.ranks.len() == 13);
        assert!(look.todo.contains("What does the joker stand for?"));
        let shown: Vec<&str> = look.ranks.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(shown, CARDS[..13]);
        let choice = look.ranks.iter().find(|one| one.name == rank);
        browser.click(choice.expect("the rank"));
    };
    for rank in &CARDS[..13] {
        choose_rank(rank);
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
    scene.assert_unchanged();
    choose_rank("Q");
    let queen = scene.find_move(|one| one["card"] == "joker" && one["as"] == "Q");
    choose_part(&browser, &parts(queen)[0]);
    scene.wait_until_played(&browser, queen);
}

#[test]
fn every_card_offers_what_is_legal_and_nothing_else() {
    let (server, browser) = open();
    let scene = Situation::find(&server, &italian(), 5, Style::FirstSeat, |view, moves| {
        let hand = view["seats"][0]["hand"].as_array().expect("a hand");
        moves.len() > 8 && hand.len() > 3 && moves.iter().any(is_swap)
    });
    browser.sit(&scene.game, 0);
    let playable = cards(&scene.moves);
    let look = browser.wait_for_cards();
    let shown: BTreeSet<&str> = enabled(&look.hand).map(|card| card.name.as_str()).collect();
    assert_eq!(shown, playable);
    for card in playable.into_iter().filter(|card| *card != "joker") {
        browser.choose_card(card);
        let moves = scene.moves.iter().filter(|one| one["card"] == card);
        let moves: Vec<&Value> = moves.collect();
        let expected = expected_offers(&scene, &moves, (card == "7").then_some("7:"));
        let look = wait_for_offers(&browser);
        assert_eq!(offered_places(&look), expected, "{card}");
        assert!(look.hand.iter().any(|one| one.pressed && one.name == card));
        browser.press("Undo");
        browser.wait("no card", |look| look.hand.iter().all(|one| !one.pressed));
    }
    // A swap is a piece, and then the other piece.
    play(&browser, &scene, scene.find_move(is_swap));
}

/// Chooses the first card of the hand, and gives it to the partner. Returns the card.
fn give_first(browser: &Browser) -> String {
    let look = browser.wait_for_cards();
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
    // What is given is said at once, and what comes back when the partner has given.
    browser.wait_for_words("You gave");
    browser.wait_for_words("You got");
    assert_eq!(game.view(Seat(0))["seats"][0]["gave"], given);
}

#[test]
fn an_optional_exchange_has_ask_and_decline() {
    let (server, browser) = open();
    let rules = json!({"preset": "hausregeln", "exchange": "optional"});
    let game = browser.sit_at(deal_to_people(&server, &rules, 1), 0);
    let look = browser.wait("the exchange", |look| look.can("Decline"));
    assert!(look.can("Ask for help") && !look.can("Give"));
    assert!(look.button("No help needed").is_none());
    assert_eq!(enabled(&look.hand).count(), 6);
    browser.press("Ask for help");
    let look = browser.wait("the answer", |look| look.button("Ask for help").is_none());
    assert!(look.can("Decline"), "a seat that asked must still answer");
    assert_eq!(exchange_of(&game), ["asked", "pending"]);
    browser.press("Decline");
    browser.wait_for_todo("The others");
    assert_eq!(exchange_of(&game), ["declined", "kept"]);

    // The partner asks, and both give.
    let game = deal_to_people(&server, &rules, 2);
    game.swap(2, &json!({"ask": true}));
    browser.sit(&game, 0);
    browser.wait_for_words("“Help!”");
    let given = give_first(&browser);
    browser.wait_for_todo("The others");
    assert_eq!(exchange_of(&game), ["offered", "asked"]);
    game.offer(2);
    wait_for_given(&browser, &game, &given);
}

#[test]
fn help_is_asked_for_and_given() {
    let (server, browser) = open();
    let rules = json!({"preset": "hausregeln"});
    let game = browser.sit_at(deal_to_people(&server, &rules, 1), 0);
    let look = browser.wait("the exchange", |look| look.can("Ask for help"));
    assert!(look.todo.contains("Do you need help?"), "{}", look.todo);
    assert!(look.can("No help needed") && look.button("Give").is_none());
    assert_eq!(enabled(&look.hand).count(), 0);
    browser.press("Hint");
    let look = browser.wait("suggestions", |look| !look.advice.is_empty());
    let hint = |name: &str| look.advice.iter().any(|one| one.name.starts_with(name));
    assert!(hint("Ask for help") && hint("No help needed"));
    browser.press("Ask for help");
    let look = browser.wait_for_todo("Waiting for Bruno’s answer.");
    assert!(look.advice.is_empty() && look.button("Ask for help").is_none());
    assert_eq!(enabled(&look.hand).count(), 0);
    assert_eq!(exchange_of(&game), ["asked", "pending"]);

    game.offer(2);
    let look = browser.wait_for_todo("Bruno gives you a card.");
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
    let (server, browser) = open();
    let rules = json!({"preset": "hausregeln"});
    // The player needs no help, but the partner does.
    let game = browser.sit_at(deal_to_people(&server, &rules, 2), 0);
    browser.press("No help needed");
    browser.wait_for_todo("You need no help. Bruno can still ask for it.");
    assert_eq!(exchange_of(&game), ["passed", "pending"]);
    game.swap(2, &json!({"ask": true}));
    let look = browser.wait_for_todo("Bruno asks you for help.");
    assert!(look.can("Do not help") && look.button("Decline").is_none());
    assert_eq!(exchange_of(&game), ["pending", "asked"]);
    let given = give_first(&browser);
    browser.wait_for_todo("Waiting for Bruno’s card.");
    game.offer(2);
    wait_for_given(&browser, &game, &given);

    let game = deal_to_people(&server, &rules, 3);
    game.swap(2, &json!({"ask": true}));
    browser.sit(&game, 0);
    browser.press("Do not help");
    browser.wait("the others", |look| {
        look.happened.contains("You decline the exchange.") && look.todo.contains("The others")
    });
    assert_eq!(exchange_of(&game), ["declined", "kept"]);

    // Nobody in the team needs help.
    let game = deal_to_people(&server, &rules, 4);
    game.swap(2, &json!({"pass": true}));
    browser.sit(&game, 0);
    browser.wait_for_words("Bruno needs no help.");
    browser.press("No help needed");
    browser.wait_for_todo("The others");
    assert_eq!(exchange_of(&game), ["kept", "kept"]);
}

#[test]
fn a_fold_is_confirmed_and_says_why() {
    let (server, browser) = open();
    let scene = browser.sit_in(Situation::with_a_fold(&server));
    browser.wait_for_todo("You cannot play any card.");
    let look = browser.wait_for_todo("You have no piece to move on the track.");
    assert_eq!(enabled(&look.hand).count(), 0);
    browser.press("Fold");
    browser.press("Cancel");
    browser.wait_for_todo("You cannot play any card.");
    scene.assert_unchanged();
    browser.press("Fold");
    browser.wait("the question again", |look| look.can("Cancel"));
    browser.press("Fold");
    browser.wait_for_todo("You have folded.");
    assert_eq!(scene.game.view(Spectator)["seats"][0]["folded"], true);
}

#[test]
fn a_player_who_is_home_plays_for_the_partner() {
    let (server, browser) = open();
    let for_partner = |one: &Value| one["kind"] == "advance" && parts(one)[0]["seat"] == 2;
    let scene = Situation::find(&server, &italian(), 6, Style::FirstSeat, |view, moves| {
        let goal = view["board"][0]["goal"].as_array().expect("places");
        goal.len() == 4 && moves.len() > 2 && moves.iter().any(for_partner)
    });
    browser.sit(&scene.game, 0);
    for card in cards(&scene.moves) {
        browser.choose_card(card);
        let look = wait_for_offers(&browser);
        let is_own = |place: &Button| place.name.contains("your piece");
        assert!(!look.board.iter().any(is_own), "{look:?}");
        browser.press("Undo");
    }
    play(&browser, &scene, scene.find_move(for_partner));
}

#[test]
fn capturing_the_partner_asks_once_more() {
    let (server, browser) = open();
    let captures_partner = |one: &Value| captures(one, |seat| *seat == 2);
    let scene = Situation::with_move(&server, 8, captures_partner);
    let wanted = scene.find_move(captures_partner);
    let part = &parts(wanted)[0];
    browser.sit(&scene.game, 0);
    browser.choose_card(text(&wanted["card"]));
    choose_part(&browser, part);
    let question = "This sends a piece of your partner Bruno back to the kennel.";
    let look = browser.wait_for_todo(question);
    assert!(look.can("Play") && look.can("Cancel"));
    browser.press("Cancel");
    browser.wait("the choice again", |look| !look.board.is_empty());
    scene.assert_unchanged();
    choose_part(&browser, part);
    browser.wait_for_todo(question);
    browser.press("Play");
    scene.wait_until_played(&browser, wanted);
}

#[test]
fn the_list_of_all_moves_plays_at_once() {
    let (server, browser) = open();
    // While a move is being sent, nothing can be pressed.
    replace_fetch(
        &browser,
        "if (String(url).endsWith('/play')) await new Promise((send) => { window.send = send; });
         return real(url, options);",
    );
    let scene = browser.sit_in(Situation::with_choices(&server));
    browser.press("Hint");
    browser.wait("suggestions", |look| !look.advice.is_empty());
    let look = browser.play_from_list(1);
    assert_eq!(look.moves.len(), scene.moves.len());
    let look = browser.wait_for_todo("Sending");
    let groups = [
        &look.moves,
        &look.hand,
        &look.advice,
        &look.board,
        &look.buttons,
    ];
    let pressable = groups.into_iter().flat_map(|group| enabled(group));
    let pressable: Vec<&str> = pressable.map(|one| one.name.as_str()).collect();
    let harmless = |name: &&str| ["Rules", "Sound", "React"].contains(name);
    assert!(pressable.iter().all(harmless), "{pressable:?}");
    browser.eval("window.send()");
    scene.wait_until_played(&browser, &scene.moves[1]);
}

#[test]
fn a_double_click_is_one_choice() {
    let (server, browser) = open();
    browser.sit(&Situation::with_choices(&server).game, 0);
    let look = browser.wait_for_cards();
    let card = look.hand.iter().position(|card| card.enabled).expect("one");
    browser.double_click(&look.hand[card]);
    browser.wait("places", |look| {
        look.hand[card].pressed && !offers(look).is_empty()
    });
    // A second click later puts it back.
    browser.click(&browser.look().hand[card]);
    browser.wait("no card", |look| look.hand.iter().all(|one| !one.pressed));

    // Nor does it answer the question that it asks.
    let scene = browser.sit_in(Situation::with_a_fold(&server));
    let look = browser.wait("the fold", |look| look.can("Fold"));
    browser.double_click(look.button("Fold").expect("a button"));
    browser.wait("the question", |look| look.can("Cancel"));
    scene.assert_unchanged();
}
