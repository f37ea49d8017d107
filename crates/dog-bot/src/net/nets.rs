//! The nets that the program carries with it, one a [`Setting`].

use dog_rules::options::Rules;
use thiserror::Error;

use super::{
    file::{self, NetError},
    judge::Judge,
    setting::Setting,
};

/// A net for every table.
#[derive(Clone, Debug)]
pub struct Nets {
    judges: [Judge; Setting::ALL.len()],
}

/// A net of this program's does not fit it.
#[derive(Debug, Error)]
#[error("the net {name} cannot be used: {error}", name = .setting.name())]
pub struct NetsError {
    pub setting: Setting,
    pub error: NetError,
}

/// The files, compiled into the program.
fn file_of(setting: Setting) -> &'static [u8] {
    match setting {
        Setting::Four15 => include_bytes!("weights/four-15.net"),
        Setting::Four16 => include_bytes!("weights/four-16.net"),
        Setting::Six => include_bytes!("weights/six.net"),
    }
}

impl Nets {
    /// The nets that the program was built with.
    ///
    /// # Errors
    /// If one of them is not of this program's inputs and rules.
    pub fn built_in() -> Result<Nets, NetsError> {
        let read = |setting| {
            let judge = file::read(file_of(setting)).and_then(|(judge, header)| {
                header.fits(setting)?;
                Ok(judge)
            });
            judge.map_err(|error| NetsError { setting, error })
        };
        let [first, second, third] = Setting::ALL.map(read);
        Ok(Nets {
            judges: [first?, second?, third?],
        })
    }

    /// The net for these rules.
    pub fn of(&self, rules: &Rules) -> &Judge {
        &self.judges[Setting::of(rules) as usize]
    }

    /// Takes another net for a setting.
    pub fn replace(&mut self, setting: Setting, judge: Judge) {
        self.judges[setting as usize] = judge;
    }
}
