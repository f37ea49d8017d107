//! The host that a request is for, and the origin of the page that sends it.

use actix_web::{
    dev::RequestHead,
    http::{
        header,
        uri::{Authority, Uri},
    },
};

use crate::problem::{Code, Problem};

/// The origins whose pages may call the API.
#[derive(Clone, Debug)]
pub enum Cors {
    /// All: tokens are never cookies, so a foreign page cannot use them.
    Any,
    /// Only these.
    Only(Vec<String>),
}

impl Cors {
    /// Whether this is a write by a page that may not call the API. Browsers send some without a
    /// preflight.
    pub fn refuses(&self, head: &RequestHead) -> bool {
        matches!(self, Cors::Only(_)) && !head.method.is_safe() && self.has_foreign_origin(head)
    }

    /// Whether a page of another site, which is not in the list, sends this.
    pub fn is_foreign(&self, head: &RequestHead) -> bool {
        self.has_foreign_origin(head)
            || sec_fetch_site(head) == b"cross-site" && !self.lists_origin(head)
    }

    fn has_foreign_origin(&self, head: &RequestHead) -> bool {
        let Some(origin) = head.headers().get(header::ORIGIN) else {
            return false;
        };
        let origin = origin.to_str().ok().and_then(authority_of);
        let asked = host(head).ok().flatten();
        // A proxy may leave out the port.
        let is_own = origin.zip(asked).is_some_and(|(origin, asked)| {
            let (origin, asked) = (origin.host(), asked.host());
            origin.eq_ignore_ascii_case(asked)
        });
        !is_own && !self.lists_origin(head) && sec_fetch_site(head) != b"same-origin"
    }

    fn lists_origin(&self, head: &RequestHead) -> bool {
        let Cors::Only(origins) = self else {
            return false;
        };
        let origin = head.headers().get(header::ORIGIN);
        origin.is_some_and(|origin| origins.iter().any(|listed| listed == origin))
    }
}

/// The host of an origin, with its port; none if it is not the origin of a page, as `null`.
pub fn authority_of(origin: &str) -> Option<Authority> {
    let origin: Uri = origin.parse().ok()?;
    origin.scheme().and(origin.authority()).cloned()
}

fn sec_fetch_site(head: &RequestHead) -> &[u8] {
    let value = head.headers().get("sec-fetch-site");
    value.map_or(b"", |value| value.as_bytes())
}

/// The host that the request is for: that of its target or else of `Host` (RFC 9112, section
/// 3.2.2).
///
/// # Errors
/// `bad_request`, if one of them is not the name of a host, with a port or without.
pub fn host(head: &RequestHead) -> Result<Option<Authority>, Problem> {
    let target = head
        .uri
        .authority()
        .map(|target| checked(Some(target.clone())));
    let field = head.headers().get(header::HOST);
    let field = field.filter(|field| !field.is_empty());
    let field = field.map(|field| checked(field.to_str().ok().and_then(|text| text.parse().ok())));
    let (target, field) = (target.transpose()?, field.transpose()?);
    Ok(target.or(field))
}

fn checked(authority: Option<Authority>) -> Result<Authority, Problem> {
    let is_host = |authority: &Authority| {
        // The parser takes any text after a colon for a port, and reads a user before an `@`.
        let port = authority.as_str().strip_prefix(authority.host());
        let digits = port.map(|port| port.strip_prefix(':').unwrap_or(port));
        let is_port = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        !authority.host().is_empty()
            && digits.is_some_and(is_port)
            && (digits == Some("") || authority.port_u16().is_some())
    };
    let detail = "the host is not a name with or without a port";
    let authority = authority.filter(is_host);
    authority.ok_or_else(|| Problem::new(Code::BadRequest, detail))
}
