//! Playing on from a candidate, every seat by its own information.

use std::ops::ControlFlow;

use dog_rules::{event::Answer, game::Phase, playout::Playout, seat::Seat};
use rand::Rng;

use super::{CLOCK_EVERY, Candidate, Clock, chance, watch::Watch};
use crate::{
    Choice,
    net::judge::{Judge, Scratch},
};

/// What playouts are played with.
pub struct Playing<'a> {
    pub judge: &'a Judge,
    /// Turns that a playout lasts at least.
    pub plies: u32,
    /// Whether it ends with the round, where no hand is hidden any more.
    pub to_round_end: bool,
    pub clock: &'a Clock,
    pub scratch: &'a mut Scratch,
}

impl Playing<'_> {
    /// Plays on from a candidate; the chance that the seat's team wins, as the net has it in the
    /// end. Nothing if the time is up before.
    pub fn on(
        &mut self,
        seat: Seat,
        world: &Playout,
        candidate: Candidate,
        rng: &mut impl Rng,
    ) -> Option<End> {
        let rules = world.rules();
        let mut game = world.clone();
        let before = *game.board();
        match candidate {
            Candidate::Play(card, board) => game.play(card, &board),
            Candidate::Answer(choice) => answer(&mut game, seat, choice),
            Candidate::Fold => game.fold(),
        }
        let mut watch = Watch::new(rules, seat, &before, game.board());
        let team = seat.team(rules.seats);
        let two_teams = rules.seats == 4;
        let mut value = 1.0 / f64::from(rules.seats / 2);
        let mut plies = 0;
        loop {
            match game.phase() {
                Phase::Finished => {
                    value = f64::from(u8::from(game.winner() == Some(team)));
                    break;
                }
                // The round is over: what its last turn came to is the value.
                Phase::Deal if self.to_round_end && plies > 0 => break,
                Phase::Deal => game.deal(rng),
                Phase::Exchange => self.exchange(&mut game),
                Phase::Play => {
                    let turn = game.turn();
                    if turn == seat {
                        watch.over();
                    }
                    let own = turn.team(rules.seats) == team;
                    let chance = self.turn(&mut game)?;
                    watch.look(game.board());
                    plies += 1;
                    if own {
                        value = chance;
                    } else if two_teams {
                        value = 1.0 - chance;
                    }
                    // Of three teams only the own seats' estimates are of use.
                    if plies >= self.plies && (own || two_teams) {
                        break;
                    }
                }
            }
        }
        let captured = watch.captured;
        Some(End { value, captured })
    }

    /// One turn, played as the net likes it; the chance of that seat's team after it. Nothing if
    /// the time is up before.
    fn turn(&mut self, game: &mut Playout) -> Option<f64> {
        let view = game.seen_from(game.turn());
        let (mut best, mut seen, mut late) = (None, 0u32, false);
        self.judge.plays(&view, self.scratch, |card, board, logit| {
            if best.is_none_or(|(_, _, highest)| logit > highest) {
                best = Some((card, *board, logit));
            }
            seen += 1;
            late = seen.is_multiple_of(CLOCK_EVERY) && self.clock.late();
            if late {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if late {
            return None;
        }
        let logit = match best {
            Some((card, board, logit)) => {
                game.play(card, &board);
                logit
            }
            None => {
                let logit = self.judge.of_fold(&view, self.scratch);
                game.fold();
                logit
            }
        };
        Some(chance(logit))
    }

    /// Every seat that has still to answer does, as the net likes it.
    fn exchange(&mut self, game: &mut Playout) {
        for seat in game.rules().ring().seats() {
            if game.may_answer(seat) {
                let view = game.seen_from(seat);
                let (choice, _) = self.judge.best_answer(&view, self.scratch);
                answer(game, seat, choice);
            }
        }
    }
}

/// How a playout ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// The chance that the seat's team wins.
    pub value: f64,
    /// Whether a piece that the candidate moved was captured before the seat's next turn.
    pub captured: bool,
}

/// Carries out an answer in the exchange.
pub fn answer(game: &mut Playout, seat: Seat, choice: Choice) {
    match choice {
        Choice::Give(card) => game.answer(seat, Answer::Offered(card)),
        Choice::Decline => game.answer(seat, Answer::Declined),
        Choice::Ask => game.ask(seat),
        Choice::Play(_) => unreachable!("no card is played in the exchange"),
    }
}
