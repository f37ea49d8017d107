//! The budget of a search, and its clock.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use dog_rules::{Level, Seat, SeatView, SevenPartner};

/// The number of boards evaluated between two looks at the clock. A look costs as much as some
/// boards.
pub(crate) const CLOCK_EVERY: u32 = 128;

/// The longest time of a search with [`SearchLimit::Time`], however many samples are asked for.
/// Longer in tests, which may share the machine.
pub const MAX_SEARCH_TIME: Duration = Duration::from_secs(if cfg!(test) { 120 } else { 5 });

/// The time of a board in a playout, with its share of everything else.
const BOARD_SECONDS: f64 = 3e-6;

/// The boards that the cards of a hand lead to, without sevens.
const USUAL_BOARDS: f64 = 12.0;

/// How many sevens a hand has on average, jokers included.
const SEVENS: f64 = 0.3;

/// In how many ways a seven can be shared out among this many pieces.
const SEVEN_BOARDS: [u16; 9] = [0, 1, 8, 36, 120, 330, 792, 1_716, 3_432];

/// How long a search may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Until this much time has passed. The result depends on the machine and its load.
    Time(Duration),
    /// Until this many playouts are done, or the [limit](SearchLimit) is reached. The result is the
    /// same on every machine, unless the limit is a time and is reached.
    Samples(u32),
}

/// What ends a search that has not done all its playouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchLimit {
    /// [`MAX_SEARCH_TIME`]: somebody waits for the answer.
    Time,
    /// A number of evaluated boards: nobody waits, and the result is the same on every machine.
    Boards(u32),
}

/// What a search calls about every millisecond. It may take its time, while the clock of the budget
/// stands. It returns whether the search goes on; if not, it stays so.
pub type Checkpoint<'a> = &'a dyn Fn() -> bool;

impl Budget {
    /// The budget of a level by default; `None` for the levels that do not search.
    pub const fn for_level(level: Level) -> Option<Budget> {
        match level {
            Level::Random | Level::Greedy => None,
            // Less than the 5 ms that the level promises, so that the last playout still ends in
            // time.
            Level::Fast => Some(Budget::Time(Duration::from_millis(4))),
            Level::Strong => Some(Budget::Time(Duration::from_millis(200))),
        }
    }

    /// The least number of turns of a playout. With time for many playouts it is the whole round,
    /// after which the net is right more often. Otherwise it is eight, since longer playouts are
    /// noisier.
    pub fn plies(self) -> u32 {
        let many = match self {
            Budget::Time(time) => time >= Duration::from_millis(19),
            Budget::Samples(most) => most >= 128,
        };
        if many { u32::MAX } else { 8 }
    }

    /// The time that a search with this view is expected to take.
    pub fn expected_time(self, view: &SeatView) -> Duration {
        let samples = match self {
            Budget::Time(time) => return time,
            Budget::Samples(samples) => f64::from(samples),
        };
        let cards = Seat::all(view.rules.seats).map(|seat| u32::from(view.counts[seat]));
        let turns = f64::from(cards.sum::<u32>().min(self.plies()));
        let boards = Seat::all(view.rules.seats).map(|seat| {
            USUAL_BOARDS + SEVENS * f64::from(SEVEN_BOARDS[movable_by_seven(view, seat)])
        });
        let boards = boards.sum::<f64>() / f64::from(view.rules.seats);
        let seconds = BOARD_SECONDS * samples * turns * boards;
        Duration::from_secs_f64(seconds.min(MAX_SEARCH_TIME.as_secs_f64()))
    }
}

/// The pieces that a seven of this seat may move, one of those that have not begun among them.
fn movable_by_seven(view: &SeatView, seat: Seat) -> usize {
    let board = &view.board;
    let movable =
        |seat| usize::from((5 - board.kennel(seat) - board.pieces(seat).in_goal()).min(4));
    let partner = seat.partner(view.rules.seats);
    match view.rules.seven_partner {
        SevenPartner::WhenHome => movable(board.mover(view.rules, seat)),
        _ => movable(seat) + movable(partner),
    }
}

/// The clock of a budget.
pub struct BudgetClock<'a> {
    /// When it was started, and later by as long as it has stood.
    started: Cell<Instant>,
    budget: Budget,
    limit: SearchLimit,
    /// Boards evaluated so far.
    boards: Cell<u32>,
    checkpoint: Checkpoint<'a>,
    stopped: Cell<bool>,
}

impl<'a> BudgetClock<'a> {
    /// A clock that starts now.
    pub fn start(
        budget: Budget,
        limit: SearchLimit,
        checkpoint: Checkpoint<'a>,
    ) -> BudgetClock<'a> {
        BudgetClock {
            started: Cell::new(Instant::now()),
            budget,
            limit,
            boards: Cell::new(0),
            checkpoint,
            stopped: Cell::new(false),
        }
    }

    /// The least number of turns of a playout, by the budget.
    pub(crate) fn plies(&self) -> u32 {
        self.budget.plies()
    }

    /// The used share of the budget; 1 or more when it is used up.
    pub(crate) fn used(&self, samples: u32) -> f64 {
        if self.late() {
            return 1.0;
        }
        match self.budget {
            Budget::Time(time) => self.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9),
            Budget::Samples(most) => f64::from(samples) / f64::from(most.max(1)),
        }
    }

    /// Whether the time is up, the limit reached, or the search stopped.
    pub(crate) fn late(&self) -> bool {
        self.pass_checkpoint();
        self.stopped.get()
            || match (self.budget, self.limit) {
                (Budget::Time(time), _) => self.elapsed() >= time.min(MAX_SEARCH_TIME),
                (Budget::Samples(_), SearchLimit::Time) => self.elapsed() >= MAX_SEARCH_TIME,
                (Budget::Samples(_), SearchLimit::Boards(most)) => self.boards.get() >= most,
            }
    }

    fn elapsed(&self) -> Duration {
        self.started.get().elapsed()
    }

    fn pass_checkpoint(&self) {
        let before = Instant::now();
        if !(self.checkpoint)() {
            self.stopped.set(true);
        }
        self.started.set(self.started.get() + before.elapsed());
    }

    /// The same, after another board of a choice, of which this many have been `seen`. Looks only
    /// now and then.
    pub(crate) fn late_after(&self, seen: u32) -> bool {
        self.boards.set(self.boards.get().saturating_add(1));
        seen.is_multiple_of(CLOCK_EVERY) && self.late()
    }
}
