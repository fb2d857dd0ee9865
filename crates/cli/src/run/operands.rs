//! The operands of `hallpass run`: the name of the hall and the command.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
};

use super::options::Args;

/// The operands: the name of the hall and the command.
#[derive(Debug, PartialEq, Eq)]
pub struct Invocation {
    pub name: String,
    /// The program and its arguments; never empty.
    pub command: Vec<OsString>,
}

impl Args {
    /// Splits the operands into the name of the hall and the command.
    pub fn invocation(&mut self) -> Result<Invocation, String> {
        if self.timeout.is_some() {
            return Err("--timeout could mean two things: write --wait TIME to limit the wait for a slot, or \
                        --time-limit TIME to limit CMD"
                .into());
        }
        let mut operands = std::mem::take(&mut self.operands).into_iter();
        let name = operands.next().unwrap_or_default();
        let name = name
            .into_string()
            .map_err(|name| format!("NAME must be UTF-8 text, got `{}`", name.to_string_lossy()))?;
        let rest = operands.collect();
        let command = match self.shell_line.take() {
            None => command(rest)?,
            Some(line) if rest.is_empty() => in_shell(line),
            Some(_) => return Err("-c replaces CMD: give one of them, not both".into()),
        };
        Ok(Invocation { name, command })
    }
}

/// Reads the command: `-- CMD...`, `CMD...` or, as with `flock(1)`, `-c STRING`.
fn command(mut words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let first = words.first().and_then(|word| word.to_str());
    match first {
        Some("--") => {
            words.remove(0);
        }
        Some(flag @ ("-c" | "--command")) => {
            let flag = flag.to_string();
            return match <[OsString; 2]>::try_from(words) {
                Ok([_, line]) => Ok(in_shell(line)),
                Err(_) => Err(format!("{flag} takes exactly one string")),
            };
        }
        Some(option) if option.starts_with('-') && option != "-" => {
            return Err(format!(
                "options go before NAME, and `{option}` follows it; put `--` before a command that \
                 begins with a dash"
            ));
        }
        _ => {}
    }
    if words.is_empty() {
        return Err("CMD is missing; see `hallpass run --help`".into());
    }
    Ok(words)
}

/// Returns the command that runs `line` with the shell of the user.
pub fn in_shell(line: OsString) -> Vec<OsString> {
    let shell = env::var_os("SHELL").filter(|shell| !shell.is_empty());
    vec![shell.unwrap_or_else(|| "/bin/sh".into()), "-c".into(), line]
}

/// Returns the argument with `{slot}` replaced by `slot`, which is a list if the command has several slots. `{{slot}}`
/// stands for `{slot}` itself.
pub fn with_slot(argument: &OsStr, slot: &str) -> OsString {
    const SLOT: &[u8] = b"{slot}";
    const LITERAL: &[u8] = b"{{slot}}";
    let mut rest = argument.as_bytes();
    let mut result = Vec::with_capacity(rest.len());
    while let Some(&first) = rest.first() {
        let (text, length) = if rest.starts_with(LITERAL) {
            (SLOT, LITERAL.len())
        } else if rest.starts_with(SLOT) {
            (slot.as_bytes(), SLOT.len())
        } else {
            (&[first][..], 1)
        };
        result.extend_from_slice(text);
        rest = &rest[length..];
    }
    OsString::from_vec(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command that `run WORDS...` would run.
    fn runs(words: &[&str]) -> Result<Vec<String>, String> {
        let (_, invocation) = super::super::options::tests::parse(words)?;
        assert_eq!(invocation.name, "gpu");
        Ok(invocation.command.into_iter().map(|word| word.into_string().expect("text")).collect())
    }

    #[test]
    fn one_double_dash_after_the_name_is_not_part_of_the_command() {
        for words in [&["gpu", "--", "a", "-k"][..], &["gpu", "a", "-k"], &["--", "gpu", "a", "-k"]]
        {
            assert_eq!(runs(words), Ok(vec!["a".into(), "-k".into()]), "{words:?}");
        }
        assert_eq!(runs(&["gpu", "--", "--", "a"]), Ok(vec!["--".into(), "a".into()]));
        assert_eq!(runs(&["gpu", "a", "--", "b"]), Ok(vec!["a".into(), "--".into(), "b".into()]));
        assert_eq!(runs(&["gpu", "--", "-c", "b"]), Ok(vec!["-c".into(), "b".into()]));
    }

    #[test]
    fn the_shell_command_of_dash_c_may_come_before_or_after_the_name() {
        for words in
            [&["gpu", "-c", "a | b"][..], &["gpu", "--command", "a | b"], &["-c", "a | b", "gpu"]]
        {
            let command = runs(words).expect("fine");
            assert_eq!(command[1..], ["-c", "a | b"], "{words:?}");
        }
        for words in [&["gpu", "-c"][..], &["gpu", "-c", "a", "b"], &["-c", "a", "gpu", "b"]] {
            assert!(runs(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn the_slot_is_put_into_arguments() {
        for (argument, expected) in [
            ("{slot}", "3"),
            ("--port=50{slot}0/{slot}", "--port=5030/3"),
            ("{{slot}}", "{slot}"),
            ("{{{slot}}}", "{{slot}}"),
            ("{slots} {slot {}", "{slots} {slot {}"),
            ("", ""),
        ] {
            assert_eq!(with_slot(OsStr::new(argument), "3"), expected, "{argument}");
        }
        let bytes = OsString::from_vec(b"\xff{slot}".to_vec());
        assert_eq!(with_slot(&bytes, "0,2").into_vec(), b"\xff0,2");
    }

    #[test]
    fn timeout_is_refused_because_it_could_mean_two_things() {
        for words in [&["--timeout", "5", "gpu", "a"][..], &["--timeout=5", "gpu", "a"]] {
            let error = runs(words).expect_err("refused");
            assert!(error.contains("--wait") && error.contains("--time-limit"), "{error}");
        }
    }
}
