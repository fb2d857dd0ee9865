//! The registry entries of Zehavi's algorithm, and of the Bakery algorithm on which it is based.

use super::{Bakery, Zehavi, wrong};
use crate::{
    papers::timestamps::{Linear, Quadratic, Timestamps, Uctss},
    registry::{Entry, RmrBound, changed, entries},
};

const ZEHAVI: Entry = Entry::new("Zehavi 2013", "Algorithm 1").fife_strong();
const BAKERY: Entry = ZEHAVI.figure("Section III").titled("the Bakery algorithm").max_k(1);

/// Lemma 7 states O(n). Its proof and the lines give the constants:
///
/// - For each other process, lines 1, 2, 4, 7, 8, 12, 14 and 15 make 1, 1, 13, 1, 1, 1, 2 and 1
///   references.
/// - For each other process, the loop of line 11 reads the variables that the other process writes. These
///   reads make at most 32 references.
/// - Lines 5 and 13 make one reference each.
/// - With distributed shared memory, lines 5, 11, 13 and 14 are local.
/// - Label and Scan add 2n + 1 references for UCTSS, or 2(n - 1) with distributed shared memory. They add
///   at most 9n for the linear system, and 11n + 2 for its split form.
const CC_BOUND: RmrBound = RmrBound::cc("Lemma 7, added up", "55n-50", |n, _, _| 55 * n - 50);
const DSM_BOUND: RmrBound = RmrBound::dsm("Lemma 7, added up", "21(n-1)", |n, _, _| 21 * (n - 1));
const CC_LINEAR_BOUND: RmrBound =
    RmrBound::cc("Lemma 7, added up", "62n-51 (64n-49 if n > 8)", |n, _, _| {
        if n > 8 { 64 * n - 49 } else { 62 * n - 51 }
    });
const DSM_LINEAR_BOUND: RmrBound =
    RmrBound::dsm("Lemma 7, added up", "28n-19 (30n-17 if n > 8)", |n, _, _| {
        if n > 8 { 30 * n - 17 } else { 28 * n - 19 }
    });

entries! {
    statements: "statements.toml";

    "zehavi" + names => Zehavi::<Uctss>::new, ZEHAVI.titled("on unbounded timestamps").with_bound(CC_BOUND).with_bound(DSM_BOUND);
    "zehavi@linear" + names => Zehavi::<Linear>::new, ZEHAVI.titled("on bounded timestamps in linear time").with_bound(CC_LINEAR_BOUND).with_bound(DSM_LINEAR_BOUND).max_processes(<Linear as Timestamps>::MAX_PROCESSES);
    "zehavi@quadratic" + names => Zehavi::<Quadratic>::new, ZEHAVI.titled("on bounded timestamps in quadratic time").max_processes(<Quadratic as Timestamps>::MAX_PROCESSES);
    "bakery" + names => Bakery::new, BAKERY;
    "zehavi:one-cell" => |n, k| changed::<_, wrong::OneCell>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("one cell of Discover instead of two");
    "zehavi:no-ignore" => |n, k| changed::<_, wrong::NoIgnore>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 11(a)ii does not read Ignore");
    "zehavi:no-discover" => |n, k| changed::<_, wrong::NoDiscover>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 11(a)ii does not read Discover");
    "zehavi:no-compete" => |n, k| changed::<_, wrong::NoCompete>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 11(a)i dropped");
    "zehavi:no-order" => |n, k| changed::<_, wrong::NoOrder>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 11(a)ii dropped");
    "zehavi:no-allow" => |n, k| changed::<_, wrong::NoAllow>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 12 dropped");
    "zehavi:no-cancel" => |n, k| changed::<_, wrong::NoCancel>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 4c dropped");
    "zehavi:no-delete" => |n, k| changed::<_, wrong::NoDelete>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 14 dropped");
    "zehavi:no-label" => |n, k| changed::<_, wrong::NoLabel>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 3 dropped");
    "zehavi:no-retreat" => |n, k| changed::<_, wrong::NoRetreat>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("line 15 dropped");
    "zehavi:late-reveal" => |n, k| changed::<_, wrong::LateReveal>(Zehavi::<Uctss>::new, n, k), ZEHAVI.wrong("lines 5 and 6 swapped");
}
