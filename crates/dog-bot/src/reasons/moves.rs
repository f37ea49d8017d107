//! The reasons of a move that follow from the boards before and after it.

use dog_rules::{
    Board, BySeat, Card, Field, Generator, Move, Outcome, Seat, SeatView,
    judge::{Capture, MoveKind, PlayedPart},
    ring::{self, bit},
};

use super::{
    AdviceReason,
    AdviceReasonCode::*,
    reach::{REACH, SEVEN, attacker, can_win, is_near_goal, opponents, steps_to_goal, walks_home},
};

/// Finds the reasons of the moves in one position.
pub(super) struct MoveReasons<'a> {
    view: &'a SeatView<'a>,
    partner: Seat,
    /// The team's pieces on the track that one card could capture, and who could play it.
    threatened: Vec<(Seat, u8, Seat)>,
    /// The opponents' pieces on the track that a single walk would bring home, and whether one card
    /// would end the game with the piece.
    near_home: Vec<(Seat, u8, bool)>,
    generator: Generator,
    steps_to_goal: BySeat<u32>,
}

/// Whether a piece enters its goal.
pub(super) fn brings_home(part: &PlayedPart) -> bool {
    matches!(part.to, Field::Goal(_)) && !matches!(part.from, Some(Field::Goal(_)))
}

/// Whether a piece goes deeper into its goal.
fn clears_goal(part: &PlayedPart) -> bool {
    matches!((part.from, part.to), (Some(Field::Goal(from)), Field::Goal(to)) if to > from)
}

impl<'a> MoveReasons<'a> {
    pub(super) fn new(view: &'a SeatView<'a>) -> MoveReasons<'a> {
        let (rules, board) = (view.rules, &view.board);
        let partner = view.seat.partner(rules.seats);
        let mut threatened = Vec::new();
        for owner in [view.seat, partner] {
            for field in ring::fields(board.track(owner)) {
                let attacker = attacker(rules, board, owner, field);
                threatened.extend(attacker.map(|attacker| (owner, field, attacker)));
            }
        }
        let mut generator = Generator::new();
        let mut near_home = Vec::new();
        for owner in opponents(rules, view.seat) {
            let near = |&field: &u8| is_near_goal(rules, board, owner, field);
            for field in ring::fields(board.track(owner)).filter(near) {
                near_home.push((owner, field, can_win(&mut generator, rules, board, owner)));
            }
        }
        MoveReasons {
            view,
            partner,
            threatened,
            near_home,
            generator,
            steps_to_goal: BySeat::of_seats(rules.seats, |seat| steps_to_goal(rules, board, seat)),
        }
    }

    /// Adds what is true of a move with this outcome.
    pub(super) fn add(&mut self, mv: &Move, outcome: &Outcome, reasons: &mut Vec<AdviceReason>) {
        // A swap of two pieces of one seat changes nothing, and neither does a fold.
        if outcome.board == self.view.board {
            return;
        }
        if outcome.board.team_home(self.view.rules, self.view.seat) {
            reasons.push(AdviceReason::new(Wins));
        }
        reasons.extend(self.stops(outcome));
        reasons.extend(mv.card().and_then(|card| self.then_home(card, outcome)));
        let first = |code, is_it: fn(&PlayedPart) -> bool| {
            let part = outcome.parts.iter().find(|part| is_it(part));
            part.map(|part| AdviceReason::new(code).at(part.seat, part.to))
        };
        reasons.extend(first(BringsHome, brings_home));
        reasons.extend(first(ClearsGoal, clears_goal));
        reasons.extend(first(LeavesKennel, |part| part.from.is_none()));
        self.add_captures(outcome, reasons);
        reasons.extend(self.escapes(outcome));
        let near_goal = self.near_goal(outcome);
        let shortcut = shortcut(outcome, near_goal.is_some());
        reasons.extend(near_goal);
        reasons.extend(shortcut);
        self.add_blocks(&outcome.board, reasons);
        self.add_steps(&outcome.board, reasons);
    }

    /// The first captured piece of the opponents, of the partner and of the seat.
    fn add_captures(&self, outcome: &Outcome, reasons: &mut Vec<AdviceReason>) {
        let code = |capture: &Capture| {
            if capture.seat == self.view.seat {
                CapturesOwn
            } else if capture.seat == self.partner {
                CapturesPartner
            } else {
                Captures
            }
        };
        for capture in outcome.captures.iter() {
            let code = code(capture);
            if reasons.iter().all(|reason| reason.code != code) {
                let place = Field::Track(capture.from);
                reasons.push(AdviceReason::new(code).at(capture.seat, place));
            }
        }
    }

    /// How many steps nearer to their goals the team's pieces are after a move.
    pub(super) fn advance(&self, outcome: &Outcome) -> i64 {
        let gains = [self.view.seat, self.partner].map(|seat| {
            let after = steps_to_goal(self.view.rules, &outcome.board, seat);
            i64::from(self.steps_to_goal[seat]) - i64::from(after)
        });
        gains.iter().sum()
    }

    /// The first piece of the partner that is captured.
    pub(super) fn partner_captured(&self, outcome: &Outcome) -> Option<AdviceReason> {
        let mut captures = outcome.captures.iter();
        let captured = captures.find(|capture| capture.seat == self.partner)?;
        let place = Field::Track(captured.from);
        Some(AdviceReason::new(CapturesPartner).at(self.partner, place))
    }

    /// The first opponent's piece that could have won the game or come home, and now cannot.
    fn stops(&mut self, outcome: &Outcome) -> Option<AdviceReason> {
        let (rules, after) = (self.view.rules, &outcome.board);
        let generator = &mut self.generator;
        let mut pieces = self.near_home.iter();
        let won = pieces
            .find(|&&(owner, _, could_win)| could_win && !can_win(generator, rules, after, owner));
        if let Some(&(owner, field, _)) = won {
            return Some(AdviceReason::new(StopsWin).at(owner, Field::Track(field)));
        }
        let mut pieces = self.near_home.iter();
        let &(owner, field, _) = pieces.find(|&&(owner, field, _)| {
            let mut captures = outcome.captures.iter();
            let is_captured =
                captures.any(|capture| (capture.seat, capture.from) == (owner, field));
            let now = match place_after(outcome, owner, Field::Track(field)) {
                Field::Track(now) => Some(now),
                Field::Goal(_) => None,
            };
            is_captured || now.is_some_and(|now| !is_near_goal(rules, after, owner, now))
        })?;
        Some(AdviceReason::new(StopsHome).at(owner, Field::Track(field)))
    }

    /// The first card that stays in the hand and brings in a piece that it could not bring in
    /// before.
    fn then_home(&self, played: Card, outcome: &Outcome) -> Option<AdviceReason> {
        let SeatView {
            rules,
            board,
            seat,
            hand,
            ..
        } = *self.view;
        let after = &outcome.board;
        let team = [seat, self.partner].into_iter();
        let pieces = team
            .flat_map(|owner| ring::fields(after.track(owner)).map(move |field| (owner, field)));
        let pieces: Vec<(Seat, u8)> = pieces.collect();
        hand.minus(played).ranks().find_map(|card| {
            let &(owner, field) = pieces.iter().find(|&&(owner, field)| {
                let could_before = match place_before(outcome, owner, Field::Track(field)) {
                    Some(Field::Track(from)) => {
                        walks_home(rules, &board, seat, (owner, from), card, 1..=SEVEN)
                    }
                    _ => false,
                };
                let piece = (owner, field);
                !could_before && walks_home(rules, after, seat, piece, card, SEVEN..=SEVEN)
            })?;
            let reason = AdviceReason::new(ThenHome).at(owner, Field::Track(field));
            Some(reason.with_card(card))
        })
    }

    /// The team's pieces that the move has moved, without those that it captures in the end.
    fn moved<'o>(&self, outcome: &'o Outcome) -> impl Iterator<Item = &'o PlayedPart> {
        let team = [self.view.seat, self.partner];
        outcome.parts.iter().filter(move |part| {
            let captured = |capture: &Capture| {
                capture.seat == part.seat && Field::Track(capture.from) == part.to
            };
            team.contains(&part.seat) && !outcome.captures.iter().any(captured)
        })
    }

    fn escapes(&self, outcome: &Outcome) -> Option<AdviceReason> {
        self.moved(outcome).find_map(|part| {
            let from = part.from?;
            let &(owner, _, attacker_before) = self
                .threatened
                .iter()
                .find(|&&(owner, field, _)| owner == part.seat && Field::Track(field) == from)?;
            let safe = match part.to {
                Field::Track(to) => attacker(self.view.rules, &outcome.board, owner, to).is_none(),
                Field::Goal(_) => true,
            };
            safe.then(|| AdviceReason::new(Escapes).at(attacker_before, from))
        })
    }

    fn near_goal(&self, outcome: &Outcome) -> Option<AdviceReason> {
        let rules = self.view.rules;
        self.moved(outcome).find_map(|part| {
            let Field::Track(to) = part.to else {
                return None;
            };
            let was_near = match part.from {
                Some(Field::Track(from)) => is_near_goal(rules, &self.view.board, part.seat, from),
                _ => false,
            };
            let is_near = !was_near && is_near_goal(rules, &outcome.board, part.seat, to);
            is_near.then(|| AdviceReason::new(NearGoal).at(part.seat, part.to))
        })
    }

    /// The first block of the team that appears, and the first that disappears.
    fn add_blocks(&self, after: &Board, reasons: &mut Vec<AdviceReason>) {
        let rules = self.view.rules;
        let (before, now) = (self.view.board.blocks(rules), after.blocks(rules));
        for (code, changed) in [(Blocks, now & !before), (Unblocks, before & !now)] {
            let mut starts = [self.view.seat, self.partner]
                .map(|seat| rules.ring().start(seat))
                .into_iter();
            reasons.extend(starts.find_map(|start| {
                let stopped =
                    (changed & bit(start) != 0).then(|| self.nearest_behind(after, start))??;
                Some(AdviceReason::new(code).at(stopped, Field::Track(start)))
            }));
        }
    }

    /// The opponent whose piece is the nearest within reach behind this field.
    fn nearest_behind(&self, board: &Board, field: u8) -> Option<Seat> {
        let ring = self.view.rules.ring();
        (1..=REACH).find_map(|steps| {
            let from = ring.backward(field, steps);
            opponents(self.view.rules, self.view.seat)
                .find(|&seat| board.pieces(seat).stand_on(from))
        })
    }

    /// What the move changes of the partner's and the opponents' steps to their goals.
    fn add_steps(&self, after: &Board, reasons: &mut Vec<AdviceReason>) {
        let rules = self.view.rules;
        let before = self.steps_to_goal[self.partner];
        let now = steps_to_goal(rules, after, self.partner);
        if now != before {
            let code = if now < before {
                HelpsPartner
            } else {
                HarmsPartner
            };
            reasons.push(AdviceReason::new(code).about(self.partner));
        }
        let mut most = 0;
        let mut delayed = None;
        for seat in opponents(rules, self.view.seat) {
            let lost = steps_to_goal(rules, after, seat).saturating_sub(self.steps_to_goal[seat]);
            if lost > most {
                (most, delayed) = (lost, Some(seat));
            }
        }
        reasons.extend(delayed.map(|seat| AdviceReason::new(DelaysOpponent).about(seat)));
    }
}

/// Whether a four back reaches the goal or a place near it.
fn shortcut(outcome: &Outcome, near_goal: bool) -> Option<AdviceReason> {
    let part = outcome.parts.first()?;
    (outcome.kind == MoveKind::Retreat && (near_goal || brings_home(part)))
        .then(|| AdviceReason::new(BackwardShortcut).at(part.seat, part.to))
}

/// Where the owner's piece is after the moves of this outcome, if it is not captured.
fn place_after(outcome: &Outcome, owner: Seat, place: Field) -> Field {
    let parts = outcome.parts.iter().filter(|part| part.seat == owner);
    parts.fold(place, |place, part| match part.from == Some(place) {
        true => part.to,
        false => place,
    })
}

/// Where the owner's piece was before the moves of this outcome; none in the kennel.
fn place_before(outcome: &Outcome, owner: Seat, place: Field) -> Option<Field> {
    let parts = outcome.parts.iter().rev();
    let mut parts = parts.filter(|part| part.seat == owner);
    parts.try_fold(place, |place, part| match part.to == place {
        true => part.from,
        false => Some(place),
    })
}
