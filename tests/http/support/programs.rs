//! External programs that some tests need.

use std::{
    io::{self, Write},
    process::{Command, Output, Stdio},
};

/// Whether these programs are installed. In CI (`CI` is set) they must be.
pub fn available(programs: &[&str]) -> bool {
    let missing: Vec<&&str> = programs
        .iter()
        .filter(|program| {
            // nginx has its own option.
            let option = if **program == "nginx" {
                "-v"
            } else {
                "--version"
            };
            let version = Command::new(program)
                .arg(option)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            !version.is_ok_and(|status| status.success())
        })
        .collect();
    if missing.is_empty() {
        return true;
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "this machine lacks {missing:?}"
    );
    // Bypasses the test runner, which captures the output of passing tests.
    let _ = writeln!(
        io::stderr(),
        "!!! SKIPPED: this machine lacks {missing:?} !!!"
    );
    false
}

/// Runs a program with this on its standard input.
pub fn run(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a piped stdin");
    stdin.write_all(input).expect("the program reads its input");
    drop(stdin);
    child.wait_with_output().expect("the program ends")
}
