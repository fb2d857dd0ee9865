//! Variants of Choi's algorithm that are wrong on purpose. The checker must reject each of them,
//! and say why.
//!
//! With k <= 2, each cell is looked after by so many that dropping line 6, or waiting on the own
//! cell alone, does no harm: these fail from n = 4, k = 3 on.

use alloc::vec;

use super::{
    algorithm::{Choi, Rules},
    sets::Form,
};
use crate::framework::memory::Word;

/// Declares variants: a name, what is wrong, and what it changes.
macro_rules! variants {
    ($($(#[$doc:meta])* $name:ident: |$rules:ident, $n:pat_param, $k:pat_param| $change:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(n: usize, k: usize) -> Choi {
            let mut $rules = Rules::new(n, k, Form::Meant);
            let ($n, $k) = (n, k);
            $change;
            Choi::with(n, k, $rules)
        }
    )*};
}

variants! {
    /// Line 6 dropped: each cell is tried once.
    once: |rules, _, _| rules.twice = false;
    /// {-1} dropped: the block before is not looked after.
    no_previous: |rules, _, _| rules.update.iter_mut().for_each(|list| list.retain(|&r| r >= 0));
    /// Line 4 goes through the cells in descending order.
    descending: |rules, _, _| rules.update.iter_mut().for_each(|list| list.reverse());
    /// Line 2 waits on the own cell alone.
    own_cell: |rules, _, k| rules.wait = (0..k).map(|j| vec![j as u8]).collect();
    /// Line 3 releases one more than has left.
    one_ahead: |rules, _, k| rules.ahead = k as Word + 1;
    /// Line 3 releases one less than has left.
    one_behind: |rules, _, k| rules.ahead = k as Word - 1;
    /// Line 9 is a write.
    write: |rules, _, _| rules.writes = true;
}
