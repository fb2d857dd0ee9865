//! The registry entries of the protocol behind `SharedHall`.

use super::{Cast, Casts, MAX_PROCESSES, ProcessesModel, wrong};
use crate::{
    framework::changed::Changed,
    registry::{Entry, OURS, entries},
};

const SHARED: Entry = Entry::new(OURS, "SharedHall")
    .using("fetch-and-add, test-and-set, compare-and-swap")
    .max_processes(MAX_PROCESSES)
    .max_k(8);

entries! {
    "shared" => |n, k| ProcessesModel::new(Casts::PLAIN, n, k), SHARED.fife().titled("no process is killed");
    "shared-reduced" => |n, k| ProcessesModel::reduced(Casts::PLAIN, n, k), SHARED.fife().leaves_out_steps().titled("no process is killed; fewer steps and states");
    "shared-reduced:no-service" => |n, k| Changed::<_, wrong::NoService>::new(ProcessesModel::reduced(Casts::PLAIN, n, k)), SHARED.fife().leaves_out_steps().wrong("a leaving process does not serve waiters");
    "shared-reduced:unannounced" => |n, k| Changed::<_, wrong::Unannounced>::new(ProcessesModel::reduced(Casts::PLAIN, n, k)), SHARED.fife().leaves_out_steps().wrong("line E6 dropped");
    "shared-mortal" => |n, k| ProcessesModel::new(Cast::Mortal, n, k), SHARED.fife().titled("any process may be killed at any line");
    "shared-once" => |n, k| ProcessesModel::new(Cast::Once, n, k), SHARED.fife().titled("no process is killed, one passage each");
    "shared-mortal-once" => |n, k| ProcessesModel::new(Cast::Mortal | Cast::Once, n, k), SHARED.fife().titled("any process may be killed at any line, one passage each");
    "shared-timeout" => |n, k| ProcessesModel::new(Cast::Timeout, n, k), SHARED.titled("waiters give up at any time");
    "shared-many-once" => |n, k| ProcessesModel::many(Cast::Once, n, k), SHARED.fife().titled("2k slots; every process wants two; one passage each");
    "shared-many-mortal-once" => |n, k| ProcessesModel::many(Cast::Mortal | Cast::Once, n, k), SHARED.fife().titled("2k slots; every process wants two; any process may be killed at any line; one passage each");
    "shared-shrunk-once" => |n, k| ProcessesModel::shrunk(Cast::Once, n, k), SHARED.fife().titled("the hall has shrunk by one slot, which process 0 holds; one passage each");
    "shared-shrunk-mortal-once" => |n, k| ProcessesModel::shrunk(Cast::Mortal | Cast::Once, n, k), SHARED.fife().titled("the hall has shrunk by one slot, which process 0 holds; any process may be killed at any line; one passage each");
    "shared-close" => |n, k| ProcessesModel::new(Cast::Close, n, k), SHARED.titled("the last process closes the hall");
    "shared-timeout-close" => |n, k| ProcessesModel::new(Cast::Timeout | Cast::Close, n, k), SHARED.titled("waiters give up at any time; the last process closes the hall");
    "shared-mortal-once-close" => |n, k| ProcessesModel::new(Cast::Mortal | Cast::Once | Cast::Close, n, k), SHARED.titled("any process may be killed at any line, one passage each; the last process closes the hall");
    "shared-shrunk-once:uncounted" => |n, k| Changed::<_, wrong::Uncounted>::new(ProcessesModel::shrunk(Cast::Once, n, k)), SHARED.fife().wrong("lines N1 to N4 dropped");
    "shared-many-once:each-takes-a-part" => |n, k| Changed::<_, wrong::EachTakesAPart>::new(ProcessesModel::many(Cast::Once, n, k)), SHARED.fife().wrong("lines H1 to H3 dropped; line S7 passes over slots that are set aside for another waiter");
    "shared:no-ring" => |n, k| Changed::<_, wrong::NoRing>::new(ProcessesModel::new(Casts::PLAIN, n, k)), SHARED.fife().wrong("a process that gives a slot to a sleeping waiter does not ring");
    "shared:no-service" => |n, k| Changed::<_, wrong::NoService>::new(ProcessesModel::new(Casts::PLAIN, n, k)), SHARED.fife().wrong("a leaving process does not serve waiters");
    "shared:unannounced" => |n, k| Changed::<_, wrong::Unannounced>::new(ProcessesModel::new(Casts::PLAIN, n, k)), SHARED.fife().wrong("line E6 dropped");
    "shared:stubborn-leaver" => |n, k| Changed::<_, wrong::StubbornLeaver>::new(ProcessesModel::new(Casts::PLAIN, n, k)), SHARED.fife().wrong("a leaving process reads a slot again after line S8");
    "shared:secret-sleep" => |n, k| Changed::<_, wrong::SecretSleep>::new(ProcessesModel::new(Casts::PLAIN, n, k)), SHARED.fife().wrong("a waiter does not mark that it sleeps");
    "shared-once:trustful-leaver" => |n, k| Changed::<_, wrong::TrustfulLeaver>::new(ProcessesModel::new(Cast::Once, n, k)), SHARED.fife().wrong("a leaving process does not ring for a waiter that was just given a slot");
    "shared-mortal:mark-first" => |n, k| Changed::<_, wrong::MarkFirst>::new(ProcessesModel::new(Cast::Mortal, n, k)), SHARED.fife().wrong("a process marks that it has rung before it rings");
    "shared-mortal:no-second-look" => |n, k| Changed::<_, wrong::NoSecondLook>::new(ProcessesModel::new(Cast::Mortal, n, k)), SHARED.fife().wrong("a waiter does not look again before it sleeps");
    "shared-mortal:not-mine" => |n, k| Changed::<_, wrong::NotMine>::new(ProcessesModel::new(Cast::Mortal, n, k)), SHARED.fife().wrong("line S7 does not notice a slot given to the process itself");
}
