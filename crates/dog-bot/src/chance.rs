//! The chance to win that a score stands for.

use dog_rules::{
    board::{Board, PIECES},
    options::Rules,
    seat::Seat,
};

/// How many steps of lead make the odds e : 1, with nothing left to bring home.
///
/// These three were fitted to 10 000 games of greedy against itself under the five presets: the
/// steps that fitted best grew with the pieces that the team nearest to its victory still had to
/// bring home, 120 for one, 200 for two, 280 for three, 320 for four, and 350 for more. Checked
/// on other games, 84 to 86 of 100 teams given a chance of 0.85 won; with three teams, which the
/// fit left out, 71.
const STEPS: f64 = 60.0;
/// The same for each piece that is left.
const STEPS_A_PIECE: f64 = 65.0;
/// The same at most.
const STEPS_AT_MOST: f64 = 350.0;

/// The chance that a team wins from this board with a score (see [`super::greedy`]), 0 to 1, in
/// ten-thousandths: exponentials differ between machines in digits far behind those. The higher
/// the score, the higher the chance; with a score of nothing every team has the same.
pub fn to_win(rules: &Rules, board: &Board, score: f64) -> f64 {
    let steps = (STEPS + STEPS_A_PIECE * left(rules, board)).min(STEPS_AT_MOST);
    let other_teams = f64::from(rules.seats / 2 - 1);
    let chance = 1.0 / (1.0 + other_teams * (-score / steps).exp());
    (chance * 10_000.0).round() / 10_000.0
}

/// The pieces that the team nearest to its victory has to bring home.
fn left(rules: &Rules, board: &Board) -> f64 {
    let at_home = |seat: Seat| {
        let partner = seat.partner(rules.seats);
        board.goal(seat).count_ones() + board.goal(partner).count_ones()
    };
    let most = rules.ring().seats().map(at_home).max().unwrap_or(0);
    f64::from(2 * u32::from(PIECES) - most)
}

#[cfg(test)]
mod tests {
    use dog_rules::options::Preset;

    use super::*;
    use crate::evaluate::WON;

    #[test]
    fn chances_rise_with_the_score() {
        let rules = Preset::DogspielIt.rules();
        let chance = |score| to_win(&rules, &Board::new(), score);
        assert_eq!(chance(-WON), 0.0);
        assert!(chance(-50.0) < chance(-10.0));
        assert_eq!(chance(0.0), 0.5);
        assert!(chance(10.0) < chance(50.0));
        assert_eq!(chance(WON), 1.0);
    }
}
