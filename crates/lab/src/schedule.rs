//! A run, as who moves when: what the explorer hands on, and what a replay string holds.

use hallpass_algorithms::{Pid, Word};

use crate::space::Agent;

/// How stores take effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemoryModel {
    /// At once.
    #[default]
    Sequential,
    /// Through a first-in-first-out buffer per process, as on x86. Agents `n..2n` are the buffers:
    /// a step of agent `n + p` moves the oldest store of `p` to memory.
    StoreBuffers,
}

impl MemoryModel {
    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            MemoryModel::Sequential => "sc",
            MemoryModel::StoreBuffers => "tso",
        }
    }
}

/// Which remote references a count is of.
pub use hallpass_algorithms::registry::CostModel;

/// The violation or count that a run shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// More than k are in their critical sections at the end.
    Exclusion,
    /// Two hold one name at the end, or one holds a name that is not below k.
    Names,
    /// The last step leaves a variable's declared range.
    Range,
    /// The paper's invariant of this name is broken at the end.
    Invariant(String),
    /// The cycle goes on forever, somebody is in its entry section all along and moves, and
    /// nobody enters; these have stopped.
    Deadlock {
        /// The processes that have stopped outside their remainder.
        stopped: Vec<Pid>,
    },
    /// The cycle goes on forever with this process moving in its entry section; these have
    /// stopped.
    Starvation {
        /// The process that starves.
        victim: Pid,
        /// The processes that have stopped outside their remainder.
        stopped: Vec<Pid>,
    },
    /// The process takes that many own steps in its exit section, from the last time it leaves
    /// its critical section on; without a number, the cycle is in its exit section.
    Exit {
        /// The process.
        process: Pid,
        /// How many steps.
        steps: Option<u32>,
    },
    /// The same for the doorway, from the last time it leaves its remainder on.
    Doorway {
        /// The process.
        process: Pid,
        /// How many steps.
        steps: Option<u32>,
    },
    /// After `at` steps of the stem, `first` is in the waiting room, `second` is in its critical
    /// section, and `first` left the doorway before `second` entered it. Yet the rest of the stem
    /// and the cycle keep `first` out forever although it moves.
    Fife {
        /// The process that came first.
        first: Pid,
        /// The process that is in.
        second: Pid,
        /// When.
        at: usize,
    },
    /// The same where `second` is in the waiting room too, but enabled: nothing can keep it out.
    /// (That it is enabled is a fact about all runs, which a single run does not show.)
    FifeStrong {
        /// The process that came first.
        first: Pid,
        /// The process that is enabled.
        second: Pid,
        /// When.
        at: usize,
    },
    /// The last passage of the process in the run makes that many remote references; without a
    /// number, the cycle makes at least one a round inside a passage.
    Rmr {
        /// Which are counted.
        model: CostModel,
        /// Whose.
        process: Pid,
        /// How many.
        count: Option<u32>,
        /// By which rules.
        conventions: Conventions,
    },
}

/// The effect of a write on the writer's own copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WriterCopy {
    /// Valid stays valid, and none stays none.
    #[default]
    AsItWas,
    /// The writer has a valid copy afterwards.
    Gained,
    /// The writer has none afterwards.
    Lost,
}

/// How a read-modify-write that changes nothing is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FailedRmw {
    /// A write: remote, and it invalidates.
    #[default]
    Write,
    /// A read: remote unless there is a valid copy, and it invalidates nothing (Choi's smart
    /// cache).
    Read,
}

/// The contents of the cache when a passage begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CacheAtStart {
    /// Nothing.
    #[default]
    Cold,
    /// Copies that earlier passages left.
    Warm,
}

/// The rules by which remote references are counted on a cache-coherent machine: a read is remote
/// unless the reader has a valid copy, and leaves it one; every write and read-modify-write is
/// remote and invalidates the others' copies; and what is open in that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conventions {
    /// The writer's own copy.
    pub writer_copy: WriterCopy,
    /// Failed read-modify-writes.
    pub failed_rmw: FailedRmw,
    /// The start of a passage.
    pub cache: CacheAtStart,
}

impl Conventions {
    /// The rules by name.
    pub fn to_json(self) -> serde_json::Value {
        serde_json::json!({
            "writer-copy": match self.writer_copy {
                WriterCopy::AsItWas => "as-it-was",
                WriterCopy::Gained => "gained",
                WriterCopy::Lost => "lost",
            },
            "failed-rmw": match self.failed_rmw {
                FailedRmw::Write => "write",
                FailedRmw::Read => "read",
            },
            "cache": match self.cache {
                CacheAtStart::Cold => "cold",
                CacheAtStart::Warm => "warm",
            },
        })
    }
}

/// A run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// How many processes.
    pub n: usize,
    /// How many may be in.
    pub k: usize,
    /// How stores take effect.
    pub memory: MemoryModel,
    /// The initial value of every variable.
    pub initial: Vec<Word>,
    /// The agents that move, to the end or to the start of the cycle.
    pub stem: Vec<Agent>,
    /// The agents that move, over and over; empty if the run ends.
    pub cycle: Vec<Agent>,
    /// The violation or count it shows.
    pub finding: Finding,
}
