//! What the cards that a seat keeps could do on a board. Only what needs the rules is computed, by
//! a few lookups per card instead of a list of moves.

use dog_rules::{
    Board, Card, Field, Rules, Seat,
    movement::Walker,
    ring::{self, Fields, bit},
};

/// What one rank could do if the other pieces stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardEffect {
    /// It can be played. For a joker, and for the split of a seven, this is assumed if any piece
    /// can move.
    pub playable: bool,
    /// It moves a piece into the goal, or deeper into it.
    pub home: bool,
    /// It captures a piece of another team.
    pub hit: bool,
    /// It can be played without capturing a piece of the seat's own team.
    pub harmless: bool,
    /// The largest gain of one play, in steps: steps towards the goal and captured pieces, less
    /// what its own team loses.
    pub gain: i16,
}

/// The value of a piece out of its kennel, in steps.
pub(super) const OUT: i16 = 40;
/// The value of a piece in the goal, in steps.
pub(super) const HOME: i16 = 20;

/// What each card could do with a seat's pieces, or with its partner's when all its own are home
/// (RULES §4).
pub struct CardEffects<'a> {
    walker: Walker<'a>,
    own_team: Fields,
    others: Fields,
    /// For each field that holds a piece, the steps that it has walked: the cost of its capture.
    lost: [i16; 96],
}

impl<'a> CardEffects<'a> {
    pub fn new(rules: &'a Rules, board: &'a Board, seat: Seat) -> CardEffects<'a> {
        let own_team = board.track(seat) | board.track(seat.partner(rules.seats));
        let mut lost = [0; 96];
        for owner in rules.ring().seats() {
            for field in board.pieces(owner).track_fields() {
                lost[usize::from(field)] = OUT + i16::from(board.walked(rules, owner, field));
            }
        }
        CardEffects {
            walker: Walker::new(rules, board, board.mover(rules, seat)),
            own_team,
            others: board.occupied() & !own_team,
            lost,
        }
    }

    /// What this rank could do.
    pub fn effect(&self, card: Card) -> CardEffect {
        let mut found = CardEffect::default();
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

    /// The track fields of the mover's pieces.
    fn own_fields(&self) -> impl Iterator<Item = u8> + use<> {
        let Walker { board, owner, .. } = self.walker;
        board.pieces(owner).track_fields()
    }

    /// A piece lands on this field and gains this many steps.
    fn land(&self, field: u8, steps: i16, found: &mut CardEffect) {
        if !self.walker.may_land(Field::Track(field)) {
            return;
        }
        found.hit |= self.others & bit(field) != 0;
        found.harmless |= self.own_team & bit(field) == 0;
        found.wins(steps + self.captures(bit(field)));
    }

    /// The gain of capturing all pieces on these fields.
    fn captures(&self, fields: Fields) -> i16 {
        self.loss(fields & self.others) - self.loss(fields & self.own_team)
    }

    /// What the owners of the pieces on these fields lose if all are captured.
    fn loss(&self, fields: Fields) -> i16 {
        ring::fields(fields)
            .map(|field| self.lost[usize::from(field)])
            .sum()
    }

    /// The steps that the mover's piece on this field has walked.
    fn walked(&self, field: u8) -> i16 {
        let walker = self.walker;
        i16::from(walker.board.walked(walker.rules, walker.owner, field))
    }

    fn forward(&self, steps: u8, found: &mut CardEffect) {
        let ring = self.walker.rules.ring();
        let pieces = self.walker.board.pieces(self.walker.owner);
        for from in pieces.track_fields() {
            let (path, to) = (ring.path(from, steps), ring.forward(from, steps));
            let home = self.walker.into_goal(from, steps).is_ok();
            self.walk(from, path, to, home, found);
        }
        if steps < 4 {
            let goal = u16::from(pieces.goal());
            // The fields that the piece steps on; the fields beyond the goal count as occupied.
            let path = ((1u16 << steps) - 1) << 1;
            let walks =
                (0..4).any(|from| goal >> from & 1 != 0 && (goal | 0xF0) & path << from == 0);
            if walks {
                found.home = true;
                found.harmless = true;
                found.wins(i16::from(steps));
            }
        }
    }

    /// A piece walks to another track field, unless a block is on the path, or home.
    fn walk(&self, from: u8, path: Fields, to: u8, home: bool, found: &mut CardEffect) {
        if self.walker.blocks & path == 0 {
            self.land(to, self.walked(to) - self.walked(from), found);
        }
        if home {
            self.enter(from, found);
        }
    }

    /// A piece on the track walks home.
    fn enter(&self, from: u8, found: &mut CardEffect) {
        found.home = true;
        found.harmless = true;
        let lap = i16::from(self.walker.rules.ring().length());
        found.wins(lap - self.walked(from) + HOME);
    }

    fn back(&self, found: &mut CardEffect) {
        let ring = self.walker.rules.ring();
        for from in self.own_fields() {
            let (path, to) = (ring.path_back(from, 4), ring.backward(from, 4));
            let home = self.walker.back_into_goal(from).is_ok();
            self.walk(from, path, to, home, found);
        }
    }

    fn out(&self, found: &mut CardEffect) {
        let start = self.walker.rules.ring().start(self.walker.owner);
        if self.walker.board.kennel(self.walker.owner) > 0 && self.walker.blocks & bit(start) == 0 {
            self.land(start, OUT, found);
        }
    }

    fn seven(&self, found: &mut CardEffect) {
        let ring = self.walker.rules.ring();
        for from in self.own_fields() {
            let path = ring.path(from, 7);
            if self.walker.blocks & ring.path(from, 1) == 0 {
                found.playable = true;
            }
            if self.walker.blocks & path == 0 {
                found.hit |= self.others & path != 0;
                found.harmless |= self.own_team & path == 0;
                found.wins(7 + self.captures(path));
            }
            let to_door = ring.distance(from, ring.door(self.walker.owner));
            if to_door < 7 && self.walker.blocks & ring.path(from, to_door) == 0 {
                found.home = true;
                found.gain = found.gain.max(7 + HOME);
            }
        }
    }

    fn jack(&self, found: &mut CardEffect) {
        let (rules, board, owner) = (self.walker.rules, self.walker.board, self.walker.owner);
        let free = !board.swap_protected(rules);
        let own = board.track(owner);
        let others = board.occupied() & !own;
        if own & free != 0 && others & free != 0 {
            found.hit = others & free & self.others != 0;
            let gains = ring::fields(own & free)
                .flat_map(|from| ring::fields(others & free).map(move |to| (from, to)));
            for (from, to) in gains {
                found.wins(self.walked(to) - self.walked(from) + self.swapped(from, to));
            }
        }
        // A jack may be playable in two ways that change nothing (RULES §6).
        found.playable |= rules.jack_own_pair && (own & free).count_ones() > 1;
        found.playable |= board.jack_without_effect(rules, owner);
        found.harmless = found.playable;
    }

    /// What the owner of the piece on `to` loses, or its partner gains, when it is moved to `from`.
    fn swapped(&self, from: u8, to: u8) -> i16 {
        let Walker { rules, board, .. } = self.walker;
        let owner = board.owner(rules, to).expect("a piece stands there");
        let [from, walked] = [from, to].map(|field| i16::from(board.walked(rules, owner, field)));
        let won = from - walked;
        if self.own_team & bit(to) != 0 {
            won
        } else {
            -won
        }
    }

    fn joker(&self, found: &mut CardEffect) {
        for rank in Card::RANKS {
            let other = self.effect(rank);
            found.gain = found.gain.max(other.gain);
        }
        found.playable = self.walker.board.kennel(self.walker.owner) > 0
            || self.walker.board.track(self.walker.owner) != 0;
        found.harmless = found.playable;
        let ring = self.walker.rules.ring();
        for from in self.own_fields() {
            let to_door = ring.distance(from, ring.door(self.walker.owner));
            found.home |= to_door <= 12 && self.walker.blocks & ring.path(from, to_door) == 0;
            found.hit |= self.others & ring.path(from, 13) != 0;
        }
    }
}

impl CardEffect {
    /// Records that the card can be played with this gain.
    fn wins(&mut self, steps: i16) {
        self.gain = if self.playable {
            self.gain.max(steps)
        } else {
            steps
        };
        self.playable = true;
    }
}

/// The largest gain, in steps, of swapping one of the seat's pieces with another seat's.
pub fn best_swap(rules: &Rules, board: &Board, seat: Seat) -> u8 {
    let ring = rules.ring();
    let free = !board.swap_protected(rules);
    let door = ring.door(seat);
    let own = board.track(seat);
    let farthest = ring::fields(own & free)
        .map(|field| ring.distance(field, door))
        .max();
    let nearest = ring::fields(board.occupied() & !own & free)
        .map(|field| ring.distance(field, door))
        .min();
    match (farthest, nearest) {
        (Some(farthest), Some(nearest)) => farthest.saturating_sub(nearest),
        _ => 0,
    }
}
