//! Sevens by single naive steps (RULES §5): sets of fields, and none of the library's walking.

use std::collections::{BTreeSet, HashSet};

use dog_server::rules::{
    board::{Board, Field, Placement},
    options::{GoalEntry, Protection, Rules, SevenLanding, SevenPartner, SevenSurplus},
    seat::Seat,
};
use rand::{Rng, RngExt, seq::IndexedRandom};

/// Every board that a seven of the seat's can lead to.
pub fn seven_boards(rules: &Rules, board: &Board, seat: Seat) -> HashSet<Board> {
    let table = Table { rules, seat };
    let mut boards = HashSet::new();
    let mut states = HashSet::from([State::of(rules, board)]);
    for _ in 0..7 {
        let mut next = HashSet::new();
        for state in states {
            if table.lapses(&state) {
                boards.insert(state.board(rules));
            }
            next.extend(table.steps(&state).into_iter().map(|step| step.after));
        }
        states = next;
    }
    let complete = states.iter().filter(|state| state.passing.is_none());
    boards.extend(complete.map(|state| state.board(rules)));
    boards
}

/// A random seven as its id's parts, and the board it leads to; nothing if it ends nowhere.
pub fn random_seven(
    rng: &mut impl Rng,
    rules: &Rules,
    board: &Board,
    seat: Seat,
) -> Option<(String, Board)> {
    let table = Table { rules, seat };
    let mut state = State::of(rules, board);
    let mut parts: Vec<(Piece, Piece)> = Vec::new();
    for _ in 0..7 {
        if table.lapses(&state) {
            break;
        }
        let steps = table.steps(&state);
        let last = parts.last().map(|&(_, to)| to);
        let goes_on: Vec<&Step> = steps
            .iter()
            .filter(|step| Some(step.from) == last)
            .collect();
        let must_go_on = state.passing.is_some();
        if !goes_on.is_empty() && (must_go_on || rng.random_bool(0.6)) {
            let step = goes_on.choose(rng)?;
            parts.last_mut()?.1 = step.to;
            state = step.after.clone();
        } else {
            let step = steps.choose(rng)?;
            parts.push((step.from, step.to));
            state = step.after.clone();
        }
    }
    if state.passing.is_some() {
        return None;
    }
    let name = |(owner, field): Piece| match field {
        Field::Track(field) => field.to_string(),
        Field::Goal(field) if owner == seat => format!("g{field}"),
        Field::Goal(field) => format!("p{field}"),
    };
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(from, to)| format!("{}>{}", name(from), name(to)))
        .collect();
    Some((parts.join(","), state.board(rules)))
}

/// Whose piece, and where it stands.
type Piece = (Seat, Field);

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    pieces: BTreeSet<Piece>,
    fresh: BTreeSet<Seat>,
    /// The piece that has just passed another one and may not stop there.
    passing: Option<Piece>,
}

struct Step {
    from: Piece,
    to: Piece,
    after: State,
}

impl State {
    fn of(rules: &Rules, board: &Board) -> State {
        let mut pieces = BTreeSet::new();
        let mut fresh = BTreeSet::new();
        for (seat, placement) in Seat::all(rules.seats).zip(board.placements(rules)) {
            let track = placement.track.into_iter().map(Field::Track);
            let goal = placement.goal.into_iter().map(Field::Goal);
            pieces.extend(track.chain(goal).map(|field| (seat, field)));
            if placement.fresh {
                fresh.insert(seat);
            }
        }
        State {
            pieces,
            fresh,
            passing: None,
        }
    }

    fn board(&self, rules: &Rules) -> Board {
        let mut placements = vec![Placement::default(); usize::from(rules.seats)];
        for &(seat, field) in &self.pieces {
            let placement = &mut placements[usize::from(seat.number())];
            match field {
                Field::Track(field) => placement.track.push(field),
                Field::Goal(field) => placement.goal.push(field),
            }
            placement.fresh = self.fresh.contains(&seat);
        }
        Board::place(rules, &placements).expect("a possible board")
    }

    fn home(&self, seat: Seat) -> bool {
        (0..4).all(|field| self.pieces.contains(&(seat, Field::Goal(field))))
    }
}

struct Table<'a> {
    rules: &'a Rules,
    seat: Seat,
}

impl Table<'_> {
    fn partner(&self) -> Seat {
        self.seat.partner(self.rules.seats)
    }

    fn length(&self) -> u8 {
        self.rules.seats * self.rules.fields_per_seat
    }

    fn start(&self, seat: Seat) -> u8 {
        seat.number() * self.rules.fields_per_seat
    }

    fn lapses(&self, state: &State) -> bool {
        self.rules.seven_surplus == SevenSurplus::LapsesOnWin
            && state.home(self.seat)
            && state.home(self.partner())
    }

    /// Every single step from here.
    fn steps(&self, state: &State) -> Vec<Step> {
        let movers = match self.rules.seven_partner {
            SevenPartner::Always => vec![self.seat, self.partner()],
            SevenPartner::WhenHome if state.home(self.seat) => vec![self.partner()],
            SevenPartner::WhenHome => vec![self.seat],
        };
        let may_step = |piece: &&Piece| match state.passing {
            Some(passing) => **piece == passing,
            None => movers.contains(&piece.0),
        };
        let pieces = state.pieces.iter().filter(may_step);
        pieces
            .flat_map(|&piece| {
                let ends = self.ends(state, piece).into_iter().flatten();
                ends.map(move |to| self.step(state, piece, (piece.0, to)))
            })
            .collect()
    }

    /// Where one step can take a piece: along the ring, and into or in the goal.
    fn ends(&self, state: &State, (owner, from): Piece) -> [Option<Field>; 2] {
        let free = |field| !state.pieces.contains(&(owner, Field::Goal(field)));
        match from {
            Field::Track(from) => {
                let start = self.start(owner);
                let ahead = (from + 1) % self.length();
                let may_enter = match self.rules.goal_entry {
                    GoalEntry::OnStart => from == start && !state.fresh.contains(&owner),
                    GoalEntry::BeforeStart => ahead == start,
                };
                let along = (!self.blocked(state, ahead)).then_some(Field::Track(ahead));
                [along, (may_enter && free(0)).then_some(Field::Goal(0))]
            }
            Field::Goal(from) => {
                let deeper = (from < 3 && free(from + 1)).then_some(Field::Goal(from + 1));
                [None, deeper]
            }
        }
    }

    fn blocked(&self, state: &State, field: u8) -> bool {
        Seat::all(self.rules.seats).any(|seat| {
            self.start(seat) == field
                && state.pieces.contains(&(seat, Field::Track(field)))
                && (self.rules.start_block == Protection::Always || state.fresh.contains(&seat))
        })
    }

    fn step(&self, state: &State, from: Piece, to: Piece) -> Step {
        let mut after = state.clone();
        after.pieces.remove(&from);
        if from.1 == Field::Track(self.start(from.0)) {
            after.fresh.remove(&from.0);
        }
        after.passing = None;
        if let (_, Field::Track(_)) = to {
            let before = after.pieces.len();
            after.pieces.retain(|&(_, field)| field != to.1);
            let captured = after.pieces.len() < before;
            if captured && self.rules.seven_landing == SevenLanding::MustBeFree {
                after.passing = Some(to);
            }
        }
        after.pieces.insert(to);
        Step { from, to, after }
    }
}
