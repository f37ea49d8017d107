//! One random seven: parts drawn so that their steps fit.

use std::ops::ControlFlow;

use rand::Rng;

use super::below;
use crate::{
    board::{Board, Field, PIECES},
    movement::{self, Walk},
    options::Rules,
    ring::bit,
    seat::Seat,
    seven::{STEPS, carried_out, may_end},
};

/// The pieces that a seven may walk, each with the most steps it may be able to take.
#[derive(Clone)]
pub(super) struct DrawnSeven {
    len: usize,
    pieces: [(Seat, Field, u8); 2 * PIECES as usize],
    /// How many of them, the first ones, stand in a goal.
    in_goal: usize,
    /// The most steps they may be able to take together.
    pub most: u8,
    /// Whether all four of a seat's may come home, so that not all steps need be theirs.
    pub may_come_home: bool,
}

impl DrawnSeven {
    pub fn of(rules: &Rules, board: &Board, movers: &[Seat]) -> DrawnSeven {
        let ring = rules.ring();
        let mut draw = DrawnSeven {
            len: 0,
            pieces: [(movers[0], Field::Goal(0), 0); 2 * PIECES as usize],
            in_goal: 0,
            most: 0,
            may_come_home: false,
        };
        // A block that one of these pieces makes may walk away.
        let mut blocks = board.blocks(rules);
        for &seat in movers {
            if board.pieces(seat).stand_on(ring.start(seat)) {
                blocks &= !bit(ring.start(seat));
            }
            // Deeper pieces first.
            for from in board.pieces(seat).places().rev() {
                if let Field::Goal(field) = from {
                    draw.push(seat, from, PIECES - 1 - field);
                }
            }
        }
        draw.in_goal = draw.len;
        for &seat in movers {
            let mut near = board.kennel(seat) == 0;
            for field in board.pieces(seat).track_fields() {
                let hit = ring.path(field, STEPS) & blocks;
                let along = match hit {
                    0 => STEPS,
                    hit => ring.distance(field, hit.trailing_zeros() as u8) - 1,
                };
                let to_door = ring.distance(field, ring.door(seat));
                near &= to_door < STEPS;
                let inside = if to_door < STEPS { to_door + PIECES } else { 0 };
                draw.push(seat, Field::Track(field), along.max(inside).min(STEPS));
            }
            draw.may_come_home |= near && board.pieces(seat).on_track() > 0;
        }
        draw
    }

    fn push(&mut self, seat: Seat, from: Field, most: u8) {
        self.pieces[self.len] = (seat, from, most);
        self.len += 1;
        self.most += most;
    }

    /// Walks piece after piece, those in the goal first, those on the ring in any order, each a
    /// random number of steps that leaves no more than the rest may be able to take.
    pub fn carry_out(mut self, rules: &Rules, board: &mut Board, rng: &mut impl Rng) -> bool {
        let mut left = STEPS;
        for place in 0..self.len {
            if place >= self.in_goal {
                let drawn = place + below(rng, self.len - place);
                self.pieces.swap(place, drawn);
            }
            let (owner, from, most) = self.pieces[place];
            self.most -= most;
            let (least, most) = (left.saturating_sub(self.most), most.min(left));
            if least > most {
                return false;
            }
            let steps = least + below(rng, usize::from(most - least) + 1) as u8;
            if steps > 0 {
                // It may have been captured.
                let there = match from {
                    Field::Track(field) => board.pieces(owner).stand_on(field),
                    Field::Goal(_) => true,
                };
                let Some(walk) = any_part(rules, board, owner, from, steps, rng).filter(|_| there)
                else {
                    return false;
                };
                *board = carried_out(rules, board, owner, from, walk);
                left -= steps;
            }
        }
        left == 0
    }
}

/// One of the ways, each with equal chances, for a part of a seven.
fn any_part(
    rules: &Rules,
    board: &Board,
    owner: Seat,
    from: Field,
    steps: u8,
    rng: &mut impl Rng,
) -> Option<Walk> {
    let mut ways = 0;
    let mut drawn = None;
    let _ = movement::forward(
        rules,
        board,
        board.blocks(rules),
        owner,
        from,
        steps,
        |walk| {
            if may_end(rules, board, walk.to) {
                ways += 1;
                if ways == 1 || below(rng, ways) == 0 {
                    drawn = Some(walk);
                }
            }
            ControlFlow::Continue(())
        },
    );
    drawn
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};

    use super::*;
    use crate::{
        board::Placement,
        card::Card,
        moves::Generator,
        options::{Options, Preset, SevenPartner},
    };

    /// What seat 0's sevens lead to: listed, drawn by steps alone, and whether all may come home.
    fn boards(
        preset: Preset,
        track: &[u8],
        goal: &[u8],
        fresh: bool,
    ) -> (HashSet<Board>, HashSet<Board>, bool) {
        let rules = preset.rules();
        let mut placements = vec![Placement::default(); 4];
        placements[0] = Placement {
            track: track.to_vec(),
            goal: goal.to_vec(),
            kennel: None,
            fresh,
        };
        placements[2].track = vec![40];
        let board = Board::place(&rules, &placements).expect("a possible board");
        let seat = Seat::default();
        let mut listed = Vec::new();
        Generator::new().boards_of_card(&rules, &board, seat, Card::Seven, &mut listed);
        let draw = DrawnSeven::of(&rules, &board, &[seat]);
        let drawn = drawn_by_steps(&rules, &board, &draw);
        (listed.into_iter().collect(), drawn, draw.may_come_home)
    }

    fn drawn_by_steps(rules: &Rules, board: &Board, draw: &DrawnSeven) -> HashSet<Board> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut drawn = HashSet::new();
        for _ in 0..20_000 {
            let mut after = *board;
            if draw.clone().carry_out(rules, &mut after, &mut rng) {
                drawn.insert(after);
            }
        }
        drawn
    }

    /// The partner's fresh piece must leave its start before an own one passes there.
    #[test]
    fn a_block_may_walk_away() {
        let rules = Rules::try_from(Options {
            seven_partner: SevenPartner::Always,
            ..Preset::DogspielIt.options()
        })
        .expect("a possible set of rules");
        let mut placements = vec![Placement::default(); 4];
        placements[0].track = vec![30];
        placements[2].track = vec![32];
        placements[2].fresh = true;
        let board = Board::place(&rules, &placements).expect("a possible board");
        let [own, partner] = [0, 2].map(|number| Seat::new(number, 4).expect("a seat"));
        let draw = DrawnSeven::of(&rules, &board, &[own, partner]);
        let mut listed = Vec::new();
        Generator::new().boards_of_card(&rules, &board, own, Card::Seven, &mut listed);
        let listed: HashSet<Board> = listed.into_iter().collect();
        assert!(drawn_by_steps(&rules, &board, &draw) == listed);
    }

    #[test]
    fn steps_alone_reach_every_board() {
        let it = Preset::DogspielIt;
        for (preset, track, goal, fresh) in [
            (it, &[20, 45][..], &[][..], false),
            // Deeper pieces of the goal go first, and then the one that enters.
            (it, &[20], &[0, 1], false),
            (it, &[61, 20], &[0, 2], false),
            // The fresh piece must leave before the other one passes.
            (it, &[0, 62], &[], true),
            (Preset::Familienlager, &[0, 62], &[], false),
            (Preset::Hausregeln, &[0, 57], &[], true),
            // Some capture each other.
            (it, &[20, 22, 25], &[], false),
            (Preset::Hausregeln, &[20, 22, 25], &[], false),
        ] {
            let (listed, drawn, may_come_home) = boards(preset, track, goal, fresh);
            assert!(!may_come_home);
            assert!(listed.len() > 1);
            assert!(listed == drawn, "{preset:?} {track:?} {goal:?}");
        }
    }

    #[test]
    fn who_may_come_home_is_known() {
        let it = Preset::DogspielIt;
        let (listed, drawn, may_come_home) = boards(it, &[62], &[1, 2, 3], false);
        assert!(may_come_home);
        // Three steps home and four with the partner's piece, which steps alone do not reach.
        assert!(listed.is_superset(&drawn) && listed.len() > drawn.len());
        assert!(!boards(it, &[50], &[1, 2, 3], false).2);
        assert!(!boards(it, &[62], &[1, 2], false).2);
    }
}
