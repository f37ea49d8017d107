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
use serde_json::{Value, json};

use crate::{
    start::wait_until_kept,
    support::{
        Between, Browser, Head, MousePlayer, TestServer, answer, create_with_bots,
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
                page = page.replace(&format!("=\"{path}"), &format!("=\"page/{OLD}/{path}"));
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
    fn ask(&self, path: &str, _: &mut Head) -> Option<Vec<u8>> {
        let turn = self.requests.fetch_add(1, Relaxed) % 2;
        let is_old = turn < self.share.load(Relaxed);
        is_old.then(|| self.old.answer(path)).flatten()
    }
}

#[test]
fn an_old_tab_plays_its_game_to_the_end_on_a_newer_server() {
    let server = TestServer::shared();
    let upgrade = Upgrade::begin(2);
    let Some(browser) = open_through(&server, Arc::clone(&upgrade)) else {
        return;
    };
    // Its icon is gone.
    browser.expect_message(&["favicon.ico"]);
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
    let Some(browser) = open_through(&server, Arc::clone(&upgrade)) else {
        return;
    };
    // Files that are not there, and what old versions say of them.
    browser.expect_message(&[""]);
    browser.hurry();
    let seen: Vec<Value> = (0..20).map(|_| visit(&browser)).collect();
    assert!(seen.contains(&json!("home")), "{seen:?}");
    // Nothing of it stays.
    upgrade.share.store(0, Relaxed);
    for _ in 0..3 {
        assert_eq!(visit(&browser), "home");
    }
}

/// A server that is being started behind a proxy.
#[derive(Default)]
struct Away {
    is_away: AtomicBool,
}

impl Between for Away {
    fn ask(&self, path: &str, _: &mut Head) -> Option<Vec<u8>> {
        let is_away = self.is_away.load(Relaxed) && path.starts_with("/?");
        is_away.then(|| problem(503, "unavailable"))
    }
}

#[test]
fn a_page_that_was_kept_is_shown_while_the_server_is_away() {
    let server = TestServer::shared();
    let away = Arc::new(Away::default());
    let Some(browser) = open_through(&server, Arc::clone(&away)) else {
        return;
    };
    browser.expect_message(&["503"]);
    browser.go("/?lang=en");
    wait_until_kept(&browser);
    away.is_away.store(true, Relaxed);
    browser.go("/?lang=en");
    browser.press("Play against bots");
    browser.wait("the hand", |look| look.hand.len() == 6);
}
