//! Every algorithm by its identifier.
//!
//! A new algorithm costs its own file and one line in `table.rs`. What an identifier is made of:
//! `am-fig3` an algorithm, `am-fig3+names` k-assignment on top of it, `afek@linear` the same on
//! another timestamp system, `am-fig3:no-release` a variant that is wrong on purpose,
//! `am-fig3-fast:printed` a form that is wrong as printed.

use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

use crate::framework::machine::Algorithm;

mod about;
mod table;

use table::build;

pub use table::ENTRIES;

/// Which remote references a claim counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// Cache-coherent.
    Cc,
    /// Distributed shared memory.
    Dsm,
}

/// A paper's bound on remote references per passage.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Where the paper states it.
    pub source: &'static str,
    /// The machine it is about.
    pub model: Model,
    /// The bound at n, k and contention c.
    pub bound: fn(n: u64, k: u64, c: u64) -> u64,
    /// The bound as a formula.
    pub formula: &'static str,
}

/// Whether an algorithm is meant to be right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is.
    Sound,
    /// It is what the paper prints, and fails.
    Printed,
    /// It is wrong on purpose.
    Broken,
}

/// What the registry says of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its identifier, without `+names`.
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The figure or section.
    pub figure: &'static str,
    /// The primitives it uses besides reads and writes.
    pub primitives: &'static str,
    /// Whether it is meant to be right.
    pub standing: Standing,
    /// The bounds the paper claims, at most one for each kind of machine.
    pub claims: [Option<Claim>; 2],
    /// Whether the paper promises that who comes first is enabled first.
    pub promises_fife: bool,
    /// Whether it promises so even of those who are not in yet: nobody is enabled before one who came
    /// first.
    pub promises_fife_strong: bool,
    /// Whether the paper promises that everybody gets in while fewer than k have stopped; if not,
    /// it promises so only while nobody has.
    pub promises_resilience: bool,
    /// Whether it promises that everybody gets in; if not, only that somebody does.
    pub promises_everybody: bool,
    /// Whether it promises that nobody waits on the way out.
    pub promises_exit: bool,
    /// The least n - k it exists for.
    pub least_gap: usize,
    /// The most processes it exists for.
    pub most_processes: usize,
    /// The largest k it exists for.
    pub most_inside: usize,
    /// Whether it may carry `+names`.
    pub nameable: bool,
}

impl Entry {
    /// The bound for one kind of machine.
    pub fn claim(&self, model: Model) -> Option<Claim> {
        self.claims().find(|claim| claim.model == model)
    }

    /// The bounds there are.
    pub fn claims(&self) -> impl Iterator<Item = Claim> {
        self.claims.into_iter().flatten()
    }

    /// How many may stop for ever without anybody being kept out, as the paper has it.
    pub fn crashes(&self, k: usize) -> usize {
        if self.promises_resilience { k.saturating_sub(1) } else { 0 }
    }
}

/// Why there is no such algorithm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// No algorithm has this identifier.
    Unknown(String),
    /// There is no such size of it; the text says what is allowed.
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
                write!(f, "no algorithm is called `{id}`; `hallpass lab list` shows them all")
            }
            Error::Size(text) => f.write_str(text),
        }
    }
}

impl core::error::Error for Error {}

/// Something to do with an algorithm, whatever its type.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> Self::Output;
}

/// What [`Entry::paper`] says of algorithms of this project's own.
pub const OURS: &str = "hallpass";

/// The most processes any algorithm here is built for.
pub const MOST_PROCESSES: usize = 32;

const NAMES: &str = "+names";

/// The entry for an identifier, and whether it asks for `+names`.
pub fn entry(id: &str) -> Result<(&'static Entry, bool), Error> {
    let find = |id: &str| ENTRIES.iter().find(|entry| entry.id == id);
    if let Some(entry) = find(id) {
        return Ok((entry, entry.id.contains(NAMES)));
    }
    // `am-fig3+names:no-release` is names on top of `am-fig3:no-release`.
    let plain = id.replacen(NAMES, "", 1);
    match find(&plain) {
        Some(entry) if plain != id && entry.nameable => Ok((entry, true)),
        _ => Err(Error::Unknown(id.to_string())),
    }
}

fn check_size(id: &str, entry: &Entry, n: usize, k: usize) -> Result<(), Error> {
    let size = |text: String| Err(Error::Size(text));
    if k == 0 {
        return size("k must be at least 1: nobody could ever get in".into());
    }
    if k >= n {
        return size(format!(
            "n must be larger than k (n = {n}, k = {k}): with n <= k nobody ever has to wait"
        ));
    }
    if n - k < entry.least_gap {
        return size(format!("{id} exists only for n >= k + {}", entry.least_gap));
    }
    if k > entry.most_inside {
        return size(format!("{id} exists only for k <= {}", entry.most_inside));
    }
    if n > entry.most_processes {
        return size(format!("{id} is built for at most n = {} processes", entry.most_processes));
    }
    Ok(())
}

/// The entry for `id` if that algorithm exists for `n` processes of which `k` may be in, and whether it
/// asks for `+names`.
pub fn entry_for(id: &str, n: usize, k: usize) -> Result<(&'static Entry, bool), Error> {
    let (entry, names) = entry(id)?;
    check_size(id, entry, n, k)?;
    Ok((entry, names))
}

/// Builds the algorithm `id` for `n` processes of which `k` may be in, and hands it to `visitor`.
pub fn visit<V: Visitor>(id: &str, n: usize, k: usize, visitor: V) -> Result<V::Output, Error> {
    let (entry, names) = entry_for(id, n, k)?;
    build(entry, names, n, k, visitor).ok_or_else(|| Error::Unknown(id.to_string()))
}
