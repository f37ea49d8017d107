//! What the compiler cannot see: generated pages and the image are up to date, bots see no whole
//! game, rules are data, citations of the rules are right, and all licences are permissive.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use dog_server::{openapi, problem};
use serde_json::Value;

/// Every file below a folder with one of these extensions; build outputs and downloaded packages are
/// skipped.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    fn walk(path: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(path)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
        {
            let extension = entry.extension().and_then(|extension| extension.to_str());
            if entry.is_dir() {
                let outputs = [
                    "target",
                    "node_modules",
                    ".venv",
                    "dog_client",
                    "go/dog",
                    "java/client",
                ];
                if !outputs.iter().any(|output| entry.ends_with(output)) {
                    walk(&entry, extensions, found);
                }
            } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
                found.push(entry);
            }
        }
    }
    let mut found = Vec::new();
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
        extensions,
        &mut found,
    );
    assert!(!found.is_empty(), "{folder} has no files");
    found
}

/// Whether a file holds only test code.
fn is_test(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    name == "tests.rs"
        || name == "testing.rs"
        || file.components().any(|part| part.as_os_str() == "tests")
}

#[test]
fn bots_get_a_seats_view_and_no_game() {
    for file in files("crates/dog-bot/src", &["rs"]) {
        let text = fs::read_to_string(&file).expect("a file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let mut words = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        assert!(
            is_test(&file) || !words.any(|word| ["Game", "with_stock"].contains(&word)),
            "{}: a bot must not know of a whole game",
            file.display()
        );
    }
}

#[test]
fn options_are_read_as_data() {
    for folder in ["src", "crates"] {
        for file in files(folder, &["rs"]) {
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

/// The numbers of the sections of a page, from headings such as `## 7. A game`, `### 7.3.
/// Exchange`.
fn sections(page: &str) -> Vec<&str> {
    let headings = page.lines().filter_map(|line| {
        let heading = line
            .strip_prefix("## ")
            .or_else(|| line.strip_prefix("### "));
        heading?.split_once(". ")
    });
    headings.map(|(number, _)| number).collect()
}

/// Whether a text ends with a citation of an RFC, whose sections are not ours.
fn cites_an_rfc(text: &str) -> bool {
    let mut words = text.trim_end_matches([' ', ',']).rsplit([' ', '(']);
    let number = words.next().unwrap_or_default();
    words.next() == Some("RFC") && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The citations in a text that `docs/rules.md` does not have: sections, worked cases of §10, and
/// any that are not of the form `RULES §4`.
fn wrong_citations(text: &str, page: &str) -> Vec<String> {
    let sections = sections(page);
    let cases = page.split("\n## 10. ").nth(1).unwrap_or_default();
    let mut wrong = Vec::new();
    for (at, sign) in text.match_indices('§') {
        let rest = &text[at + sign.len()..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let number = number.trim_end_matches('.');
        if number.is_empty() || cites_an_rfc(&text[..at]) {
            continue;
        }
        if !sections.contains(&number) {
            wrong.push(format!("section {number}"));
        }
        let list = rest.strip_prefix(", case").unwrap_or_default();
        for word in list.trim_start_matches('s').split_whitespace() {
            let case = word.trim_end_matches([',', '.', ':', ';', ')']);
            match case.parse::<u32>() {
                Ok(_) if cases.contains(&format!("\n| {case} |")) => {}
                Ok(_) => wrong.push(format!("case {case}")),
                Err(_) if ["to", "and"].contains(&case) => {}
                Err(_) => break,
            }
        }
    }
    for (at, name) in text.match_indices("RULES") {
        let rest = &text[at + name.len()..];
        let digit = rest
            .strip_prefix(' ')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if digit || rest.starts_with(".md") {
            wrong.push(format!("no section sign after {name}"));
        }
    }
    wrong
}

#[test]
fn citations_of_the_rules_are_right() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    let page = fs::read_to_string(page).expect("the rules");
    let example =
        "RULES \u{a7}4, \u{a7}7.6 and \u{a7}12.\nRULES \u{a7}10, cases 14 and 23: RULES\u{20}4";
    assert_eq!(
        wrong_citations(example, &page),
        [
            "section 7.6",
            "section 12",
            "case 23",
            "no section sign after RULES"
        ]
    );
    assert!(wrong_citations("(RFC 9110, \u{a7}12.5.1)", &page).is_empty());

    let texts = ["md", "py", "rs", "sh", "toml", "txt", "yml"];
    let (mut right, mut wrong) = (0, Vec::new());
    for folder in [
        "benches", "crates", "docs", "examples", "fuzz", "src", "tests",
    ] {
        for file in files(folder, &texts) {
            let text = fs::read_to_string(&file).expect("a text");
            right += text.matches("RULES §").count();
            let found = wrong_citations(&text, &page).into_iter();
            wrong.extend(found.map(|citation| format!("{}: {citation}", file.display())));
        }
    }
    assert!(
        wrong.is_empty(),
        "docs/rules.md does not have:\n{}",
        wrong.join("\n")
    );
    assert!(
        right > 100,
        "only {right} citations of the rules were found"
    );
}

/// Compares a generated file with the current output of its generator.
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

/// What the Dockerfile copies into the image's build.
fn copied() -> Vec<String> {
    let dockerfile = fs::read_to_string("Dockerfile").expect("a file");
    let mut sources = Vec::new();
    for line in dockerfile.lines().filter(|line| !line.contains("--from")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["COPY", copied @ .., _] = &words[..] {
            sources.extend(copied.iter().map(|&source| source.to_owned()));
        }
    }
    assert!(sources.len() > 3, "{sources:?}");
    sources
}

#[test]
fn the_image_is_given_what_its_dockerfile_copies() {
    let ignored = fs::read_to_string(".dockerignore").expect("a file");
    for source in copied() {
        let exception = format!("!{source}");
        assert!(ignored.lines().any(|line| line == exception), "{source}");
    }
}

/// The folders beside `src` of which a source file embeds files.
fn embedded(code: &str) -> impl Iterator<Item = &str> {
    let folders = code.split("#[folder = \"").skip(1);
    let files = code.split("!(\"../../").skip(1);
    folders
        .chain(files)
        .filter_map(|rest| rest.split(['/', '"']).next())
}

#[test]
fn the_dockerfile_copies_what_is_embedded() {
    let copied = copied();
    let mut folders = BTreeSet::new();
    for file in files("src", &["rs"]) {
        let text = fs::read_to_string(&file).expect("a file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        folders.extend(embedded(code).map(str::to_owned));
    }
    assert_eq!(folders, BTreeSet::from(["docs", "web"].map(str::to_owned)));
    for folder in folders {
        assert!(copied.contains(&folder), "{folder}");
    }
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

/// Whether the allowed licences satisfy a licence expression: one alternative of `OR`, all of
/// `AND`.
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
fn dependencies_have_permissive_licences() {
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

/// The type that a line of code defines, if it does. Indented aliases are associated types.
fn defined_type(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => code,
    };
    let (kind, rest) = code.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "union"].contains(&kind)
        || kind == "type" && !line.starts_with(' ');
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
    let name = &rest[..end.unwrap_or(rest.len())];
    (is_type && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

/// Names that each of the two binaries defines for its command line.
const SHARED_NAMES: [&str; 2] = ["Cli", "Subcommand"];

#[test]
fn type_names_are_unique() {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for folder in ["benches", "crates", "fuzz", "src", "tests"] {
        for file in files(folder, &["rs"]) {
            let text = fs::read_to_string(&file).expect("a file");
            for name in text.lines().filter_map(defined_type) {
                let place = file.display().to_string();
                places.entry(name.to_owned()).or_default().push(place);
            }
        }
    }
    places.retain(|name, places| places.len() > 1 && !SHARED_NAMES.contains(&name.as_str()));
    assert!(places.is_empty(), "defined more than once: {places:#?}");
}

/// The anchors of a document: its headings, as GitHub names them, and those that it sets.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    // Every other part is a block of code.
    for line in text.split("\n```").step_by(2).flat_map(str::lines) {
        if let Some((_, rest)) = line.split_once("<a id=\"") {
            anchors.extend(rest.split('"').next().map(str::to_owned));
        }
        let title = line.trim_start_matches('#');
        if title != line && title.starts_with(' ') {
            let kept = title
                .trim()
                .chars()
                .filter(|&c| c.is_alphanumeric() || " -_".contains(c));
            let anchor: String = kept.collect();
            anchors.push(anchor.to_lowercase().replace(' ', "-"));
        }
    }
    anchors
}

#[test]
fn links_between_documents_lead_to_files_and_headings() {
    let text =
        "# A `b`: c\n<a id=\"d\"></a>\n\n```sh\n# no heading\n```\n### 7.3. E\n#no heading\n";
    assert_eq!(anchors(text), ["a-b-c", "d", "73-e"]);
    let mut to_headings = 0;
    for file in files("", &["md"]) {
        let text = fs::read_to_string(&file).expect("a file");
        let folder = file.parent().expect("a folder");
        for link in text.split("](").skip(1) {
            let link = link.split([')', ' ']).next().unwrap_or_default();
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            // The test of the OpenAPI document follows the paths of the server.
            if target.contains(':') || target.starts_with('/') {
                continue;
            }
            let path = if target.is_empty() {
                file.clone()
            } else {
                folder.join(target)
            };
            assert!(path.exists(), "{}: {link}", file.display());
            if !anchor.is_empty() {
                let text = fs::read_to_string(&path).expect("a document");
                let is_there = anchors(&text).iter().any(|there| there == anchor);
                assert!(is_there, "{}: {link}", file.display());
                to_headings += 1;
            }
        }
    }
    assert!(
        to_headings > 50,
        "only {to_headings} links to headings were found"
    );
}
