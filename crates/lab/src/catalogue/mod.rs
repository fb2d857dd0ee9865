//! Algorithms that the registry does not have: files of the language, and step machines of other crates.
//!
//! An algorithm that has been added can be used wherever the lab takes an identifier: in a
//! [`Question`](crate::check::Question), in [`rmr`](crate::rmr), in replay strings and in the explorer.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use hallpass_algorithms::papers::anderson_moir::Fig2;
//! use hallpass_lab::{catalogue, check::{Question, Resources, Verdict, check}};
//!
//! // Any type that implements `Algorithm` will do.
//! catalogue::add_algorithm("my-queue", Fig2::new);
//!
//! let stop = AtomicBool::new(false);
//! let resources = Resources {
//!     states: 1_000_000, bytes: 1 << 30, threads: 1, stop: &stop, phase: &|_| (), progress: &|_| (),
//! };
//! let report = check(&Question::everything("my-queue", 3, 2), &resources)?;
//! assert_eq!(report.verdict(), Verdict::Holds);
//! # Ok::<(), hallpass_lab::check::Error>(())
//! ```

mod file;
mod same;

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use hallpass_algorithms::{
    Algorithm,
    registry::{self, CostModel},
};

use crate::{
    check::Property,
    machine::{self, Machine},
    rmr::Promise,
};

pub use file::{LoadError, add_file, load, load_as};
pub use same::{Difference, same_machine};

/// The properties that an algorithm must have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promises {
    /// The properties. Other properties are reported, but not enforced.
    pub properties: Vec<Property>,
    /// The number of processes that may stop without starving another process.
    pub crashes: usize,
}

impl Promises {
    /// Returns the usual promises. They are all properties except FIFE (first in, first enabled), strong FIFE and a
    /// limit on overtaking. No process starves while fewer than k processes have stopped.
    pub fn usual(k: usize) -> Self {
        let extras = [Property::Fife, Property::FifeStrong, Property::Bypass];
        Promises {
            properties: Property::ALL.into_iter().filter(|it| !extras.contains(it)).collect(),
            crashes: k.saturating_sub(1),
        }
    }
}

/// An algorithm of the catalogue.
pub trait Subject: Send + Sync {
    /// Builds the algorithm for `n` processes, of which `k` may be in the critical section.
    ///
    /// # Errors
    /// Fails if the algorithm does not exist at this size.
    fn build(&self, n: usize, k: usize) -> Result<Box<dyn Machine>, registry::Error>;

    /// Returns the promises at this size.
    fn promises(&self, _n: usize, k: usize) -> Promises {
        Promises::usual(k)
    }

    /// Returns the bound on remote references that the author states.
    fn bound(
        &self,
        _model: CostModel,
        _n: usize,
        _k: usize,
        _contention: usize,
    ) -> Option<Promise> {
        None
    }

    /// Returns a few words that say what the algorithm is and where it comes from.
    fn about(&self) -> String {
        String::new()
    }

    /// Returns who makes the promises of the algorithm, for sentences such as "the file does not promise it".
    fn author(&self) -> &'static str {
        "the author"
    }

    /// Returns the text of the algorithm as its author wrote it. The explorer shows it beside the run.
    fn source(&self) -> Option<String> {
        None
    }

    /// Returns a hash of everything that a run depends on. Replay strings contain it.
    fn fingerprint(&self) -> Option<String> {
        None
    }
}

type Subjects = HashMap<String, Arc<dyn Subject>>;

static SUBJECTS: RwLock<Option<Subjects>> = RwLock::new(None);

/// Adds an algorithm. Replaces an earlier algorithm with the same identifier.
pub fn add(id: &str, subject: Arc<dyn Subject>) {
    let mut subjects = SUBJECTS.write().unwrap_or_else(PoisonError::into_inner);
    subjects.get_or_insert_default().insert(id.to_string(), subject);
}

/// Adds a step machine of any crate. `make` builds it for n and k.
pub fn add_algorithm<A: Algorithm + Send + Sync + 'static>(id: &str, make: fn(usize, usize) -> A) {
    add(id, Arc::new(OtherCrate(make)));
}

/// Returns the algorithm that was added with this identifier.
pub fn find(id: &str) -> Option<Arc<dyn Subject>> {
    SUBJECTS.read().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(id).cloned()
}

/// Returns who makes the promises of an algorithm, as the subject of a sentence: "the paper", "the file" for a file,
/// "the author" for a step machine of another crate, or "hallpass" for a protocol of this project.
pub fn author(id: &str) -> &'static str {
    match (find(id), registry::entry(id)) {
        (Some(subject), _) => subject.author(),
        (None, Ok((entry, _))) if entry.paper == registry::OURS => registry::OURS,
        _ => "the paper",
    }
}

/// A step machine of another crate.
struct OtherCrate<A>(fn(usize, usize) -> A);

impl<A: Algorithm + Send + Sync + 'static> Subject for OtherCrate<A> {
    fn build(&self, n: usize, k: usize) -> Result<Box<dyn Machine>, registry::Error> {
        if k == 0 || k >= n {
            let text = format!("k must be from 1 to n - 1, got n = {n}, k = {k}");
            return Err(registry::Error::Size(text));
        }
        Ok(machine::of((self.0)(n, k)))
    }
}

/// The character between a file and its fingerprint in a replay string.
const MARK: char = '@';

/// Returns the identifier as replay strings print it. For a file, `%` and two hexadecimal digits replace each byte of a
/// character that a shell might change, and the fingerprint follows.
pub(crate) fn printed(id: &str) -> String {
    match find(id).and_then(|subject| subject.fingerprint()) {
        None => id.to_string(),
        Some(fingerprint) => {
            let mut out = String::new();
            for byte in id.bytes() {
                match byte {
                    b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'-' | b'_' | b'/' | b'+' => {
                        out.push(byte as char);
                    }
                    _ => out.push_str(&format!("%{byte:02x}")),
                }
            }
            format!("{out}{MARK}{fingerprint}")
        }
    }
}

/// Splits a printed identifier of a file into the path and the fingerprint. Returns `None` for other identifiers.
fn split(printed: &str) -> Option<(String, &str)> {
    let (path, fingerprint) = printed.rsplit_once(MARK)?;
    let plain = path.strip_suffix(registry::NAMES).unwrap_or(path);
    if !plain.ends_with(hallpass_language::EXTENSION) {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    Some((String::from_utf8(bytes).ok()?, fingerprint))
}

/// Returns the identifier that [`printed`] has printed.
///
/// # Errors
/// Fails if the file has changed since the replay string was printed, or if it is not loaded.
pub(crate) fn resolve(printed: &str) -> Result<String, String> {
    let Some((id, fingerprint)) = split(printed) else {
        return Ok(printed.to_string());
    };
    let Some(subject) = find(&id) else {
        return Err(format!("this run belongs to the file {id}, which is not loaded"));
    };
    match subject.fingerprint() {
        Some(now) if now == fingerprint => Ok(id),
        Some(now) => Err(format!(
            "{id} has changed since this run was found (its hash was {fingerprint} and is now {now}): check it again, or \
             restore the old version"
        )),
        None => Err(format!("{id} is not a file, but the replay string is of a file")),
    }
}

/// Returns the path of the file to which a replay string belongs, or `None` if it belongs to no file.
pub fn file_of_replay(string: &str) -> Option<String> {
    let rest = string.trim().strip_prefix("hp")?.split_once('.')?.1;
    let end = rest.rfind(MARK)?;
    let after = rest[end..].find('.').map_or(rest.len(), |dot| end + dot);
    split(&rest[..after]).map(|(path, _)| path)
}
