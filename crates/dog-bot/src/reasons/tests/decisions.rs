//! Every reason and every line in random decisions, against checks written plainly from the boards,
//! the outcomes and the list of legal moves.

use std::collections::HashMap;

use dog_rules::{
    Board, Card, Cards, Field, Generator, LegalMove, Move, Outcome, Rules, Seat, SeatView,
    SevenPartner,
    judge::{self, MoveKind, PlayedPart},
};
use rand::{RngExt, rngs::ChaCha8Rng, seq::SliceRandom};

use super::super::{AdviceReason, AdviceReasonCode, EXPLAINED, MAX_REASONS};
use crate::{
    Choice, Level, Suggestion, rounded,
    search::{Budget, Estimate},
    testing::*,
};

#[test]
fn every_reason_is_true_in_many_decisions() {
    check_decisions(300);
}

#[test]
#[ignore = "takes minutes: \
            cargo test -p dog-bot --lib -- --ignored every_reason_is_true_in_very_many_decisions"]
fn every_reason_is_true_in_very_many_decisions() {
    check_decisions(5_000);
}

fn check_decisions(number: u32) {
    let mut rng = rng(77);
    let mut given: HashMap<AdviceReasonCode, u32> = HashMap::new();
    let mut lines = 0;
    for number in 0..number {
        let rules = random_rules(&mut rng);
        let view = decision(&rules, number % 9 == 0, &mut rng);
        if view.board.winner(&rules).is_some() {
            continue;
        }
        let level = Level::ALL[number as usize % Level::ALL.len()];
        let advice = advise_by(level, Some(Budget::Samples(40)), &view, &mut rng);
        let facts = Facts::new(&view, &advice);
        facts.check_numbers();
        for (place, suggestion) in advice.iter().enumerate() {
            assert_eq!(suggestion.reasons.is_empty(), place >= EXPLAINED);
            // Of long lists, some.
            if place < 20 || place < EXPLAINED && place % 8 == 0 {
                facts.check_reasons(suggestion);
            }
            facts.check_line(suggestion);
            lines += usize::from(suggestion.line.len() == 3);
            for reason in &suggestion.reasons {
                *given.entry(reason.code).or_default() += 1;
            }
        }
    }
    assert!(lines > 100, "{lines}");
    for code in AdviceReasonCode::ALL {
        assert!(given.contains_key(&code), "{code:?} was never given");
    }
}

/// A random position with random cards, some of them near the end with all hands known.
pub(super) fn decision<'a>(
    rules: &'a Rules,
    exchanging: bool,
    rng: &mut ChaCha8Rng,
) -> SeatView<'a> {
    let mut deck: Vec<Card> = rules.deck().sorted().collect();
    deck.shuffle(rng);
    let count = rng.random_range(1..=6);
    let mut hands = deck
        .chunks(count)
        .map(|cards| cards.iter().copied().collect());
    let seat = seat(rng.random_range(0..rules.seats), rules);
    // Most rounds begin with few pieces on the ring.
    let is_end = !exchanging && rng.random_range(0..3) == 0;
    let board = match exchanging && rng.random() {
        true => Board::new(),
        false if is_end => end_board(rules, rng),
        false => random_board(rules, rng),
    };
    let hand = hands.next().expect("a hand");
    let mut view = SeatView {
        exchanging,
        ..SeatView::to_play(rules, board, seat, hand)
    };
    if is_end && rng.random() {
        for other in Seat::all(rules.seats).filter(|&other| other != seat) {
            view.known[other] = hands.next().expect("a hand");
        }
    }
    view
}

/// The pieces that one card of an opponent's could capture: whose, where, and by whom.
type Threatened = Vec<(Seat, u8, Seat)>;

struct Facts<'a> {
    view: &'a SeatView<'a>,
    advice: &'a [Suggestion],
    partner: Seat,
    opponents: Vec<Seat>,
    threatened: Threatened,
}

impl<'a> Facts<'a> {
    fn new(view: &'a SeatView<'a>, advice: &'a [Suggestion]) -> Facts<'a> {
        let seats = view.rules.seats;
        let mut facts = Facts {
            view,
            advice,
            partner: view.seat.partner(seats),
            opponents: Seat::all(seats)
                .filter(|seat| seat.number() % (seats / 2) != view.seat.number() % (seats / 2))
                .collect(),
            threatened: Vec::new(),
        };
        facts.threatened = facts.threatened_on(&view.board);
        facts
    }

    /// Everything that opponents could capture, by the list of legal moves.
    fn threatened_on(&self, board: &Board) -> Threatened {
        let mut threatened = Threatened::new();
        let mut generator = Generator::new();
        for &opponent in &self.opponents {
            for card in Card::RANKS {
                generator.each_of_card(self.view.rules, board, opponent, card, |found| {
                    for capture in found.outcome().captures {
                        let found = (capture.seat, capture.from, opponent);
                        if !threatened.contains(&found) {
                            threatened.push(found);
                        }
                    }
                });
            }
        }
        threatened
    }

    fn is_team(&self, seat: Seat) -> bool {
        seat == self.view.seat || seat == self.partner
    }

    /// Chances never rise down the list, and `equal` agrees with them.
    fn check_numbers(&self) {
        let first = &self.advice[0];
        assert!(!first.estimate.equal && first.estimate.difference == 0.0);
        for pair in self.advice.windows(2) {
            let [before, after] = [0, 1].map(|place| pair[place].estimate.win_probability);
            assert!((0.0..=before).contains(&after), "{:?}", self.advice);
        }
        let is_won = |suggestion: &Suggestion| {
            suggestion.estimate.win_probability == 1.0
                && suggestion.estimate.standard_error == Some(0.0)
        };
        for suggestion in &self.advice[1..] {
            let Estimate {
                win_probability,
                difference,
                difference_error,
                ..
            } = suggestion.estimate;
            let expected = rounded(first.estimate.win_probability - win_probability);
            assert_eq!(difference, expected);
            let is_near = |error: f64| difference < 0.01_f64.max(2.0 * error);
            let same = self.card_and_board(suggestion).is_some()
                && self.card_and_board(suggestion) == self.card_and_board(first);
            let expected = difference_error.is_some_and(is_near)
                || same
                || is_won(first) && is_won(suggestion);
            assert_eq!(
                suggestion.estimate.equal, expected,
                "{suggestion:?} {:?}",
                self.view
            );
        }
    }

    /// The given codes are exactly the first of those that hold, and say what they are about.
    fn check_reasons(&self, suggestion: &Suggestion) {
        let given: Vec<AdviceReasonCode> = suggestion
            .reasons
            .iter()
            .map(|reason| reason.code)
            .collect();
        assert!((1..=MAX_REASONS).contains(&given.len()), "{suggestion:?}");
        let first = self.card_and_board(&self.advice[0]);
        let mut others = self.advice.iter();
        let is_only = others.all(|other| self.card_and_board(other) == first)
            && (first.is_some() || self.advice.len() == 1);
        let held = AdviceReasonCode::ALL
            .into_iter()
            .filter(|&code| self.holds(code, suggestion));
        let (against, speaking_for): (Vec<_>, Vec<_>) = held.partition(|code| code.is_against());
        let room = MAX_REASONS - usize::from(!against.is_empty());
        let mut expected = speaking_for;
        expected.truncate(room);
        expected.extend(against);
        expected.truncate(MAX_REASONS);
        if is_only {
            expected = vec![AdviceReasonCode::OnlyMove];
        } else if expected.is_empty() {
            expected.push(AdviceReasonCode::NoBetter);
        }
        assert_eq!(given, expected, "{suggestion:?} {:?}", self.view);
        for reason in &suggestion.reasons {
            self.check_details(reason, suggestion);
        }
    }

    /// Where each piece of the team goes: owner, from, to. Without those that are captured in the
    /// same move.
    fn moved(&self, outcome: &Outcome) -> Vec<(Seat, Option<Field>, Field)> {
        let mut moved = Vec::new();
        for part in outcome.parts {
            let lost = outcome
                .captures
                .iter()
                .any(|capture| capture.seat == part.seat && Field::Track(capture.from) == part.to);
            if self.is_team(part.seat) && !lost && outcome.board != self.view.board {
                moved.push((part.seat, part.from, part.to));
            }
        }
        moved
    }

    /// Whether the owner could play a card that takes this piece alone into the goal.
    fn near(&self, board: &Board, owner: Seat, field: Field) -> bool {
        let mut near = false;
        if matches!(field, Field::Goal(_)) {
            return false;
        }
        for card in Card::RANKS {
            Generator::new().each_of_card(self.view.rules, board, owner, card, |found| {
                let parts = found.outcome().parts;
                near |= parts.len() == 1
                    && parts[0].from == Some(field)
                    && matches!(parts[0].to, Field::Goal(_));
            });
        }
        near
    }

    /// The moved pieces that are near the goal and were not before.
    fn come_near(&self, outcome: &Outcome) -> Vec<(Seat, Field)> {
        self.moved(outcome)
            .into_iter()
            .filter(|&(owner, from, to)| {
                let before = from.is_some_and(|from| self.near(&self.view.board, owner, from));
                !before && self.near(&outcome.board, owner, to)
            })
            .map(|(owner, _, to)| (owner, to))
            .collect()
    }

    /// The escaped pieces: the opponents, and from where.
    fn escaped(&self, outcome: &Outcome) -> Vec<(Seat, Field)> {
        let was_threatened = |owner, from| {
            let threats = self.threatened.iter();
            threats
                .filter(move |&&(seat, field, _)| {
                    seat == owner && Some(Field::Track(field)) == from
                })
                .map(|&(_, field, opponent)| (opponent, Field::Track(field)))
        };
        let mut moved = self.moved(outcome);
        moved.retain(|&(owner, from, _)| was_threatened(owner, from).next().is_some());
        if moved.is_empty() {
            return Vec::new();
        }
        let after = self.threatened_on(&outcome.board);
        moved.retain(|&(owner, _, to)| {
            !after
                .iter()
                .any(|&(seat, field, _)| seat == owner && Field::Track(field) == to)
        });
        let moved = moved.into_iter();
        moved
            .flat_map(|(owner, from, _)| was_threatened(owner, from))
            .collect()
    }

    /// The opponents' pieces that one card alone could have brought home, and now none can.
    fn stopped(&self, outcome: &Outcome) -> Vec<(Seat, Field)> {
        let mut stopped = Vec::new();
        for &owner in &self.opponents {
            for field in self.view.board.pieces(owner).track_fields() {
                let from = Field::Track(field);
                let swapped = outcome.parts.iter().find(|part| part.from == Some(from));
                let to = swapped.map_or(from, |part| part.to);
                let is_captured = outcome.board.kennel(owner) > self.view.board.kennel(owner)
                    && !outcome.board.pieces(owner).stand_on(field);
                if self.near(&self.view.board, owner, from)
                    && (is_captured || !self.near(&outcome.board, owner, to))
                {
                    stopped.push((owner, from));
                }
            }
        }
        stopped
    }

    /// Whether a team that has seven pieces at home could win with one card.
    fn can_win(&self, board: &Board, seat: Seat) -> bool {
        let rules = self.view.rules;
        let at_home = [seat, seat.partner(rules.seats)].map(|seat| board.goal(seat).count_ones());
        at_home.iter().sum::<u32>() == 7
            && Card::RANKS.into_iter().any(|card| {
                let moves = Generator::new().legal_moves(rules, board, seat, Cards::one(card));
                let team = seat.number() % (rules.seats / 2);
                let mut boards = moves.iter().map(|legal| legal.outcome.board);
                boards.any(|board| board.winner(rules) == Some(team))
            })
    }

    /// The opponents who could have won with one card, and now cannot.
    fn stopped_wins(&self, outcome: &Outcome) -> Vec<Seat> {
        let could_win = |seat: &&Seat| {
            let boards = [&self.view.board, &outcome.board];
            boards.map(|board| self.can_win(board, **seat)) == [true, false]
        };
        self.opponents.iter().filter(could_win).copied().collect()
    }

    /// Whether the owner could play a card that takes this piece alone by 1 to 7 steps into the
    /// goal.
    fn within_seven(&self, board: &Board, owner: Seat, from: Field) -> bool {
        let hand = Card::RANKS[..7].iter().copied().collect();
        let moves = Generator::new().legal_moves(self.view.rules, board, owner, hand);
        moves.iter().any(|LegalMove { outcome, .. }| {
            let part = outcome.parts[0];
            let is_walk = outcome.parts.len() == 1 && outcome.kind != MoveKind::Retreat;
            is_walk
                && part.steps <= 7
                && part.from == Some(from)
                && matches!(part.to, Field::Goal(_))
        })
    }

    /// The pieces that a card which stays in the hand brings in by itself after the move, and could
    /// not bring in before: the card, the owner, where it stands.
    fn then_home(&self, played: Card, outcome: &Outcome) -> Vec<(Card, Seat, Field)> {
        let (rules, before, seat) = (self.view.rules, &self.view.board, self.view.seat);
        let brought_in = |board: &Board, card| {
            let moves = Generator::new().legal_moves(rules, board, seat, Cards::one(card));
            // A seven whose other steps lapse at a win does not count.
            let alone = moves
                .into_iter()
                .filter(|legal| legal.outcome.parts.len() == 1)
                .filter(|legal| {
                    legal.outcome.kind != MoveKind::Seven || legal.outcome.parts[0].steps == 7
                });
            alone
                .filter_map(|legal| match legal.outcome.parts[0] {
                    PlayedPart {
                        seat,
                        from: Some(from @ Field::Track(_)),
                        to: Field::Goal(_),
                        ..
                    } => Some((seat, from)),
                    _ => None,
                })
                .collect::<Vec<(Seat, Field)>>()
        };
        let could_before = |card, owner, from| {
            let is_mover = before.home(seat) == (owner == self.partner);
            let by_seven = is_mover || rules.seven_partner == SevenPartner::Always;
            match card {
                Card::Joker if is_mover => self.near(before, owner, from),
                Card::Joker | Card::Seven => by_seven && self.within_seven(before, owner, from),
                _ => brought_in(before, card).contains(&(owner, from)),
            }
        };
        let mut kept = self.view.hand;
        kept.remove(played);
        let mut found = Vec::new();
        for card in kept.ranks() {
            for (owner, now) in brought_in(&outcome.board, card) {
                let mut moved = outcome.parts.iter().rev().filter(|part| part.seat == owner);
                let from = moved.try_fold(now, |place, part| {
                    let is_moved = place == part.to;
                    if is_moved { part.from } else { Some(place) }
                });
                if from.is_none_or(|from| !could_before(card, owner, from)) {
                    found.push((card, owner, now));
                }
            }
        }
        found
    }

    /// The partner's pieces that the next suggestion captures which is not equal to the best.
    fn captured_by_the_next(&self, suggestion: &Suggestion) -> Vec<Field> {
        let place = self.advice.iter().position(|other| other == suggestion);
        let mut others = self.advice[place.unwrap() + 1..].iter();
        let next = others.find(|other| !other.estimate.equal);
        self.captures_of_partner(next.and_then(|next| next.outcome.as_ref()))
    }

    fn captures_of_partner(&self, outcome: Option<&Outcome>) -> Vec<Field> {
        let captures = outcome.iter().flat_map(|outcome| outcome.captures.iter());
        let captures = captures.filter(|capture| capture.seat == self.partner);
        captures.map(|capture| Field::Track(capture.from)).collect()
    }

    /// The blocks of the team on one board that are not on the other, each with the opponents
    /// within 13 fields behind it on the board after the move.
    fn blocks(&self, there: &Board, not_there: &Board, after: &Board) -> Vec<(u8, Vec<Seat>)> {
        let (rules, ring) = (self.view.rules, self.view.rules.ring());
        let mut blocks = Vec::new();
        for owner in [self.view.seat, self.partner] {
            let start = ring.start(owner);
            let stands = |board: &Board| board.blocks(rules) >> start & 1 == 1;
            let mut behind = Vec::new();
            for steps in 1..=13 {
                let field = (start + ring.length() - steps) % ring.length();
                let piece = after.owner(rules, field);
                behind.extend(piece.filter(|seat| self.opponents.contains(seat)));
            }
            if stands(there) && !stands(not_there) && !behind.is_empty() {
                blocks.push((start, behind));
            }
        }
        blocks
    }

    /// The steps that the seat's pieces have to their goal.
    fn steps(&self, board: &Board, seat: Seat) -> i32 {
        let ring = self.view.rules.ring();
        let lap = i32::from(ring.length());
        let (start, door) = (i32::from(ring.start(seat)), i32::from(ring.door(seat)));
        let mut sum = i32::from(board.kennel(seat)) * (lap + 2);
        for field in board.pieces(seat).track_fields().map(i32::from) {
            sum += match (door - field).rem_euclid(lap) {
                0 if field == start && board.fresh(seat) && !self.view.rules.fresh_into_goal => {
                    lap + 1
                }
                steps => steps + 1,
            };
        }
        sum
    }

    /// How many steps more the seat has after the move.
    fn lost(&self, outcome: &Outcome, seat: Seat) -> i32 {
        self.steps(&outcome.board, seat) - self.steps(&self.view.board, seat)
    }

    /// Whether the suggestion is the best, or nothing shows that it is not.
    fn may_be_best(&self, suggestion: &Suggestion) -> bool {
        let best = &self.advice[0];
        *suggestion == *best || suggestion.guessed || suggestion.estimate.equal
    }

    /// Whether the card could be played, and every move of it has a lower chance and cannot be the
    /// best.
    fn keeps(&self, card: Card, suggestion: &Suggestion) -> bool {
        let plays = self
            .advice
            .iter()
            .filter(|other| self.card(other) == Some(card));
        let plays: Vec<&Suggestion> = plays.collect();
        let worse = |play: &&Suggestion| {
            let lower = play.estimate.win_probability < suggestion.estimate.win_probability;
            lower && **play != self.advice[0] && !play.guessed
        };
        self.card(suggestion).is_some() && !plays.is_empty() && plays.iter().all(worse)
    }

    fn card_and_board(&self, suggestion: &Suggestion) -> Option<(Card, Board)> {
        Some((self.card(suggestion)?, suggestion.outcome?.board))
    }

    fn card(&self, suggestion: &Suggestion) -> Option<Card> {
        match suggestion.choice {
            Choice::Play(Move::Play { card, .. }) => Some(card),
            _ => None,
        }
    }

    fn holds(&self, code: AdviceReasonCode, suggestion: &Suggestion) -> bool {
        match &suggestion.outcome {
            Some(outcome) => self.holds_for_move(code, suggestion, outcome),
            None => self.holds_for_answer(code, suggestion.choice),
        }
    }

    fn holds_for_move(
        &self,
        code: AdviceReasonCode,
        suggestion: &Suggestion,
        outcome: &Outcome,
    ) -> bool {
        use AdviceReasonCode::*;
        let (before, after) = (&self.view.board, &outcome.board);
        let team = [self.view.seat, self.partner];
        let captured = |seats: &[Seat]| {
            outcome
                .captures
                .iter()
                .any(|capture| seats.contains(&capture.seat))
        };
        let in_goal = |board: &Board, seat| board.goal(seat).count_ones();
        match code {
            // What stands alone is checked before.
            OnlyMove => false,
            Wins => after.winner(self.view.rules) == Some(self.view.seat.team(self.view.rules.seats)),
            WinsNext => suggestion.next_win.is_some_and(|(_, share)| share >= 0.8),
            StopsWin => !self.stopped_wins(outcome).is_empty(),
            StopsHome => {
                self.stopped_wins(outcome).is_empty() && !self.stopped(outcome).is_empty()
            }
            ThenHome => self.card(suggestion).is_some_and(|card| {
                outcome.board != self.view.board && !self.then_home(card, outcome).is_empty()
            }),
            SavesPartner => {
                self.captures_of_partner(Some(outcome)).is_empty()
                    && !self.captured_by_the_next(suggestion).is_empty()
            }
            BringsHome => team
                .iter()
                .any(|&seat| in_goal(after, seat) > in_goal(before, seat)),
            ClearsGoal => outcome.parts.iter().any(|part| {
                matches!((part.from, part.to), (Some(Field::Goal(a)), Field::Goal(b)) if a < b)
            }),
            LeavesKennel => outcome.kind == MoveKind::LeaveKennel,
            Captures => captured(&self.opponents),
            CapturesPartner => captured(&[self.partner]),
            CapturesOwn => captured(&[self.view.seat]),
            Escapes => !self.escaped(outcome).is_empty(),
            Exposes => suggestion.risk.is_some_and(|risk| risk >= 0.15),
            Blocks => !self.blocks(after, before, after).is_empty(),
            Unblocks => !self.blocks(before, after, after).is_empty(),
            NearGoal => !self.come_near(outcome).is_empty(),
            BackwardShortcut => {
                outcome.kind == MoveKind::Retreat
                    && (self.holds_for_move(BringsHome, suggestion, outcome)
                        || !self.come_near(outcome).is_empty())
            }
            KeepsCard => [Card::Ace, Card::King, Card::Seven, Card::Joker]
                .iter()
                .any(|&card| self.keeps(card, suggestion)),
            // Only the search knows, and its tests check it.
            OnlyUse => suggestion.reasons.iter().any(|reason| reason.code == OnlyUse),
            Farthest => {
                let lost = |outcome: &Outcome| {
                    self.lost(outcome, self.view.seat) + self.lost(outcome, self.partner)
                };
                let outcomes = self.advice.iter().filter_map(|other| other.outcome.as_ref());
                lost(outcome) < 0 && Some(lost(outcome)) == outcomes.map(lost).min()
            }
            HelpsPartner => self.lost(outcome, self.partner) < 0,
            HarmsPartner => self.lost(outcome, self.partner) > 0,
            DelaysOpponent => self
                .opponents
                .iter()
                .any(|&seat| self.lost(outcome, seat) > 0),
            GivesExit | GivesFittingCard | NoBetter => false,
        }
    }

    fn holds_for_answer(&self, code: AdviceReasonCode, choice: Choice) -> bool {
        let Choice::Offer(card) = choice else {
            return false;
        };
        let (rules, board) = (self.view.rules, &self.view.board);
        match code {
            AdviceReasonCode::GivesExit => {
                let home = board.home(self.partner);
                matches!(card, Card::Ace | Card::King | Card::Joker)
                    && board.track(self.partner) == 0
                    && (!home || board.track(self.view.seat) == 0)
            }
            AdviceReasonCode::GivesFittingCard => {
                let hand = [card].into_iter().collect();
                let moves = Generator::new().legal_moves(rules, board, self.partner, hand);
                moves.iter().any(|legal| {
                    let after = &legal.outcome.board;
                    let gains =
                        |seat| after.goal(seat).count_ones() > board.goal(seat).count_ones();
                    let lost = |&seat: &Seat| after.kennel(seat) > board.kennel(seat);
                    gains(self.view.seat) || gains(self.partner) || self.opponents.iter().any(lost)
                })
            }
            _ => false,
        }
    }

    /// What a reason is about.
    fn check_details(&self, reason: &AdviceReason, suggestion: &Suggestion) {
        use AdviceReasonCode::*;
        let AdviceReason {
            seat, place, card, ..
        } = *reason;
        let has_probability = matches!(reason.code, Exposes | WinsNext);
        assert_eq!(reason.probability.is_some(), has_probability);
        assert_eq!(reason.against, reason.code.is_against());
        let about = seat.zip(place);
        let before = &self.view.board;
        let Some(outcome) = &suggestion.outcome else {
            let given = !matches!(reason.code, NoBetter | OnlyMove);
            assert_eq!(seat, given.then_some(self.partner));
            assert!(card.is_none_or(|card| suggestion.choice == Choice::Offer(card)));
            assert_eq!(card.is_some(), given);
            return;
        };
        let arrives = |from: fn(Option<Field>) -> bool| {
            let parts = outcome.parts.iter().filter(|part| from(part.from));
            parts
                .into_iter()
                .any(|part| about == Some((part.seat, part.to)))
        };
        let held = |blocks: Vec<(u8, Vec<Seat>)>| {
            blocks.iter().any(|(start, behind)| {
                place == Some(Field::Track(*start)) && seat == behind.first().copied()
            })
        };
        let kept = |card: Card| {
            let mut kept = self.view.hand;
            kept.remove(self.card(suggestion).expect("a card"));
            kept.contains(card)
        };
        assert!(match reason.code {
            OnlyMove => suggestion.reasons.len() == 1,
            Wins => place.is_none(),
            WinsNext => card.is_some_and(kept),
            StopsWin => seat.is_some_and(|seat| self.stopped_wins(outcome).contains(&seat)),
            StopsHome => about.is_some_and(|about| self.stopped(outcome).contains(&about)),
            ThenHome => self
                .then_home(self.card(suggestion).expect("a card"), outcome)
                .iter()
                .any(|&(brought, owner, field)| {
                    (Some(brought), about) == (card, Some((owner, field)))
                }),
            SavesPartner => {
                let captured = self.captured_by_the_next(suggestion);
                seat == Some(self.partner) && place.is_some_and(|place| captured.contains(&place))
            }
            BringsHome => arrives(|from| !matches!(from, Some(Field::Goal(_)))),
            ClearsGoal => arrives(|from| matches!(from, Some(Field::Goal(_)))),
            LeavesKennel => arrives(|from| from.is_none()),
            Captures | CapturesPartner | CapturesOwn => outcome
                .captures
                .iter()
                .any(|capture| about == Some((capture.seat, Field::Track(capture.from)))),
            Escapes => self
                .escaped(outcome)
                .iter()
                .any(|&escaped| about == Some(escaped)),
            Exposes => reason.probability == suggestion.risk.map(rounded),
            Blocks => held(self.blocks(&outcome.board, before, &outcome.board)),
            Unblocks => held(self.blocks(before, &outcome.board, &outcome.board)),
            NearGoal => self
                .come_near(outcome)
                .iter()
                .any(|&near| about == Some(near)),
            BackwardShortcut => arrives(|from| matches!(from, Some(Field::Track(_)))),
            KeepsCard => card.is_some_and(|card| self.keeps(card, suggestion)),
            OnlyUse => {
                let mut others = self.advice.iter().filter(|other| self.card(other) == card);
                let (own, board) = (suggestion.estimate.win_probability, outcome.board);
                let is_worse = |other: &Suggestion| {
                    let after = other.outcome.as_ref().map(|outcome| outcome.board);
                    after == Some(board)
                        || rounded(own - other.estimate.win_probability) >= 0.03
                            && !self.may_be_best(other)
                };
                card == self.card(suggestion)
                    && suggestion.samples > 1
                    && others.all(|other| other.samples > 1 && is_worse(other))
            }
            Farthest => about.is_none(),
            HelpsPartner => seat == Some(self.partner),
            HarmsPartner => seat == Some(self.partner),
            DelaysOpponent => seat.is_some_and(|seat| {
                let lost = |&other: &Seat| self.lost(outcome, other);
                Some(self.lost(outcome, seat)) == self.opponents.iter().map(lost).max()
            }),
            GivesExit | GivesFittingCard => false,
            NoBetter => suggestion.reasons.len() == 1,
        });
    }

    /// A line holds legal plays of the seats in turn.
    fn check_line(&self, suggestion: &Suggestion) {
        let line = &suggestion.line;
        assert!(line.len() <= 3 && (line.is_empty() || suggestion.samples > 0));
        let Some(outcome) = &suggestion.outcome else {
            return assert!(line.is_empty());
        };
        let rules = self.view.rules;
        let (mut board, mut turn) = (outcome.board, self.view.seat);
        let mut counts = self.view.counts;
        counts[turn] -= 1;
        for play in line {
            let next = turn.next_of(rules.seats, |seat| counts[seat] > 0);
            turn = next.expect("a seat with cards");
            assert_eq!(play.seat, turn);
            match play.mv {
                Move::Fold => counts[turn] = 0,
                Move::Play { rank, action, .. } => {
                    let outcome = judge::outcome(rules, &board, turn, rank, &action);
                    board = outcome.expect("a legal move").board;
                    counts[turn] -= 1;
                }
            }
        }
        let goes_on = board.winner(rules).is_none();
        let cards = Seat::all(rules.seats).any(|seat| counts[seat] > 0);
        // With a single choice there are no playouts.
        let complete = line.len() == 3 || suggestion.samples == 0;
        assert!(
            complete || !goes_on || !cards || suggestion.samples < 40,
            "{:?}: {suggestion:?}",
            self.view
        );
    }
}
