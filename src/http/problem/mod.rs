//! Every error a client can get, as a problem document (RFC 9457).

mod convert;
mod document;
mod table;

pub use self::{
    document::{FieldError, NO_SNIFFING, Problem, ProblemDetails},
    table::{Code, Reason},
};
