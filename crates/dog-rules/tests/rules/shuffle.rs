//! RULES §8: anyone can recompute the deals of a game from its seed.

use std::{path::Path, process::Command};

use dog_rules::{Cards, Game, LegalMove, Phase, Preset, Seed};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::Value;

use super::{
    position::{PositionExt, cards, read_card},
    rounds::{Deal, play_round, play_rounds},
};

const ROUNDS: usize = 40;

/// A seed that is easy to type.
const SEED: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn seed(hex: &str) -> Seed {
    Seed::from_hex(hex).expect("64 hex digits")
}

#[test]
fn the_deals_are_those_of_the_reference() {
    let others = [[0x5a; 32], [0xff; 32]].map(|bytes| Seed::new(bytes).hex());
    for preset in Preset::ALL {
        for hex in others.iter().map(String::as_str).chain([SEED]) {
            let Some(reference) = reference(hex, preset) else {
                return;
            };
            let mut game = preset.game_of(seed(hex), None);
            assert_eq!(reference["commitment"], game.commitment());
            assert_eq!(reference["first_dealer"], game.dealer().number());
            let rounds = reference["rounds"].as_array().expect("a list of rounds");
            assert_eq!(rounds.len(), ROUNDS);
            for (deal, round) in play_rounds(&mut game, ROUNDS).iter().zip(rounds) {
                assert_same(deal, round);
            }
            // The deals do not depend on the moves: here they are random.
            let mut rng = ChaCha8Rng::seed_from_u64(0);
            let mut at_random =
                |_: &Game, moves: &[LegalMove]| moves.choose(&mut rng).expect("a move").mv;
            let mut game = preset.game_of(seed(hex), None);
            for round in rounds {
                if game.phase() == Phase::Finished {
                    break;
                }
                assert_same(&play_round(&mut game, &mut at_random), round);
            }
        }
    }
}

#[track_caller]
fn assert_same(deal: &Deal, round: &Value) {
    assert_eq!(round["round"], deal.round);
    assert_eq!(round["dealer"], deal.dealer.number());
    assert_eq!(round["beginner"], deal.beginner.number());
    let hands = round["hands"].as_array().expect("a list of hands");
    let hands: Vec<Cards> = hands.iter().map(hand).collect();
    assert_eq!(deal.hands, hands, "round {}", deal.round);
}

fn hand(cards: &Value) -> Cards {
    let cards = cards.as_array().expect("a list of cards").iter();
    cards
        .map(|card| read_card(card.as_str().expect("a card's name")))
        .collect()
}

/// The output of the Python reference. None without Python, which only CI must have.
fn reference(hex: &str, preset: Preset) -> Option<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/dog_shuffle.py");
    let output = Command::new("python3")
        .arg(script)
        .args([hex, preset.name(), &ROUNDS.to_string()])
        .output();
    match output {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "the reference failed: {errors}");
            Some(serde_json::from_slice(&output.stdout).expect("JSON"))
        }
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "python3: {error}");
            eprintln!("skipped: python3 not found");
            None
        }
    }
}

/// One game's deals, recorded when dog-shuffle-1 was fixed. They must never change.
#[test]
fn the_deals_of_a_known_seed() {
    let mut game = Preset::DogspielIt.game_of(seed(SEED), None);
    assert_eq!(
        game.commitment(),
        "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
    );
    assert_eq!(game.dealer().number(), 1);
    let deals = play_rounds(&mut game, 7);
    let known =
        |round: usize, hands: [&str; 4]| assert_eq!(deals[round - 1].hands, hands.map(cards));
    known(
        1,
        [
            "4 6 6 9 9 J",
            "A 2 4 7 10 joker",
            "3 5 7 8 Q Q",
            "2 3 5 6 10 Q",
        ],
    );
    // The seventh deal continues with the shuffled discard pile.
    known(7, ["2 3 7 9 K", "2 7 10 10 Q", "A 8 9 9 Q", "3 4 5 10 Q"]);
}

/// A draw discards a word that is too large, which almost never happens. Here it happens once,
/// below 101.
#[test]
fn a_shuffle_that_throws_a_word_away() {
    let deck = Preset::DogspielIt.rules().deck();
    let pile = seed(SEED).shuffle(1_730_315, deck);
    assert!(seed(SEED).shuffle(0, Cards::EMPTY).is_empty());
    let names: Vec<&str> = pile.iter().map(|card| card.name()).collect();
    assert_eq!(
        names.join(" "),
        "6 Q 3 8 K A A 10 5 9 joker 10 J 6 10 5 J 4 Q 3 Q 3 6 3 8 K 5 2 A 4 2 7 8 Q 4 8 J 9 K K \
         10 J 5 9 Q 9 K 7 6 4 4 Q 6 K joker 8 9 2 7 10 10 9 9 joker K 2 7 joker 3 J 4 J 3 Q 8 2 \
         5 5 J 3 10 5 8 A A 7 3 5 A 6 2 4 10 7 2 8 6 joker J 2 Q 9 6 A A K 4 7 joker 7"
    );
}
