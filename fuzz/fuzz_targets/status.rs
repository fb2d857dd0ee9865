//! `cargo +nightly fuzz run --features libfuzzer status`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::status(data));
