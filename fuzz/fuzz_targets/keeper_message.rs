//! `cargo +nightly fuzz run --features libfuzzer keeper_message`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::keeper_message(data));
