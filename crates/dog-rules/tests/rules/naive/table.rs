//! The pieces on the table and their single steps (RULES §1 and §4).

use std::collections::BTreeSet;

use dog_rules::{Board, Field, GoalEntry, Placement, Protection, Rules, Seat};

/// A piece outside its kennel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NaivePiece {
    pub owner: Seat,
    pub field: Field,
    pub fresh: bool,
}

/// All pieces outside the kennels.
pub type NaivePieces = BTreeSet<NaivePiece>;

/// A walking piece: where it is now, and the fields it has stepped on.
pub struct NaiveWalk {
    pub piece: NaivePiece,
    pub stepped: Vec<Field>,
}

#[derive(Clone, Copy)]
pub enum Direction {
    Forward,
    Backward,
}

/// The rules, and the seat that plays the card.
pub struct NaiveTable<'a> {
    pub rules: &'a Rules,
    pub seat: Seat,
}

impl NaivePiece {
    pub fn on_track(&self) -> bool {
        matches!(self.field, Field::Track(_))
    }

    /// Freshness ends when the piece moves.
    pub fn moved_to(&self, field: Field) -> NaivePiece {
        NaivePiece {
            owner: self.owner,
            field,
            fresh: false,
        }
    }
}

impl NaiveTable<'_> {
    pub fn partner(&self) -> Seat {
        let seats = self.rules.seats;
        Seat::new((self.seat.number() + seats / 2) % seats, seats).expect("the seat opposite")
    }

    pub fn start(&self, seat: Seat) -> Field {
        Field::Track(seat.number() * self.rules.fields_per_seat)
    }

    fn length(&self) -> u8 {
        self.rules.seats * self.rules.fields_per_seat
    }

    /// The next field of the ring.
    fn ahead(&self, field: u8) -> Field {
        Field::Track((field + 1) % self.length())
    }

    /// The previous field of the ring.
    fn behind(&self, field: u8) -> Field {
        Field::Track((field + self.length() - 1) % self.length())
    }

    /// Whether all four of the seat's pieces are in its goal.
    pub fn home(&self, pieces: &NaivePieces, seat: Seat) -> bool {
        let in_goal = |piece: &&NaivePiece| piece.owner == seat && !piece.on_track();
        pieces.iter().filter(in_goal).count() == 4
    }

    /// The seat whose pieces are moved.
    pub fn mover(&self, pieces: &NaivePieces) -> Seat {
        if self.home(pieces, self.seat) {
            self.partner()
        } else {
            self.seat
        }
    }

    /// Whether the piece is protected on its start: always, or while it is fresh.
    pub fn protected(&self, piece: &NaivePiece, when: Protection) -> bool {
        piece.field == self.start(piece.owner) && (when == Protection::Always || piece.fresh)
    }

    pub fn is_block(&self, pieces: &NaivePieces, field: Field) -> bool {
        let block = |piece: &NaivePiece| self.protected(piece, self.rules.start_block);
        pieces
            .iter()
            .any(|piece| piece.field == field && block(piece))
    }

    /// Every way to take this many single steps. A step onto a block, or onto an occupied goal
    /// field, makes the move illegal.
    pub fn walks(
        &self,
        others: &NaivePieces,
        piece: NaivePiece,
        direction: Direction,
        steps: u8,
    ) -> Vec<NaiveWalk> {
        let stepped = Vec::new();
        let mut walks = vec![NaiveWalk { piece, stepped }];
        for _ in 0..steps {
            let mut further = Vec::new();
            for walk in walks {
                let next = match direction {
                    Direction::Forward => self.next_forward(walk.piece),
                    Direction::Backward => self.next_backward(&walk),
                };
                for field in next {
                    let occupied_goal = matches!(field, Field::Goal(_))
                        && others
                            .iter()
                            .any(|other| other.owner == piece.owner && other.field == field);
                    if !self.is_block(others, field) && !occupied_goal {
                        let piece = walk.piece.moved_to(field);
                        let stepped = [&walk.stepped[..], &[field]].concat();
                        further.push(NaiveWalk { piece, stepped });
                    }
                }
            }
            walks = further;
        }
        walks
    }

    /// Forward: the next field of the ring, goal 0 from the door, or one field deeper.
    fn next_forward(&self, piece: NaivePiece) -> Vec<Field> {
        let NaivePiece {
            owner,
            field,
            fresh,
        } = piece;
        match field {
            Field::Goal(field) => one_deeper(field),
            Field::Track(here) => {
                let on_door = match self.rules.goal_entry {
                    GoalEntry::OnStart => {
                        field == self.start(owner) && (!fresh || self.rules.fresh_into_goal)
                    }
                    GoalEntry::BeforeStart => self.ahead(here) == self.start(owner),
                };
                let mut next = vec![self.ahead(here)];
                if on_door {
                    next.push(Field::Goal(0));
                }
                next
            }
        }
    }

    /// Whether a piece that has come here may not end here (RULES §11, `capture_own`).
    pub fn is_on_own_piece(&self, others: &NaivePieces, piece: NaivePiece) -> bool {
        let stands_there = |other: &NaivePiece| {
            piece.on_track() && (other.owner, other.field) == (piece.owner, piece.field)
        };
        !self.rules.capture_own && others.iter().any(stands_there)
    }

    /// Backward: along the ring; with `backward_into_goal` also into the goal, for a piece that
    /// walked back onto or over its own start and stands at the door.
    fn next_backward(&self, walk: &NaiveWalk) -> Vec<Field> {
        let start = self.start(walk.piece.owner);
        match walk.piece.field {
            Field::Goal(_) if walk.stepped.is_empty() => vec![],
            Field::Goal(field) => one_deeper(field),
            Field::Track(here) => {
                let over_start = walk.stepped.contains(&start);
                let at_door = match self.rules.goal_entry {
                    GoalEntry::OnStart => Field::Track(here) == start,
                    GoalEntry::BeforeStart => self.ahead(here) == start,
                };
                let mut next = vec![self.behind(here)];
                if self.rules.backward_into_goal && over_start && at_door {
                    next.push(Field::Goal(0));
                }
                next
            }
        }
    }
}

/// In the goal: there is nothing beyond goal 3.
fn one_deeper(field: u8) -> Vec<Field> {
    if field < 3 {
        vec![Field::Goal(field + 1)]
    } else {
        vec![]
    }
}

/// The pieces of a board.
pub fn read(rules: &Rules, board: &Board) -> NaivePieces {
    let mut pieces = NaivePieces::new();
    for (seat, placement) in Seat::all(rules.seats).zip(board.placements(rules)) {
        let start = Field::Track(seat.number() * rules.fields_per_seat);
        let track = placement.track.into_iter().map(Field::Track);
        let goal = placement.goal.into_iter().map(Field::Goal);
        pieces.extend(track.chain(goal).map(|field| NaivePiece {
            owner: seat,
            field,
            fresh: placement.fresh && field == start,
        }));
    }
    pieces
}

/// The board of these pieces.
pub fn write(rules: &Rules, pieces: &NaivePieces) -> Board {
    let mut placements = vec![Placement::default(); usize::from(rules.seats)];
    for piece in pieces {
        let placement = &mut placements[usize::from(piece.owner.number())];
        match piece.field {
            Field::Track(field) => placement.track.push(field),
            Field::Goal(field) => placement.goal.push(field),
        }
        placement.fresh |= piece.fresh;
    }
    Board::place(rules, &placements).expect("a possible board")
}
