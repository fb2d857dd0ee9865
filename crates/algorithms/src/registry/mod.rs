//! The registry: finds every algorithm by its identifier.
//!
//! To add an algorithm, add a folder whose `entries.rs` registers it, and one line in the `mod.rs` of
//! the parent folder. Identifiers have these forms:
//!
//! - `am-fig3` is an algorithm.
//! - `am-fig3+names` is k-assignment on top of this algorithm.
//! - `afek@linear` is the algorithm `afek` on another timestamp system.
//! - `am-fig3:no-release` is a deliberately wrong variant.
//! - `am-fig3-fast:printed` is an algorithm in the form that its paper prints. This form is wrong.

use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

use crate::{
    framework::{changed::Changed, machine::Algorithm},
    halls, objects, papers,
};

mod entry;
mod family;

pub(crate) use entry::log2;
pub use entry::{CostModel, Entry, MAX_PROCESSES, OURS, READS_AND_WRITES, RmrBound, Standing};
pub use family::Family;
pub(crate) use family::{entries, families};

const GROUPS: &[&[Family]] = &[papers::FAMILIES, halls::FAMILIES, objects::FAMILIES];

/// Every algorithm, family by family. A [nameable](Entry::nameable) algorithm has no second entry for `+names`.
pub static ENTRIES: &[Entry] = &ALL;
static ALL: [Entry; family::count(GROUPS)] = family::flatten(GROUPS);

/// Iterates over all families: the papers, the halls, the objects.
pub fn families() -> impl Iterator<Item = &'static Family> {
    GROUPS.iter().copied().flatten()
}

/// The reason why an algorithm cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// No algorithm has this identifier.
    Unknown(String),
    /// The algorithm does not exist at this size. The text says which sizes are allowed.
    Size(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown(id) if id.contains('@') => write!(
                f,
                "no algorithm is called `{id}`: only `afek` and `zehavi`, without a variant, can be \
                 put on another timestamp system"
            ),
            Error::Unknown(id) => {
                write!(f, "no algorithm is called `{id}`; `hallpass-lab list` shows them all")
            }
            Error::Size(text) => f.write_str(text),
        }
    }
}

impl core::error::Error for Error {}

/// The algorithms that a [`Visitor`] handles. The compiler generates no code for the others. This saves
/// time, because there are more than a hundred algorithms, each with a separate type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All algorithms.
    All,
    /// The sound algorithms.
    Sound,
    /// The sound algorithms with `+names`.
    SoundNamed,
}

impl Scope {
    /// Returns whether the scope includes an algorithm of this standing, with or without `+names`.
    pub const fn includes(self, standing: Standing, names: bool) -> bool {
        let sound = matches!(standing, Standing::Sound);
        match self {
            Scope::All => true,
            Scope::Sound => sound,
            Scope::SoundNamed => sound && names,
        }
    }
}

/// A function over algorithms of any type.
pub trait Visitor {
    /// The algorithms that the visitor handles. [`visit`] finds no other algorithms.
    const SCOPE: Scope = Scope::All;
    /// The result of the function.
    type Output;
    /// Calls the function with an algorithm.
    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> Self::Output;
}

/// The suffix of an identifier that asks for k-assignment.
pub const NAMES: &str = "+names";

/// Returns the entry for an identifier, and whether the identifier asks for `+names`.
pub fn entry(id: &str) -> Result<(&'static Entry, bool), Error> {
    let find = |id: &str| ENTRIES.iter().find(|entry| entry.id == id);
    if let Some(entry) = find(id) {
        return Ok((entry, entry.id.contains(NAMES)));
    }
    // `am-fig3+names` is names on top of `am-fig3`, if that algorithm is nameable.
    let plain = id.replacen(NAMES, "", 1);
    match find(&plain) {
        Some(entry) if plain != id && entry.nameable => Ok((entry, true)),
        _ => Err(Error::Unknown(id.to_string())),
    }
}

fn check_size(id: &str, entry: &Entry, n: usize, k: usize) -> Result<(), Error> {
    let size = |text: String| Err(Error::Size(text));
    if k == 0 {
        return size("k must be at least 1: with k = 0 no process could ever enter".into());
    }
    if k >= n {
        return size(format!(
            "n must be larger than k (n = {n}, k = {k}): with n <= k no process ever has to wait"
        ));
    }
    if n - k < entry.min_gap {
        return size(format!("{id} exists only for n >= k + {}", entry.min_gap));
    }
    if k > entry.max_k {
        return size(format!("{id} exists only for k <= {}", entry.max_k));
    }
    if n > entry.max_processes {
        return size(format!("{id} is built for at most n = {} processes", entry.max_processes));
    }
    Ok(())
}

/// Returns the entry for `id`, and whether `id` asks for `+names`.
///
/// # Errors
/// Fails if no algorithm has this identifier, or if the algorithm does not exist for `n` processes and
/// `k` slots.
pub fn entry_for(id: &str, n: usize, k: usize) -> Result<(&'static Entry, bool), Error> {
    let (entry, names) = entry(id)?;
    check_size(id, entry, n, k)?;
    Ok((entry, names))
}

/// Builds the algorithm `id` for `n` processes and `k` slots, and passes it to `visitor`.
///
/// # Errors
/// Fails if no algorithm of the visitor's [scope](Visitor::SCOPE) has this identifier, or the algorithm does
/// not exist at this size.
pub fn visit<V: Visitor>(id: &str, n: usize, k: usize, visitor: V) -> Result<V::Output, Error> {
    let (entry, names) = entry_for(id, n, k)?;
    papers::build(entry.id, names, n, k, visitor)
        .or_else(|visitor| halls::build(entry.id, names, n, k, visitor))
        .or_else(|visitor| objects::build(entry.id, names, n, k, visitor))
        .map_err(|_| Error::Unknown(id.to_string()))
}

/// Builds an algorithm with the change `C`.
pub(crate) fn changed<A, C>(make: fn(usize, usize) -> A, n: usize, k: usize) -> Changed<A, C> {
    Changed::new(make(n, k))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_identifier_is_registered_once() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            let first = ENTRIES.iter().position(|other| other.id == entry.id);
            assert_eq!(first, Some(index), "`{}` is registered twice", entry.id);
        }
    }
}
