//! The presets and the options of the rules.

use actix_web::{HttpRequest, HttpResponse};
use dog_rules::Preset;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    api::{errors::errors, parameters::ReadHeaders},
    http::{content::send_json, json::from_query, request::NoQuery},
    problem::Problem,
    view::rules::{DEFAULT_PRESET, OPTION_MEANINGS, RulesView},
};

errors! {
    RulesErrors: [], [InvalidRequest, StaleVersion];
}

/// The five presets and what each option means.
#[derive(Serialize, ToSchema)]
pub struct RulesCatalogue {
    presets: Vec<PresetView>,
    options: Vec<OptionView>,
}

/// A preset with every option's value.
#[derive(Serialize, ToSchema)]
#[schema(as = PresetRules)]
pub struct PresetView {
    name: Preset,
    /// Whether this is the default.
    default: bool,
    rules: RulesView,
}

/// An option's name and meaning.
#[derive(Serialize, ToSchema)]
#[schema(as = RuleOption)]
pub struct OptionView {
    name: &'static str,
    meaning: &'static str,
}

impl RulesCatalogue {
    /// The response of `GET /v1/rules`.
    pub fn new() -> RulesCatalogue {
        let preset = |preset: Preset| PresetView {
            name: preset,
            default: preset == DEFAULT_PRESET,
            rules: RulesView::from(&preset.options()),
        };
        let option = |&(name, meaning): &_| OptionView { name, meaning };
        RulesCatalogue {
            presets: Preset::ALL.map(preset).into(),
            options: OPTION_MEANINGS.iter().map(option).collect(),
        }
    }
}

/// List the rules.
///
/// The presets with all options, and what each option means.
///
/// A creation and an analysis take a preset and the options that differ from it.
#[utoipa::path(get, path = "/v1/rules", tag = "rules",
    params(ReadHeaders),
    responses(
        (status = 200, description = "The five presets and the options.", body = RulesCatalogue,
            headers(("ETag" = String, description = "A hash of the content."))),
        (status = 304, description = "The rules are still those of If-None-Match."),
        RulesErrors))]
pub async fn list_rules(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let NoQuery {} = from_query(request.query_string())?;
    send_json(&request, "no-cache", &RulesCatalogue::new())
}
