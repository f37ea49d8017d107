//! Files that are part of the program.

use std::{collections::HashMap, sync::Arc, time::Duration};

use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, http::header, web::Bytes};
use parking_lot::Mutex;

use super::{
    content::{Content, encode},
    etag::{content_etag, content_hash, is_known},
};
use crate::{
    headers::negotiation::accepts_gzip,
    limits::{ClientAddress, memory::SharedBody},
    pool::WorkerPool,
    problem::Problem,
};

/// The expected cost of compressing a file.
const COMPRESSION_COST: Duration = Duration::from_millis(20);

/// A static file, and what was computed from it.
#[derive(Clone)]
struct StaticFile {
    content: Bytes,
    hash: String,
    compressed: Option<Bytes>,
}

/// The static files that were sent, by a key that names their content.
pub struct StaticFiles {
    files: Mutex<HashMap<String, StaticFile>>,
    /// Where they are compressed.
    pool: Arc<WorkerPool>,
}

impl StaticFiles {
    /// No files yet. They are compressed in this pool.
    pub fn new(pool: &Arc<WorkerPool>) -> StaticFiles {
        StaticFiles {
            files: Mutex::default(),
            pool: Arc::clone(pool),
        }
    }

    /// The file with this key; `content` makes it for the first reader.
    fn get(&self, key: &str, content: impl FnOnce() -> Bytes) -> StaticFile {
        let mut files = self.files.lock();
        let file = files.entry(key.to_owned()).or_insert_with(|| {
            let content = content();
            StaticFile {
                hash: content_hash(&content),
                content,
                compressed: None,
            }
        });
        file.clone()
    }

    /// The response with a static file, whose memory all readers share, compressed or not; 304 if
    /// the client has it.
    pub async fn send(
        &self,
        request: &HttpRequest,
        key: &str,
        mut response: HttpResponseBuilder,
        content: impl FnOnce() -> Bytes,
    ) -> Result<HttpResponse, Problem> {
        let gzip = accepts_gzip(request);
        let file = self.get(key, content);
        let etag = content_etag(&file.hash, gzip);
        response.insert_header((header::VARY, "Accept-Encoding"));
        let bytes = if is_known(request.headers(), &etag)? {
            None
        } else if gzip && file.compressed.is_none() {
            let compress = move || encode(file.content, true);
            let client = ClientAddress::from_extensions(request);
            let compressed = self.pool.run(client, COMPRESSION_COST, compress).await?;
            if let Some(file) = self.files.lock().get_mut(key) {
                file.compressed = Some(compressed.clone());
            }
            Some(compressed)
        } else {
            file.compressed.filter(|_| gzip).or(Some(file.content))
        };
        response.extensions_mut().insert(SharedBody);
        let etag = Some(etag);
        Ok(Content { etag, bytes, gzip }.respond(&mut response))
    }
}
