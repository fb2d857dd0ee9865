//! Subcommands that are separate programs: `hallpass lab` runs `hallpass-lab`, and `hallpass bench` runs
//! `hallpass-bench`.

use std::{
    env,
    ffi::OsString,
    io::{self, ErrorKind},
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

use clap::Args as ClapArgs;

use crate::output::say;

/// Exit status: the program is not installed or cannot be started.
const NOT_STARTED: u8 = 2;

/// The arguments, which are passed on unchanged.
#[derive(ClapArgs)]
#[command(disable_help_flag = true)]
pub struct Args {
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

#[derive(Clone, Copy)]
pub enum Program {
    Lab,
    Bench,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Program::Lab => "hallpass-lab",
            Program::Bench => "hallpass-bench",
        }
    }

    fn how_to_get(self) -> &'static str {
        match self {
            Program::Lab => {
                "install it in a checkout with `cargo install --path crates/lab`, or from a release: \
                 hallpass-lab-*.tar.gz or hallpass-lab_*.deb"
            }
            Program::Bench => {
                "it is not published; in a checkout, install it with \
                 `cargo install --path crates/bench`"
            }
        }
    }

    /// Replaces this process with the program, so that the program itself gets the signals and the
    /// terminal, and sets the exit status. Returns only if the program cannot be started.
    pub fn exec(self, args: Args) -> ExitCode {
        let error = self.replace_this_process(&args.words);
        match error.kind() {
            ErrorKind::NotFound => say(format_args!(
                "{} is neither beside hallpass nor on PATH: {}",
                self.name(),
                self.how_to_get()
            )),
            _ => say(format_args!("cannot run {}: {error}", self.name())),
        }
        ExitCode::from(NOT_STARTED)
    }

    /// Replaces this process with the program. Returns the error if that fails.
    ///
    /// Prefers the program in the directory of this program, because it has the same version.
    fn replace_this_process(self, words: &[OsString]) -> io::Error {
        let beside = env::current_exe().map(|path| path.with_file_name(self.name()));
        if let Ok(path) = beside {
            let error = Command::new(path).args(words).exec();
            if error.kind() != ErrorKind::NotFound {
                return error;
            }
        }
        Command::new(self.name()).args(words).exec()
    }
}
