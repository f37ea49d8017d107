//! The `dog` command.

use std::process::ExitCode;

use dog_server::{Listeners, cli::Cli};

fn main() -> ExitCode {
    // First, while there is one thread.
    let passed = Listeners::passed();
    match Cli::start().run(passed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::error!("{}", error_chain(&error));
            ExitCode::FAILURE
        }
    }
}

/// An error with its causes. A cause that the error's own text names already is not repeated.
fn error_chain(error: &anyhow::Error) -> String {
    let mut causes = error.chain().map(ToString::to_string);
    let mut text = causes.next().unwrap_or_default();
    for cause in causes {
        if !text.contains(&cause) {
            text = text + ": " + &cause;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::error_chain;

    #[test]
    fn each_cause_is_named_once() {
        let error = anyhow!("no space").context("cannot write: no space");
        assert_eq!(
            error_chain(&error.context("failed")),
            "failed: cannot write: no space"
        );
    }
}
