//! The registry's entries of the protocol behind `ClusterHall`: claims in a store such as etcd.

use super::{
    Cast, ClusterModel, MAX_PROCESSES, MAX_SLOTS,
    wrong::{self, wrong, wrong_with_any_claims},
};
use crate::registry::{Entry, OURS, entries};

const CLAIMS: Entry = Entry::new(OURS, "claims")
    .using("transactions")
    .max_processes(MAX_PROCESSES)
    .max_k(MAX_SLOTS);

entries! {
    "etcd" => |n, k| ClusterModel::new(Cast::Plain, n, k), CLAIMS.fife().titled("claims on a store");
    "etcd-mortal" => |n, k| ClusterModel::new(Cast::Mortal, n, k), CLAIMS.fife().titled("anybody may be killed at any line").without_resilience();
    "etcd-expiry" => |n, k| ClusterModel::new(Cast::Expiry, n, k), CLAIMS.titled("anybody's lease may end at any line").without_resilience();
    "etcd-unheard" => |n, k| ClusterModel::new(Cast::Unheard, n, k), CLAIMS.fife().titled("anybody's connection may break at any line");
    "etcd-timeout" => |n, k| ClusterModel::new(Cast::Timeout, n, k), CLAIMS.fife().titled("waiters give up; the last process is the clock");
    "etcd-try" => |n, k| ClusterModel::new(Cast::Try, n, k), CLAIMS.titled("the last process does not wait").deadlock_free_only();
    "etcd-resize" => |n, k| ClusterModel::new(Cast::Resize, n, k), CLAIMS.fife().titled("the last process takes a slot away and back").without_resilience();
    "etcd-close" => |n, k| ClusterModel::new(Cast::Close, n, k), CLAIMS.fife().titled("the last process closes it");
    "etcd:barging" => |n, k| wrong::<wrong::Barging>(Cast::Plain, n, k), CLAIMS.fife().wrong("line E1 does not look whether others wait");
    "etcd:blind" => |n, k| wrong_with_any_claims::<wrong::Blind>(Cast::Plain, n, k), CLAIMS.fife().wrong("a slot is given to one that may have gone");
    "etcd:selfish" => |n, k| wrong::<wrong::Selfish>(Cast::Plain, n, k), CLAIMS.fife().wrong("who leaves frees its slot, whoever waits");
    "etcd:quiet" => |n, k| wrong::<wrong::Quiet>(Cast::Plain, n, k), CLAIMS.fife().wrong("who frees a slot that others wait for tells the first of them alone");
    "etcd-expiry:trusting" => |n, k| wrong::<wrong::Trusting>(Cast::Expiry, n, k), CLAIMS.fife().wrong("a slot is given on as soon as a lease has ended");
    "etcd-expiry:generous" => |n, k| wrong::<wrong::Generous>(Cast::Expiry, n, k), CLAIMS.fife().wrong("who leaves does not look whether its slot is still its own");
    "etcd-mortal:idle" => wrong::idle, CLAIMS.fife().wrong("the first in line does not watch who is inside");
    "etcd-mortal:dreaming" => wrong::dreaming, CLAIMS.fife().wrong("who waits does not watch who is before it");
    "etcd-unheard:twice" => |n, k| wrong_with_any_claims::<wrong::Twice>(Cast::Unheard, n, k), CLAIMS.fife().wrong("line E1 claims again");
    "etcd-timeout:careless" => |n, k| wrong::<wrong::Careless>(Cast::Timeout, n, k), CLAIMS.fife().wrong("line E4 does not look whether it was given a slot");
}
