//! Facts of the game, from games in which one player sits at all seats: how long a game takes, what
//! the seat that begins and the cards decide, and what each card is worth.

use std::collections::BTreeMap;

use dog_bot::evaluate::leaves_kennel;
use dog_rules::{BySeat, Card, Cards, Phase, Rules, Seat};
use rand::rngs::ChaCha8Rng;

use crate::{
    arena::{Interval, interval, mean, mean_and_error},
    games::{Watching, play_out, set_up},
    player::{PlayerSpec, Policy, SeatDecision},
};

/// The number of different cards.
const CARDS: usize = Card::ALL.len();

/// What a finished game shows.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGame {
    pub winner: u8,
    /// The team of the seat that was the first to play.
    pub beginner: u8,
    /// Cards played and hands folded.
    pub turns: u32,
    /// The hands of each round as they were dealt.
    pub dealt: Vec<BySeat<Cards>>,
    /// The hands of round 1 after the exchange.
    pub exchanged: BySeat<Cards>,
}

impl PlayedGame {
    /// A game of one player at all seats; none if it was abandoned. `shuffle` decides all cards and
    /// who begins, `choices` what the player leaves to chance.
    pub fn play(
        rules: &Rules,
        spec: &PlayerSpec,
        player: &mut dyn Policy,
        [mut shuffle, mut choices]: [ChaCha8Rng; 2],
    ) -> Option<PlayedGame> {
        let mut game = set_up(rules, &mut shuffle);
        let mut watching = spec.nets().map(Watching::new);
        let beginner = game.beginner().team(rules.seats);
        let (mut turns, mut dealt, mut exchanged) = (0, Vec::new(), BySeat::default());
        let winner = play_out(&mut game, |game, seat| {
            let hands = || BySeat::of_seats(rules.seats, |seat| game.hand(seat));
            if game.round() as usize > dealt.len() {
                dealt.push(hands());
            }
            if game.phase() == Phase::Play {
                if turns == 0 {
                    exchanged = hands();
                }
                turns += 1;
            }
            let mut decision = SeatDecision::new(game, seat, Default::default());
            if let Some(watching) = &mut watching {
                watching.see(&decision.view);
                decision.models = watching.models;
            }
            let choice = player.choose(&decision, &mut choices);
            if let Some(watching) = &mut watching {
                watching.see_choice(&decision.view, choice);
            }
            choice.action(seat)
        })?;
        Some(PlayedGame {
            winner,
            beginner,
            turns,
            dealt,
            exchanged,
        })
    }
}

/// A share, 0 to 1, and its 95% interval.
pub type Share = (f64, Interval);

/// The mean of games, of which `counts[i]` have `i / (counts.len() - 1)`.
fn share(counts: &[u32]) -> Share {
    (mean(counts), interval(counts))
}

/// What many games show.
pub struct Facts {
    rules: Rules,
    /// Rounds of a game, the last one included.
    pub rounds: Counts,
    /// Cards played and hands folded in a game.
    pub turns: Counts,
    /// Games that the team which began has lost, and won.
    begun: [u32; 2],
    /// Games by how many seats held no card that leaves the kennel after the first exchange.
    stuck: Vec<u32>,
    pub worth: CardWorth,
}

impl Facts {
    /// Of no games yet.
    pub fn new(rules: &Rules) -> Facts {
        Facts {
            rules: rules.clone(),
            rounds: Counts::default(),
            turns: Counts::default(),
            begun: [0; 2],
            stuck: vec![0; usize::from(rules.seats) + 1],
            worth: CardWorth::new(rules.deck()),
        }
    }

    /// Counts the game with this number.
    pub fn add(&mut self, number: u32, game: &PlayedGame) {
        let seats = self.rules.seats;
        self.rounds.add(game.dealt.len() as u32);
        self.turns.add(game.turns);
        self.begun[usize::from(game.beginner == game.winner)] += 1;
        let is_stuck = |seat: &Seat| !game.exchanged[*seat].ranks().any(leaves_kennel);
        self.stuck[Seat::all(seats).filter(is_stuck).count()] += 1;
        for hands in &game.dealt {
            let mut teams = vec![Cards::EMPTY; usize::from(seats / 2)];
            for seat in Seat::all(seats) {
                teams[usize::from(seat.team(seats))].add_all(hands[seat]);
            }
            self.worth.add(number, &teams, game.winner);
        }
    }

    /// The share of games that the team which began has won; 1 / teams is even.
    pub fn beginner(&self) -> Share {
        share(&self.begun)
    }

    /// The chance that a seat's first hand has no card that leaves the kennel when it is dealt. It
    /// is exact: the cards are drawn from the deck without replacement.
    pub fn stuck_when_dealt(&self) -> f64 {
        let deck = self.rules.deck();
        let others = deck.sorted().filter(|&card| !leaves_kennel(card)).count() as f64;
        let drawn = (0..self.rules.deal_sizes.in_round(1)).map(f64::from);
        drawn
            .map(|drawn| (others - drawn) / (f64::from(deck.len()) - drawn))
            .product()
    }

    /// The share of seats without such a card after the first exchange.
    pub fn stuck_when_exchanged(&self) -> Share {
        share(&self.stuck)
    }
}

/// The share of luck in the result of a game: of the variance of "this team wins", the part between
/// shuffles. A shuffle is all cards of a game and who begins. So luck is the variance over shuffles
/// of a team's chance to win, divided by the variance of its result: 1 if the shuffle decides who
/// wins, 0 if it says nothing. The rest is what equal players leave to chance in their choices.
///
/// No team is favoured before the shuffle. So with T teams the variance of a result is (1 − 1/T)/T,
/// and that of the chances p is E(p²) − 1/T². Summed over the teams, E(Σ p²) is how often two games
/// of one shuffle, with independent choices, have the same winner. From the share S of such pairs of
/// games luck is (S − 1/T) / (1 − 1/T), without bias: it is the intraclass correlation of the
/// one-way analysis of variance with known means. As one shuffle is one observation, S has the
/// interval of a share. `same_winner` counts the pairs with different winners and with the same.
pub fn luck(same_winner: [u32; 2], teams: u8) -> Share {
    let even = 1.0 / f64::from(teams);
    let scaled = |same: f64| (same - even) / (1.0 - even);
    let (same, Interval { low, high }) = share(&same_winner);
    let [low, high] = [low, high].map(scaled);
    (scaled(same), Interval { low, high })
}

/// How often each number was counted.
#[derive(Default)]
pub struct Counts(BTreeMap<u32, u32>);

impl Counts {
    /// Counts a number.
    pub fn add(&mut self, number: u32) {
        *self.0.entry(number).or_default() += 1;
    }

    /// The smallest number for which at least this share of all are not above it, and the ends of
    /// its 95% interval, which are such numbers for the ends of the share's. None of no numbers.
    pub fn quantile(&self, share: f64) -> Option<(u32, [u32; 2])> {
        let count: u32 = self.0.values().sum();
        let at = |share: f64| {
            let mut below = 0;
            let mut numbers = self.0.iter();
            let found = numbers.find(|(_, times)| {
                below += *times;
                f64::from(below) >= share * f64::from(count)
            });
            found.map(|(&number, _)| number)
        };
        let below = (share * f64::from(count)).round() as u32;
        let Interval { low, high } = interval(&[count - below, below]);
        Some((at(share)?, [at(low)?, at(high)?]))
    }
}

/// Parts of the games, each of which is left out once to estimate the errors of worths.
const PARTS: usize = 100;

/// The sums of a least-squares fit. Each card's row has the products of its number with that of
/// each card, then with the result.
type Fit = [[f64; CARDS + 1]; CARDS];

/// What each card is worth to a team at the start of a round: how much higher its chance to win is
/// with one more of this card among the cards dealt to its two seats, in place of an average card of
/// the deck, before the exchange. It is the mean over all rounds of games.
///
/// It is a linear regression. A row is a round and a team: how many of each card it was dealt, less
/// the mean of the other teams, and whether it won the game, less 1 / teams. All seats are dealt
/// equally many cards at random, whatever the board is, so nothing else has to be in the regression.
/// For the same reason the worths are only known relative to each other.
pub struct CardWorth {
    deck: Cards,
    parts: Vec<Fit>,
}

impl CardWorth {
    /// Of no rounds yet.
    pub fn new(deck: Cards) -> CardWorth {
        let parts = vec![Fit::default(); PARTS];
        CardWorth { deck, parts }
    }

    /// Adds a round of the game with this number: the cards dealt to each team, and the winner.
    pub fn add(&mut self, game: u32, teams: &[Cards], winner: u8) {
        let fit = &mut self.parts[game as usize % PARTS];
        let number = teams.len() as f64;
        for (team, own) in teams.iter().enumerate() {
            let mut row = [0.0; CARDS + 1];
            for card in Card::ALL {
                let all: f64 = teams.iter().map(|cards| f64::from(cards.count(card))).sum();
                let own = f64::from(own.count(card));
                row[card as usize] = own - (all - own) / (number - 1.0);
            }
            row[CARDS] = f64::from(u8::from(team == usize::from(winner))) - 1.0 / number;
            for (sums, count) in fit.iter_mut().zip(row) {
                for (sum, number) in sums.iter_mut().zip(row) {
                    *sum += count * number;
                }
            }
        }
    }

    /// The worth of each card of [`Card::ALL`], a difference of chances, and its standard error. NaN
    /// if there are too few rounds. The error is a jackknife of parts with whole games, since the
    /// rounds of a game have one result.
    pub fn worths(&self) -> [(f64, f64); CARDS] {
        let mut all = Fit::default();
        self.parts.iter().for_each(|part| add(&mut all, part, 1.0));
        let without = self.parts.iter().map(|part| {
            let mut others = all;
            add(&mut others, part, -1.0);
            self.solve(others)
        });
        let without: Vec<[f64; CARDS]> = without.collect();
        let worths = self.solve(all);
        std::array::from_fn(|card| {
            let values: Vec<f64> = without.iter().map(|worths| worths[card]).collect();
            let (_, error) = mean_and_error(&values);
            (worths[card], error * (PARTS as f64 - 1.0))
        })
    }

    /// The worths that fit best, such that those of the deck add up to 0.
    fn solve(&self, mut fit: Fit) -> [f64; CARDS] {
        // A row's numbers of cards add up to 0, and so do these sums. So what is added here has no
        // effect but that on the sum over the deck.
        for (row, card) in fit.iter_mut().zip(Card::ALL) {
            for (sum, other) in row.iter_mut().zip(Card::ALL) {
                *sum += f64::from(self.deck.count(card)) * f64::from(self.deck.count(other));
            }
        }
        // Gauss–Jordan. The matrix is positive definite, so every pivot is positive.
        for pivot in 0..CARDS {
            let pivot_row = fit[pivot];
            for row in (0..CARDS).filter(|&row| row != pivot) {
                let factor = fit[row][pivot] / pivot_row[pivot];
                for (sum, subtracted) in fit[row].iter_mut().zip(pivot_row) {
                    *sum -= factor * subtracted;
                }
            }
        }
        std::array::from_fn(|card| fit[card][CARDS] / fit[card][card])
    }
}

/// Adds other sums, times this.
fn add(fit: &mut Fit, other: &Fit, factor: f64) {
    let others = other.as_flattened();
    for (sum, other) in fit.as_flattened_mut().iter_mut().zip(others) {
        *sum += factor * other;
    }
}

#[cfg(test)]
mod tests {
    use dog_rules::{Action, Preset};
    use rand::{Rng, RngExt, seq::SliceRandom};

    use super::*;
    use crate::games::stream;

    /// A team, each with its chance.
    fn winner(chances: &[f64], rng: &mut impl Rng) -> u8 {
        let mut draw: f64 = rng.random();
        let found = chances.iter().position(|chance| {
            draw -= chance;
            draw < 0.0
        });
        found.unwrap_or(chances.len() - 1) as u8
    }

    /// The winners of two games each of 20,000 shuffles, of which each favours a team like this.
    fn winners(chances: &[f64]) -> Vec<[u8; 2]> {
        let mut rng = stream(1, 0);
        let mut chances = chances.to_vec();
        let mut shuffle = |_| {
            chances.shuffle(&mut rng);
            [(); 2].map(|()| winner(&chances, &mut rng))
        };
        (0..20_000).map(&mut shuffle).collect()
    }

    fn luck_of(winners: &[[u8; 2]], teams: u8) -> Share {
        let same = winners.iter().filter(|[one, other]| one == other).count() as u32;
        luck([winners.len() as u32 - same, same], teams)
    }

    #[test]
    fn luck_is_the_variance_of_the_chances() {
        for (chances, expected) in [
            // The variances are d² / (1/4) with two teams of ½ ± d.
            (vec![0.5, 0.5], 0.0),
            (vec![0.75, 0.25], 0.25),
            (vec![0.9, 0.1], 0.64),
            (vec![1.0, 0.0], 1.0),
            (vec![1.0 / 3.0; 3], 0.0),
            (vec![2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0], 0.25),
            (vec![0.0, 1.0, 0.0], 1.0),
        ] {
            let found = luck_of(&winners(&chances), chances.len() as u8);
            let (value, Interval { low, high }) = found;
            assert!((value - expected).abs() < 0.02, "{found:?}");
            assert!(low <= expected && expected <= high, "{found:?}");
            assert!(high - low < 0.04, "{found:?}");
        }
    }

    #[test]
    fn luck_is_the_intraclass_correlation() {
        let winners = winners(&[0.8, 0.2]);
        let games = winners.iter().map(|pair| pair.map(f64::from));
        let (pairs, mean) = (
            winners.len() as f64,
            games.clone().flatten().sum::<f64>() / 4e4,
        );
        let between = games
            .clone()
            .map(|[one, other]| ((one + other) / 2.0 - mean).powi(2));
        let between = 2.0 * between.sum::<f64>() / (pairs - 1.0);
        let within = games.map(|[one, other]| (one - other).powi(2) / 2.0);
        let within = within.sum::<f64>() / pairs;
        let correlation = (between - within) / (between + within);
        let found = luck_of(&winners, 2).0;
        assert!((found - correlation).abs() < 1e-3, "{found} {correlation}");
    }

    #[test]
    fn known_worths_are_found_within_their_errors() {
        let deck = Cards::deck(6);
        let count = |cards: Cards, card: Card| f64::from(cards.count(card));
        // The chances stay within 0 and 1, because the worths are small.
        let raw = Card::ALL.map(|card| 0.002 * (card as usize as f64));
        let weighted = Card::ALL.map(|card| count(deck, card) * raw[card as usize]);
        let average = weighted.iter().sum::<f64>() / f64::from(deck.len());
        let expected = raw.map(|worth| worth - average);
        for teams in [2, 3] {
            let (mut worth, mut rng) = (CardWorth::new(deck), stream(2, teams));
            let teams = teams as usize;
            for game in 0..20_000 {
                let mut chances = vec![1.0 / teams as f64; teams];
                let rounds: Vec<Vec<Cards>> = (0..4)
                    .map(|_| {
                        let mut pile: Vec<Card> = deck.sorted().collect();
                        pile.shuffle(&mut rng);
                        let hands = pile.chunks(5).take(teams);
                        hands.map(|hand| hand.iter().copied().collect()).collect()
                    })
                    .collect();
                for hands in &rounds {
                    let sums = hands.iter().map(|&hand| {
                        let worth = |card: Card| count(hand, card) * expected[card as usize];
                        Card::ALL.map(worth).iter().sum::<f64>()
                    });
                    let sums: Vec<f64> = sums.collect();
                    let all: f64 = sums.iter().sum();
                    for (chance, own) in chances.iter_mut().zip(sums) {
                        *chance += own - (all - own) / (teams as f64 - 1.0);
                    }
                }
                let won = winner(&chances, &mut rng);
                for hands in &rounds {
                    worth.add(game, hands, won);
                }
            }
            let found = worth.worths();
            let total: f64 = Card::ALL
                .iter()
                .map(|&card| count(deck, card) * found[card as usize].0)
                .sum();
            assert!(total.abs() < 1e-9, "{total}");
            let mut squares = 0.0;
            for (card, expected) in Card::ALL.into_iter().zip(expected) {
                let (value, error) = found[card as usize];
                let share = count(deck, card) / f64::from(deck.len());
                let variance = 5.0 * share * (1.0 - share) * teams as f64 / (teams as f64 - 1.0);
                let expected_error = (80_000.0 * variance).sqrt().recip() / teams as f64;
                assert!((0.7..1.3).contains(&(error / expected_error)), "{error}");
                squares += ((value - expected) / error).powi(2);
            }
            // 13 are expected, with a standard deviation of 5.
            assert!((3.0..30.0).contains(&squares), "{squares}: {found:?}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_numbers() {
        let mut counts = Counts::default();
        assert_eq!(counts.quantile(0.5), None);
        (0..1_000).rev().for_each(|number| counts.add(number));
        // 0.5 ± 1.96 · √(0.25 / 1,004), 0.898 ± 1.96 · √(0.0913 / 1,004).
        assert_eq!(counts.quantile(0.5), Some((499, [469, 530])));
        assert_eq!(counts.quantile(0.9), Some((899, [879, 917])));
        (0..9_000).for_each(|_| counts.add(7));
        assert_eq!(counts.quantile(0.5), Some((7, [7, 7])));
    }

    #[test]
    fn a_game_shows_what_was_dealt_and_swapped() {
        for rules in ["dogspiel-it", "familienlager seats=6"] {
            let rules: Rules = rules.parse().unwrap();
            let player: PlayerSpec = "greedy".parse().unwrap();
            let streams = [0, 1].map(|part| stream(3, part));
            let mut policy = player.build();
            let game = PlayedGame::play(&rules, &player, policy.as_mut(), streams).unwrap();
            let mut most = 0;
            for (round, hands) in (1..).zip(&game.dealt) {
                let size = rules.deal_sizes.in_round(round);
                assert!(Seat::all(rules.seats).all(|seat| hands[seat].len() == size));
                most += u32::from(size) * u32::from(rules.seats);
            }
            assert!((most / 2..=most).contains(&game.turns), "{}", game.turns);
            let mut swapped = 0;
            for seat in Seat::all(rules.seats) {
                let [before, after] = [game.dealt[0], game.exchanged].map(|hands| hands[seat]);
                let kept: u8 = Card::ALL
                    .iter()
                    .map(|&card| before.count(card).min(after.count(card)))
                    .sum();
                assert!(kept + 1 >= before.len() && after.len() == before.len());
                swapped += u8::from(kept < before.len());
            }
            assert!(swapped > 0);
            let mut facts = Facts::new(&rules);
            for (number, others) in (0..).zip([0, 0, 0, 1]) {
                let winner = (game.beginner + others) % (rules.seats / 2);
                facts.add(
                    number,
                    &PlayedGame {
                        winner,
                        ..game.clone()
                    },
                );
            }
            assert_eq!(facts.beginner().0, 0.75);
            let rounds = facts.rounds.quantile(0.5).map(|(rounds, _)| rounds);
            assert_eq!(rounds, Some(game.dealt.len() as u32));
        }
    }

    #[test]
    fn first_hands_are_as_often_stuck_as_is_computed() {
        for preset in [Preset::DogspielIt, Preset::Hausregeln] {
            let rules = preset.rules();
            let (mut rng, mut stuck) = (stream(4, 0), 0);
            for _ in 0..5_000 {
                let mut game = set_up(&rules, &mut rng);
                game.apply(&Action::Deal { by: None }).unwrap();
                let hands = Seat::all(4).map(|seat| game.hand(seat));
                stuck += hands
                    .filter(|hand| !hand.ranks().any(leaves_kennel))
                    .count();
            }
            let found = stuck as f64 / 20_000.0;
            let computed = Facts::new(&rules).stuck_when_dealt();
            assert!((found - computed).abs() < 0.01, "{found} {computed}");
        }
    }
}
