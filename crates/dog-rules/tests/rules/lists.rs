//! The lists of moves (RULES §9) against the naive rules, on many random positions.

use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
    thread,
};

use dog_rules::{
    Board, Card, Field, Generator, LegalMove, Move, Preset, Seat,
    judge::{MoveKind, PlayedPart},
};
use rand::Rng;

use super::{
    naive,
    position::read,
    properties::{Random, rng},
    random,
};

/// The number of positions that are made from one seed.
const POSITIONS_A_SEED: u64 = 1_000;

#[test]
fn the_lists_are_what_the_naive_rules_give() {
    check_positions(4_000);
}

#[test]
#[ignore = "long: a million positions: \
            cargo test -p dog-rules --test rules -- --ignored long_the_lists"]
fn long_the_lists_are_what_the_naive_rules_give() {
    check_positions(1_000_000);
}

/// Once a seat's four are home, the partner's pieces capture each other. This is too rare in the
/// other positions.
#[test]
fn sevens_ended_by_the_partners_pieces_have_each_board_once() {
    for (preset, pieces) in [
        (Preset::DogspielIt, "0: 0 g1 g2 g3 | 2: 40 41 42"),
        (Preset::Hausregeln, "0: 59 g1 g2 g3 | 2: 40 41 42"),
    ] {
        let rules = preset.rules();
        let board = read(&rules, pieces);
        let position = Random {
            rules,
            board,
            seat: Seat::default(),
        };
        let moves = position.moves(&mut Generator::new(), Card::Seven);
        check_card(&position, Card::Seven, Card::Seven, &moves);
        assert!(moves.len() > 20);
    }
}

/// The same positions on every machine, checked by as many threads as it has.
fn check_positions(count: u64) {
    let seeds = Mutex::new(0..count / POSITIONS_A_SEED);
    let next = || seeds.lock().expect("no thread panics here").next();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(seed) = next() {
                    check_seed(seed);
                }
            });
        }
    });
}

fn check_seed(seed: u64) {
    let mut rng = rng(seed);
    let mut generator = Generator::new();
    for _ in 0..POSITIONS_A_SEED {
        let position = Random::new(&mut rng);
        check_hand(&mut rng, &position, &mut generator);
    }
}

/// The list of a hand: all moves of its cards, or exactly fold.
fn check_hand(rng: &mut impl Rng, position: &Random, generator: &mut Generator) {
    let Random { rules, board, seat } = position;
    let hand = random::hand(rng);
    let mut of_cards = Vec::new();
    for card in hand.ranks() {
        let moves = position.moves(generator, card);
        if card == Card::Joker {
            check_joker(position, &moves);
        } else {
            check_card(position, card, card, &moves);
        }
        check_boards(position, generator, card, &moves);
        of_cards.extend(moves);
    }
    let folds = of_cards.is_empty();
    assert_eq!(
        generator.can_play(rules, board, *seat, hand),
        !folds,
        "{hand:?} of {position}"
    );
    let fold = position.judge_with(hand, &Move::Fold);
    assert_eq!(fold.is_ok(), folds, "folding {hand:?} of {position}");
    if folds {
        of_cards.push(LegalMove {
            mv: Move::Fold,
            outcome: fold.expect("there is nothing else"),
        });
    }
    let listed = generator.legal_moves(rules, board, *seat, hand);
    assert_eq!(listed, of_cards, "{hand:?} of {position}");
}

/// A joker's moves are those of each rank, announced as that rank.
fn check_joker(position: &Random, moves: &[LegalMove]) {
    let mut announced_as_a_rank = 0;
    for rank in Card::RANKS {
        let announced = |legal: &&LegalMove| legal.mv.announced() == Some(rank);
        let moves: Vec<LegalMove> = moves.iter().filter(announced).copied().collect();
        check_card(position, Card::Joker, rank, &moves);
        announced_as_a_rank += moves.len();
    }
    assert_eq!(announced_as_a_rank, moves.len(), "a joker of {position}");
}

/// The moves of one card played as one rank: each board of the naive rules exactly once, by a legal
/// move that leads there.
fn check_card(position: &Random, card: Card, rank: Card, moves: &[LegalMove]) {
    let Random { rules, board, seat } = position;
    let mut boards = HashSet::with_capacity(moves.len());
    for legal @ LegalMove { mv, outcome } in moves {
        assert_eq!(mv.card(), Some(card), "{mv} of {position}");
        assert!(
            boards.insert(outcome.board),
            "{mv} is listed again: {position}"
        );
        check_move(position, legal);
    }
    let naive = naive::boards(rules, board, *seat, rank);
    let text = |board: &Board| format!("{:?}", board.placements(rules));
    let missing: Vec<String> = naive.difference(&boards).map(text).collect();
    let wrong = moves
        .iter()
        .filter(|legal| !naive.contains(&legal.outcome.board));
    let wrong: Vec<String> = wrong.map(|legal| legal.mv.to_string()).collect();
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "{card} as {rank} of {position}:\nwrongly listed {wrong:?}\nmissing {missing:#?}"
    );
}

/// A listed move is accepted, does what the list says, and can be read from its id.
fn check_move(position: &Random, LegalMove { mv, outcome }: &LegalMove) {
    assert_eq!(position.accepted(mv), *outcome, "{mv} of {position}");
    let id = mv.to_string();
    assert_eq!(id.parse().as_ref(), Ok(mv), "{id} read again");
    if outcome.kind == MoveKind::Seven {
        assert!(
            names_each_piece_once(position, &outcome.parts),
            "{mv} of {position}"
        );
    }
    let before = kennels(position, &position.board);
    let out = u8::from(outcome.kind == MoveKind::LeaveKennel);
    let captured = outcome.captures.len() as u8;
    assert_eq!(
        kennels(position, &outcome.board),
        before - out + captured,
        "{mv} of {position}"
    );
}

fn kennels(position: &Random, board: &Board) -> u8 {
    let seats = position.rules.ring().seats();
    seats.map(|seat| board.kennel(seat)).sum()
}

fn names_each_piece_once(position: &Random, parts: &[PlayedPart]) -> bool {
    let ring = position.rules.ring();
    // What stands on each field, and whether a part has named it.
    let mut pieces: HashMap<(Seat, Field), bool> = HashMap::new();
    for (seat, placement) in ring.seats().zip(position.board.placements(&position.rules)) {
        let track = placement.track.into_iter().map(Field::Track);
        let goal = placement.goal.into_iter().map(Field::Goal);
        pieces.extend(track.chain(goal).map(|field| ((seat, field), false)));
    }
    parts.iter().all(|part| {
        let from = part.from.expect("no part begins in a kennel");
        let named = pieces.remove(&(part.seat, from)).expect("a piece is moved");
        if let Field::Track(field) = from {
            let in_goal = match part.to {
                Field::Track(_) => 0,
                Field::Goal(deep) => deep + 1,
            };
            let passed: HashSet<Field> = (1..=part.steps - in_goal)
                .map(|steps| Field::Track(ring.forward(field, steps)))
                .collect();
            pieces.retain(|(_, field), _| !passed.contains(field));
        }
        pieces.insert((part.seat, part.to), true);
        !named
    })
}

/// The faster queries about a card agree with the list.
fn check_boards(position: &Random, generator: &mut Generator, card: Card, moves: &[LegalMove]) {
    let Random { rules, board, seat } = position;
    let mut boards = Vec::new();
    generator.boards_of_card(rules, board, *seat, card, &mut boards);
    let each: HashSet<&Board> = boards.iter().collect();
    assert_eq!(each.len(), boards.len(), "{card} of {position}");
    let listed: HashSet<&Board> = moves.iter().map(|legal| &legal.outcome.board).collect();
    assert!(each == listed, "the boards of {card} of {position}");
    let can_play = generator.can_play_card(rules, board, *seat, card);
    assert_eq!(can_play, !moves.is_empty(), "{card} of {position}");
}
