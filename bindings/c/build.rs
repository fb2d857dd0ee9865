//! Gives the shared library its name for the dynamic linker.

fn main() {
    // The number changes when a program that was linked with an older library would no longer work.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhallpass.so.0");
    println!("cargo:rerun-if-changed=build.rs");
}
