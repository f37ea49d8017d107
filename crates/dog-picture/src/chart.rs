//! The chances of the teams over a game, as a curve for each team.

use dog_rules::Seat;

use crate::{
    layout::{Number, Point, WIDTH},
    style::{Escaped, Palette, SvgWriter, Theme, fitted, shape},
};

const HEIGHT: f64 = 480.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 970.0;
const TOP: f64 = 90.0;
const BOTTOM: f64 = 430.0;
/// The size of the names of teams.
const NAME_SIZE: f64 = 22.0;
/// The line with the names of the teams.
const LEGEND: f64 = 46.0;

/// The dashes of the curves, by team, so that they differ without colours.
const DASHES: [&str; 3] = ["none", "14 8", "3 7"];

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub struct Chart<'a> {
    /// The number of seats.
    pub seats: u8,
    /// The last version of the game.
    pub last: u64,
    pub rounds: &'a [ChartRound],
    pub marks: &'a [ChartMark],
    /// The title of the picture, for people who cannot see it.
    pub title: &'a str,
    /// The names of the teams, in order.
    pub teams: &'a [String],
    pub theme: Theme,
}

/// A round on the curves. The lists have one chance per team.
#[derive(Clone, Debug)]
pub struct ChartRound {
    pub number: u32,
    /// The version of the deal.
    pub version: u64,
    /// The version of the next deal, or of the end of the game.
    pub until: u64,
    /// The chances before the deal.
    pub before: Vec<f64>,
    /// The chances with the hands that were dealt.
    pub dealt: Vec<f64>,
    /// The chances before the next deal, or at the end of the game.
    pub end: Vec<f64>,
}

/// A decision that is marked.
#[derive(Clone, Copy, Debug)]
pub struct ChartMark {
    pub version: u64,
    pub seat: Seat,
    /// How much it cost, 0 to 1.
    pub loss: f64,
}

/// Draws the chart: an SVG document as [`crate::svg`] draws one. With two teams there is one curve:
/// below it is the chance of the first, above it that of the other.
pub fn chart(chart: &Chart<'_>) -> String {
    let mut ink = SvgWriter::new(chart.theme);
    let Palette {
        background,
        text,
        ring,
        ..
    } = *ink.palette();
    let title = Escaped(chart.title);
    ink.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         preserveAspectRatio=\"xMidYMid meet\" role=\"img\" font-family=\"sans-serif\" \
         fill=\"{text}\"><title>{title}</title>\
         <rect x=\"2\" y=\"2\" width=\"{inner_width}\" height=\"{inner_height}\" rx=\"28\" \
         fill=\"{background}\" stroke=\"{ring}\" stroke-width=\"4\"/>",
        width = Number(WIDTH),
        height = Number(HEIGHT),
        inner_width = Number(WIDTH - 4.0),
        inner_height = Number(HEIGHT - 4.0),
    ));
    axes(&mut ink, chart);
    let teams = usize::from(chart.seats / 2);
    for team in 0..teams {
        curve(&mut ink, chart, team, teams);
    }
    for mark in chart.marks {
        self::mark(&mut ink, chart, mark);
    }
    ink.add(format_args!("</svg>\n"));
    ink.text()
}

/// Where a version is on the time axis.
fn x(chart: &Chart<'_>, version: u64) -> f64 {
    let share = version.min(chart.last) as f64 / chart.last.max(1) as f64;
    LEFT + (RIGHT - LEFT) * share
}

/// Where a chance is.
fn y(chance: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * chance.clamp(0.0, 1.0)
}

/// The chances in steps of a quarter, and the rounds.
fn axes(ink: &mut SvgWriter, chart: &Chart<'_>) {
    let Palette { faded, edge, .. } = *ink.palette();
    for percent in [0, 25, 50, 75, 100] {
        let at = Number(y(f64::from(percent) / 100.0));
        let opacity = if percent == 50 { "0.8" } else { "0.3" };
        ink.add(format_args!(
            "<path stroke=\"{edge}\" stroke-opacity=\"{opacity}\" d=\"M{} {at}H{}\"/>\
             <text x=\"{}\" y=\"{at}\" dy=\"7\" font-size=\"20\" text-anchor=\"end\" \
             fill=\"{faded}\">{percent} %</text>",
            Number(LEFT),
            Number(RIGHT),
            Number(LEFT - 10.0),
        ));
    }
    // At most twenty numbers fit below.
    let every = chart.rounds.len().div_ceil(20).max(1);
    for (place, round) in chart.rounds.iter().enumerate() {
        let at = Number(x(chart, round.version));
        ink.add(format_args!(
            "<path stroke=\"{edge}\" stroke-opacity=\"0.3\" d=\"M{at} {}V{}\"/>",
            Number(TOP),
            Number(BOTTOM)
        ));
        if place % every == 0 {
            ink.add(format_args!(
                "<text x=\"{at}\" y=\"{}\" font-size=\"18\" fill=\"{faded}\">{}</text>",
                Number(BOTTOM + 26.0),
                round.number
            ));
        }
    }
}

/// The name of a team, one of `teams`, and its curve. Two teams share one, and have areas.
fn curve(ink: &mut SvgWriter, chart: &Chart<'_>, team: usize, teams: usize) {
    let Some(seat) = Seat::new(team as u8, chart.seats) else {
        return;
    };
    let drawn = if teams == 2 { 0 } else { team };
    let (colour, dashes) = (ink.colours(seat).line, DASHES[drawn % DASHES.len()]);
    let mut points = Vec::new();
    for round in chart.rounds {
        let begin = x(chart, round.version);
        points.extend([
            (begin, round.before[drawn]),
            (begin, round.dealt[drawn]),
            (x(chart, round.until), round.end[drawn]),
        ]);
    }
    let points = points
        .into_iter()
        .map(|(x, chance)| Point { x, y: y(chance) });
    let line: Vec<String> = points.map(|at| at.to_string()).collect();
    let line = line.join("L");
    let (edge, side) = if team == 0 {
        (BOTTOM, 14.0)
    } else {
        (TOP, -14.0)
    };
    if teams == 2
        && let Some(first) = chart.rounds.first()
    {
        ink.add(format_args!(
            "<path fill=\"{colour}\" fill-opacity=\"0.3\" d=\"M{line}V{}H{}Z\"/>",
            Number(edge),
            Number(x(chart, first.version)),
        ));
    }
    if drawn == team {
        ink.add(format_args!(
            "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"4\" \
             stroke-linejoin=\"round\" stroke-dasharray=\"{dashes}\" d=\"M{line}\"/>"
        ));
    }
    let name = chart.teams.get(team).map_or("", String::as_str);
    let room = (RIGHT - LEFT) / teams as f64;
    let place = LEFT + room * team as f64;
    let area = if teams == 2 {
        format!("v{}h-50Z", Number(side))
    } else {
        String::new()
    };
    ink.add(format_args!(
        "<path fill=\"{colour}\" fill-opacity=\"0.3\" stroke=\"{colour}\" stroke-width=\"4\" \
         stroke-dasharray=\"{dashes}\" d=\"M{} {line}h50{area}\"/>\
         <text x=\"{}\" y=\"{line}\" dy=\"7\" font-size=\"{NAME_SIZE}\">{}</text>",
        Number(place),
        Number(place + 60.0),
        Escaped(&fitted(name, (room - 80.0) / NAME_SIZE)),
        line = Number(LEGEND),
    ));
}

/// A mark of a decision on the curve of its team: the seat's shape, larger if it cost more.
fn mark(ink: &mut SvgWriter, chart: &Chart<'_>, mark: &ChartMark) {
    let mut rounds = chart.rounds.iter();
    let Some(round) =
        rounds.find(|round| (round.version + 1..=round.until).contains(&mark.version))
    else {
        return;
    };
    let colours = ink.colours(mark.seat);
    // With two teams the one curve is the first team's.
    let team = if chart.seats == 4 {
        0
    } else {
        usize::from(mark.seat.team(chart.seats))
    };
    let share = (mark.version - round.version) as f64 / (round.until - round.version) as f64;
    let at = Point {
        x: x(chart, mark.version),
        y: y(round.dealt[team] + share * (round.end[team] - round.dealt[team])),
    };
    let attributes = format!(
        " fill=\"{}\" stroke=\"{}\" stroke-width=\"2\" data-version=\"{}\"",
        colours.piece, colours.line, mark.version
    );
    shape(
        ink,
        mark.seat,
        at,
        7.0 + 30.0 * mark.loss.min(0.4),
        &attributes,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chart of two rounds, in which the first team goes from half to all, with two marks.
    fn drawn(seats: u8) -> String {
        let chances = |first: f64| {
            let mut chances =
                vec![(1.0 - first) / f64::from(seats / 2 - 1); usize::from(seats / 2)];
            chances[0] = first;
            chances
        };
        let round = |number, version, [before, dealt, end]: [f64; 3]| ChartRound {
            number,
            version,
            until: version + 50,
            before: chances(before),
            dealt: chances(dealt),
            end: chances(end),
        };
        let mark = |version, loss| ChartMark {
            version,
            seat: Seat::new(1, seats).expect("a seat"),
            loss,
        };
        let teams = ["Anna & <Bea>", "Carla", "Dani"].map(str::to_owned);
        chart(&Chart {
            seats,
            last: 100,
            rounds: &[
                round(1, 0, [0.5, 0.75, 0.25]),
                round(2, 50, [0.25, 0.5, 1.0]),
            ],
            marks: &[mark(60, 0.1), mark(0, 0.2)],
            title: "Chance to win",
            teams: &teams,
            theme: Theme::Light,
        })
    }

    /// The points of the curves, which are the paths with rounded corners.
    fn curves(svg: &str) -> Vec<&str> {
        let paths = svg.split("<path ").skip(1);
        let curves = paths.filter(|path| path.contains("stroke-linejoin"));
        curves
            .filter_map(|path| path.split(" d=\"").nth(1)?.split('"').next())
            .collect()
    }

    #[test]
    fn a_chart_draws_the_chances_over_the_versions() {
        let svg = drawn(4);
        // From left to right, and from the bottom to the top; the deals are vertical.
        let left_to_right = "M90 260L90 175L530 345L530 345L530 260L970 90";
        assert_eq!(curves(&svg), [left_to_right]);
        assert!(svg.contains("Anna &amp; &lt;Bea&gt;") && svg.contains("Carla"));
        for edge in ["V430H90Z", "V90H90Z"] {
            assert!(svg.contains(&format!("{left_to_right}{edge}")), "{svg}");
        }
        assert!(svg.contains("data-version=\"60\""));
        // Before the first round there is nothing to mark.
        assert!(!svg.contains("data-version=\"0\""));
    }

    #[test]
    fn three_teams_have_a_curve_each() {
        let svg = drawn(6);
        assert_eq!(curves(&svg).len(), 3);
        assert!(["Carla", "Dani"].iter().all(|name| svg.contains(name)));
    }
}
