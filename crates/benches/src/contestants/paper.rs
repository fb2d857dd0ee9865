//! The algorithms of the papers on real atomics: the source that the lab checks.

use hallpass_algorithms::{
    Algorithm, Pid,
    registry::{self, Entry, Visitor},
};
use hallpass_runtime::Native;

use crate::{
    Semaphore,
    race::{self, Load, Sample, Watch},
};

/// Where a process is that is in; goes through its exit section when dropped.
pub struct Guard<'a, A: Algorithm> {
    native: &'a Native<A>,
    p: Pid,
    exit: A::State,
}

impl<A: Algorithm + Send + Sync + 'static> Semaphore for Native<A> {
    type Guard<'a> = Guard<'a, A>;

    fn enter(&self, p: usize) -> Guard<'_, A> {
        Guard { native: self, p, exit: Native::enter(self, p) }
    }

    fn slot(guard: &Guard<'_, A>) -> Option<usize> {
        guard.native.algorithm().name(guard.exit)
    }
}

impl<A: Algorithm> Drop for Guard<'_, A> {
    fn drop(&mut self) {
        self.native.leave(self.p, self.exit);
    }
}

struct Run<'a> {
    load: &'a Load,
    watch: Watch<'a>,
}

impl Visitor for Run<'_> {
    type Output = Sample;

    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> Sample {
        race::run(Native::new(algorithm), self.load, self.watch)
    }
}

/// Runs an algorithm, unless it does not exist for so many threads or that k.
///
/// Where all threads could be in at once no paper has an algorithm: it is then built for as many
/// processes as it can be, and some of them never compete.
pub fn run(entry: &Entry, load: &Load, watch: Watch<'_>) -> Result<Sample, String> {
    let n = if load.threads > load.k { load.threads } else { entry.most_processes };
    if n <= load.k {
        return Err(format!("built for at most n = {n} processes"));
    }
    registry::visit(entry.id, n, load.k, Run { load, watch }).map_err(|error| {
        // Without the name, those with the same reason are listed together.
        let why = error.to_string();
        let why = why.strip_prefix(entry.id).unwrap_or(&why).trim_start();
        why.strip_prefix("is ").unwrap_or(why).to_string()
    })
}
