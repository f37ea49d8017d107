//! Which build of the program this is.

/// The version, such as `0.2.0`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from, if that is known: releases and images have it.
pub const REVISION: Option<&str> = option_env!("DOG_BUILD_REVISION");

/// Version and revision, such as `0.2.0 (1a2b3c4d5e6f)`.
pub const FULL: &str = env!("DOG_BUILD_VERSION");
