//! The rules that games can be played by.

use actix_web::HttpResponse;

use crate::api::wire::rules::RulesCatalogue;

/// The presets with every option's value, and what each option means.
#[utoipa::path(get, path = "/v1/rules", operation_id = "list_rules", tag = "rules",
    responses((status = 200, description = "The five presets and the options.", body = RulesCatalogue)))]
pub async fn list_rules() -> HttpResponse {
    HttpResponse::Ok().json(RulesCatalogue::new())
}
