//! The chance to win that a score stands for.

use crate::rules::{
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

/// The power of the odds that thinking ahead comes to. The net learnt from games in which now and
/// then something is tried out; those who think ahead spoil less of a lead. Fitted by
/// `dog calibrate fast --samples 12`, over all presets.
const SHARPNESS: f64 = 1.0;
/// The same with three teams.
const SHARPNESS_OF_THREE: f64 = 1.0;

/// The chance that a team wins from this board with a score (see [`super::greedy`]), 0 to 1, in
/// ten-thousandths: exponentials differ between machines in digits far behind those. The higher
/// the score, the higher the chance; with a score of nothing every team has the same.
pub fn to_win(rules: &Rules, board: &Board, score: f64) -> f64 {
    let steps = (STEPS + STEPS_A_PIECE * left(rules, board)).min(STEPS_AT_MOST);
    let other_teams = f64::from(rules.seats / 2 - 1);
    rounded(1.0 / (1.0 + other_teams * (-score / steps).exp()))
}

/// The chance that a team wins where thinking ahead came to this one, in ten-thousandths, and how
/// much it changes with it.
pub fn of_thought(rules: &Rules, chance: f64) -> (f64, f64) {
    let power = if rules.seats == 4 {
        SHARPNESS
    } else {
        SHARPNESS_OF_THREE
    };
    let (won, lost) = (chance.powf(power), (1.0 - chance).powf(power));
    let sharp = won / (won + lost);
    let spread = chance * (1.0 - chance);
    let slope = if spread > 0.0 {
        power * sharp * (1.0 - sharp) / spread
    } else {
        0.0
    };
    (rounded(sharp), slope)
}

fn rounded(chance: f64) -> f64 {
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
    use super::*;
    use crate::{bot::evaluate::WON, rules::options::Preset};

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

    #[test]
    fn thoughts_keep_their_order() {
        for preset in Preset::ALL {
            let rules = preset.rules();
            assert_eq!(of_thought(&rules, 0.0), (0.0, 0.0));
            assert_eq!(of_thought(&rules, 1.0), (1.0, 0.0));
            assert_eq!(of_thought(&rules, 0.5).0, 0.5);
            for percent in 1..100 {
                let chance = f64::from(percent) / 100.0;
                let (here, slope) = of_thought(&rules, chance);
                let (next, _) = of_thought(&rules, chance + 0.001);
                assert!(here < next && next < 1.0);
                assert!((slope - 1_000.0 * (next - here)).abs() < 0.15, "{slope}");
            }
        }
    }
}
