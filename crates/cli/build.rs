//! Links the unwinder of panics statically where the C compiler has it.
//!
//! Rust's standard library takes the unwinder from `libgcc_s.so`. Loading that library is a large
//! part of what `hallpass run` costs a short command.

use std::{env, path::Path, process::Command};

const UNWINDER: &str = "libgcc_eh.a";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let has_gnu_libc = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|libc| libc == "gnu");
    if has_gnu_libc && linker_finds_unwinder() {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Returns `true` if the linker finds the static library. GCC and clang print its path, or the name alone
/// if they do not have it.
fn linker_finds_unwinder() -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let Ok(answer) = Command::new(linker).arg(format!("-print-file-name={UNWINDER}")).output()
    else {
        return false;
    };
    let path = String::from_utf8_lossy(&answer.stdout);
    Path::new(path.trim()).is_absolute() && Path::new(path.trim()).exists()
}
