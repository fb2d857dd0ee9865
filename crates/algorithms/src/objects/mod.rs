//! Resilient objects: the universal construction, and the turnstile in front of it.

pub mod turnstile;
pub mod universal;
