//! A trait object for an algorithm of any type. Its private states are numbered.

use hallpass_algorithms::{
    Algorithm, Label, Layout, Loc, Memory, Mishap, Next, Observed, Pid, RunStatement, Section,
    Side, StaleRule, Transition, View, Word, registry,
};

use crate::{catalogue, numbers::Numbers};

mod private;
mod shared;

/// The private state of a process, as a number. [`REMAINDER`] is 0.
pub type Local = u32;

/// The private state of a process that is not competing.
pub const REMAINDER: Local = 0;

/// A private state in a readable form.
#[derive(Clone, Debug)]
pub struct Position {
    /// The part of the passage.
    pub section: Section,
    /// The line that the process executes next, unless it is in its remainder or critical section.
    pub label: Option<Label>,
    /// The name that the process holds, if it is in the critical section of an algorithm that assigns
    /// names.
    pub name: Option<usize>,
}

/// A state with numbered private states.
#[derive(Clone, Copy, Debug)]
pub struct Numeric<'a> {
    /// The private state of each process.
    pub processes: &'a [Local],
    /// The value of each variable.
    pub memory: &'a [Word],
}

/// A step between two states, as statements about runs see it.
#[derive(Clone, Copy, Debug)]
pub struct NumericStep<'a> {
    /// The process that takes the step. `None` if a mishap changes the state, and for the initial state of a run.
    pub mover: Option<Pid>,
    /// The state before the step.
    pub before: Numeric<'a>,
    /// The state after the step.
    pub after: Numeric<'a>,
}

/// A step machine as a trait object.
pub trait Machine: Send + Sync {
    /// Returns the number of processes.
    fn n(&self) -> usize;
    /// Returns the maximum number of processes in the critical section at once.
    fn k(&self) -> usize;
    /// Returns the shared variables.
    fn layout(&self) -> &Layout;
    /// Returns the mishap that can hit `p`, such as its death.
    fn mishap(&self, _p: Pid) -> Option<Mishap> {
        None
    }
    /// Returns whether the algorithm treats all processes alike, so that the checker may rename them.
    fn is_symmetric(&self) -> bool;
    /// Returns the names of the paper's invariants.
    fn invariants(&self) -> &'static [&'static str];
    /// Makes one step of `p` and returns its next private state. Leaving the remainder and leaving the
    /// critical section are separate steps without an access.
    fn step(&self, p: Pid, at: Local, memory: &mut dyn Memory) -> Local;
    /// Returns the private variables of a process that are live in this private state, by name.
    fn variables(&self, _at: Local) -> Vec<(String, String)> {
        Vec::new()
    }
    /// Returns the private state that has this number, in a readable form.
    fn position(&self, p: Pid, at: Local) -> Position;
    /// Returns whether the algorithm counts without bound. The checker then replaces each state with its normal form
    /// (see [`Algorithm::normalize`]).
    fn is_unbounded(&self) -> bool {
        false
    }
    /// Returns whether a step from or to this private state may lead from a normal form to a state that is not in
    /// normal form.
    fn counts(&self, _at: Local) -> bool {
        true
    }
    /// Brings a state into its normal form.
    fn normalize(&self, _processes: &mut [Local], _memory: &mut [Word]) {}
    /// Executes steps ahead of time: those whose result no other process can change, and whose time no other process
    /// can notice (see [`Algorithm::advance`]).
    fn advance(&self, _processes: &mut [Local], _memory: &mut [Word]) {}
    /// Returns the rules that say which values are stale.
    fn stale_rules(&self) -> Vec<StaleRule> {
        Vec::new()
    }
    /// Returns whether the variable of `rule` may have a stale value while `p` is at `at`. `p` is the writer or the
    /// reader of this variable.
    fn permits_stale(&self, _rule: &StaleRule, _p: Pid, _at: Local) -> bool {
        false
    }
    /// Returns the first of the paper's invariants that does not hold.
    fn broken_invariant(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str>;
    /// Returns why the first invariant that does not hold could not be evaluated, such as "divides by 0". Returns
    /// `None` if its value is `false`.
    fn invariant_fault(&self, _processes: &[Local], _memory: &[Word]) -> Option<&'static str> {
        None
    }
    /// Returns the paper's statements about runs.
    fn run_statements(&self) -> &'static [RunStatement] {
        &[]
    }
    /// Evaluates a statement of kind `Always` or `Sometimes` on a step.
    fn observe(&self, _statement: &str, _history: u32, _step: NumericStep<'_>) -> Observed {
        Observed::default()
    }
    /// Returns the number of instances of a statement of kind `LeadsTo`.
    fn instances(&self, _statement: &str) -> usize {
        1
    }
    /// Returns the maximum number of stopped processes in the runs that this instance of a statement of kind `LeadsTo`
    /// is about.
    fn survives(&self, _statement: &str, _instance: usize) -> usize {
        self.k().saturating_sub(1)
    }
    /// Evaluates a side of a statement of kind `LeadsTo` or `Enabled` for process `p`.
    fn condition(
        &self,
        _statement: &str,
        _instance: usize,
        _side: Side,
        _p: Pid,
        _state: Numeric<'_>,
    ) -> bool {
        false
    }
}

/// Builds the algorithm `id` of the [catalogue] or the registry for `n` processes, at most `k` of which may be in
/// the critical section.
///
/// # Errors
/// Fails if no algorithm has this identifier, or the algorithm does not exist at this size.
pub fn build(id: &str, n: usize, k: usize) -> Result<Box<dyn Machine>, registry::Error> {
    struct Number;
    impl registry::Visitor for Number {
        type Output = Box<dyn Machine>;
        fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> Self::Output {
            Box::new(Numbered::new(algorithm))
        }
    }
    match catalogue::find(id) {
        Some(subject) => subject.build(n, k),
        None => registry::visit(id, n, k, Number),
    }
}

/// Hides the type of an algorithm.
pub fn of<A: Algorithm + Send + Sync + 'static>(algorithm: A) -> Box<dyn Machine> {
    Box::new(Numbered::new(algorithm))
}

/// An algorithm with its numbered private states. The compiler generates the code of this type once for each algorithm,
/// so the type only forwards calls. Longer code is in [`Numbers`], which many algorithms share.
struct Numbered<A: Algorithm> {
    algorithm: A,
    locs: Numbers<Loc<A::State>>,
}

impl<A: Algorithm> Numbered<A> {
    fn new(algorithm: A) -> Self {
        let locs = Numbers::new();
        locs.number(Loc::Remainder, Local::BITS);
        Numbered { algorithm, locs }
    }

    fn loc(&self, at: Local) -> Loc<A::State> {
        self.locs.thing(at.into())
    }

    fn number(&self, loc: Loc<A::State>) -> Local {
        self.locs.number(loc, Local::BITS) as Local
    }
}

impl<A: Algorithm + Send + Sync> Machine for Numbered<A> {
    fn n(&self) -> usize {
        self.algorithm.n()
    }

    fn k(&self) -> usize {
        self.algorithm.k()
    }

    fn layout(&self) -> &Layout {
        self.algorithm.layout()
    }

    fn mishap(&self, p: Pid) -> Option<Mishap> {
        self.algorithm.mishap(p)
    }

    fn is_symmetric(&self) -> bool {
        self.algorithm.is_symmetric()
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.algorithm.invariants()
    }

    fn step(&self, p: Pid, at: Local, mut memory: &mut dyn Memory) -> Local {
        let loc = self.loc(at);
        let state = match loc {
            Loc::Remainder => return self.number(Loc::Entry(self.algorithm.begin(p))),
            Loc::Critical(exit) => return self.number(Loc::Exit(exit)),
            Loc::Entry(state) | Loc::Exit(state) => state,
        };
        self.number(match self.algorithm.step(&mut memory, p, state) {
            Next::Goto(next) | Next::Spin(next) if matches!(loc, Loc::Exit(_)) => Loc::Exit(next),
            Next::Goto(next) | Next::Spin(next) => Loc::Entry(next),
            Next::Enter(exit) => Loc::Critical(exit),
            Next::Leave => Loc::Remainder,
        })
    }

    fn variables(&self, at: Local) -> Vec<(String, String)> {
        let loc = self.loc(at);
        let own = match loc {
            Loc::Remainder => None,
            Loc::Entry(state) | Loc::Critical(state) | Loc::Exit(state) => {
                self.algorithm.variables(state)
            }
        };
        own.unwrap_or_else(|| private::variables(&format!("{loc:?}")))
    }

    fn position(&self, p: Pid, at: Local) -> Position {
        let loc = self.loc(at);
        let label = match loc {
            Loc::Entry(state) | Loc::Exit(state) => Some(self.algorithm.label(p, state)),
            Loc::Remainder | Loc::Critical(_) => None,
        };
        let (section, name) = match loc {
            Loc::Remainder => (Section::Remainder, None),
            Loc::Entry(state) if self.algorithm.waits(p, state) => (Section::Waiting, None),
            Loc::Entry(_) => (Section::Doorway, None),
            Loc::Critical(exit) => (Section::Critical, self.algorithm.name(exit)),
            Loc::Exit(_) => (Section::Exit, None),
        };
        Position { section, label, name }
    }

    fn is_unbounded(&self) -> bool {
        self.algorithm.is_unbounded()
    }

    fn counts(&self, at: Local) -> bool {
        self.algorithm.counts(&self.loc(at))
    }

    fn normalize(&self, processes: &mut [Local], memory: &mut [Word]) {
        let old = self.locs.things(processes);
        let mut new = old.clone();
        self.algorithm.normalize(&mut new, memory);
        self.locs.renumber(processes, &old, &new);
    }

    fn advance(&self, processes: &mut [Local], memory: &mut [Word]) {
        let old = self.locs.things(processes);
        let mut new = old.clone();
        self.algorithm.advance(&mut new, memory);
        self.locs.renumber(processes, &old, &new);
    }

    fn stale_rules(&self) -> Vec<StaleRule> {
        self.algorithm.stale_rules()
    }

    fn permits_stale(&self, rule: &StaleRule, p: Pid, at: Local) -> bool {
        self.algorithm.permits_stale(rule, p, &self.loc(at))
    }

    fn broken_invariant(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str> {
        let processes = &self.locs.things(processes);
        self.algorithm.broken_invariant(&View { processes, memory })
    }

    fn invariant_fault(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str> {
        let processes = &self.locs.things(processes);
        self.algorithm.invariant_fault(&View { processes, memory })
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        self.algorithm.run_statements()
    }

    fn observe(&self, statement: &str, history: u32, step: NumericStep<'_>) -> Observed {
        let NumericStep { mover, before, after } = step;
        let [old, new] = [&before, &after].map(|state| self.locs.things(state.processes));
        let before = View { processes: &old, memory: before.memory };
        let after = View { processes: &new, memory: after.memory };
        self.algorithm.observe(statement, history, &Transition { mover, before, after })
    }

    fn instances(&self, statement: &str) -> usize {
        self.algorithm.instances(statement)
    }

    fn survives(&self, statement: &str, instance: usize) -> usize {
        self.algorithm.survives(statement, instance)
    }

    fn condition(
        &self,
        statement: &str,
        instance: usize,
        side: Side,
        p: Pid,
        state: Numeric<'_>,
    ) -> bool {
        let processes = &self.locs.things(state.processes);
        let state = View { processes, memory: state.memory };
        self.algorithm.condition(statement, instance, side, p, &state)
    }
}
