//! Every screen: nothing is inaccessible, cut off, covered or too small.

use crate::support::{Form, check_screens};

/// In one form; `browser_games` has all of them.
#[test]
fn every_screen_on_a_phone() {
    let phone = Form {
        size: (360, 780),
        ..Form::default()
    };
    check_screens(&[phone]);
}
