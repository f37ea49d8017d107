//! RULES §7.3, and what is known about others' cards after it.

use std::collections::HashSet;

use dog_rules::{
    Action, Cards, Event, EventKind, Exchange, ExchangeChoice, ExchangeState, Game, OfferedCard,
    Phase, Preset::*, Rules, Seat, Viewer, view::OwnCards,
};

use rand::seq::IndexedRandom;

use super::{
    position::{PositionExt, seat},
    properties::rng,
    rounds::{self, deal, lowest, play_first, play_refused, play_rounds, refused},
};

fn offer(game: &Game, by: u8) -> Action {
    let seat = seat(by);
    Action::Offer {
        seat,
        card: lowest(game, seat),
    }
}

/// Rules with an optional exchange.
fn optional() -> Rules {
    Hausregeln.with(|options| options.exchange = Exchange::Optional)
}

fn dealt(rules: impl PositionExt) -> Game {
    let mut game = rules.game();
    deal(&mut game);
    game
}

fn states(game: &Game) -> Vec<Option<ExchangeState>> {
    Seat::all(4).map(|seat| game.exchange(seat)).collect()
}

#[test]
fn each_seat_offers_one_card_to_its_partner() {
    use ExchangeState::*;
    let mut game = dealt(DogspielIt);
    let before: Vec<Cards> = Seat::all(4).map(|seat| game.hand(seat)).collect();
    let given = [0, 1, 2, 3].map(|by| lowest(&game, seat(by)));
    for by in [0, 1, 2] {
        let action = offer(&game, by);
        let events = game.apply(&action).expect("an offer");
        assert!(matches!(events[0].what, EventKind::CardOffered { .. }));
    }
    // Seats 0 and 2 have swapped; the card that seat 1 offered counts as in its hand.
    assert_eq!(
        states(&game),
        [Swapped, Offered, Swapped, Pending].map(Some)
    );
    assert_eq!(game.cards(seat(1)), 6);
    assert_eq!((game.phase(), game.turn()), (Phase::Exchange, None));
    let action = offer(&game, 3);
    let events = game.apply(&action).expect("the last offer");
    let swapped = EventKind::CardsSwapped {
        given: [1, 3]
            .map(|by| OfferedCard {
                seat: seat(by),
                card: Some(given[usize::from(by)]),
                holder: Some(0),
            })
            .to_vec(),
    };
    assert_eq!(
        events[1..],
        [
            swapped.into(),
            EventKind::PlayBegan { turn: seat(1) }.into()
        ]
    );
    assert_eq!((game.phase(), game.turn()), (Phase::Play, Some(seat(1))));
    for by in [0, 1, 2, 3usize] {
        let partner = (by + 2) % 4;
        let mut expected = before[by];
        assert!(expected.remove(given[by]));
        expected.add(given[partner]);
        assert_eq!(game.hand(seat(by as u8)), expected);
        assert_eq!(game.received(seat(by as u8)), Some(given[partner]));
    }
}

#[test]
fn neither_sees_the_others_card_before_it_has_offered_its_own() {
    let mut game = dealt(DogspielIt);
    let action = offer(&game, 0);
    let offered = game.apply(&action).expect("an offer").remove(0);
    let unseen = Event::from(EventKind::CardOffered {
        seat: seat(0),
        card: None,
        holder: Some(0),
    });
    for other in 1..4 {
        assert_eq!(
            offered.clone().redacted_for(Viewer::Seat(seat(other), 0)),
            unseen
        );
    }
    assert_eq!(offered.clone().redacted_for(Viewer::Spectator), unseen);
    assert_eq!(
        offered.clone().redacted_for(Viewer::Seat(seat(0), 0)),
        offered
    );
    // The swap shows both cards to the pair, and none to others.
    let action = offer(&game, 2);
    let swap = game.apply(&action).expect("an offer").remove(1);
    for by in [0, 2] {
        assert_eq!(swap.clone().redacted_for(Viewer::Seat(seat(by), 0)), swap);
    }
    let hidden = Event::from(EventKind::CardsSwapped {
        given: [0, 2]
            .map(|by| OfferedCard {
                seat: seat(by),
                card: None,
                holder: Some(0),
            })
            .to_vec(),
    });
    for viewer in [
        Viewer::Seat(seat(1), 0),
        Viewer::Seat(seat(3), 0),
        Viewer::Spectator,
    ] {
        assert_eq!(swap.clone().redacted_for(viewer), hidden);
    }
}

#[test]
fn a_mandatory_exchange_is_answered_once_with_a_card_of_the_hand() {
    let mut game = dealt(DogspielIt);
    let mandatory = "by these rules the exchange is mandatory: each seat must offer a card";
    refused(&mut game, &Action::Decline { seat: seat(0) }, mandatory);
    refused(&mut game, &Action::Ask { seat: seat(0) }, mandatory);
    let hand = game.hand(seat(0));
    let missing = game
        .rules()
        .deck()
        .ranks()
        .find(|&card| !hand.contains(card));
    let missing = missing.expect("six cards are not all kinds");
    let lay = Action::Offer {
        seat: seat(0),
        card: missing,
    };
    refused(
        &mut game,
        &lay,
        &format!("there is no {missing} in the hand"),
    );
    let lay = offer(&game, 0);
    game.apply(&lay).expect("an offer");
    refused(
        &mut game,
        &lay,
        "seat 0 has already answered in this exchange",
    );
    play_refused(
        &mut game,
        1,
        "fold",
        "this is for the play phase, the game is in the exchange phase",
    );
}

#[test]
fn an_optional_exchange_needs_both_cards() {
    use ExchangeState::*;
    let mut game = dealt(optional());
    let before: Vec<Cards> = Seat::all(4).map(|seat| game.hand(seat)).collect();
    let lay = offer(&game, 0);
    game.apply(&lay).expect("an offer");
    assert_eq!(game.hand(seat(0)), before[0]);
    assert_eq!(game.offered(seat(0)), Some(lowest(&game, seat(0))));
    game.apply(&Action::Decline { seat: seat(2) })
        .expect("it may decline");
    // The card that was not swapped is back in the hand.
    assert_eq!(states(&game), [Kept, Pending, Declined, Pending].map(Some));
    assert_eq!(game.hand(seat(0)), before[0]);
    refused(
        &mut game,
        &lay,
        "seat 0 has already answered in this exchange",
    );
    // A seat that declines ends the exchange for its partner too.
    game.apply(&Action::Decline { seat: seat(1) })
        .expect("it may decline");
    assert_eq!((game.phase(), game.turn()), (Phase::Play, Some(seat(1))));
    assert_eq!(states(&game), [Kept, Declined, Declined, Kept].map(Some));
    let after: Vec<Cards> = Seat::all(4).map(|seat| game.hand(seat)).collect();
    assert_eq!(after, before);
}

#[test]
fn a_pair_that_is_done_answers_no_more() {
    let mut game = dealt(optional());
    game.apply(&Action::Decline { seat: seat(2) })
        .expect("it may decline");
    let done = "the exchange of seat 0's pair is over";
    let lay = offer(&game, 0);
    refused(&mut game, &lay, done);
    refused(&mut game, &Action::Decline { seat: seat(0) }, done);
    refused(&mut game, &Action::Ask { seat: seat(0) }, done);
}

#[test]
fn help_is_asked_once_before_the_answer_and_answers_nothing() {
    let mut game = dealt(optional());
    let ask = |by| Action::Ask { seat: seat(by) };
    let events = game.apply(&ask(0)).expect("it may ask");
    assert_eq!(events, [EventKind::HelpAsked { seat: seat(0) }.into()]);
    assert_eq!(events[0].clone().redacted_for(Viewer::Spectator), events[0]);
    assert_eq!(game.exchange(seat(0)), Some(ExchangeState::Asked));
    refused(&mut game, &ask(0), "seat 0 has already asked");
    game.apply(&ask(2)).expect("its partner may ask as well");
    let lay = offer(&game, 2);
    game.apply(&lay).expect("an offer");
    refused(
        &mut game,
        &ask(2),
        "seat 2 has already answered in this exchange",
    );
    assert_eq!(game.exchange(seat(0)), Some(ExchangeState::Asked));
    let lay = offer(&game, 0);
    game.apply(&lay).expect("a seat that asked may offer too");
    assert_eq!(game.exchange(seat(0)), Some(ExchangeState::Swapped));
    // A seat may ask and then decline.
    game.apply(&ask(1)).expect("it may ask");
    game.apply(&Action::Decline { seat: seat(1) })
        .expect("and decline");
    assert_eq!(game.phase(), Phase::Play);
    assert!(game.asked(seat(1)) && !game.asked(seat(3)));
}

#[test]
fn the_exchange_is_forgotten_when_the_round_is_over() {
    let mut game = Hausregeln.game();
    play_rounds(&mut game, 1);
    assert_eq!(states(&game), [None; 4]);
    deal(&mut game);
    assert_eq!(states(&game), [Some(ExchangeState::Pending); 4]);
}

#[test]
fn the_swapped_card_is_known_in_the_partners_hand() {
    let mut game = dealt(DogspielIt);
    rounds::exchange(&mut game);
    let given = game.offered(seat(3)).expect("seat 3 offered a card");
    let known = |game: &Game, by| game.seen_from(seat(by)).known[seat(1)];
    assert_eq!(known(&game, 3), [given].into_iter().collect());
    assert_eq!([0, 1, 2].map(|by| known(&game, by)), [Cards::EMPTY; 3]);
    // Seat 1 begins. Once it has played such a card, or folded, nothing is known.
    assert_eq!(game.turn(), Some(seat(1)));
    let equal_cards = |game: &Game| game.hand(seat(1)).count(given);
    let before = equal_cards(&game);
    while equal_cards(&game) == before {
        assert_eq!(known(&game, 3), [given].into_iter().collect());
        play_first(&mut game);
    }
    assert_eq!(known(&game, 3), Cards::EMPTY);
}

#[test]
fn a_seat_sees_its_own_cards_and_the_number_of_the_others() {
    let mut game = dealt(DogspielIt);
    let dealt = game.last_event().clone();
    rounds::exchange(&mut game);
    let viewers = Seat::all(4)
        .map(|seat| Viewer::Seat(seat, 0))
        .chain([Viewer::Spectator]);
    for viewer in viewers {
        let EventKind::CardsDealt { hands, .. } = dealt.clone().redacted_for(viewer).what else {
            panic!("a deal, not {dealt:?}")
        };
        for (seen, hand) in game.seats_visible_to(viewer).into_iter().zip(hands) {
            let own = OwnCards {
                hand: game.hand(seen.seat),
                offered: game.offered(seen.seat),
                received: game.received(seen.seat),
            };
            let may_see = viewer == Viewer::Seat(seen.seat, 0);
            assert_eq!(seen.own, may_see.then_some(own));
            assert_eq!(hand.is_some(), may_see);
            assert_eq!((seen.cards, seen.team), (6, seen.seat.number() % 2));
        }
    }
}

/// What a seat may choose is what the game accepts of it.
#[test]
fn the_choices_are_what_is_accepted() {
    use ExchangeChoice::{Ask, Card, Decline, Pass};
    let mut rng = rng(7);
    let mandatory = HashSet::from([vec![], vec![Card]]);
    let may_decline = HashSet::from([vec![], vec![Card, Decline], vec![Card, Ask, Decline]]);
    let on_request = HashSet::from([vec![], vec![Ask, Pass], vec![Card, Decline], vec![Card]]);
    for (exchange, expected) in [
        (Exchange::Mandatory, mandatory),
        (Exchange::Optional, may_decline),
        (Exchange::OnRequest, on_request),
    ] {
        let mut seen = HashSet::new();
        for seats in [4, 6].repeat(10) {
            let rules = DogspielIt.with(|options| {
                options.exchange = exchange;
                options.seats = seats;
            });
            let mut game = dealt(rules);
            while game.phase() == Phase::Exchange {
                for seat in Seat::all(seats) {
                    let card = game.hand(seat).nth(0);
                    let accepted = [
                        (Card, Action::Offer { seat, card }),
                        (Ask, Action::Ask { seat }),
                        (Decline, Action::Decline { seat }),
                        (Pass, Action::Pass { seat }),
                    ];
                    let accepted = accepted.into_iter();
                    let accepted: Vec<ExchangeChoice> = accepted
                        .filter(|(_, action)| game.clone().apply(action).is_ok())
                        .map(|(choice, _)| choice)
                        .collect();
                    assert_eq!(game.exchange_choices(seat), accepted);
                    assert_eq!(game.check_exchange(seat).is_ok(), !accepted.is_empty());
                    seen.insert(accepted);
                }
                let acting: Vec<Seat> = game.seats_to_act().collect();
                let seat = *acting.choose(&mut rng).expect("a seat to act");
                let actions = game.legal_actions(seat);
                let action = actions.choose(&mut rng).expect("an action");
                game.apply(action).expect("a legal action");
            }
            assert!(game.exchange_choices(seat(0)).is_empty());
        }
        assert_eq!(seen, expected, "{exchange:?}");
    }
}
