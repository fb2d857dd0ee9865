//! An algorithm with some of its lines changed: how the variants that are wrong on purpose are
//! written. What a variant does differently is all that it has to say.

use core::marker::PhantomData;

use crate::framework::{
    layout::Layout,
    machine::{Algorithm, Label, Loc, Mishap, Next, View},
    memory::{Memory, Pid, Word},
};

/// A change to the algorithm `A`.
pub trait Change<A: Algorithm>: Send + Sync + 'static {
    /// What it does instead of the original line, if it changes that line.
    fn step<M: Memory>(a: &A, m: &mut M, p: Pid, at: A::State) -> Option<Next<A::State>>;
}

/// `A` with the change `C`.
pub struct Changed<A, C>(A, PhantomData<C>);

impl<A: Algorithm, C: Change<A>> Changed<A, C> {
    /// Changes `original`.
    pub fn new(original: A) -> Self {
        Changed(original, PhantomData)
    }
}

impl<A: Algorithm, C: Change<A>> Algorithm for Changed<A, C> {
    type State = A::State;

    fn n(&self) -> usize {
        self.0.n()
    }

    fn k(&self) -> usize {
        self.0.k()
    }

    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn begin(&self, p: Pid) -> A::State {
        self.0.begin(p)
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: A::State) -> Next<A::State> {
        C::step(&self.0, m, p, at).unwrap_or_else(|| self.0.step(m, p, at))
    }

    fn waits(&self, p: Pid, at: A::State) -> bool {
        self.0.waits(p, at)
    }

    fn label(&self, p: Pid, at: A::State) -> Label {
        self.0.label(p, at)
    }

    fn name(&self, at: A::State) -> Option<usize> {
        self.0.name(at)
    }

    fn mishap(&self, p: Pid) -> Option<Mishap> {
        self.0.mishap(p)
    }

    fn is_symmetric(&self) -> bool {
        self.0.is_symmetric()
    }

    fn is_unbounded(&self) -> bool {
        self.0.is_unbounded()
    }

    fn normalize(&self, processes: &mut [Loc<A::State>], memory: &mut [Word]) {
        self.0.normalize(processes, memory);
    }

    fn counts(&self, at: &Loc<A::State>) -> bool {
        self.0.counts(at)
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.0.invariants()
    }

    fn broken_invariant(&self, state: &View<'_, A::State>) -> Option<&'static str> {
        self.0.broken_invariant(state)
    }
}

/// Declares changes to an algorithm that runs on any timestamp system: a name, what is wrong, and
/// the changed lines.
macro_rules! changes {
    ($algorithm:ident, $at:ident; $(
        $(#[$doc:meta])*
        $name:ident: |$s:ident, $m:ident, $p:ident| { $($line:pat $(if $guard:expr)? => $body:expr,)+ }
    )*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl<T: $crate::papers::timestamps::Timestamps> $crate::framework::changed::Change<$algorithm<T>> for $name {
            fn step<M: $crate::framework::memory::Memory>(
                $s: &$algorithm<T>,
                $m: &mut M,
                $p: $crate::framework::memory::Pid,
                at: $at<T>,
            ) -> Option<$crate::framework::machine::Next<$at<T>>> {
                match at {
                    $($line $(if $guard)? => Some($body),)+
                    _ => None,
                }
            }
        }
    )*};
}
pub(crate) use changes;
