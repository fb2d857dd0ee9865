//! Advice for an identifier that no algorithm has.

use std::path::Path;

use hallpass_algorithms::registry::{self, ENTRIES};
use hallpass_lab::catalogue;
use hallpass_language::EXTENSION;

/// Checks that `id` is the identifier of an algorithm.
///
/// # Errors
/// Fails if it is not. The text names identifiers that are similar.
pub fn check_known(id: &str) -> Result<(), String> {
    if registry::entry(id).is_ok() || catalogue::find(id).is_some() {
        return Ok(());
    }
    if Path::new(id).is_file() {
        return Err(format!(
            "{id} is a file, but its name does not end in {EXTENSION}: rename it to {id}{EXTENSION}"
        ));
    }
    // The registry reports this identifier later, with an error that explains timestamp systems.
    if id.contains('@') {
        return Ok(());
    }
    let unknown = format!("no algorithm is called `{id}`");
    if let Some((base, _)) = id.split_once(':')
        && registry::entry(base).is_ok()
    {
        let prefix = format!("{base}:");
        let variants: Vec<&str> =
            ENTRIES.iter().map(|entry| entry.id).filter(|id| id.starts_with(&prefix)).collect();
        return Err(match variants.is_empty() {
            true => format!("{unknown}; {base} has no variants"),
            false => format!("{unknown}; the variants of {base} are {}", variants.join(", ")),
        });
    }
    let near = similar(id);
    Err(match near.is_empty() {
        true => format!("{unknown}; `hallpass-lab list` shows them all"),
        false => format!(
            "{unknown}; did you mean {}? `hallpass-lab list` shows them all",
            near.join(" or ")
        ),
    })
}

/// Returns at most three identifiers that are similar: those with the smallest [`distance`], if it is small enough.
fn similar(id: &str) -> Vec<&'static str> {
    const MOST: usize = 3;
    let allowed = 1 + id.len() / 5;
    let mut near: Vec<(usize, &str)> = ENTRIES
        .iter()
        .map(|entry| (distance(id, entry.id), entry.id))
        .filter(|&(distance, _)| distance <= allowed)
        .collect();
    near.sort_unstable();
    let Some(&(least, _)) = near.first() else { return Vec::new() };
    near.into_iter().filter(|near| near.0 == least).map(|(_, id)| id).take(MOST).collect()
}

/// Returns the smallest number of characters to insert, delete, replace or swap with their neighbour to turn one text
/// into the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows = vec![(0..=other.len()).collect::<Vec<usize>>()];
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_one_change_away() {
        assert_eq!(distance("am-fgi3", "am-fig3"), 1);
        assert_eq!(distance("amfig3", "am-fig3"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(similar("am-fgi3"), ["am-fig3"]);
        assert_eq!(similar("xyzzy"), Vec::<&str>::new());
    }
}
