//! Which rules the games of a training run are played by.

use rand::{Rng, RngExt};

use crate::{
    bot::net::inputs::Setting,
    rules::options::{
        Exchange, GoalEntry, Options, Preset, Protection, Rules, SevenLanding, SevenPartner,
        SevenSurplus,
    },
};

/// One game in so many is played by options set at random, so that the net has seen them all.
const RANDOM: u32 = 7;
/// How likely each option of such a game is another than the preset's.
const CHANGED: f64 = 0.3;

/// The rules of one game: a preset that fits the setting, sometimes with other options.
pub fn rules(setting: Setting, rng: &mut impl Rng) -> Rules {
    let presets: Vec<Preset> = Preset::ALL
        .into_iter()
        .filter(|&p| fits(setting, p))
        .collect();
    let random = rng.random_range(0..RANDOM) == 0;
    let preset = if random {
        Preset::ALL[rng.random_range(0..Preset::ALL.len())]
    } else {
        presets[rng.random_range(0..presets.len())]
    };
    let mut options = preset.options();
    match setting {
        Setting::Four15 => options.fields_per_seat = 15,
        Setting::Four16 => options.fields_per_seat = 16,
        Setting::Six => options.seats = 6,
    }
    if random {
        change(&mut options, setting, rng);
    }
    Rules::try_from(options).expect("options that go together")
}

/// Whether a preset, as it is published, is played on the setting's board.
fn fits(setting: Setting, preset: Preset) -> bool {
    setting == Setting::Six || Setting::of(&preset.rules()) == setting
}

fn change(options: &mut Options, setting: Setting, rng: &mut impl Rng) {
    let mut other = || rng.random_bool(CHANGED);
    let block = |protection| match protection {
        Protection::Always => Protection::Fresh,
        Protection::Fresh => Protection::Always,
    };
    if setting == Setting::Six && other() {
        options.fields_per_seat = 31 - options.fields_per_seat;
    }
    if other() {
        options.exchange = match options.exchange {
            Exchange::Mandatory => Exchange::Optional,
            Exchange::Optional => Exchange::Mandatory,
        };
    }
    if other() {
        options.start_block = block(options.start_block);
    }
    if other() {
        options.start_swap_protection = block(options.start_swap_protection);
    }
    if other() {
        options.goal_entry = match options.goal_entry {
            GoalEntry::OnStart => GoalEntry::BeforeStart,
            GoalEntry::BeforeStart => GoalEntry::OnStart,
        };
    }
    options.backward_into_goal ^= other();
    options.backward_into_goal &= options.goal_entry == GoalEntry::BeforeStart;
    if other() {
        options.seven_landing = match options.seven_landing {
            SevenLanding::Captures => SevenLanding::MustBeFree,
            SevenLanding::MustBeFree => SevenLanding::Captures,
        };
    }
    if other() {
        options.seven_surplus = match options.seven_surplus {
            SevenSurplus::MustBeUsed => SevenSurplus::LapsesOnWin,
            SevenSurplus::LapsesOnWin => SevenSurplus::MustBeUsed,
        };
    }
    if other() {
        options.seven_partner = match options.seven_partner {
            SevenPartner::WhenHome => SevenPartner::Always,
            SevenPartner::Always => SevenPartner::WhenHome,
        };
    }
    options.jack_own_pair ^= other();
    options.jack_without_effect ^= other();
    if other() {
        options.jokers = rng.random_range(0..=12);
    }
}
