//! Every error a client can get, as a problem document (RFC 9457).

pub mod announce;
mod convert;
mod document;
pub mod request_id;
mod table;

pub use self::{
    document::{FieldError, NO_SNIFFING, Problem, ProblemDetails},
    table::{Code, Reason},
};
