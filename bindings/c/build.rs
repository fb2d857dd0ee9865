//! Gives the shared library its name for the dynamic linker.

fn main() {
    // Raise the number when programs that were linked with an older library no longer work with this one.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhallpass.so.0");
    println!("cargo:rerun-if-changed=build.rs");
}
