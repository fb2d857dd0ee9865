//! Deliberately wrong variants. The checker must reject each of them and name the violation.
//!
//! Most variants change one or two lines of a block. The original executes all other lines.

use super::{
    arrange::{Arranged, Plan},
    block::Block,
    fig3::{self, Fig3},
    fig8::{self, Fig8},
    fig9::{self, Fig9},
    names::{self, Named},
};
use crate::{
    changed_lines,
    framework::{
        machine::{
            Algorithm,
            Next::{self, Enter, Goto, Leave, Spin},
        },
        memory::{Memory, Word},
    },
};

/// Builds the induction without its outermost level: n processes reach a level for n - 1 processes.
pub fn no_outer_level<B: Block>(n: usize, k: usize) -> Arranged<B> {
    Plan::inductive(n, k, n - 2).declare(n, k)
}

/// Builds Figure 9 with the same instance number in all blocks: a release at one level takes effect at
/// another.
pub fn one_instance(n: usize, k: usize) -> Arranged<Fig9> {
    let mut plan = Plan::inductive(n, k, n - 1);
    plan.blocks.iter_mut().for_each(|block| block.instance = 0);
    plan.declare(n, k)
}

changed_lines! {
    Fig3, fig3::Line => Next<fig3::Line>;
    /// Line 8 is dropped: no process releases the waiter.
    Fig3NoRelease: |s, m, _p| {
        fig3::Line::L7 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Lines 7 and 8 are swapped: the waiter is released before a slot is free.
    Fig3ExitSwapped: |s, m, p| {
        fig3::Line::L7 => { m.write(s.q, p as Word); Goto(fig3::Line::L8) },
        fig3::Line::L8 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Line 4 is dropped: a process waits without checking whether a slot has become free.
    Fig3NoSecondLook: |s, m, p| {
        fig3::Line::L3 => { m.write(s.q, p as Word); Goto(fig3::Line::L5) },
    }
    /// Lines 3 and 4 are swapped: a process checks for a free slot before it announces that it waits.
    Fig3LookFirst: |s, m, p| {
        fig3::Line::L3 => if m.read(s.x) < 0 { Goto(fig3::Line::L4) } else { Enter(fig3::Line::L7) },
        fig3::Line::L4 => { m.write(s.q, p as Word); Goto(fig3::Line::L5) },
    }
    /// Line 2 only reads: no process takes a slot, so every process finds a free slot.
    Fig3NoTake: |s, m, _p| {
        fig3::Line::L2 => if m.read(s.x) == 0 { Goto(fig3::Line::L3) } else { Enter(fig3::Line::L7) },
    }
    /// Line 8 waits until another process has written Q: a process may never leave. Statement L2 excludes this.
    Fig3LeaveWaits: |s, m, p| {
        fig3::Line::L8 => if m.read(s.q) == p as Word { Spin(fig3::Line::L8) } else { Leave },
    }
}

changed_lines! {
    Fig8, fig8::Line => Next<fig8::Line>;
    /// Line 4 is a read instead of a test-and-set: two processes may queue at the same time.
    Fig8ReadNotSet: |s, m, _p| {
        fig8::Line::L4 { v } => if m.read(s.p.at(v as usize)) == 0 { Goto(fig8::Line::L5) } else { Enter(fig8::Line::L10) },
    }
    /// Line 6 is dropped: the spin location is never initialised, so no process waits.
    Fig8NoInitialise: |s, m, p| {
        fig8::Line::L5 => { m.write(s.q, p as Word); Goto(fig8::Line::L7) },
    }
    /// Lines 13 and 14 are dropped: a leaving process sets the flag of the current spin location, but does not make a
    /// location with a clear flag current. So all flags stay set, and no later process waits.
    Fig8NoPretending: |s, m, _p| {
        fig8::Line::L12 { v } => { m.test_and_set(s.p.at(v as usize)); Leave },
    }
    /// Line 14 clears the spin location of another process: it takes back the release of a waiter. Statement
    /// U2 excludes this.
    Fig8WrongFlag: |s, m, p| {
        fig8::Line::L14 => { m.write(s.p.at((p + 1) % (s.k as usize + 1)), 0); Leave },
    }
    /// Line 12 repeats the test-and-set until it finds the flag clear: a process may never leave. Statement L4
    /// excludes this.
    Fig8LeaveWaits: |s, m, _p| {
        fig8::Line::L12 { v } => if m.test_and_set(s.p.at(v as usize)) { Spin(fig8::Line::L12 { v }) } else { Goto(fig8::Line::L13) },
    }
    /// Lines 5 and 6 are swapped: a process initialises its spin location before this location is
    /// current.
    Fig8QueueSwapped: |s, m, p| {
        fig8::Line::L5 => { m.write(s.p.at(p), 0); Goto(fig8::Line::L6) },
        fig8::Line::L6 => { m.write(s.q, p as Word); Goto(fig8::Line::L7) },
    }
}

changed_lines! {
    Fig9, fig9::Line => Next<fig9::Line>;
    /// Line 3 lacks the test-and-set of Z: two processes may queue at the same time.
    Fig9NoGuard: |s, m, _p| {
        fig9::Line::L3 => Goto(fig9::Line::L5 { v: m.read(s.q) as u8 }),
    }
    /// Lines 15 and 16 are dropped: only the next process that queues releases a waiter, and there may
    /// be no such process.
    Fig9NoSecondFlag: |s, m, _p| {
        fig9::Line::L14 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Line 12 is dropped: a process waits only on the first flag.
    Fig9OneFlag: |s, m, p| {
        fig9::Line::L11 => if m.read(s.spin.p.at(p)) == s.word(false) { Spin(fig9::Line::L11) } else { Enter(fig9::Line::L14) },
    }
    /// Line 9 is moved after the check of X: it overwrites a release that happens in between.
    Fig9LateSecondFlag: |s, m, p| {
        fig9::Line::L9 => if m.read(s.x) < 0 { Goto(fig9::Line::L10) } else { Enter(fig9::Line::L14) },
        fig9::Line::L10 => { m.write(s.spin.r.at(p), s.word(false)); Goto(fig9::Line::L11) },
    }
    /// Line 16 repeats the compare-and-swap until it succeeds: a process may never leave. Statement L6 excludes
    /// this.
    Fig9LeaveWaits: |s, m, _p| {
        fig9::Line::L16 { v } => if m.compare_and_swap(s.spin.r.at(v as usize), s.word(false), s.word(true)) { Leave } else { Spin(fig9::Line::L16 { v }) },
    }
}

changed_lines! {
    Named<A>, names::At<A::State> => Next<names::At<A::State>> where [A: Algorithm];
    /// Line 3 of Figure 1 only reads, so two processes can take the same name.
    NameReadOnly: |s, m, _p| {
        names::At::L3 { name, exit } if s.is_name(name) => {
            if m.read(s.x.at(name as usize)) != 0 {
                Goto(names::At::L3 { name: name + 1, exit })
            } else {
                Enter(names::At::L5 { name, exit })
            }
        },
    }
    /// Line 5 of Figure 1 does not clear the bit: names run out.
    NameNeverFreed: |s, m, _p| {
        names::At::L5 { name, exit } if s.is_name(name) => {
            m.write(s.x.at(name as usize), 1);
            Goto(names::At::Exclusion(exit))
        },
    }
}
