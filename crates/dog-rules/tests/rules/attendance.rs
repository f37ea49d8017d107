//! Who is to act where bots play, and in which order.

use dog_rules::{Action, Event, EventKind, Game, Level, Phase, Player, Preset::*, Seat, SeatKind};

use super::{
    position::{PositionExt, seat},
    rounds::{act, deal, dealt, optional},
};

fn bot() -> Player {
    Player::bot("Bot", Level::Greedy)
}

fn hand_over(game: &mut Game, to: u8, player: Player) -> Vec<Event> {
    let seat = seat(to);
    let action = Action::HandOver { seat, player };
    game.apply(&action).expect("a seat can be handed over")
}

/// A dealt game with bots in these seats.
fn with_bots(rules: impl PositionExt, bots: &[u8]) -> Game {
    let mut game = rules.game();
    for &by in bots {
        hand_over(&mut game, by, bot());
    }
    deal(&mut game);
    game
}

/// Checks which bot is to act after the deal and after each action of an exchange, such as
/// `"dealt: nobody, 0 asks: 2"`. Returns the game.
#[track_caller]
fn bots_act(rules: impl PositionExt, bots: &[u8], steps: &str) -> Game {
    let mut game = with_bots(rules, bots);
    for step in steps.split(", ") {
        let (action, next) = step.split_once(": ").expect("ACTION: SEAT");
        if action != "dealt" {
            act(&mut game, action);
        }
        assert_eq!(game.bot_to_act(), next.parse().ok().map(seat), "{step}");
    }
    game
}

#[test]
fn a_mandatory_exchange_waits_for_nobody() {
    let steps = "dealt: 1, 1 offers: 2, 2 offers: 3, 3 offers: nobody";
    let mut game = bots_act(DogspielIt, &[1, 2, 3], steps);
    assert_eq!(game.timed_out_seat(), Some(seat(0)));
    act(&mut game, "0 offers");
    assert_eq!(game.phase(), Phase::Play);
    assert_eq!(
        game.bot_to_act(),
        game.turn().filter(|&turn| turn != seat(0))
    );
}

#[test]
fn a_bot_lets_its_human_partner_act_first() {
    // Bot 2 waits for 0, bot 1 for 3. The partner may ask too, and still has to answer.
    let steps = "dealt: nobody, 0 asks: 2, 2 asks: 2, 2 offers: nobody, 3 offers: 1, \
                 1 declines: nobody";
    let game = bots_act(optional(), &[1, 2], steps);
    assert_eq!(game.timed_out_seat(), Some(seat(0)));
    // Where it has asked on request, it waits for the answer.
    let steps = "dealt: nobody, 0 passes: 2, 2 asks: nobody, 0 offers: 2";
    bots_act(Hausregeln, &[2], steps);
    bots_act(Hausregeln, &[2], "0 asks: 2");
}

#[test]
fn the_lower_seat_of_two_bots_acts_first() {
    // A seat that was asked must answer.
    bots_act(
        optional(),
        &[0, 2],
        "dealt: 0, 0 asks: 2, 2 offers: 0, 0 offers: nobody",
    );
    bots_act(optional(), &[0, 2], "0 asks: 2, 2 asks: 0");
    bots_act(optional(), &[0, 2], "0 declines: nobody");
    bots_act(Hausregeln, &[0, 2], "dealt: 0, 0 passes: 2, 2 asks: 0");
}

#[test]
fn bots_deal_and_play_in_their_turn() {
    let mut game = DogspielIt.game();
    let dealer = game.dealer();
    assert_eq!(
        (game.bot_to_act(), game.timed_out_seat()),
        (None, Some(dealer))
    );
    hand_over(&mut game, dealer.number(), bot());
    assert_eq!(game.bot_to_act(), Some(dealer));
    assert!(game.has_human());
    for other in Seat::all(4) {
        hand_over(&mut game, other.number(), bot());
    }
    assert!(!game.has_human());
}

#[test]
fn handing_over_is_public_and_changes_nothing_else() {
    let mut game = dealt(DogspielIt);
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
    let mut game = with_bots(DogspielIt, &[1, 2, 3]);
    assert!(!game.is_left_to_server(), "seat 0 has cards");
    hand_over(&mut game, 0, bot());
    assert!(game.is_left_to_server());
    // A person who sits down now waits for the next deal.
    hand_over(&mut game, 2, Player::human("Carla"));
    assert!(game.has_stand_in(seat(2)) && game.is_left_to_server());
    while game.phase() != Phase::Deal {
        assert!(game.is_left_to_server());
        let bot = game.bot_to_act().expect("a bot");
        let action = game.legal_actions(bot).swap_remove(0);
        game.apply(&action).expect("a legal action");
    }
    assert!(!game.is_left_to_server(), "nobody has cards");
    deal(&mut game);
    assert!(!game.is_left_to_server(), "seat 2 has cards");
}
