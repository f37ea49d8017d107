//! Random rules and positions, the interesting fields more often than the others.

use dog_server::rules::{
    board::{Board, Placement},
    options::{
        DealSizes, Dealer, Exchange, GoalEntry, Options, Preset, Protection, Rules, SevenLanding,
        SevenPartner, SevenSurplus,
    },
    seat::Seat,
};
use rand::{Rng, RngExt, seq::IndexedRandom};

/// A preset, now and then with options of its own.
pub fn rules(rng: &mut impl Rng) -> Rules {
    loop {
        let preset = *Preset::ALL.choose(rng).expect("five presets");
        if let Ok(rules) = Rules::try_from(options(rng, preset)) {
            return rules;
        }
    }
}

fn options(rng: &mut impl Rng, preset: Preset) -> Options {
    let mut options = preset.options();
    if rng.random_bool(0.3) {
        options.seats = 6;
    }
    if rng.random_bool(0.4) {
        return options;
    }
    for option in 0..14 {
        if rng.random_bool(0.6) {
            continue;
        }
        let first = rng.random();
        let protection = if first {
            Protection::Always
        } else {
            Protection::Fresh
        };
        match option {
            0 => options.fields_per_seat = if first { 15 } else { 16 },
            1 => options.jokers = rng.random_range(0..=12),
            2 => {
                let mut sizes = |longest| -> Vec<u8> {
                    let length = rng.random_range(1..=longest);
                    (0..length).map(|_| rng.random_range(1..=8)).collect()
                };
                options.deal_sizes = DealSizes {
                    first: sizes(4),
                    then: sizes(3),
                };
            }
            3 => {
                options.dealer = if first {
                    Dealer::Rotates
                } else {
                    Dealer::Fixed
                }
            }
            4 => {
                options.exchange = if first {
                    Exchange::Mandatory
                } else {
                    Exchange::Optional
                }
            }
            5 => options.start_block = protection,
            6 => options.start_swap_protection = protection,
            7 => {
                options.goal_entry = if first {
                    GoalEntry::OnStart
                } else {
                    GoalEntry::BeforeStart
                }
            }
            8 => options.backward_into_goal = first,
            9 => {
                options.seven_landing = if first {
                    SevenLanding::Captures
                } else {
                    SevenLanding::MustBeFree
                }
            }
            10 => {
                options.seven_surplus = if first {
                    SevenSurplus::MustBeUsed
                } else {
                    SevenSurplus::LapsesOnWin
                }
            }
            11 => {
                options.seven_partner = if first {
                    SevenPartner::WhenHome
                } else {
                    SevenPartner::Always
                }
            }
            12 => options.jack_own_pair = first,
            _ => options.jack_without_effect = first,
        }
    }
    options
}

/// A board on which no team has won.
pub fn board(rng: &mut impl Rng, rules: &Rules) -> Board {
    loop {
        let board = any_board(rng, rules);
        if board.winner(rules).is_none() {
            return board;
        }
    }
}

fn any_board(rng: &mut impl Rng, rules: &Rules) -> Board {
    let length = rules.ring().length();
    let mut placements: Vec<Placement> = Vec::new();
    let mut free: Vec<bool> = vec![true; usize::from(length)];
    // Pieces crowd around one field, so that they meet.
    let crowd = rng.random_range(0..length);
    for seat in Seat::all(rules.seats) {
        let mut placement = Placement::default();
        let home = rng.random_bool(0.15);
        for piece in 0..4 {
            if home && (piece > 0 || rng.random()) {
                placement.goal.push(piece);
                continue;
            }
            let field = match rng.random_range(0..10) {
                0..2 => continue,
                2 => rules.ring().start(seat),
                3 => rules.ring().start(
                    *rules
                        .ring()
                        .seats()
                        .collect::<Vec<_>>()
                        .choose(rng)
                        .expect("a seat"),
                ),
                4 => rules
                    .ring()
                    .backward(rules.ring().door(seat), rng.random_range(0..7)),
                5 | 6 => rules.ring().forward(crowd, rng.random_range(0..9)),
                7 | 8 => rng.random_range(0..length),
                _ => {
                    let field = rng.random_range(0..4);
                    if !home && !placement.goal.contains(&field) {
                        placement.goal.push(field);
                    }
                    continue;
                }
            };
            if std::mem::take(&mut free[usize::from(field)]) {
                placement.track.push(field);
            }
        }
        let on_start = placement.track.contains(&rules.ring().start(seat));
        placement.fresh = on_start && rng.random();
        placements.push(placement);
    }
    Board::place(rules, &placements).expect("a possible board")
}
