//! Properties of every position (RULES §9), checked on many random ones.

use std::collections::HashSet;

use dog_rules::{
    Board, Card, Cards, Generator, LegalMove, Move, Outcome, Refusal, Rules, Seat, judge,
    notation::{CardUse, NotedField, Part},
};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

use super::{naive, position::read_move, random};

/// Random numbers, the same in every run.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A random position and a seat to move in it.
pub struct Random {
    pub rules: Rules,
    pub board: Board,
    pub seat: Seat,
}

impl Random {
    pub fn new(rng: &mut impl Rng) -> Random {
        let (rules, board, seat) = random::position(rng);
        Random { rules, board, seat }
    }

    pub fn moves(&self, generator: &mut Generator, card: Card) -> Vec<LegalMove> {
        let mut moves = Vec::new();
        generator.each_of_card(&self.rules, &self.board, self.seat, card, |found| {
            moves.push(found.legal_move());
        });
        moves
    }

    /// Judges a move with a hand that has every card.
    fn judge(&self, mv: &Move) -> Result<Outcome, Refusal> {
        self.judge_with(Cards::deck(1), mv)
    }

    pub fn judge_with(&self, hand: Cards, mv: &Move) -> Result<Outcome, Refusal> {
        judge::judge(&self.rules, &self.board, self.seat, hand, mv)
    }

    #[track_caller]
    pub fn accepted(&self, mv: &Move) -> Outcome {
        self.judge(mv)
            .unwrap_or_else(|refusal| panic!("{mv} of {self}: {refusal}"))
    }
}

impl std::fmt::Display for Random {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Random { rules, board, seat } = self;
        write!(
            f,
            "{seat} on {:?} by {:?}",
            board.placements(rules),
            rules.options()
        )
    }
}

/// Four pieces per seat, at most one on a field, fresh only on its own start.
#[track_caller]
pub fn check_board(rules: &Rules, board: &Board) {
    let placed = Board::place(rules, &board.placements(rules));
    assert_eq!(placed.as_ref(), Ok(board));
}

#[test]
fn every_legal_order_of_a_sevens_parts_is_accepted() {
    let mut rng = rng(2);
    let mut generator = Generator::new();
    let mut tried = 0;
    while tried < 30_000 {
        let position = Random::new(&mut rng);
        let Random { rules, board, seat } = &position;
        let listed = position.moves(&mut generator, Card::Seven);
        let listed: HashSet<Board> = listed.iter().map(|legal| legal.outcome.board).collect();
        for _ in 0..4 {
            let Some((parts, after)) = naive::random_seven(&mut rng, rules, board, *seat) else {
                continue;
            };
            let mv = read_move(&format!("7:{parts}"));
            assert_eq!(position.accepted(&mv).board, after, "{mv} of {position}");
            assert!(
                listed.contains(&after),
                "nothing listed leads where {mv} leads: {position}"
            );
            tried += 1;
        }
    }
}

/// For the other cards, every id of the grammar is tried.
#[test]
fn the_list_of_the_other_cards_is_complete() {
    let mut rng = rng(4);
    let mut generator = Generator::new();
    for _ in 0..800 {
        let position = Random::new(&mut rng);
        for rank in Card::RANKS.into_iter().filter(|&rank| rank != Card::Seven) {
            let listed = position.moves(&mut generator, rank);
            let listed: HashSet<Board> = listed.iter().map(|legal| legal.outcome.board).collect();
            let accepted = ids(&position.rules, rank).filter_map(|action| {
                position
                    .judge(&Move::Play {
                        card: rank,
                        rank,
                        action,
                    })
                    .ok()
            });
            let accepted: HashSet<Board> = accepted.map(|outcome| outcome.board).collect();
            assert_eq!(accepted, listed, "{rank} of {position}");
        }
    }
}

/// Every id that the grammar has for a card other than the seven, and some fields too many.
fn ids(rules: &Rules, rank: Card) -> impl Iterator<Item = CardUse> {
    let last = rules.ring().length() + 1;
    let track = (0..=last).map(NotedField::Track);
    let goals =
        (0..4).flat_map(|field| [NotedField::OwnGoal(field), NotedField::PartnerGoal(field)]);
    let places: Vec<NotedField> = track.chain(goals).collect();
    let mut actions = vec![];
    if rank.leaves_kennel() {
        actions.push(CardUse::Out);
    }
    if rank == Card::Jack {
        actions.push(CardUse::NoEffect);
    }
    for &from in &places {
        for &to in &places {
            match (rank, from, to) {
                (Card::Jack, NotedField::Track(own), NotedField::Track(other)) => {
                    actions.push(CardUse::Swap(own, other));
                }
                (Card::Jack, ..) => {}
                _ => actions.push(CardUse::Walk(Part { from, to })),
            }
        }
    }
    actions.into_iter()
}

#[test]
fn no_seat_is_special() {
    let mut rng = rng(5);
    let mut generator = Generator::new();
    for _ in 0..4_000 {
        let position = Random::new(&mut rng);
        let Random { rules, board, seat } = &position;
        let turned = Random {
            rules: rules.clone(),
            board: turned_board(rules, board),
            seat: seat.next(rules.seats),
        };
        for card in Card::RANKS {
            let moves = position.moves(&mut generator, card);
            let there = turned.moves(&mut generator, card);
            let there: HashSet<Board> = there.iter().map(|legal| legal.outcome.board).collect();
            let here = moves
                .iter()
                .map(|legal| turned_board(rules, &legal.outcome.board));
            assert_eq!(there, here.collect(), "{card} of {position}");
            for LegalMove { mv, outcome } in &moves {
                let mv = turned_move(rules, mv);
                let board = turned_board(rules, &outcome.board);
                assert_eq!(turned.accepted(&mv).board, board);
            }
        }
    }
}

/// The same board seen from one seat further on.
fn turned_board(rules: &Rules, board: &Board) -> Board {
    let mut placements = board.placements(rules);
    placements.rotate_right(1);
    for field in placements
        .iter_mut()
        .flat_map(|placement| &mut placement.track)
    {
        *field = rules.ring().forward(*field, rules.fields_per_seat);
    }
    Board::place(rules, &placements).expect("a possible board")
}

fn turned_move(rules: &Rules, mv: &Move) -> Move {
    use CardUse::{NoEffect, Out, Seven, Swap, Walk};
    let field = |field| rules.ring().forward(field, rules.fields_per_seat);
    let place = |place| match place {
        NotedField::Track(track) => NotedField::Track(field(track)),
        goal => goal,
    };
    let part = |part: Part| Part {
        from: place(part.from),
        to: place(part.to),
    };
    let turned = |action| match action {
        Walk(walk) => Walk(part(walk)),
        Swap(own, other) => Swap(field(own), field(other)),
        Seven(parts) => Seven(parts.into_iter().map(part).collect()),
        Out | NoEffect => action,
    };
    match *mv {
        Move::Fold => Move::Fold,
        Move::Play { card, rank, action } => Move::Play {
            card,
            rank,
            action: turned(action),
        },
    }
}
