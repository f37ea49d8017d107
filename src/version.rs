//! Which build of the program this is.

/// The version, such as `0.2.0`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from, if that is known: releases and images have it.
pub const REVISION: Option<&str> = option_env!("BUILD_REVISION");

/// Version and revision, such as `0.2.0 (1a2b3c4d5e6f)`.
pub const FULL: &str = env!("BUILD_VERSION");
