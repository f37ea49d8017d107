//! The answer to a write.

use std::fmt::Display;

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use dog_store::StoredGame;
use serde::{Deserialize, Serialize};

use super::{
    content::encode,
    etag::content_etag,
    idempotency::Retry,
    json::to_json,
    secrets::{Secrets, fill},
};
use crate::{
    access::{Role, state_tag},
    problem::Problem,
};

/// The answer to a write, as it is saved for retries: without its secrets.
#[derive(Default, Serialize, Deserialize)]
pub struct Answer {
    status: u16,
    etag: Option<String>,
    location: Option<String>,
    /// JSON, with a mark in place of each secret; empty for 204.
    body: String,
    /// What the secrets are derived from, besides the client's key.
    salt: Option<[u8; 16]>,
    /// Whether the secrets are for somebody other than the caller.
    pub is_for_another: bool,
    /// The secrets; none in an answer that was read from the store.
    #[serde(skip)]
    secrets: Option<Secrets>,
}

impl Answer {
    /// An answer with a body.
    ///
    /// # Errors
    /// Never in practice: answers can be serialized.
    pub fn new(status: StatusCode, body: &impl Serialize) -> Result<Answer, Problem> {
        Ok(Answer {
            body: to_json(body)?,
            ..Answer::empty(status)
        })
    }

    /// An answer without a body.
    pub fn empty(status: StatusCode) -> Answer {
        Answer {
            status: status.as_u16(),
            ..Answer::default()
        }
    }

    /// With the ETag of the game as this role sees it.
    pub fn with_etag(mut self, stored: &StoredGame, role: Role) -> Answer {
        self.etag = Some(format!("\"{}\"", state_tag(stored, role)));
        self
    }

    /// With the path of what was made or joined.
    pub fn with_location(mut self, path: impl Display) -> Answer {
        self.location = Some(path.to_string());
        self
    }

    /// With the secrets that its body names.
    pub fn with_secrets(mut self, secrets: Secrets) -> Answer {
        self.salt = Some(secrets.salt);
        self.secrets = Some(secrets);
        self
    }

    /// With secrets that are for somebody other than the caller.
    pub fn for_another(mut self) -> Answer {
        self.is_for_another = true;
        self
    }

    /// The response, with its secrets; with `gzip` its body is compressed.
    ///
    /// # Errors
    /// Never in practice.
    pub fn respond(self, retry: Option<&Retry>, gzip: bool) -> Result<HttpResponse, Problem> {
        let status = StatusCode::from_u16(self.status).map_err(Problem::internal)?;
        let mut response = HttpResponse::build(status);
        response.insert_header((header::CACHE_CONTROL, "no-store"));
        if let Some(etag) = self.etag {
            let gzip = gzip && !self.body.is_empty();
            response.insert_header((header::ETAG, content_etag(etag.trim_matches('"'), gzip)));
        }
        if let Some(location) = self.location {
            response.insert_header((header::LOCATION, location));
        }
        if self.body.is_empty() {
            return Ok(response.finish());
        }
        let secrets = match (self.secrets, self.salt) {
            (None, Some(salt)) => Some(Secrets::with_salt(retry, salt)?),
            (secrets, _) => secrets,
        };
        let body = match secrets {
            Some(secrets) => fill(&self.body, |game, secret| match game {
                Some(index) => secrets.of_game(index).text(secret),
                None => secrets.text(secret),
            }),
            None => self.body,
        };
        if gzip {
            response.insert_header((header::CONTENT_ENCODING, "gzip"));
        }
        let body = encode(body.into(), gzip)?;
        Ok(response.content_type("application/json").body(body))
    }
}
