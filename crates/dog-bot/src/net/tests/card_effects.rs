//! What a card could do, as computed by a few lookups, compared with the list of its moves.

use dog_rules::{
    Board, Card, Generator, Placement, Rules, Seat, SevenLanding, SevenPartner,
    judge::MoveKind,
    ring::{self, bit},
};
use rand::{RngExt, rngs::ChaCha8Rng};

use crate::{
    net::card_effects::{CardEffect, CardEffects, HOME, OUT, best_swap},
    testing::{cards, random_board, random_rules, rng},
};

/// A board where pieces meet: on starts, before doors, in goals, and around a random field.
fn crowded(rules: &Rules, rng: &mut ChaCha8Rng) -> Board {
    let ring = rules.ring();
    let crowd = rng.random_range(0..ring.length());
    let mut taken = 0;
    let mut placement = |seat: Seat| {
        let mut placement = Placement::default();
        if rng.random_range(0..6) == 0 {
            placement.goal = vec![0, 1, 2, 3];
            return placement;
        }
        for _ in 0..4 {
            let field = match rng.random_range(0..9) {
                0 => ring.start(seat),
                1 => ring.backward(ring.door(seat), rng.random_range(0..7)),
                2 | 3 => ring.forward(ring.start(seat), rng.random_range(1..4)),
                4 | 5 => ring.forward(crowd, rng.random_range(0..12)),
                6 | 7 => {
                    let goal = rng.random_range(0..4);
                    if !placement.goal.contains(&goal) {
                        placement.goal.push(goal);
                    }
                    continue;
                }
                _ => continue,
            };
            if taken & bit(field) == 0 {
                taken |= bit(field);
                placement.track.push(field);
            }
        }
        placement.fresh = placement.track.contains(&ring.start(seat)) && rng.random();
        placement
    };
    let placements: Vec<Placement> = ring.seats().map(&mut placement).collect();
    Board::place(rules, &placements).unwrap()
}

/// Calls `show` with undecided boards under random rules, and a seat to move.
fn positions(seed: u64, boards: u32, mut show: impl FnMut(&Rules, &Board, Seat)) {
    let mut rng = rng(seed);
    for number in 0..boards {
        let rules = random_rules(&mut rng);
        let board = match number % 4 {
            0 => random_board(&rules, &mut rng),
            _ => crowded(&rules, &mut rng),
        };
        let seat = rules.ring().seats().nth(rng.random_range(0..4));
        if board.winner(&rules).is_none() {
            show(&rules, &board, seat.expect("a seat"));
        }
    }
}

/// The sum of the goal fields of a seat's pieces in its goal.
fn depth(board: &Board, seat: Seat) -> u8 {
    let goal = board.goal(seat);
    (0..4).map(|field| (goal >> field & 1) * (field + 1)).sum()
}

/// What a rank other than seven and joker can do, move by move.
fn by_moves(rules: &Rules, board: &Board, seat: Seat, card: Card) -> CardEffect {
    let mut outcomes = Vec::new();
    Generator::new().each_of_card(rules, board, seat, card, |found| {
        outcomes.push(found.outcome());
    });
    let mover = board.mover(rules, seat);
    let own = |other: Seat| other.team(rules.seats) == seat.team(rules.seats);
    let mut found = CardEffect::default();
    let mut gain = None;
    for outcome in outcomes {
        let captured = || outcome.captures.iter().map(|capture| capture.seat);
        found.playable = true;
        found.home |= depth(&outcome.board, mover) > depth(board, mover);
        found.hit |= captured().any(|other| !own(other));
        // A swap captures nothing. It takes an opponent's place.
        found.hit |= outcome.kind == MoveKind::Swap && !own(outcome.parts[1].seat);
        found.harmless |= !captured().any(own);
        let after = &outcome.board;
        let mut won = lead(rules, after, seat) - lead(rules, board, seat);
        // Steps within the goal count for a piece that is already there.
        if after.pieces(mover).in_goal() == board.pieces(mover).in_goal() {
            won += i16::from(depth(after, mover)) - i16::from(depth(board, mover));
        }
        // Leaving the kennel counts the same wherever the door is.
        if outcome.kind == MoveKind::LeaveKennel {
            won -= i16::from(after.walked(rules, mover, rules.ring().start(mover)));
        }
        gain = gain.max(Some(won));
    }
    found.gain = gain.unwrap_or(0);
    found
}

/// How many steps the seat's team is ahead.
fn lead(rules: &Rules, board: &Board, seat: Seat) -> i16 {
    let ring = rules.ring();
    let steps = |owner: Seat| {
        let pieces = board.pieces(owner);
        let on_track: i16 = pieces
            .track_fields()
            .map(|field| OUT + i16::from(board.walked(rules, owner, field)))
            .sum();
        let home = OUT + i16::from(ring.length()) + HOME;
        on_track + home * i16::from(pieces.in_goal())
    };
    let side = |own: bool| -> i16 {
        let seats = ring.seats();
        let seats =
            seats.filter(|other| (other.team(rules.seats) == seat.team(rules.seats)) == own);
        seats.map(steps).sum()
    };
    side(true) - side(false)
}

/// What a seven can do, board by board. It leaves no kennel.
fn by_boards(rules: &Rules, board: &Board, seat: Seat) -> CardEffect {
    let mut boards = Vec::new();
    Generator::new().boards_of_card(rules, board, seat, Card::Seven, &mut boards);
    let mover = board.mover(rules, seat);
    let mut found = CardEffect::default();
    for after in boards {
        let captured = |own: bool| {
            let mut seats = rules.ring().seats();
            seats.any(|other| {
                let side = other.team(rules.seats) == seat.team(rules.seats);
                side == own && after.kennel(other) > board.kennel(other)
            })
        };
        found.playable = true;
        found.home |= after.pieces(mover).in_goal() > board.pieces(mover).in_goal();
        found.hit |= captured(false);
        found.harmless |= !captured(true);
    }
    found
}

#[test]
fn cards_can_do_what_their_moves_do() {
    let mut counts = [0; 6];
    positions(1, 1_500, |rules, board, seat| {
        let effects = CardEffects::new(rules, board, seat);
        for card in Card::RANKS {
            if card == Card::Seven {
                continue;
            }
            let found = effects.effect(card);
            let mut expected = by_moves(rules, board, seat, card);
            // A swap that changes nothing gains nothing and is not counted.
            let nothing = rules.jack_own_pair || rules.jack_without_effect;
            if card == Card::Jack && nothing && found.gain <= expected.gain {
                expected.gain = found.gain;
            }
            assert_eq!(found, expected, "{card} of {seat} on {board:?}: {rules:?}");
            let harms = found.playable && !found.harmless;
            let (gains, loses) = (found.gain > 0, found.gain < 0);
            let each = [found.playable, found.home, found.hit, harms, gains, loses];
            for (count, is) in counts.iter_mut().zip(each) {
                *count += u32::from(is);
            }
        }
    });
    assert!(counts.iter().all(|&count| count > 30), "{counts:?}");
}

/// Only the simplest splits of a seven are tried. So the result may be less than it can do or,
/// where the rest of the steps cannot be used, more.
#[test]
fn sevens_are_nearly_right() {
    let mut counts = [0; 4];
    positions(2, 400, |rules, board, seat| {
        let found = CardEffects::new(rules, board, seat).effect(Card::Seven);
        let expected = by_boards(rules, board, seat);
        let context = || format!("{found:?} of {seat} on {board:?} by {rules:?}");
        let mut implies = |number: usize, one: bool, other: bool| {
            assert!(!one || other, "{number}: {}", context());
            counts[number] += u32::from(one);
        };
        // The partner's pieces are not considered.
        if rules.seven_partner == SevenPartner::WhenHome {
            implies(0, expected.playable, found.playable);
            let mover = board.mover(rules, seat);
            // The mover's own block may move out of the way within the seven.
            if board.blocks(rules) & bit(rules.ring().start(mover)) == 0 {
                implies(1, expected.home, found.home);
            }
        }
        // One piece can always walk all seven steps, unless it must not land on some others.
        if rules.seven_landing == SevenLanding::Captures && rules.capture_own {
            implies(2, found.hit, expected.hit);
            implies(3, found.harmless, expected.harmless);
        }
    });
    assert!(counts.iter().all(|&count| count > 30), "{counts:?}");
}

/// A joker is estimated from its reach, without trying every rank.
#[test]
fn jokers_are_nearly_right() {
    let mut counts = [0; 4];
    positions(3, 300, |rules, board, seat| {
        let found = CardEffects::new(rules, board, seat).effect(Card::Joker);
        let context = || format!("{found:?} of {seat} on {board:?} by {rules:?}");
        let mut implies = |number: usize, one: bool, other: bool| {
            assert!(!one || other, "{number}: {}", context());
            counts[number] += u32::from(one);
        };
        assert_eq!(found.playable, found.harmless);
        let by = |rank| match rank {
            Card::Seven => by_boards(rules, board, seat),
            rank => by_moves(rules, board, seat, rank),
        };
        let uses = Card::RANKS.map(by);
        let playable = uses.iter().any(|rank| rank.playable);
        implies(0, playable, found.playable);
        let uses_of = |rank: Card| uses[rank as usize];
        // Ranks that can only walk, and too far to walk within the goal.
        for rank in cards("5 6 8 9 10 Q").ranks() {
            implies(1, uses_of(rank).hit, found.hit);
            implies(2, uses_of(rank).home, found.home);
        }
        // Whether a piece can stop in the goal is not considered.
        let mover = board.mover(rules, seat);
        let may_enter = rules.fresh_into_goal || !board.fresh(mover);
        let open = board.goal(mover) & 1 == 0 && may_enter;
        let home = uses.iter().any(|rank| rank.home);
        implies(3, found.home && open, home);
    });
    assert!(counts.iter().all(|&count| count > 30), "{counts:?}");
}

#[test]
fn the_best_swap_is_the_maximum() {
    let mut found = 0;
    positions(4, 500, |rules, board, seat| {
        let ring = rules.ring();
        let to_door = |field| i16::from(ring.distance(field, ring.door(seat)));
        let free = |other: Seat| board.track(other) & !board.swap_protected(rules);
        let mut best = 0;
        for stranger in ring.seats().filter(|&other| other != seat) {
            for own in ring::fields(free(seat)) {
                for other in ring::fields(free(stranger)) {
                    best = best.max(to_door(own) - to_door(other));
                }
            }
        }
        assert_eq!(i16::from(best_swap(rules, board, seat)), best);
        found += u32::from(best > 0);
    });
    assert!(found > 100, "{found}");
}
