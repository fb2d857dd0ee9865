//! Runs a step machine directly. Tracks the cache of every process and the remote references of its
//! current passage. A simulation keeps only one state, so it works at sizes that are too large to explore.

use std::{
    cell::RefCell,
    hash::{BuildHasher, Hasher},
};

use hallpass_algorithms::{Decl, Domain, Memory, Op, Pid, Section, Var, Word};

use super::CostModel;
use crate::{
    check::{Error, check_contention},
    machine::{self, Local, Machine, REMAINDER},
    schedule::{CacheAtStart, Conventions, FailedRmw, WriterCopy},
};

/// The maximum number of processes, because a set of processes is a word with one bit for each.
const MAX_PROCESSES: usize = u64::BITS as usize;

/// The constants of a simulation.
pub struct Setting {
    /// The step machine.
    pub machine: Box<dyn Machine>,
    /// The rules of counting.
    pub conventions: Conventions,
    /// The number of processes that may be outside their remainder at once.
    pub contention: usize,
    homes: Vec<Option<Pid>>,
    /// The sorted values of each variable, or `None` if they are not listed or not bounded.
    domains: Vec<Option<Vec<Word>>>,
    /// For each private state: whether it is in the critical section, or `None` if this is not known
    /// yet. To find out, the step machine builds a label, which is too expensive for every step.
    critical: RefCell<Vec<Option<bool>>>,
}

impl Setting {
    /// Creates the constants for an algorithm.
    ///
    /// # Errors
    /// Fails if the algorithm does not exist at this size, or if contention or n is out of range.
    pub fn new(
        algorithm: &str,
        n: usize,
        k: usize,
        contention: usize,
        conventions: Conventions,
    ) -> Result<Self, Error> {
        let machine = machine::build(algorithm, n, k)?;
        check_contention(contention, n)?;
        if n > MAX_PROCESSES {
            return Err(Error::Question(format!(
                "n must be at most {MAX_PROCESSES} for a simulation, got {n}"
            )));
        }
        let decls = machine.layout().decls();
        let homes = decls.iter().map(|decl| decl.home).collect();
        let sorted = |decl: &Decl| match &decl.domain {
            Domain::Listed(values) if !decl.unbounded => {
                let mut values = values.clone();
                values.sort_unstable();
                Some(values)
            }
            _ => None,
        };
        let domains = decls.iter().map(sorted).collect();
        let critical = RefCell::default();
        Ok(Setting { machine, conventions, contention, homes, domains, critical })
    }

    /// Returns the number of processes.
    pub fn n(&self) -> usize {
        self.machine.n()
    }

    /// Returns whether a process with this private state is in its critical section.
    pub fn is_critical(&self, p: Pid, at: Local) -> bool {
        let mut known = self.critical.borrow_mut();
        let index = at as usize;
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        *known[index]
            .get_or_insert_with(|| self.machine.position(p, at).section == Section::Critical)
    }
}

/// The number of remote references in the current passage of a process, or in its last passage if it is
/// in its remainder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The number with cache-coherent memory.
    pub cc: u32,
    /// The number with distributed shared memory.
    pub dsm: u32,
}

impl Counts {
    /// Returns the count for one cost model.
    pub fn of(self, model: CostModel) -> u32 {
        match model {
            CostModel::Cc => self.cc,
            CostModel::Dsm => self.dsm,
        }
    }
}

/// The effect of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stepped {
    /// The accessed variable.
    pub var: Option<usize>,
    /// Whether the access was a write or counts as a write.
    pub wrote: bool,
    /// Whether the access was a failed read-modify-write (see `Op::fails_on`).
    pub failed: bool,
    /// The remote references of the step.
    pub remote: Counts,
    /// Whether the state has changed, including the caches.
    pub changed: bool,
    /// Whether the process left its remainder.
    pub began: bool,
    /// Whether the process returned to its remainder.
    pub left: bool,
}

/// One state of a simulation. A clone is a snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Simulation {
    /// The private state of each process.
    pub locals: Vec<Local>,
    /// The value of each variable.
    pub memory: Vec<Word>,
    /// For each variable: the set of processes with a valid copy.
    pub copies: Vec<u64>,
    /// The references of each process.
    pub counts: Vec<Counts>,
    /// The number of processes outside their remainder.
    pub outside: usize,
    /// Whether a step has left a variable's range. The simulation ends at such a step.
    pub out_of_range: bool,
}

/// A memory that records the access of a step.
struct Words<'a> {
    memory: &'a mut [Word],
    seen: Option<(usize, Op, Word)>,
}

impl Memory for Words<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let word = &mut self.memory[var.index()];
        let old = *word;
        *word = op.leaves(old);
        self.seen = Some((var.index(), op, old));
        old
    }
}

impl Simulation {
    /// Creates the initial state. All processes are in their remainders, and all caches are empty.
    pub fn new(setting: &Setting, initial: Vec<Word>) -> Self {
        let n = setting.n();
        Simulation {
            locals: vec![REMAINDER; n],
            copies: vec![0; initial.len()],
            memory: initial,
            counts: vec![Counts::default(); n],
            outside: 0,
            out_of_range: false,
        }
    }

    /// Returns whether `p` is in its remainder.
    pub fn rests(&self, p: Pid) -> bool {
        self.locals[p] == REMAINDER
    }

    /// Returns whether `p` is in its critical section.
    pub fn is_critical(&self, setting: &Setting, p: Pid) -> bool {
        setting.is_critical(p, self.locals[p])
    }

    /// Executes a step of `p`. Returns `None` if a variable has left its range, or if the step would exceed the
    /// contention.
    pub fn step(&mut self, setting: &Setting, p: Pid) -> Option<Stepped> {
        if self.out_of_range {
            return None;
        }
        let at = self.locals[p];
        if at == REMAINDER {
            if self.outside >= setting.contention {
                return None;
            }
            self.outside += 1;
            self.counts[p] = Counts::default();
            if setting.conventions.cache == CacheAtStart::Cold {
                self.copies.iter_mut().for_each(|copies| *copies &= !(1 << p));
            }
        }
        let mut words = Words { memory: &mut self.memory, seen: None };
        let next = setting.machine.step(p, at, &mut words);
        let seen = words.seen;
        let mut done = match seen {
            Some((var, op, old)) => self.account(setting, p, var, op, old),
            None => Stepped::default(),
        };
        self.counts[p].cc += done.remote.cc;
        self.counts[p].dsm += done.remote.dsm;
        if self.out_of_range {
            return Some(done);
        }
        self.locals[p] = next;
        done.changed |= at != next;
        done.began = at == REMAINDER;
        done.left = at != REMAINDER && next == REMAINDER;
        self.outside -= usize::from(done.left);
        Some(done)
    }

    /// Counts an access and updates the caches.
    fn account(&mut self, setting: &Setting, p: Pid, var: usize, op: Op, old: Word) -> Stepped {
        let new = self.memory[var];
        let reads = match op {
            Op::Read => true,
            _ => op.fails_on(old) && setting.conventions.failed_rmw == FailedRmw::Read,
        };
        let (own, before) = (1 << p, self.copies[var]);
        let after = match (reads, setting.conventions.writer_copy) {
            (true, _) => before | own,
            (false, WriterCopy::AsItWas) => before & own,
            (false, WriterCopy::Gained) => own,
            (false, WriterCopy::Lost) => 0,
        };
        self.copies[var] = after;
        let leaves = |domain: &Vec<Word>| new != old && domain.binary_search(&new).is_err();
        self.out_of_range = setting.domains[var].as_ref().is_some_and(leaves);
        Stepped {
            var: Some(var),
            wrote: !reads,
            failed: op.fails_on(old),
            remote: Counts {
                cc: u32::from(!reads || before & own == 0),
                dsm: u32::from(setting.homes[var] != Some(p)),
            },
            changed: new != old || after != before,
            ..Stepped::default()
        }
    }

    /// Returns whether two states are equal in everything that affects the future references of
    /// `observed`.
    pub fn is_same_for(&self, other: &Self, observed: Pid, model: CostModel) -> bool {
        let cached = |copies: &u64| copies >> observed & 1;
        self.locals == other.locals
            && self.memory == other.memory
            && (model == CostModel::Dsm
                || self.copies.iter().map(cached).eq(other.copies.iter().map(cached)))
    }

    /// Hashes the parts of the state that [`is_same_for`](Self::is_same_for) compares.
    pub fn hash_for(&self, observed: Pid, model: CostModel) -> u64 {
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        self.locals.iter().for_each(|&local| hasher.write_u32(local));
        self.memory.iter().for_each(|&word| hasher.write_i64(word));
        if model == CostModel::Cc {
            self.copies.iter().for_each(|copies| hasher.write_u8((copies >> observed & 1) as u8));
        }
        hasher.finish()
    }
}
