//! Which rules the games of a training run are played by.

use dog_bot::net::setting::Setting;
use dog_rules::options::{
    Exchange, GoalEntry, Options, Preset, Protection, Rules, SevenLanding, SevenPartner,
    SevenSurplus,
};
use rand::{Rng, RngExt};

/// One game in so many is played by options set at random, so that the net has seen them all.
const RANDOM: u32 = 7;
/// How likely each option of such a game is another than the preset's.
const CHANGED: f64 = 0.3;

/// The rules of one game: a preset that fits the setting, sometimes with other options.
pub fn rules(setting: Setting, rng: &mut impl Rng) -> Rules {
    let random = rng.random_range(0..RANDOM) == 0;
    if !random {
        let mut presets = presets(setting);
        return presets.swap_remove(rng.random_range(0..presets.len()));
    }
    let preset = Preset::ALL[rng.random_range(0..Preset::ALL.len())];
    let mut options = on_board(setting, preset);
    change(&mut options, setting, rng);
    Rules::try_from(options).expect("options that go together")
}

/// The presets that are played on the setting's board as they are published; with six seats all.
pub fn presets(setting: Setting) -> Vec<Rules> {
    let rules = Preset::ALL.map(|preset| {
        let published = setting == Setting::Six || Setting::of(&preset.rules()) == setting;
        published.then(|| on_board(setting, preset))
    });
    let possible = |options| Rules::try_from(options).expect("options that go together");
    rules.into_iter().flatten().map(possible).collect()
}

/// A preset's options on the setting's board.
fn on_board(setting: Setting, preset: Preset) -> Options {
    let mut options = preset.options();
    match setting {
        Setting::Four15 => options.fields_per_seat = 15,
        Setting::Four16 => options.fields_per_seat = 16,
        Setting::Six => options.seats = 6,
    }
    options
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
