//! Random ends of games with every hand known, and what they lead to, by a search of all plays that
//! shares nothing with the proofs of `dog-bot`.

use std::collections::HashSet;

use dog_rules::{Board, BySeat, Card, Cards, Generator, Placement, Rules, Seat, SeatView};
use rand::{Rng, RngExt, seq::SliceRandom};

/// The most lists of legal moves of a search.
const MAX_LISTS: u32 = 20_000;

/// A position in play near the end of a game.
#[derive(Clone, Debug)]
pub struct End<'a> {
    rules: &'a Rules,
    state: State,
}

/// What the team of the seat to move can hope for in this round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndResult {
    /// A play of the seat ends the game.
    WonAtOnce,
    /// The seat has an answer to whatever all others play.
    WonLater,
    /// After each choice of the seat, a team of opponents has an answer to whatever all others play.
    Lost,
    /// None of these.
    Open,
}

#[derive(Clone, Copy, Debug)]
struct State {
    board: Board,
    hands: BySeat<Cards>,
    turn: Seat,
}

impl<'a> End<'a> {
    /// A random one: each team has one to three pieces that are not at home, most of them near it,
    /// and each seat has at most three cards.
    pub fn random(rules: &'a Rules, rng: &mut impl Rng) -> End<'a> {
        let turn = Seat::new(rng.random_range(0..rules.seats), rules.seats);
        let turn = turn.expect("a seat");
        let mut deck: Vec<Card> = rules.deck().sorted().collect();
        deck.shuffle(rng);
        let most = rng.random_range(1..=3);
        // These have played a card more.
        let ahead = rng.random_range(0..rules.seats);
        let mut hands = BySeat::default();
        for offset in 0..rules.seats {
            let cards = most - usize::from(offset + ahead >= rules.seats);
            hands[turn.plus(offset, rules.seats)] = deck.drain(..cards).collect();
        }
        let board = random_board(rules, rng);
        End {
            rules,
            state: State { board, hands, turn },
        }
    }

    /// What the seat to move sees, with the cards of the others or without.
    pub fn view(&self, knows_all: bool) -> SeatView<'a> {
        let State { board, hands, turn } = self.state;
        let mut view = SeatView::to_play(self.rules, board, turn, hands[turn]);
        for seat in Seat::all(self.rules.seats) {
            view.counts[seat] = hands[seat].len();
            if knows_all && seat != turn {
                view.known[seat] = hands[seat];
            }
        }
        view
    }

    /// What it leads to; none if the search takes too long.
    pub fn result(&self) -> Option<EndResult> {
        match self.won()? {
            EndResult::Open => self.lost(),
            won => Some(won),
        }
    }

    /// Whether it is won, and how; else open. None if the search takes too long.
    pub fn won(&self) -> Option<EndResult> {
        let seat = self.state.turn;
        let team = seat.team(self.rules.seats);
        let mut search = Search::new(self.rules);
        let choices = search.choices(&self.state)?;
        let mut boards = choices.iter().map(|choice| choice.state().board);
        if boards.any(|board| board.winner(self.rules) == Some(team)) {
            return Some(EndResult::WonAtOnce);
        }
        for choice in &choices {
            if search.is_forced(choice, team, &[seat])? {
                return Some(EndResult::WonLater);
            }
        }
        Some(EndResult::Open)
    }

    /// Whether it is lost; else open. None if the search takes too long.
    pub fn lost(&self) -> Option<EndResult> {
        let seats = self.rules.seats;
        let own = self.state.turn.team(seats);
        let teams = (0..seats / 2).filter(|&team| team != own);
        let teams: Vec<(u8, Vec<Seat>)> = teams
            .map(|team| {
                let seats = Seat::all(seats).filter(|seat| seat.team(seats) == team);
                (team, seats.collect())
            })
            .collect();
        let mut search = Search::new(self.rules);
        for choice in search.choices(&self.state)? {
            let mut is_lost = false;
            for (team, seats) in &teams {
                is_lost = is_lost || search.is_forced(&choice, *team, seats)?;
            }
            if !is_lost {
                return Some(EndResult::Open);
            }
        }
        Some(EndResult::Lost)
    }
}

/// What a choice leads to.
#[derive(Clone, Copy)]
enum Next {
    Turn(State),
    RoundOver(State),
}

impl Next {
    fn state(&self) -> &State {
        match self {
            Next::Turn(state) | Next::RoundOver(state) => state,
        }
    }
}

struct Search<'a> {
    rules: &'a Rules,
    generator: Generator,
    /// Lists that may still be made.
    left: u32,
}

impl<'a> Search<'a> {
    fn new(rules: &'a Rules) -> Search<'a> {
        Search {
            rules,
            generator: Generator::new(),
            left: MAX_LISTS,
        }
    }

    /// Whether these seats can bring it about that the team wins in this round, whatever the others
    /// play; none if that takes too long.
    fn is_forced(&mut self, next: &Next, team: u8, seats: &[Seat]) -> Option<bool> {
        if let Some(winner) = next.state().board.winner(self.rules) {
            return Some(winner == team);
        }
        let Next::Turn(state) = next else {
            return Some(false);
        };
        let mut results = Vec::new();
        let chooses = seats.contains(&state.turn);
        for choice in self.choices(state)? {
            results.push(self.is_forced(&choice, team, seats)?);
            if results.ends_with(&[chooses]) {
                break;
            }
        }
        Some(if chooses {
            results.contains(&true)
        } else {
            !results.contains(&false)
        })
    }

    /// What each legal move leads to.
    fn choices(&mut self, state: &State) -> Option<Vec<Next>> {
        self.left = self.left.checked_sub(1)?;
        let State { board, hands, turn } = *state;
        let legal = self
            .generator
            .legal_moves(self.rules, &board, turn, hands[turn]);
        let mut seen = HashSet::new();
        let mut choices = Vec::new();
        for legal in legal {
            if !seen.insert((legal.mv.card(), legal.outcome.board)) {
                continue;
            }
            let mut hands = hands;
            match legal.mv.card() {
                Some(card) => _ = hands[turn].remove(card),
                None => hands[turn] = Cards::EMPTY,
            }
            let next = turn.next_of(self.rules.seats, |seat| !hands[seat].is_empty());
            let state = State {
                board: legal.outcome.board,
                hands,
                turn: next.unwrap_or(turn),
            };
            choices.push(match next {
                Some(_) => Next::Turn(state),
                None => Next::RoundOver(state),
            });
        }
        Some(choices)
    }
}

fn random_board(rules: &Rules, rng: &mut impl Rng) -> Board {
    let ring = rules.ring();
    let teams = rules.seats / 2;
    let mut out = BySeat::<u8>::default();
    for team in 0..teams {
        // Half of the teams have a single piece.
        for _ in 0..rng.random_range(0..=3).max(1) {
            let number = team + teams * rng.random_range(0..2);
            out[Seat::new(number, rules.seats).expect("a seat")] += 1;
        }
    }
    let mut free: Vec<u8> = (0..ring.length()).collect();
    free.shuffle(rng);
    let mut placements = Vec::new();
    for seat in ring.seats() {
        let mut goal: Vec<u8> = (0..4).collect();
        // Not always the deepest fields.
        if rng.random_range(0..3) == 0 {
            goal.shuffle(rng);
        }
        goal.drain(..usize::from(out[seat]));
        goal.sort();
        let mut track = Vec::new();
        for _ in 0..out[seat] {
            let is_near = |field: u8| (1..=13).contains(&ring.distance(field, ring.door(seat)));
            let place = match rng.random_range(0..10) {
                // In the kennel.
                0 => None,
                1 => Some(0),
                _ => free.iter().position(|&field| is_near(field)),
            };
            track.extend(place.map(|place| free.remove(place)));
        }
        track.sort();
        placements.push(Placement {
            track,
            goal,
            ..Placement::default()
        });
    }
    Board::place(rules, &placements).expect("a possible board")
}

#[cfg(test)]
mod tests {
    use dog_bot::testing::{board, cards, rng, seat};
    use dog_rules::Preset;

    use super::*;

    /// What a position leads to for seat 0, by the sheet `dogspiel-it`.
    fn result(position: &str, hands: [&str; 4]) -> Option<EndResult> {
        let rules = Preset::DogspielIt.rules();
        let places: Vec<&str> = position.split(" / ").collect();
        let mut state = State {
            board: board(&rules, &places),
            hands: BySeat::default(),
            turn: seat(0, &rules),
        };
        for (number, hand) in (0..).zip(hands) {
            state.hands[seat(number, &rules)] = cards(hand);
        }
        let rules = &rules;
        End { rules, state }.result()
    }

    #[test]
    fn forced_ends_are_found() {
        const HOME: &str = "g0 g1 g2 g3";
        let table = [
            (
                "60 g1 g2 g3",
                "40 g1 g2 g3",
                ["5", "2", "", "2"],
                EndResult::WonAtOnce,
            ),
            (
                "58 g1 g2 g3",
                "40 g1 g2 g3",
                ["2 5", "2", "", "2"],
                EndResult::WonLater,
            ),
            // Seat 1 wins with its three.
            (
                "40 g1 g2 g3",
                "14 g1 g2 g3",
                ["2", "3", "", ""],
                EndResult::Lost,
            ),
            (
                "40 g1 g2 g3",
                "14 g1 g2 g3",
                ["2", "4", "", ""],
                EndResult::Open,
            ),
            // The partner, who moves the seat's piece, would have to play right.
            (
                "58 g1 g2 g3",
                "40 g1 g2 g3",
                ["2", "2", "5 8", "2"],
                EndResult::Open,
            ),
            // The four goes back, the partner has to play its eight, and the ace wins.
            (
                "60 g1 g2 g3",
                "40 g1 g2 g3",
                ["4 9 A", "2", "8", "2"],
                EndResult::WonLater,
            ),
        ];
        for (own, other, hands, expected) in table {
            let position = format!("{own} / {other} / {HOME} / {HOME}");
            assert_eq!(
                result(&position, hands),
                Some(expected),
                "{position} {hands:?}"
            );
        }
    }

    #[test]
    fn random_ends_are_possible_and_of_all_kinds() {
        let mut rng = rng(1);
        let mut seen = HashSet::new();
        for number in 0..1_000 {
            let rules = Preset::ALL[number % 5].rules();
            let end = End::random(&rules, &mut rng);
            assert_eq!(end.state.board.winner(&rules), None);
            let view = end.view(true);
            assert!((1..=3).contains(&view.hand.len()));
            for seat in Seat::all(rules.seats).filter(|&seat| seat != view.seat) {
                assert_eq!(view.known[seat].len(), view.counts[seat]);
            }
            seen.extend(end.result());
        }
        assert_eq!(seen.len(), 4, "{seen:?}");
    }
}
