//! `hallpass`, the command.

use std::process::ExitCode;

fn main() -> ExitCode {
    hallpass_cli::main()
}
