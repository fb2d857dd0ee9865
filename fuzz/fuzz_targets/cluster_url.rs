//! `cargo +nightly fuzz run --features libfuzzer cluster_url`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::cluster_url(data));
