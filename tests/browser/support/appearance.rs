//! Whether a screen is accessible, and nothing on it is cut off.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    Form, TestServer,
    http::available,
    open,
    screens::{Screens, Visit},
};

/// The rules that every screen is checked against.
const RULES: &str = "wcag2a wcag2aa wcag21a wcag21aa wcag22aa best-practice";

/// The source of axe-core; `None`, with a message, if it is not installed.
fn axe() -> Option<String> {
    let path = "tests/page/node_modules/axe-core/axe.min.js";
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if let Ok(source) = fs::read_to_string(full) {
        return Some(source);
    }
    // Says so, or fails in CI.
    assert!(!available(&["axe-core: run `npm ci` in tests/page"]));
    None
}

/// Goes through all screens in each of these forms, and fails if something is found.
pub fn check_screens(all: &[Form]) {
    let server = TestServer::shared();
    let Some(browser) = open(&server) else { return };
    let Some(axe) = axe() else { return };
    let screens = Screens::new(&server);
    let findings = std::cell::RefCell::new(Vec::new());
    let check = |visit: &Visit<'_>| {
        let Form {
            width,
            height,
            dark,
            ..
        } = visit.form;
        let scheme = if dark { "dark" } else { "light" };
        let lang = browser.eval("document.documentElement.lang");
        let shown = format!("{} {lang}, {width}x{height} {scheme}", visit.name);
        let found = findings_of(visit, &axe).into_iter();
        let found = found.map(|finding| format!("{shown}: {finding}"));
        findings.borrow_mut().extend(found);
    };
    for &form in all {
        screens.visit(&browser, form, check);
    }
    screens.visit_in_other_languages(&browser, all[0], check);
    let findings = findings.into_inner();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

fn findings_of(visit: &Visit<'_>, axe: &str) -> Vec<String> {
    let browser = visit.browser;
    browser.script(axe, vec![]);
    let rules: Vec<&str> = RULES.split(' ').collect();
    let accessibility = browser.script_async(include_str!("axe.js"), vec![json!(rules)]);
    let geometry = browser.script(include_str!("geometry.js"), vec![json!(visit.in_sight)]);
    let texts = |list: Value| serde_json::from_value::<Vec<String>>(list).expect("texts");
    [texts(accessibility), texts(geometry)].concat()
}
