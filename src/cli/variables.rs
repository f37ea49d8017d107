//! The environment variables that set options.

use std::{collections::BTreeSet, env, ffi::OsStr, process};

use clap::{
    Arg, ArgMatches, Command, CommandFactory,
    error::{ContextKind, ContextValue},
    parser::ValueSource,
};

use super::Cli;

/// What the names of all variables begin with.
const PREFIX: &str = "DOG_";

/// Prints an error of the command line and ends the process. If the value came from the
/// environment, names the variable.
pub fn exit(error: &clap::Error) -> ! {
    // As clap does: there is nowhere to report that it cannot be printed.
    let _ = error.print();
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(variable) = variable_of(option)
    {
        eprintln!("\nThe value is that of the environment variable {variable}.");
    }
    process::exit(error.exit_code());
}

/// The variable that set an option. The option is written as in messages: `--workers <WORKERS>`.
fn variable_of(option: &str) -> Option<String> {
    let flag = option.split(' ').next()?;
    for argument in env::args_os() {
        if argument.to_string_lossy().split('=').next() == Some(flag) {
            return None;
        }
    }
    let arguments = arguments();
    let set_by = arguments.iter().find(|one| one.to_string() == option)?;
    let variable = set_by.get_env()?.to_str()?.to_owned();
    env::var_os(&variable).map(|_| variable)
}

/// Warns of variables that no option reads, such as misspelt ones. They are not errors: Kubernetes
/// sets `DOG_PORT` and others for a service named `dog`.
pub fn warn_of_unknown() {
    let arguments = arguments();
    let known: BTreeSet<_> = arguments.iter().filter_map(Arg::get_env).collect();
    let set = env::vars_os().map(|(name, _)| name);
    for name in set.filter(|name| !known.contains(name.as_os_str())) {
        if let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) {
            log::warn!("the environment variable {name} is ignored: no option reads it");
        }
    }
}

/// Logs the settings of a server, and where each comes from. One that may hold a secret is named
/// only.
pub fn log_settings(command: &Command, given: &ArgMatches) {
    let mut by_default = Vec::new();
    for argument in command.get_arguments() {
        let (id, name) = (argument.get_id().as_str(), argument.to_string());
        let Some(source) = given.value_source(id) else {
            continue;
        };
        let flag = name.split(' ').next().unwrap_or_default();
        let values = given.get_raw(id).into_iter().flatten();
        let values: Vec<_> = values.map(OsStr::to_string_lossy).collect();
        let setting = match argument.is_hide_env_values_set() {
            true => flag.to_owned(),
            false => format!("{flag} {}", values.join(",")),
        };
        match (source, argument.get_env()) {
            (ValueSource::DefaultValue, _) => by_default.push(setting),
            (ValueSource::EnvVariable, Some(name)) => {
                log::info!("setting {setting} (by {})", name.to_string_lossy());
            }
            _ => log::info!("setting {setting} (on the command line)"),
        }
    }
    log::info!("settings by default: {}", by_default.join(", "));
}

/// The arguments of all commands.
fn arguments() -> Vec<Arg> {
    let mut command = Cli::command();
    // Completes the arguments.
    command.build();
    let commands = command.get_subcommands();
    commands
        .flat_map(|command| command.get_arguments().cloned())
        .collect()
}
