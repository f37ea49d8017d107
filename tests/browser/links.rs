//! Links as people send them and programs change them.

use serde_json::json;

use crate::support::{LINK_FOR_ALL, http::Nginx, invite_friends, open, open_alone, sit_down};

#[test]
fn an_invitation_opens_whatever_is_appended_to_it() {
    let (_server, host) = open();
    invite_friends(&host, "Anna");
    let link = host.value(LINK_FOR_ALL).replacen("/#", "/?lang=en#", 1);
    let guest = host.another();
    for rest in ". ) > ?utm_source=mail &fbclid=x %20 / %3E%2C".split(' ') {
        guest.follow(&format!("{link}{rest}"));
        guest.wait_for_words("Anna invites you to play DOG");
    }
    // Pasted as it came in a message.
    guest.go("/?lang=en");
    guest.type_into("Link to a game", &format!("Come! <{link}>."));
    guest.press_anywhere("Watch the game");
    guest.wait_for_words("Anna invites you to play DOG");
    // The page says that a wrong link is not one, where the reader looks.
    for wrong in "/join/ /join/UPPER /game/abc %E0%A4%A /games/a/b/c/d".split(' ') {
        guest.go(&format!("/?lang=en#{wrong}"));
        guest.wait("the home screen", |look| look.can("Play against bots"));
        guest.wait_for_alert("This is not a link to a game.");
    }
    guest.go("/?lang=en#/");
    let look = guest.wait("the home screen", |look| look.can("Play against bots"));
    assert!(look.alerts.is_empty(), "{look:?}");
}

#[test]
fn a_refused_clipboard_leaves_the_link_selected() {
    let (_server, browser) = open();
    let permission = json!({"permission": {"name": "clipboard-write"}, "setting": "denied"});
    browser.devtools("Browser.setPermission", permission);
    invite_friends(&browser, "Anna");
    let link = browser.value(LINK_FOR_ALL);
    browser.press_anywhere("Copy");
    browser.wait_for_words("The browser does not allow this. The link is selected");
    assert_eq!(browser.eval("getSelection().toString()"), link.as_str());
}

#[test]
fn the_page_works_in_a_folder_of_a_proxy() {
    let (server, browser) = open_alone();
    let documented = "    location / {\n        proxy_pass http://dog;\n    }\n";
    let here = format!(
        "    location /table/ {{\n        proxy_pass http://{}/;\n        proxy_buffering off;\n    }}\n",
        server.address()
    );
    let Some(nginx) = Nginx::start(server.folder().join("nginx"), &[(documented, &here)]) else {
        return;
    };
    // A request outside the folder fails the test.
    let host = browser.another_at(&format!("{}/table", nginx.url));
    invite_friends(&host, "Anna");
    let link = host.value(LINK_FOR_ALL);
    let begin = format!("{}/#/join/", host.server);
    assert!(link.starts_with(&begin), "{link}");
    let friend = host.another();
    sit_down(&friend, &link, "Beat");
    host.wait_for_words("Waiting for 2 more players.");
    // A program has escaped the number sign.
    let escaped = link.replacen('#', "%23", 1);
    let other = host.another();
    other.follow(&escaped);
    other.wait_for_words("Anna");
    assert!(link.ends_with(&other.fragment()), "{}", other.fragment());
}
