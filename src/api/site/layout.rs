//! Where a picture of the board draws everything.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, HttpResponse};
use dog_picture::{BoardLayout, Number, WIDTH, piece_colour, shape_name};
use dog_rules::Seat;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    api::{
        errors::errors,
        parameters::{ReadHeaders, in_range},
    },
    http::{content::send_json, json::from_query},
    problem::Problem,
};

errors! {
    LayoutErrors: [], [InvalidRequest, StaleVersion];
}

/// Which board to lay out.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LayoutParams {
    /// The number of seats, 4 or 6; 4 by default.
    #[param(minimum = 4, maximum = 6, multiple_of = 2)]
    seats: Option<u32>,
    /// The number of track fields per seat; 16 by default.
    #[param(minimum = 15, maximum = 16)]
    fields_per_seat: Option<u32>,
    /// The seat whose kennel is at the bottom; 0 by default.
    #[param(maximum = 5)]
    bottom: Option<u32>,
}

impl LayoutParams {
    /// The layout of that board.
    ///
    /// # Errors
    /// `invalid_request`, if there is no such board.
    pub fn layout(&self) -> Result<BoardLayout, Problem> {
        let seats = self.seats.unwrap_or(4);
        if !matches!(seats, 4 | 6) {
            return Err(Problem::wrong_value("seats", "/seats must be 4 or 6"));
        }
        let fields = in_range("fields_per_seat", self.fields_per_seat, 15, 16)?.unwrap_or(16);
        let bottom = in_range("bottom", self.bottom, 0, seats - 1)?.unwrap_or(0);
        // All of them are small.
        Ok(BoardLayout::new(seats as u8, fields as u8, bottom as u8))
    }
}

/// Where a picture of the board draws everything, and in which colours and shapes.
#[derive(Serialize, ToSchema)]
#[schema(as = Layout, example = json!({
    "width": 1000,
    "height": 1000,
    "places": {
        "17": {"x": 926, "y": 427.8},
        "0:goal:2": {"x": 500, "y": 709.4},
        "0:kennel:1": {"x": 636, "y": 859}
    },
    "seats": [{"colour": "#d55e00", "shape": "disc", "start": 0}]
}))]
pub struct LayoutView {
    /// The width of the picture.
    width: f64,
    /// The height of the picture without its legend, which is below the board.
    height: f64,
    /// The middle of each place. The keys are the `data-place` of the picture: `17` for a track
    /// field, `0:goal:2` for goal 2 of seat 0, `0:kennel:1` for place 1 in its kennel.
    places: BTreeMap<String, PlaceView>,
    /// The seats, in turn order.
    seats: Vec<SeatStyle>,
}

/// A point in the picture; x grows to the right, y downward.
#[derive(Serialize, ToSchema)]
#[schema(as = Place)]
pub struct PlaceView {
    x: f64,
    y: f64,
}

/// How a seat is drawn.
#[derive(Serialize, ToSchema)]
pub struct SeatStyle {
    /// The colour of its pieces, in every theme.
    #[schema(pattern = "^#[0-9a-f]{6}$")]
    colour: &'static str,
    /// The shape of its pieces.
    #[schema(pattern = "^(disc|square|triangle|cross|diamond|star)$")]
    shape: &'static str,
    /// The field where its pieces leave the kennel.
    start: u8,
}

impl LayoutView {
    /// The JSON of a layout.
    pub fn new(layout: &BoardLayout) -> LayoutView {
        let places = layout.places().map(|(key, point)| {
            let (x, y) = (Number(point.x).rounded(), Number(point.y).rounded());
            (key, PlaceView { x, y })
        });
        let seats = Seat::all(layout.seats).map(|seat| SeatStyle {
            colour: piece_colour(seat),
            shape: shape_name(seat),
            start: layout.start(seat),
        });
        LayoutView {
            width: WIDTH,
            height: WIDTH,
            places: places.collect(),
            seats: seats.collect(),
        }
    }
}

/// Read the layout of a board.
///
/// Where a picture of the board draws everything, and in which colours and shapes.
///
/// A layout never changes, so it may be cached for a year. The picture without its legend has the
/// same coordinates.
#[utoipa::path(get, path = "/v1/layout", tag = "rules",
    params(LayoutParams, ReadHeaders),
    responses(
        (status = 200, description = "The layout.", body = LayoutView,
            headers(("ETag" = String, description = "A hash of the content."),
                ("Cache-Control" = String, description = "`public, max-age=31536000, immutable`."))),
        (status = 304, description = "The layout is still the one of If-None-Match."),
        LayoutErrors))]
pub async fn get_layout(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let params: LayoutParams = from_query(request.query_string())?;
    let view = LayoutView::new(&params.layout()?);
    send_json(&request, "public, max-age=31536000, immutable", &view)
}
