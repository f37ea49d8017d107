//! Every screen: nothing is inaccessible, cut off, covered or too small.

use crate::support::{Form, check_screens};

/// In one form; `browser_games` has all of them.
#[test]
fn every_screen_on_a_phone() {
    check_screens(&[Form::sized(360, 780)]);
}
