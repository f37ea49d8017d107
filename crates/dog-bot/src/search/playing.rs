//! Playouts of a candidate, in which every seat plays by its own information, within a budget.

use std::mem;

use dog_rules::{
    Board, BySeat, Card, ExchangeAnswer, Generator, Move, Phase, Playout, Rules, Seat, SeatView,
    judge::judge, ring,
};
use rand::{
    Rng, RngExt,
    seq::{IndexedRandom, SliceRandom},
};

use crate::{
    Choice,
    budget::BudgetClock,
    evaluate::move_value,
    net::{
        evaluator::{NetEvaluator, Scratch, WON},
        probability,
    },
    player_model::{Evaluation, PlayoutPolicy},
};

/// A choice as the search sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Candidate {
    /// A card and the board it leads to.
    Play(Card, Board),
    /// An answer in the exchange.
    Answer(Choice),
    /// Nothing can be played.
    #[default]
    Fold,
}

impl Candidate {
    /// A choice of the seat, as the search sees it; none if the seat may not choose it.
    pub fn from_choice(view: &SeatView, choice: Choice) -> Option<Candidate> {
        Some(match choice {
            Choice::Play(Move::Fold) => Candidate::Fold,
            Choice::Play(mv) => {
                let outcome = judge(view.rules, &view.board, view.seat, view.hand, &mv).ok()?;
                Candidate::Play(mv.card()?, outcome.board)
            }
            answer => Candidate::Answer(answer),
        })
    }

    /// The net's value of it.
    pub(super) fn logit(
        self,
        evaluator: &NetEvaluator,
        view: &SeatView,
        scratch: &mut Scratch,
    ) -> f32 {
        match self {
            Candidate::Play(card, board) => evaluator.play_logit(view, card, &board, scratch),
            Candidate::Answer(choice) => evaluator.choice_logit(view, choice, scratch),
            Candidate::Fold => evaluator.fold_logit(view, scratch),
        }
    }

    /// The choice; of several moves of a card to one board, the first that the rules list.
    ///
    /// # Panics
    /// If it is not a candidate of this seat.
    pub fn choice(self, view: &SeatView) -> Choice {
        match self {
            Candidate::Play(card, board) => {
                let mut generator = Generator::new();
                let mv = generator.move_to(view.rules, &view.board, view.seat, card, &board);
                Choice::Play(mv.expect("a board that the card leads to"))
            }
            Candidate::Answer(choice) => choice,
            Candidate::Fold => Choice::Play(Move::Fold),
        }
    }
}

/// What playouts need.
pub struct PlayoutContext<'a> {
    pub evaluator: &'a NetEvaluator,
    /// The least number of turns of a playout.
    pub plies: u32,
    /// The number of rounds after which a playout ends.
    pub rounds: u32,
    /// How each seat plays.
    pub policies: BySeat<PlayoutPolicy>,
    pub clock: &'a BudgetClock<'a>,
    pub scratch: &'a mut Scratch,
}

impl<'a> PlayoutContext<'a> {
    /// Playouts to the end of the round in which all seats play by the net.
    pub fn by_net(
        evaluator: &'a NetEvaluator,
        clock: &'a BudgetClock<'a>,
        scratch: &'a mut Scratch,
    ) -> PlayoutContext<'a> {
        PlayoutContext {
            evaluator,
            plies: u32::MAX,
            rounds: 1,
            policies: BySeat::from_fn(|_| PlayoutPolicy::NET),
            clock,
            scratch,
        }
    }

    /// Plays on from a candidate and returns the chance that the seat's team wins, by the net's
    /// value at the end. None if the time is up before. Calls `show` with every play after the
    /// candidate until the next deal: the seat, its card, or none if it folds, and the board after
    /// it.
    pub fn play_out(
        &mut self,
        seat: Seat,
        world: &Playout,
        candidate: Candidate,
        rng: &mut impl Rng,
        mut show: impl FnMut(Seat, Option<Card>, &Board),
    ) -> Option<PlayoutResult> {
        let rules = world.rules();
        let mut game = world.clone();
        let before = *game.board();
        match candidate {
            Candidate::Play(card, board) => game.play(card, &board),
            Candidate::Answer(choice) => answer(&mut game, seat, choice),
            Candidate::Fold => game.fold(),
        }
        let mut watch = CaptureWatch::new(rules, seat, &before, game.board());
        let team = seat.team(rules.seats);
        let two_teams = rules.seats == 4;
        let mut value = 1.0 / f64::from(rules.seats / 2);
        let (mut plies, mut rounds, mut dealt) = (0, 0, false);
        let (mut has_moved, mut next_win) = (false, None);
        loop {
            match game.phase() {
                Phase::Finished => {
                    value = f64::from(u8::from(game.winner() == Some(team)));
                    break;
                }
                Phase::Seating | Phase::Deal => {
                    rounds += u32::from(plies > 0);
                    if rounds >= self.rounds {
                        // Of two teams, the last turn says the same. Of three, it says nothing of
                        // the turns that other teams took after the seat's own.
                        if !two_teams {
                            value = self.chances_between_rounds(&game)[usize::from(team)];
                        }
                        break;
                    }
                    game.deal(rng);
                    dealt = true;
                }
                Phase::Exchange => self.exchange(&mut game, rng),
                Phase::Play => {
                    let turn = game.turn();
                    if turn == seat {
                        watch.finish();
                    }
                    let own = turn.team(rules.seats) == team;
                    let (card, chance) = self.turn(&mut game, rng)?;
                    if !dealt {
                        show(turn, card, game.board());
                    }
                    if turn == seat && !dealt && !mem::replace(&mut has_moved, true) {
                        next_win = card.filter(|_| game.winner() == Some(team));
                    }
                    watch.observe(game.board());
                    plies += 1;
                    if own {
                        value = chance;
                    } else if two_teams {
                        value = 1.0 - chance;
                    }
                    // With three teams, only estimates for the seat's own team are of use.
                    if plies >= self.plies && (own || two_teams) {
                        break;
                    }
                }
            }
        }
        Some(PlayoutResult {
            value,
            captured: watch.captured,
            next_win,
        })
    }

    /// Plays a turn by the policy of its seat. Returns the card, none for a fold, and the chance of
    /// that seat's team after it, by the net. None if the time is up before.
    pub(super) fn turn(
        &mut self,
        game: &mut Playout,
        rng: &mut impl Rng,
    ) -> Option<(Option<Card>, f64)> {
        let view = game.seen_from(game.turn());
        let policy = self.policies[view.seat];
        let choice = if policy.errors > 0.0 && rng.random::<f32>() < policy.errors {
            let play = self.any_play(&view, rng);
            play.map(|(card, board)| self.judged(&view, card, board))
        } else {
            match policy.evaluation {
                Evaluation::Net => self.best_play(&view)?,
                Evaluation::Greedy => self.greedy_play(&view)?,
            }
        };
        Some(match choice {
            Some((card, board, logit)) => {
                game.play(card, &board);
                (Some(card), chance(logit))
            }
            None => {
                let logit = self.evaluator.fold_logit(&view, self.scratch);
                game.fold();
                (None, chance(logit))
            }
        })
    }

    /// The play that the net prefers; the inner `None` is a fold. None if the time is up before.
    fn best_play(&mut self, view: &SeatView) -> Option<Option<(Card, Board, f32)>> {
        let (mut best, mut seen, mut late) = (None, 0u32, false);
        self.evaluator
            .plays(view, self.scratch, |card, board, logit| {
                if best.is_none_or(|(_, _, highest)| logit > highest) {
                    best = Some((card, *board, logit));
                }
                seen += 1;
                late = self.clock.late_after(seen);
                !late
            });
        (!late).then_some(best)
    }

    /// Any choice of the seat, drawn as any play or answer is.
    pub(super) fn any_choice(&mut self, view: &SeatView, rng: &mut impl Rng) -> Candidate {
        if view.exchanging {
            return Candidate::Answer(any_answer(view, rng));
        }
        let play = self.any_play(view, rng);
        play.map_or(Candidate::Fold, |(card, board)| {
            Candidate::Play(card, board)
        })
    }

    /// Any play: of all cards that can be played, and of the boards that the card leads to.
    fn any_play(&mut self, view: &SeatView, rng: &mut impl Rng) -> Option<(Card, Board)> {
        let mut cards: Vec<Card> = view.hand.ranks().collect();
        cards.shuffle(rng);
        let mut boards = Vec::new();
        for card in cards {
            let generator = &mut self.scratch.generator;
            generator.boards_of_card(view.rules, &view.board, view.seat, card, &mut boards);
            if let Some(board) = boards.choose(rng) {
                return Some((card, *board));
            }
        }
        None
    }

    /// The play that `greedy` prefers; the inner `None` is a fold. None if the time is up before.
    fn greedy_play(&mut self, view: &SeatView) -> Option<Option<(Card, Board, f32)>> {
        let (mut best, mut most, mut seen) = (None, f64::NEG_INFINITY, 0u32);
        let mut boards = Vec::new();
        for card in view.hand.ranks() {
            let generator = &mut self.scratch.generator;
            generator.boards_of_card(view.rules, &view.board, view.seat, card, &mut boards);
            let kept = view.hand.minus(card);
            for board in &boards {
                let score = move_value(view, board, kept);
                if score > most {
                    most = score;
                    best = Some((card, *board));
                }
                seen += 1;
                if self.clock.late_after(seen) {
                    return None;
                }
            }
        }
        Some(best.map(|(card, board)| self.judged(view, card, board)))
    }

    /// A play with the net's value of it.
    fn judged(&mut self, view: &SeatView, card: Card, board: Board) -> (Card, Board, f32) {
        let logit = self.evaluator.play_logit(view, card, &board, self.scratch);
        (card, board, logit)
    }

    /// Every seat that is to answer in the exchange does so by its policy. Without an error, that
    /// is what the net prefers.
    pub(super) fn exchange(&mut self, game: &mut Playout, rng: &mut impl Rng) {
        for seat in game.rules().ring().seats() {
            if !game.exchange_choices(seat).is_empty() {
                let view = game.seen_from(seat);
                let errors = self.policies[seat].errors;
                let choice = if errors > 0.0 && rng.random::<f32>() < errors {
                    any_answer(&view, rng)
                } else {
                    self.evaluator.best_answer(&view, self.scratch).0
                };
                answer(game, seat, choice);
            }
        }
    }
}

/// How a playout ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayoutResult {
    /// The chance that the seat's team wins.
    pub value: f64,
    /// Whether a piece that the candidate moved was captured before the seat's next turn.
    pub captured: bool,
    /// The card with which the seat ended the game at its next turn in the round.
    pub next_win: Option<Card>,
}

/// Carries out an answer in the exchange.
pub fn answer(game: &mut Playout, seat: Seat, choice: Choice) {
    match choice {
        Choice::Offer(card) => game.answer(seat, ExchangeAnswer::Offered(card)),
        Choice::Decline => game.answer(seat, ExchangeAnswer::Declined),
        Choice::Ask => game.ask(seat),
        Choice::Pass => game.answer(seat, ExchangeAnswer::Passed),
        Choice::Play(_) => unreachable!("no card is played in the exchange"),
    }
}

/// Any answer in the exchange.
fn any_answer(view: &SeatView, rng: &mut impl Rng) -> Choice {
    let answers = Choice::answers(view);
    *answers.choose(rng).expect("an answer")
}

/// The probability with this logit; 1 for a won game.
pub(super) fn chance(logit: f32) -> f64 {
    if logit >= WON {
        1.0
    } else {
        f64::from(probability(logit))
    }
}

/// Watches whether a piece that a move has moved is captured before the seat's next turn.
struct CaptureWatch {
    /// The moved pieces that stand where they were moved to: owner and field.
    moved: Vec<(Seat, u8)>,
    /// The board before the next play.
    before: Board,
    captured: bool,
}

impl CaptureWatch {
    fn new(rules: &Rules, seat: Seat, before: &Board, after: &Board) -> CaptureWatch {
        let own = [seat, seat.partner(rules.seats)];
        let moved = own.into_iter().flat_map(|seat| {
            let fields = after.track(seat) & !before.track(seat);
            ring::fields(fields).map(move |field| (seat, field))
        });
        CaptureWatch {
            moved: moved.collect(),
            before: *after,
            captured: false,
        }
    }

    /// The board after the next play. A piece that leaves its field is captured if the play brings
    /// one of its owner to the kennel; else it has walked or was swapped, and is no longer watched.
    fn observe(&mut self, board: &Board) {
        if self.moved.is_empty() {
            return;
        }
        let (before, captured) = (self.before, &mut self.captured);
        self.moved.retain(|&(seat, field)| {
            let stands = board.pieces(seat).stand_on(field);
            *captured |= !stands && board.kennel(seat) > before.kennel(seat);
            stands
        });
        self.before = *board;
    }

    /// The seat's next turn has begun.
    fn finish(&mut self) {
        self.moved.clear();
    }
}
