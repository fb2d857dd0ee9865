//! The table: a constructor for each identifier, and what to say of what it makes.

use super::{Claim, Entry, Model, Standing, Visitor, about::*};
use crate::{
    framework::changed::Changed,
    halls::{
        cluster::{self as claims, broken as not_claims},
        processes as shared,
        threads::{self as hall, Barging, Cast, Fair, Sleep},
    },
    objects::turnstile::{self, Turnstile},
    papers::{
        afek::{self, Afek},
        anderson_moir::{self as am, Fig2, Fig3, Fig8, Fig9, Named},
        choi::{self, Bounded, Choi},
        omori,
        timestamps::{Linear, Quadratic, Timestamps, Uctss},
        zehavi::{self, Bakery, Zehavi},
    },
};

/// `A` with the change `C`.
fn changed<A, C>(make: fn(usize, usize) -> A, n: usize, k: usize) -> Changed<A, C> {
    Changed::new(make(n, k))
}

/// A constructor, and what to say of what it makes.
macro_rules! table {
    ($($id:literal => $make:expr, $about:expr;)*) => {
        /// Every algorithm there is, `+names` left out.
        pub const ENTRIES: &[Entry] = &[$(Entry { id: $id, ..$about }),*];

        pub(super) fn build<V: Visitor>(
            entry: &Entry, names: bool, n: usize, k: usize, visitor: V,
        ) -> Option<V::Output> {
            match entry.id {
                // A constant, so that nothing is compiled for what cannot carry names.
                $($id if names && { const NAMEABLE: bool = $about.nameable; NAMEABLE } => {
                    Some(visitor.visit(Named::new($make(n, k))))
                })*
                $($id => Some(visitor.visit($make(n, k))),)*
                _ => None,
            }
        }
    };
}

table! {
    // The semaphore behind `Hall`
    "hall" => |n, k| hall::model(Fair, Cast::Plain, Sleep::Light, n, k), hall(true, "fast path and queue");
    "hall-sleep" => |n, k| hall::model(Fair, Cast::Plain, Sleep::Deep, n, k), hall(false, "a waiter looks only when it was rung for");
    "hall-many" => |n, k| hall::model(Fair, Cast::Many, Sleep::Light, n, k), hall(true, "process 0 takes two slots");
    "hall-sleep-many" => |n, k| hall::model(Fair, Cast::Many, Sleep::Deep, n, k), hall(false, "process 0 takes two slots; a waiter looks only when rung for");
    "hall-timeout" => |n, k| hall::model(Fair, Cast::Timeout, Sleep::Light, n, k), hall(false, "waiters give up at any time");
    "hall-sleep-timeout" => |n, k| hall::model(Fair, Cast::Timeout, Sleep::Deep, n, k), hall(false, "waiters give up at any time; a waiter looks only when rung for");
    "hall-resize" => |n, k| hall::model(Fair, Cast::Resize, Sleep::Light, n, k), hall(false, "the last process takes a slot away and back");
    "hall-sleep-resize" => |n, k| hall::model(Fair, Cast::Resize, Sleep::Deep, n, k), hall(false, "the last process takes a slot away and back; a waiter looks only when rung for");
    "hall-close" => |n, k| hall::model(Fair, Cast::Close, Sleep::Light, n, k), hall(false, "the last process closes it");
    "hall-sleep-close" => |n, k| hall::model(Fair, Cast::Close, Sleep::Deep, n, k), hall(false, "the last process closes it; a waiter looks only when rung for");
    "hall-wide" => hall::Wide::new, hall(false, "more slots than fit into the word: a count, and names");
    "hall:no-count" => |n, k| Changed::<_, hall::broken::NoCount>::new(hall::model(Fair, Cast::Plain, Sleep::Light, n, k)), hall_wrong("line 3 does not count the waiter");
    "hall:early-count" => |n, k| Changed::<_, hall::broken::EarlyCount>::new(hall::model(Fair, Cast::Plain, Sleep::Light, n, k)), hall_wrong("a waiter is no longer counted before it has its grant");
    "hall:no-take" => |n, k| Changed::<_, hall::broken::NoTake>::new(hall::model(Fair, Cast::Plain, Sleep::Light, n, k)), hall_wrong("what is granted stays free");
    "hall:barge" => |n, k| Changed::<_, hall::broken::Barge>::new(hall::model(Fair, Cast::Plain, Sleep::Light, n, k)), hall_wrong("line 1 does not look whether anybody waits");
    "hall-sleep:no-ring" => |n, k| Changed::<_, hall::broken::NoRing>::new(hall::model(Fair, Cast::Plain, Sleep::Deep, n, k)), hall_wrong("nobody is rung for");
    "hall-sleep:no-news" => |n, k| Changed::<_, hall::broken::NoNews>::new(hall::model(Fair, Cast::Plain, Sleep::Deep, n, k)), hall_wrong("who serves does not look for news");
    "hall-sleep:deaf" => |n, k| Changed::<_, hall::broken::Deaf>::new(hall::model(Fair, Cast::Plain, Sleep::Deep, n, k)), hall_wrong("who lies down does not hear what was rung before");
    "hall-timeout:blind" => |n, k| Changed::<_, hall::broken::Blind>::new(hall::model(Fair, Cast::Timeout, Sleep::Light, n, k)), hall_wrong("who gives up does not look for a grant");
    "hall-resize:forgiving" => |n, k| Changed::<_, hall::broken::Forgiving>::new(hall::model(Fair, Cast::Resize, Sleep::Light, n, k)), hall_wrong("what is held beyond the new size is not remembered");
    "hall-barging" => |n, k| hall::model(Barging, Cast::Plain, Sleep::Light, n, k), barging("who finds a slot free takes it");
    "hall-sleep-barging" => |n, k| hall::model(Barging, Cast::Plain, Sleep::Deep, n, k), barging("who finds a slot free takes it; a waiter looks only when rung for");
    "hall-sleep-barging-timeout" => |n, k| hall::model(Barging, Cast::Timeout, Sleep::Deep, n, k), barging("one may barge in, waiters give up at any time");
    "hall-sleep-barging-many" => |n, k| hall::model(Barging, Cast::Many, Sleep::Deep, n, k), barging("one may barge in, process 0 takes two slots");
    "hall-sleep-barging-resize" => |n, k| hall::model(Barging, Cast::Resize, Sleep::Deep, n, k), barging("one may barge in, the last process takes a slot away and back");
    "hall-sleep-barging-close" => |n, k| hall::model(Barging, Cast::Close, Sleep::Deep, n, k), barging("one may barge in, the last process closes it");
    "hall-sleep-barging:no-call" => |n, k| Changed::<_, hall::broken::NoCall>::new(hall::model(Barging, Cast::Plain, Sleep::Deep, n, k)), Entry { standing: Standing::Broken, ..barging("who leaves calls nobody") };
    "shared" => |n, k| shared::ProcessesModel::new(shared::Cast::Plain, n, k), shared(true, "members that nobody kills");
    "shared-mortal" => |n, k| shared::ProcessesModel::new(shared::Cast::Mortal, n, k), shared(true, "anybody may be killed at any line");
    "shared-once" => |n, k| shared::ProcessesModel::new(shared::Cast::Once, n, k), shared(true, "members that nobody kills, one passage each");
    "shared-mortal-once" => |n, k| shared::ProcessesModel::new(shared::Cast::MortalOnce, n, k), shared(true, "anybody may be killed at any line, one passage each");
    "shared-timeout" => |n, k| shared::ProcessesModel::new(shared::Cast::Timeout, n, k), shared(false, "waiters give up at any time");
    "shared:no-ring" => |n, k| Changed::<_, shared::wrong::NoRing>::new(shared::ProcessesModel::new(shared::Cast::Plain, n, k)), shared_wrong("who has given a slot to a sleeper does not ring");
    "shared:no-service" => |n, k| Changed::<_, shared::wrong::NoService>::new(shared::ProcessesModel::new(shared::Cast::Plain, n, k)), shared_wrong("who leaves looks after nobody");
    "shared:unannounced" => |n, k| Changed::<_, shared::wrong::Unannounced>::new(shared::ProcessesModel::new(shared::Cast::Plain, n, k)), shared_wrong("line E6 dropped");
    "shared-mortal:no-second-look" => |n, k| Changed::<_, shared::wrong::NoSecondLook>::new(shared::ProcessesModel::new(shared::Cast::Mortal, n, k)), shared_wrong("who watches does not look again before it sleeps");
    "shared-mortal:not-mine" => |n, k| Changed::<_, shared::wrong::NotMine>::new(shared::ProcessesModel::new(shared::Cast::Mortal, n, k)), shared_wrong("line S7 does not notice what was given to itself");
    "turnstile" => Turnstile::new, turnstile("who finds room goes through, who fails twice draws a number");
    "turnstile:no-compare" => |n, k| Changed::<_, turnstile::broken::NoCompare>::new(Turnstile::new(n, k)), turnstile_wrong("line E3 draws a number without looking which");
    "turnstile:no-number" => |n, k| Changed::<_, turnstile::broken::NoNumber>::new(Turnstile::new(n, k)), turnstile_wrong("line E4 draws no number");
    "turnstile:no-exit" => |n, k| Changed::<_, turnstile::broken::NoExit>::new(Turnstile::new(n, k)), turnstile_wrong("line X1 counts no exit");
    // Claims on a store such as etcd
    "etcd" => |n, k| claims::model(claims::Cast::Plain, n, k), etcd(true, "claims on a store");
    "etcd-mortal" => |n, k| claims::model(claims::Cast::Mortal, n, k), fragile(etcd(true, "anybody may be killed at any line"));
    "etcd-expiry" => |n, k| claims::model(claims::Cast::Expiry, n, k), fragile(etcd(false, "anybody's lease may end at any line"));
    "etcd-unheard" => |n, k| claims::model(claims::Cast::Unheard, n, k), etcd(true, "anybody's connection may break at any line");
    "etcd-timeout" => |n, k| claims::model(claims::Cast::Timeout, n, k), etcd(true, "waiters give up; the last process is the clock");
    "etcd-try" => |n, k| claims::model(claims::Cast::Try, n, k), Entry { promises_everybody: false, ..etcd(false, "the last process does not wait") };
    "etcd-resize" => |n, k| claims::model(claims::Cast::Resize, n, k), fragile(etcd(true, "the last process takes a slot away and back"));
    "etcd-close" => |n, k| claims::model(claims::Cast::Close, n, k), etcd(true, "the last process closes it");
    "etcd:barging" => |n, k| <claims::ClusterModel<not_claims::Barging>>::new(claims::Cast::Plain, n, k), etcd_wrong("line E1 does not look whether others wait");
    "etcd:blind" => |n, k| <claims::ClusterModel<not_claims::Blind>>::new(claims::Cast::Plain, n, k), etcd_wrong("a slot is given to one that may have gone");
    "etcd:selfish" => |n, k| <claims::ClusterModel<not_claims::Selfish>>::new(claims::Cast::Plain, n, k), etcd_wrong("who leaves frees its slot, whoever waits");
    "etcd:quiet" => |n, k| <claims::ClusterModel<not_claims::Quiet>>::new(claims::Cast::Plain, n, k), etcd_wrong("who frees a slot that others wait for tells the first of them alone");
    "etcd-expiry:trusting" => |n, k| <claims::ClusterModel<not_claims::Trusting>>::new(claims::Cast::Expiry, n, k), etcd_wrong("a slot is given on as soon as a lease has ended");
    "etcd-expiry:generous" => |n, k| <claims::ClusterModel<not_claims::Generous>>::new(claims::Cast::Expiry, n, k), etcd_wrong("who leaves does not look whether its slot is still its own");
    "etcd-mortal:idle" => |n, k| <claims::ClusterModel<not_claims::Idle>>::new(claims::Cast::Mortal, n, k), etcd_wrong("the first in line does not watch who is inside");
    "etcd-mortal:dreaming" => |n, k| <claims::ClusterModel<not_claims::Dreaming>>::new(claims::Cast::Mortal, n, k), etcd_wrong("who waits does not watch who is before it");
    "etcd-unheard:twice" => |n, k| <claims::ClusterModel<not_claims::Twice>>::new(claims::Cast::Unheard, n, k), etcd_wrong("line E1 claims again");
    "etcd-timeout:careless" => |n, k| <claims::ClusterModel<not_claims::Careless>>::new(claims::Cast::Timeout, n, k), etcd_wrong("line E4 does not look whether it was given a slot");
    // Anderson & Moir 1997
    "am-fig2" => Fig2::new, AM_QUEUE;
    "am-fig3" => am::inductive::<Fig3>, am(CC, "Fig. 3, Thm 1", "levels", cc!("Theorem 1", "7(n-k)", |n, k, _| 7 * (n - k)));
    "am-fig3-tree" => am::tree::<Fig3>, am(CC, "Fig. 3 and 5, Thm 2", "tree", cc!("Theorem 2", "7k ceil(log2(n/k))", |n, k, _| 7 * k * log2(n, k)));
    "am-fig3-fast" => am::fast::<Fig3>, am(CC_TAS, "Fig. 3 and 7, Thm 3", "fast path over a tree", cc!("Theorem 3", "9 if c = 1, else 7k ceil(log2(n/k)) + 8", |n, k, c| if c == 1 { 9 } else { 7 * k * log2(n, k) + 8 }));
    "am-fig3-nested" => am::nested::<Fig3>, am(CC_TAS, "Fig. 3 and 7, Thm 4", "nested fast paths", cc!("Theorem 4", "8c+1", |_, _, c| 8 * c + 1));
    "am-fig8" => am::inductive::<Fig8>, am(DSM, "Fig. 8, Thm 5", "levels", dsm!("Theorem 5", "9(n-k)", |n, k, _| 9 * (n - k)));
    "am-fig8-tree" => am::tree::<Fig8>, am(DSM, "Fig. 8 and 5, Thm 6", "tree", dsm!("Theorem 6", "9k ceil(log2(n/k))", |n, k, _| 9 * k * log2(n, k)));
    "am-fig8-fast" => am::fast::<Fig8>, am(DSM, "Fig. 8 and 7, Thm 7", "fast path over a tree", dsm!("Theorem 7", "11 if c = 1, else 9k ceil(log2(n/k)) + 10", |n, k, c| if c == 1 { 11 } else { 9 * k * log2(n, k) + 10 }));
    "am-fig8-nested" => am::nested::<Fig8>, am(DSM, "Fig. 8 and 7, Thm 8", "nested fast paths", dsm!("Theorem 8", "10c+1", |_, _, c| 10 * c + 1));
    "am-fig9" => am::inductive::<Fig9>, am(DSM_CAS, "Fig. 9, Thm 9", "levels, shared spin locations", dsm!("Theorem 9", "10(n-k)", |n, k, _| 10 * (n - k)));
    "am-fig9-tree" => am::tree::<Fig9>, am(DSM_CAS, "Fig. 9 and 5, Thm 10", "tree, shared spin locations", dsm!("Theorem 10", "10k ceil(log2(n/k))", |n, k, _| 10 * k * log2(n, k)));
    "am-fig9-fast" => am::fast::<Fig9>, am(DSM_CAS, "Fig. 9 and 7, Thm 11", "fast path over a tree, shared spin locations", dsm!("Theorem 11", "12 if c = 1, else 10k ceil(log2(n/k)) + 11", |n, k, c| if c == 1 { 12 } else { 10 * k * log2(n, k) + 11 }));
    "am-fig9-nested" => am::nested::<Fig9>, am(DSM_CAS, "Fig. 9 and 7, Thm 12", "nested fast paths, shared spin locations", dsm!("Theorem 12", "11c+1", |_, _, c| 11 * c + 1));
    "am-fig3-fast:printed" => am::arrange::fast_printed::<Fig3>, printed(CC_TAS, "Fig. 7 over Fig. 5", "the slow path is Figure 5 for n-1 processes, as printed");
    "am-fig3:no-outer" => am::wrong::no_outer_level::<Fig3>, gap(2, wrong(CC, "Fig. 3", "the outermost level left out"));
    "am-fig3:no-release" => am::inductive::<Changed<Fig3, am::wrong::Fig3NoRelease>>, wrong(CC, "Fig. 3", "line 8 dropped");
    "am-fig3:exit-swapped" => am::inductive::<Changed<Fig3, am::wrong::Fig3ExitSwapped>>, wrong(CC, "Fig. 3", "lines 7 and 8 swapped");
    "am-fig3:no-second-look" => am::inductive::<Changed<Fig3, am::wrong::Fig3NoSecondLook>>, wrong(CC, "Fig. 3", "line 4 dropped");
    "am-fig3:look-first" => am::inductive::<Changed<Fig3, am::wrong::Fig3LookFirst>>, wrong(CC, "Fig. 3", "lines 3 and 4 swapped");
    "am-fig3:no-take" => am::inductive::<Changed<Fig3, am::wrong::Fig3NoTake>>, wrong(CC, "Fig. 3", "line 2 reads X and takes nothing");
    "am-fig8:no-outer" => am::wrong::no_outer_level::<Fig8>, gap(2, wrong(DSM, "Fig. 8", "the outermost level left out"));
    "am-fig8:read-not-set" => am::inductive::<Changed<Fig8, am::wrong::Fig8ReadNotSet>>, wrong(DSM, "Fig. 8", "line 4 reads P[v] instead of setting it");
    "am-fig8:no-initialise" => am::inductive::<Changed<Fig8, am::wrong::Fig8NoInitialise>>, wrong(DSM, "Fig. 8", "line 6 dropped");
    "am-fig8:no-pretending" => am::inductive::<Changed<Fig8, am::wrong::Fig8NoPretending>>, wrong(DSM, "Fig. 8", "lines 13 and 14 dropped");
    "am-fig8:queue-swapped" => am::inductive::<Changed<Fig8, am::wrong::Fig8QueueSwapped>>, wrong(DSM, "Fig. 8", "lines 5 and 6 swapped");
    "am-fig9:one-instance" => am::wrong::one_instance, gap(2, wrong(DSM_CAS, "Fig. 9", "one instance number for all levels"));
    "am-fig9:no-guard" => am::inductive::<Changed<Fig9, am::wrong::Fig9NoGuard>>, wrong(DSM_CAS, "Fig. 9", "line 3 dropped");
    "am-fig9:no-second-flag" => am::inductive::<Changed<Fig9, am::wrong::Fig9NoSecondFlag>>, wrong(DSM_CAS, "Fig. 9", "lines 15 and 16 dropped");
    "am-fig9:one-flag" => am::inductive::<Changed<Fig9, am::wrong::Fig9OneFlag>>, wrong(DSM_CAS, "Fig. 9", "line 12 dropped");
    "am-fig9:late-second-flag" => am::inductive::<Changed<Fig9, am::wrong::Fig9LateSecondFlag>>, wrong(DSM_CAS, "Fig. 9", "lines 9 and 10 swapped");
    "am-fig3+names:read-only" => |n, k| Changed::<_, am::wrong::NameReadOnly>::new(Named::new(am::inductive::<Fig3>(n, k))), wrong(CC_TAS, "Fig. 1 over Fig. 3", "line 3 of Figure 1 reads the bit and does not set it");
    "am-fig3+names:never-freed" => |n, k| Changed::<_, am::wrong::NameNeverFreed>::new(Named::new(am::inductive::<Fig3>(n, k))), wrong(CC_TAS, "Fig. 1 over Fig. 3", "line 5 of Figure 1 does not clear the bit");

    // Omori et al. 2002
    "omori-naive" => omori::naive, fragile(om("NAIVE", "Peterson's levels"));
    "omori-excl" => omori::excl, om("EXCL, Thm 4", "levels that count");
    "omori-gtex" => omori::gtex, om("GTEX, Thm 10", "tournament of groups");
    "omori-gtex:printed" => omori::wrong::gtex_printed, om_printed("GTEX", "gcheck's turn(p, q), one for all nodes of a depth, as printed");
    "omori-excl:no-turn" => |n, k| changed::<_, omori::wrong::NoTurn>(omori::excl, n, k), om_wrong("EXCL", "turn(s) := i dropped");
    "omori-excl:turn-first" => |n, k| changed::<_, omori::wrong::TurnFirst>(omori::excl, n, k), om_wrong("EXCL", "turn(s) := i before level(i) := s");
    "omori-excl:off-by-one" => omori::wrong::excl_off_by_one, om_wrong("EXCL", "count <= n-s is few enough");
    "omori-excl:count-kept" => |n, k| changed::<_, omori::wrong::CountKept>(omori::excl, n, k), om_wrong("EXCL", "check goes on counting from the last count");
    "omori-excl:no-first-level" => omori::wrong::excl_no_first_level, gap(2, om_wrong("EXCL", "level 1 left out"));
    "omori-excl:no-reset" => |n, k| changed::<_, omori::wrong::NoReset>(omori::excl, n, k), om_wrong("EXCL", "level(i) := 0 dropped");
    "omori-gtex:no-root" => omori::wrong::gtex_no_root, om_wrong("GTEX", "the competitions of the root left out");
    "omori-gtex:leaf-as-inner" => omori::wrong::gtex_leaf_as_inner, om_wrong("GTEX", "leaves compete like inner nodes, as for n = 2^t 2k");

    // Choi 2011
    "choi" => Choi::new, claims(tokens("tokens, N >= n cells"), cc!("Section 3.7.5, added up", "17 + ceil(log2 k) + 6 floor(log2 k)", |_, k, _| 17 + log2(k, 1) + 6 * u64::from(k.ilog2())));
    "choi-wide" => Choi::wide, tokens("tokens, N = kn/log2 k cells");
    "choi-narrow" => Choi::narrow, tokens("tokens, N = 2k cells");
    "choi-bounded" => Bounded::new, BOUNDED;
    "choi:printed" => Choi::printed, token(Standing::Printed, "all as printed");
    "choi:printed-wait" => Choi::printed_wait, token(Standing::Printed, "Wait-Set(0) as printed");
    "choi:printed-check" => Choi::printed_check, token(Standing::Printed, "line 8 as printed, Exit <= u + 2k");
    "choi-bounded:ageless" => Bounded::ageless, fails(Standing::Broken, Entry { title: "nothing keeps the ages of numbers", ..BOUNDED });
    "choi:once" => choi::wrong::once, token(Standing::Broken, "line 6 dropped");
    "choi:no-previous" => choi::wrong::no_previous, token(Standing::Broken, "{-1} dropped in line 4");
    "choi:descending" => choi::wrong::descending, token(Standing::Broken, "line 4 in descending order");
    "choi:own-cell" => choi::wrong::own_cell, token(Standing::Broken, "line 2 waits on the own cell alone");
    "choi:one-ahead" => choi::wrong::one_ahead, token(Standing::Broken, "line 3 adds k+1");
    "choi:one-behind" => choi::wrong::one_behind, token(Standing::Broken, "line 3 adds k-1");
    "choi:write" => choi::wrong::write, token(Standing::Broken, "line 9 writes");

    // Afek et al. 1994
    "afek" => Afek::<Uctss>::new, afek("on unbounded timestamps");
    "afek@linear" => Afek::<Linear>::new, at_most(<Linear as Timestamps>::MOST_PROCESSES, afek("on bounded timestamps in linear time"));
    "afek@quadratic" => Afek::<Quadratic>::new, at_most(<Quadratic as Timestamps>::MOST_PROCESSES, afek("on bounded timestamps in quadratic time"));
    "afek:printed" => Afek::<Uctss<true>>::new, fails(Standing::Printed, Entry { figure: "Fig. 2 over Fig. 1", ..afek("Label keeps a timestamp that equals the largest, as printed") });
    "afek:no-second-label" => |n, k| changed::<_, afek::wrong::NoSecondLabel>(Afek::<Uctss>::new, n, k), not_afek("line 12 dropped");
    "afek:no-label" => |n, k| changed::<_, afek::wrong::NoLabel>(Afek::<Uctss>::new, n, k), not_afek("line 2 dropped");
    "afek:late-flag" => |n, k| changed::<_, afek::wrong::LateFlag>(Afek::<Uctss>::new, n, k), not_afek("lines 1 and 2 swapped");
    "afek:everybody-counts" => |n, k| changed::<_, afek::wrong::EverybodyCounts>(Afek::<Uctss>::new, n, k), not_afek("line 4 takes everybody");
    "afek:no-second-look" => |n, k| changed::<_, afek::wrong::NoSecondLook>(Afek::<Uctss>::new, n, k), not_afek("line 6 dropped");
    "afek:one-too-many" => |n, k| changed::<_, afek::wrong::OneTooMany>(Afek::<Uctss>::new, n, k), not_afek("line 9 lets one more in");

    // Zehavi 2013, and the Bakery algorithm
    "zehavi" => Zehavi::<Uctss>::new, Entry { claims: ZEHAVI_CLAIMS, ..zehavi("on unbounded timestamps") };
    "zehavi@linear" => Zehavi::<Linear>::new, at_most(<Linear as Timestamps>::MOST_PROCESSES, Entry { claims: ZEHAVI_LINEAR_CLAIMS, ..zehavi("on bounded timestamps in linear time") });
    "zehavi@quadratic" => Zehavi::<Quadratic>::new, at_most(<Quadratic as Timestamps>::MOST_PROCESSES, zehavi("on bounded timestamps in quadratic time"));
    "bakery" => Bakery::new, BAKERY;
    "zehavi:one-cell" => |n, k| changed::<_, zehavi::wrong::OneCell>(Zehavi::<Uctss>::new, n, k), not_zehavi("one cell of Discover instead of two");
    "zehavi:no-ignore" => |n, k| changed::<_, zehavi::wrong::NoIgnore>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 11(a)ii does not read Ignore");
    "zehavi:no-discover" => |n, k| changed::<_, zehavi::wrong::NoDiscover>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 11(a)ii does not read Discover");
    "zehavi:no-compete" => |n, k| changed::<_, zehavi::wrong::NoCompete>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 11(a)i dropped");
    "zehavi:no-order" => |n, k| changed::<_, zehavi::wrong::NoOrder>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 11(a)ii dropped");
    "zehavi:no-allow" => |n, k| changed::<_, zehavi::wrong::NoAllow>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 12 dropped");
    "zehavi:no-cancel" => |n, k| changed::<_, zehavi::wrong::NoCancel>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 4c dropped");
    "zehavi:no-delete" => |n, k| changed::<_, zehavi::wrong::NoDelete>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 14 dropped");
    "zehavi:no-label" => |n, k| changed::<_, zehavi::wrong::NoLabel>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 3 dropped");
    "zehavi:no-retreat" => |n, k| changed::<_, zehavi::wrong::NoRetreat>(Zehavi::<Uctss>::new, n, k), not_zehavi("line 15 dropped");
    "zehavi:late-reveal" => |n, k| changed::<_, zehavi::wrong::LateReveal>(Zehavi::<Uctss>::new, n, k), not_zehavi("lines 5 and 6 swapped");
}
