//! Why a card cannot be played: the most telling of its refusals.

use std::collections::{BTreeMap, BTreeSet};

use dog_rules::{Card, Generator, Refusal, movement::MoveBlocked};

use super::{
    position::tables,
    properties::{Random, rng},
    random,
};

tables! {
    with_every_piece_in_its_kennel_only_aces_kings_and_jokers_are_played: "
        by all
        at 1: 20
        0 cannot play 2 3 4 5 6 7 8 9 10 J Q: seat 0 has no piece on the ring
        0 can play A K joker
    "

    a_piece_on_its_start_is_in_the_way: "
        by dogspiel-de, dogspiel-it
        at 0: 14 g1 g2 g3 | 1: fresh
        0 cannot play 2 3 7 Q K: field 16 is blocked: seat 1's fresh piece
        at 0: 14 | 1: 16
        0 can play 2 3 Q
        by familienlager, spielanleitung
        at 0: 14 g0 g1 g2 | 1: 16
        0 cannot play 2 3 5 7 8 K: field 16 is blocked: seat 1's piece on its start
        # A block tells more than the goal: the piece there could not go so far either.
        by dogspiel-it
        at 0: 14 g1 | 1: fresh
        0 cannot play 9: field 16 is blocked: seat 1's fresh piece
        # Only a 4 goes back.
        by hausregeln
        at 0: 12 | 1: fresh
        0 cannot play 3 5: field 15 is blocked: seat 1's fresh piece
        0 can play 2 4
    "

    the_goal_is_too_short_or_occupied: "
        by all
        at 0: g1 | 1: 20
        0 cannot play 3 4 5 6 8 9 10 Q: there is nothing beyond goal 3
        0 can play A 2 K
        at 0: g0 g2 | 1: 20
        0 cannot play 2 3: goal field 2 is occupied...
    "

    a_seven_has_steps_left_or_ends_on_a_field_that_is_not_free: "
        by all
        at 0: g0 g1 | 1: 20
        0 cannot play 7: the pieces that have had no part cannot take the 7 steps that are left \
            of the seven
        at 0: 20 | 1: 27
        by hausregeln
        0 cannot play 7: a part of a seven may not end on field 27: it must be free
        by dogspiel-it
        0 can play 7
    "

    a_jack_finds_nothing_to_swap: "
        by all
        at 0: g1 | 1: 20
        0 cannot play J: seat 0 has no piece on the ring
        by hausregeln
        at 0: g1
        0 cannot play J: seat 0 has no piece on the ring
        at 0: 20
        by familienlager, dogspiel-de, dogspiel-it, spielanleitung
        0 cannot play J: by these rules a jack is not played without effect
        by hausregeln
        0 can play J
        at 0: 20 30
        by familienlager, dogspiel-it
        0 cannot play J: by these rules a jack swaps with another seat's piece...
        by dogspiel-de, spielanleitung
        0 can play J
        at 0: 20 | 1: fresh
        0 cannot play J: the piece on field 16 cannot be swapped: it is seat 1's fresh piece
        by familienlager
        at 0: 0 | 1: 20
        0 cannot play J: the piece on field 0 cannot be swapped: it is seat 0's piece on its start
        # The seat's own piece is protected as well.
        by dogspiel-it
        at 0: fresh 62 | 1: fresh | 3: fresh
        0 cannot play J: the piece on field 0 cannot be swapped: it is seat 0's fresh piece
        0 can play A 2 4 K
    "

    once_home_the_partners_pieces_count: "
        by all
        at 0: full | 1: 20 | 2: g0
        0 cannot play J: seat 2 has no piece on the ring
        0 cannot play 5: there is nothing beyond goal 3
        0 can play A K joker
        by dogspiel-it
        at 0: full | 1: fresh | 2: 14
        0 cannot play 5 7: field 16 is blocked: seat 1's fresh piece
    "
}

/// A seat is told why it cannot play a card, in one of the documented ways and with something that
/// is true of the board.
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
