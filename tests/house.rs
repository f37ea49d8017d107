//! What the compiler cannot see: generated pages are up to date, bots know no whole game, rules are
//! data, and licences ask for no more than their text.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use dog_server::http::{openapi, problem};
use serde_json::Value;

/// Every Rust file below a folder.
fn files(folder: &str) -> Vec<PathBuf> {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(path)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
        {
            if entry.is_dir() {
                walk(&entry, found);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                found.push(entry);
            }
        }
    }
    let mut found = Vec::new();
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
        &mut found,
    );
    assert!(!found.is_empty(), "{folder} has no files");
    found
}

/// Whether a file holds nothing but what tests need.
fn is_test(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    name == "tests.rs"
        || name == "testing.rs"
        || file.components().any(|part| part.as_os_str() == "tests")
}

#[test]
fn bots_get_a_seats_view_and_no_game() {
    for file in files("crates/dog-bot/src") {
        let text = fs::read_to_string(&file).expect("a file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        assert!(
            is_test(&file) || !code.contains("game::Game"),
            "{}: a bot must not know of a whole game",
            file.display()
        );
    }
}

#[test]
fn options_are_read_as_data() {
    for folder in ["src", "crates"] {
        for file in files(folder) {
            if file.ends_with("dog-rules/src/options/mod.rs") || is_test(&file) {
                continue;
            }
            let text = fs::read_to_string(&file).expect("a file");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for wrong in [
                "if preset ",
                "match preset ",
                "rules.preset ==",
                "match rules.preset",
                "match self.rules.preset",
            ] {
                assert!(
                    !code.contains(wrong),
                    "{}: decides by preset",
                    file.display()
                );
            }
        }
    }
}

/// Compares a generated file with what is generated now.
fn up_to_date(file: &str, now: &str, command: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == now,
        "{file} is out of date: cargo run -- {command} > {file}"
    );
}

#[test]
fn the_openapi_document_is_up_to_date() {
    up_to_date(
        "openapi/openapi.json",
        &openapi::json().expect("a document"),
        "openapi",
    );
}

#[test]
fn the_page_of_errors_is_up_to_date() {
    up_to_date("docs/errors.md", &problem::markdown(), "errors");
}

/// The licences that `deny.toml` allows.
fn allowed_licences() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml");
    let text = fs::read_to_string(path).expect("deny.toml");
    let list = text
        .split("allow = [")
        .nth(1)
        .and_then(|rest| rest.split(']').next());
    let quoted = list.expect("a list").split('"').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

/// Whether a licence expression can be taken by the licences allowed: one of several, or all of them.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let words: Vec<&str> = expression
        .split([' ', '/', '(', ')'])
        .filter(|word| !["", "OR", "AND"].contains(word))
        .collect();
    let fits = |word: &&str| allowed.iter().any(|allowed| allowed == word);
    if expression.contains("AND") {
        words.iter().all(fits)
    } else {
        words.iter().any(fits)
    }
}

#[test]
fn dependencies_ask_for_no_more_than_their_licence_text() {
    let allowed = allowed_licences();
    assert!(allowed.len() > 2 && is_allowed("MIT/Apache-2.0", &allowed));
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0", &allowed));
    assert!(!is_allowed("GPL-3.0-only", &allowed) && !is_allowed("MIT AND GPL-2.0", &allowed));
    let platform = ["--filter-platform", "x86_64-unknown-linux-gnu"];
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(platform)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    assert!(
        metadata.status.success(),
        "{}",
        String::from_utf8_lossy(&metadata.stderr)
    );
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "{} packages", packages.len());
    for package in packages {
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(
            is_allowed(licence, &allowed),
            "{} is under {licence}",
            package["name"]
        );
        let source = package["source"].as_str();
        let known =
            source.is_none_or(|source| source.contains("github.com/rust-lang/crates.io-index"));
        assert!(known, "{} comes from {source:?}", package["name"]);
    }
}
