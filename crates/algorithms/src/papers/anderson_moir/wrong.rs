//! Variants that are wrong on purpose. The checker must reject each of them, and say why.
//!
//! A mutation changes one or two lines of a block and leaves the rest to the original, so what a
//! variant does differently is all that stands here.

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

/// The induction without its outermost level: n processes come where n - 1 are allowed.
pub fn no_outer_level<B: Block>(n: usize, k: usize) -> Arranged<B> {
    Plan::inductive(n, k, n - 2).declare(n, k)
}

/// One instance number for all blocks of Figure 9: a release meant for one level works at another.
pub fn one_instance(n: usize, k: usize) -> Arranged<Fig9> {
    let mut plan = Plan::inductive(n, k, n - 1);
    plan.blocks.iter_mut().for_each(|block| block.instance = 0);
    plan.declare(n, k)
}

changed_lines! {
    Fig3, fig3::Line => Next<fig3::Line>;
    /// Line 8 dropped: nobody releases the one who waits.
    Fig3NoRelease: |s, m, _p| {
        fig3::Line::L7 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Lines 7 and 8 swapped: the waiter is released before there is a place.
    Fig3ExitSwapped: |s, m, p| {
        fig3::Line::L7 => { m.write(s.q, p as Word); Goto(fig3::Line::L8) },
        fig3::Line::L8 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Line 4 dropped: it waits without looking whether a place came free meanwhile.
    Fig3NoSecondLook: |s, m, p| {
        fig3::Line::L3 => { m.write(s.q, p as Word); Goto(fig3::Line::L5) },
    }
    /// Lines 3 and 4 swapped: it looks for a place first, and says that it waits after.
    Fig3LookFirst: |s, m, p| {
        fig3::Line::L3 => if m.read(s.x) < 0 { Goto(fig3::Line::L4) } else { Enter(fig3::Line::L7) },
        fig3::Line::L4 => { m.write(s.q, p as Word); Goto(fig3::Line::L5) },
    }
    /// Line 2 only reads: it never takes a place, so everybody finds one.
    Fig3NoTake: |s, m, _p| {
        fig3::Line::L2 => if m.read(s.x) == 0 { Goto(fig3::Line::L3) } else { Enter(fig3::Line::L7) },
    }
}

changed_lines! {
    Fig8, fig8::Line => Next<fig8::Line>;
    /// Line 4's test-and-set is a read: two may queue at once.
    Fig8ReadNotSet: |s, m, _p| {
        fig8::Line::L4 { v } => if m.read(s.p.at(v as usize)) == 0 { Goto(fig8::Line::L5) } else { Enter(fig8::Line::L10) },
    }
    /// Line 6 dropped: the spin location is never made ready, so nobody waits.
    Fig8NoInitialise: |s, m, p| {
        fig8::Line::L5 => { m.write(s.q, p as Word); Goto(fig8::Line::L7) },
    }
    /// Lines 13 and 14 dropped: whoever leaves takes the spin location with it.
    Fig8NoPretending: |s, m, _p| {
        fig8::Line::L12 { v } => { m.test_and_set(s.p.at(v as usize)); Leave },
    }
    /// Lines 5 and 6 swapped: it makes its location ready before it is the current one.
    Fig8QueueSwapped: |s, m, p| {
        fig8::Line::L5 => { m.write(s.p.at(p), 0); Goto(fig8::Line::L6) },
        fig8::Line::L6 => { m.write(s.q, p as Word); Goto(fig8::Line::L7) },
    }
}

changed_lines! {
    Fig9, fig9::Line => Next<fig9::Line>;
    /// Line 3's test-and-set of Z dropped: two may queue at once.
    Fig9NoGuard: |s, m, _p| {
        fig9::Line::L3 => Goto(fig9::Line::L5 { v: m.read(s.q) as u8 }),
    }
    /// Lines 15 and 16 dropped: only the next to queue releases, and there may be none.
    Fig9NoSecondFlag: |s, m, _p| {
        fig9::Line::L14 => { m.fetch_add(s.x, 1); Leave },
    }
    /// Line 12 dropped: it waits on the first flag alone.
    Fig9OneFlag: |s, m, p| {
        fig9::Line::L11 => if m.read(s.spin.p.at(p)) == s.word(false) { Spin(fig9::Line::L11) } else { Enter(fig9::Line::L14) },
    }
    /// Line 9 comes after the look at X: a release in between is overwritten.
    Fig9LateSecondFlag: |s, m, p| {
        fig9::Line::L9 => if m.read(s.x) < 0 { Goto(fig9::Line::L10) } else { Enter(fig9::Line::L14) },
        fig9::Line::L10 => { m.write(s.spin.r.at(p), s.word(false)); Goto(fig9::Line::L11) },
    }
}

changed_lines! {
    Named<A>, names::At<A::State> => Next<names::At<A::State>> where [A: Algorithm];
    /// Line 3 of Figure 1 only reads: two may take the same name.
    NameReadOnly: |s, m, _p| {
        names::At::L3 { name, held } if s.is_name(name) => {
            if m.read(s.x.at(name as usize)) != 0 {
                Goto(names::At::L3 { name: name + 1, held })
            } else {
                Enter(names::At::L5 { name, held })
            }
        },
    }
    /// Line 5 of Figure 1 does not clear the bit: names run out.
    NameNeverFreed: |s, m, _p| {
        names::At::L5 { name, held } if s.is_name(name) => {
            m.write(s.x.at(name as usize), 1);
            Goto(names::At::Exclusion(held))
        },
    }
}
