//! What the compiler cannot see: the image has all files, bots see no whole game, rules are data,
//! citations of the rules are right, and all licences are permissive.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Folders of build outputs and downloaded packages.
const OUTPUTS: &str = "target node_modules .venv dog_client go/dog java/client";

/// Every file below these folders with one of these extensions, and its text; without outputs.
fn texts(folders: &[&str], extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in folders {
        let before = found.len();
        let mut unread = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
        while let Some(path) = unread.pop() {
            for entry in fs::read_dir(path).expect("a folder") {
                let path = entry.expect("an entry").path();
                let extension = path.extension().and_then(|extension| extension.to_str());
                if path.is_dir() {
                    if !OUTPUTS.split(' ').any(|output| path.ends_with(output)) {
                        unread.push(path);
                    }
                } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
                    let text = fs::read_to_string(&path).expect("a text");
                    found.push((path, text));
                }
            }
        }
        assert!(found.len() > before, "{folder} has no files");
    }
    found
}

/// Whether a file holds only test code.
fn is_test(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    name == "tests.rs"
        || name == "testing.rs"
        || file.components().any(|part| part.as_os_str() == "tests")
}

/// The files of code below these folders, without tests.
fn code(folders: &[&str]) -> impl Iterator<Item = (PathBuf, String)> {
    let all = texts(folders, &["rs"]).into_iter();
    all.filter(|(file, _)| !is_test(file)).map(|(file, text)| {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        (file, code.to_owned())
    })
}

#[test]
fn bots_get_a_seats_view_and_no_game() {
    for (file, code) in code(&["crates/dog-bot/src"]) {
        let mut words = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let knows = words.any(|word| ["Game", "with_stock"].contains(&word));
        assert!(!knows, "{file:?}: a bot must not know of a whole game");
    }
}

#[test]
fn options_are_read_as_data() {
    let wrong =
        "if preset |match preset |rules.preset ==|match rules.preset|match self.rules.preset";
    for (file, code) in code(&["src", "crates"]) {
        let decides = wrong.split('|').any(|wrong| code.contains(wrong));
        assert!(!decides, "{file:?} decides by preset");
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
    let example = "RULES \u{a7}4, \u{a7}12.\nRULES \u{a7}10, cases 14 and 99: RULES\u{20}4";
    let wrong = wrong_citations(example, &page).join(", ");
    assert_eq!(wrong, "section 12, case 99, no section sign after RULES");
    assert!(wrong_citations("(RFC 9110, \u{a7}12.5.1)", &page).is_empty());

    let (mut right, mut wrong) = (0, Vec::new());
    let folders: Vec<&str> = "benches crates docs examples fuzz src tests"
        .split(' ')
        .collect();
    for (file, text) in texts(&folders, &["md", "py", "rs", "sh", "toml", "txt", "yml"]) {
        right += text.matches("RULES §").count();
        let found = wrong_citations(&text, &page).into_iter();
        wrong.extend(found.map(|citation| format!("{}: {citation}", file.display())));
    }
    let wrong = wrong.join("\n");
    assert!(wrong.is_empty(), "docs/rules.md does not have:\n{wrong}");
    assert!(right > 100, "only {right} citations were found");
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

#[test]
fn the_dockerfile_makes_the_files_of_tests_that_the_manifest_names() {
    let read = |file| fs::read_to_string(file).expect("a file");
    let (manifest, dockerfile) = (read("Cargo.toml"), read("Dockerfile"));
    let tests: Vec<&str> = manifest
        .split("[[test]]\nname = \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(tests.len(), manifest.matches("[[test]]").count());
    let made: Vec<&str> = dockerfile
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("tests/")?.strip_suffix(".rs"))
        .collect();
    assert_eq!(made, tests);
}

/// The folders beside `src` from which a source file embeds files.
fn embedded(code: &str) -> impl Iterator<Item = &str> {
    let folders = code.split("#[folder = \"").skip(1);
    let files = code.split("!(\"../").skip(1);
    let files = files.map(|path| path.trim_start_matches("../"));
    let paths = folders.chain(files);
    paths.filter_map(|rest| rest.split(['/', '"']).next())
}

#[test]
fn the_dockerfile_copies_what_is_embedded() {
    let copied = copied();
    let expected = ["CHANGELOG.md", "docs", "examples", "openapi", "web"];
    let mut folders = BTreeSet::new();
    for (_, code) in code(&["src"]) {
        folders.extend(embedded(&code).map(str::to_owned));
    }
    assert_eq!(folders, BTreeSet::from(expected.map(str::to_owned)));
    for folder in folders {
        assert!(copied.contains(&folder), "{folder}");
    }
}

/// Whether the allowed licences satisfy a licence expression: one alternative of `OR`, all of
/// `AND`.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let mut words = expression
        .split([' ', '/', '(', ')'])
        .filter(|word| !["", "OR", "AND"].contains(word));
    let fits = |word: &str| allowed.contains(&word);
    match expression.contains("AND") {
        true => words.all(fits),
        false => words.any(fits),
    }
}

#[test]
fn dependencies_have_permissive_licences() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml");
    let deny = fs::read_to_string(path).expect("deny.toml");
    let (_, list) = deny.split_once("\nallow = [").expect("a list");
    let (list, _) = list.split_once(']').expect("its end");
    let allowed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(!is_allowed("GPL-3.0-only", &allowed) && !is_allowed("MIT AND GPL-2.0", &allowed));
    let arguments =
        "metadata --format-version 1 --locked --filter-platform x86_64-unknown-linux-gnu";
    let metadata = Command::new(env!("CARGO"))
        .args(arguments.split(' '))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    let error = String::from_utf8_lossy(&metadata.stderr);
    assert!(metadata.status.success(), "{error}");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "{} packages", packages.len());
    for package in packages {
        let (name, licence) = (&package["name"], package["license"].as_str());
        let licence = licence.unwrap_or("none");
        assert!(is_allowed(licence, &allowed), "{name} is under {licence}");
        let source = package["source"].as_str();
        let is_known = |source: &str| source.contains("github.com/rust-lang/crates.io-index");
        assert!(source.is_none_or(is_known), "{name} comes from {source:?}");
    }
}

/// The rooms that code names after `crate::`, also in braces.
fn rooms_used(code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let mut depth = 0;
        for part in rest.split_inclusive(['{', '}', ',', ';', '(']) {
            let name = part
                .trim_start()
                .split(|c: char| !c.is_alphanumeric() && c != '_');
            if depth <= 1 {
                used.extend(
                    name.take(1)
                        .filter(|name| !name.is_empty())
                        .map(str::to_owned),
                );
            }
            match part.chars().last() {
                Some('{') => depth += 1,
                Some('}') => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                break;
            }
        }
    }
    used
}

#[test]
fn a_room_uses_only_those_on_floors_below_it() {
    let lib = include_str!("../src/lib.rs");
    let floors = lib.split("\n\n").enumerate().flat_map(|(floor, lines)| {
        let rooms = lines.lines().filter_map(|line| line.strip_suffix(';'));
        let rooms = rooms.filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
        rooms.map(move |room| (room, floor))
    });
    let floors: BTreeMap<&str, usize> = floors.collect();
    let mut arrows = 0;
    for (file, code) in code(&["src"]) {
        let below_src = file.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
        let below_src = below_src.expect("a file of src").with_extension("");
        let own = below_src.iter().next().and_then(|own| own.to_str());
        let Some((room, floor)) = own.and_then(|own| Some((own, floors.get(own)?))) else {
            continue;
        };
        for other in rooms_used(&code) {
            let below = floors.get(other.as_str());
            arrows += 1;
            assert!(
                other == room || below.is_none_or(|below| below > floor),
                "{file:?} uses {other}, which is not below {room}"
            );
        }
    }
    assert!(arrows > 100, "{arrows} arrows were seen");
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
            let mut anchor = title.trim().to_owned();
            anchor.retain(|c| c.is_alphanumeric() || " -_".contains(c));
            anchors.push(anchor.to_lowercase().replace(' ', "-"));
        }
    }
    anchors
}

#[test]
fn links_between_documents_lead_to_files_and_headings() {
    let mut to_headings = 0;
    for (file, text) in texts(&[""], &["md"]) {
        let folder = file.parent().expect("a folder");
        for link in text.split("](").skip(1) {
            let link = link.split([')', ' ']).next().unwrap_or_default();
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            // The test of the OpenAPI document follows the paths of the server.
            if target.contains(':') || target.starts_with('/') {
                continue;
            }
            let path = match target {
                "" => file.clone(),
                _ => folder.join(target),
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
    assert!(to_headings > 50, "only {to_headings} links to headings");
}
