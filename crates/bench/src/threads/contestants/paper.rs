//! The algorithms of the papers on real atomics. `Hall::with` runs the same source code that the lab checks, with
//! slot numbers (`+names` in the names of algorithms).

use hallpass_algorithms::registry::Entry;
use hallpass_threads::{Hall, PaperHall, PaperPass};

use crate::{
    common::{Sample, Semaphore},
    threads::race::{self, Load, Observe},
};

impl Semaphore for PaperHall {
    type Guard<'a> = PaperPass<'a>;

    fn enter(&self, _: usize) -> PaperPass<'_> {
        self.acquire()
    }

    fn slot(pass: &PaperPass<'_>) -> Option<usize> {
        Some(pass.slot())
    }
}

/// Runs an algorithm.
///
/// No paper has an algorithm for k processes or fewer. For a load with so few threads, the algorithm is built for the
/// largest number of processes that it supports, and some of these processes never compete.
///
/// # Errors
/// Returns the reason if the algorithm does not exist for this number of threads and this k.
pub fn run(entry: &Entry, load: &Load, observe: Observe<'_>) -> Result<Sample, String> {
    let n = if load.threads > load.k { load.threads } else { entry.max_processes };
    if n <= load.k {
        return Err(format!("built for at most n = {n} processes"));
    }
    let hall = Hall::with(entry.id, n, load.k).map_err(|error| {
        // The table groups algorithms by reason, so the reason must not contain the name of an algorithm.
        let why = error.to_string();
        let id = format!("{}+names", entry.id);
        let why = why.strip_prefix(&id).unwrap_or(&why).trim_start();
        why.strip_prefix("is ").unwrap_or(why).to_string()
    })?;
    Ok(race::run(hall, load, observe))
}
