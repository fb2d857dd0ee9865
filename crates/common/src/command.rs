//! The command line that a hall's status shows for a process.

use std::{env, sync::OnceLock};

/// Returns the command line of this process. Spaces separate the words.
///
/// The first call reads and stores the command line; later calls take no lock and allocate nothing. A process that
/// forks while it has other threads should call this function once before it forks.
pub fn command_line() -> &'static str {
    static LINE: OnceLock<String> = OnceLock::new();
    LINE.get_or_init(|| {
        let words: Vec<_> =
            env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        words.join(" ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_starts_with_the_program() {
        let program = env::args().next().expect("a test has a program name");
        assert!(command_line().starts_with(&program), "{}", command_line());
    }
}
