//! The id of a request: in its answer, in its problem document, and in the log.

use actix_web::{
    HttpMessage,
    http::header::{HeaderName, HeaderValue},
};

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT: RequestId;
}

/// The id of a request.
#[derive(Clone, Debug)]
pub struct RequestId(pub HeaderValue);

impl RequestId {
    /// The client's id if it is plain text, else a random one. Later calls return the same.
    pub fn of(request: &impl HttpMessage) -> RequestId {
        let mut extensions = request.extensions_mut();
        if let Some(id) = extensions.get::<RequestId>() {
            return id.clone();
        }
        let sent = request.headers().get(REQUEST_ID);
        let id = RequestId(match sent.filter(|id| is_plain(id.as_bytes())) {
            Some(id) => id.clone(),
            None => {
                let fresh = format!("{:016x}", rand::random::<u64>());
                HeaderValue::from_str(&fresh).expect("hex digits are a header value")
            }
        });
        extensions.insert(id.clone());
        id
    }

    /// Runs what answers the request with this id.
    pub async fn scope<T>(&self, answering: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), answering).await
    }

    /// The same for what does not wait.
    pub fn sync_scope<T>(&self, answering: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self.clone(), answering)
    }

    /// The id of the request that is being answered by this task, as it is logged.
    pub fn current() -> Option<String> {
        CURRENT.try_with(|id| id.text().to_owned()).ok()
    }

    /// The id as it is logged.
    pub fn text(&self) -> &str {
        self.0.to_str().unwrap_or("-")
    }
}

fn is_plain(id: &[u8]) -> bool {
    (1..=64).contains(&id.len())
        && id
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}
