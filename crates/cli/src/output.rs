//! Output that does not panic when the pipe is closed, as in `hallpass list | head`.

use std::{
    env, fmt,
    io::{self, ErrorKind, Write},
    process,
};

use serde_json::Value;

/// The exit status that a shell reports for a command killed by SIGPIPE.
pub const CLOSED_PIPE: u8 = 128 + 13;
const CANNOT_WRITE: i32 = 2;

/// Writes to standard output. Ends the program if this fails.
pub fn write(text: fmt::Arguments<'_>) {
    match io::stdout().lock().write_fmt(text) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => process::exit(CLOSED_PIPE.into()),
        Err(error) => {
            eprintln!("hallpass: cannot write the output: {error}");
            process::exit(CANNOT_WRITE);
        }
    }
}

/// Writes a line to standard error, and ignores a closed pipe.
pub fn say(text: fmt::Arguments<'_>) {
    // One write, so that messages of several processes do not mix.
    let _ = io::stderr().write_all(format!("hallpass: {text}\n").as_bytes());
}

/// Formats JSON on one line. JSON may contain the control characters from U+007F to U+009F. They could control the
/// terminal, so this function escapes them. A program that reads the line gets the same value.
pub fn json_line(value: &Value) -> String {
    let text = value.to_string();
    if !text.contains(char::is_control) {
        return text;
    }
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            // Control characters are in strings only, and none is above U+009F.
            true => line.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => line.push(character),
        }
    }
    line
}

/// Returns `true` if the terminal can move its cursor. Call this only if there is a terminal.
pub fn can_paint() -> bool {
    env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// `print!` that does not panic.
macro_rules! out {
    ($($argument:tt)*) => { $crate::output::write(format_args!($($argument)*)) };
}

/// `println!` that does not panic.
macro_rules! outln {
    ($($argument:tt)*) => {{
        $crate::output::write(format_args!($($argument)*));
        $crate::output::write(format_args!("\n"));
    }};
}

pub(crate) use {out, outln};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_of_json_has_no_control_character_and_the_same_value() {
        let value = json!({ "command": "a\u{1b}[2J\u{7f}\u{9b}2J\n\u{a0}é😀", "\u{85}": 1 });
        let line = json_line(&value);
        assert!(!line.contains(char::is_control), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).ok(), Some(value));
        assert_eq!(json_line(&json!(["é", 1.5])), "[\"é\",1.5]");
    }
}
