//! RULES §7.1 and §7.2: set-up and deal.

use dog_rules::{
    Action, Cards, Phase,
    Preset::{self, *},
    Seed,
};

use super::{
    position::{PositionExt, seat},
    rounds::{deal, play_rounds, refused},
};

#[test]
fn a_game_begins_with_all_pieces_in_kennels_and_all_cards_in_the_stock() {
    for preset in Preset::ALL {
        let game = preset.game();
        assert_eq!(*game.board(), preset.at("").board);
        assert_eq!(game.stock_size(), preset.rules().deck().len());
        assert!(game.discards().is_empty());
        assert_eq!((game.version(), game.round()), (1, 1));
        assert_eq!((game.phase(), game.turn()), (Phase::Deal, None));
    }
}

#[test]
fn the_first_dealer_is_chosen_or_drawn_from_the_seed() {
    let mut drawn = [0; 4];
    for byte in 0..64 {
        let seed = Seed::new([byte; 32]);
        let chosen = DogspielIt.game_of(seed.clone(), Some(seat(3)));
        assert_eq!((chosen.dealer(), chosen.beginner()), (seat(3), seat(0)));
        let dealer = DogspielIt.game_of(seed, None).dealer();
        drawn[usize::from(dealer.number())] += 1;
    }
    assert!(drawn.iter().all(|&times| times > 4), "{drawn:?}");
}

#[test]
fn the_dealer_or_nobody_in_particular_deals() {
    let mut game = DogspielIt.game();
    refused(
        &mut game,
        &Action::Deal { by: Some(seat(1)) },
        "seat 0 is to deal",
    );
    let mut by_host = game.clone();
    game.apply(&Action::Deal { by: Some(seat(0)) })
        .expect("the dealer deals");
    by_host
        .apply(&Action::Deal { by: None })
        .expect("the host has it dealt");
    assert_eq!(game, by_host);
    refused(
        &mut game,
        &Action::Deal { by: None },
        "this is for the deal phase, the game is in the exchange phase",
    );
}

#[test]
fn cards_go_out_one_at_a_time_from_the_seat_that_begins() {
    let rules = DogspielIt.rules();
    let seed = Seed::new([9; 32]);
    let pile = seed.shuffle(0, rules.deck());
    let mut game = DogspielIt.game_of(seed, Some(seat(0)));
    let deal = deal(&mut game);
    assert_eq!(deal.beginner, seat(1));
    for (number, hand) in deal.hands.into_iter().enumerate() {
        let place = (number + 3) % 4;
        let expected: Cards = pile[..24].iter().skip(place).step_by(4).copied().collect();
        assert_eq!(hand, expected, "the hand of seat {number}");
    }
}

#[test]
fn the_discard_pile_is_shuffled_when_a_card_is_due_and_not_before() {
    // 110 cards: 80 in the first five rounds, 24 in the sixth, and 6 are left for the seventh.
    let mut game = DogspielIt.game();
    let deals = play_rounds(&mut game, 6);
    let stock: Vec<u8> = deals.iter().map(|deal| deal.stock).collect();
    assert_eq!(stock, [86, 66, 50, 38, 30, 6]);
    assert!(deals.iter().all(|deal| !deal.reshuffled));
    let seed = Seed::new([7; 32]);
    let pile = seed.shuffle(0, game.rules().deck());
    let last: Cards = pile[104..].iter().copied().collect();
    let all_played = game.rules().deck().without(last);
    assert_eq!(game.discards(), all_played);
    // The rest is dealt, then all that was played, in a new order.
    let again = seed.shuffle(1, all_played);
    let seventh = deal(&mut game);
    assert!(seventh.reshuffled);
    assert_eq!(seventh.stock, 104 - 14);
    assert!(game.discards().is_empty());
    let dealt: Vec<_> = pile[104..].iter().chain(&again[..14]).copied().collect();
    for (number, hand) in seventh.hands.into_iter().enumerate() {
        let from_beginner = (number + 4 - usize::from(seventh.beginner.number())) % 4;
        let expected: Cards = dealt
            .iter()
            .skip(from_beginner)
            .step_by(4)
            .copied()
            .collect();
        assert_eq!(hand, expected, "the hand of seat {number}");
    }
}

#[test]
fn a_stock_that_is_just_used_up_is_not_replaced_before_a_card_is_due() {
    let rules = DogspielIt.with(|options| options.jokers = 0);
    let mut game = rules.game();
    let deals = play_rounds(&mut game, 7);
    assert_eq!((deals[5].stock, deals[5].reshuffled), (0, false));
    assert_eq!((deals[6].stock, deals[6].reshuffled), (104 - 20, true));
}
