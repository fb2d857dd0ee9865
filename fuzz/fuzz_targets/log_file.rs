//! `cargo +nightly fuzz run --features libfuzzer log_file`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::log_file(data));
