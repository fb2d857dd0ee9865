//! The numbers of processes and slots.

use std::fmt;

use serde::Serialize;

/// The number of processes and slots, and the work of each passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Workload {
    /// Number of processes.
    pub processes: usize,
    /// Number of slots.
    pub k: usize,
    /// Nanoseconds of work inside the critical section.
    #[serde(rename = "inside_ns")]
    pub inside: u64,
    /// Nanoseconds of work outside the critical section.
    #[serde(rename = "outside_ns")]
    pub outside: u64,
}

/// Returns all workloads. In those with several processes, each passage has `inside` nanoseconds of work inside the
/// critical section and `outside` nanoseconds outside.
pub fn all(inside: u64, outside: u64) -> Vec<Workload> {
    [(1, 1), (1, 4), (4, 1), (4, 2), (16, 1), (16, 4)]
        .map(|(processes, k)| match processes {
            1 => Workload { processes, k, inside: 0, outside: 0 },
            _ => Workload { processes, k, inside, outside },
        })
        .to_vec()
}

impl Workload {
    /// Returns a name such as `alone-k4` or `16-on-4`.
    pub fn name(&self) -> String {
        match self.processes {
            1 => format!("alone-k{}", self.k),
            count => format!("{count}-on-{}", self.k),
        }
    }

    /// Returns `true` if processes compete. If they do not, fairness has no meaning.
    pub fn has_rivalry(&self) -> bool {
        self.processes > 1
    }
}

/// Describes the workload in words.
impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Workload { processes, k, inside, outside } = self;
        match processes {
            1 => write!(f, "one process, k = {k}, no work"),
            _ => write!(
                f,
                "{processes} processes, k = {k}, {inside} ns inside, {outside} ns outside"
            ),
        }
    }
}
