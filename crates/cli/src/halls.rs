//! Helpers for commands on several halls.

use std::process::ExitCode;

use crate::{
    location::{Error, Halls},
    output::say,
    snapshot::{Users, View, printable},
};

/// Exit status: the command failed for at least one hall.
pub const FAILED: u8 = 1;

/// Returns the named halls, or all halls if none is named.
pub fn chosen(halls: &Halls, names: Vec<String>) -> Result<Vec<String>, Error> {
    match names.is_empty() {
        true => halls.names(),
        false => Ok(names),
    }
}

/// Returns the name of each hall with a snapshot of it, or an error.
pub fn look(
    halls: &Halls,
    names: Vec<String>,
    users: &mut Users,
) -> impl Iterator<Item = (String, Result<View, Error>)> {
    names.into_iter().map(|name| {
        let hall = halls.look(&name, users);
        (name, hall)
    })
}

/// Prints errors, and records for the exit status whether there was one.
#[derive(Default)]
pub struct ErrorReport {
    any: bool,
}

impl ErrorReport {
    pub fn about(&mut self, error: &Error) {
        say(format_args!("{}", printable(&error.to_string())));
        self.any = true;
    }

    pub fn exit_code(self) -> ExitCode {
        if self.any { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
    }
}

/// Prints the error of a command, if there is one, and returns the exit status.
pub fn finish(done: Result<ExitCode, Error>) -> ExitCode {
    done.unwrap_or_else(|error| {
        let mut errors = ErrorReport::default();
        errors.about(&error);
        errors.exit_code()
    })
}
