//! Who is to act where bots play, and in which order.

use dog_rules::{
    Action, Event, EventKind, Exchange, Game, Level, Phase, Player, Preset::*, Rules, Seat,
    SeatKind,
};

use super::{
    position::{PositionExt, seat},
    rounds::{deal, lowest},
};

/// A dealt game with bots in these seats.
fn with_bots(rules: impl PositionExt, bots: &[u8]) -> Game {
    let mut game = rules.game();
    for &bot in bots {
        hand_over(&mut game, bot, Player::bot("Bot", Level::Greedy));
    }
    deal(&mut game);
    game
}

fn hand_over(game: &mut Game, to: u8, player: Player) -> Vec<Event> {
    let seat = seat(to);
    let action = Action::HandOver { seat, player };
    game.apply(&action).expect("a seat can be handed over")
}

fn apply(game: &mut Game, action: Action) {
    game.apply(&action).expect("it is allowed");
}

fn offer(game: &mut Game, by: u8) {
    let seat = seat(by);
    let card = lowest(game, seat);
    apply(game, Action::Offer { seat, card });
}

fn ask(game: &mut Game, by: u8) {
    apply(game, Action::Ask { seat: seat(by) });
}

fn next(game: &Game) -> Option<u8> {
    game.bot_to_act().map(Seat::number)
}

#[test]
fn a_mandatory_exchange_waits_for_nobody() {
    let mut game = with_bots(DogspielIt, &[1, 2, 3]);
    for bot in [1, 2, 3] {
        assert_eq!(next(&game), Some(bot));
        offer(&mut game, bot);
    }
    assert_eq!(next(&game), None, "seat 0 is human");
    assert_eq!(game.timed_out_seat(), Some(seat(0)));
    offer(&mut game, 0);
    assert_eq!(game.phase(), Phase::Play);
    assert_eq!(
        next(&game),
        game.turn().map(Seat::number).filter(|&turn| turn != 0)
    );
}

/// Rules with an optional exchange.
fn optional() -> Rules {
    Hausregeln.with(|options| options.exchange = Exchange::Optional)
}

#[test]
fn a_bot_lets_its_human_partner_act_first() {
    // Seats 0 and 3 are human; bot 2 waits for 0, bot 1 for 3.
    let mut game = with_bots(optional(), &[1, 2]);
    assert_eq!(next(&game), None);
    ask(&mut game, 0);
    assert_eq!(next(&game), Some(2));
    // The partner may ask too, and still has to answer.
    ask(&mut game, 2);
    assert_eq!(next(&game), Some(2));
    offer(&mut game, 2);
    assert_eq!(
        next(&game),
        None,
        "it has answered; seat 3 has said nothing"
    );
    offer(&mut game, 3);
    assert_eq!(next(&game), Some(1));
    apply(&mut game, Action::Decline { seat: seat(1) });
    assert_eq!(next(&game), None, "only seat 0 is left");
    assert_eq!(game.timed_out_seat(), Some(seat(0)));
}

#[test]
fn of_two_bots_the_lower_seat_acts_first() {
    let mut game = with_bots(optional(), &[0, 2]);
    assert_eq!(next(&game), Some(0));
    ask(&mut game, 0);
    assert_eq!(next(&game), Some(2), "it hears that 0 wants a card");
    offer(&mut game, 2);
    assert_eq!(next(&game), Some(0), "a seat that was asked must answer");
    offer(&mut game, 0);
    assert_eq!(next(&game), None);

    let mut game = with_bots(optional(), &[0, 2]);
    ask(&mut game, 0);
    ask(&mut game, 2);
    assert_eq!(
        next(&game),
        Some(0),
        "both have asked: the lower answers first"
    );

    let mut game = with_bots(optional(), &[0, 2]);
    apply(&mut game, Action::Decline { seat: seat(0) });
    assert_eq!(next(&game), None, "the pair is done");
}

#[test]
fn bots_deal_and_play_in_their_turn() {
    let mut game = DogspielIt.game();
    let dealer = game.dealer();
    assert_eq!((next(&game), game.timed_out_seat()), (None, Some(dealer)));
    hand_over(&mut game, dealer.number(), Player::bot("Bot", Level::Fast));
    assert_eq!(game.bot_to_act(), Some(dealer));
    assert!(game.has_human());
    for other in Seat::all(4) {
        hand_over(&mut game, other.number(), Player::bot("Bot", Level::Fast));
    }
    assert!(!game.has_human());
}

#[test]
fn handing_over_is_public_and_changes_nothing_else() {
    let mut game = with_bots(DogspielIt, &[]);
    let before = game.clone();
    let player = Player::bot("Stand-in", Level::Strong);
    let events = hand_over(&mut game, 2, player.clone());
    let seat = seat(2);
    let event = EventKind::SeatHandedOver { seat, player }.into();
    assert_eq!(events, [event]);
    assert_eq!(game.version(), before.version() + 1);
    assert_eq!(game.player(seat).kind, SeatKind::Bot);
    assert!(Seat::all(4).all(|seat| game.hand(seat) == before.hand(seat)));
    assert!(!game.restarts_clock(&events));
    hand_over(&mut game, 2, before.player(seat).clone());
    assert_eq!(game.players(), before.players());
}

#[test]
fn a_round_is_left_to_the_server_if_no_person_has_cards() {
    let bot = || Player::bot("Bot", Level::Greedy);
    let mut game = with_bots(DogspielIt, &[1, 2, 3]);
    assert!(!game.is_left_to_server(), "seat 0 has cards");
    hand_over(&mut game, 0, bot());
    assert!(game.is_left_to_server());
    // Whoever sits down now waits for the next deal.
    hand_over(&mut game, 2, Player::human("Carla"));
    assert!(game.has_stand_in(seat(2)) && game.is_left_to_server());
    while game.phase() != Phase::Deal {
        assert!(game.is_left_to_server());
        let bot = game.bot_to_act().expect("a bot");
        let action = game.legal_actions(bot).swap_remove(0);
        apply(&mut game, action);
    }
    assert!(!game.is_left_to_server(), "nobody has cards");
    deal(&mut game);
    assert!(!game.is_left_to_server(), "seat 2 has cards");
}
