//! One random legal way to play a card, without listing them all.
//!
//! What is drawn:
//!
//! * **A rank that carries one piece:** a piece, uniformly among those that can walk (the kennel
//!   counts as one, if a piece can leave it), then uniformly one of its ways.
//! * **A jack:** uniformly among the boards.
//! * **A joker:** a rank, uniformly among those that can be played, then as that rank.
//! * **A seven:** pieces in a random order, those in the goal first and deeper ones before others,
//!   each with a random number of steps and the last with all that are left. Where that fails
//!   a few times, uniformly among the boards of the list.
//!
//! Every board that the list has can be drawn (RULES §9), and no other.

use rand::Rng;

use super::{
    board::{Board, Field, PIECES},
    card::{Card, Cards},
    judge::{mover, swap},
    movement::{self, Walk},
    moves::{Generator, without_effect},
    options::{Rules, SevenPartner, SevenSurplus},
    ring::{Fields, bit},
    seat::Seat,
    seven::{STEPS, carried_out, may_end},
};

/// Draws sevens this often before it lists them.
const ATTEMPTS: u32 = 4;

/// A number below `n`, from one word: no number is more likely than another by more than n in 2³².
#[inline]
pub(super) fn below(rng: &mut impl Rng, n: u32) -> u32 {
    (u64::from(rng.next_u32()) * u64::from(n) >> 32) as u32
}

/// Plays cards at random. Holds the memory for those few sevens that must be listed.
#[derive(Default)]
pub struct Sampler {
    generator: Generator,
    boards: Vec<Board>,
}

impl Sampler {
    /// A sampler with no memory yet.
    pub fn new() -> Sampler {
        Sampler::default()
    }

    /// Draws a card, uniformly among those of the hand that can be played, and plays it in a
    /// random way; `None`, and nothing changed, if none can be played.
    #[inline]
    pub fn play_any(
        &mut self,
        rules: &Rules,
        board: &mut Board,
        seat: Seat,
        hand: Cards,
        rng: &mut impl Rng,
    ) -> Option<Card> {
        let mover = mover(rules, board, seat);
        // To draw until a card can be played is to draw from those that can.
        let mut untried = hand.of_kinds(useful(rules, board, mover));
        while !untried.is_empty() {
            let card = untried.nth(below(rng, untried.len().into()) as u8);
            if self.play(rules, board, seat, card, rng) {
                return Some(card);
            }
            untried = untried.without_kind(card);
        }
        None
    }

    /// Plays a card in a random way; `false`, and nothing changed, if it cannot be played.
    pub fn play(
        &mut self,
        rules: &Rules,
        board: &mut Board,
        seat: Seat,
        card: Card,
        rng: &mut impl Rng,
    ) -> bool {
        match card {
            Card::Joker => self.joker(rules, board, seat, rng),
            Card::Seven => self.seven(rules, board, seat, rng),
            Card::Jack => jack(rules, board, mover(rules, board, seat), rng),
            rank => carry(rules, board, mover(rules, board, seat), rank, rng),
        }
    }

    fn joker(&mut self, rules: &Rules, board: &mut Board, seat: Seat, rng: &mut impl Rng) -> bool {
        let mover = mover(rules, board, seat);
        let mut untried = useful(rules, board, mover).without_kind(Card::Joker);
        while !untried.is_empty() {
            let rank = untried.nth(below(rng, untried.len().into()) as u8);
            if self.play(rules, board, seat, rank, rng) {
                return true;
            }
            untried = untried.without_kind(rank);
        }
        false
    }

    fn seven(&mut self, rules: &Rules, board: &mut Board, seat: Seat, rng: &mut impl Rng) -> bool {
        for _ in 0..ATTEMPTS {
            let mut after = *board;
            if try_seven(rules, &mut after, seat, rng) {
                *board = after;
                return true;
            }
        }
        self.boards.clear();
        self.generator
            .boards_of_card(rules, board, seat, Card::Seven, &mut self.boards);
        let Some(last) = self.boards.len().checked_sub(1) else {
            return false;
        };
        *board = self.boards[below(rng, last as u32 + 1) as usize];
        true
    }
}

/// The kinds of cards that a seat moving these pieces may be able to play: all, or with no piece on
/// the ring those few that leave the kennel or move in the goal.
#[inline]
fn useful(rules: &Rules, board: &Board, mover: Seat) -> Cards {
    const LEAVE_KENNEL: Cards = Cards::each(&[Card::Ace, Card::King, Card::Joker]);
    const IN_GOAL: Cards = Cards::each(&[Card::Ace, Card::Two, Card::Three, Card::Joker]);
    const SEVEN: Cards = Cards::each(&[Card::Seven, Card::Joker]);
    if board.track(mover) != 0 {
        return Cards::KINDS;
    }
    let mut kinds = Cards::EMPTY;
    if board.kennel(mover) > 0 {
        kinds = kinds.or(LEAVE_KENNEL);
    }
    if board.goal(mover) != 0 {
        kinds = kinds.or(IN_GOAL);
    }
    if rules.seven_partner == SevenPartner::Always {
        kinds = kinds.or(SEVEN);
    }
    kinds
}

/// RULES §4: a piece leaves the kennel or walks, forward or four back.
fn carry(rules: &Rules, board: &mut Board, mover: Seat, rank: Card, rng: &mut impl Rng) -> bool {
    let blocks = board.blocks(rules);
    let start = bit(rules.ring().start(mover));
    let leaves = rank.leaves_kennel() && board.kennel(mover) > 0 && blocks & start == 0;
    let out = u32::from(leaves);
    let mut track = board.track(mover);
    let mut goal = Fields::from(board.goal(mover));
    loop {
        let (on_track, in_goal) = (track.count_ones(), goal.count_ones());
        let pieces = on_track + in_goal + out;
        if pieces == 0 {
            return false;
        }
        let piece = below(rng, pieces);
        let from = if piece < on_track {
            let field = nth_field(track, piece);
            track &= !bit(field);
            Field::Track(field)
        } else if piece < on_track + in_goal {
            let field = nth_field(goal, piece - on_track);
            goal &= !bit(field);
            Field::Goal(field)
        } else {
            board.capture(start);
            board.put_fresh(rules, mover);
            return true;
        };
        if let Some(to) = any_way(rules, board, blocks, mover, rank, from, rng) {
            board.lift(rules, mover, from);
            if let Field::Track(field) = to {
                board.capture(bit(field));
            }
            board.put(mover, to);
            return true;
        }
    }
}

/// Where one piece goes with a card, each way with equal chances.
#[inline]
fn any_way(
    rules: &Rules,
    board: &Board,
    blocks: Fields,
    mover: Seat,
    rank: Card,
    from: Field,
    rng: &mut impl Rng,
) -> Option<Field> {
    let mut ways = 0;
    let mut drawn = None;
    let mut add = |walk: Option<Walk>| {
        if let Some(walk) = walk {
            ways += 1;
            if ways == 1 || below(rng, ways) == 0 {
                drawn = Some(walk.to);
            }
        }
    };
    for &steps in rank.forward() {
        let walks = movement::forward(rules, board, blocks, mover, from, steps);
        walks.into_iter().for_each(&mut add);
    }
    if let (Card::Four, Field::Track(from)) = (rank, from) {
        add(movement::back_along_ring(rules, board, blocks, from).ok());
        add(movement::back_into_goal(rules, board, blocks, mover, from).ok());
    }
    drawn
}

/// RULES §6.
fn jack(rules: &Rules, board: &mut Board, mover: Seat, rng: &mut impl Rng) -> bool {
    let unprotected = !board.unswappable(rules);
    let own = board.track(mover) & unprotected;
    let others = board.occupied() & !board.track(mover) & unprotected;
    let swaps = own.count_ones() * others.count_ones();
    let own_pair = rules.jack_own_pair && own.count_ones() > 1;
    let choices = swaps + u32::from(own_pair);
    if choices == 0 {
        return without_effect(rules, board, mover);
    }
    let choice = below(rng, choices);
    if choice < swaps {
        let from = nth_field(own, choice % own.count_ones());
        let other = nth_field(others, choice / own.count_ones());
        let stranger = board.owner(rules, other).expect("a piece stands there");
        let (from, other) = (Field::Track(from), Field::Track(other));
        swap(rules, board, (mover, from), (stranger, other));
    }
    true
}

/// One attempt at a seven; on failure the board is of no use.
fn try_seven(rules: &Rules, board: &mut Board, seat: Seat, rng: &mut impl Rng) -> bool {
    let partner = seat.partner(rules.seats);
    let spent = match rules.seven_partner {
        SevenPartner::Always => spend(rules, board, &[seat, partner], STEPS, rng),
        SevenPartner::WhenHome => {
            let mover = mover(rules, board, seat);
            match spend(rules, board, &[mover], STEPS, rng) {
                Some(left) if left > 0 && mover == seat && board.home(seat) => {
                    spend(rules, board, &[partner], left, rng)
                }
                left => left,
            }
        }
    };
    match spent {
        Some(0) => true,
        Some(left) => {
            let lapses = rules.seven_surplus == SevenSurplus::LapsesOnWin;
            lapses && left < STEPS && board.team_home(rules, seat)
        }
        None => false,
    }
}

/// Walks these seats' pieces, each once at most; returns the steps left.
fn spend(
    rules: &Rules,
    board: &mut Board,
    movers: &[Seat],
    mut left: u8,
    rng: &mut impl Rng,
) -> Option<u8> {
    let mut waiting = 0;
    for &seat in movers {
        waiting |= board.track(seat);
        for field in (0..PIECES - 1).rev() {
            if board.goal(seat) >> field & 1 != 0 {
                let free = ((board.goal(seat) | 1 << PIECES) >> (field + 1)).trailing_zeros();
                let steps = below(rng, free.min(left.into()) + 1) as u8;
                board.lift(rules, seat, Field::Goal(field));
                board.put(seat, Field::Goal(field + steps));
                left -= steps;
            }
        }
    }
    while left > 0 && waiting != 0 {
        let pieces = waiting.count_ones();
        let field = nth_field(waiting, below(rng, pieces));
        waiting &= !bit(field);
        let owner = *movers
            .iter()
            .find(|&&seat| board.track(seat) & bit(field) != 0)
            .expect("only pieces that still stand there are waiting");
        // The last one takes all steps, unless it is the fourth to come home.
        let fourth = board.goal(owner).count_ones() as u8 == PIECES - 1;
        let steps = if pieces == 1 && !fourth {
            left
        } else {
            below(rng, u32::from(left) + 1) as u8
        };
        if steps > 0 {
            let from = Field::Track(field);
            let blocks = board.blocks(rules);
            let mut walks = movement::forward(rules, board, blocks, owner, from, steps)
                .map(|walk| walk.filter(|walk| may_end(rules, board, walk.to)));
            if walks[1].is_some() && (walks[0].is_none() || rng.next_u32() & 1 != 0) {
                walks.swap(0, 1);
            }
            let walk = walks[0]?;
            waiting &= !walk.stepped;
            *board = carried_out(rules, board, owner, from, walk);
            left -= steps;
        }
    }
    Some(left)
}

/// The field in this place, counted from 0, of a set that has so many.
#[inline]
fn nth_field(mut fields: Fields, place: u32) -> u8 {
    for _ in 0..place {
        fields &= fields - 1;
    }
    fields.trailing_zeros() as u8
}
