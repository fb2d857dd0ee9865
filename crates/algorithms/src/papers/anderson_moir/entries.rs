//! The registry entries of Anderson & Moir's algorithms.

use super::{Fig2, Fig3, Fig8, Fig9, Named, arrange, fast, fig2, inductive, nested, tree, wrong};
use crate::{
    framework::changed::Changed,
    registry::{Entry, RmrBound, entries, log2},
};

const PAPER: &str = "Anderson & Moir 1997";
const CC: Entry = Entry::new(PAPER, "").using("fetch-and-add");
const CC_TAS: Entry = CC.using("fetch-and-add, test-and-set");
const DSM: Entry = CC_TAS;
const DSM_CAS: Entry = CC.using("fetch-and-add, test-and-set, compare-and-swap");

/// Figure 2 is an idealised baseline. The paper does not state its cost, so it has no bound here.
const QUEUE: Entry = Entry::new(PAPER, "Fig. 2")
    .titled("idealised queue")
    .using("an atomic counter and queue")
    .max_processes(fig2::MAX_PROCESSES);

entries! {
    statements: "statements.toml";

    "am-fig2" + names => Fig2::new, QUEUE;
    "am-fig3" + names => inductive::<Fig3>, CC.figure("Fig. 3, Thm 1").titled("levels").with_bound(RmrBound::cc("Theorem 1", "7(n-k)", |n, k, _| 7 * (n - k)));
    "am-fig3-tree" + names => tree::<Fig3>, CC.figure("Fig. 3 and 5, Thm 2").titled("tree").with_bound(RmrBound::cc("Theorem 2", "7k ceil(log2(n/k))", |n, k, _| 7 * k * log2(n, k)));
    "am-fig3-fast" + names => fast::<Fig3>, CC_TAS.figure("Fig. 3 and 7, Thm 3").titled("fast path over a tree").with_bound(RmrBound::cc("Theorem 3", "9 if c = 1, else 7k ceil(log2(n/k)) + 8", |n, k, c| if c == 1 { 9 } else { 7 * k * log2(n, k) + 8 }));
    "am-fig3-nested" + names => nested::<Fig3>, CC_TAS.figure("Fig. 3 and 7, Thm 4").titled("nested fast paths").with_bound(RmrBound::cc("Theorem 4", "8c+1", |_, _, c| 8 * c + 1));
    "am-fig8" + names => inductive::<Fig8>, DSM.figure("Fig. 8, Thm 5").titled("levels").with_bound(RmrBound::dsm("Theorem 5", "9(n-k)", |n, k, _| 9 * (n - k)));
    "am-fig8-tree" + names => tree::<Fig8>, DSM.figure("Fig. 8 and 5, Thm 6").titled("tree").with_bound(RmrBound::dsm("Theorem 6", "9k ceil(log2(n/k))", |n, k, _| 9 * k * log2(n, k)));
    "am-fig8-fast" + names => fast::<Fig8>, DSM.figure("Fig. 8 and 7, Thm 7").titled("fast path over a tree").with_bound(RmrBound::dsm("Theorem 7", "11 if c = 1, else 9k ceil(log2(n/k)) + 10", |n, k, c| if c == 1 { 11 } else { 9 * k * log2(n, k) + 10 }));
    "am-fig8-nested" + names => nested::<Fig8>, DSM.figure("Fig. 8 and 7, Thm 8").titled("nested fast paths").with_bound(RmrBound::dsm("Theorem 8", "10c+1", |_, _, c| 10 * c + 1));
    "am-fig9" + names => inductive::<Fig9>, DSM_CAS.figure("Fig. 9, Thm 9").titled("levels, shared spin locations").with_bound(RmrBound::dsm("Theorem 9", "10(n-k)", |n, k, _| 10 * (n - k)));
    "am-fig9-tree" + names => tree::<Fig9>, DSM_CAS.figure("Fig. 9 and 5, Thm 10").titled("tree, shared spin locations").with_bound(RmrBound::dsm("Theorem 10", "10k ceil(log2(n/k))", |n, k, _| 10 * k * log2(n, k)));
    "am-fig9-fast" + names => fast::<Fig9>, DSM_CAS.figure("Fig. 9 and 7, Thm 11").titled("fast path over a tree, shared spin locations").with_bound(RmrBound::dsm("Theorem 11", "12 if c = 1, else 10k ceil(log2(n/k)) + 11", |n, k, c| if c == 1 { 12 } else { 10 * k * log2(n, k) + 11 }));
    "am-fig9-nested" + names => nested::<Fig9>, DSM_CAS.figure("Fig. 9 and 7, Thm 12").titled("nested fast paths, shared spin locations").with_bound(RmrBound::dsm("Theorem 12", "11c+1", |_, _, c| 11 * c + 1));
    "am-fig3-fast:printed" => arrange::fast_printed::<Fig3>, CC_TAS.figure("Fig. 7 over Fig. 5").printed("the slow path is Figure 5 for n-1 processes, as printed");
    "am-fig3:no-outer" => wrong::no_outer_level::<Fig3>, CC.figure("Fig. 3").wrong("the outermost level is left out").min_gap(2);
    "am-fig3:no-release" => inductive::<Changed<Fig3, wrong::Fig3NoRelease>>, CC.figure("Fig. 3").wrong("line 8 dropped");
    "am-fig3:exit-swapped" => inductive::<Changed<Fig3, wrong::Fig3ExitSwapped>>, CC.figure("Fig. 3").wrong("lines 7 and 8 swapped");
    "am-fig3:no-second-look" => inductive::<Changed<Fig3, wrong::Fig3NoSecondLook>>, CC.figure("Fig. 3").wrong("line 4 dropped");
    "am-fig3:look-first" => inductive::<Changed<Fig3, wrong::Fig3LookFirst>>, CC.figure("Fig. 3").wrong("lines 3 and 4 swapped");
    "am-fig3:no-take" => inductive::<Changed<Fig3, wrong::Fig3NoTake>>, CC.figure("Fig. 3").wrong("line 2 reads X and takes nothing");
    "am-fig3:leave-waits" => inductive::<Changed<Fig3, wrong::Fig3LeaveWaits>>, CC.figure("Fig. 3").wrong("line 8 waits until another process has written Q");
    "am-fig8:no-outer" => wrong::no_outer_level::<Fig8>, DSM.figure("Fig. 8").wrong("the outermost level is left out").min_gap(2);
    "am-fig8:read-not-set" => inductive::<Changed<Fig8, wrong::Fig8ReadNotSet>>, DSM.figure("Fig. 8").wrong("line 4 reads P[v] instead of setting it");
    "am-fig8:no-initialise" => inductive::<Changed<Fig8, wrong::Fig8NoInitialise>>, DSM.figure("Fig. 8").wrong("line 6 dropped");
    "am-fig8:no-pretending" => inductive::<Changed<Fig8, wrong::Fig8NoPretending>>, DSM.figure("Fig. 8").wrong("lines 13 and 14 dropped");
    "am-fig8:queue-swapped" => inductive::<Changed<Fig8, wrong::Fig8QueueSwapped>>, DSM.figure("Fig. 8").wrong("lines 5 and 6 swapped");
    "am-fig8:wrong-flag" => inductive::<Changed<Fig8, wrong::Fig8WrongFlag>>, DSM.figure("Fig. 8").wrong("line 14 clears the flag of another process");
    "am-fig8:leave-waits" => inductive::<Changed<Fig8, wrong::Fig8LeaveWaits>>, DSM.figure("Fig. 8").wrong("line 12 repeats the test-and-set until it finds the flag clear");
    "am-fig9:one-instance" => wrong::one_instance, DSM_CAS.figure("Fig. 9").wrong("one instance number for all levels").min_gap(2);
    "am-fig9:no-guard" => inductive::<Changed<Fig9, wrong::Fig9NoGuard>>, DSM_CAS.figure("Fig. 9").wrong("line 3 dropped");
    "am-fig9:no-second-flag" => inductive::<Changed<Fig9, wrong::Fig9NoSecondFlag>>, DSM_CAS.figure("Fig. 9").wrong("lines 15 and 16 dropped");
    "am-fig9:one-flag" => inductive::<Changed<Fig9, wrong::Fig9OneFlag>>, DSM_CAS.figure("Fig. 9").wrong("line 12 dropped");
    "am-fig9:late-second-flag" => inductive::<Changed<Fig9, wrong::Fig9LateSecondFlag>>, DSM_CAS.figure("Fig. 9").wrong("lines 9 and 10 swapped");
    "am-fig9:leave-waits" => inductive::<Changed<Fig9, wrong::Fig9LeaveWaits>>, DSM_CAS.figure("Fig. 9").wrong("line 16 repeats the compare-and-swap until it succeeds");
    "am-fig3+names:read-only" => |n, k| Changed::<_, wrong::NameReadOnly>::new(Named::new(inductive::<Fig3>(n, k))), CC_TAS.figure("Fig. 1 over Fig. 3").wrong("line 3 of Figure 1 reads the bit and does not set it");
    "am-fig3+names:never-freed" => |n, k| Changed::<_, wrong::NameNeverFreed>::new(Named::new(inductive::<Fig3>(n, k))), CC_TAS.figure("Fig. 1 over Fig. 3").wrong("line 5 of Figure 1 does not clear the bit");
}
