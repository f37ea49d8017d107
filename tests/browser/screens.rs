//! Every screen: nothing is inaccessible, cut off, covered or too small.

use crate::support::{Options, check_screens};

#[test]
fn every_screen_on_a_phone_and_in_the_dark_on_a_desk() {
    let phone = Options {
        size: (360, 780),
        ..Options::default()
    };
    let desk = Options {
        size: (1440, 900),
        dark: true,
        ..Options::default()
    };
    check_screens(&[phone, desk]);
}
