//! Every screen: nothing is inaccessible, cut off, covered or too small.

use crate::support::{Form, check_screens};

#[test]
fn every_screen_on_a_phone_and_in_the_dark_on_a_desk() {
    let phone = Form {
        size: (360, 780),
        ..Form::default()
    };
    let desk = Form {
        size: (1440, 900),
        dark: true,
        ..Form::default()
    };
    check_screens(&[phone, desk]);
}
