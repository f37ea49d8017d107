//! The value of a board for a team, in rough steps: what its pieces have walked and can hope for,
//! less the same for the other teams. Also the value of cards to the seat that holds them, relative
//! to a plain card.
//!
//! The weights were found by playing thousands of games for each, in which one team used another
//! weight. A number in brackets says how many games in 100 a team with the weight wins against one
//! without it (15 000 games under three presets, ±0.4). These terms were tried and dropped, since
//! they gained nothing: the ranks that take a piece into the goal, a kennel behind a block, an
//! empty ring, all four at home. Every option of RULES §2 is read as data. Only sums, products and
//! quotients are used, so a value is the same number on every machine.

use dog_rules::{
    Board, BySeat, Card, Cards, Rules, Seat, SeatView, SevenLanding,
    board::PIECES,
    movement::Walker,
    ring::{self, Fields, bit},
};

/// The value of a won game, higher than that of any other board.
pub const WON: f64 = 10_000.0;

/// The value of leaving the kennel, before the first step (65).
const OUT: f64 = 45.0;
/// The value of a piece in the goal, beyond the lap that it has walked (58).
const IN_GOAL: f64 = 30.0;
/// Each free goal field that a piece nearer to the ring shuts off (70).
const LOCKED: f64 = 10.0;
/// The share of a lap saved by a backward four that counts before it is played (53).
const FOUR: f64 = 0.25;
/// The share of a piece's possible loss that counts for each rank that can capture it: for the
/// evaluated team (60), whose opponents move next.
const EXPOSED: f64 = 0.13;
/// The same for the other teams (51).
const EXPOSED_OTHERS: f64 = 0.03;
/// The share of the best swap that counts before a jack is played (51).
const JACK: f64 = 0.12;
/// Each piece of another team within reach behind a block; pieces of the seat's own team count
/// against it (51).
const BLOCK: f64 = 1.0;

/// The farthest that a card moves a piece.
const REACH: u8 = 13;

/// How much better the board is for the seat's team than for the others, in steps. With three
/// teams, the mean of the other two counts.
pub fn value(rules: &Rules, board: &Board, seat: Seat) -> f64 {
    let threats = Threats::new(rules);
    let position = EvalPosition::new(rules, board, &threats);
    let (team, teams) = (seat.team(rules.seats), rules.seats / 2);
    let mut own = 0.0;
    let mut others = 0.0;
    for first in Seat::all(teams) {
        let mine = first.team(rules.seats) == team;
        if board.team_home(rules, first) {
            return if mine { WON } else { -WON };
        }
        let exposed = if mine { EXPOSED } else { EXPOSED_OTHERS };
        let standing: f64 = [first, first.partner(rules.seats)]
            .into_iter()
            .map(|seat| position.standing(seat) - exposed * position.risk(seat))
            .sum();
        if mine {
            own = standing;
        } else {
            others += standing;
        }
    }
    own - others / f64::from(teams - 1)
}

/// How likely cards are that capture a piece, in units of a rank with its eight cards.
#[derive(Clone, Debug)]
struct Threats {
    /// The cards that move a piece this many steps forward, by index. A seven is included where it
    /// captures, for which passing is enough.
    ahead: [f64; REACH as usize + 1],
    /// The cards that move a piece four back.
    back: f64,
    /// The cards that leave the kennel.
    out: f64,
}

impl Threats {
    /// The threats of cards drawn from the whole deck.
    fn new(rules: &Rules) -> Threats {
        let deck = rules.deck();
        let [joker, ace, four, seven, king] =
            [Card::Joker, Card::Ace, Card::Four, Card::Seven, Card::King]
                .map(|card| f64::from(deck.count(card)) / 8.0);
        let mut ahead = [joker; REACH as usize + 1];
        for card in Card::RANKS {
            for &steps in card.forward() {
                ahead[usize::from(steps)] += f64::from(deck.count(card)) / 8.0;
            }
        }
        let last = match rules.seven_landing {
            SevenLanding::Captures => 7,
            SevenLanding::MustBeFree => 6,
        };
        for threat in &mut ahead[1..=last] {
            *threat += seven;
        }
        Threats {
            ahead,
            back: four + joker,
            out: ace + king + joker,
        }
    }
}

/// A board, with what is often needed of it.
struct EvalPosition<'a> {
    rules: &'a Rules,
    board: &'a Board,
    tracks: BySeat<Fields>,
    blocks: Fields,
    swap_protected: Fields,
    threats: &'a Threats,
}

impl<'a> EvalPosition<'a> {
    /// Prepares a board.
    fn new(rules: &'a Rules, board: &'a Board, threats: &'a Threats) -> EvalPosition<'a> {
        EvalPosition {
            rules,
            board,
            tracks: BySeat::of_seats(rules.seats, |seat| board.track(seat)),
            blocks: board.blocks(rules),
            swap_protected: board.swap_protected(rules),
            threats,
        }
    }

    /// The value of what the seat's pieces have reached and can hope for.
    fn standing(&self, seat: Seat) -> f64 {
        let (ring, goal) = (self.rules.ring(), self.board.goal(seat));
        let track = self.tracks[seat];
        let in_goal = goal.count_ones() as u8;
        // Goal fields that can be entered from the ring.
        let open = (goal | 1 << PIECES).trailing_zeros() as u8;
        let mut sum = f64::from(in_goal) * (OUT + f64::from(ring.length()) + IN_GOAL);
        sum -= LOCKED * f64::from(PIECES - in_goal - open);
        for field in ring::fields(track) {
            sum += OUT + self.progress(seat, field);
            if self.blocks & ring.path_back(field, 4) == 0 {
                let back = self.progress(seat, ring.backward(field, 4));
                sum += FOUR * (back - self.progress(seat, field)).max(0.0);
            }
        }
        sum + JACK * self.best_swap(seat) + self.block(seat)
    }

    /// The steps that the seat's piece on this track field has walked; at the door a whole lap.
    fn progress(&self, seat: Seat, field: u8) -> f64 {
        f64::from(self.board.walked(self.rules, seat, field))
    }

    /// What the seat's pieces would lose by being captured, each counted once per rank that
    /// captures it.
    fn risk(&self, seat: Seat) -> f64 {
        ring::fields(self.tracks[seat] & !self.blocks)
            .map(|field| {
                let ranks = self
                    .others(seat)
                    .map(|other| self.ranks_against(other, field));
                ranks.sum::<f64>() * (OUT + self.progress(seat, field))
            })
            .sum()
    }

    /// The number of ranks in the other seat's hand that capture a piece on this field.
    fn ranks_against(&self, other: Seat, field: u8) -> f64 {
        let ring = self.rules.ring();
        let pieces = self.tracks[other];
        let mut ranks = 0.0;
        for from in ring::fields(pieces & ring.path_back(field, REACH)) {
            let steps = ring.distance(from, field);
            if self.blocks & ring.path(from, steps) == 0 {
                ranks += self.threats.ahead[usize::from(steps)];
            }
        }
        let behind = ring.forward(field, 4);
        if pieces & bit(behind) != 0 && self.blocks & ring.path_back(behind, 4) == 0 {
            ranks += self.threats.back;
        }
        if field == ring.start(other) && self.board.kennel(other) > 0 {
            ranks += self.threats.out;
        }
        ranks
    }

    /// The most steps that the seat can gain and cost another team, together, with a jack.
    fn best_swap(&self, seat: Seat) -> f64 {
        let own = self.tracks[seat] & !self.swap_protected;
        let mut best: f64 = 0.0;
        for other in self.others(seat) {
            for theirs in ring::fields(self.tracks[other] & !self.swap_protected) {
                for mine in ring::fields(own) {
                    let won = self.progress(seat, theirs) - self.progress(seat, mine);
                    let cost = self.progress(other, theirs) - self.progress(other, mine);
                    best = best.max(won + cost);
                }
            }
        }
        best
    }

    /// The value of what the seat's block holds up.
    fn block(&self, seat: Seat) -> f64 {
        let start = self.rules.ring().start(seat);
        if self.blocks & bit(start) == 0 {
            return 0.0;
        }
        let behind = self.rules.ring().path_back(start, REACH);
        let mut sum = 0.0;
        for other in self.rules.ring().seats() {
            let held = f64::from((self.tracks[other] & behind).count_ones());
            let friend = other.team(self.rules.seats) == seat.team(self.rules.seats);
            sum += if friend { -BLOCK * held } else { BLOCK * held };
        }
        sum
    }

    /// The seats of the other teams.
    fn others(&self, seat: Seat) -> impl Iterator<Item = Seat> + use<> {
        let seats = self.rules.seats;
        Seat::all(seats).filter(move |other| other.team(seats) != seat.team(seats))
    }
}

/// An ace, on any board (52). Fours and jacks were tried too, with no measurable value.
const ACE: f64 = 8.0;
/// A seven (52).
const SEVEN: f64 = 10.0;
/// A king (51).
const KING: f64 = 4.0;
/// A joker (60).
const JOKER: f64 = 50.0;
/// A card that takes a piece into the goal (51).
const FITS: f64 = 4.0;
/// A card that leaves the kennel, with pieces waiting there (55). A second one adds nothing.
const EXIT_CARD: f64 = 8.0;
/// The same with no piece on the ring, when other cards are useless without it (56).
const ONLY_EXIT_CARD: f64 = 25.0;

/// The value of holding these cards, in steps.
pub fn hand_value(rules: &Rules, board: &Board, seat: Seat, hand: Cards) -> f64 {
    let need = CardNeeds::new(rules, board, seat);
    let has_exit_card = hand.ranks().any(leaves_kennel);
    if need.stuck && !has_exit_card {
        return 0.0;
    }
    let held = hand
        .ranks()
        .map(|card| f64::from(hand.count(card)) * plain_card_value(card));
    let exit_card = if has_exit_card {
        need.exit_card_value()
    } else {
        0.0
    };
    held.sum::<f64>() + exit_card + FITS * fitting(rules, board, seat, hand)
}

/// The value of the board after a move and of the cards that the seat then keeps, in steps.
pub fn move_value(view: &SeatView, after: &Board, kept: Cards) -> f64 {
    value(view.rules, after, view.seat) + hand_value(view.rules, after, view.seat, kept)
}

/// The number of ranks of these cards, except seven and joker, that take a piece into the goal.
fn fitting(rules: &Rules, board: &Board, seat: Seat, hand: Cards) -> f64 {
    let owner = board.mover(rules, seat);
    let walker = Walker::new(rules, board, owner);
    hand.ranks()
        .filter(|card| {
            ring::fields(board.track(owner)).any(|from| {
                let mut steps = card.forward().iter();
                steps.any(|&steps| walker.into_goal(from, steps).is_ok())
            })
        })
        .count() as f64
}

/// The value of one more card to a seat whose hand is unknown and, with this probability, has no
/// card that leaves the kennel.
pub fn extra_card_value(rules: &Rules, board: &Board, seat: Seat, card: Card, lacking: f64) -> f64 {
    let need = CardNeeds::new(rules, board, seat);
    if leaves_kennel(card) {
        plain_card_value(card) + lacking * need.exit_card_value()
    } else if need.stuck {
        plain_card_value(card) * (1.0 - lacking)
    } else {
        plain_card_value(card)
    }
}

/// Whether the card, as itself or as a joker, leaves the kennel.
pub fn leaves_kennel(card: Card) -> bool {
    card == Card::Joker || card.leaves_kennel()
}

fn plain_card_value(card: Card) -> f64 {
    match card {
        Card::Ace => ACE,
        Card::Seven => SEVEN,
        Card::King => KING,
        Card::Joker => JOKER,
        _ => 0.0,
    }
}

/// What the pieces that a seat moves need from its cards.
struct CardNeeds {
    /// Pieces in the kennel.
    waiting: u8,
    /// Whether none is on the ring.
    stuck: bool,
}

impl CardNeeds {
    fn new(rules: &Rules, board: &Board, seat: Seat) -> CardNeeds {
        let mover = board.mover(rules, seat);
        CardNeeds {
            waiting: board.kennel(mover),
            stuck: board.track(mover) == 0,
        }
    }

    /// The value of a card that leaves the kennel.
    fn exit_card_value(&self) -> f64 {
        match (self.waiting, self.stuck) {
            (0, _) => 0.0,
            (_, true) => ONLY_EXIT_CARD,
            (_, false) => EXIT_CARD,
        }
    }
}
