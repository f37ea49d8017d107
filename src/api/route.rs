//! How a route is registered: once, for the server and for the OpenAPI document.

use std::future::{Ready, ready};

use actix_web::{
    Error, FromRequest, Handler, HttpRequest, HttpResponse, Responder, ResponseError, Route,
    body::MessageBody,
    dev::{HttpServiceFactory, ServiceRequest, ServiceResponse},
    guard as methods,
    http::{Method, header},
    middleware::{Next, from_fn},
    web::{self, ServiceConfig},
};
use serde_json::{Map, json};
use utoipa::{
    __dev::{SchemaReferences, Tags},
    Path,
    openapi::{HttpMethod, OpenApi, RefOr, SecurityRequirement, header::Header, path::Operation},
};

use crate::{
    headers::negotiation::{refuses_all, refuses_encodings},
    limits::{Cost, guard},
    problem::{Code, Problem},
};

/// The beginning of the paths of a game.
const GAME: &str = "/v1/games/{id}";

/// A method of a path, with its handler and its cost.
pub struct RouteDef {
    path: String,
    method: Method,
    cost: Cost,
    /// Whether it needs a key where the operator asks for one.
    needs_key: bool,
    route: Route,
    /// Adds the operation to the OpenAPI document; none if the document does not name it.
    document: Option<fn(&mut OpenApi, Cost, bool)>,
}

/// A route whose path and method are those of the handler's `#[utoipa::path]`.
macro_rules! route {
    ($cost:ident, $room:ident::$module:ident::$handler:ident) => {
        pastey::paste! {
            $crate::api::route::RouteDef::documented::<$crate::api::$room::$module::[<__path_ $handler>], _, _>(
                $crate::limits::Cost::$cost,
                $crate::api::$room::$module::$handler,
            )
        }
    };
}
pub(crate) use route;

impl RouteDef {
    /// A route that the document does not name: of what anybody may read.
    pub fn page<F, Args>(path: &str, handler: F) -> RouteDef
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        RouteDef::new(Method::GET, path, Cost::Request, handler)
    }

    fn new<F, Args>(method: Method, path: &str, cost: Cost, handler: F) -> RouteDef
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let route = if method == Method::GET {
            web::route().guard(methods::Any(methods::Get()).or(methods::Head()))
        } else {
            web::method(method.clone())
        };
        RouteDef {
            path: path.to_owned(),
            method,
            cost,
            needs_key: false,
            route: route.to(handler),
            document: None,
        }
    }

    /// A route of the document; see [`route!`].
    pub fn documented<P, F, Args>(cost: Cost, handler: F) -> RouteDef
    where
        P: Path + SchemaReferences + for<'t> Tags<'t> + 'static,
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let method = match P::methods()[..] {
            [HttpMethod::Get] => Method::GET,
            [HttpMethod::Post] => Method::POST,
            [HttpMethod::Put] => Method::PUT,
            [HttpMethod::Patch] => Method::PATCH,
            [HttpMethod::Delete] => Method::DELETE,
            _ => unreachable!("each handler has one of these methods"),
        };
        let RouteDef { route, .. } = RouteDef::new(method.clone(), "", cost, handler);
        RouteDef {
            document: Some(document::<P>),
            route: route.wrap(from_fn(check_accept::<P, _>)),
            path: P::path(),
            method,
            cost,
            needs_key: false,
        }
    }

    /// The route, for those with a key only, where the operator asks for one.
    pub fn with_key(self) -> RouteDef {
        RouteDef {
            needs_key: true,
            ..self
        }
    }

    /// Adds the operation to the document, with the schemas that it refers to.
    pub fn describe(&self, api: &mut OpenApi) {
        if let Some(document) = self.document {
            document(api, self.cost, self.needs_key);
        }
    }
}

/// Refuses a request, before it can change anything, that accepts none of the media types which the
/// document names, or no encoding that there is.
async fn check_accept<P: Path, B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse, Error> {
    let offers = || {
        let operation = json!(P::operation());
        let responses = operation["responses"].as_object().into_iter().flatten();
        let answers = responses.filter(|(status, _)| status.starts_with('2'));
        let types = answers.filter_map(|(_, answer)| answer["content"].as_object());
        types.flat_map(Map::keys).cloned().collect()
    };
    if refuses_all(request.headers(), offers) || refuses_encodings(request.request()) {
        let problem = Problem::from(Code::NotAcceptable);
        return Ok(request.into_response(problem.error_response()));
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

fn document<P: Path + SchemaReferences + for<'t> Tags<'t>>(
    api: &mut OpenApi,
    cost: Cost,
    needs_key: bool,
) {
    let mut operation: Operation = P::operation();
    if needs_key {
        let key = SecurityRequirement::new::<_, _, String>("key", []);
        operation.security = Some(vec![SecurityRequirement::default(), key]);
    }
    for (status, response) in &mut operation.responses.responses {
        let is_answer = status.starts_with('2');
        if let RefOr::T(response) = response
            && (status == "429" || is_answer && cost.is_announced())
        {
            let names = ["RateLimit-Policy", "RateLimit"].map(str::to_owned);
            response
                .headers
                .extend(names.map(|name| (name, Header::default().into())));
        }
    }
    let tags = P::tags().into_iter().map(str::to_owned);
    operation.tags.get_or_insert_default().extend(tags);
    api.paths
        .add_path_operation(P::path(), P::methods(), operation);
    let mut schemas = Vec::new();
    P::schemas(&mut schemas);
    let components = api.components.get_or_insert_default();
    components.schemas.extend(schemas);
}

/// Registers these routes. Paths are tried in order; those of a game are neighbours, and are tried
/// after their common beginning.
pub fn configure(routes: Vec<RouteDef>, config: &mut ServiceConfig) {
    let mut paths: Vec<Vec<RouteDef>> = Vec::new();
    for route in routes {
        match paths.iter_mut().find(|path| path[0].path == route.path) {
            Some(path) => path.push(route),
            None => paths.push(vec![route]),
        }
    }
    let mut paths = paths.into_iter().peekable();
    while let Some(path) = paths.next_if(|path| !is_below_game(path)) {
        config.service(resource(path, ""));
    }
    let mut game = web::scope(GAME);
    while let Some(path) = paths.next_if(|path| is_below_game(path)) {
        game = game.service(resource(path, GAME));
    }
    config.service(game);
    for path in paths {
        config.service(resource(path, ""));
    }
}

fn is_below_game(path: &[RouteDef]) -> bool {
    path[0].path.starts_with(GAME)
}

/// The resource of a path, with its limits, below this prefix. Other methods get 405 with an
/// `Allow` header.
fn resource(routes: Vec<RouteDef>, prefix: &str) -> impl HttpServiceFactory + 'static {
    let path = routes[0].path.strip_prefix(prefix).unwrap_or_default();
    let mut resource = web::resource(path);
    let (mut allow, mut costs) = (String::new(), Vec::new());
    for route in routes {
        allow += route.method.as_str();
        allow += match route.method {
            Method::GET => ", HEAD, ",
            _ => ", ",
        };
        costs.push((route.method, route.cost, route.needs_key));
        resource = resource.route(route.route);
    }
    allow += "OPTIONS";
    let other = move |request: HttpRequest| -> Ready<Result<HttpResponse, Problem>> {
        ready(if request.method() == Method::OPTIONS {
            Ok(HttpResponse::NoContent()
                .insert_header((header::ALLOW, allow.as_str()))
                .finish())
        } else {
            Err(Problem::method_not_allowed(&allow))
        })
    };
    let limit = move |request: ServiceRequest, next| {
        let method = match *request.method() {
            Method::HEAD => &Method::GET,
            ref method => method,
        };
        let route = costs.iter().find(|(own, ..)| own == method);
        let (cost, needs_key) = match route {
            Some(&(_, cost, needs_key)) => (cost, needs_key),
            None => (Cost::Request, false),
        };
        guard(cost, needs_key, request, next)
    };
    resource
        .default_service(web::to(other))
        .wrap(from_fn(limit))
}

/// The handler for unknown paths, with the limits.
pub fn not_found() -> Route {
    let limit = |request: ServiceRequest, next| guard(Cost::Request, false, request, next);
    web::to(route_not_found).wrap(from_fn(limit))
}

async fn route_not_found(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let detail = format!("there is no route {}", request.path());
    Err(Problem::new(Code::RouteNotFound, detail))
}
