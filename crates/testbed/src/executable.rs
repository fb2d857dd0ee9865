//! Files that a test executes.
//!
//! Linux refuses to execute a file while any process has it open for writing. A child that another thread has just
//! forked keeps the files of this process open until it executes its own program. So another process writes the file:
//! then no child of this process ever has the file open for writing.

use std::{
    ffi::OsStr,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Writes an executable file with this text.
///
/// # Panics
/// Panics if the file cannot be written.
pub fn write_executable(path: &Path, text: &str) {
    let mut install = install("/dev/stdin", path).stdin(Stdio::piped()).spawn().expect("it runs");
    let input = install.stdin.take().expect("a pipe");
    { input }.write_all(text.as_bytes()).expect("install reads its input");
    let status = install.wait().expect("a child");
    assert!(status.success(), "{} cannot be written", path.display());
}

/// Copies a program.
///
/// # Panics
/// Panics if the file cannot be written.
pub fn copy_executable(program: impl AsRef<OsStr>, path: &Path) {
    let status = install(program, path).status().expect("it runs");
    assert!(status.success(), "{} cannot be written", path.display());
}

fn install(source: impl AsRef<OsStr>, path: &Path) -> Command {
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(source.as_ref()).arg(path);
    install
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;

    /// With `fs::write` instead of `write_executable`, a few of the scripts would fail to start: "Text file busy".
    #[test]
    fn a_new_script_runs_while_other_threads_start_programs() {
        let folder = tempfile::tempdir().expect("a folder");
        thread::scope(|scope| {
            for number in 0..8 {
                let path = folder.path().join(number.to_string());
                scope.spawn(move || {
                    for _ in 0..25 {
                        write_executable(&path, "#!/bin/sh\nexit 7\n");
                        let status = Command::new(&path).status().expect("it is not busy");
                        assert_eq!(status.code(), Some(7));
                        fs::remove_file(&path).expect("it exists");
                    }
                });
            }
        });
    }
}
