//! Selects contestants by the names on a command line.

/// Returns the contestants whose name contains one of `texts`, and those for which `always` holds. Without texts,
/// returns all contestants.
///
/// # Errors
///
/// Returns a message that lists all names if one of the texts occurs in no name.
pub fn select<C>(
    mut contestants: Vec<C>,
    texts: &[String],
    name: impl Fn(&C) -> &'static str,
    always: impl Fn(&C) -> bool,
) -> Result<Vec<C>, String> {
    let names: Vec<&str> = contestants.iter().map(&name).collect();
    let is_known = |text: &&String| names.iter().any(|name| name.contains(text.as_str()));
    if let Some(text) = texts.iter().find(|text| !is_known(text)) {
        let names = names.join(", ");
        return Err(format!("no contestant's name contains `{text}`; the contestants are {names}"));
    }
    contestants.retain(|one| {
        let asked = texts.iter().any(|text| name(one).contains(text.as_str()));
        texts.is_empty() || asked || always(one)
    });
    Ok(contestants)
}
