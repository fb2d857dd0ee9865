//! The names that a hall can have. The rules are the same for halls of processes and halls of clusters, so a name that
//! is valid for one is valid for the other.

use std::{error, fmt};

/// The longest name that a hall can have, in bytes. A name becomes part of a file name or of a key, which have limits.
pub const MAX_NAME_LEN: usize = 200;

/// Error returned by [`check_name`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NameError {
    /// The name that was refused.
    pub name: String,
    /// The rule that the name breaks.
    pub why: &'static str,
}

/// Checks that a hall can have this name.
///
/// A name has 1 to [`MAX_NAME_LEN`] bytes, does not begin with a dot, and contains neither a slash nor a
/// control character.
///
/// # Errors
/// Returns a [`NameError`] with the rule that the name breaks.
///
/// ```
/// use hallpass_common::check_name;
///
/// assert!(check_name("gpu 0-9_ä").is_ok());
/// let error = check_name("a/b").unwrap_err();
/// assert!(error.to_string().starts_with("`a/b` cannot be the name of a hall: it contains a slash"));
/// ```
pub fn check_name(name: &str) -> Result<(), NameError> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX_NAME_LEN {
        "it is longer than 200 bytes"
    } else if name.contains('/') {
        "it contains a slash"
    } else if name.starts_with('.') {
        "it begins with a dot"
    } else if name.chars().any(char::is_control) {
        "it contains a control character"
    } else {
        return Ok(());
    };
    Err(NameError { name: name.into(), why })
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::bad_name(f, &self.name, self.why)
    }
}

impl error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_break_a_rule_are_refused_with_that_rule() {
        let long = "x".repeat(MAX_NAME_LEN + 1);
        for (name, why) in [
            ("", "empty"),
            (&long, "longer than 200 bytes"),
            ("a/b", "slash"),
            ("/", "slash"),
            (".", "begins with a dot"),
            (".x", "begins with a dot"),
            ("a\nb", "control character"),
            ("a\0", "control character"),
        ] {
            let error = check_name(name).expect_err(name);
            assert_eq!(error.name, name);
            assert!(error.why.contains(why), "{name:?}: {error}");
        }
    }

    #[test]
    fn other_names_are_allowed_up_to_the_longest() {
        for name in ["a", "gpu 0-9_ä", "a.b", "-", &"x".repeat(MAX_NAME_LEN)] {
            assert_eq!(check_name(name), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn a_refused_name_is_shown_without_control_characters() {
        let text = check_name("a\x1b[2Jb").unwrap_err().to_string();
        assert!(!text.contains('\x1b') && text.contains("\\u{1b}"), "{text}");
    }
}
