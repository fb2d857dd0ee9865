//! The registry entries of the protocol behind `ClusterHall`: claims in a store such as etcd.

use super::{
    Cast::*,
    Casts, ClusterModel, MAX_PROCESSES, MAX_SLOTS,
    wrong::{self, wrong, wrong_with_any_claims},
};
use crate::registry::{Entry, OURS, entries};

const CLAIMS: Entry =
    Entry::new(OURS, "claims").using("transactions").max_processes(MAX_PROCESSES).max_k(MAX_SLOTS);

/// Models in which each of two processes takes two slots at once.
const PAIRS: Entry = CLAIMS.without_resilience();

entries! {
    "etcd" => |n, k| ClusterModel::new(Casts::PLAIN, n, k), CLAIMS.fife().titled("claims on a store");
    "etcd-mortal" => |n, k| ClusterModel::new(Mortal, n, k), CLAIMS.fife().titled("any process may be killed at any line").without_resilience();
    "etcd-expiry" => |n, k| ClusterModel::new(Expiry, n, k), CLAIMS.titled("any lease may end at any line").without_resilience();
    "etcd-unheard" => |n, k| ClusterModel::new(Unheard, n, k), CLAIMS.fife().titled("any connection may break at any line");
    "etcd-late" => |n, k| ClusterModel::new(Late, n, k), CLAIMS.fife().titled("any request may hang and arrive later");
    "etcd-late-timeout" => |n, k| ClusterModel::new(Late | Timeout, n, k), CLAIMS.fife().titled("any request may hang and arrive later; waiters give up");
    "etcd-late-try" => |n, k| ClusterModel::new(Late | Try, n, k), CLAIMS.titled("any request may hang and arrive later; one process does not wait").deadlock_free_only();
    "etcd-late-remake" => |n, k| ClusterModel::new(Late | Remake, n, k), CLAIMS.titled("any request may hang while the hall is removed by force and created again").deadlock_free_only();
    "etcd-timeout" => |n, k| ClusterModel::new(Timeout, n, k), CLAIMS.fife().titled("waiters give up; the last process is the clock");
    "etcd-try" => |n, k| ClusterModel::new(Try, n, k), CLAIMS.titled("the last process does not wait").deadlock_free_only();
    "etcd-resize" => |n, k| ClusterModel::new(Resize, n, k), CLAIMS.fife().titled("the last process removes a slot and adds it again").without_resilience();
    "etcd-close" => |n, k| ClusterModel::new(Close, n, k), CLAIMS.fife().titled("the last process closes the hall");
    "etcd-expiry-try" => |n, k| ClusterModel::new(Expiry | Try, n, k), CLAIMS.titled("any lease may end; the last process does not wait").deadlock_free_only();
    "etcd-mortal-try" => |n, k| ClusterModel::new(Mortal | Try, n, k), CLAIMS.titled("any process may be killed; the last process does not wait").deadlock_free_only();
    "etcd-expiry-timeout" => |n, k| ClusterModel::new(Expiry | Timeout, n, k), CLAIMS.titled("any lease may end; waiters give up").without_resilience();
    "etcd-unheard-timeout" => |n, k| ClusterModel::new(Unheard | Timeout, n, k), CLAIMS.fife().titled("any connection may break; waiters give up");
    "etcd-expiry-resize" => |n, k| ClusterModel::new(Expiry | Resize | HandOver, n, k), CLAIMS.titled("any lease may end; the last process resizes the hall and hands slots over").without_resilience();
    "etcd-expiry-reap" => |n, k| ClusterModel::new(Expiry | Reap, n, k), CLAIMS.titled("any lease may end; the last process reassigns the slots of vanished holders").without_resilience();
    "etcd-expiry-attach" => |n, k| ClusterModel::new(Expiry | Attach, n, k), CLAIMS.titled("any lease may end; holders create their claims again").without_resilience();
    "etcd-remake" => |n, k| ClusterModel::new(Remake, n, k), CLAIMS.titled("the last process removes the hall by force and creates it again").deadlock_free_only();
    "etcd-wipe" => |n, k| ClusterModel::new(Wipe, n, k), CLAIMS.titled("the store loses its history").deadlock_free_only();
    "etcd-restore" => |n, k| ClusterModel::new(BackUp | Restore | OldLeases, n, k), CLAIMS.titled("the store is restored from a backup").deadlock_free_only().without_resilience();
    "etcd-restore-expiry" => |n, k| ClusterModel::new(Expiry | BackUp | Restore | OldLeases, n, k), CLAIMS.titled("any lease may end; the store is restored from a backup").deadlock_free_only().without_resilience();
    "etcd-restore-mortal" => |n, k| ClusterModel::new(Mortal | BackUp | Restore | OldLeases, n, k), CLAIMS.titled("any process may be killed; the store is restored from a backup").deadlock_free_only().without_resilience();
    "etcd-restore-try" => |n, k| ClusterModel::new(Try | BackUp | Restore | OldLeases, n, k), CLAIMS.titled("the store is restored from a backup; one process does not wait").deadlock_free_only().without_resilience();
    "etcd-pairs" => |n, k| ClusterModel::new(Pairs, n, k), PAIRS.fife().titled("each of two processes takes two slots at once");
    "etcd-pairs-expiry" => |n, k| ClusterModel::new(Pairs | Expiry, n, k), PAIRS.titled("each of two processes takes two slots at once; any lease may end");
    "etcd-pairs-mortal" => |n, k| ClusterModel::new(Pairs | Mortal, n, k), PAIRS.fife().titled("each of two processes takes two slots at once; any process may be killed");
    "etcd-pairs-try" => |n, k| ClusterModel::new(Pairs | Try, n, k), PAIRS.titled("each of two processes takes two slots at once; the last process does not wait").deadlock_free_only();
    "etcd:barging" => |n, k| wrong::<wrong::Barging>(Casts::PLAIN, n, k), CLAIMS.fife().wrong("line E1 takes a free slot even if others wait");
    "etcd:blind" => |n, k| wrong_with_any_claims::<wrong::Blind>(Casts::PLAIN, n, k), CLAIMS.fife().wrong("lines E3 and X2 give a slot to a claim that may have left the queue");
    "etcd:selfish" => |n, k| wrong::<wrong::Selfish>(Casts::PLAIN, n, k), CLAIMS.fife().wrong("a holder that leaves frees its slot even if others wait");
    "etcd:quiet" => |n, k| wrong::<wrong::Quiet>(Casts::PLAIN, n, k), CLAIMS.fife().wrong("line X3 frees a slot and wakes only the head of the queue");
    "etcd-expiry:trusting" => |n, k| wrong::<wrong::Trusting>(Expiry, n, k), CLAIMS.fife().wrong("a slot is reassigned as soon as its holder's lease has ended");
    "etcd-expiry:generous" => |n, k| wrong::<wrong::Generous>(Expiry, n, k), CLAIMS.fife().wrong("lines X2 and X3 do not check that the process still has the slot");
    "etcd-mortal:idle" => wrong::idle, CLAIMS.fife().wrong("the head of the queue does not watch the claims of holders");
    "etcd-mortal:dreaming" => wrong::dreaming, CLAIMS.fife().wrong("a waiter does not watch the claim before it");
    "etcd-unheard:twice" => |n, k| wrong_with_any_claims::<wrong::Twice>(Unheard, n, k), CLAIMS.fife().wrong("line E1 claims again after a lost answer");
    "etcd-expiry-reap:eager" => wrong::eager, CLAIMS.wrong("a slot is reaped as soon as its claim is gone");
    "etcd-late:unbound" => wrong::unbound, CLAIMS.wrong("a request that hung takes effect even if its claim is gone");
    "etcd-remake:thorough" => wrong::thorough, CLAIMS.wrong("a hall that is removed by force loses the records of its slots");
    "etcd-wipe:hasty" => wrong::hasty, CLAIMS.wrong("slots are assigned immediately after the store has lost its history");
    "etcd-restore:deaf" => wrong::deaf, CLAIMS.wrong("processes drop the answers of a restored store as if they were late");
    "etcd-restore:generous" => |n, k| wrong::<wrong::Generous>(BackUp | Restore | OldLeases, n, k), CLAIMS.wrong("after a restore, lines X2 and X3 do not check that the process still has the slot");
    "etcd-late-remake:deluded" => wrong::deluded, CLAIMS.wrong("a holder whose claim waits in a new hall continues");
    "etcd-pairs:barging" => |n, k| wrong::<wrong::Barging>(Pairs, n, k), PAIRS.fife().wrong("line E1 takes a free slot although the head of the queue needs two");
    "etcd-pairs:partial" => |n, k| wrong_with_any_claims::<wrong::Partial>(Pairs, n, k), PAIRS.fife().wrong("line E1 lets a process that takes two slots enter with one");
    "etcd-timeout:careless" => |n, k| wrong::<wrong::Careless>(Timeout, n, k), CLAIMS.fife().wrong("line E4 does not check whether the process was given a slot");
}
