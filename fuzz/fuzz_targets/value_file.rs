//! `cargo +nightly fuzz run --features libfuzzer value_file`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::value_file(data));
