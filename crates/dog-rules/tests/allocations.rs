//! Listing moves into a caller's buffers allocates no memory.

use dog_rules::{Board, Card, Generator, LegalMove, Phase, Playout, Preset, Rules, Seat};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

/// The number of allocations while this runs.
fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

/// The presets, for six seats too, and the Canadian seven.
fn tables() -> Vec<Rules> {
    let mut tables = Vec::new();
    for preset in Preset::ALL {
        for option in ["seats=4", "seats=6", "seven_partner=always"] {
            let rules = format!("{} {option}", preset.name());
            tables.push(rules.parse().expect("a possible set of rules"));
        }
    }
    tables
}

#[test]
fn memory_is_counted_at_all() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn lists_allocate_nothing_once_their_buffers_are_large_enough() {
    for rules in tables() {
        let rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut generator = Generator::new();
        let (mut moves, mut boards): (Vec<LegalMove>, Vec<Board>) = (Vec::new(), Vec::new());
        let mut listed = 0;
        // In the second pass all buffers are large enough.
        for expected in [None, Some(0)] {
            let mut rng = rng.clone();
            let mut playout = Playout::new(&rules, Seat::default());
            let mut count = 0;
            for _ in 0..2_000 {
                match playout.phase() {
                    Phase::Play => {
                        let (board, seat) = (playout.board(), playout.turn());
                        let card = Card::ALL[rng.random_range(0..Card::ALL.len())];
                        moves.clear();
                        count += allocations(|| {
                            generator.each_of_card(&rules, board, seat, card, |found| {
                                moves.push(found.legal_move());
                            });
                            generator.boards_of_card(&rules, board, seat, card, &mut boards);
                        });
                        listed += boards.len();
                    }
                    Phase::Finished => break,
                    Phase::Seating | Phase::Deal | Phase::Exchange => {}
                }
                playout.play_on(&mut rng, 1);
            }
            assert!(
                expected.is_none_or(|expected| count == expected),
                "{count} times"
            );
        }
        assert!(listed > 2_000, "{listed} boards");
    }
}
