//! Every screen in every form, and the pictures of them in `docs/pictures`.

use std::{env, fs, path::PathBuf};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::json;

use crate::support::{Browser, Form, Screens, check_screens, open, text};

#[test]
#[ignore = "long"]
fn every_screen_in_every_form() {
    let sizes = [(360, 780), (780, 360), (768, 1024), (1440, 900)];
    let forms = sizes.map(|(width, height)| Form::sized(width, height));
    let forms = forms
        .into_iter()
        .flat_map(|form| [false, true].map(|dark| Form { dark, ..form }));
    check_screens(&forms.collect::<Vec<Form>>());
}

/// The screens of a phone in `docs/pictures`.
const PHONE_PICTURES: &str = "analyse course exchange finished-people fold hint-reasons home \
    invited lesson people puzzle-answer replay review rules seating";

/// A picture of the viewport, as WebP.
fn picture(browser: &Browser) -> Vec<u8> {
    let parameters = json!({"format": "webp", "quality": 50});
    let picture = browser.devtools("Page.captureScreenshot", parameters);
    BASE64_STANDARD
        .decode(text(&picture["data"]))
        .expect("base64")
}

/// Writes to the folder that `DOG_PICTURES` names, or to the folder of temporary files.
#[test]
#[ignore = "writes pictures: DOG_PICTURES=docs/pictures cargo test --test browser_games -- --ignored pictures"]
fn pictures() {
    let (server, browser) = open();
    let folder = env::var_os("DOG_PICTURES").unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let folder = PathBuf::from(folder);
    let screens = Screens::new(&server);
    let phone = Form {
        scale: 1.5,
        reduced_motion: true,
        ..Form::default()
    };
    let desk = Form {
        width: 1280,
        height: 800,
        ..phone
    };
    let dark = Form {
        dark: true,
        ..phone
    };
    let forms = [
        ("", phone, PHONE_PICTURES),
        ("-desk", desk, "people six-seats"),
        ("-dark", dark, "seven"),
    ];
    for (suffix, form, names) in forms {
        screens.visit(&browser, form, |visit| {
            if names.split(' ').any(|name| name == visit.name) {
                let file = format!("page-{}{suffix}.webp", visit.name);
                fs::write(folder.join(file), picture(&browser)).expect("a file");
            }
        });
    }
}
