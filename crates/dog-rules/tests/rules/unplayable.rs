//! Why a card cannot be played: the most telling of its refusals.

use std::collections::{BTreeMap, BTreeSet};

use dog_rules::{Card, Generator, Preset, Preset::*, Refusal, movement::MoveBlocked};

use super::{
    position::{PositionExt, TestPosition, cards, seat},
    properties::{Random, rng},
    random,
};

impl TestPosition {
    /// Checks that seat 0 cannot play these cards, each in these words.
    #[track_caller]
    fn unplayable(&self, hand: &str, why: &str) -> &Self {
        for card in cards(hand).ranks() {
            assert_eq!(self.why(card).as_deref(), Some(why), "{card}");
        }
        self.lists(0, hand, ["fold"])
    }

    /// Checks that seat 0 can play each of these cards.
    #[track_caller]
    fn playable(&self, hand: &str) -> &Self {
        for card in cards(hand).ranks() {
            assert_eq!(self.why(card), None, "{card}");
        }
        self
    }

    fn why(&self, card: Card) -> Option<String> {
        let seat = seat(0);
        let why = Generator::new().why_unplayable(&self.rules, &self.board, seat, card);
        why.map(|refusal| refusal.to_string())
    }
}

#[test]
fn with_every_piece_in_its_kennel_only_aces_kings_and_jokers_are_played() {
    for preset in Preset::ALL {
        preset
            .at("1: 20")
            .unplayable("2 3 4 5 6 7 8 9 10 J Q", "seat 0 has no piece on the ring")
            .playable("A K joker");
    }
}

#[test]
fn a_piece_on_its_start_is_in_the_way() {
    let fresh = "field 16 is blocked: seat 1's fresh piece";
    for preset in [DogspielDe, DogspielIt, Hausregeln] {
        let start = preset.rules().ring().start(seat(1));
        let position = format!("0: {} g1 g2 g3 | 1: fresh", start - 2);
        let fresh = fresh.replace("16", &start.to_string());
        preset.at(&position).unplayable("2 3 7 Q K", &fresh);
        preset
            .at(&format!("0: {} | 1: {start}", start - 2))
            .playable("2 3 Q");
    }
    for preset in [Familienlager, Spielanleitung] {
        preset.at("0: 14 g0 g1 g2 | 1: 16").unplayable(
            "2 3 5 7 8 K",
            "field 16 is blocked: seat 1's piece on its start",
        );
    }
    // The seat's own piece blocks the seat too, and it keeps the others in the kennel.
    DogspielIt
        .at("0: fresh 62 | 1: fresh | 3: fresh")
        .unplayable(
            "J",
            "the piece on field 0 cannot be swapped: it is seat 0's fresh piece",
        )
        .playable("A 2 K 4");
}

#[test]
fn a_block_tells_more_than_the_goal() {
    // The piece in the goal could not go so far either.
    DogspielIt
        .at("0: 14 g1 | 1: fresh")
        .unplayable("9", "field 16 is blocked: seat 1's fresh piece");
}

#[test]
fn the_goal_is_too_short_or_occupied() {
    for preset in Preset::ALL {
        preset
            .at("0: g1 | 1: 20")
            .unplayable("3 4 5 6 8 9 10 Q", "there is nothing beyond goal 3")
            .playable("A 2 K");
        preset.at("0: g0 g2 | 1: 20").unplayable(
            "2 3",
            "goal field 2 is occupied: no piece lands on or passes another in the goal",
        );
        preset
            .at("0: g2 g3 | 1: 20")
            .unplayable("J", "seat 0 has no piece on the ring");
    }
}

#[test]
fn a_seven_has_steps_left() {
    for preset in Preset::ALL {
        preset.at("0: g0 g1 | 1: 20").unplayable(
            "7",
            "the pieces that have had no part cannot take the 7 steps that are left of the seven",
        );
    }
    DogspielIt
        .at("0: 10 | 1: fresh")
        .unplayable("7", "field 16 is blocked: seat 1's fresh piece");
}

#[test]
fn by_the_house_rules_a_seven_ends_on_a_free_field() {
    Hausregeln.at("0: 20 | 1: 27").unplayable(
        "7",
        "a part of a seven may not end on field 27: it must be free",
    );
    DogspielIt.at("0: 20 | 1: 27").playable("7");
}

#[test]
fn by_the_house_rules_a_four_goes_back() {
    // Only a 4 goes back, and it does so by every rule sheet.
    Hausregeln
        .at("0: 12 | 1: fresh")
        .unplayable("3 5", "field 15 is blocked: seat 1's fresh piece")
        .playable("4 2");
}

#[test]
fn a_jack_finds_nothing_to_swap() {
    for preset in [Familienlager, DogspielDe, DogspielIt, Spielanleitung] {
        preset
            .at("0: 20")
            .unplayable("J", "by these rules a jack is not played without effect");
        preset
            .at("1: 20")
            .unplayable("J", "seat 0 has no piece on the ring");
    }
    Hausregeln.at("0: 20").playable("J");
    Hausregeln
        .at("0: g1")
        .unplayable("J", "seat 0 has no piece on the ring");
    for preset in [Familienlager, DogspielIt] {
        preset.at("0: 20 30").unplayable(
            "J",
            "by these rules a jack swaps with another seat's piece, not with one's own",
        );
    }
    for preset in [DogspielDe, Spielanleitung] {
        preset.at("0: 20 30").playable("J");
    }
    for preset in [DogspielDe, DogspielIt, Spielanleitung] {
        preset.at("0: 20 | 1: fresh").unplayable(
            "J",
            "the piece on field 16 cannot be swapped: it is seat 1's fresh piece",
        );
    }
    Hausregeln.at("0: 20 | 1: fresh").unplayable(
        "J",
        "the piece on field 15 cannot be swapped: it is seat 1's fresh piece",
    );
    Familienlager.at("0: 0 | 1: 20").unplayable(
        "J",
        "the piece on field 0 cannot be swapped: it is seat 0's piece on its start",
    );
}

#[test]
fn once_home_the_partners_pieces_count() {
    for preset in Preset::ALL {
        preset
            .at("0: full | 1: 20 | 2: g0")
            .unplayable("J", "seat 2 has no piece on the ring")
            .unplayable("5", "there is nothing beyond goal 3")
            .playable("A K joker");
    }
    DogspielIt
        .at("0: full | 1: fresh | 2: 14")
        .unplayable("5 7", "field 16 is blocked: seat 1's fresh piece");
}

/// What a seat cannot play it is told why, in one of the documented ways and with something that is
/// true of the board.
#[test]
fn a_card_has_a_reason_exactly_if_it_has_no_move() {
    let mut rng = rng(31);
    let mut generator = Generator::new();
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..60_000 {
        let position = Random::new(&mut rng);
        let Random { rules, board, seat } = &position;
        let seat = *seat;
        let hand = random::hand(&mut rng);
        let moves = generator.legal_moves(rules, board, seat, hand);
        let played: BTreeSet<Card> = moves.iter().filter_map(|legal| legal.mv.card()).collect();
        for card in hand.ranks() {
            let why = generator.why_unplayable(rules, board, seat, card);
            assert_eq!(
                why.is_none(),
                played.contains(&card),
                "{card} of {position}"
            );
            let Some(why) = why else { continue };
            let mover = board.mover(rules, seat);
            let (kind, holds) = match why {
                Refusal::Obstacle(MoveBlocked::Block { field, seat, .. }) => (
                    "block",
                    board.blocks(rules) >> field & 1 != 0
                        && board.owner(rules, field) == Some(seat),
                ),
                Refusal::SevenLanding { field } => ("landing", board.owner(rules, field).is_some()),
                Refusal::SwapProtected { field, seat, .. } => (
                    "protected",
                    board.swap_protected(rules) >> field & 1 != 0
                        && board.owner(rules, field) == Some(seat),
                ),
                Refusal::Obstacle(MoveBlocked::GoalOccupied { field }) => {
                    ("goal occupied", board.goal(mover) >> field & 1 != 0)
                }
                Refusal::SevenNotCompleted(7) => ("seven", board.track(mover) == 0),
                Refusal::Obstacle(MoveBlocked::BeyondGoal) => {
                    ("beyond the goal", board.track(mover) == 0)
                }
                Refusal::NobodyOnRing(seat) => ("nobody", seat == mover && board.track(seat) == 0),
                Refusal::SwapOwnPair => ("own pair", !rules.jack_own_pair),
                Refusal::NoEffectNotPlayed => ("no effect", !rules.jack_without_effect),
                other => panic!("{card} of {position}: {other}"),
            };
            assert!(holds, "{kind}: {card} of {position}");
            *kinds.entry(kind).or_default() += 1;
        }
    }
    assert_eq!(kinds.len(), 9, "{kinds:?}");
}

/// With a joker in the hand no seat ever folds.
#[test]
fn a_joker_is_always_playable() {
    let mut rng = rng(32);
    let mut generator = Generator::new();
    for _ in 0..20_000 {
        let Random { rules, board, seat } = Random::new(&mut rng);
        let why = generator.why_unplayable(&rules, &board, seat, Card::Joker);
        assert_eq!(why, None);
    }
}
