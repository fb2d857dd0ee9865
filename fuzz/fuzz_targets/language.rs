//! `cargo +nightly fuzz run --features libfuzzer language`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hallpass_fuzz::language(data));
