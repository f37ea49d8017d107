//! The guides: documents of `docs` as pages.

use std::collections::HashSet;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Bytes, Data, Path},
};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};

use crate::{
    app::App,
    http::problem::{Code, Problem},
};

/// A document that is shown as a page.
struct Guide {
    name: &'static str,
    /// What it is about, for the index.
    about: &'static str,
    markdown: &'static str,
}

macro_rules! guides {
    ($($name:literal: $about:literal;)+) => {
        /// The guides, in the order of the navigation.
        const GUIDES: &[Guide] = &[$(Guide {
            name: $name,
            about: $about,
            markdown: include_str!(concat!("../../docs/", $name, ".md")),
        }),+];
    };
}

guides! {
    "rules": "how DOG is played, and how the five rule sheets differ";
    "glossary": "the words that the rules, the API and the guides use";
    "clients": "a client generated from the OpenAPI document, in nine languages";
    "writing-a-bot": "a program that plays a seat";
    "frontend": "a page or an app on which people play";
    "tables": "how people sit down, leave, come back and play again";
    "errors": "every error, and what it means";
    "adviser": "advice at a real table: positions as text, and what a move is good for";
    "picture": "the board as SVG, and where everything is on it";
    "record": "finished games as text, and how to verify them";
    "review": "what was luck and what was play in a finished game, and what was better";
    "trust": "what the server guarantees, and what it does not";
}

macro_rules! pictures {
    ($($name:literal)+) => {
        /// The pictures that the guides show.
        const PICTURES: &[(&str, &[u8])] = &[
            $(($name, include_bytes!(concat!("../../docs/", $name)))),+
        ];
    };
}

pictures! {
    "pictures/last-move.svg"
    "pictures/page-analyse.webp"
    "pictures/page-hint-reasons.webp"
    "pictures/page-invited.webp"
    "pictures/page-review.webp"
    "pictures/page-seating.webp"
    "pictures/preview.svg"
    "pictures/six-seats.svg"
}

/// The style sheet of the guides, in the colours of the page for players.
const STYLE: &str = concat!(
    include_str!("../../web/colours.css"),
    include_str!("docs/guide.css")
);

/// The content security policy of the guides: no scripts, and nothing inline.
const GUIDE_CSP: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// A file below `/docs/guide/`.
enum GuideFile {
    Index,
    Guide(&'static Guide),
    Style,
    Picture(&'static [u8]),
}

impl GuideFile {
    /// The file of this name, if there is one.
    fn find(name: &str) -> Option<GuideFile> {
        let guide = GUIDES.iter().find(|guide| guide.name == name);
        let picture = PICTURES.iter().find(|(picture, _)| *picture == name);
        match (name, guide, picture) {
            ("", ..) => Some(GuideFile::Index),
            ("guide.css", ..) => Some(GuideFile::Style),
            (_, Some(guide), _) => Some(GuideFile::Guide(guide)),
            (_, _, Some((_, bytes))) => Some(GuideFile::Picture(bytes)),
            _ => None,
        }
    }

    /// The content. A guide has a link to the page for players if that is served.
    fn content(&self, has_page: bool) -> Bytes {
        match self {
            GuideFile::Index => html("", &index(), has_page).into(),
            GuideFile::Guide(guide) => html(guide.name, guide.markdown, has_page).into(),
            GuideFile::Style => Bytes::from_static(STYLE.as_bytes()),
            GuideFile::Picture(bytes) => Bytes::from_static(bytes),
        }
    }
}

/// The guides, their index, their style sheet and their pictures.
pub async fn get_guide(
    app: Data<App>,
    name: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let Some(file) = GuideFile::find(&name) else {
        let detail = "there is no such guide";
        return Err(Problem::new(Code::RouteNotFound, detail));
    };
    let content_type = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        Some((_, "webp")) => "image/webp",
        _ => "text/html; charset=utf-8",
    };
    let mut response = HttpResponse::Ok();
    response
        .content_type(content_type)
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::CONTENT_SECURITY_POLICY, GUIDE_CSP));
    app.files
        .send(&request, &format!("docs/guide/{name}"), response, || {
            file.content(app.has_page)
        })
        .await
}

/// Redirects `/docs/guide` to `/docs/guide/`.
pub async fn redirect_guide() -> HttpResponse {
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, "/docs/guide/"))
        .finish()
}

/// The index, as Markdown.
fn index() -> String {
    let mut text = "# Guides\n\n".to_owned();
    for guide in GUIDES {
        let (title, name, about) = (title(guide.markdown), guide.name, guide.about);
        text += &format!("- [{title}]({name}.md): {about}\n");
    }
    text
}

/// The title of a document, which is its first line.
fn title(markdown: &str) -> &str {
    let line = markdown.lines().next().unwrap_or_default();
    line.trim_start_matches("# ")
}

/// The page of a document: its text, and links to the guides and the API reference.
fn html(name: &str, markdown: &str, has_page: bool) -> String {
    let guides: String = GUIDES
        .iter()
        .map(|guide| {
            let link = link(guide.name, title(guide.markdown), guide.name == name);
            format!("<li>{link}</li>\n")
        })
        .collect();
    let index = link("./", "Guides", name.is_empty());
    let play = if has_page {
        "<a href=\"../../\">Play</a>\n"
    } else {
        ""
    };
    let (title, text) = (escape(title(markdown)), body(markdown));
    format!(
        "<!DOCTYPE html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\" />\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n\
         <title>{title} · dog-server</title>\n\
         <link rel=\"icon\" href=\"../favicon.svg\" type=\"image/svg+xml\" />\n\
         <link rel=\"stylesheet\" href=\"guide.css\" />\n\
         </head>\n\
         <body>\n\
         <header><nav aria-label=\"dog-server\">\n\
         {index}\n\
         <a href=\"../\">API reference</a>\n\
         {play}\
         </nav></header>\n\
         <main>\n{text}</main>\n\
         <nav aria-label=\"Guides\" class=\"guides\"><ul>\n{guides}</ul></nav>\n\
         </body>\n\
         </html>\n"
    )
}

/// A link to a page, which may be the current one.
fn link(target: &str, text: &str, is_current: bool) -> String {
    let current = if is_current {
        " aria-current=\"page\""
    } else {
        ""
    };
    format!("<a href=\"{target}\"{current}>{}</a>", escape(text))
}

/// A text with the characters escaped that mean something in HTML.
fn escape(text: &str) -> String {
    let mut html = String::new();
    push_html(&mut html, [Event::Text(text.into())].into_iter());
    html
}

/// A heading of a document.
struct Heading {
    level: HeadingLevel,
    id: String,
    text: String,
}

/// The text of a document as HTML.
///
/// Links lead to other guides, to the OpenAPI document and to other sites; a link to anything else
/// becomes plain text. So does HTML in the text, apart from anchors. The name of a guide's file
/// becomes the guide's title. A row of a table whose first cell is a name as code gets an anchor of
/// that name, unless it is taken.
fn body(markdown: &str) -> String {
    let events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let mut ids = HashSet::new();
    let headings = headings(&events, &mut ids);
    ids.extend(events.iter().filter_map(anchor).map(str::to_owned));
    let mut next_heading = headings.iter();
    let mut is_plain = false;
    let mut page: Vec<Event<'_>> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => page.push(Event::Start(Tag::Heading {
                level: *level,
                id: next_heading
                    .next()
                    .map(|heading| heading.id.as_str().into()),
                classes: Vec::new(),
                attrs: Vec::new(),
            })),
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => {
                page.extend([event.clone(), Event::Html(contents(&headings).into())]);
            }
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => match target(dest_url) {
                Some(dest_url) => page.push(Event::Start(Tag::Link {
                    link_type: *link_type,
                    dest_url,
                    title: title.clone(),
                    id: id.clone(),
                })),
                None => is_plain = true,
            },
            Event::End(TagEnd::Link) if is_plain => is_plain = false,
            Event::Text(text) if !is_plain => page.push(Event::Text(
                guide(text).map_or_else(|| text.clone(), |guide| title(guide.markdown).into()),
            )),
            // Wide tables scroll; the alignment of columns would be an inline style.
            Event::Start(Tag::Table(_)) => page.extend([
                Event::Html("<div class=\"wide\">".into()),
                Event::Start(Tag::Table(Vec::new())),
            ]),
            Event::End(TagEnd::Table) => {
                page.extend([event.clone(), Event::Html("</div>\n".into())]);
            }
            Event::Code(name) if is_name_of_row(&events, at) && ids.insert(name.to_string()) => {
                let anchor = format!("<a id=\"{name}\"></a>");
                page.extend([Event::InlineHtml(anchor.into()), event.clone()]);
            }
            Event::InlineHtml(_)
                if is_anchor(&events, at) || at > 0 && is_anchor(&events, at - 1) =>
            {
                page.push(event.clone());
            }
            Event::Html(html) | Event::InlineHtml(html) => page.push(Event::Text(html.clone())),
            _ => page.push(event.clone()),
        }
    }
    let mut html = String::new();
    push_html(&mut html, page.into_iter());
    html
}

/// The headings of a document, with the ids that GitHub gives them.
fn headings(events: &[Event<'_>], ids: &mut HashSet<String>) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut is_inside = false;
    for event in events {
        match (event, headings.last_mut()) {
            (&Event::Start(Tag::Heading { level, .. }), _) => {
                is_inside = true;
                headings.push(Heading {
                    level,
                    id: String::new(),
                    text: String::new(),
                });
            }
            (Event::End(TagEnd::Heading(_)), Some(heading)) => {
                is_inside = false;
                heading.id = unique(slug(&heading.text), ids);
            }
            (Event::Text(text) | Event::Code(text), Some(heading)) if is_inside => {
                heading.text += text;
            }
            _ => {}
        }
    }
    headings
}

/// The text of a heading in lower case, without punctuation, and with dashes in place of blanks.
fn slug(text: &str) -> String {
    let mut slug = text.to_lowercase().replace(' ', "-");
    slug.retain(|c| c.is_alphanumeric() || "_-".contains(c));
    slug
}

/// The id, or the first free one of `ID-1`, `ID-2` and so on.
fn unique(id: String, ids: &mut HashSet<String>) -> String {
    let mut free = id.clone();
    let mut number = 0;
    while !ids.insert(free.clone()) {
        number += 1;
        free = format!("{id}-{number}");
    }
    free
}

/// Links to the sections, if there are more than two.
fn contents(headings: &[Heading]) -> String {
    let sections = headings
        .iter()
        .filter(|heading| heading.level == HeadingLevel::H2);
    let links: Vec<String> = sections
        .map(|Heading { id, text, .. }| {
            format!("<li><a href=\"#{id}\">{}</a></li>\n", escape(text))
        })
        .collect();
    if links.len() <= 2 {
        return String::new();
    }
    format!(
        "<details><summary>On this page</summary>\n<ul>\n{}</ul></details>\n",
        links.concat()
    )
}

/// Where a link leads from the page of a guide; none if the server does not show that.
fn target<'a>(link: &CowStr<'a>) -> Option<CowStr<'a>> {
    if link.starts_with('#') || link.starts_with("https://") {
        return Some(link.clone());
    }
    if **link == *"../openapi/openapi.json" {
        return Some("../../openapi.json".into());
    }
    let (file, fragment) = link.find('#').map_or((&**link, ""), |at| link.split_at(at));
    Some(format!("{}{fragment}", guide(file)?.name).into())
}

/// The guide in this file of `docs`.
fn guide(file: &str) -> Option<&'static Guide> {
    let name = file.strip_suffix(".md")?;
    GUIDES.iter().find(|guide| guide.name == name)
}

/// The name that an anchor gives to a place, such as `options` for `<a id="options"></a>`.
fn anchor<'a>(event: &'a Event<'_>) -> Option<&'a str> {
    let Event::InlineHtml(html) = event else {
        return None;
    };
    let name = html.strip_prefix("<a id=\"")?.strip_suffix("\">")?;
    is_name(name).then_some(name)
}

/// Whether an event and the next are an anchor without text.
fn is_anchor(events: &[Event<'_>], at: usize) -> bool {
    let end = events.get(at + 1);
    anchor(&events[at]).is_some()
        && matches!(end, Some(Event::InlineHtml(html)) if **html == *"</a>")
}

/// Whether an event is a name, and the whole first cell of a row.
fn is_name_of_row(events: &[Event<'_>], at: usize) -> bool {
    let (before, from) = events.split_at(at);
    matches!(
        before,
        [
            ..,
            Event::Start(Tag::TableRow),
            Event::Start(Tag::TableCell)
        ]
    ) && matches!(from, [Event::Code(name), Event::End(TagEnd::TableCell), ..] if is_name(name))
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    !text.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
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
    fn html_becomes_text_except_anchors() {
        check("<a id=\"options\"></a>", "<p><a id=\"options\"></a></p>\n");
        for html in [
            "<script>alert(1)</script>",
            "<style>b{}</style>",
            "<div onclick=\"x\">\nb\n</div>",
            "b <img src=x>",
            "b <a id=\"x\">c</a>",
            "b <a id=\"x\" href=\"y\"></a>",
            "<a id=\"x y\"></a>",
            "<!-- b -->",
        ] {
            let shown = body(html);
            let shown = shown.trim().trim_start_matches("<p>");
            assert_eq!(shown.trim_end_matches("</p>"), escape(html), "{html}");
        }
    }

    #[test]
    fn links_lead_to_what_the_server_shows() {
        for (link, target) in [
            ("rules.md", "rules"),
            ("rules.md#options", "rules#options"),
            ("#options", "#options"),
            ("../openapi/openapi.json", "../../openapi.json"),
            ("https://example.org/a?b&c", "https://example.org/a?b&amp;c"),
        ] {
            let html = format!("<p>a <a href=\"{target}\"><code>b</code> c</a> d</p>\n");
            check(&format!("a [`b` c]({link}) d"), &html);
        }
        for link in [
            "engine.md",
            "../CONTRIBUTING.md#tests",
            "../examples/bot.py",
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
            "<div class=\"wide\"><table><thead><tr><th>code</th><th>is</th></tr></thead>\
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
