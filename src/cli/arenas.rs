//! How many heaps ("arenas") the C library keeps for the server's threads.

/// Begins the process again with an arena for each core and two more, unless its environment has a
/// word on that. glibc gives nearly every thread one of its own and keeps in each what its busiest
/// moment took, which comes to a third more memory and grows for hours; with fewer than these,
/// threads wait for each other (docs/performance.md). It reads the number where a process begins, so
/// nothing that is done later changes it, short of unsafe code. The process keeps its id; if it
/// cannot begin again it goes on as it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_few() {
    use std::{
        env, os::unix::process::CommandExt, process::Command, thread::available_parallelism,
    };

    const ARENAS: &str = "MALLOC_ARENA_MAX";

    if env::var_os(ARENAS).is_some() || env::var_os("GLIBC_TUNABLES").is_some() {
        return;
    }
    let (Ok(program), Ok(cores)) = (env::current_exe(), available_parallelism()) else {
        return;
    };
    let mut arguments = env::args_os();
    let mut again = Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    let arenas = cores.get() + 2;
    let error = again.args(arguments).env(ARENAS, arenas.to_string()).exec();
    log::debug!("keeps the arenas as they are: {error}");
}

/// Other C libraries keep no heaps for threads.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_few() {}
