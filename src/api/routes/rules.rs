//! The rules that games can be played by.

use actix_web::{HttpRequest, HttpResponse};

use crate::api::{
    problem::Problem,
    wire::{
        query::{NoQuery, query},
        rules::RulesCatalogue,
    },
};

/// The presets with every option's value, and what each option means.
#[utoipa::path(get, path = "/v1/rules", operation_id = "list_rules", tag = "rules",
    responses((status = 200, description = "The five presets and the options.", body = RulesCatalogue)))]
pub async fn list_rules(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let NoQuery {} = query(request.query_string())?;
    Ok(HttpResponse::Ok().json(RulesCatalogue::new()))
}
