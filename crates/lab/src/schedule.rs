//! A run as a sequence of agents. Agents take the steps: they are the processes, their store buffers,
//! and the mishaps that hit processes. (A [mishap](hallpass_algorithms::Mishap) is an event such as the death of a
//! process.) The checker reports runs, and a replay string encodes one.
//!
//! A run that never ends consists of a *stem* and a *cycle*, which repeats forever. Each execution of the cycle is a
//! *round*. A run that ends has only a stem.

use hallpass_algorithms::{Pid, Word};

use crate::space::Agent;

/// A memory model: how stores take effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemoryModel {
    /// Stores take effect immediately (sequential consistency).
    #[default]
    Sequential,
    /// Stores go through a first-in-first-out buffer of each process, as on x86. Agents `n..2n` are the
    /// buffers: a step of agent `n + p` moves the oldest store of `p` to memory.
    StoreBuffers,
}

impl MemoryModel {
    /// Returns the name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            MemoryModel::Sequential => "sc",
            MemoryModel::StoreBuffers => "tso",
        }
    }
}

/// The cost model for counting remote references: cache-coherent (CC) or distributed shared memory (DSM).
pub use hallpass_algorithms::registry::CostModel;

/// The result that a run shows: a violation or a count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// At the end, more than k processes are in their critical sections.
    Exclusion,
    /// At the end, two processes hold the same name, or one holds a name that is not below k.
    Names,
    /// The last step writes a value outside a variable's declared range.
    Range,
    /// At the end, the paper's invariant with this name is broken.
    Invariant(String),
    /// The last step contradicts the paper's statement with this name. If the statement says that something
    /// can happen, the last step shows it instead.
    Statement {
        /// The name of the statement.
        name: String,
    },
    /// A violation of the paper's statement that one condition leads to another. At some point of the stem,
    /// the first condition holds for the process. From then on, the second condition never holds for it. The
    /// cycle repeats forever, and the process takes steps in it.
    LeadsTo {
        /// The name of the statement.
        name: String,
        /// The instance of the statement.
        instance: usize,
        /// The process to which the statement applies.
        process: Pid,
        /// The processes that have stopped outside their remainder.
        stopped: Vec<Pid>,
    },
    /// A violation of first come, first served. `first` left its doorway before `second` left its
    /// remainder. At the end, `second` is in its critical section, and `first` still waits.
    Fcfs {
        /// The process that left its doorway first.
        first: Pid,
        /// The process that enters its critical section first.
        second: Pid,
    },
    /// The cycle repeats forever. A process in its entry section takes steps in the cycle, and no process
    /// enters its critical section.
    Deadlock {
        /// The processes that have stopped outside their remainder.
        stopped: Vec<Pid>,
    },
    /// The cycle repeats forever. The victim takes steps in the cycle and stays in its entry section.
    Starvation {
        /// The process that starves.
        victim: Pid,
        /// The processes that have stopped outside their remainder.
        stopped: Vec<Pid>,
    },
    /// The process takes this many of its own steps in its exit section, counted from the last time it
    /// leaves its critical section. Without a number, the process stays in its exit section during the
    /// whole cycle.
    Exit {
        /// The process that is in its exit section.
        process: Pid,
        /// The number of steps, or `None` if it is unbounded.
        steps: Option<u32>,
    },
    /// The process takes this many of its own steps in its doorway, counted from the last time it leaves
    /// its remainder. Without a number, the process stays in its doorway during the whole cycle.
    Doorway {
        /// The process that is in its doorway.
        process: Pid,
        /// The number of steps, or `None` if it is unbounded.
        steps: Option<u32>,
    },
    /// A violation of FIFE (first in, first enabled). `first` left its doorway before `second` left its remainder.
    /// After `at` steps of the stem, `first` is in the waiting room, and `second` is in its critical section. In the
    /// rest of the run, `first` keeps taking steps, but never enters its critical section.
    Fife {
        /// The process that left its doorway first.
        first: Pid,
        /// The process in its critical section.
        second: Pid,
        /// The number of steps of the stem after which `second` is in its critical section and `first` waits.
        at: usize,
    },
    /// A violation of strong FIFE. The run shows the same as for [`Finding::Fife`], but `second` is in the waiting room
    /// and is enabled: it enters in every continuation. (A single run cannot show that `second` is enabled, because
    /// this is a fact about all runs.)
    FifeStrong {
        /// The process that left its doorway first.
        first: Pid,
        /// The process that is enabled.
        second: Pid,
        /// The number of steps of the stem after which `second` is enabled and `first` waits.
        at: usize,
    },
    /// After `at` steps of the stem, the victim has been overtaken this many times since it left its doorway. Each
    /// time, a process that left its remainder later has entered its critical section. The victim never enters in the
    /// rest of the run, although it keeps taking steps. Without a number, the victim waits throughout the cycle, and is
    /// overtaken in every round of it. (A single run cannot show that the victim is not enabled in such a cycle,
    /// because this is a fact about all runs.)
    Bypass {
        /// The process that is overtaken.
        victim: Pid,
        /// The number of times that the victim is overtaken; `None` if it is unbounded.
        times: Option<u32>,
        /// The number of steps of the stem after which the victim waits and, if `times` is a number, has been overtaken
        /// this many times.
        at: usize,
    },
    /// The run was played by hand. It shows no particular finding.
    Played {
        /// The processes that take no further step.
        stopped: Vec<Pid>,
    },
    /// The last passage of the process makes this many remote references. Without a number, each round
    /// of the cycle makes at least one remote reference within a passage.
    Rmr {
        /// The cost model by which references are counted.
        model: CostModel,
        /// The process that makes the references.
        process: Pid,
        /// The number of references, or `None` if it is unbounded.
        count: Option<u32>,
        /// The rules for counting.
        conventions: Conventions,
    },
}

/// The effect of a write on the writer's own copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WriterCopy {
    /// A valid copy stays valid, and no copy is added.
    #[default]
    AsItWas,
    /// The writer has a valid copy afterwards.
    Gained,
    /// The writer has no copy afterwards.
    Lost,
}

/// The cost of a failed read-modify-write (see `Op::fails_on`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FailedRmw {
    /// The operation counts as a write: it is remote, and invalidates copies.
    #[default]
    Write,
    /// The operation counts as a read: it is remote unless the process has a valid copy, and it
    /// invalidates nothing (Choi's smart cache).
    Read,
}

/// The contents of the cache when a passage begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CacheAtStart {
    /// The cache is empty.
    #[default]
    Cold,
    /// The cache holds the copies that earlier passages left.
    Warm,
}

/// The rules for counting remote references with cache-coherent memory. A read is remote unless the
/// reader has a valid copy. After the read, the reader has one. Every write and read-modify-write is
/// remote and invalidates the copies of other processes. The fields choose among the variants of these
/// rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Conventions {
    /// The effect of a write on the writer's own copy.
    pub writer_copy: WriterCopy,
    /// The cost of a failed read-modify-write.
    pub failed_rmw: FailedRmw,
    /// The contents of the cache at the start of a passage.
    pub cache: CacheAtStart,
}

impl Conventions {
    /// Returns the rules as a JSON object.
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

/// A run of an algorithm, and the finding that it shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// The number of processes.
    pub n: usize,
    /// The maximum number of processes in the critical section at once.
    pub k: usize,
    /// Whether stores take effect immediately or go through buffers.
    pub memory: MemoryModel,
    /// The initial value of every variable.
    pub initial: Vec<Word>,
    /// The agents of the steps up to the end or to the start of the cycle, in order.
    pub stem: Vec<Agent>,
    /// The agents of one round of the cycle, in order. Empty if the run ends.
    pub cycle: Vec<Agent>,
    /// The violation or count that the run shows.
    pub finding: Finding,
}
