//! RULES §7.3, and what is known about others' cards after it.

use std::collections::HashSet;

use dog_rules::{
    Action, Card, Cards, Event, EventKind, Exchange, ExchangeChoice, ExchangeState, Game,
    OfferedCard, Phase, Preset::*, Seat, Viewer, view::OwnCards,
};

use rand::seq::IndexedRandom;

use super::{
    position::{PositionExt, seat},
    properties::rng,
    rounds::{
        self, act, act_refused, deal, dealt, hands, lowest, optional, play_first, play_refused,
        play_rounds, refused,
    },
};

const ANSWERED: &str = "seat 0 has already answered in this exchange";

fn states(game: &Game) -> Vec<Option<ExchangeState>> {
    Seat::all(4).map(|seat| game.exchange(seat)).collect()
}

/// A swap of these seats' cards, as a viewer who may or may not see them sees it.
fn swap(seats: [u8; 2], card: impl Fn(Seat) -> Option<Card>) -> Event {
    let given = seats.map(|by| OfferedCard {
        seat: seat(by),
        card: card(seat(by)),
        holder: Some(0),
    });
    let given = given.to_vec();
    EventKind::CardsSwapped { given }.into()
}

#[test]
fn each_seat_offers_one_card_to_its_partner() {
    use ExchangeState::*;
    let mut game = dealt(DogspielIt);
    let before = hands(&game);
    let given: Vec<_> = Seat::all(4).map(|seat| lowest(&game, seat)).collect();
    act(&mut game, "0 offers, 1 offers, 2 offers");
    // Seats 0 and 2 have swapped; the card that seat 1 offered counts as part of its hand.
    let expected = [Swapped, Offered, Swapped, Pending];
    assert_eq!(states(&game), expected.map(Some));
    assert_eq!(game.cards(seat(1)), 6);
    assert_eq!((game.phase(), game.turn()), (Phase::Exchange, None));
    let events = act(&mut game, "3 offers");
    let swapped = swap([1, 3], |seat| Some(given[usize::from(seat.number())]));
    let began = EventKind::PlayBegan { turn: seat(1) }.into();
    assert_eq!(events[1..], [swapped, began]);
    assert_eq!((game.phase(), game.turn()), (Phase::Play, Some(seat(1))));
    for (by, seat) in Seat::all(4).enumerate() {
        let received = given[(by + 2) % 4];
        let mut expected = before[by];
        assert!(expected.remove(given[by]));
        expected.add(received);
        assert_eq!(game.hand(seat), expected);
        assert_eq!(game.received(seat), Some(received));
    }
}

#[test]
fn neither_sees_the_others_card_before_it_has_offered_its_own() {
    let mut game = dealt(DogspielIt);
    let viewers = Seat::all(4).map(|seat| Viewer::Seat(seat, 0));
    let viewers: Vec<Viewer> = viewers.chain([Viewer::Spectator]).collect();
    let offered = act(&mut game, "0 offers").remove(0);
    let unseen = Event::from(EventKind::CardOffered {
        seat: seat(0),
        card: None,
        holder: Some(0),
    });
    assert_ne!(offered, unseen);
    // The swap shows both cards to the pair, and none to others.
    let swapped = act(&mut game, "2 offers").remove(1);
    let hidden = swap([0, 2], |_| None);
    assert_ne!(swapped, hidden);
    for (by, viewer) in (0..).zip(viewers) {
        let seen = offered.clone().redacted_for(viewer).unwrap();
        assert_eq!(&seen, if by == 0 { &offered } else { &unseen });
        let seen = swapped.clone().redacted_for(viewer).unwrap();
        assert_eq!(
            &seen,
            if [0, 2].contains(&by) {
                &swapped
            } else {
                &hidden
            }
        );
    }
}

#[test]
fn a_mandatory_exchange_is_answered_once_with_a_card_of_the_hand() {
    let mut game = dealt(DogspielIt);
    let mandatory = "by these rules the exchange is mandatory: each seat must offer a card";
    act_refused(&mut game, "0 declines, 0 asks", mandatory);
    let (seat, hand) = (seat(0), game.hand(seat(0)));
    let mut deck = game.rules().deck().ranks();
    let card = deck.find(|&card| !hand.contains(card));
    let card = card.expect("six cards are not all kinds");
    let why = format!("there is no {card} in the hand");
    refused(&mut game, &Action::Offer { seat, card }, &why);
    act(&mut game, "0 offers");
    act_refused(&mut game, "0 offers", ANSWERED);
    let phase = "this is for the play phase, the game is in the exchange phase";
    play_refused(&mut game, 1, "fold", phase);
}

#[test]
fn an_optional_exchange_needs_both_cards() {
    use ExchangeState::*;
    let mut game = dealt(optional());
    let before = hands(&game);
    act(&mut game, "0 offers");
    assert_eq!(hands(&game), before);
    assert_eq!(game.offered(seat(0)), Some(lowest(&game, seat(0))));
    act(&mut game, "2 declines");
    // The card that was not swapped is back in the hand.
    assert_eq!(states(&game), [Kept, Pending, Declined, Pending].map(Some));
    assert_eq!(hands(&game), before);
    act_refused(&mut game, "0 offers", ANSWERED);
    // A seat that declines ends the exchange for its partner too.
    act(&mut game, "1 declines");
    assert_eq!((game.phase(), game.turn()), (Phase::Play, Some(seat(1))));
    assert_eq!(states(&game), [Kept, Declined, Declined, Kept].map(Some));
    assert_eq!(hands(&game), before);
}

#[test]
fn a_pair_that_is_done_answers_no_more() {
    let mut game = dealt(optional());
    act(&mut game, "2 declines");
    let done = "the exchange of seat 0's pair is over";
    act_refused(&mut game, "0 offers, 0 declines, 0 asks", done);
}

#[test]
fn help_is_asked_once_before_the_answer_and_answers_nothing() {
    let mut game = dealt(optional());
    let events = act(&mut game, "0 asks");
    assert_eq!(events, [EventKind::HelpAsked { seat: seat(0) }.into()]);
    let seen = events[0].clone().redacted_for(Viewer::Spectator);
    assert_eq!(seen.as_ref(), events.first());
    act_refused(&mut game, "0 asks", "seat 0 has already asked");
    // Its partner may ask as well, but not once it has answered.
    act(&mut game, "2 asks, 2 offers");
    act_refused(
        &mut game,
        "2 asks",
        "seat 2 has already answered in this exchange",
    );
    assert_eq!(game.exchange(seat(0)), Some(ExchangeState::Asked));
    act(&mut game, "0 offers");
    assert_eq!(game.exchange(seat(0)), Some(ExchangeState::Swapped));
    // A seat may ask and then decline.
    act(&mut game, "1 asks, 1 declines");
    assert_eq!(game.phase(), Phase::Play);
    assert!(game.asked(seat(1)) && !game.asked(seat(3)));
}

/// With six seats the pairs are 0 and 3, 1 and 4, 2 and 5.
#[test]
fn an_exchange_at_six_seats_waits_for_every_pair() {
    let mut game = dealt(DogspielIt.with(|options| options.seats = 6));
    act(
        &mut game,
        "0 offers, 3 offers, 1 offers, 4 offers, 2 offers",
    );
    assert_eq!(game.phase(), Phase::Exchange);
    let swapped = act(&mut game, "5 offers").remove(1);
    assert!(matches!(swapped.what, EventKind::CardsSwapped { .. }));
    let turns = (0..6).map(|_| play_first(&mut game).number());
    assert_eq!(turns.collect::<Vec<_>>(), [1, 2, 3, 4, 5, 0]);

    let six = DogspielIt.with(|options| {
        options.seats = 6;
        options.exchange = Exchange::Optional;
    });
    let mut game = dealt(six);
    act(&mut game, "3 declines, 1 declines");
    assert_eq!(game.phase(), Phase::Exchange);
    act(&mut game, "5 declines");
    assert_eq!(game.phase(), Phase::Play);
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
    let viewers = Seat::all(4).map(|seat| Viewer::Seat(seat, 0));
    for viewer in viewers.chain([Viewer::Spectator]) {
        let seen = dealt.clone().redacted_for(viewer).unwrap();
        let EventKind::CardsDealt { hands, .. } = seen.what else {
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
