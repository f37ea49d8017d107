//! Every board a seven can lead to (RULES §5), each found once.
//!
//! The search takes single steps, level by level, and visits no board twice on a level. Steps
//! are not parts: with `must_be_free` a part may pass an occupied field but not end there, so a
//! piece that stepped onto one must be the next to step.

use super::{
    board::{Board, Field},
    judge::{seven_movers, seven_part},
    movement,
    notation::{Part, Parts, Place},
    options::{Rules, SevenLanding, SevenSurplus},
    ring::{self, Fields, bit},
    seat::Seat,
};

/// One board on the way, and the step that led there.
#[derive(Clone, Copy)]
struct Node {
    board: Board,
    hash: u32,
    parent: u32,
    step: Step,
    /// The field of the piece that is passing another and cannot stop there.
    passing: Option<u8>,
}

#[derive(Clone, Copy)]
struct Step {
    owner: Seat,
    from: Field,
    to: Field,
}

/// The search's memory, kept between searches to spare allocations.
#[derive(Default)]
pub(super) struct SevenSearch {
    nodes: Vec<Node>,
    /// Open addressing: index + 1 of a node, 0 for an empty slot. A power of two long.
    slots: Vec<u32>,
    /// The last level's nodes and the lapsed ones.
    found: Vec<u32>,
}

impl SevenSearch {
    /// Searches all boards; afterwards [`SevenSearch::boards`] holds them.
    pub fn run(&mut self, rules: &Rules, board: &Board, seat: Seat) {
        self.nodes.clear();
        self.found.clear();
        self.slots.clear();
        self.slots.resize(256, 0);
        let step = Step {
            owner: seat,
            from: Field::Track(0),
            to: Field::Track(0),
        };
        self.nodes.push(Node {
            board: *board,
            hash: 0,
            parent: 0,
            step,
            passing: None,
        });
        let mut level = 0..1;
        for _ in 0..7 {
            let next = level.end;
            for index in level {
                let node = self.nodes[index];
                self.expand(rules, seat, index as u32, &node, next);
            }
            level = next..self.nodes.len();
        }
        let complete = level.filter(|&index| self.nodes[index].passing.is_none());
        self.found.extend(complete.map(|index| index as u32));
    }

    /// How many boards were found.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// The boards found, in the order of the search.
    pub fn boards(&self) -> impl Iterator<Item = &Board> {
        self.found
            .iter()
            .map(|&index| &self.nodes[index as usize].board)
    }

    fn expand(&mut self, rules: &Rules, seat: Seat, index: u32, node: &Node, level: usize) {
        let board = &node.board;
        // On the board it begins with (index 0) nothing can lapse: a seven takes a step at least.
        let steps_taken = index > 0;
        if steps_taken
            && rules.seven_surplus == SevenSurplus::LapsesOnWin
            && board.team_home(rules, seat)
        {
            self.found.push(index);
            return;
        }
        let blocks = board.blocks(rules);
        let occupied = board.occupied();
        let (mover, also) = seven_movers(rules, board, seat);
        for owner in [Some(mover), also].into_iter().flatten() {
            let mut pieces = board.track(owner);
            if let Some(passing) = node.passing {
                pieces &= bit(passing);
            }
            for from in ring::fields(pieces) {
                let go = |to| Step {
                    owner,
                    from: Field::Track(from),
                    to,
                };
                if let Ok(walk) = movement::along_ring(rules, board, blocks, from, 1) {
                    let meets = walk.stepped & occupied != 0;
                    let must_go_on = meets && rules.seven_landing == SevenLanding::MustBeFree;
                    let passing = must_go_on.then(|| rules.ring().forward(from, 1));
                    self.visit(
                        rules,
                        index,
                        node,
                        go(walk.to),
                        walk.stepped,
                        passing,
                        level,
                    );
                }
                if let Ok(walk) = movement::into_goal(rules, board, blocks, owner, from, 1) {
                    self.visit(rules, index, node, go(walk.to), 0, None, level);
                }
            }
            if node.passing.is_none() {
                for from in ring::fields(board.goal(owner).into()) {
                    if let Ok(walk) = movement::inside_goal(board, owner, from, 1) {
                        let step = Step {
                            owner,
                            from: Field::Goal(from),
                            to: walk.to,
                        };
                        self.visit(rules, index, node, step, 0, None, level);
                    }
                }
            }
        }
    }

    /// Takes one step and keeps the board it leads to, if this level does not have it yet.
    #[allow(clippy::too_many_arguments)]
    fn visit(
        &mut self,
        rules: &Rules,
        parent: u32,
        node: &Node,
        step: Step,
        captured: Fields,
        passing: Option<u8>,
        level: usize,
    ) {
        let mut board = node.board;
        board.lift(rules, step.owner, step.from);
        board.capture(captured);
        board.put(step.owner, step.to);
        let hash = board.hash32() ^ passing.map_or(0, |field| 0x9e37 * (u32::from(field) + 1));
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                0 => break,
                other => {
                    let index = other as usize - 1;
                    let other = &self.nodes[index];
                    if other.hash == hash
                        && index >= level
                        && other.passing == passing
                        && other.board == board
                    {
                        return;
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
        self.nodes.push(Node {
            board,
            hash,
            parent,
            step,
            passing,
        });
        self.slots[slot] = self.nodes.len() as u32;
        if self.nodes.len() * 2 > self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 4;
        self.slots.clear();
        self.slots.resize(len, 0);
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            let mut slot = node.hash as usize & (len - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }

    /// The parts that lead to one of the boards found, each piece named once.
    ///
    /// The search interleaves the pieces' steps. Moving each piece in one go usually leads to the
    /// same board; where pieces meet, it does in another order of the pieces (RULES §5).
    pub fn parts(&self, rules: &Rules, board: &Board, seat: Seat, found: usize) -> Parts {
        let goal = self.found[found];
        let path = self.path(goal);
        let mut pieces = pieces_of(&path);
        let target = &self.nodes[goal as usize].board;
        if !leads_to(rules, board, seat, &pieces, target) {
            let mut orders = Orders::of(pieces.len());
            let ordered = std::iter::from_fn(|| orders.next()).find_map(|order| {
                let ordered: Vec<Walked> = order.iter().map(|&index| pieces[index]).collect();
                leads_to(rules, board, seat, &ordered, target).then_some(ordered)
            });
            pieces = ordered.unwrap_or_else(|| runs_of(&path));
        }
        let mut parts = pieces.iter().map(|piece| piece.part(seat));
        let first = parts.next().expect("a seven takes at least one step");
        let mut all = Parts::one(first);
        for part in parts {
            all.push(part);
        }
        all
    }

    /// The single steps from the first board to this node.
    fn path(&self, mut index: u32) -> Vec<Step> {
        let mut path = Vec::with_capacity(7);
        while index != 0 {
            let node = &self.nodes[index as usize];
            path.push(node.step);
            index = node.parent;
        }
        path.reverse();
        path
    }
}

/// How far one piece walked in all.
#[derive(Clone, Copy)]
struct Walked {
    owner: Seat,
    from: Field,
    to: Field,
    steps: u8,
}

impl Walked {
    fn begin(step: &Step) -> Walked {
        Walked {
            owner: step.owner,
            from: step.from,
            to: step.to,
            steps: 1,
        }
    }

    fn part(&self, seat: Seat) -> Part {
        let place = |field| match field {
            Field::Track(field) => Place::Track(field),
            Field::Goal(field) if self.owner == seat => Place::OwnGoal(field),
            Field::Goal(field) => Place::PartnerGoal(field),
        };
        Part {
            from: place(self.from),
            to: place(self.to),
        }
    }
}

/// Each piece's steps put together, in the order in which the pieces moved first.
fn pieces_of(path: &[Step]) -> Vec<Walked> {
    let mut pieces: Vec<(Walked, bool)> = Vec::with_capacity(path.len());
    for step in path {
        let mut known = false;
        for (piece, captured) in pieces.iter_mut().filter(|(_, captured)| !captured) {
            if piece.owner == step.owner && piece.to == step.from {
                piece.to = step.to;
                piece.steps += 1;
                known = true;
            } else if matches!(step.to, Field::Track(_)) && piece.to == step.to {
                *captured = true;
            }
        }
        if !known {
            pieces.push((Walked::begin(step), false));
        }
    }
    pieces.into_iter().map(|(piece, _)| piece).collect()
}

/// Only steps that follow each other put together: the path itself, as parts.
fn runs_of(path: &[Step]) -> Vec<Walked> {
    let mut runs: Vec<Walked> = Vec::with_capacity(path.len());
    for step in path {
        match runs.last_mut() {
            Some(run) if run.owner == step.owner && run.to == step.from => {
                run.to = step.to;
                run.steps += 1;
            }
            _ => runs.push(Walked::begin(step)),
        }
    }
    runs
}

/// Whether these parts in this order are legal, name each piece once, and lead to this board.
fn leads_to(rules: &Rules, board: &Board, seat: Seat, pieces: &[Walked], target: &Board) -> bool {
    let mut board = *board;
    for (index, piece) in pieces.iter().enumerate() {
        // Where an earlier part has ended stands a piece that has been named already.
        let ends_here = |part: &Walked| part.owner == piece.owner && part.to == piece.from;
        if pieces[..index].iter().any(ends_here) {
            return false;
        }
        let there = match piece.from {
            Field::Track(field) => board.track(piece.owner) & bit(field) != 0,
            Field::Goal(field) => board.goal(piece.owner) >> field & 1 != 0,
        };
        let (mover, also) = seven_movers(rules, &board, seat);
        if !there || (piece.owner != mover && Some(piece.owner) != also) {
            return false;
        }
        let Walked {
            owner,
            from,
            to,
            steps,
        } = *piece;
        let Ok(stepped) = seven_part(rules, &board, owner, from, to, steps) else {
            return false;
        };
        board.lift(rules, owner, from);
        board.capture(stepped);
        board.put(owner, to);
    }
    board == *target
}

/// All orders of up to seven things (Heap's algorithm).
struct Orders {
    order: Vec<usize>,
    counters: Vec<usize>,
    depth: usize,
    started: bool,
}

impl Orders {
    fn of(count: usize) -> Orders {
        Orders {
            order: (0..count).collect(),
            counters: vec![0; count],
            depth: 0,
            started: false,
        }
    }

    fn next(&mut self) -> Option<Vec<usize>> {
        if !self.started {
            self.started = true;
            return Some(self.order.clone());
        }
        while self.depth < self.order.len() {
            let depth = self.depth;
            if self.counters[depth] < depth {
                let other = if depth.is_multiple_of(2) {
                    0
                } else {
                    self.counters[depth]
                };
                self.order.swap(other, depth);
                self.counters[depth] += 1;
                self.depth = 0;
                return Some(self.order.clone());
            }
            self.counters[depth] = 0;
            self.depth += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_all_orders() {
        let mut orders = Orders::of(4);
        let mut all: Vec<_> = std::iter::from_fn(|| orders.next()).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 24);
    }
}
