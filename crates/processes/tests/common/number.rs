//! Settings from the environment.

use std::env;

/// Returns the number in an environment variable, if the variable is set.
pub fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, got `{text}`")))
}
