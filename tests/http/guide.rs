//! The guides, as the server shows them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use roxmltree::{Document, Node, ParsingOptions};

use crate::support::{TestResponse, TestServer};

const INDEX: &str = "/docs/guide/";

/// The guides that the index lists.
fn guides(server: &TestServer) -> Vec<String> {
    let index = server.get(INDEX).send().text();
    let index = parse(&index);
    let main = index.descendants().find(|node| node.has_tag_name("main"));
    let links = main.expect("the main element").descendants();
    let guides: Vec<String> = links
        .filter_map(|node| node.attribute("href"))
        .map(str::to_owned)
        .collect();
    assert!(guides.len() >= 9, "{guides:?}");
    guides
}

/// A page. That it is well-formed also as XML shows that all text in it is escaped.
fn parse(html: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(html, options).unwrap_or_else(|error| panic!("{error}: {html}"))
}

/// The places on a page that a fragment can name.
fn ids(page: &Document<'_>) -> Vec<String> {
    let ids = page.descendants().filter_map(|node| node.attribute("id"));
    ids.map(str::to_owned).collect()
}

/// The path to which a relative reference on a page in this folder leads.
fn resolve(folder: &str, reference: &str) -> String {
    let mut parts: Vec<&str> = folder.trim_matches('/').split('/').collect();
    let mut rest = reference.trim_start_matches("./");
    while let Some(above) = rest.strip_prefix("../") {
        parts.pop().expect("a folder above");
        rest = above;
    }
    parts.push(rest);
    format!("/{}", parts.join("/"))
}

fn is_html(response: &TestResponse) -> bool {
    response.header("content-type") == Some("text/html; charset=utf-8")
}

#[test]
fn every_link_and_picture_leads_somewhere() {
    let server = TestServer::shared();
    let mut places = BTreeMap::<String, Vec<String>>::new();
    let (mut fragments, mut pictures, mut sites) = (0, 0, 0);
    for guide in [guides(&server), vec![String::new()]].concat() {
        let html = server.get(&format!("{INDEX}{guide}")).send().text();
        let page = parse(&html);
        for node in page.descendants() {
            let picture = node.attribute("src");
            let Some(reference) = node.attribute("href").or(picture) else {
                continue;
            };
            if reference.starts_with("https://") {
                sites += 1;
                continue;
            }
            let what = format!("{guide}: {reference}");
            let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            let file = if file.is_empty() { &guide } else { file };
            let path = resolve(INDEX, file);
            let ids = places.entry(path.clone()).or_insert_with(|| {
                let response = server.get(&path).send();
                assert_eq!(response.status, 200, "{what}");
                let kind = response.header("content-type").expect("a content type");
                let is_file = path.contains("/examples/") || path.ends_with(".md");
                assert_eq!(
                    is_file,
                    kind == "text/plain; charset=utf-8",
                    "{what}: {kind}"
                );
                assert_eq!(
                    picture.is_some(),
                    kind.starts_with("image/") && node.has_tag_name("img")
                );
                if path.starts_with(INDEX) && is_html(&response) {
                    ids(&parse(&response.text()))
                } else {
                    Vec::new()
                }
            });
            pictures += usize::from(picture.is_some());
            if !fragment.is_empty() {
                fragments += 1;
                assert!(ids.iter().any(|id| id == fragment), "{what}: {ids:?}");
            }
        }
    }
    assert!(
        fragments > 30 && pictures >= 5 && sites > 0,
        "{fragments}, {pictures}, {sites}"
    );
}

#[test]
fn examples_and_the_changelog_are_linked_and_sent_as_they_are() {
    let server = TestServer::shared();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let mut links = 0;
    for guide in guides(&server) {
        let file = format!("{root}docs/{guide}.md");
        let markdown = fs::read_to_string(file).expect("a guide");
        let html = server.get(&format!("{INDEX}{guide}")).send().text();
        for rest in markdown.split("](../").skip(1) {
            let path = rest.split(')').next().expect("a link");
            if path.starts_with("examples/") || path == "CHANGELOG.md" {
                assert!(
                    html.contains(&format!("href=\"{path}\"")),
                    "{guide}: {path}"
                );
                let sent = server.get(&format!("{INDEX}{path}")).send();
                let kept = fs::read_to_string(format!("{root}{path}")).expect("a file");
                assert_eq!(sent.text(), kept, "{path}");
                links += 1;
            }
        }
    }
    assert!(links >= 10, "{links} links");
}

#[test]
fn a_page_has_a_title_and_links_to_all_others() {
    let server = TestServer::shared();
    let guides = guides(&server);
    let around = ["./", "../", "../../"].map(str::to_owned);
    let expected = [around.to_vec(), guides.clone()].concat();
    for guide in &guides {
        let page = server.get(&format!("{INDEX}{guide}")).send();
        assert!(is_html(&page), "{guide}");
        assert_eq!(page.header("cache-control"), Some("no-cache"), "{guide}");
        let html = page.text();
        let page = parse(&html);
        let file = format!("{}/docs/{guide}.md", env!("CARGO_MANIFEST_DIR"));
        let markdown = fs::read_to_string(file).expect("a guide");
        let title = markdown.lines().next().expect("a title");
        let title = title.trim_start_matches("# ");
        let headings = page.descendants().filter(|node| node.has_tag_name("h1"));
        let headings: Vec<Option<&str>> = headings.map(|node| node.text()).collect();
        assert_eq!(headings, [Some(title)], "{guide}");
        assert!(html.contains(&format!("<title>{title} ")), "{guide}");
        let navigation = page.descendants().filter(|node| node.has_tag_name("nav"));
        let links = navigation.flat_map(|nav| nav.descendants());
        let links: Vec<Node<'_, '_>> = links.filter(|node| node.has_tag_name("a")).collect();
        let targets: Vec<&str> = links.iter().filter_map(|a| a.attribute("href")).collect();
        assert_eq!(targets, expected, "{guide}");
        let current = links.iter().filter(|a| a.has_attribute("aria-current"));
        let current: Vec<Option<&str>> = current.map(|a| a.attribute("href")).collect();
        assert_eq!(current, [Some(guide.as_str())]);
        let ids = ids(&page);
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{guide}: {ids:?}");
    }
}

#[test]
fn a_page_has_no_scripts_and_nothing_inline() {
    let server = TestServer::shared();
    for guide in guides(&server) {
        let page = server.get(&format!("{INDEX}{guide}")).send();
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self';"),
            "{policy}"
        );
        assert!(
            !policy.contains("unsafe") && !policy.contains("script-src"),
            "{policy}"
        );
        for node in parse(&page.text()).descendants() {
            let name = node.tag_name().name();
            assert!(
                !["script", "style", "iframe"].contains(&name),
                "{guide}: {name}"
            );
            for name in node.attributes().map(|attribute| attribute.name()) {
                assert!(
                    name != "style" && !name.starts_with("on"),
                    "{guide}: {name}"
                );
            }
        }
    }
}

#[test]
fn documents_that_are_not_shown_are_not_linked() {
    let server = TestServer::shared();
    let html = server.get("/docs/guide/engine").send().text();
    let page = parse(&html);
    // The words of a link to arena.md.
    assert!(html.contains("Scores of duplicate matches are"), "{html}");
    for link in page.descendants().filter_map(|node| node.attribute("href")) {
        assert!(!link.contains(".md") && !link.contains("arena"), "{link}");
    }
    let hidden = server.get("/docs/guide/arena").send();
    hidden.refused("route_not_found");
}

fn text_of(cell: Node<'_, '_>) -> String {
    let texts = cell.descendants().filter(Node::is_text);
    texts.filter_map(|node| node.text()).collect()
}

#[test]
fn the_type_of_an_error_leads_to_its_row() {
    let server = TestServer::shared();
    let document = server.get("/openapi.json").send().expect(200);
    let codes = document["components"]["schemas"]["Code"]["enum"].as_array();
    let refused = server.get("/v1/games/none").send();
    let link = refused.refused("game_not_found")["type"].take();
    assert_eq!(link, "/docs/guide/errors#game_not_found");
    let html = server.get("/docs/guide/errors").send().text();
    let page = parse(&html);
    for code in codes.expect("codes") {
        let code = code.as_str().expect("a code");
        let place = page
            .descendants()
            .find(|node| node.attribute("id") == Some(code));
        let mut around = place.expect(code).ancestors();
        let row = around.find(|node| node.has_tag_name("tr")).expect("a row");
        let cells = row.children().filter(Node::is_element);
        let cells: Vec<String> = cells.map(text_of).collect();
        assert_eq!(cells[0], code);
        let status: u16 = cells[1].parse().expect("a status, not a reason");
        assert!((400..600).contains(&status), "{cells:?}");
    }
}

#[test]
fn other_paths_are_refused_or_redirected() {
    let server = TestServer::shared();
    let response = server.get("/docs/guide").send();
    assert_eq!(
        (response.status, response.header("location")),
        (308, Some(INDEX))
    );
    let files = "none rules/ rules.md pictures/ pictures/page-home.webp ../../Cargo.toml \
        %2e%2e/Cargo.toml";
    for file in files.split(' ') {
        let path = format!("{INDEX}{file}");
        server.get(&path).send().refused("route_not_found");
    }
    let refused = server.post("/docs/guide/rules").send();
    assert_eq!(refused.status, 405);
    assert_eq!(refused.header("allow"), Some("GET, HEAD, OPTIONS"));
    // The documentation of the API is next to them.
    assert_eq!(server.get("/docs/swagger-ui.css").send().status, 200);
}

#[test]
fn the_guides_are_shown_without_the_page() {
    let server = TestServer::start_with(&[("DOG_NO_PAGE", "true")]);
    for guide in guides(&server) {
        let html = server.get(&format!("{INDEX}{guide}")).send().text();
        let page = parse(&html);
        let mut links = page.descendants().filter_map(|node| node.attribute("href"));
        assert!(!links.any(|link| link == "../../"), "{html}");
    }
    assert_eq!(server.get("/docs/guide/guide.css").send().status, 200);
}
