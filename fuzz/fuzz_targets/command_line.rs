//! `cargo +nightly fuzz run --features libfuzzer command_line`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::command_line(data));
