//! RULES §7.3, `on_request`: "Hilfe!", and the partner may decline.

use std::collections::HashSet;

use dog_rules::{
    Action, Actor, Card, Event, EventKind, Exchange,
    ExchangeState::{self, *},
    Game, Phase,
    Preset::{DogspielIt, Hausregeln},
    Seat, Seed, Viewer,
    exchange::is_possible,
};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};

use super::{
    position::{PositionExt, seat},
    rounds::{
        act, act_refused, deal, dealt, exchange_action, hands, legal_moves, lowest, optional,
        refused,
    },
};

/// Random exchanges by all rules reach exactly the pairs of states that are possible.
#[test]
fn the_possible_states_are_those_that_occur() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(71);
    let states = [Pending, Passed, Asked, Offered, Declined, Swapped, Kept];
    for exchange in [Exchange::Mandatory, Exchange::Optional, Exchange::OnRequest] {
        let rules = Hausregeln.with(|options| options.exchange = exchange);
        let mut seen = HashSet::new();
        for _ in 0..400 {
            let mut game = rules.game_of(Seed::new(rng.random()), None);
            deal(&mut game);
            loop {
                for number in 0..2 {
                    let [one, other] =
                        [number, number + 2].map(|number| game.exchange(seat(number)));
                    seen.extend([(one, other), (other, one)]);
                }
                if game.phase() == Phase::Play {
                    break;
                }
                let seats: Vec<Seat> = game.seats_to_act().collect();
                let actions = game.legal_actions(*seats.choose(&mut rng).expect("a seat"));
                game.apply(actions.choose(&mut rng).expect("an action"))
                    .expect("a legal action");
            }
        }
        for one in states {
            for other in states {
                let occurs = seen.contains(&(Some(one), Some(other)));
                let pair = [one, other];
                assert_eq!(
                    is_possible(exchange, pair),
                    occurs,
                    "{exchange:?}: {pair:?}"
                );
            }
        }
    }
}

/// The states of seats 0 and 2.
fn pair(game: &Game) -> [ExchangeState; 2] {
    [0, 2].map(|number| game.exchange(seat(number)).expect("a round"))
}

/// The one event of an action.
fn only(events: &[Event]) -> &EventKind {
    assert_eq!(events.len(), 1, "{events:?}");
    &events[0].what
}

#[test]
fn each_seat_asks_or_passes() {
    let mut game = dealt(Hausregeln);
    assert_eq!(pair(&game), [Pending; 2]);
    let not_asked = "the partner has not asked for help: a seat asks or passes";
    act_refused(
        &mut game,
        "0 offers, 0 declines, 1 offers, 1 declines",
        not_asked,
    );
    // What the exchange refuses is refused before the card is looked at.
    let mut cards = Card::ALL.into_iter();
    let card = cards.find(|&card| !game.hand(seat(0)).contains(card));
    let card = card.expect("a card that is not in the hand");
    let seat = seat(0);
    refused(&mut game, &Action::Offer { seat, card }, not_asked);
}

#[test]
fn a_team_in_which_nobody_asks_swaps_nothing() {
    let mut game = dealt(Hausregeln);
    let before = hands(&game);
    let passed = EventKind::ExchangePassed { seat: seat(0) };
    assert_eq!(only(&act(&mut game, "0 passes")), &passed);
    assert_eq!(pair(&game), [Passed, Pending]);
    let answered = "seat 0 has already answered in this exchange";
    act_refused(
        &mut game,
        "0 asks, 0 passes, 0 declines, 0 offers",
        answered,
    );
    act(&mut game, "2 passes");
    assert_eq!(pair(&game), [Kept; 2]);
    assert_eq!(game.phase(), Phase::Exchange);
    let last = act(&mut game, "3 passes, 1 passes");
    assert_eq!(last[1].what, EventKind::PlayBegan { turn: seat(1) });
    assert_eq!(hands(&game), before);
}

#[test]
fn the_partner_of_a_seat_that_asks_helps_or_declines() {
    for before in [None, Some("2 passes")] {
        let mut game = dealt(Hausregeln);
        if let Some(passes) = before {
            act(&mut game, passes);
        }
        let asked = EventKind::HelpAsked { seat: seat(0) };
        assert_eq!(only(&act(&mut game, "0 asks")), &asked);
        assert_eq!(pair(&game), [Asked, Pending]);
        let answers = "seat 2 is to answer: it offers a card or declines";
        act_refused(&mut game, "0 asks, 0 passes, 0 declines, 0 offers", answers);
        let asked = "seat 0 has asked for help: its partner offers a card or declines";
        act_refused(&mut game, "2 asks, 2 passes", asked);
        // Teams do not depend on each other.
        act(&mut game.clone(), "1 asks");
        act(&mut game.clone(), "3 passes");
        let held = hands(&game);
        let declined = EventKind::ExchangeDeclined { seat: seat(2) };
        assert_eq!(only(&act(&mut game, "2 declines")), &declined);
        assert_eq!(pair(&game), [Kept, Declined]);
        assert_eq!(hands(&game), held);
        for number in [0, 2] {
            let actions =
                format!("{number} asks, {number} passes, {number} declines, {number} offers");
            let done = format!("the exchange of seat {number}'s pair is over");
            act_refused(&mut game, &actions, &done);
        }
    }
}

#[test]
fn a_seat_that_is_helped_gives_a_card_as_well() {
    let mut game = dealt(Hausregeln);
    let given = lowest(&game, seat(2));
    let events = act(&mut game, "0 asks, 2 offers");
    let offered = EventKind::CardOffered {
        seat: seat(2),
        card: Some(given),
        holder: Some(0),
    };
    assert_eq!(only(&events), &offered);
    assert_eq!(pair(&game), [Asked, Offered]);
    // Only the seat itself sees the card, which counts as part of the hand until the pair swaps.
    assert_eq!(game.hand(seat(2)).len(), 6);
    let seen = events[0]
        .clone()
        .redacted_for(Viewer::Seat(seat(0), 0))
        .unwrap()
        .what;
    assert!(matches!(seen, EventKind::CardOffered { card: None, .. }));
    let must = "the partner has laid down a card: the seat that asked must offer one";
    act_refused(&mut game, "0 asks, 0 passes, 0 declines", must);
    let answered = "seat 2 has already answered in this exchange";
    act_refused(
        &mut game,
        "2 asks, 2 passes, 2 declines, 2 offers",
        answered,
    );
    let swapped = &act(&mut game, "0 offers")[1].what;
    assert!(matches!(swapped, EventKind::CardsSwapped { .. }));
    assert_eq!(pair(&game), [Swapped; 2]);
    assert_eq!(game.received(seat(0)), Some(given));
}

#[test]
fn no_seat_passes_where_the_exchange_is_not_on_request() {
    for rules in [DogspielIt.rules(), optional()] {
        let mut game = dealt(rules);
        let no_pass = "by these rules no seat passes in the exchange";
        act_refused(&mut game, "0 passes", no_pass);
        act(&mut game, "0 offers");
        act_refused(
            &mut game,
            "0 passes",
            "seat 0 has already answered in this exchange",
        );
    }
}

/// A team of three is done when each of its pairs is.
#[test]
fn somebody_is_always_to_act_with_six_seats_too() {
    let mut game = dealt(Hausregeln.with(|options| options.seats = 6));
    act(&mut game, "0 asks, 1 passes, 4 passes, 5 asks, 3 declines");
    let to_act: Vec<Seat> = game.seats_to_act().collect();
    assert_eq!(to_act, [seat(2)]);
    let last = &act(&mut game, "2 declines")[1].what;
    assert!(matches!(last, EventKind::PlayBegan { .. }));
}

// The clock.

#[test]
fn the_clock_starts_again_when_the_other_seat_of_a_pair_is_to_act() {
    let mut game = dealt(Hausregeln);
    for (action, restarts, why) in [
        ("1 passes", false, "seat 3 was to act already"),
        ("0 asks", true, "its partner answers"),
        ("2 offers", true, "the seat that asked is to act"),
        ("0 offers", false, "a team that is done waits for nobody"),
        ("3 passes", true, "play begins"),
    ] {
        let events = act(&mut game, action);
        assert_eq!(game.restarts_clock(&events), restarts, "{action}: {why}");
    }
}

/// Asserts what the clock does for a seat.
#[track_caller]
fn check_clock(game: &Game, number: u8, action: &str) {
    let expected = exchange_action(game, action);
    assert_eq!(game.clock_action(seat(number)), Some(expected));
}

#[test]
fn the_clock_neither_asks_nor_promises() {
    let mut game = dealt(Hausregeln);
    check_clock(&game, 0, "0 passes");
    act(&mut game, "0 asks");
    check_clock(&game, 2, "2 declines");
    act(&mut game, "2 offers");
    // Which card the seat gives is a matter of its level.
    assert_eq!(game.clock_action(seat(0)), None);
}

#[test]
fn a_pass_by_the_clock_does_not_count_towards_away() {
    let mut game = dealt(Hausregeln);
    // The clock acts for seat 1 twice: it passes, which does not count, and it declines.
    for action in ["1 passes", "3 asks", "1 declines", "0 passes", "2 passes"] {
        let action = exchange_action(&game, action);
        game.apply_by(&action, Actor::Clock).expect("an action");
        assert!(!game.is_away(seat(1)), "{action:?}");
    }
    let (seat, legal) = legal_moves(&game);
    let mv = legal[0].mv;
    let second = game.apply_by(&Action::Play { seat, mv }, Actor::Clock);
    assert!(second.is_ok() && seat.number() == 1);
    assert!(game.is_away(seat), "it was the second time");
}
