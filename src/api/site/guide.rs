//! The guides: documents of `docs` as pages.

use std::{borrow::Cow, collections::HashSet, iter};

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Data, Path},
};
use pulldown_cmark::{
    Event::{self, End, Start},
    HeadingLevel, Options, Parser, Tag, TagEnd,
    html::push_html,
};
use rust_embed::Embed;

use super::page::{content_type, embedded};
use crate::{
    app::App,
    problem::{Code, Problem},
};

/// The documents and their pictures, which are part of the program.
#[derive(Embed)]
#[folder = "docs"]
struct Documents;

/// The index, in Markdown. It lists the guides in the order of the navigation.
const INDEX: &str = include_str!("docs/guides.txt");

macro_rules! examples {
    ($($file:literal)*) => { &[$(($file, include_str!(concat!("../../../examples/", $file)))),*] };
}
/// The examples that guides link to; they are sent as text.
const EXAMPLES: &[(&str, &str)] = examples! {
    "bot.py" "frontend.mjs" "go/play.go" "java/Play.java" "match.py" "play.sh"
    "puzzle.html" "python/generator.yaml" "python/play.py" "review.py" "service.py" "typescript/play.ts"
};

const HTML: &str = "text/html; charset=utf-8";

/// The page around the text of a guide.
const PAGE: &str = include_str!("docs/guide.html");

/// The style sheet of the guides, in the colours of the page for players.
const STYLE: &str = concat!(
    include_str!("../../../web/colours.css"),
    include_str!("docs/guide.css")
);

/// The content security policy of the guides: no scripts, and nothing inline.
const GUIDE_CSP: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// The names of the guides.
fn guides() -> impl Iterator<Item = &'static str> {
    let entries = INDEX.lines().filter_map(|line| line.strip_prefix("- ["));
    entries.filter_map(|entry| Some(entry.split_once(".md]")?.0))
}

/// The guide with this name, as Markdown; without a name the index.
fn guide(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some(INDEX.to_owned());
    }
    guides().find(|guide| *guide == name)?;
    let file = Documents::get(&format!("{name}.md"))?;
    String::from_utf8(file.data.into_owned()).ok()
}

/// A file that guides link to or show by this path.
fn file(path: &str) -> Option<Cow<'static, [u8]>> {
    let is_shown = |text: String| text.contains(&format!("]({path})"));
    let text = match path.split_once('/') {
        Some(("pictures", _)) if guides().filter_map(guide).any(is_shown) => {
            return Some(Documents::get(path)?.data);
        }
        Some(("examples", path)) => EXAMPLES.iter().find(|(known, _)| *known == path)?.1,
        None if path == "CHANGELOG.md" => include_str!("../../../CHANGELOG.md"),
        None if path == "guide.css" => STYLE,
        _ => return None,
    };
    Some(text.as_bytes().into())
}

/// The guides, their index, their style sheet, their pictures, and the files that they link to.
pub async fn get_guide(
    app: Data<App>,
    name: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let markdown = guide(&name);
    let is_page = markdown.is_some();
    let source = markdown.map(|text| text.into_bytes().into());
    let Some(source) = source.or_else(|| file(&name)) else {
        let detail = "there is no such guide";
        return Err(Problem::new(Code::RouteNotFound, detail));
    };
    let mut response = HttpResponse::Ok();
    response
        .content_type(match is_page {
            true => HTML,
            // An example is shown, not run.
            false if name.starts_with("examples/") => content_type(""),
            false => content_type(&name),
        })
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::CONTENT_SECURITY_POLICY, GUIDE_CSP));
    let content = || match is_page {
        true => html(&name, &String::from_utf8_lossy(&source), app.has_page).into(),
        false => embedded(source),
    };
    app.files
        .send(&request, &format!("docs/guide/{name}"), response, content)
        .await
}

/// The title of a document, which is its first line.
fn title(markdown: &str) -> &str {
    let line = markdown.lines().next().unwrap_or_default();
    line.trim_start_matches("# ")
}

/// The page of a document: its text, and links to the guides, to the API reference and to the page
/// for players, if that is served.
fn html(name: &str, markdown: &str, has_page: bool) -> String {
    let guides: String = guides()
        .map(|guide| format!("- [{guide}.md]({guide}.md)\n"))
        .collect();
    let link = format!("href=\"{}\"", if name.is_empty() { "./" } else { name });
    let play = "<a href=\"../../\">Play</a>\n";
    PAGE.replace(play, if has_page { play } else { "" })
        .replace("{title}", &escape(title(markdown)))
        .replace("{guides}", body(&guides).trim_end())
        .replace(&link, &format!("{link} aria-current=\"page\""))
        .replace("{text}", &body(markdown))
}

/// A text with the characters escaped that mean something in HTML.
fn escape(text: &str) -> String {
    let mut html = String::new();
    push_html(&mut html, [Event::Text(text.into())].into_iter());
    html
}

/// The text of a document as HTML, with links to its sections if there are more than two.
///
/// Links lead to other guides, to files that are sent as text, to the OpenAPI document and to other
/// sites; a link to anything else becomes plain text. The name of a guide's file becomes the guide's
/// title. Headings have the ids that GitHub gives them. A row of a table whose first cell is a name
/// as code gets an anchor of that name, unless it is taken.
fn body(markdown: &str) -> String {
    let mut page: Vec<Event<'_>> = Vec::new();
    let (mut ids, mut sections) = (HashSet::new(), Vec::new());
    let (mut heading, mut heading_at) = (String::new(), 0);
    let mut is_plain = false;
    for mut event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match &mut event {
            Start(Tag::Heading { .. }) => {
                heading_at = page.len();
                heading.clear();
            }
            End(TagEnd::Heading(level)) => {
                let free_id = free_id(&heading, &mut ids);
                if *level == HeadingLevel::H2 {
                    let heading = escape(&heading);
                    sections.push(format!("<li><a href=\"#{free_id}\">{heading}</a></li>\n"));
                }
                if let Start(Tag::Heading { id, .. }) = &mut page[heading_at] {
                    *id = Some(free_id.into());
                }
            }
            Start(Tag::Link { dest_url, .. }) => {
                let target = target(dest_url);
                is_plain = target.is_none();
                let Some(target) = target else { continue };
                *dest_url = target.into();
            }
            End(TagEnd::Link) if is_plain => continue,
            Event::Text(text) => {
                if let Some(guide) = text.strip_suffix(".md").and_then(guide) {
                    *text = title(&guide).to_owned().into();
                }
                heading += text;
            }
            Event::Code(code) => heading += code,
            // The alignment of columns would be an inline style.
            Start(Tag::Table(alignments)) => alignments.clear(),
            _ => {}
        }
        page.push(event);
    }
    for at in 0..page.len() {
        if let [Start(Tag::TableRow), _, Event::Code(name), End(_), ..] = &page[at..]
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
            && ids.insert(name.to_string())
        {
            let cell = format!("<a id=\"{name}\"></a><code>{name}</code>");
            page[at + 2] = Event::InlineHtml(cell.into());
        }
    }
    let mut html = String::new();
    push_html(&mut html, page.into_iter());
    if sections.len() > 2 {
        let sections = sections.concat();
        let contents = format!(
            "</h1>\n<details><summary>On this page</summary>\n<ul>\n{sections}</ul></details>\n"
        );
        html = html.replacen("</h1>\n", &contents, 1);
    }
    // Wide tables and code scroll, also by keys.
    let wide = "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>";
    html.replace("<pre>", "<pre tabindex=\"0\">")
        .replace("<table>", wide)
        .replace("</table>\n", "</table>\n</div>\n")
}

/// The id that GitHub gives to a heading with this text: the text in lower case, without
/// punctuation, and with dashes in place of blanks; with the first free number if it is taken.
fn free_id(heading: &str, ids: &mut HashSet<String>) -> String {
    let mut slug = heading.to_lowercase().replace(' ', "-");
    slug.retain(|c| c.is_alphanumeric() || "_-".contains(c));
    let numbered = (1..).map(|number| format!("{slug}-{number}"));
    let mut free = iter::once(slug.clone()).chain(numbered);
    free.find(|id| ids.insert(id.clone())).unwrap_or(slug)
}

/// Where a link leads from the page of a guide; none if the server does not show that.
fn target(link: &str) -> Option<String> {
    match link.strip_prefix("../") {
        Some("openapi/openapi.json") => Some("../../openapi.json".to_owned()),
        Some(path) => file(path).map(|_| path.to_owned()),
        None if link.starts_with('#') || link.starts_with("https://") => Some(link.to_owned()),
        None => {
            let (name, fragment) = link.split_once(".md")?;
            guide(name).map(|_| format!("{name}{fragment}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(markdown: &str, html: &str) {
        assert_eq!(body(markdown), html, "{markdown}");
    }

    #[test]
    fn headings_get_the_ids_that_github_gives_them() {
        check(
            "### The `code` of *it*\n### 7.3. Exchange: a card\n### snake_case – Größe",
            "<h3 id=\"the-code-of-it\">The <code>code</code> of <em>it</em></h3>\n\
             <h3 id=\"73-exchange-a-card\">7.3. Exchange: a card</h3>\n\
             <h3 id=\"snake_case--größe\">snake_case – Größe</h3>\n",
        );
        check(
            "### One\n### One\n### One",
            "<h3 id=\"one\">One</h3>\n<h3 id=\"one-1\">One</h3>\n<h3 id=\"one-2\">One</h3>\n",
        );
    }

    #[test]
    fn the_contents_follow_the_title() {
        check(
            "# A\n## B & C\n### D\n## `E`\n## F",
            "<h1 id=\"a\">A</h1>\n\
             <details><summary>On this page</summary>\n<ul>\n\
             <li><a href=\"#b--c\">B &amp; C</a></li>\n\
             <li><a href=\"#e\">E</a></li>\n\
             <li><a href=\"#f\">F</a></li>\n\
             </ul></details>\n\
             <h2 id=\"b--c\">B &amp; C</h2>\n<h3 id=\"d\">D</h3>\n\
             <h2 id=\"e\"><code>E</code></h2>\n<h2 id=\"f\">F</h2>\n",
        );
    }

    #[test]
    fn text_is_escaped() {
        let html = "<p>1 &lt; 2 &amp; <code>a&lt;b&gt;</code> \"q\"</p>\n";
        check("1 < 2 & `a<b>` \"q\"", html);
    }

    #[test]
    fn links_lead_to_what_the_server_shows() {
        for (link, target) in [
            ("rules.md", "rules"),
            ("rules.md#options", "rules#options"),
            ("#options", "#options"),
            ("../openapi/openapi.json", "../../openapi.json"),
            ("../examples/bot.py", "examples/bot.py"),
            ("../CHANGELOG.md", "CHANGELOG.md"),
            ("https://example.org/a?b&c", "https://example.org/a?b&amp;c"),
        ] {
            let html = format!("<p>a <a href=\"{target}\"><code>b</code> c</a> d</p>\n");
            check(&format!("a [`b` c]({link}) d"), &html);
        }
        for link in [
            "arena.md",
            "../CONTRIBUTING.md#tests",
            "../Cargo.toml",
            "nginx.conf",
            "javascript:alert(1)",
        ] {
            let html = "<p>a <code>b</code> c d <a href=\"rules\">e</a></p>\n";
            check(&format!("a [`b` c]({link}) d [e](rules.md)"), html);
        }
    }

    #[test]
    fn rows_are_anchors_unless_the_name_is_taken() {
        let row = "<tr><td><a id=\"one\"></a><code>one</code></td><td><code>two</code></td></tr>";
        let again = "<tr><td><code>one</code></td><td>again</td></tr>";
        let heading = "<tr><td><code>three</code></td><td>a heading</td></tr>";
        let words = "<tr><td><code>GET /four</code></td><td><code>five</code> six</td></tr>";
        let html = format!(
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">\
             <table><thead><tr><th>code</th><th>is</th></tr></thead>\
             <tbody>\n{row}\n{again}\n{heading}\n{words}\n</tbody></table>\n</div>\n\
             <h3 id=\"three\">Three</h3>\n"
        );
        check(
            "| code | is |\n|---|--:|\n| `one` | `two` |\n| `one` | again |\n\
             | `three` | a heading |\n| `GET /four` | `five` six |\n\n### Three",
            &html,
        );
    }
}
