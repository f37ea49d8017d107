//! The page for players, as the server delivers it.

use std::{fs, io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};

use crate::support::TestServer;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/web");

/// A file of the page.
fn file(name: &str) -> Vec<u8> {
    fs::read(format!("{ROOT}{name}")).expect(name)
}

/// The files of the page, by their paths on the server.
fn files() -> Vec<String> {
    fn collect(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, found);
            } else {
                let name = path.strip_prefix(ROOT).expect("a file of the page");
                found.push(format!("/{}", name.display()));
            }
        }
    }
    let mut found = Vec::new();
    collect(Path::new(ROOT), &mut found);
    found
}

/// Some programs escape the number sign of a link.
#[test]
fn an_escaped_address_leads_to_the_page() {
    let server = TestServer::shared();
    for (path, location) in [
        ("/%23/games/0a1b", "../../#/games/0a1b"),
        ("/%23/games/0a1b/at/7", "../../../../#/games/0a1b/at/7"),
        ("/%23/learn", "../#/learn"),
    ] {
        let response = server.get(path).send();
        assert_eq!(response.status, 307, "{path}");
        assert_eq!(response.header("location"), Some(location));
    }
    for path in ["/%23/games/%0A", "/%23/%C3%A9", "/%23/games/../..%2F"] {
        server.get(path).send().refused("route_not_found");
    }
}

#[test]
fn the_page_and_its_files_are_served() {
    let server = TestServer::shared();
    let page = server.get("/").send();
    let text = page.text();
    assert!(text.starts_with("<!doctype html>"), "{text}");
    // The policy allows nothing inline.
    for inline in ["<style", " style=", " onclick=", " onload=", "<script>"] {
        assert!(!text.contains(inline), "{inline}");
    }
    let files = files();
    assert!(files.len() > 20);
    for name in &files {
        let path = if name == "/index.html" { "/" } else { name };
        let response = server.get(path).send();
        assert_eq!(response.status, 200, "{name}");
        if path != "/" {
            assert_eq!(response.body, file(name), "{name}");
        }
        let is_of_manifest = name.ends_with(".webmanifest") || name.starts_with("/icon");
        let caching = match is_of_manifest {
            true => "public, max-age=86400",
            false => "no-cache",
        };
        assert_eq!(response.header("cache-control"), Some(caching), "{name}");
        let policy = response.header("content-security-policy").expect(name);
        assert!(policy.starts_with("default-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        let etag = response.header("etag").expect(name).to_owned();
        let again = server.get(path).header("If-None-Match", &etag).send();
        assert_eq!((again.status, again.body.len()), (304, 0), "{name}");
        let kind = response.header("content-type").expect("a content type");
        let expected = match path.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("json") => "application/json",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("woff2") => "font/woff2",
            Some("webmanifest") => "application/manifest+json",
            _ if path == "/" => "text/html; charset=utf-8",
            _ => "text/plain; charset=utf-8",
        };
        if !name.ends_with(".ts") {
            assert_eq!(kind, expected, "{name}");
        }
    }
    for path in ["/src/none.js", "/src/../Cargo.toml", "/vendor/%2e%2e/x"] {
        server.get(path).send().refused("route_not_found");
    }
}

/// Browsers keep the files that the page names, and never ask for them again.
#[test]
fn the_files_of_the_page_are_cached_for_good() {
    let server = TestServer::shared();
    let page = server.get("/").send().text();
    let versioned = page.split('"').filter(|part| part.starts_with("page/"));
    let paths: Vec<String> = versioned.map(|path| format!("/{path}")).collect();
    assert!(paths.len() > 30, "{paths:?}");
    let folder = paths[0].split('/').nth(3).expect("a version");
    let named = |path: &str| paths.contains(&format!("/page/v/{folder}/{path}"));
    assert!(named("src/main.js") && named("style.css") && named("icon.svg"));
    assert!(page.contains("rel=\"icon\""), "{page}");
    assert!(
        page.contains("<script src=\"start.js\"></script>"),
        "{page}"
    );
    // What is outside of the folder has the same address in all versions.
    let endings = [".js", ".css", ".svg", ".png", ".webmanifest"];
    for part in page.split('"') {
        let is_file = endings.iter().any(|end| part.ends_with(end));
        let stays =
            ["manifest.webmanifest", "start.js"].contains(&part) || part.starts_with("page/");
        assert!(!is_file || stays, "{part}");
    }
    let words = format!("/page/v/{folder}/lang/de.json");
    for path in paths.iter().chain([&words]) {
        let response = server.get(path).send();
        assert_eq!(response.status, 200, "{path}");
        let caching = Some("public, max-age=31536000, immutable");
        assert_eq!(response.header("cache-control"), caching, "{path}");
        let (_, name) = path[8..].split_once('/').expect("a name");
        assert_eq!(response.body, server.get(&format!("/{name}")).send().body);
    }
    // Another version has other files.
    let others = [
        "v/0123456789abcdef/src/main.js",
        "0123456789abcdef/src/main.js",
        "src/main.js",
        folder,
    ];
    let others = others.map(|path| format!("/page/{path}"));
    let none = format!("/page/v/{folder}/src/none.js");
    for path in others
        .iter()
        .chain([&none, &format!("/page/{folder}/src/main.js")])
    {
        let missing = server.get(path).send();
        assert_eq!(missing.header("cache-control"), Some("no-store"), "{path}");
        missing.refused("route_not_found");
    }
    // A page of version 0.2.0 is told so by its first script.
    let told = server.get("/page/0123456789abcdef/src/start.js").send();
    assert_eq!(told.header("cache-control"), Some("no-store"));
    assert_eq!(told.body, file("/start.js"));
    // Its tab, if it is still open, finds the icon of a turn.
    for version in ["0123456789abcdef", "v/0123456789abcdef"] {
        let icon = server.get(&format!("/page/{version}/icon-turn.svg")).send();
        assert_eq!(icon.header("cache-control"), Some("no-store"));
        assert_eq!(icon.body, file("/icon-turn.svg"));
    }
}

/// Folders of what is loaded when it is opened.
const LATER: &str = "/src/analyse/ /src/finished/ /src/learn/ /src/match/ /src/puzzles/ \
    /src/review/ /src/rules/ /lang/analyse/ /lang/finished/ /lang/learn/ /lang/match/ /lang/puzzles/ \
    /lang/review/ /lang/rules/ /lessons/ \
    /src/qr.js /vendor/lean-qr.js";

#[test]
fn the_page_is_small() {
    let (mut size, mut all) = (0, 0);
    for name in files() {
        // Types, licences and documents are asked for by no browser.
        let unasked = [".ts", ".md", "/types.js"]
            .iter()
            .any(|end| name.ends_with(end));
        if unasked || name.contains("LICENSE") {
            continue;
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&file(&name)).expect("memory");
        let packed = packed.finish().expect("memory").len();
        all += packed;
        if !LATER.split(' ').any(|folder| name.starts_with(folder)) {
            size += packed;
        }
    }
    assert!(size <= 165_000, "{size} bytes at first");
    assert!(all <= 260_000, "{all} bytes");
}

#[test]
fn without_the_page_the_documentation_comes_first() {
    let server = TestServer::start_with(&[("DOG_NO_PAGE", "1")]);
    let response = server.get("/").send();
    assert_eq!(response.status, 307);
    assert_eq!(response.header("location"), Some("/docs/"));
    for path in ["/style.css", "/sw.js", "/page/0/src/main.js"] {
        server.get(path).send().refused("route_not_found");
    }
}

/// A person who opens the page too often is not shown JSON, and need not do anything.
#[test]
fn a_person_gets_a_page_that_comes_back_by_itself() {
    let server = TestServer::start_with(&[
        ("DOG_TRUSTED_PROXY_HEADER", "X-Real-IP"),
        ("DOG_ADDRESS_RATE", "1"),
    ]);
    let request = |path: &'static str, accept: &str| {
        let request = server.get(path).header("X-Real-IP", "203.0.113.7");
        request.header("Accept", accept)
    };
    let busy = || {
        let is_busy = |_: &i32| request("/", "*/*").send().status == 429;
        (0..20).find(is_busy).expect("a limit");
    };
    busy();
    let mut page = request("/", "text/html,application/xhtml+xml,*/*;q=0.8").run();
    assert_eq!(page.status(), 429);
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    assert!(page.headers().contains_key("retry-after"));
    let text = page.body_mut().read_to_string().expect("a text");
    assert!(text.contains("http-equiv=\"refresh\""), "{text}");
    assert!(text.contains("lang=\"de\""), "{text}");
    let site = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/nginx.conf"));
    assert_eq!(site.matches(text.trim()).count(), 2);
    for (path, accept) in [("/", "*/*"), ("/v1/rules", "text/html")] {
        busy();
        request(path, accept).send().refused("too_many_requests");
    }
}
