//! Whether a screen is accessible, and nothing on it is cut off.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    Browser, Form, TestServer,
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
    let (server, browser) = open();
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
    let geometry = include_str!("geometry.js");
    let geometry = visit.browser.script(geometry, vec![json!(visit.in_sight)]);
    [inaccessible(visit.browser, axe), texts(geometry)].concat()
}

fn texts(list: Value) -> Vec<String> {
    serde_json::from_value(list).expect("texts")
}

/// What axe-core finds on the page that is open.
fn inaccessible(browser: &Browser, axe: &str) -> Vec<String> {
    browser.script(axe, vec![]);
    let rules: Vec<&str> = RULES.split(' ').collect();
    texts(browser.script_async(include_str!("axe.js"), vec![json!(rules)]))
}

/// The parts of a text that match a pattern and are on several lines, in elements of this selector.
pub fn broken(browser: &Browser, selector: &str, pattern: &str) -> Value {
    let script = "
      const [selector, pattern] = arguments;
      return [...document.querySelectorAll(selector)].flatMap(({ firstChild: text }) =>
        [...text.data.matchAll(new RegExp(pattern, 'g'))].filter(({ index, 0: part }) => {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + part.length);
          return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
        }).map(([part]) => part));";
    browser.script(script, vec![json!(selector), json!(pattern)])
}

/// Opens each of these pages below `/docs/` in its form, waits for an element, and fails if axe-core
/// finds something.
pub fn check_documents(visits: &[(Form, &str, &str)]) {
    let (_server, browser) = open();
    let Some(axe) = axe() else { return };
    // Swagger UI warns of its own way to write an operation.
    browser.expect_message(&["escaping deep link"]);
    let mut findings = Vec::new();
    for &(form, path, element) in visits {
        browser.show_as(form);
        browser.go(&format!("/docs/{path}"));
        browser.wait_for_element(element);
        let found = inaccessible(&browser, &axe).into_iter();
        findings.extend(found.map(|finding| format!("{path}, {form:?}: {finding}")));
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
