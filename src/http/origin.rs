//! The origins of the pages that send requests.

use actix_web::{
    dev::RequestHead,
    http::{
        header,
        uri::{Authority, Uri},
    },
};

use super::headers::host;

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
