//! `cargo +nightly fuzz run --features libfuzzer postgres`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::postgres(data));
