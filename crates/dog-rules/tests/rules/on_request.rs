//! RULES §7.3, `on_request`: "Hilfe!", and the partner may decline.

use std::collections::HashSet;

use dog_rules::{
    Action, ActionRefusal, Actor, Card, Cards, EventKind, Exchange, ExchangeChoice,
    ExchangeState::{self, *},
    Game, Level, Phase, Player,
    Preset::Hausregeln,
    Rules, Seat, Seed, Viewer,
    exchange::is_possible,
};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};

use super::{
    position::{PositionExt, seat},
    rounds::{deal, legal_moves, lowest},
};

/// Random exchanges by all rules come to exactly the pairs of parts that are possible.
#[test]
fn the_possible_parts_are_those_that_occur() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(71);
    let parts = [Pending, Passed, Asked, Offered, Declined, Swapped, Kept];
    for (name, exchange) in [
        ("mandatory", Exchange::Mandatory),
        ("optional", Exchange::Optional),
        ("on_request", Exchange::OnRequest),
    ] {
        let rules: Rules = format!("hausregeln exchange={name}")
            .parse()
            .expect("rules");
        let mut seen = HashSet::new();
        for _ in 0..400 {
            let mut game = rules.game_of(Seed::new(rng.random()), None);
            deal(&mut game);
            loop {
                for by in 0..2 {
                    let [one, other] = [by, by + 2].map(|by| game.exchange(seat(by)));
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
        for one in parts {
            for other in parts {
                let occurs = seen.contains(&(Some(one), Some(other)));
                let pair = [one, other];
                assert_eq!(is_possible(exchange, pair), occurs, "{name}: {pair:?}");
            }
        }
    }
}

/// A dealt game with the rules of `hausregeln`, whose teams are 0 and 2, and 1 and 3.
fn dealt() -> Game {
    let mut game = Hausregeln.game();
    deal(&mut game);
    game
}

fn ask(by: u8) -> Action {
    Action::Ask { seat: seat(by) }
}

fn pass(by: u8) -> Action {
    Action::Pass { seat: seat(by) }
}

fn decline(by: u8) -> Action {
    Action::Decline { seat: seat(by) }
}

fn offer(game: &Game, by: u8) -> Action {
    let seat = seat(by);
    let card = lowest(game, seat);
    Action::Offer { seat, card }
}

/// Carries out an action that must be accepted, and returns what happened.
#[track_caller]
fn act(game: &mut Game, action: Action) -> Vec<EventKind> {
    let events = game.apply(&action);
    let events = events.unwrap_or_else(|refusal| panic!("{action:?}: {refusal}"));
    events.into_iter().map(|event| event.what).collect()
}

/// Checks that an action is refused like this, and that the game stays as it was.
#[track_caller]
fn refused(game: &Game, action: Action, refusal: ActionRefusal) {
    let mut after = game.clone();
    assert_eq!(after.apply(&action), Err(refusal));
    assert_eq!(after, *game);
}

/// The parts of seats 0 and 2.
fn pair(game: &Game) -> [ExchangeState; 2] {
    [0, 2].map(|by| game.exchange(seat(by)).expect("a round"))
}

fn choices(game: &Game, by: u8) -> &'static [ExchangeChoice] {
    game.exchange_choices(seat(by))
}

const OPEN: &[ExchangeChoice] = &[ExchangeChoice::Ask, ExchangeChoice::Pass];
const ASKED: &[ExchangeChoice] = &[ExchangeChoice::Card, ExchangeChoice::Decline];
const PROMISED: &[ExchangeChoice] = &[ExchangeChoice::Card];

#[test]
fn each_seat_asks_or_passes() {
    let game = dealt();
    assert_eq!(pair(&game), [Pending; 2]);
    for by in 0..4 {
        assert_eq!(choices(&game, by), OPEN);
        refused(&game, offer(&game, by), ActionRefusal::NotAsked);
        refused(&game, decline(by), ActionRefusal::NotAsked);
    }
    // What the exchange refuses is refused before the card is looked at.
    let mut cards = Card::ALL.into_iter();
    let card = cards.find(|&card| !game.hand(seat(0)).contains(card));
    let card = card.expect("a card that is not in the hand");
    let seat = seat(0);
    refused(&game, Action::Offer { seat, card }, ActionRefusal::NotAsked);
}

#[test]
fn a_team_in_which_nobody_asks_swaps_nothing() {
    let mut game = dealt();
    let before: Vec<Cards> = Seat::all(4).map(|seat| game.hand(seat)).collect();
    let passed = EventKind::ExchangePassed { seat: seat(0) };
    assert_eq!(act(&mut game, pass(0)), [passed]);
    assert_eq!(pair(&game), [Passed, Pending]);
    assert_eq!(choices(&game, 0), []);
    act(&mut game, pass(2));
    assert_eq!(pair(&game), [Kept; 2]);
    assert_eq!(game.phase(), Phase::Exchange);
    act(&mut game, pass(3));
    let last = act(&mut game, pass(1));
    assert_eq!(last[1], EventKind::PlayBegan { turn: seat(1) });
    let after: Vec<Cards> = Seat::all(4).map(|seat| game.hand(seat)).collect();
    assert_eq!(after, before);
}

#[test]
fn to_pass_is_final_for_the_own_wish() {
    let mut game = dealt();
    act(&mut game, pass(0));
    for action in [ask(0), pass(0), decline(0), offer(&game, 0)] {
        refused(&game, action, ActionRefusal::AlreadyAnswered(seat(0)));
    }
}

#[test]
fn the_partner_of_a_seat_that_asks_helps_or_declines() {
    for has_passed in [false, true] {
        let mut game = dealt();
        if has_passed {
            act(&mut game, pass(2));
        }
        let asked = EventKind::HelpAsked { seat: seat(0) };
        assert_eq!(act(&mut game, ask(0)), [asked]);
        assert_eq!(pair(&game), [Asked, Pending]);
        assert_eq!((choices(&game, 0), choices(&game, 2)), (&[][..], ASKED));
        for action in [ask(0), pass(0), decline(0), offer(&game, 0)] {
            refused(&game, action, ActionRefusal::PartnerAnswers(seat(2)));
        }
        for action in [ask(2), pass(2)] {
            refused(&game, action, ActionRefusal::PartnerAsked(seat(0)));
        }
        // Teams do not depend on each other.
        assert_eq!((choices(&game, 1), choices(&game, 3)), (OPEN, OPEN));
    }
}

#[test]
fn the_partner_may_decline() {
    let mut game = dealt();
    let before = [0, 2].map(|by| game.hand(seat(by)));
    act(&mut game, ask(2));
    let declined = EventKind::ExchangeDeclined { seat: seat(0) };
    assert_eq!(act(&mut game, decline(0)), [declined]);
    assert_eq!(pair(&game), [Declined, Kept]);
    assert_eq!([0, 2].map(|by| game.hand(seat(by))), before);
    for by in [0, 2] {
        for action in [ask(by), pass(by), decline(by), offer(&game, by)] {
            refused(&game, action, ActionRefusal::PairDone(seat(by)));
        }
    }
}

#[test]
fn a_seat_that_is_helped_gives_a_card_as_well() {
    let mut game = dealt();
    act(&mut game, ask(0));
    let promise = offer(&game, 2);
    let given = lowest(&game, seat(2));
    let events = act(&mut game, promise);
    let offered = EventKind::CardOffered {
        seat: seat(2),
        card: Some(given),
        holder: Some(0),
    };
    assert_eq!(events, [offered]);
    assert_eq!(pair(&game), [Asked, Offered]);
    assert_eq!((choices(&game, 0), choices(&game, 2)), (PROMISED, &[][..]));
    // Only the seat itself sees the card, which counts as in the hand until the pair swaps.
    assert_eq!(game.hand(seat(2)).len(), 6);
    let event = game
        .last_event()
        .clone()
        .redacted_for(Viewer::Seat(seat(0), 0));
    assert!(matches!(
        event.what,
        EventKind::CardOffered { card: None, .. }
    ));
    for action in [ask(0), pass(0), decline(0)] {
        refused(&game, action, ActionRefusal::MustOffer);
    }
    for action in [ask(2), pass(2), decline(2), offer(&game, 2)] {
        refused(&game, action, ActionRefusal::AlreadyAnswered(seat(2)));
    }
    let thanks = offer(&game, 0);
    let events = act(&mut game, thanks);
    assert!(matches!(events[1], EventKind::CardsSwapped { .. }));
    assert_eq!(pair(&game), [Swapped; 2]);
    assert_eq!(game.received(seat(0)), Some(given));
}

#[test]
fn no_seat_passes_where_the_exchange_is_not_on_request() {
    use dog_rules::Exchange::{Mandatory, Optional};
    for exchange in [Mandatory, Optional] {
        let mut game = Hausregeln
            .with(|options| options.exchange = exchange)
            .game();
        deal(&mut game);
        refused(&game, pass(0), ActionRefusal::NoPass);
        let lays = offer(&game, 0);
        act(&mut game, lays);
        refused(&game, pass(0), ActionRefusal::AlreadyAnswered(seat(0)));
    }
}

/// A team of three is done when each of its pairs is.
#[test]
fn somebody_is_always_to_act_with_six_seats_too() {
    let mut game = Hausregeln.with(|options| options.seats = 6).game();
    deal(&mut game);
    act(&mut game, ask(0));
    act(&mut game, pass(1));
    act(&mut game, pass(4));
    act(&mut game, ask(5));
    act(&mut game, decline(3));
    let to_act: Vec<Seat> = game.seats_to_act().collect();
    assert_eq!(to_act, [seat(2)]);
    let last = act(&mut game, decline(2));
    assert!(matches!(last[1], EventKind::PlayBegan { .. }));
}

// The clock and the bots.

#[test]
fn the_clock_starts_again_when_the_other_seat_of_a_pair_is_to_act() {
    let mut game = dealt();
    let mut restarts = |action: Action| {
        let events = game.apply(&action).expect("an action");
        game.restarts_clock(&events)
    };
    assert!(!restarts(pass(1)));
    assert!(restarts(ask(0)));
    let promise = offer(&dealt(), 2);
    assert!(restarts(promise));
    let thanks = offer(&dealt(), 0);
    assert!(!restarts(thanks), "a team that is done waits for nobody");
    assert!(restarts(pass(3)), "play begins");
}

#[test]
fn the_clock_neither_asks_nor_promises() {
    let mut game = dealt();
    assert_eq!(game.clock_action(seat(0)), Some(pass(0)));
    act(&mut game, ask(0));
    assert_eq!(game.clock_action(seat(2)), Some(decline(2)));
    let promise = offer(&game, 2);
    act(&mut game, promise);
    // Which card the seat gives is a matter of its level.
    assert_eq!(game.clock_action(seat(0)), None);
}

#[test]
fn a_pass_by_the_clock_does_not_count_towards_away() {
    let mut game = dealt();
    let mut clock_acts = |action| {
        game.apply_by(&action, Actor::Clock).expect("an action");
        game.is_away(seat(1))
    };
    assert!(!clock_acts(pass(1)));
    // Seat 3 asks by itself; then the clock declines for seat 1.
    assert!(!clock_acts(ask(3)));
    assert!(!clock_acts(decline(1)), "it was the first time");
    assert!(!clock_acts(pass(0)));
    assert!(!clock_acts(pass(2)));
    assert_eq!(game.turn(), Some(seat(1)));
    let (seat, legal) = legal_moves(&game);
    let mv = legal[0].mv;
    game.apply_by(&Action::Play { seat, mv }, Actor::Clock)
        .expect("a legal move");
    assert!(game.is_away(seat), "it was the second time");
}

/// A game with these seats as bots, dealt.
fn with_bots(bots: &[u8]) -> Game {
    let mut game = Hausregeln.game();
    for &by in bots {
        let player = Player::bot("Bot", Level::Greedy);
        let seat = seat(by);
        act(&mut game, Action::HandOver { seat, player });
    }
    deal(&mut game);
    game
}

#[test]
fn a_bot_waits_until_its_human_partner_has_asked_or_passed() {
    let game = with_bots(&[2]);
    assert_eq!(game.bot_to_act(), None);
    let mut passed = game.clone();
    act(&mut passed, pass(0));
    assert_eq!(passed.bot_to_act(), Some(seat(2)));
    // Where it has asked, it waits for the answer.
    act(&mut passed, ask(2));
    assert_eq!(passed.bot_to_act(), None);
    let promise = offer(&passed, 0);
    act(&mut passed, promise);
    assert_eq!(passed.bot_to_act(), Some(seat(2)));
    let mut asked = game;
    act(&mut asked, ask(0));
    assert_eq!(asked.bot_to_act(), Some(seat(2)));
}

#[test]
fn of_two_bots_the_lower_seat_acts_first() {
    let mut game = with_bots(&[0, 2]);
    assert_eq!(game.bot_to_act(), Some(seat(0)));
    act(&mut game, pass(0));
    assert_eq!(game.bot_to_act(), Some(seat(2)));
    act(&mut game, ask(2));
    assert_eq!(
        game.bot_to_act(),
        Some(seat(0)),
        "it had passed, and is asked"
    );
}
