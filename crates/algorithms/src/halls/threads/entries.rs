//! The registry entries of the protocol behind `Hall`.

use super::{
    Barging, Cast, Casts, Fair, MAX_PROCESSES, Numbers, Sleep, Wide, bypass_model, model, wrong,
};
use crate::{
    framework::changed::Changed,
    registry::{Entry, OURS, entries},
};

/// The protocol in any form. A process that stops while it serves the queue blocks all others.
const HALL: Entry = Entry::new(OURS, "hall")
    .using("fetch-and-add, test-and-set, compare-and-swap")
    .without_resilience()
    .max_processes(MAX_PROCESSES)
    .max_k(8);

/// The model promises FIFE (first in, first enabled); see the [parent module](super).
const FAIR: Entry = HALL.fife();

/// Newcomers may overtake waiters.
const BARGING: Entry = HALL.deadlock_free_only().waits_in_exit();

/// One newcomer may overtake a waiter.
const BYPASS: Entry = HALL.bypass(1);

entries! {
    "hall" => |n, k| model(Fair, Casts::PLAIN, Sleep::Light, n, k), FAIR.titled("fast path and queue");
    "hall-sleep" => |n, k| model(Fair, Casts::PLAIN, Sleep::Deep, n, k), HALL.titled("a waiter looks for its slots only after it was woken");
    "hall-many" => |n, k| model(Fair, Cast::Many, Sleep::Light, n, k), FAIR.titled("process 0 takes two slots");
    "hall-sleep-many" => |n, k| model(Fair, Cast::Many, Sleep::Deep, n, k), HALL.titled("process 0 takes two slots; a waiter looks for its slots only after it was woken");
    "hall-timeout" => |n, k| model(Fair, Cast::Timeout, Sleep::Light, n, k), HALL.titled("waiters give up at any time");
    "hall-sleep-timeout" => |n, k| model(Fair, Cast::Timeout, Sleep::Deep, n, k), HALL.titled("waiters give up at any time; a waiter looks for its slots only after it was woken");
    "hall-resize" => |n, k| model(Fair, Cast::Resize, Sleep::Light, n, k), HALL.titled("the last process removes a slot and adds it again");
    "hall-sleep-resize" => |n, k| model(Fair, Cast::Resize, Sleep::Deep, n, k), HALL.titled("the last process removes a slot and adds it again; a waiter looks for its slots only after it was woken");
    "hall-close" => |n, k| model(Fair, Cast::Close, Sleep::Light, n, k), HALL.titled("the last process closes the hall");
    "hall-sleep-close" => |n, k| model(Fair, Cast::Close, Sleep::Deep, n, k), HALL.titled("the last process closes the hall; a waiter looks for its slots only after it was woken");
    "hall-sleep-timeout-resize" => |n, k| model(Fair, Cast::Timeout | Cast::Resize, Sleep::Deep, n, k), HALL.titled("waiters give up at any time; the last process removes a slot and adds it again");
    "hall-sleep-timeout-close" => |n, k| model(Fair, Cast::Timeout | Cast::Close, Sleep::Deep, n, k), HALL.titled("waiters give up at any time; the last process closes the hall");
    "hall-sleep-many-timeout" => |n, k| model(Fair, Cast::Many | Cast::Timeout, Sleep::Deep, n, k), HALL.titled("process 0 takes two slots; waiters give up at any time");
    "hall-sleep-many-close" => |n, k| model(Fair, Cast::Many | Cast::Close, Sleep::Deep, n, k), HALL.titled("process 0 takes two slots; the last process closes the hall");
    "hall-sleep-many-resize" => |n, k| model(Fair, Cast::Many | Cast::Resize, Sleep::Deep, n, k), HALL.titled("process 0 takes two slots; the last process removes a third slot and adds it again");
    "hall-sleep-resize-close" => |n, k| model(Fair, Cast::Resize | Cast::Close, Sleep::Deep, n, k), HALL.titled("the last process removes a slot, closes the hall, and resizes the closed hall");
    "hall-wide" => |n, k| Wide::<0>::new(Numbers::WORDS, Casts::PLAIN, n, k), HALL.titled("more slots than fit into the word: the word counts free slots, and other words have the slot numbers");
    "hall-wide-bits" => |n, k| Wide::<1>::new(Numbers::WORDS, Casts::PLAIN, n, k), HALL.titled("more slots than fit into the word: slot 0 is a bit of the word, and the word counts the other free slots");
    "hall-wide-bits-resize" => |n, k| Wide::<1>::new(Numbers::WORDS, Cast::Resize, n, k), HALL.titled("slot 0 is a bit of the word, and the word counts the other free slots; the last process removes a slot and adds it again");
    "hall-wide-groups" => |n, k| Wide::<0>::new(Numbers::GROUPS, Casts::PLAIN, n, k), HALL.titled("more slots than fit into the word: the search for a slot number goes past full groups");
    "hall:no-count" => |n, k| Changed::<_, wrong::NoCount>::new(model(Fair, Casts::PLAIN, Sleep::Light, n, k)), FAIR.wrong("line L3 does not count the waiter");
    "hall:no-second-look" => |n, k| Changed::<_, wrong::NoSecondLook>::new(model(Fair, Casts::PLAIN, Sleep::Light, n, k)), FAIR.wrong("a newcomer that has joined the queue does not look for free slots again");
    "hall:early-count" => |n, k| Changed::<_, wrong::EarlyCount>::new(model(Fair, Casts::PLAIN, Sleep::Light, n, k)), FAIR.wrong("a waiter stops being counted before it has its slots");
    "hall:no-take" => |n, k| Changed::<_, wrong::NoTake>::new(model(Fair, Casts::PLAIN, Sleep::Light, n, k)), FAIR.wrong("a slot that was granted to a waiter still counts as free");
    "hall:barge" => |n, k| Changed::<_, wrong::Barge>::new(model(Fair, Casts::PLAIN, Sleep::Light, n, k)), FAIR.wrong("line L1 does not check whether a process waits");
    "hall-sleep:no-ring" => |n, k| Changed::<_, wrong::NoRing>::new(model(Fair, Casts::PLAIN, Sleep::Deep, n, k)), FAIR.wrong("no waiter is woken");
    "hall-sleep:no-news" => |n, k| Changed::<_, wrong::NoNews>::new(model(Fair, Casts::PLAIN, Sleep::Deep, n, k)), FAIR.wrong("the server does not look for news");
    "hall-sleep:deaf" => |n, k| Changed::<_, wrong::Deaf>::new(model(Fair, Casts::PLAIN, Sleep::Deep, n, k)), FAIR.wrong("a wake-up that comes before the waiter sleeps is lost");
    "hall-timeout:blind" => |n, k| Changed::<_, wrong::Blind>::new(model(Fair, Cast::Timeout, Sleep::Light, n, k)), FAIR.wrong("a waiter that gives up does not check whether it has got its slots");
    "hall-resize:forgiving" => |n, k| Changed::<_, wrong::Forgiving>::new(model(Fair, Cast::Resize, Sleep::Light, n, k)), FAIR.wrong("slots held beyond the new size are forgotten");
    "hall-barging" => |n, k| model(Barging, Casts::PLAIN, Sleep::Light, n, k), BARGING.titled("a newcomer may overtake waiters");
    "hall-sleep-barging" => |n, k| model(Barging, Casts::PLAIN, Sleep::Deep, n, k), BARGING.titled("a newcomer may overtake waiters; a waiter looks for its slots only after it was woken");
    "hall-sleep-barging-timeout" => |n, k| model(Barging, Cast::Timeout, Sleep::Deep, n, k), BARGING.titled("newcomers may overtake; waiters give up at any time");
    "hall-sleep-barging-many" => |n, k| model(Barging, Cast::Many, Sleep::Deep, n, k), BARGING.titled("newcomers may overtake; process 0 takes two slots");
    "hall-sleep-barging-resize" => |n, k| model(Barging, Cast::Resize, Sleep::Deep, n, k), BARGING.titled("newcomers may overtake; the last process removes a slot and adds it again");
    "hall-sleep-barging-close" => |n, k| model(Barging, Cast::Close, Sleep::Deep, n, k), BARGING.titled("newcomers may overtake; the last process closes the hall");
    "hall-sleep-barging:no-call" => |n, k| Changed::<_, wrong::NoCall>::new(model(Barging, Casts::PLAIN, Sleep::Deep, n, k)), BARGING.wrong("a holder that leaves calls no waiter");
    "hall-bypass" => |n, k| bypass_model(1, Casts::PLAIN, Sleep::Light, n, k), BYPASS.titled("one newcomer may overtake a waiter");
    "hall-bypass2" => |n, k| bypass_model(2, Casts::PLAIN, Sleep::Light, n, k), HALL.bypass(2).titled("two newcomers may overtake a waiter");
    "hall-sleep-bypass" => |n, k| bypass_model(1, Casts::PLAIN, Sleep::Deep, n, k), HALL.titled("one newcomer may overtake a waiter; a waiter looks for its slots only after it was woken");
    "hall-sleep-bypass-many" => |n, k| bypass_model(1, Cast::Many, Sleep::Deep, n, k), HALL.titled("one newcomer may overtake a waiter; process 0 takes two slots");
    "hall-sleep-bypass-timeout" => |n, k| bypass_model(1, Cast::Timeout, Sleep::Deep, n, k), HALL.titled("one newcomer may overtake a waiter; waiters give up at any time");
    "hall-sleep-bypass-resize" => |n, k| bypass_model(1, Cast::Resize, Sleep::Deep, n, k), HALL.titled("one newcomer may overtake a waiter; the last process removes a slot and adds it again");
    "hall-sleep-bypass-close" => |n, k| bypass_model(1, Cast::Close, Sleep::Deep, n, k), HALL.titled("one newcomer may overtake a waiter; the last process closes the hall");
    "hall-bypass:free" => |n, k| Changed::<_, wrong::Free>::new(bypass_model(1, Casts::PLAIN, Sleep::Light, n, k)), BYPASS.wrong("line B3 does not use up a credit");
    "hall-bypass:no-look" => |n, k| Changed::<_, wrong::NoLook>::new(bypass_model(1, Casts::PLAIN, Sleep::Light, n, k)), BYPASS.wrong("the server assigns a slot even if a newcomer has taken it");
}
