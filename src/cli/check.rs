//! `dog check`: finds what is wrong with a database.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{location, print};

#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    database: location::DatabaseArgs,
}

impl CheckArgs {
    /// Replays every game, and reads every page of a file; prints a line for each defect.
    ///
    /// # Errors
    /// If there is a defect, or no database.
    pub fn run(self) -> anyhow::Result<()> {
        let location = self.database.location()?;
        let checked = with_bar("games", |progress| location.check(progress))?
            .with_context(|| format!("cannot check the {}", location.name()))?;
        for defect in &checked.defects {
            print(&format!("{defect}\n"))?;
        }
        print(&format!(
            "{} games, {} versions, {} bytes\n",
            checked.games, checked.versions, checked.bytes
        ))?;
        match checked.defects.len() {
            0 => Ok(()),
            1 => bail!("1 thing is wrong with the {}", location.name()),
            many => bail!("{many} things are wrong with the {}", location.name()),
        }
    }
}

/// Does work with a progress bar for these things, shown only on a terminal. The work says how much
/// is done, of how much.
pub(super) fn with_bar<T>(
    what: &'static str,
    work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> T,
) -> anyhow::Result<T> {
    let style =
        ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg}, {elapsed}, {eta} left")?;
    let bar = ProgressBar::new(0).with_style(style).with_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    let done = work(&mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    Ok(done)
}
