//! Files that are part of the program.

use std::{collections::HashMap, sync::Arc, time::Duration};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
    web::Bytes,
};
use parking_lot::Mutex;

use super::{
    headers::{
        accepts_gzip, check_if_match, content_etag, content_hash, gzip as gzip_bytes,
        is_not_modified,
    },
    problem::Problem,
};
use crate::{
    limits::{ClientAddress, memory::SharedBody},
    pool::WorkerPool,
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
        check_if_match(request.headers(), &etag)?;
        response
            .insert_header((header::VARY, "Accept-Encoding"))
            .insert_header((header::ETAG, etag.as_str()));
        if is_not_modified(request.headers(), &etag)? {
            return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
        }
        response.extensions_mut().insert(SharedBody);
        if !gzip {
            // Otherwise the body would be encoded again for each reader.
            response.insert_header((header::CONTENT_ENCODING, "identity"));
            return Ok(response.body(file.content));
        }
        response.insert_header((header::CONTENT_ENCODING, "gzip"));
        if let Some(compressed) = file.compressed {
            return Ok(response.body(compressed));
        }
        let content = file.content;
        let compress = move || gzip_bytes(&content);
        let client = ClientAddress::from_extensions(request);
        let compressed = self.pool.run(client, COMPRESSION_COST, compress);
        let compressed = Bytes::from(compressed.await?);
        if let Some(file) = self.files.lock().get_mut(key) {
            file.compressed = Some(compressed.clone());
        }
        Ok(response.body(compressed))
    }
}
