//! Tests of the explorer's page in a real browser: see `tests/page.rs`.
#![forbid(unsafe_code)]
