//! What the commands on several halls have in common.

use std::process::ExitCode;

use crate::{
    location::{Error, Halls},
    output::say,
    people::{Users, View, printable},
};

/// Exit status: at least one of the halls could not be served.
const FAILED: u8 = 1;

/// Those that were named, or all there are.
pub fn chosen(halls: &Halls, names: Vec<String>) -> Result<Vec<String>, Error> {
    match names.is_empty() {
        true => halls.names(),
        false => Ok(names),
    }
}

/// Each hall as it is now, or why that cannot be said, with its name.
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

/// Says what went wrong, and counts it.
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

/// Ends a command that could not even begin.
pub fn finish(done: Result<ExitCode, Error>) -> ExitCode {
    done.unwrap_or_else(|error| {
        let mut errors = ErrorReport::default();
        errors.about(&error);
        errors.exit_code()
    })
}
