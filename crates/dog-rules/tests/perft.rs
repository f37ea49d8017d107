//! The counts of `tests/perft`, which `tests/reference/perft.py` has confirmed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dog_rules::{
    Preset,
    perft::{PerftCase, divide, perft, read},
};

/// Larger counts are left to `dog perft` in a release build.
const LIMIT: u64 = 100_000;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/perft");
    let files = fs::read_dir(folder).expect("the folder of cases");
    let files = files.map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

/// Every case, and its place.
fn cases() -> Vec<(String, PerftCase)> {
    let mut all = Vec::new();
    for file in files() {
        let name = file.display().to_string();
        let cases = read(&fs::read_to_string(&file).expect("a text"));
        let cases = cases.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!cases.is_empty(), "{name} holds no case");
        let named = |(line, case)| (format!("{name}:{line}"), case);
        all.extend(cases.into_iter().map(named));
    }
    all
}

#[test]
fn every_count_is_as_expected() {
    let mut different = Vec::new();
    for (name, case) in cases() {
        for (&depth, &expected) in case.counts.iter().filter(|(_, count)| **count <= LIMIT) {
            let count = perft(&case.position, depth);
            if count != expected {
                different.push(format!(
                    "{name} depth {depth}: {count}, expected {expected}"
                ));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Each move is named once, and the counts below it are summed up.
#[test]
fn divisions_add_up() {
    for (name, case) in cases() {
        assert!(divide(&case.position, 0).is_empty(), "{name}");
        let division = divide(&case.position, 2);
        assert_eq!(
            Some(&(division.len() as u64)),
            case.counts.get(&1),
            "{name}"
        );
        let sum = division.iter().map(|(_, count)| count).sum();
        assert_eq!(Some(&sum), case.counts.get(&2), "{name}");
    }
}

#[test]
fn the_cases_are_many_and_deep() {
    let cases = cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    for (name, case) in &cases {
        assert!(
            (1..=3).all(|depth| case.counts.contains_key(&depth)),
            "{name}"
        );
        assert!(!case.comment.is_empty(), "{name} has no comment");
        let text = case.to_string();
        assert_eq!(text.parse().as_ref(), Ok(case), "{name}");
    }
    for preset in Preset::ALL {
        for seats in [4, 6] {
            let by = |case: &PerftCase| {
                let rules = &case.position.rules;
                rules.preset == preset && rules.seats == seats
            };
            assert!(
                cases.iter().any(|(_, case)| by(case)),
                "{preset:?} for {seats}"
            );
        }
    }
}
