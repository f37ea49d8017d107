//! How the C library keeps the server's memory.

/// Begins the process again with what keeps the heap small, unless its environment has a word on
/// that. glibc gives nearly every thread a heap ("arena") of its own, and keeps in each what its
/// busiest moment took; and once a large block was freed, it takes blocks of that size from those
/// heaps for good, where they are broken up. That comes to a third more memory, which grows for
/// hours. Now there is a heap for each core and two more (with fewer, threads wait for each other),
/// and large blocks go back to the system, always (docs/performance.md). glibc reads this where a
/// process begins, so nothing that is done later changes it, short of unsafe code. The process
/// keeps its id; if it cannot begin again it goes on as it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_small() {
    use std::{
        env, os::unix::process::CommandExt, process::Command, thread::available_parallelism,
    };

    const ARENAS: &str = "MALLOC_ARENA_MAX";
    /// Bytes of a block that is large; what glibc begins with, but then does not change any more.
    const LARGE: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "131072");

    let told = |name| env::var_os(name).is_some();
    if [ARENAS, LARGE.0, "GLIBC_TUNABLES"].into_iter().any(told) {
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
    again.env(ARENAS, arenas.to_string()).env(LARGE.0, LARGE.1);
    let error = again.args(arguments).exec();
    log::debug!("keeps the heap as it is: {error}");
}

/// Other C libraries keep no heaps for threads.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_small() {}
