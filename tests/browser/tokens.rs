//! How the page sends tokens: in `Dog-Token`, and to older servers in `Authorization`, which a login in
//! front of the server may need for itself.

use std::sync::{Arc, Mutex};

use crate::support::{
    Between, Browser, HeadLines, Situation, TestServer, answer, header, open_through, remove_header,
};

/// Nodes of a server behind a proxy.
#[derive(Default)]
struct Nodes {
    /// Whether they read `Dog-Token`.
    know: bool,
    /// Whether the proxy asks for a name and a password.
    login: bool,
    /// Of every request for a game that had a token: the headers that it had.
    sent: Mutex<Vec<String>>,
}

impl Nodes {
    fn sent(&self) -> Vec<String> {
        self.sent.lock().expect("the requests").clone()
    }
}

impl Between for Nodes {
    fn ask(&self, path: &str, head: &mut HeadLines) -> Option<Vec<u8>> {
        let token = remove_header(head, "dog-token");
        let authorization = header(head, "authorization").map(str::to_owned);
        let scheme = authorization
            .as_deref()
            .and_then(|value| value.split(' ').next());
        let sent = match (&token, scheme) {
            (Some(_), _) => "Dog-Token",
            (None, Some("Bearer")) => "Bearer",
            _ => "",
        };
        if path.starts_with("/v1/games/") && !sent.is_empty() {
            let mut all = self.sent.lock().expect("the requests");
            all.push(sent.to_owned());
        }
        if self.login {
            if scheme != Some("Basic") {
                let headers = "WWW-Authenticate: Basic realm=\"friends\"\r\n";
                return Some(answer("401 Unauthorized", headers, b"who are you?"));
            }
            remove_header(head, "authorization");
        }
        if let Some(token) = token.filter(|_| self.know) {
            head.push(format!("Authorization: Bearer {token}"));
        }
        None
    }

    fn answer(&self, _: &str, head: &mut HeadLines) {
        let vary = remove_header(head, "vary").unwrap_or_default();
        let others = vary
            .split(", ")
            .filter(|name| !name.eq_ignore_ascii_case("dog-token"));
        let own = self.know.then_some("Dog-Token");
        let names: Vec<&str> = others.chain(own).filter(|name| !name.is_empty()).collect();
        head.push(format!("Vary: {}", names.join(", ")));
    }
}

/// Plays a move at a table, and returns the headers that the requests had.
fn plays(browser: &Browser, scene: &Situation<'_>, nodes: &Nodes) -> Vec<String> {
    browser.sit(&scene.game, 0);
    browser.wait_for_cards();
    browser.play_from_list(0);
    browser.wait_for_todo("is to move");
    assert_eq!(scene.game.version(), scene.version + 1);
    nodes.sent()
}

#[test]
fn a_server_that_reads_dog_token_gets_nothing_else() {
    let server = TestServer::shared();
    for login in [false, true] {
        let nodes = Arc::new(Nodes {
            know: true,
            login,
            ..Nodes::default()
        });
        let browser = open_through(&server, Arc::clone(&nodes));
        if login {
            browser.log_in("anna:secret");
        }
        let scene = Situation::with_choices(&server);
        let sent = plays(&browser, &scene, &nodes);
        assert!(
            sent.len() >= 2 && sent.iter().all(|name| name == "Dog-Token"),
            "{sent:?}"
        );
    }
}

#[test]
fn an_older_server_is_asked_once_more() {
    let server = TestServer::shared();
    let nodes = Arc::new(Nodes::default());
    let browser = open_through(&server, Arc::clone(&nodes));
    browser.expect_message(&["401"]);
    let scene = Situation::with_choices(&server);
    let sent = plays(&browser, &scene, &nodes);
    let count = |name: &str| sent.iter().filter(|other| *other == name).count();
    assert!(count("Bearer") >= 2, "{sent:?}");
    assert_eq!(count("Bearer"), count("Dog-Token"), "{sent:?}");
}

/// There the page can only watch. It does not take the place of the login.
#[test]
fn an_older_server_behind_a_login_is_not_asked_once_more() {
    let server = TestServer::shared();
    let nodes = Arc::new(Nodes {
        login: true,
        ..Nodes::default()
    });
    let browser = open_through(&server, Arc::clone(&nodes));
    browser.log_in("anna:secret");
    browser.expect_message(&["401"]);
    browser.sit_in(Situation::with_choices(&server));
    assert!(browser.look().hand.is_empty());
    let sent = nodes.sent();
    assert!(
        !sent.is_empty() && sent.iter().all(|name| name == "Dog-Token"),
        "{sent:?}"
    );
}
