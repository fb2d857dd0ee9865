//! The registry entries of the protocol behind `ClusterHall`: claims in a store such as etcd.

use super::{
    Cast, ClusterModel, MAX_PROCESSES, MAX_SLOTS,
    wrong::{self, wrong, wrong_with_any_claims},
};
use crate::registry::{Entry, OURS, entries};

const CLAIMS: Entry =
    Entry::new(OURS, "claims").using("transactions").max_processes(MAX_PROCESSES).max_k(MAX_SLOTS);

entries! {
    "etcd" => |n, k| ClusterModel::new(Cast::Plain, n, k), CLAIMS.fife().titled("claims on a store");
    "etcd-mortal" => |n, k| ClusterModel::new(Cast::Mortal, n, k), CLAIMS.fife().titled("any process may be killed at any line").without_resilience();
    "etcd-expiry" => |n, k| ClusterModel::new(Cast::Expiry, n, k), CLAIMS.titled("any lease may end at any line").without_resilience();
    "etcd-unheard" => |n, k| ClusterModel::new(Cast::Unheard, n, k), CLAIMS.fife().titled("any connection may break at any line");
    "etcd-timeout" => |n, k| ClusterModel::new(Cast::Timeout, n, k), CLAIMS.fife().titled("waiters give up; the last process is the clock");
    "etcd-try" => |n, k| ClusterModel::new(Cast::Try, n, k), CLAIMS.titled("the last process does not wait").deadlock_free_only();
    "etcd-resize" => |n, k| ClusterModel::new(Cast::Resize, n, k), CLAIMS.fife().titled("the last process removes a slot and adds it again").without_resilience();
    "etcd-close" => |n, k| ClusterModel::new(Cast::Close, n, k), CLAIMS.fife().titled("the last process closes the hall");
    "etcd:barging" => |n, k| wrong::<wrong::Barging>(Cast::Plain, n, k), CLAIMS.fife().wrong("line E1 takes a free slot although others wait");
    "etcd:blind" => |n, k| wrong_with_any_claims::<wrong::Blind>(Cast::Plain, n, k), CLAIMS.fife().wrong("lines E3 and X2 give a slot to a claim that may have left the queue");
    "etcd:selfish" => |n, k| wrong::<wrong::Selfish>(Cast::Plain, n, k), CLAIMS.fife().wrong("a holder that leaves frees its slot although others wait");
    "etcd:quiet" => |n, k| wrong::<wrong::Quiet>(Cast::Plain, n, k), CLAIMS.fife().wrong("line X3 frees a slot and wakes only the head of the queue");
    "etcd-expiry:trusting" => |n, k| wrong::<wrong::Trusting>(Cast::Expiry, n, k), CLAIMS.fife().wrong("a slot is reassigned as soon as its holder's lease has ended");
    "etcd-expiry:generous" => |n, k| wrong::<wrong::Generous>(Cast::Expiry, n, k), CLAIMS.fife().wrong("lines X2 and X3 do not check that the slot is still the holder's");
    "etcd-mortal:idle" => wrong::idle, CLAIMS.fife().wrong("the head of the queue does not watch the claims of holders");
    "etcd-mortal:dreaming" => wrong::dreaming, CLAIMS.fife().wrong("a waiter does not watch the claim before it");
    "etcd-unheard:twice" => |n, k| wrong_with_any_claims::<wrong::Twice>(Cast::Unheard, n, k), CLAIMS.fife().wrong("line E1 claims again after a lost answer");
    "etcd-timeout:careless" => |n, k| wrong::<wrong::Careless>(Cast::Timeout, n, k), CLAIMS.fife().wrong("line E4 does not check whether the process was given a slot");
}
