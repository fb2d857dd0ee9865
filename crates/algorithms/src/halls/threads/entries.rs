//! The registry's entries of the protocol behind `Hall`.

use super::{Barging, Cast, Fair, MAX_PROCESSES, Sleep, Wide, wrong, model};
use crate::{
    framework::changed::Changed,
    registry::{Entry, OURS, entries},
};

/// The protocol in any form: a process that stops while it holds the lock of the queue stops all.
const HALL: Entry = Entry::new(OURS, "hall")
    .using("fetch-and-add, test-and-set, compare-and-swap")
    .without_resilience()
    .max_processes(MAX_PROCESSES)
    .max_k(8);

/// First in, first enabled.
const FAIR: Entry = HALL.fife();

/// Newcomers may overtake waiters.
const BARGING: Entry = HALL.deadlock_free_only().waits_in_exit();

entries! {
    "hall" => |n, k| model(Fair, Cast::Plain, Sleep::Light, n, k), FAIR.titled("fast path and queue");
    "hall-sleep" => |n, k| model(Fair, Cast::Plain, Sleep::Deep, n, k), HALL.titled("a waiter looks only when it was rung for");
    "hall-many" => |n, k| model(Fair, Cast::Many, Sleep::Light, n, k), FAIR.titled("process 0 takes two slots");
    "hall-sleep-many" => |n, k| model(Fair, Cast::Many, Sleep::Deep, n, k), HALL.titled("process 0 takes two slots; a waiter looks only when rung for");
    "hall-timeout" => |n, k| model(Fair, Cast::Timeout, Sleep::Light, n, k), HALL.titled("waiters give up at any time");
    "hall-sleep-timeout" => |n, k| model(Fair, Cast::Timeout, Sleep::Deep, n, k), HALL.titled("waiters give up at any time; a waiter looks only when rung for");
    "hall-resize" => |n, k| model(Fair, Cast::Resize, Sleep::Light, n, k), HALL.titled("the last process takes a slot away and back");
    "hall-sleep-resize" => |n, k| model(Fair, Cast::Resize, Sleep::Deep, n, k), HALL.titled("the last process takes a slot away and back; a waiter looks only when rung for");
    "hall-close" => |n, k| model(Fair, Cast::Close, Sleep::Light, n, k), HALL.titled("the last process closes it");
    "hall-sleep-close" => |n, k| model(Fair, Cast::Close, Sleep::Deep, n, k), HALL.titled("the last process closes it; a waiter looks only when rung for");
    "hall-wide" => Wide::new, HALL.titled("more slots than fit into the word: a count, and names");
    "hall:no-count" => |n, k| Changed::<_, wrong::NoCount>::new(model(Fair, Cast::Plain, Sleep::Light, n, k)), FAIR.wrong("line 3 does not count the waiter");
    "hall:early-count" => |n, k| Changed::<_, wrong::EarlyCount>::new(model(Fair, Cast::Plain, Sleep::Light, n, k)), FAIR.wrong("a waiter is no longer counted before it has its grant");
    "hall:no-take" => |n, k| Changed::<_, wrong::NoTake>::new(model(Fair, Cast::Plain, Sleep::Light, n, k)), FAIR.wrong("what is granted stays free");
    "hall:barge" => |n, k| Changed::<_, wrong::Barge>::new(model(Fair, Cast::Plain, Sleep::Light, n, k)), FAIR.wrong("line 1 does not look whether anybody waits");
    "hall-sleep:no-ring" => |n, k| Changed::<_, wrong::NoRing>::new(model(Fair, Cast::Plain, Sleep::Deep, n, k)), FAIR.wrong("nobody is rung for");
    "hall-sleep:no-news" => |n, k| Changed::<_, wrong::NoNews>::new(model(Fair, Cast::Plain, Sleep::Deep, n, k)), FAIR.wrong("who serves does not look for news");
    "hall-sleep:deaf" => |n, k| Changed::<_, wrong::Deaf>::new(model(Fair, Cast::Plain, Sleep::Deep, n, k)), FAIR.wrong("who lies down does not hear what was rung before");
    "hall-timeout:blind" => |n, k| Changed::<_, wrong::Blind>::new(model(Fair, Cast::Timeout, Sleep::Light, n, k)), FAIR.wrong("who gives up does not look for a grant");
    "hall-resize:forgiving" => |n, k| Changed::<_, wrong::Forgiving>::new(model(Fair, Cast::Resize, Sleep::Light, n, k)), FAIR.wrong("what is held beyond the new size is not remembered");
    "hall-barging" => |n, k| model(Barging, Cast::Plain, Sleep::Light, n, k), BARGING.titled("who finds a slot free takes it");
    "hall-sleep-barging" => |n, k| model(Barging, Cast::Plain, Sleep::Deep, n, k), BARGING.titled("who finds a slot free takes it; a waiter looks only when rung for");
    "hall-sleep-barging-timeout" => |n, k| model(Barging, Cast::Timeout, Sleep::Deep, n, k), BARGING.titled("one may barge in, waiters give up at any time");
    "hall-sleep-barging-many" => |n, k| model(Barging, Cast::Many, Sleep::Deep, n, k), BARGING.titled("one may barge in, process 0 takes two slots");
    "hall-sleep-barging-resize" => |n, k| model(Barging, Cast::Resize, Sleep::Deep, n, k), BARGING.titled("one may barge in, the last process takes a slot away and back");
    "hall-sleep-barging-close" => |n, k| model(Barging, Cast::Close, Sleep::Deep, n, k), BARGING.titled("one may barge in, the last process closes it");
    "hall-sleep-barging:no-call" => |n, k| Changed::<_, wrong::NoCall>::new(model(Barging, Cast::Plain, Sleep::Deep, n, k)), BARGING.wrong("who leaves calls nobody");
}
