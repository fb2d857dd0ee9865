//! `cargo +nightly fuzz run --features libfuzzer cluster_message`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::cluster_message(data));
