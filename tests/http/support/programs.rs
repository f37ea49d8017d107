//! External programs that some tests need.

use std::{
    io::{self, Write},
    process::{Command, Output, Stdio},
};

/// Whether these programs are installed. In CI (`CI` is set) they must be.
pub fn available(programs: &[&str]) -> bool {
    let is_missing = |program: &&&str| {
        // nginx has its own option.
        let is_nginx = **program == "nginx";
        let option = if is_nginx { "-v" } else { "--version" };
        let version = Command::new(program).arg(option).output();
        !version.is_ok_and(|version| version.status.success())
    };
    let missing: Vec<&&str> = programs.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return true;
    }
    let lacks = format!("this machine lacks {missing:?}");
    assert!(std::env::var_os("CI").is_none(), "{lacks}");
    // Bypasses the test runner, which captures the output of passing tests.
    let _ = writeln!(io::stderr(), "!!! SKIPPED: {lacks} !!!");
    false
}

/// `dog verify` on a record: whether it succeeds, and what it prints.
pub fn verify(record: &str) -> (bool, String) {
    let mut verify = Command::new(env!("CARGO_BIN_EXE_dog"));
    let output = run(verify.args(["verify", "-"]), record.as_bytes());
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    (output.status.success(), printed)
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
