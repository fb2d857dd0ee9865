//! Builds wrong variants of an algorithm by replacing some of its lines.
//!
//! Most algorithms have wrong variants, each with one mistake. The lab must reject each of them, and so shows that it
//! notices this mistake.
//! (If a variant fails only at sizes that are too large to explore, a recorded run shows the violation.) A wrong
//! variant is in a module `wrong`, apart from the sound code. The module contains only the differences. A variant has
//! one of two forms:
//!
//! - *Changed lines*: a [`Change`], declared by [`changed_lines!`](crate::changed_lines), replaces some
//!   lines. [`Changed`] applies it to the original, which executes all other lines. Private states, shared
//!   variables and normal form remain those of the original.
//! - *Another construction*: a function builds the original from other data, such as another set of
//!   cells to wait on, or a stack of levels without the outermost level. This form does not use this
//!   module.
//!
//! The lines of the sound code have no switches for variants. Two places outside the lines have a switch: the
//! normal form of Choi's algorithm (`cells_may_fall`) and the register forms of the linear timestamp system
//! (`Form::Grouped`).

use alloc::{string::String, vec::Vec};
use core::marker::PhantomData;

use crate::framework::{
    layout::Layout,
    machine::{Algorithm, Label, Loc, Mishap, Next, View},
    memory::{Memory, Pid, Word},
    stale::StaleRule,
    statement::{Observed, RunStatement, Side, Transition},
};

/// A change to lines of `T`.
///
/// `S` is the private state of a process: its line and its private variables. `E` is the environment
/// that a line accesses: `dyn Memory` for everything that runs on [`Memory`]. `N` is what a line
/// returns. With these parameters, one trait serves algorithms, blocks of an algorithm, the procedures
/// of a timestamp system, and protocols that define another environment.
pub trait Change<T, S, N, E: ?Sized> {
    /// Executes the line at `at` if this change replaces it. Otherwise does nothing and returns `None`.
    fn line(original: &T, environment: &mut E, p: Pid, at: S) -> Option<N>;
}

/// `T` with the change `C`.
///
/// This type implements the same trait as `T`: [`Algorithm`], [`Block`] (Anderson & Moir) or
/// [`Timestamps`].
///
/// [`Block`]: crate::papers::anderson_moir::Block
/// [`Timestamps`]: crate::papers::timestamps::Timestamps
pub struct Changed<T, C>(T, PhantomData<fn() -> C>);

impl<T, C> Changed<T, C> {
    /// Creates the changed `original`.
    pub fn new(original: T) -> Self {
        Changed(original, PhantomData)
    }

    /// Returns the unchanged algorithm.
    pub fn original(&self) -> &T {
        &self.0
    }

    /// Executes the changed line. If the change does not replace the line at `at`, executes `otherwise`.
    #[inline]
    pub fn line<S, N, E>(
        &self,
        environment: &mut E,
        p: Pid,
        at: S,
        otherwise: impl FnOnce(&T, &mut E) -> N,
    ) -> N
    where
        S: Copy,
        E: ?Sized,
        C: Change<T, S, N, E>,
    {
        match C::line(&self.0, environment, p, at) {
            Some(next) => next,
            None => otherwise(&self.0, environment),
        }
    }
}

impl<A, C> Algorithm for Changed<A, C>
where
    A: Algorithm,
    C: for<'m> Change<A, A::State, Next<A::State>, dyn Memory + 'm>,
{
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
        match C::line(&self.0, m, p, at) {
            Some(next) => next,
            None => self.0.step(m, p, at),
        }
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

    fn variables(&self, at: A::State) -> Option<Vec<(String, String)>> {
        self.0.variables(at)
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

    fn advance(&self, processes: &mut [Loc<A::State>], memory: &mut [Word]) {
        self.0.advance(processes, memory);
    }

    fn counts(&self, at: &Loc<A::State>) -> bool {
        self.0.counts(at)
    }

    fn stale_rules(&self) -> Vec<StaleRule> {
        self.0.stale_rules()
    }

    fn permits_stale(&self, rule: &StaleRule, p: Pid, at: &Loc<A::State>) -> bool {
        self.0.permits_stale(rule, p, at)
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.0.invariants()
    }

    fn broken_invariant(&self, state: &View<'_, A::State>) -> Option<&'static str> {
        self.0.broken_invariant(state)
    }

    fn invariant_fault(&self, state: &View<'_, A::State>) -> Option<&'static str> {
        self.0.invariant_fault(state)
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        self.0.run_statements()
    }

    fn observe(&self, statement: &str, history: u32, step: &Transition<'_, A::State>) -> Observed {
        self.0.observe(statement, history, step)
    }

    fn instances(&self, statement: &str) -> usize {
        self.0.instances(statement)
    }

    fn survives(&self, statement: &str, instance: usize) -> usize {
        self.0.survives(statement, instance)
    }

    fn condition(
        &self,
        statement: &str,
        instance: usize,
        side: Side,
        p: Pid,
        state: &View<'_, A::State>,
    ) -> bool {
        self.0.condition(statement, instance, side, p, state)
    }
}

/// Declares [changes](crate::framework::changed::Change). Each has a name, a doc comment that describes
/// the mistake, and the changed lines.
///
/// The first line names three types: the type to change, the type of private states, and the type that a
/// line returns. The names between the bars stand for the original, its environment and the process. The
/// match arms, with guards if needed, are the lines that the variant executes differently. The original
/// executes all other lines.
///
/// ```
/// use hallpass_algorithms::{
///     Memory, Next, Word, changed_lines,
///     framework::changed::Changed,
///     papers::anderson_moir::{Arranged, fig3::Fig3, inductive},
/// };
/// use hallpass_algorithms::papers::anderson_moir::{arrange::At, fig3::Line};
///
/// changed_lines! {
///     Arranged<Fig3>, At<Line> => Next<At<Line>>;
///     /// Processes pass the innermost level without checking it.
///     OpenDoor: |_s, _m, _p| {
///         At::Block { lost, stage, line: Line::L2 } if stage == 1 => {
///             Next::Enter(At::Block { lost, stage, line: Line::L7 })
///         },
///     }
/// }
///
/// let wrong = Changed::<_, OpenDoor>::new(inductive::<Fig3>(4, 2));
/// ```
///
/// Clauses may follow the types on the first line: `where`, and after it either `in` or `through`.
///
/// - `where [T: Timestamps]` declares the generic parameters of these types.
/// - `in E` names an environment other than shared memory. It is generic if `where` declares it, as in
///   `where [E: Environment], in E`.
/// - `through |original, memory| ModelEnvironment { original, memory }` wraps shared memory into another
///   environment. The changes then get that environment.
#[macro_export]
macro_rules! changed_lines {
    (@change [[$type:ty] [$at:ty] [$next:ty] [$($generics:tt)*] [$env:ty] [|$t:ident, $e:ident| $view:expr]]
        $(#[$doc:meta])*
        $name:ident: |$s:ident, $m:ident, $p:ident| { $($line:pat $(if $guard:expr)? => $body:expr,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl<$($generics)*> $crate::framework::changed::Change<$type, $at, $next, $env> for $name {
            #[inline]
            fn line(
                original: &$type,
                environment: &mut $env,
                $p: $crate::framework::memory::Pid,
                at: $at,
            ) -> Option<$next> {
                let $s = original;
                #[allow(unused_mut)] // some changes do not need a mutable environment
                let ($t, mut $e) = (original, environment);
                let $m = $view;
                match at {
                    $($line $(if $guard)? => Some($body),)+
                    _ => None,
                }
            }
        }
    };
    (@changes $header:tt $(
        $(#[$doc:meta])*
        $name:ident: |$s:ident, $m:ident, $p:ident| { $($arms:tt)* }
    )*) => {$(
        $crate::changed_lines! { @change $header
            $(#[$doc])*
            $name: |$s, $m, $p| { $($arms)* }
        }
    )*};
    ($type:ty, $at:ty => $next:ty, in $env:ty; $($changes:tt)*) => {
        $crate::changed_lines! { @changes
            [[$type] [$at] [$next] [] [$env] [|_t, e| e]] $($changes)*
        }
    };
    ($type:ty, $at:ty => $next:ty where [$($generics:tt)*], in $env:ty; $($changes:tt)*) => {
        $crate::changed_lines! { @changes
            [[$type] [$at] [$next] [$($generics)*] [$env] [|_t, e| e]] $($changes)*
        }
    };
    ($type:ty, $at:ty => $next:ty $(where [$($generics:tt)*])?; $($changes:tt)*) => {
        $crate::changed_lines! { @changes
            [[$type] [$at] [$next] ['m, $($($generics)*)?] [dyn $crate::Memory + 'm] [|_t, e| &mut e]] $($changes)*
        }
    };
    ($type:ty, $at:ty => $next:ty $(where [$($generics:tt)*])?, through |$t:ident, $e:ident| $view:expr; $($changes:tt)*) => {
        $crate::changed_lines! { @changes
            [[$type] [$at] [$next] ['m, $($($generics)*)?] [dyn $crate::Memory + 'm] [|$t, $e| &mut $view]] $($changes)*
        }
    };
}
