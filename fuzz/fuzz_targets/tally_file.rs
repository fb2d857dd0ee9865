//! `cargo +nightly fuzz run --features libfuzzer tally_file`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::tally_file(data));
