//! Tells the program its version, with the revision of its source where that is known.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DOG_REVISION");
    let given = env::var("DOG_REVISION").ok();
    let revision = given.filter(|text| !text.is_empty()).or_else(|| {
        // Otherwise each commit would have all tests built again.
        let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
        is_release.then(git_revision).flatten()
    });
    let mut version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    if let Some(revision) = revision {
        println!("cargo::rustc-env=BUILD_REVISION={revision}");
        version += &format!(" ({revision})");
    }
    println!("cargo::rustc-env=BUILD_VERSION={version}");
}

/// The commit that is checked out, if this is a git repository of its own.
fn git_revision() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
