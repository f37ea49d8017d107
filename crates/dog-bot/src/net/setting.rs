//! Which net is for which table.

use dog_rules::options::{Options, Preset, Rules};
use serde::{Deserialize, Serialize};

/// The tables that one net serves. A ring of 60 fields differs from one of 64 in every distance,
/// so each has its own net; with six seats one net serves both, told by an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Setting {
    /// Four seats, 15 fields a seat.
    #[serde(rename = "four-15")]
    Four15,
    /// Four seats, 16 fields a seat.
    #[serde(rename = "four-16")]
    Four16,
    /// Six seats.
    #[serde(rename = "six")]
    Six,
}

impl Setting {
    pub const ALL: [Setting; 3] = [Setting::Four15, Setting::Four16, Setting::Six];

    /// The setting of these rules.
    pub fn of(rules: &Rules) -> Setting {
        match (rules.seats, rules.fields_per_seat) {
            (6, _) => Setting::Six,
            (_, 15) => Setting::Four15,
            _ => Setting::Four16,
        }
    }

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Setting::Four15 => "four-15",
            Setting::Four16 => "four-16",
            Setting::Six => "six",
        }
    }

    /// The setting of that name, if there is one.
    pub fn by_name(name: &str) -> Option<Setting> {
        Setting::ALL
            .into_iter()
            .find(|setting| setting.name() == name)
    }

    /// Seats at the table.
    pub const fn seats(self) -> u8 {
        match self {
            Setting::Six => 6,
            _ => 4,
        }
    }

    /// A preset's options on this board and for so many seats.
    pub fn options(self, preset: Preset) -> Options {
        let mut options = preset.options();
        options.seats = self.seats();
        match self {
            Setting::Four15 => options.fields_per_seat = 15,
            Setting::Four16 => options.fields_per_seat = 16,
            Setting::Six => {}
        }
        options
    }
}
