//! The train command: what it leaves in its folder, and what it refuses.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command, Output},
};

use dog_bot::net::nets::NetVariant;
use dog_lab::net_file;

/// A folder of one test, removed at its end.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> TempDir {
        TempDir(env::temp_dir().join(format!("dog-train-{name}-{}", process::id())))
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).expect(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A built-in net, which makes short games.
fn net(name: &str) -> PathBuf {
    let weights = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dog-bot/src/net/weights");
    weights.join(name).with_extension("net")
}

fn train(folder: &TempDir, from: &Path, arguments: &str) -> Output {
    let mut dog = Command::new(env!("CARGO_BIN_EXE_dog-lab"));
    dog.arg("train").args(arguments.split_whitespace());
    dog.arg("--run").arg(&folder.0).arg("--from").arg(from);
    dog.output().expect("dog runs")
}

fn refusal(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_run_leaves_a_checkpoint_a_log_and_a_net() {
    let folder = TempDir::new("run");
    let four_16 = net("four-16");
    let arguments = "four-16 --games 2 --window 1 --threads 2 --seed 3";
    let output = train(&folder, &four_16, arguments);
    assert!(output.status.success(), "{output:?}");
    let log = String::from_utf8(folder.read("log.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(last["games"], 2);
    assert!(last["loss"].as_f64().unwrap() > 0.0, "{last}");
    assert!(last["turns"].as_f64().unwrap() > 20.0, "{last}");
    let (_, header) = net_file::read(&folder.read("net")).unwrap();
    assert_eq!(header.variant, NetVariant::Four16);
    // The earlier training is mentioned too.
    let (_, first) = net_file::read(&std::fs::read(&four_16).unwrap()).unwrap();
    let own = header.run.strip_prefix(&first.run).expect(&header.run);
    assert!(own.starts_with("; then 2 games, "), "{}", header.run);
    assert!(header.run.ends_with(", seed 3"), "{}", header.run);
    assert_eq!(header.strength, "not measured");

    // A finished run stays as it is.
    let files = || ["checkpoint", "log.jsonl", "net"].map(|name| folder.read(name));
    let before = files();
    let output = train(&folder, &four_16, arguments);
    assert!(output.status.success(), "{output:?}");
    assert!(files() == before);

    for other in [
        "four-15 --games 2 --window 1 --seed 3",
        "four-16 --games 3 --window 1 --seed 3",
        "four-16 --games 2 --window 2 --seed 3",
        "four-16 --games 2 --window 1 --seed 4",
    ] {
        let error = refusal(&train(&folder, &four_16, other));
        assert!(error.contains("has another plan"), "{other}: {error}");
    }
    assert!(files() == before);
}

#[test]
fn nonsense_is_refused() {
    let folder = TempDir::new("nonsense");
    let no_net = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    for (from, arguments, message) in [
        (net("four-16"), "five", "the nets are four-15, four-16, six"),
        (net("four-16"), "four-16 --games 0", "0 is not in 1.."),
        (net("four-16"), "four-16 --window 0", "0 is not in 1.."),
        (net("four-16"), "four-16 --threads 0", "1 to 512"),
        (net("six"), "four-16 --games 1", "six.net is a net for six"),
        (no_net, "four-16 --games 1", "this is not a net"),
        (net("two"), "four-16 --games 1", "No such file"),
    ] {
        let error = refusal(&train(&folder, &from, arguments));
        assert!(error.contains(message), "{arguments}: {error}");
        assert!(!folder.0.join("checkpoint").exists());
    }
}
