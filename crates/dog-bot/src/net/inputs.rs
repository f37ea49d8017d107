//! The inputs of the net: a seat's view, after its own choice, as a list of active inputs.
//!
//! Seats are counted from the seat itself and track fields from its start. Each quarter of the ring
//! is counted from its first field, so starts are at the same inputs whatever the length of the
//! ring. A view has two lists: the hands and piles ([`Inputs::cards`]), which are the same for
//! every board that a card leads to, and the board ([`Inputs::board`]).

use dog_rules::{
    Board, BySeat, Card, Cards, Exchange, GoalEntry, Protection, Rules, Seat, SeatView,
    SevenLanding, SevenPartner, SevenSurplus, board::PIECES, ring,
};

use super::card_effects;

/// An active input and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    pub index: u16,
    pub value: f32,
}

/// The largest number of track fields per seat (RULES §2).
const FIELDS_PER_SEAT: usize = 16;
/// The number of cards in a hand that have inputs. Further cards of larger hands are ignored.
const HAND: u8 = 6;
/// The number of equal cards in the seat's own hand that have inputs.
const MAX_COPIES: u8 = 3;
/// The ways to be captured: from 1 to 13 fields behind, by a backward four, and by a piece that
/// leaves its kennel.
const THREATS: usize = 15;
/// The farthest that a card moves a piece.
const REACH: u8 = 13;
/// What a card could do, as inputs: be played, move home, capture, be played without harm.
const USES: usize = 4;
/// The number of steps that make one unit of the inputs that count steps.
const STEPS_PER_UNIT: f32 = 64.0;
/// The number of inputs for the other options.
const OPTIONS: usize = 12;

/// Defines the layout by the kinds of inputs, in order, with the number of inputs of each.
macro_rules! layout {
    ($seats:ident, $cards:ident: $($kind:ident: $inputs:expr,)+) => {
        /// The index of the first input of each kind, for a number of seats. Any change in this file
        /// that gives an input another meaning needs a new [`VERSION`].
        #[derive(Clone, Debug)]
        pub struct InputLayout {
            seats: usize,
            $($kind: usize,)+
            len: usize,
        }

        impl InputLayout {
            /// The layout for 4 or 6 seats.
            pub fn new(seats: u8) -> InputLayout {
                let ($seats, $cards, mut len) = (usize::from(seats), Card::ALL.len(), 0);
                $(let $kind = len; len += $inputs;)+
                InputLayout { seats: $seats, $($kind,)+ len }
            }

            /// The number of inputs.
            pub fn inputs(&self) -> usize {
                self.len
            }
        }
    };
}

layout! { seats, cards:
    own_hand: cards * usize::from(MAX_COPIES),
    hidden_hand: 1,
    counts: seats * usize::from(HAND),
    known: cards,
    discards: cards,
    asked: seats,
    stage: 3,
    next: seats + 1,
    beginner: seats,
    deal: usize::from(HAND) + 1,
    options: OPTIONS,
    track: seats * seats * FIELDS_PER_SEAT,
    goal: seats * usize::from(PIECES),
    kennel: seats * usize::from(PIECES),
    fresh: seats,
    home: seats,
    to_go: seats,
    threats: seats * (seats - 2) * THREATS,
    uses: cards * USES,
    unplayable: usize::from(HAND),
    goals: seats << PIECES,
    stuck: seats,
    swap: seats,
    risk: seats * (seats - 2),
    gain: cards,
    best_gain: 2,
    partner_uses: cards * USES,
    partner_gain: cards,
}

/// The version of the meaning of the inputs.
pub const VERSION: u32 = 3;

/// The number of heads of a net: see [`AfterChoice::head`].
pub const HEADS: usize = 5;

/// What a seat has just done when its view is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterChoice {
    /// It has played, or folded.
    Played,
    /// It has offered this card.
    Offered(Card),
    /// It has declined the exchange.
    Declined,
    /// It has asked for help and must still answer.
    Asked,
    /// The round is over: nobody holds a card, and the next round is to be dealt.
    RoundOver,
}

impl AfterChoice {
    /// The head of the net that evaluates this, when the seat keeps this many cards. The first heads
    /// are for at most one card, two or three, and more; the others for the exchange and for the
    /// end of a round.
    pub fn head(self, kept: u8) -> usize {
        match self {
            AfterChoice::Played => usize::from(kept / 2).min(2),
            AfterChoice::Offered(_) | AfterChoice::Declined | AfterChoice::Asked => 3,
            AfterChoice::RoundOver => 4,
        }
    }
}

/// What the inputs show of the cards that a seat keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandInfo {
    /// The cards, as the seat itself sees them.
    Known(Cards),
    /// Only their number, as everybody sees it.
    Count(u8),
}

impl HandInfo {
    /// The number of cards.
    pub fn count(self) -> u8 {
        match self {
            HandInfo::Known(hand) => hand.len(),
            HandInfo::Count(cards) => cards,
        }
    }

    /// The cards, if they are shown.
    pub fn seen(self) -> Option<Cards> {
        match self {
            HandInfo::Known(hand) => Some(hand),
            HandInfo::Count(_) => None,
        }
    }
}

/// Lists the inputs of one seat's view after it did something.
pub struct Inputs<'a> {
    layout: &'a InputLayout,
    view: &'a SeatView<'a>,
    stage: AfterChoice,
    rules: &'a Rules,
    seat: Seat,
    /// The cards that the partner is known to hold.
    partners: Cards,
    /// The index of each track field among the inputs of a seat.
    places: [u16; 96],
    /// The number of each seat, counted from the seat of the view.
    relative: BySeat<u8>,
    /// Pairs of a seat and one that can capture its pieces, and the index of their first input.
    pairs: Vec<(Seat, Seat, usize)>,
}

impl<'a> Inputs<'a> {
    /// The inputs as the view's seat sees them after `stage`.
    pub fn new(layout: &'a InputLayout, view: &'a SeatView<'a>, stage: AfterChoice) -> Inputs<'a> {
        let (rules, seat): (&'a Rules, Seat) = (view.rules, view.seat);
        let seats = rules.seats;
        debug_assert_eq!(usize::from(seats), layout.seats);
        let mut relative = BySeat::default();
        for steps in 0..seats {
            relative[seat.plus(steps, seats)] = steps;
        }
        let mut pairs = Vec::with_capacity(layout.seats * (layout.seats - 2));
        for owner in (0..seats).map(|steps| seat.plus(steps, seats)) {
            for other in (0..seats).map(|steps| seat.plus(steps, seats)) {
                if owner.team(seats) != other.team(seats) {
                    pairs.push((owner, other, layout.threats + pairs.len() * THREATS));
                }
            }
        }
        let mut partners = view.known[seat.partner(seats)];
        if let AfterChoice::Offered(card) = stage {
            partners.add(card);
        }
        Inputs {
            layout,
            view,
            stage,
            rules,
            seat,
            partners,
            places: places(rules, seat),
            relative,
            pairs,
        }
    }

    /// The head of the net that evaluates the seat when it keeps these cards.
    pub fn head(&self, kept: HandInfo) -> usize {
        self.stage.head(kept.count())
    }

    /// The inputs of the cards and the round when the seat keeps these cards.
    pub fn cards(&self, kept: HandInfo, inputs: &mut Vec<Input>) {
        let InputLayout { seats, .. } = *self.layout;
        let (view, stage) = (self.view, self.stage);
        let mut add = |index: usize, value: f32| {
            let index = index as u16;
            inputs.push(Input { index, value });
        };
        let over = stage == AfterChoice::RoundOver;
        let played = over || stage == AfterChoice::Played;
        let own_count = match stage {
            AfterChoice::Played | AfterChoice::RoundOver => kept.count(),
            _ => view.counts[self.seat],
        };
        if let Some(hand) = kept.seen() {
            for card in hand.ranks() {
                let first = self.layout.own_hand + card as usize * usize::from(MAX_COPIES);
                for copy in 0..hand.count(card).min(MAX_COPIES) {
                    add(first + usize::from(copy), 1.0);
                }
            }
        } else {
            add(self.layout.hidden_hand, 1.0);
        }
        let mut next = None;
        for steps in 1..=seats {
            let seat = self.seat.plus((steps % seats) as u8, self.rules.seats);
            let cards = if seat == self.seat {
                own_count
            } else {
                view.counts[seat]
            };
            let place = usize::from(self.relative[seat]);
            let first = self.layout.counts + place * usize::from(HAND);
            for card in 0..cards.min(HAND) {
                add(first + usize::from(card), 1.0);
            }
            if next.is_none() && cards > 0 {
                next = Some(place);
            }
            if view.asked[seat] || seat == self.seat && stage == AfterChoice::Asked {
                add(self.layout.asked + place, 1.0);
            }
        }
        for card in self.partners.ranks() {
            add(self.layout.known + card as usize, 1.0);
        }
        let deck = self.rules.deck();
        for card in view.discards.ranks() {
            let share = f32::from(view.discards.count(card)) / f32::from(deck.count(card).max(1));
            add(self.layout.discards + card as usize, share);
        }
        match stage {
            AfterChoice::Played | AfterChoice::RoundOver => {}
            AfterChoice::Offered(_) => add(self.layout.stage, 1.0),
            AfterChoice::Declined => add(self.layout.stage + 1, 1.0),
            AfterChoice::Asked => add(self.layout.stage + 2, 1.0),
        }
        // In the exchange the beginner plays next. With all hands empty nobody does.
        let next = if played {
            next.unwrap_or(seats)
        } else {
            usize::from(self.relative[view.beginner])
        };
        add(self.layout.next + next, 1.0);
        // Who begins the round after this one, and its number of cards.
        let (beginner, round) = match over {
            true => (view.beginner, view.round),
            false => (view.beginner.next(self.rules.seats), view.round + 1),
        };
        add(
            self.layout.beginner + usize::from(self.relative[beginner]),
            1.0,
        );
        let deal = self.rules.deal_sizes.in_round(round);
        add(self.layout.deal + usize::from(deal.min(HAND)), 1.0);
        for (option, value) in options(self.rules).into_iter().enumerate() {
            if value != 0.0 {
                add(self.layout.options + option, value);
            }
        }
    }

    /// The inputs of this board, and of what the kept cards could do on it.
    pub fn board(&self, board: &Board, kept: HandInfo, inputs: &mut Vec<Input>) {
        let InputLayout { seats, .. } = *self.layout;
        let mut add = |index: usize, value: f32| {
            let index = index as u16;
            inputs.push(Input { index, value });
        };
        let ring = self.rules.ring();
        let pieces = usize::from(PIECES);
        let on_start = self.rules.goal_entry == GoalEntry::OnStart;
        let fresh_enters = on_start && self.rules.fresh_into_goal;
        for seat in ring.seats() {
            let place = usize::from(self.relative[seat]);
            let seat_pieces = board.pieces(seat);
            let first = self.layout.track + place * seats * FIELDS_PER_SEAT;
            let mut to_go = u32::from(seat_pieces.in_kennel()) * (u32::from(ring.length()) + 5);
            for field in seat_pieces.track_fields() {
                add(first + usize::from(self.places[usize::from(field)]), 1.0);
                to_go += u32::from(ring.length() - board.walked(self.rules, seat, field)) + 2;
            }
            let goal = seat_pieces.goal();
            for field in 0..pieces {
                if goal & (1 << field) != 0 {
                    add(self.layout.goal + place * pieces + field, 1.0);
                }
            }
            for waiting in 0..usize::from(seat_pieces.in_kennel()) {
                add(self.layout.kennel + place * pieces + waiting, 1.0);
            }
            // A fresh piece that may enter its goal is to the nets a piece that came round.
            if board.fresh(seat) && !fresh_enters {
                add(self.layout.fresh + place, 1.0);
            }
            if seat_pieces.home() {
                add(self.layout.home + place, 1.0);
            }
            add(self.layout.to_go + place, to_go as f32 / STEPS_PER_UNIT);
            add(
                self.layout.goals + (place << PIECES) + usize::from(goal),
                1.0,
            );
            if seat_pieces.on_track() == 0 {
                add(self.layout.stuck + place, 1.0);
            }
            let swap = card_effects::best_swap(self.rules, board, seat);
            if swap > 0 {
                add(self.layout.swap + place, f32::from(swap) / STEPS_PER_UNIT);
            }
        }
        self.threats(board, &mut add);
        self.partners_uses(board, &mut add);
        if let Some(hand) = kept.seen() {
            self.uses(board, hand, add);
        }
    }

    /// What the cards that the partner is known to hold could do on this board.
    fn partners_uses(&self, board: &Board, mut add: impl FnMut(usize, f32)) {
        if self.partners.is_empty() {
            return;
        }
        let partner = self.seat.partner(self.rules.seats);
        let effects = card_effects::CardEffects::new(self.rules, board, partner);
        for card in self.partners.ranks() {
            let found = effects.effect(card);
            let first = self.layout.partner_uses + card as usize * USES;
            flags(found, first, &mut add);
            if found.playable {
                let gain = f32::from(found.gain) / STEPS_PER_UNIT;
                add(self.layout.partner_gain + card as usize, gain);
            }
        }
    }

    /// What the kept cards could do.
    fn uses(&self, board: &Board, kept: Cards, mut add: impl FnMut(usize, f32)) {
        let effects = card_effects::CardEffects::new(self.rules, board, self.seat);
        let mut unplayable = 0;
        // The gains of the two best cards.
        let mut best = [0.0; 2];
        for card in kept.ranks() {
            let found = effects.effect(card);
            if !found.playable {
                unplayable += kept.count(card);
                continue;
            }
            flags(found, self.layout.uses + card as usize * USES, &mut add);
            let gain = f32::from(found.gain) / STEPS_PER_UNIT;
            add(self.layout.gain + card as usize, gain);
            for _ in 0..kept.count(card) {
                if gain > best[0] {
                    best = [gain, best[0]];
                } else if gain > best[1] {
                    best[1] = gain;
                }
            }
        }
        for (place, gain) in best.into_iter().enumerate() {
            if gain > 0.0 {
                add(self.layout.best_gain + place, gain);
            }
        }
        for card in 0..unplayable.min(HAND) {
            add(self.layout.unplayable + usize::from(card), 1.0);
        }
    }

    /// Who can capture whom, ignoring blocks on the way.
    fn threats(&self, board: &Board, mut add: impl FnMut(usize, f32)) {
        let ring = self.rules.ring();
        let blocks = board.blocks(self.rules);
        for (pair, &(owner, other, first)) in self.pairs.iter().enumerate() {
            let mut risk = 0;
            let door = ring.door(owner);
            let exposed = board.pieces(owner);
            let start = ring.start(other);
            for field in exposed.track_fields() {
                if blocks & ring::bit(field) != 0 {
                    continue;
                }
                let mut ranks = 0;
                for from in board.pieces(other).track_fields() {
                    let steps = ring.distance(from, field);
                    if steps <= REACH {
                        add(first + usize::from(steps) - 1, 1.0);
                        // A seven captures whatever it passes.
                        ranks += 2 + u32::from(steps < 7);
                    } else if steps == ring.length() - 4 {
                        add(first + THREATS - 2, 1.0);
                        ranks += 2;
                    }
                }
                if field == start && board.kennel(other) > 0 {
                    add(first + THREATS - 1, 1.0);
                    ranks += 3;
                }
                let walked = ring.length() - ring.distance(field, door);
                risk += ranks * (u32::from(walked) + 40);
            }
            if risk > 0 {
                add(self.layout.risk + pair, risk as f32 / 256.0);
            }
        }
    }
}

/// What a card could do, as inputs from `first` on. No input is active for a card that cannot be
/// played.
fn flags(found: card_effects::CardEffect, first: usize, mut add: impl FnMut(usize, f32)) {
    if !found.playable {
        return;
    }
    let flags = [true, found.home, found.hit, !found.harmless];
    for (place, is) in flags.into_iter().enumerate() {
        if is {
            add(first + place, 1.0);
        }
    }
}

/// The index of each track field, counted from the seat's start.
fn places(rules: &Rules, seat: Seat) -> [u16; 96] {
    let ring = rules.ring();
    let mut places = [0; 96];
    for field in 0..ring.length() {
        let steps = ring.distance(ring.start(seat), field);
        let (quarter, offset) = (steps / rules.fields_per_seat, steps % rules.fields_per_seat);
        places[usize::from(field)] =
            u16::from(quarter) * FIELDS_PER_SEAT as u16 + u16::from(offset);
    }
    places
}

/// The options that change the value of a position (RULES §2), as far as the nets were trained
/// with them: an exchange on request counts as optional, and no piece goes backward into a goal
/// whose door is the start. The other options of RULES §11 have no inputs.
fn options(rules: &Rules) -> [f32; OPTIONS] {
    let before_start = rules.goal_entry == GoalEntry::BeforeStart;
    [
        (rules.fields_per_seat == 15).into(),
        f32::from(rules.jokers) / 8.0,
        (rules.exchange != Exchange::Mandatory).into(),
        (rules.start_block == Protection::Always).into(),
        (rules.start_swap_protection == Protection::Always).into(),
        before_start.into(),
        (rules.backward_into_goal && before_start).into(),
        (rules.seven_landing == SevenLanding::MustBeFree).into(),
        (rules.seven_surplus == SevenSurplus::LapsesOnWin).into(),
        (rules.seven_partner == SevenPartner::Always).into(),
        rules.jack_own_pair.into(),
        rules.jack_without_effect.into(),
    ]
}
