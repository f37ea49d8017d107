//! What the cards that a seat keeps could do on a board: what of it needs the rules to be seen, at
//! the price of a few looks a card rather than of a list of moves.

use crate::rules::{
    board::Board,
    card::Card,
    judge, movement,
    options::Rules,
    ring::{self, Fields, bit},
    seat::Seat,
};

/// What one kind of card could do, the others standing still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// It can be played. Of a joker, and of the splitting of a seven, that is taken for granted
    /// when any piece can move.
    pub playable: bool,
    /// It takes a piece into the goal, or deeper into it.
    pub home: bool,
    /// It captures a piece of another team.
    pub hit: bool,
    /// It can be played without capturing a piece of the own team.
    pub harmless: bool,
}

/// Looks at a seat's pieces, or its partner's when all its own are home (RULES §4).
pub struct Table<'a> {
    rules: &'a Rules,
    board: &'a Board,
    mover: Seat,
    blocks: Fields,
    own_team: Fields,
    others: Fields,
}

impl<'a> Table<'a> {
    pub fn new(rules: &'a Rules, board: &'a Board, seat: Seat) -> Table<'a> {
        let own_team = board.track(seat) | board.track(seat.partner(rules.seats));
        Table {
            rules,
            board,
            mover: judge::mover(rules, board, seat),
            blocks: board.blocks(rules),
            own_team,
            others: board.occupied() & !own_team,
        }
    }

    /// What this kind of card could do.
    pub fn of(&self, card: Card) -> Use {
        let mut found = Use::default();
        match card {
            Card::Seven => self.seven(&mut found),
            Card::Jack => self.jack(&mut found),
            Card::Joker => self.joker(&mut found),
            _ => {
                for &steps in card.forward() {
                    self.forward(steps, &mut found);
                }
                if card == Card::Four {
                    self.back(&mut found);
                }
                if card.leaves_kennel() {
                    self.out(&mut found);
                }
            }
        }
        found
    }

    /// A piece that comes to stand on this field.
    fn land(&self, field: u8, found: &mut Use) {
        found.playable = true;
        found.hit |= self.others & bit(field) != 0;
        found.harmless |= self.own_team & bit(field) == 0;
    }

    fn forward(&self, steps: u8, found: &mut Use) {
        let Table {
            rules,
            board,
            mover,
            blocks,
            ..
        } = *self;
        let ring = rules.ring();
        let pieces = board.pieces(mover);
        for from in pieces.track_fields() {
            if blocks & ring.path(from, steps) == 0 {
                self.land(ring.forward(from, steps), found);
            }
            if movement::into_goal(rules, board, blocks, mover, from, steps).is_ok() {
                found.playable = true;
                found.home = true;
                found.harmless = true;
            }
        }
        if steps < 4 {
            let goal = u16::from(pieces.goal());
            // Fields that the piece steps on, the fields beyond the goal taken as full.
            let path = ((1u16 << steps) - 1) << 1;
            let walks =
                (0..4).any(|from| goal >> from & 1 != 0 && (goal | 0xF0) & path << from == 0);
            if walks {
                found.playable = true;
                found.home = true;
                found.harmless = true;
            }
        }
    }

    fn back(&self, found: &mut Use) {
        let ring = self.rules.ring();
        for from in self.board.pieces(self.mover).track_fields() {
            if self.blocks & ring.path_back(from, 4) == 0 {
                self.land(ring.backward(from, 4), found);
            }
        }
    }

    fn out(&self, found: &mut Use) {
        let start = self.rules.ring().start(self.mover);
        if self.board.kennel(self.mover) > 0 && self.blocks & bit(start) == 0 {
            self.land(start, found);
        }
    }

    fn seven(&self, found: &mut Use) {
        let ring = self.rules.ring();
        for from in self.board.pieces(self.mover).track_fields() {
            let path = ring.path(from, 7);
            if self.blocks & ring.path(from, 1) == 0 {
                found.playable = true;
            }
            if self.blocks & path == 0 {
                found.hit |= self.others & path != 0;
                found.harmless |= self.own_team & path == 0;
            }
            let to_door = ring.distance(from, ring.door(self.mover));
            found.home |= to_door < 7 && self.blocks & ring.path(from, to_door) == 0;
        }
    }

    fn jack(&self, found: &mut Use) {
        let protected = self.board.unswappable(self.rules);
        let own = self.board.track(self.mover);
        let strangers = self.board.occupied() & !own & !protected;
        if own & !protected != 0 && strangers != 0 {
            found.playable = true;
            found.harmless = true;
            found.hit = strangers & self.others != 0;
        }
    }

    fn joker(&self, found: &mut Use) {
        found.playable = self.board.kennel(self.mover) > 0 || self.board.track(self.mover) != 0;
        found.harmless = found.playable;
        let ring = self.rules.ring();
        for from in self.board.pieces(self.mover).track_fields() {
            let to_door = ring.distance(from, ring.door(self.mover));
            found.home |= to_door <= 12 && self.blocks & ring.path(from, to_door) == 0;
            found.hit |= self.others & ring.path(from, 13) != 0;
        }
    }
}

/// The most that a seat's piece wins by changing places with another seat's, in steps.
pub fn best_swap(rules: &Rules, board: &Board, seat: Seat) -> u8 {
    let ring = rules.ring();
    let free = !board.unswappable(rules);
    let door = ring.door(seat);
    let to_door = |field: u8| ring.distance(field, door);
    let own = board.track(seat);
    let farthest = ring::fields(own & free).map(to_door).max();
    let nearest = ring::fields(board.occupied() & !own & free)
        .map(to_door)
        .min();
    match (farthest, nearest) {
        (Some(farthest), Some(nearest)) => farthest.saturating_sub(nearest),
        _ => 0,
    }
}
