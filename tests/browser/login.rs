//! A login in front of the server: people play through nginx with the files in `deploy`.

use std::{fs, sync::Arc};

use serde_json::{Value, json};

use crate::{
    start::wait_until_kept,
    support::{
        Between, Browser, HeadLines, LINK_FOR_ALL, TestServer, answer, game_of, header,
        http::Nginx, invite_friends, play_by_api, play_together, sit_down, start_proxy,
    },
};

/// nginx in front of a server, with a login in place of the line that includes it.
fn nginx(server: &TestServer, name: &str, login: &str) -> Option<Nginx> {
    let upstream = format!("server {};", server.address());
    let parts = [
        ("server 127.0.0.1:8080;", &*upstream),
        (&format!("    # include /etc/nginx/{name};"), login),
    ];
    Nginx::start(server.folder().join("nginx"), &parts)
}

/// Two people who are logged in play a game with two bots, and see its end.
fn play(server: &TestServer, host: Browser, guest: Browser) -> [Browser; 2] {
    for browser in [&host, &guest] {
        // Somebody else has moved meanwhile.
        browser.expect_message(&["legal-moves", "409"]);
    }
    invite_friends(&host, "Anna");
    sit_down(&guest, &host.value(LINK_FOR_ALL), "Beat");
    host.wait_for_words("Waiting for 2 more players.");
    host.press("Start");
    let browsers = [host, guest];
    play_together(&browsers, |look| look.log > 12);
    // The rest would take minutes by clicks.
    play_by_api(&game_of(server, &browsers), |view| {
        view["phase"] == "finished"
    });
    for browser in &browsers {
        browser.wait("the end", |look| look.team.is_some());
    }
    browsers
}

/// Whether the browser has the manifest, and all that it keeps is of the server.
fn check_files(browser: &Browser) {
    let manifest = browser.devtools("Page.getAppManifest", json!({}));
    assert_eq!(manifest["errors"], json!([]), "{manifest}");
    assert!(
        manifest["data"]
            .as_str()
            .is_some_and(|data| data.contains("DOG")),
        "{manifest}"
    );
    let kept = wait_until_kept(browser);
    assert!(kept.len() > 20, "{kept:?}");
    let script = "
        caches.open('dog.kept').then(async (cache) => {
          const all = await Promise.all((await cache.keys()).map((one) => cache.match(one)));
          arguments[0](all.every((one) => one.status === 200 && !one.redirected));
        });";
    assert_eq!(browser.script_async(script, vec![]), true);
}

#[test]
fn people_with_passwords_play_to_the_end() {
    let server = TestServer::start_with(&[("DOG_TRUSTED_PROXY_HEADER", "X-Real-IP")]);
    let passwords = server.folder().join("dog.htpasswd");
    fs::write(&passwords, "anna:{PLAIN}one\nbeat:{PLAIN}two\n").expect("written");
    let login = include_str!("../../deploy/nginx-password.conf")
        .replace("/etc/nginx/dog.htpasswd", &passwords.display().to_string());
    let Some(nginx) = nginx(&server, "nginx-password.conf", &login) else {
        return;
    };
    let places = Browser::open_many(&server, 2);
    let [host, guest] = ["anna:one", "beat:two"].map(|user| {
        let browser = places[0].another_at(&nginx.url);
        browser.log_in(user);
        browser
    });
    for browser in play(&server, host, guest) {
        check_files(&browser);
    }
}

/// A login service: its cookie says who somebody is.
struct Service;

impl Between for Service {
    fn ask(&self, path: &str, head: &mut HeadLines) -> Option<Vec<u8>> {
        let is_known = header(head, "cookie").is_some_and(|cookies| cookies.contains("who="));
        let (status, headers, body) = match path.split_once('?').unwrap_or((path, "")) {
            ("/oauth2/auth", _) if is_known => ("202 Accepted", String::new(), ""),
            ("/oauth2/auth", _) => ("401 Unauthorized", String::new(), ""),
            ("/oauth2/start", who) => {
                let cookie = format!("Location: /\r\nSet-Cookie: who={who}; Path=/; HttpOnly\r\n");
                ("302 Found", cookie, "")
            }
            _ => (
                "200 OK",
                "Content-Type: text/html\r\n".to_owned(),
                "<h1>Who are you?</h1>",
            ),
        };
        Some(answer(status, &headers, body.as_bytes()))
    }
}

#[test]
fn people_of_a_login_service_play_to_the_end() {
    let server = TestServer::start_with(&[("DOG_TRUSTED_PROXY_HEADER", "X-Real-IP")]);
    let service = start_proxy(&server, Arc::new(Service));
    let login =
        include_str!("../../deploy/nginx-login.conf").replace("http://127.0.0.1:4180", &service);
    let Some(nginx) = nginx(&server, "nginx-login.conf", &login) else {
        return;
    };
    let places = Browser::open_many(&server, 2);
    let [host, guest] = ["anna", "beat"].map(|name| {
        let browser = places[0].another_at(&nginx.url);
        browser.expect_message(&["401"]);
        browser.go("/?lang=en");
        browser.wait_for_words("Who are you?");
        browser.go(&format!("/oauth2/start?{name}"));
        browser
    });
    let browsers = play(&server, host, guest);
    for browser in &browsers {
        check_files(browser);
    }
    // Whoever is logged out meets the service again, and what was kept stays as it was.
    let [_, guest] = browsers;
    guest.devtools("Network.clearBrowserCookies", json!({}));
    guest.go("/?lang=en");
    guest.wait_for_words("Who are you?");
    // The browser itself has asked for it, as it must to ask for a password.
    let worker = guest.eval("navigator.serviceWorker.controller");
    assert_eq!(worker, Value::Null);
    guest.go("/oauth2/start?beat");
    guest.wait("the home screen", |look| look.can("Play against bots"));
    check_files(&guest);
}
