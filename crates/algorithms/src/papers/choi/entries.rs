//! The registry entries of Choi's algorithm.

use super::{Bounded, Choi, bounded, wrong};
use crate::registry::{Entry, RmrBound, changed, entries, log2};

const CHOI: Entry =
    Entry::new("Choi 2011", "Section 2").using("fetch-and-increment, compare-and-swap");

const BOUNDED: Entry = CHOI
    .figure("not in the paper")
    .using("an atomic counter with ages")
    .max_processes(bounded::MAX_PROCESSES)
    .fife_strong()
    .titled("tokens with bounded counters");

/// The paper states only orders of growth, so this bound is counted line by line:
///
/// - Line 1 costs 1.
/// - Line 2 costs one read for each of at most ceil(log2 k) + 2 cells, and one more read. The paper
///   argues that one more is enough, and no run in the lab needs more.
/// - Line 3 costs 1.
/// - The two updates of each of at most floor(log2 k) + 2 cells cost 3 each.
const BOUND: RmrBound =
    RmrBound::cc("Section 3.7.5, added up", "17 + ceil(log2 k) + 6 floor(log2 k)", |_, k, _| {
        17 + log2(k, 1) + 6 * u64::from(k.ilog2())
    });

entries! {
    statements: "statements.toml";

    "choi" + names => Choi::new, CHOI.fife_strong().titled("tokens, N >= n cells").with_bound(BOUND);
    "choi-wide" + names => Choi::wide, CHOI.fife_strong().titled("tokens, N = kn/log2 k cells");
    "choi-narrow" + names => Choi::narrow, CHOI.fife_strong().titled("tokens, N = 2k cells");
    "choi-bounded" + names => Bounded::new, BOUNDED;
    "choi:printed" => Choi::printed, CHOI.printed("all as printed");
    "choi:printed-wait" => Choi::printed_wait, CHOI.printed("Wait-Set(0) as printed");
    "choi:printed-check" => Choi::printed_check, CHOI.printed("line 8 as printed, Exit <= u + 2k");
    "choi-bounded:ageless" => |n, k| changed::<_, wrong::Ageless>(Bounded::new, n, k), BOUNDED.wrong("line 3 dropped: a waiter never finds out that its token is old");
    "choi:once" => |n, k| changed::<_, wrong::Once>(Choi::new, n, k), CHOI.wrong("line 6 dropped");
    "choi:no-previous" => wrong::no_previous, CHOI.wrong("{-1} dropped in line 4");
    "choi:descending" => wrong::descending, CHOI.wrong("line 4 in descending order");
    "choi:own-cell" => wrong::own_cell, CHOI.wrong("line 2 waits only on the process's own cell");
    "choi:one-ahead" => |n, k| changed::<_, wrong::OneAhead>(Choi::new, n, k), CHOI.wrong("line 3 adds k+1");
    "choi:one-behind" => |n, k| changed::<_, wrong::OneBehind>(Choi::new, n, k), CHOI.wrong("line 3 adds k-1");
    "choi:write" => wrong::write, CHOI.wrong("line 9 writes");
}
