//! Statically links the library that unwinds panics, if the C compiler has a static version of it.
//!
//! Rust's standard library uses the unwinder of `libgcc_s.so`. For a short command, loading this library is a large
//! part of the time that `hallpass run` takes.

use std::{env, path::Path, process::Command};

const UNWINDER: &str = "libgcc_eh.a";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let has_gnu_libc = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|libc| libc == "gnu");
    if has_gnu_libc && linker_finds_unwinder() {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Returns `true` if the linker finds the static library. With `-print-file-name`, GCC and clang print the path of the
/// library if they have it, and only its name otherwise.
fn linker_finds_unwinder() -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let Ok(answer) = Command::new(linker).arg(format!("-print-file-name={UNWINDER}")).output()
    else {
        return false;
    };
    let path = String::from_utf8_lossy(&answer.stdout);
    Path::new(path.trim()).is_absolute() && Path::new(path.trim()).exists()
}
