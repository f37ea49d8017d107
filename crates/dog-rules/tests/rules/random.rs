//! Random rules, positions and hands, with a preference for interesting ones.

use dog_rules::{
    Board, Card, Cards, DealSizes, Dealer, Exchange, GoalEntry, JackWithoutEffectWhen, Options,
    Placement, Preset, Protection, Reshuffle, Rules, Seat, SevenLanding, SevenPartner, SevenRest,
    SevenSurplus,
};
use rand::{
    Rng, RngExt,
    seq::{IndexedRandom, SliceRandom},
};

/// A preset, sometimes with changed options.
pub fn rules(rng: &mut impl Rng) -> Rules {
    loop {
        let preset = *Preset::ALL.choose(rng).expect("five presets");
        if let Ok(rules) = Rules::try_from(options(rng, preset)) {
            return rules;
        }
    }
}

fn options(rng: &mut impl Rng, preset: Preset) -> Options {
    let mut options = preset.options();
    if rng.random_bool(0.3) {
        options.seats = 6;
    }
    if rng.random_bool(0.4) {
        return options;
    }
    for option in 0..19 {
        if rng.random_bool(0.6) {
            continue;
        }
        let first = rng.random();
        let protection = either(first, Protection::Always, Protection::Fresh);
        match option {
            0 => options.fields_per_seat = either(first, 15, 16),
            1 => options.jokers = rng.random_range(0..=12),
            2 => {
                let mut sizes = |longest| -> Vec<u8> {
                    let length = rng.random_range(1..=longest);
                    (0..length).map(|_| rng.random_range(1..=8)).collect()
                };
                let (first, then) = (sizes(4), sizes(3));
                options.deal_sizes = DealSizes { first, then };
            }
            3 => options.dealer = either(first, Dealer::Rotates, Dealer::Fixed),
            4 => {
                let all = [Exchange::Mandatory, Exchange::Optional, Exchange::OnRequest];
                options.exchange = *all.choose(rng).expect("a value");
            }
            5 => options.start_block = protection,
            6 => options.start_swap_protection = protection,
            7 => options.goal_entry = either(first, GoalEntry::OnStart, GoalEntry::BeforeStart),
            8 => options.backward_into_goal = first,
            9 => {
                let (captures, free) = (SevenLanding::Captures, SevenLanding::MustBeFree);
                options.seven_landing = either(first, captures, free);
            }
            10 => {
                let (used, lapses) = (SevenSurplus::MustBeUsed, SevenSurplus::LapsesOnWin);
                options.seven_surplus = either(first, used, lapses);
            }
            11 => {
                let (home, always) = (SevenPartner::WhenHome, SevenPartner::Always);
                options.seven_partner = either(first, home, always);
            }
            12 => options.jack_own_pair = first,
            13 => options.jack_without_effect = first,
            14 => options.reshuffle = either(first, Reshuffle::WhenEmpty, Reshuffle::BeforeDeal),
            15 => options.capture_own = first,
            16 => options.fresh_into_goal = first,
            17 => options.seven_rest = either(first, SevenRest::AnyPieces, SevenRest::OnePiece),
            _ => {
                use JackWithoutEffectWhen::{NoOtherOnRing, NoSwapPossible};
                options.jack_without_effect_when = either(first, NoOtherOnRing, NoSwapPossible);
            }
        }
    }
    options
}

fn either<T>(first: bool, one: T, other: T) -> T {
    if first { one } else { other }
}

/// An undecided position, and a seat to move in it.
pub fn position(rng: &mut impl Rng) -> (Rules, Board, Seat) {
    let rules = rules(rng);
    let seats: Vec<Seat> = rules.ring().seats().collect();
    let seat = *seats.choose(rng).expect("a seat");
    loop {
        let mut builder = BoardBuilder::new(&rules);
        let crowd = builder.scene(rng, seat);
        let board = builder.board(rng, crowd);
        if board.winner(&rules).is_none() {
            return (rules, board, seat);
        }
    }
}

/// Up to six different cards. Sevens and jokers, which can do the most, are more frequent.
pub fn hand(rng: &mut impl Rng) -> Cards {
    let mut kinds: Vec<Card> = (0..rng.random_range(1..=6))
        .map(|_| *Card::RANKS.choose(rng).expect("a rank"))
        .collect();
    if rng.random_bool(0.3) {
        kinds.push(Card::Seven);
    }
    if rng.random_bool(0.1) {
        kinds.push(Card::Joker);
    }
    kinds.sort();
    kinds.dedup();
    kinds.into_iter().collect()
}

/// A board being set up: at most one piece on a field, four per seat.
struct BoardBuilder<'a> {
    rules: &'a Rules,
    placements: Vec<Placement>,
    /// Seats whose remaining pieces stay in the kennel.
    done: Vec<Seat>,
    /// The probability that a piece on its own start is fresh.
    fresh: f64,
}

impl<'a> BoardBuilder<'a> {
    fn new(rules: &'a Rules) -> BoardBuilder<'a> {
        BoardBuilder {
            rules,
            placements: vec![Placement::default(); usize::from(rules.seats)],
            done: Vec::new(),
            fresh: 0.5,
        }
    }

    /// Puts a piece of the seat on the track, if it has one left and the field is free.
    fn track(&mut self, seat: Seat, field: u8) {
        let taken = |placement: &Placement| placement.track.contains(&field);
        if self.left(seat) > 0 && !self.placements.iter().any(taken) {
            self.placement(seat).track.push(field);
        }
    }

    /// Puts a piece of the seat in its goal, if it has one left and the field is free.
    fn goal(&mut self, seat: Seat, field: u8) {
        if self.left(seat) > 0 && !self.placement(seat).goal.contains(&field) {
            self.placement(seat).goal.push(field);
        }
    }

    fn placement(&mut self, seat: Seat) -> &mut Placement {
        &mut self.placements[usize::from(seat.number())]
    }

    /// The number of the seat's pieces that are not yet on the board.
    fn left(&mut self, seat: Seat) -> usize {
        let placement = self.placement(seat);
        4 - placement.track.len() - placement.goal.len()
    }

    /// Begins with a scene that is rare on a uniformly random board. Returns the field around which
    /// the other pieces should crowd.
    fn scene(&mut self, rng: &mut impl Rng, seat: Seat) -> u8 {
        let ring = self.rules.ring().clone();
        let anywhere = rng.random_range(0..ring.length());
        match rng.random_range(0..12) {
            0 => (0..4).for_each(|field| self.goal(seat, field)),
            1 | 2 => self.nearly_won(rng, seat),
            3 | 4 => self.chain(rng, seat, anywhere),
            5 | 6 => {
                let before = ring.backward(ring.door(seat), 6);
                self.around_door(rng, seat, before);
                return before;
            }
            7 => self.fresh_pieces(rng, seat),
            8 => self.hardly_others(rng, seat),
            _ => {}
        }
        anywhere
    }

    /// All but one or two of the team's pieces are home, the rest near their doors.
    fn nearly_won(&mut self, rng: &mut impl Rng, seat: Seat) {
        let ring = self.rules.ring().clone();
        let partner = seat.partner(self.rules.seats);
        let first = rng.random_range(0..8);
        let second = if rng.random() {
            first
        } else {
            rng.random_range(0..8)
        };
        for piece in 0..8 {
            let owner = if piece < 4 { seat } else { partner };
            if [first, second].contains(&piece) {
                let near = ring.backward(ring.door(owner), rng.random_range(0..6));
                self.track(owner, near);
            } else {
                self.goal(owner, piece % 4);
            }
        }
    }

    /// The team's pieces follow each other closely.
    fn chain(&mut self, rng: &mut impl Rng, seat: Seat, mut field: u8) {
        let mut team = [[seat; 4], [seat.partner(self.rules.seats); 4]].concat();
        team.shuffle(rng);
        for &owner in &team[..rng.random_range(5..=8)] {
            self.track(owner, field);
            field = self.rules.ring().forward(field, rng.random_range(1..=4));
        }
    }

    /// Some of the seat's pieces are in the goal, the others around its door.
    fn around_door(&mut self, rng: &mut impl Rng, seat: Seat, before: u8) {
        for _ in 0..rng.random_range(1..=3) {
            self.goal(seat, rng.random_range(0..4));
        }
        for _ in 0..4 {
            let field = self.rules.ring().forward(before, rng.random_range(0..10));
            self.track(seat, field);
        }
    }

    /// Fresh pieces stand on many starts, and the seat's pieces before and behind them.
    fn fresh_pieces(&mut self, rng: &mut impl Rng, seat: Seat) {
        self.fresh = 0.8;
        let ring = self.rules.ring().clone();
        for other in ring.seats() {
            if rng.random_bool(0.6) {
                self.track(other, ring.start(other));
            }
            if rng.random_bool(0.5) {
                let before = ring.backward(ring.start(other), 11);
                self.track(seat, ring.forward(before, rng.random_range(0..16)));
            }
        }
    }

    /// Few pieces but the seat's own are out.
    fn hardly_others(&mut self, rng: &mut impl Rng, seat: Seat) {
        let ring = self.rules.ring().clone();
        for other in ring.seats().filter(|&other| other != seat) {
            self.done.push(other);
            if rng.random_bool(0.2) {
                self.track(other, ring.start(other));
            }
        }
    }

    /// Puts the remaining pieces at random places, many around one field, so that they meet.
    fn board(mut self, rng: &mut impl Rng, crowd: u8) -> Board {
        let ring = self.rules.ring().clone();
        let seats: Vec<Seat> = ring.seats().collect();
        for &seat in &seats {
            let left = if self.done.contains(&seat) {
                0
            } else {
                self.left(seat)
            };
            for _ in 0..left {
                match rng.random_range(0..10) {
                    0..2 => {}
                    2 => self.track(seat, ring.start(seat)),
                    3 => {
                        let other = *seats.choose(rng).expect("a seat");
                        self.track(seat, ring.start(other));
                    }
                    4 => {
                        let near = ring.backward(ring.door(seat), rng.random_range(0..7));
                        self.track(seat, near);
                    }
                    5 | 6 => self.track(seat, ring.forward(crowd, rng.random_range(0..9))),
                    7 | 8 => self.track(seat, rng.random_range(0..ring.length())),
                    _ => self.goal(seat, rng.random_range(0..4)),
                }
            }
            let fresh = rng.random_bool(self.fresh);
            let start = ring.start(seat);
            let placement = self.placement(seat);
            placement.fresh = fresh && placement.track.contains(&start);
        }
        Board::place(self.rules, &self.placements).expect("a possible board")
    }
}
