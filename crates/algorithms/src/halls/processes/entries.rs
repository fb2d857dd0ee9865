//! The registry's entries of the protocol behind `SharedHall`.

use super::{Cast, MAX_PROCESSES, ProcessesModel, wrong};
use crate::{
    framework::changed::Changed,
    registry::{Entry, OURS, entries},
};

const SHARED: Entry = Entry::new(OURS, "SharedHall")
    .using("fetch-and-add, test-and-set, compare-and-swap")
    .waits_in_exit()
    .max_processes(MAX_PROCESSES)
    .max_k(8);

entries! {
    "shared" => |n, k| ProcessesModel::new(Cast::Plain, n, k), SHARED.fife().titled("members that nobody kills");
    "shared-mortal" => |n, k| ProcessesModel::new(Cast::Mortal, n, k), SHARED.fife().titled("anybody may be killed at any line");
    "shared-once" => |n, k| ProcessesModel::new(Cast::Once, n, k), SHARED.fife().titled("members that nobody kills, one passage each");
    "shared-mortal-once" => |n, k| ProcessesModel::new(Cast::MortalOnce, n, k), SHARED.fife().titled("anybody may be killed at any line, one passage each");
    "shared-timeout" => |n, k| ProcessesModel::new(Cast::Timeout, n, k), SHARED.titled("waiters give up at any time");
    "shared:no-ring" => |n, k| Changed::<_, wrong::NoRing>::new(ProcessesModel::new(Cast::Plain, n, k)), SHARED.fife().wrong("who has given a slot to a sleeper does not ring");
    "shared:no-service" => |n, k| Changed::<_, wrong::NoService>::new(ProcessesModel::new(Cast::Plain, n, k)), SHARED.fife().wrong("who leaves looks after nobody");
    "shared:unannounced" => |n, k| Changed::<_, wrong::Unannounced>::new(ProcessesModel::new(Cast::Plain, n, k)), SHARED.fife().wrong("line E6 dropped");
    "shared-mortal:no-second-look" => |n, k| Changed::<_, wrong::NoSecondLook>::new(ProcessesModel::new(Cast::Mortal, n, k)), SHARED.fife().wrong("who watches does not look again before it sleeps");
    "shared-mortal:not-mine" => |n, k| Changed::<_, wrong::NotMine>::new(ProcessesModel::new(Cast::Mortal, n, k)), SHARED.fife().wrong("line S7 does not notice what was given to itself");
}
