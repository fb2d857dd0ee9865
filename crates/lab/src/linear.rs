//! Checks linearizability: whether overlapping operations could have taken effect one at a time.
//!
//! A history is linearizable (Herlihy & Wing 1990) if we can choose a moment for each operation, between its call and
//! its return, that explains the results. This means: an object that executes the operations in the order of these
//! moments returns the recorded results. An operation that has not returned may have a moment, but need not.
//!
//! The [`Monitor`] follows a history and keeps all *configurations* that explain it. A configuration is a state of the
//! object and, for each operation under way, whether it has taken effect. This is the search of Wing & Gong (1993) on
//! all branches in parallel, with equal branches merged (Lowe 2017). So the number of configurations usually depends on
//! how many operations overlap, not on the length of the history. [`check`] does the same for a recorded history.
//! [`check`] is faster, because a recorded history has the result of an operation already at its call.
//!
//! Limits: if the results of an object reveal little, many orders of the operations remain possible. Each order may
//! lead to a configuration of its own, so the number of configurations grows with the history. An example is a queue
//! with pushes that are never popped.
//!
//! ```
//! use hallpass_lab::linear::{Event, Specification, check};
//!
//! struct Register;
//! #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
//! enum Op { Write(u32), Read }
//!
//! impl Specification for Register {
//!     type State = u32;
//!     type Op = Op;
//!     type Ret = u32;
//!     fn apply(&self, state: &u32, op: &Op) -> (u32, u32) {
//!         match *op {
//!             Op::Write(value) => (value, 0),
//!             Op::Read => (*state, *state),
//!         }
//!     }
//! }
//!
//! // While process 0 writes, process 1 reads the new value and then the old one.
//! let history = [
//!     Event::invoke(0, Op::Write(7)),
//!     Event::invoke(1, Op::Read),
//!     Event::returned(1, 7),
//!     Event::invoke(1, Op::Read),
//!     Event::returned(1, 0),
//! ];
//! assert!(check(&Register, 0, &history[..4]).is_ok());
//! let violation = check(&Register, 0, &history).unwrap_err();
//! assert_eq!(violation.at, 4);
//! println!("{violation}");
//! ```

mod history;

use std::{
    cmp::Ordering,
    collections::BTreeSet,
    fmt,
    hash::{Hash, Hasher},
};

pub use history::{Event, EventKind, Violation, check};

/// The sequential specification of an object.
pub trait Specification {
    /// The state of the object between two operations.
    type State: Clone + Ord + Hash;
    /// An operation with its arguments.
    type Op: Clone + Ord + Hash;
    /// The result of an operation.
    type Ret: Clone + Ord + Hash;

    /// Returns the state after the operation, and the operation's result.
    fn apply(&self, state: &Self::State, op: &Self::Op) -> (Self::State, Self::Ret);
}

/// The state of an operation that has not returned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Pending<Op, Ret> {
    /// The operation has had no effect yet.
    Called(Op),
    /// The operation has had its effect and will return this result.
    Done(Ret),
}

/// How an operation in progress ends: whether it can return a given result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Completion {
    /// The operation can return this result.
    Returns,
    /// The operation returns another result.
    Cannot,
    /// The operation never returns, so its result does not matter.
    Lost,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Configuration<State, Op, Ret> {
    state: State,
    /// The operations that have not returned, by process in ascending order.
    pending: Vec<(usize, Pending<Op, Ret>)>,
}

type Of<S> =
    Configuration<<S as Specification>::State, <S as Specification>::Op, <S as Specification>::Ret>;

impl<State, Op, Ret> Configuration<State, Op, Ret> {
    fn find(&self, process: usize) -> Result<usize, usize> {
        self.pending.binary_search_by_key(&process, |&(other, _)| other)
    }

    fn index(&self, process: usize) -> usize {
        self.find(process).unwrap_or_else(|_| panic!("process {process} has called nothing"))
    }

    /// Returns the result of the process's operation, if the operation has had its effect.
    fn result(&self, process: usize) -> Option<&Ret> {
        match &self.pending[self.index(process)].1 {
            Pending::Called(_) => None,
            Pending::Done(ret) => Some(ret),
        }
    }
}

/// All configurations that explain the history so far.
///
/// Two monitors are equal if they allow the same configurations, whatever histories led to them. So a
/// monitor can be part of an explored state.
///
/// In the configurations of a monitor, an operation takes effect only when a return requires it. All other possible
/// configurations follow from these by operations that take effect.
pub struct Monitor<S: Specification> {
    /// The configurations in ascending order. None of them follows from another one by operations that
    /// take effect.
    configurations: Vec<Of<S>>,
}

impl<S: Specification> Monitor<S> {
    /// Creates a monitor for an empty history.
    pub fn new(initial: S::State) -> Self {
        Monitor { configurations: vec![Configuration { state: initial, pending: Vec::new() }] }
    }

    /// Records that the process calls an operation.
    ///
    /// # Panics
    /// Panics if the last operation of the process has not returned.
    pub fn invoke(&mut self, _spec: &S, process: usize, op: S::Op) {
        for configuration in &mut self.configurations {
            match configuration.find(process) {
                Ok(_) => panic!("{}", busy(process)),
                Err(at) => {
                    configuration.pending.insert(at, (process, Pending::Called(op.clone())));
                }
            }
        }
        // The same processes have operations under way in all configurations. So the new entry goes to
        // the same index in each of them, and the configurations stay in order.
    }

    /// Records that the process's operation returns `ret`. Returns `false` if no configuration explains
    /// this result. The monitor is then violated permanently.
    ///
    /// # Panics
    /// Panics if the process has no operation under way.
    pub fn respond(&mut self, spec: &S, process: usize, ret: &S::Ret) -> bool {
        self.configurations = self.after(spec, process, ret, |_, _| Completion::Returns);
        !self.is_violated()
    }

    /// Returns whether no configuration explains the history so far.
    pub fn is_violated(&self) -> bool {
        self.configurations.is_empty()
    }

    /// Returns the results that the process's operation could have at this point.
    ///
    /// # Panics
    /// Panics if the process has no operation under way.
    pub fn possible(&self, spec: &S, process: usize) -> BTreeSet<S::Ret> {
        let settled = self.settle(spec, process, |_, _| Completion::Returns);
        settled.iter().filter_map(|configuration| configuration.result(process).cloned()).collect()
    }

    /// Returns the number of configurations.
    pub fn breadth(&self) -> usize {
        self.configurations.len()
    }

    /// Returns the configurations that remain when the process returns `ret`. `completion` says, for a process
    /// and a result, whether the process's operation can return this result.
    fn after(
        &self,
        spec: &S,
        process: usize,
        ret: &S::Ret,
        completion: impl Fn(usize, &S::Ret) -> Completion + Copy,
    ) -> Vec<Of<S>> {
        let mut kept = BTreeSet::new();
        for mut configuration in self.settle(spec, process, completion) {
            if configuration.result(process) == Some(ret) {
                let at = configuration.index(process);
                configuration.pending.remove(at);
                kept.insert(configuration);
            }
        }
        least(spec, kept, completion)
    }

    /// Lets operations take effect, one after another, until the process's operation has had its effect. Returns all
    /// configurations to which this can lead.
    fn settle(
        &self,
        spec: &S,
        process: usize,
        completion: impl Fn(usize, &S::Ret) -> Completion + Copy,
    ) -> BTreeSet<Of<S>> {
        let mut settled = BTreeSet::new();
        let mut open = BTreeSet::new();
        let mut to_do = self.configurations.clone();
        while let Some(configuration) = to_do.pop() {
            if configuration.result(process).is_some() {
                settled.insert(configuration);
            } else {
                to_do.extend(
                    successors(spec, &configuration, completion)
                        .filter(|next| open.insert(next.clone())),
                );
            }
        }
        settled
    }
}

fn busy(process: usize) -> String {
    format!("process {process} calls an operation while one is under way")
}

/// Returns the configurations after one more operation has had its effect.
fn successors<S: Specification>(
    spec: &S,
    from: &Of<S>,
    completion: impl Fn(usize, &S::Ret) -> Completion,
) -> impl Iterator<Item = Of<S>> {
    from.pending.iter().enumerate().filter_map(move |(at, (process, pending))| {
        let Pending::Called(op) = pending else { return None };
        let (state, ret) = spec.apply(&from.state, op);
        let completion = completion(*process, &ret);
        // A lost operation that changes nothing is equivalent to an operation that is still under way.
        if completion == Completion::Cannot || completion == Completion::Lost && state == from.state
        {
            return None;
        }
        let mut next = Configuration { state, pending: from.pending.clone() };
        if completion == Completion::Lost {
            next.pending.remove(at);
        } else {
            next.pending[at].1 = Pending::Done(ret);
        }
        Some(next)
    })
}

/// Removes configurations that follow from others. Without this, two monitors that allow the same
/// configurations could differ.
fn least<S: Specification>(
    spec: &S,
    mut all: BTreeSet<Of<S>>,
    completion: impl Fn(usize, &S::Ret) -> Completion + Copy,
) -> Vec<Of<S>> {
    if all.len() > 1 {
        let mut reached = BTreeSet::new();
        let mut to_do: Vec<_> = all.iter().cloned().collect();
        while let Some(configuration) = to_do.pop() {
            to_do.extend(
                successors(spec, &configuration, completion)
                    .filter(|next| reached.insert(next.clone())),
            );
        }
        all.retain(|configuration| !reached.contains(configuration));
    }
    all.into_iter().collect()
}

// These implementations are not derived, because a derived implementation would require the trait of the
// specification itself, and not only of its states and operations.

impl<S: Specification> Clone for Monitor<S> {
    fn clone(&self) -> Self {
        Monitor { configurations: self.configurations.clone() }
    }
}

impl<S: Specification> PartialEq for Monitor<S> {
    fn eq(&self, other: &Self) -> bool {
        self.configurations == other.configurations
    }
}

impl<S: Specification> Eq for Monitor<S> {}

impl<S: Specification> PartialOrd for Monitor<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Specification> Ord for Monitor<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.configurations.cmp(&other.configurations)
    }
}

impl<S: Specification> Hash for Monitor<S> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.configurations.hash(hasher);
    }
}

impl<S: Specification> fmt::Debug for Monitor<S>
where
    S::State: fmt::Debug,
    S::Op: fmt::Debug,
    S::Ret: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.configurations).finish()
    }
}
