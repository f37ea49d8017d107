//! `dog perft`: what it compares, and what it refuses.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn dog_perft(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dog"));
    command.arg("perft").args(arguments);
    command.output().expect("dog starts")
}

#[test]
fn the_command_compares() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("perft.txt");
    let path = file.to_str().expect("a path of UTF-8");
    let case = "# one ace\nrules dogspiel-it\nboard -\nhands A / 2 / - / -\nturn 0\n1 1\n2 ";
    for (second, code, says) in [
        ("1", 0, "2 counts, all as expected"),
        ("3", 1, "DIFFERENT, expected 3"),
    ] {
        fs::write(&file, format!("{case}{second}\n")).expect("a file");
        let output = dog_perft(&[path, "--divide"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(says) && text.contains("A:out"), "{text}");
    }
}

#[test]
fn the_command_refuses_in_one_line() {
    let refused = |arguments: &[&str], says: &str| {
        let output = dog_perft(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(says), "{error}");
    };
    refused(&["no/such/file"], "no/such/file");
    let hands = ["--depth", "2", "--hands", "- / A / - / 1"];
    refused(&hands, "\"1\": there is no card of that name");
    for unclear in [&["some/file", "--hands", "-"][..], &[]] {
        assert_eq!(dog_perft(unclear).status.code(), Some(2));
    }
}
