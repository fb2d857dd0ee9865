//! `cargo +nightly fuzz run --features libfuzzer replay`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::replay(data));
