//! `cargo +nightly fuzz run --features libfuzzer hall_file`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::hall_file(data));
