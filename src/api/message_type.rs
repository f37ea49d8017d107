//! The member `type` of messages and lines, by which clients tell them apart.

/// Defines the type of a member `type` that always has the same value.
macro_rules! message_type {
    ($name:ident, $($variant:ident),+) => {
        /// A constant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($variant),+
        }
    };
}
pub(crate) use message_type;
