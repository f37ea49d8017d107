//! What people see while a server is replaced by one of another version, or is away.

use std::{
    collections::BTreeMap,
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::{
    start::wait_until_kept,
    support::{
        Between, Browser, HeadLines, MousePlayer, TestGame, TestServer, answer, create_with_bots,
        italian, open_through, problem,
    },
};

/// The page of commit e70ba1f6, of version 0.2.0, as its server delivered it, and nothing else.
struct OldPage(BTreeMap<String, Vec<u8>>);

/// The folder of its files.
const OLD: &str = "0123456789abcdef";

impl OldPage {
    fn read() -> OldPage {
        let mut tar = Vec::new();
        let packed = include_bytes!("page-0.2.0.tar.gz");
        let read = GzDecoder::new(packed.as_slice()).read_to_end(&mut tar);
        read.expect("an archive");
        let mut files = BTreeMap::new();
        let mut rest = tar.as_slice();
        while let Some(name) = rest.split(|&byte| byte == 0).next()
            && !name.is_empty()
        {
            let size = std::str::from_utf8(&rest[124..135]).expect("digits");
            let size = usize::from_str_radix(size, 8).expect("a number");
            let name = String::from_utf8_lossy(name).into_owned();
            files.insert(name, rest[512..512 + size].to_vec());
            rest = &rest[512 + size.next_multiple_of(512)..];
        }
        OldPage(files)
    }

    /// Its server answered for every folder. A file under the name of another version says that it ran.
    fn answer(&self, path: &str) -> Option<Vec<u8>> {
        let path = path.split('?').next()?.strip_prefix('/')?;
        if path.starts_with("v1/") {
            return None;
        }
        let (folder, name) = match path.strip_prefix("page/") {
            Some(path) => path.split_once('/')?,
            None => ("", if path.is_empty() { "index.html" } else { path }),
        };
        let Some(file) = self.0.get(name) else {
            return Some(problem(404, "route_not_found"));
        };
        let mut file = file.clone();
        if name == "index.html" {
            let mut page = String::from_utf8(file).expect("a page");
            for path in ["src/", "vendor/", "icon", "colours.css", "style.css"] {
                for attribute in ["href", "src"] {
                    let there = format!("{attribute}=\"page/{OLD}/{path}");
                    page = page.replace(&format!("{attribute}=\"{path}"), &there);
                }
            }
            file = page.into_bytes();
        } else if name.ends_with(".js") && !folder.is_empty() && folder != OLD {
            file.extend_from_slice(b"\nglobalThis.mixed = true;\n");
        }
        let kind = match name.rsplit('.').next()? {
            "html" => "text/html",
            "js" => "text/javascript",
            "css" => "text/css",
            "svg" => "image/svg+xml",
            _ => "application/json",
        };
        let caching = match folder == OLD {
            true => "public, max-age=31536000, immutable",
            false => "no-cache",
        };
        let headers = format!("Content-Type: {kind}\r\nCache-Control: {caching}\r\n");
        Some(answer("200 OK", &headers, &file))
    }
}

/// Servers of two versions behind one address.
struct Upgrade {
    old: OldPage,
    /// How many of every two requests the old one still gets.
    share: AtomicUsize,
    requests: AtomicUsize,
}

impl Upgrade {
    fn begin(share: usize) -> Arc<Upgrade> {
        Arc::new(Upgrade {
            old: OldPage::read(),
            share: AtomicUsize::new(share),
            requests: AtomicUsize::default(),
        })
    }
}

impl Between for Upgrade {
    fn ask(&self, path: &str, _: &mut HeadLines) -> Option<Vec<u8>> {
        let turn = self.requests.fetch_add(1, Relaxed) % 2;
        let is_old = turn < self.share.load(Relaxed);
        is_old.then(|| self.old.answer(path)).flatten()
    }
}

#[test]
fn an_old_tab_plays_its_game_to_the_end_on_a_newer_server() {
    let server = TestServer::shared();
    let upgrade = Upgrade::begin(2);
    let browser = open_through(&server, Arc::clone(&upgrade));
    let game = create_with_bots(&server, &italian(), 3, 0);
    browser.remember(&game, 0);
    browser.go(&format!("/?lang=en#/games/{}", game.id));
    browser.wait("the hand", |look| !look.hand.is_empty());
    upgrade.share.store(0, Relaxed);
    let look = MousePlayer::new(&browser, 3).play_until(|_| false);
    assert!(look.team.is_some());
    browser.wait("another game", |look| look.can("Play again"));
}

/// What a visitor sees in the end: the home screen, or why there is none and what helps.
const SEEN: &str = "
    const words = document.body.innerText;
    return [...document.querySelectorAll('button')].some((one) => one.textContent === 'Play against bots') ? 'home'
      : /could not be loaded|There is a new version/.test(words) ? 'told' : words;";

fn visit(browser: &Browser) -> Value {
    browser.go("/?lang=en");
    let seen = format!("['home', 'told'].includes((() => {{ {SEEN} }})())");
    browser.wait_for_script("a page that is not blank", &seen);
    // What is mixed fails a little later.
    browser.settle();
    assert_ne!(browser.eval("globalThis.mixed"), true);
    browser.script(SEEN, vec![])
}

#[test]
fn no_page_is_blank_or_mixed_while_servers_are_replaced() {
    let server = TestServer::shared();
    let upgrade = Upgrade::begin(1);
    let browser = open_through(&server, Arc::clone(&upgrade));
    // Files that are not there, and what old versions say of them.
    browser.expect_message(&[""]);
    browser.hurry();
    for _ in 0..20 {
        visit(&browser);
    }
    // Nothing of it stays.
    upgrade.share.store(0, Relaxed);
    for _ in 0..3 {
        assert_eq!(visit(&browser), "home");
    }
}

/// A server whose page has another folder from some time on.
struct Renamed {
    folder: String,
    page: String,
    is_newer: AtomicBool,
}

const NEWER: &str = "fedcba9876543210";

impl Renamed {
    fn of(server: &TestServer) -> Arc<Renamed> {
        let page = server.get("/").send().text();
        let folder = page
            .split("\"page/v/")
            .nth(1)
            .and_then(|rest| rest.split('/').next());
        let folder = folder.expect("a folder").to_owned();
        Arc::new(Renamed {
            page: page.replace(&folder, NEWER),
            folder,
            is_newer: AtomicBool::default(),
        })
    }
}

impl Between for Renamed {
    fn ask(&self, path: &str, head: &mut HeadLines) -> Option<Vec<u8>> {
        if !self.is_newer.load(Relaxed) {
            return None;
        }
        if path.starts_with("/?") {
            let headers = "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-cache\r\n";
            return Some(answer("200 OK", headers, self.page.as_bytes()));
        }
        head[0] = head[0].replace(NEWER, &self.folder);
        path.contains(&self.folder)
            .then(|| problem(404, "route_not_found"))
    }
}

#[test]
fn a_part_of_an_old_version_leads_to_the_new_one() {
    let server = TestServer::shared();
    let renamed = Renamed::of(&server);
    let browser = open_through(&server, Arc::clone(&renamed));
    browser.expect_message(&["404"]);
    browser.sit(&create_with_bots(&server, &italian(), 3, 0), 0);
    browser.wait("the hand", |look| !look.hand.is_empty());
    renamed.is_newer.store(true, Relaxed);
    for route in ["#/learn", "#/analyse"] {
        browser.eval(&format!("location.hash = '{route}'"));
        browser.wait_for_words("There is a new version.");
        browser.eval("history.back()");
        browser.wait("the table", |look| !look.hand.is_empty());
    }
    browser.press("Rules");
    browser.wait_for_words("There is a new version.");
    browser.press_anywhere("Load again");
    browser.wait("the hand", |look| !look.hand.is_empty());
    let sources = "[...document.querySelectorAll('script')].map(({ src }) => src)";
    let newer = format!("{sources}.some((src) => src.includes('{NEWER}'))");
    assert_eq!(browser.eval(&newer), true);
    browser.press("Rules");
    browser.wait_for_words("The cards");
}

/// A server that has no answer for some files for a while.
#[derive(Default)]
struct Unlucky {
    part: &'static str,
    failures: AtomicUsize,
}

impl Between for Unlucky {
    fn ask(&self, path: &str, _: &mut HeadLines) -> Option<Vec<u8>> {
        let left = |left: usize| left.checked_sub(1);
        let fails =
            path.contains(self.part) && self.failures.fetch_update(Relaxed, Relaxed, left).is_ok();
        fails.then(|| problem(503, "unavailable"))
    }
}

#[test]
fn a_part_that_did_not_arrive_is_asked_for_again() {
    let server = TestServer::shared();
    let game = TestGame::imported(&server);
    // A module that another one imports, and words.
    for part in ["/finished/result.js", "/lang/learn/", "/lessons/course"] {
        let unlucky = Arc::new(Unlucky {
            part,
            failures: AtomicUsize::new(1),
        });
        let browser = open_through(&server, unlucky);
        browser.expect_message(&["503"]);
        let (route, end) = match part {
            "/finished/result.js" => (format!("games/{}", game.id), "Review"),
            _ => ("learn".to_owned(), "Leave the kennel"),
        };
        browser.go(&format!("/?lang=en#/{route}"));
        browser.wait_for_words(end);
    }
    let unlucky = Arc::new(Unlucky {
        part: "/rules/page.js",
        failures: AtomicUsize::new(1000),
    });
    let browser = open_through(&server, Arc::clone(&unlucky));
    browser.expect_message(&["503"]);
    browser.go("/?lang=en");
    browser.press_anywhere("Compare the rules");
    browser.wait_for_words("The server cannot be reached.");
    unlucky.failures.store(0, Relaxed);
    browser.press_anywhere("Load again");
    browser.wait_for_words("The cards");
}

/// A server that is being started behind a proxy.
#[derive(Default)]
struct Away {
    is_away: AtomicBool,
}

impl Between for Away {
    fn ask(&self, path: &str, _: &mut HeadLines) -> Option<Vec<u8>> {
        let is_away = self.is_away.load(Relaxed) && path.starts_with("/?");
        is_away.then(|| problem(503, "unavailable"))
    }
}

#[test]
fn a_page_that_was_kept_is_shown_while_the_server_is_away() {
    let server = TestServer::shared();
    let away = Arc::new(Away::default());
    let browser = open_through(&server, Arc::clone(&away));
    browser.expect_message(&["503"]);
    browser.go("/?lang=en");
    wait_until_kept(&browser);
    away.is_away.store(true, Relaxed);
    browser.go("/?lang=en");
    browser.press("Play against bots");
    browser.wait("the hand", |look| look.hand.len() == 6);
}
