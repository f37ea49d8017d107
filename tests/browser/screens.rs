//! Every screen: nothing is inaccessible, cut off, covered or too small.

use crate::support::{Form, check_documents, check_screens};

/// In one form; `browser_games` has all of them.
#[test]
fn every_screen_on_a_phone() {
    check_screens(&[Form::sized(360, 780)]);
}

/// The pages for developers. The guides have the colours of the page, and are one template.
#[test]
fn the_documents_for_developers() {
    let dark = |form| Form { dark: true, ..form };
    let (phone, desk) = (Form::sized(360, 780), Form::sized(1280, 800));
    let mut visits = Vec::new();
    for form in [phone, desk, dark(phone), dark(desk)] {
        visits.push((form, "", ".opblock-summary"));
        visits.push((form, "guide/rules", "main table"));
    }
    for form in [phone, dark(desk)] {
        visits.push((form, "#/play/play_move", ".opblock.is-open .opblock-body"));
    }
    for guide in [
        "guide/",
        "guide/clients",
        "guide/errors",
        "guide/picture",
        "guide/tables",
    ] {
        visits.push((phone, guide, "main h1"));
    }
    check_documents(&visits);
}
