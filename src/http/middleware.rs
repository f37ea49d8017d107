//! What happens to every request: it gets an id and a line in the access log, and every error
//! becomes a problem document.

use std::{net::IpAddr, panic::AssertUnwindSafe, time::Instant};

use actix_web::{
    Error, HttpMessage, HttpResponse, ResponseError,
    body::{BodySize, BoxBody, EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    error::InternalError,
    http::{
        ConnectionType, Method, StatusCode, Version,
        header::{self, HeaderName},
    },
    middleware::Next,
    web::Data,
};
use futures_util::FutureExt;

use crate::{
    headers::token::{DOG_TOKEN, hide_tokens, vary_by_token},
    limits::LimitState,
    metrics::{InFlightRequest, RequestMetrics, SkipLatency, method_name},
    problem::{
        NO_SNIFFING, Problem,
        announce::{RATE_LIMIT, RATE_LIMIT_POLICY},
        request_id::{REQUEST_ID, RequestId},
    },
};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Gives the request an id, logs and counts it, and turns errors and panics into problem documents.
///
/// The log has the matched route in place of the path, so that it contains no ids and no queries.
pub async fn log_and_measure<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    hide_tokens(request.headers_mut());
    let guard = RequestGuard::begin(&request);
    let answering = AssertUnwindSafe(next.call(request)).catch_unwind();
    let answered = guard.id.scope(answering).await;
    let mut response = match answered {
        Ok(Ok(response)) => (guard.id).sync_scope(|| framework_errors_to_problems(response)),
        Ok(Err(error)) => return Err(guard.failed(|| error.error_response())),
        Err(_) => {
            let problem = Problem::internal("a handler panicked");
            return Err(guard.failed(|| problem.error_response()));
        }
    };
    let answered = response.request();
    let address = (answered.app_data::<Data<LimitState>>())
        .and_then(|state| state.address_to_log(answered.peer_addr(), answered.headers()));
    let timed = !answered.extensions().contains::<SkipLatency>();
    let route = answered.match_pattern();
    guard.answered(route, response.status(), timed, address);
    if response.request().version() < Version::HTTP_11
        && response.response().body().size() == BodySize::Stream
    {
        // HTTP/1.0 knows no chunks: the end of the connection is the end of the body.
        let head = response.response_mut().head_mut();
        head.no_chunking(true);
        head.set_connection_type(ConnectionType::Close);
    }
    guard.complete(response.response_mut());
    Ok(response)
}

/// A request that is being answered.
struct RequestGuard {
    id: RequestId,
    trace_id: Option<String>,
    method: Method,
    has_dog_token: bool,
    started: Instant,
    in_flight: Option<InFlightRequest>,
}

impl RequestGuard {
    fn begin(request: &ServiceRequest) -> RequestGuard {
        let metrics = request.app_data::<Data<RequestMetrics>>();
        RequestGuard {
            id: RequestId::of(request),
            trace_id: trace_id(request),
            method: request.method().clone(),
            has_dog_token: request.headers().contains_key(DOG_TOKEN),
            started: Instant::now(),
            in_flight: metrics.map(|metrics| metrics.begin()),
        }
    }

    /// The error with this answer, which passes no other middleware.
    fn failed(&self, answer: impl FnOnce() -> HttpResponse) -> Error {
        let mut response = self.id.sync_scope(answer);
        self.answered(None, response.status(), true, None);
        self.complete(&mut response);
        InternalError::from_response("no handler has answered", response).into()
    }

    /// Logs the problem, if the response is one, and completes its headers.
    fn complete<B>(&self, response: &mut HttpResponse<B>) {
        if let Some(problem) = response.extensions().get::<Problem>() {
            problem.log(&self.id);
        }
        let headers = response.headers_mut();
        let caching = headers.get(header::CACHE_CONTROL);
        if caching.is_some_and(|value| value.as_bytes().starts_with(b"public")) {
            // A cache sends it to others, whom neither the id nor the limits concern.
            headers.remove(RATE_LIMIT);
            headers.remove(RATE_LIMIT_POLICY);
        } else {
            headers.insert(REQUEST_ID, self.id.0.clone());
        }
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFFING);
        vary_by_token(self.has_dog_token, headers);
    }

    /// Logs and counts the response, with the client's address where it is logged. With `timed` its
    /// duration is counted too.
    fn answered(
        &self,
        route: Option<String>,
        status: StatusCode,
        timed: bool,
        address: Option<IpAddr>,
    ) {
        let (method, time) = (method_name(&self.method), self.started.elapsed());
        let (route, id) = (route.as_deref().unwrap_or("-"), self.id.text());
        let ms = (time.as_secs_f64() * 1e5).round() / 100.0;
        let trace_id = self.trace_id.as_deref();
        let mut trace = trace_id.map_or(String::new(), |trace_id| format!(" {trace_id}"));
        let address = address.map(|address| address.to_string());
        if let Some(address) = &address {
            trace += " ";
            trace += address;
        }
        log::info!(
            target: "dog::access",
            request_id = id, method, route, status = status.as_u16(), ms, trace_id, address;
            "{id} {method} {route} {} {ms:.2}ms{trace}", status.as_u16()
        );
        if let Some(in_flight) = &self.in_flight {
            in_flight.answered(&self.method, route, status, timed.then_some(time));
        }
    }
}

/// The id of the trace that the request is part of: W3C Trace Context, `traceparent`.
fn trace_id(request: &ServiceRequest) -> Option<String> {
    let text = request.headers().get(TRACEPARENT)?.to_str().ok()?;
    let mut parts = text.split('-');
    let (version, trace_id, parent) = (parts.next()?, parts.next()?, parts.next()?);
    let is_valid = version.len() == 2 && is_trace_part(trace_id, 32) && is_trace_part(parent, 16);
    (is_valid && parts.next().is_some()).then(|| trace_id.to_owned())
}

/// Whether this is a number of this many hex digits, and not 0.
fn is_trace_part(text: &str, length: usize) -> bool {
    text.len() == length
        && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte))
        && text.bytes().any(|byte| byte != b'0')
}

/// Turns errors that the framework or a library answered into problem documents.
fn framework_errors_to_problems<B: MessageBody>(
    response: ServiceResponse<B>,
) -> ServiceResponse<EitherBody<B, BoxBody>> {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_problem = content_type
        .is_some_and(|content_type| content_type.as_bytes().starts_with(b"application/problem"));
    if !is_error || is_problem {
        return response.map_into_left_body();
    }
    let headers = response.headers().clone();
    let mut response = response.into_response(Problem::from_status(status).error_response());
    for (name, value) in headers {
        if name != header::CONTENT_TYPE && name != header::CONTENT_LENGTH {
            response.headers_mut().append(name, value);
        }
    }
    response.map_into_right_body()
}

#[cfg(test)]
mod tests {
    use actix_web::{
        App, HttpRequest,
        middleware::from_fn,
        test::{self, TestRequest},
        web,
    };

    use super::*;

    async fn panics() -> HttpResponse {
        panic!("a secret")
    }

    async fn printed(request: HttpRequest) -> String {
        format!("{request:?} {:?}", request.headers())
    }

    #[actix_web::test]
    async fn no_token_is_printed() {
        let app = App::new()
            .route("/", web::get().to(printed))
            .wrap(from_fn(log_and_measure));
        let app = test::init_service(app).await;
        for (name, value) in [
            ("Dog-Token", "a-secret"),
            ("Authorization", "Bearer a-secret"),
        ] {
            let request = TestRequest::get().insert_header((name, value));
            let answer = test::call_and_read_body(&app, request.to_request()).await;
            let answer = String::from_utf8_lossy(&answer);
            assert!(answer.contains(&name.to_lowercase()), "{answer}");
            assert!(!answer.contains("a-secret"), "{answer}");
        }
    }

    async fn plain_error() -> HttpResponse {
        HttpResponse::ImATeapot().body("by the framework")
    }

    #[actix_web::test]
    async fn a_panic_is_a_problem_that_tells_nothing_but_its_id() {
        let app = App::new()
            .route("/", web::get().to(panics))
            .wrap(from_fn(log_and_measure));
        let app = test::init_service(app).await;
        let request = TestRequest::get()
            .insert_header((REQUEST_ID, "mine-1"))
            .insert_header(("Dog-Token", "a"));
        let answer = test::try_call_service(&app, request.to_request()).await;
        let answer = answer.expect_err("an error").error_response();
        assert_eq!(answer.headers().get(REQUEST_ID).unwrap(), "mine-1");
        assert_eq!(answer.headers().get(header::VARY).unwrap(), "Dog-Token");
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let kind = answer.headers().get(header::CONTENT_TYPE).unwrap();
        assert_eq!(kind, "application/problem+json");
        let body = actix_web::body::to_bytes(answer.into_body()).await.unwrap();
        assert!(!String::from_utf8_lossy(&body).contains("secret"));
    }

    #[actix_web::test]
    async fn foreign_errors_become_problems_and_requests_have_ids() {
        let app = App::new()
            .route("/", web::get().to(plain_error))
            .wrap(from_fn(log_and_measure));
        let app = test::init_service(app).await;
        for (sent, kept) in [("mine-1", true), ("not mine", false)] {
            let request = TestRequest::get().insert_header((REQUEST_ID, sent));
            let answer = test::call_service(&app, request.to_request()).await;
            assert_eq!(answer.headers().get(REQUEST_ID).unwrap() == sent, kept);
            let problem: serde_json::Value = test::read_body_json(answer).await;
            assert_eq!(problem["code"], "bad_request");
        }
    }
}
