//! Variants that are wrong on purpose. The checker must reject each of them, and say why.
//!
//! A mutation changes one or two lines of a block and leaves the rest to the original, so what a
//! variant does differently is all that stands here.

use core::marker::PhantomData;

use super::{
    arrange::{Arranged, levels_from},
    block::{Block, BlockView, Place},
    fig3::{self, Fig3},
    fig8::{self, Fig8},
    fig9::{self, Fig9},
    names::Naming,
};
use crate::framework::{
    layout::Layout,
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Memory, Pid, Var, Word},
};

/// A change to the block `B`.
pub trait Mutation<B: Block> {
    /// What it does instead of the original line, if it changes that line.
    fn step<M: Memory>(_: &B, _: &mut M, _: Pid, _: B::Line) -> Option<Next<B::Line>> {
        None
    }

    /// The instance number a block gets.
    fn instance(original: usize) -> usize {
        original
    }
}

/// `B` with the mutation `C`.
pub struct Mutant<B, C>(B, PhantomData<C>);

impl<B: Block, C: Mutation<B>> Block for Mutant<B, C> {
    const FIGURE: &'static str = B::FIGURE;
    const CRITICAL: u8 = B::CRITICAL;
    const SYMMETRIC: bool = B::SYMMETRIC;
    const INVARIANTS: &'static [&'static str] = B::INVARIANTS;

    type Line = B::Line;
    const ENTRY: B::Line = B::ENTRY;
    const EXIT: B::Line = B::EXIT;

    type Shared = B::Shared;
    fn share(layout: &mut Layout, n: usize, blocks: usize) -> B::Shared {
        B::share(layout, n, blocks)
    }

    fn new(layout: &mut Layout, shared: B::Shared, place: Place<'_>) -> Self {
        let place = Place { instance: C::instance(place.instance), ..place };
        Mutant(B::new(layout, shared, place), PhantomData)
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: B::Line) -> Next<B::Line> {
        C::step(&self.0, m, p, at).unwrap_or_else(|| self.0.step(m, p, at))
    }

    fn number(at: B::Line) -> u8 {
        B::number(at)
    }

    fn waits(at: B::Line) -> bool {
        B::waits(at)
    }

    fn broken_invariant(&self, view: &BlockView<'_, Self>) -> Option<&'static str> {
        self.0.broken_invariant(&BlockView { processes: view.processes, memory: view.memory })
    }
}

/// The induction without its outermost level: n processes come where n - 1 are allowed.
pub fn no_outer_level<B: Block>(n: usize, k: usize) -> Arranged<B> {
    levels_from(n, k, n - 2)
}

/// Declares mutations: a name, what is wrong, the block, and the changed lines.
macro_rules! mutations {
    ($($(#[$doc:meta])* $name:ident: $block:ty, |$s:ident, $m:ident, $p:ident| { $($line:pat => $body:expr,)+ })*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Mutation<$block> for $name {
            fn step<M: Memory>(
                $s: &$block, $m: &mut M, $p: Pid, at: <$block as Block>::Line,
            ) -> Option<Next<<$block as Block>::Line>> {
                match at {
                    $($line => Some($body),)+
                    _ => None,
                }
            }
        }
    )*};
}

mutations! {
    /// Line 8 dropped: nobody releases the one who waits.
    Fig3NoRelease: Fig3, |s, m, _p| {
        fig3::Line::L7 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Lines 7 and 8 swapped: the waiter is released before there is a place.
    Fig3ExitSwapped: Fig3, |s, m, p| {
        fig3::Line::L7 => { m.write(s.q, p as Word); Goto(fig3::Line::L8) },
        fig3::Line::L8 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Line 4 dropped: it waits without looking whether a place came free meanwhile.
    Fig3NoSecondLook: Fig3, |s, m, p| {
        fig3::Line::L3 => { m.write(s.q, p as Word); Goto(fig3::Line::L5) },
    }
    /// Lines 3 and 4 swapped: it looks for a place first, and says that it waits after.
    Fig3LookFirst: Fig3, |s, m, p| {
        fig3::Line::L3 => if m.read(s.x) < 0 { Goto(fig3::Line::L4) } else { Enter(fig3::Line::L7) },
        fig3::Line::L4 => { m.write(s.q, p as Word); Goto(fig3::Line::L5) },
    }
    /// Line 2 only reads: it never takes a place, so everybody finds one.
    Fig3NoTake: Fig3, |s, m, _p| {
        fig3::Line::L2 => if m.read(s.x) == 0 { Goto(fig3::Line::L3) } else { Enter(fig3::Line::L7) },
    }
    /// Line 4's test-and-set is a read: two may queue at once.
    Fig8ReadNotSet: Fig8, |s, m, _p| {
        fig8::Line::L4 { v } => if m.read(s.p.at(v as usize)) == 0 { Goto(fig8::Line::L5) } else { Enter(fig8::Line::L10) },
    }
    /// Line 6 dropped: the spin location is never made ready, so nobody waits.
    Fig8NoInitialise: Fig8, |s, m, p| {
        fig8::Line::L5 => { m.write(s.q, p as Word); Goto(fig8::Line::L7) },
    }
    /// Lines 13 and 14 dropped: whoever leaves takes the spin location with it.
    Fig8NoPretending: Fig8, |s, m, _p| {
        fig8::Line::L12 { v } => { m.test_and_set(s.p.at(v as usize)); Leave },
    }
    /// Lines 5 and 6 swapped: it makes its location ready before it is the current one.
    Fig8QueueSwapped: Fig8, |s, m, p| {
        fig8::Line::L5 => { m.write(s.p.at(p), 0); Goto(fig8::Line::L6) },
        fig8::Line::L6 => { m.write(s.q, p as Word); Goto(fig8::Line::L7) },
    }
    /// Line 3's test-and-set of Z dropped: two may queue at once.
    Fig9NoGuard: Fig9, |s, m, _p| {
        fig9::Line::L3 => Goto(fig9::Line::L5 { v: m.read(s.q) as u8 }),
    }
    /// Lines 15 and 16 dropped: only the next to queue releases, and there may be none.
    Fig9NoSecondFlag: Fig9, |s, m, _p| {
        fig9::Line::L14 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Line 12 dropped: it waits on the first flag alone.
    Fig9OneFlag: Fig9, |s, m, p| {
        fig9::Line::L11 => if m.read(s.spin.p.at(p)) == s.word(false) { Spin(fig9::Line::L11) } else { Enter(fig9::Line::L14) },
    }
    /// Line 9 comes after the look at X: a release in between is overwritten.
    Fig9LateSecondFlag: Fig9, |s, m, p| {
        fig9::Line::L9 => if m.read(s.x) < 0 { Goto(fig9::Line::L10) } else { Enter(fig9::Line::L14) },
        fig9::Line::L10 => { m.write(s.spin.r.at(p), s.word(false)); Goto(fig9::Line::L11) },
    }
}

/// One instance number for all blocks of Figure 9: a release meant for one level works at another.
pub struct Fig9OneInstance;
impl Mutation<Fig9> for Fig9OneInstance {
    fn instance(_: usize) -> usize {
        0
    }
}

/// Line 3 of Figure 1 only reads: two may take the same name.
pub struct NameReadOnly;
impl Naming for NameReadOnly {
    fn taken<M: Memory>(m: &mut M, name: Var) -> bool {
        m.read(name) != 0
    }
}

/// Line 5 of Figure 1 does not clear the bit: names run out.
pub struct NameNeverFreed;
impl Naming for NameNeverFreed {
    const FREE: Word = 1;
}
