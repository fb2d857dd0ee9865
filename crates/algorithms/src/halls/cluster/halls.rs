//! Lists every state of the hall that can occur. In the model the whole hall is one shared variable, and the lab
//! needs all values of a variable.

use alloc::{boxed::Box, vec, vec::Vec};

use super::{
    hall::{Backup, Hall, Knowledge, Late, MAX_SLOTS, Slot},
    lines::{Line::*, Was},
    model::{Cast, Casts},
};
use crate::framework::{memory::Pid, queue};

/// Returns the size of a hall with `k` slots after one slot was removed. At least one slot remains.
pub(super) fn fewer(k: usize) -> usize {
    (k - 1).max(1)
}

/// States of a hall, one at a time. A large model has too many of them to keep all in memory.
pub(super) type Halls = Box<dyn Iterator<Item = Hall>>;

/// Lists all states of the hall in which no process has two claims (invariant I5).
pub(super) fn all_halls(casts: Casts, competitors: usize, k: usize) -> Halls {
    halls(casts, competitors, k, true)
}

/// Lists all states of the hall, including those in which a process has more than one claim.
pub(super) fn halls_with_any_claims(casts: Casts, competitors: usize, k: usize) -> Halls {
    halls(casts, competitors, k, false)
}

fn halls(casts: Casts, competitors: usize, k: usize, one_each: bool) -> Halls {
    let empty = Hall { pairs: casts.has(Cast::Pairs) && k > 1, ..Hall::new(k) };
    let mut halls: Halls = Box::new([empty].into_iter());
    for j in 0..k {
        halls = extend(halls, move |hall| {
            let owners =
                (0..competitors).filter(|&p| !one_each || !owns(hall, p) || hall.take(p) > 1);
            let taken = owners.flat_map(|p| {
                let stale = casts.has_stale_holders().then_some(Slot::Stale(p));
                [Slot::Given(p), Slot::Held(p)].into_iter().chain(stale)
            });
            let ghost = casts.has(Cast::Restore).then_some(Slot::Given(competitors));
            let left = casts.loses_claims().then_some(Slot::Left);
            let slots = taken.chain(ghost).chain(left).chain([Slot::Free]);
            slots.map(|slot| with(hall, |hall| hall.slots[j] = slot)).collect()
        });
    }
    halls = extend(halls, move |hall| {
        // Process number `competitors` stands for all owners of claims in a backup, so it may both own a slot and
        // wait.
        let has_one = |p: &Pid| *p == competitors || !owns(hall, *p);
        let may_wait = |queue: &Vec<Pid>| !one_each || queue.iter().all(has_one);
        let claimants = competitors + usize::from(casts.has(Cast::Restore));
        let queues = queue::contents(claimants).into_iter().filter(may_wait);
        queues.map(|queue| with(hall, |hall| hall.queue = queue)).collect()
    });
    for p in 0..competitors {
        halls = extend(halls, move |hall| {
            let knowledge = Knowledge::ALL.into_iter().filter(|known| match known {
                Knowledge::Nothing => true,
                Knowledge::Asleep => hall.queue.contains(&p),
                Knowledge::Head => !hall.queue.is_empty(),
            });
            knowledge.map(|known| with(hall, |hall| hall.known[p] = known)).collect()
        });
    }
    if casts.has(Cast::Unheard) {
        halls = extend(halls, move |hall| {
            let unheard = (0..competitors).map(Some).chain([None]);
            unheard.map(|unheard| with(hall, |hall| hall.unheard = unheard)).collect()
        });
    }
    if casts.has(Cast::Late) {
        let late = late_requests(casts, competitors, k);
        halls = extend(halls, move |hall| {
            late.iter().map(|&late| with(hall, |hall| hall.late = late)).collect()
        });
    }
    if casts.has(Cast::BackUp) {
        halls = extend(halls, move |hall| {
            let backups = backups(k).map(|backup| with(hall, |hall| hall.backup = backup));
            backups.collect()
        });
    }
    if casts.has(Cast::Timeout) {
        halls = extend(halls, move |hall| {
            [false, true].map(|clock| with(hall, |hall| hall.clock = clock)).into()
        });
    }
    if casts.has(Cast::Close) {
        halls = extend(halls, move |hall| {
            [false, true].map(|closed| with(hall, |hall| hall.closed = closed)).into()
        });
    }
    if casts.has(Cast::Resize) && fewer(k) < k {
        halls = extend(halls, move |hall| {
            [fewer(k), k].map(|size| with(hall, |hall| hall.size = size)).into()
        });
    }
    halls
}

/// Lists all values of [`Late`]: no request hangs, the next request of a process will hang, or a request hangs.
fn late_requests(casts: Casts, competitors: usize, k: usize) -> Vec<Late> {
    let mut lines = vec![E4];
    for slot in 0..k {
        lines.extend([E1 { slot }, X3 { slot, anyway: false }, X3 { slot, anyway: true }]);
        if casts.has(Cast::Try) {
            lines.extend([T1 { slot }, T2 { slot }]);
        }
        for to in 0..competitors {
            let stale = casts.loses_claims().then_some(Was::Stale);
            let gifts = [Was::Free].into_iter().chain(stale);
            lines.extend(gifts.map(|was| E3 { slot, was, to }).chain([X2 { slot, to }]));
        }
    }
    let sent = (0..competitors).flat_map(|from| {
        lines.iter().flat_map(move |&line| {
            [false, true].map(|is_bound| Late::Sent { from, line, is_bound })
        })
    });
    [Late::Nothing].into_iter().chain((0..competitors).map(Late::Next)).chain(sent).collect()
}

/// Lists all backups of a hall with `k` slots, and `None` for no backup.
fn backups(k: usize) -> impl Iterator<Item = Option<Backup>> {
    let taken =
        move |bits: usize| core::array::from_fn::<_, MAX_SLOTS, _>(|j| j < k && bits >> j & 1 == 1);
    let with_slots = (0..1 << k).map(taken);
    let all = with_slots.flat_map(|taken| [false, true].map(|waits| Some(Backup { taken, waits })));
    all.chain([None])
}

/// Returns whether a slot is assigned to `p`, or was assigned to `p` and `p` may still use it.
pub(super) fn owns(hall: &Hall, p: Pid) -> bool {
    hall.slots.iter().any(|slot| {
        matches!(*slot, Slot::Given(owner) | Slot::Held(owner) | Slot::Stale(owner) if owner == p)
    })
}

/// Replaces each hall with all halls that `each` returns for it.
fn extend(halls: Halls, each: impl Fn(&Hall) -> Vec<Hall> + 'static) -> Halls {
    Box::new(halls.flat_map(move |hall| each(&hall)))
}

fn with(hall: &Hall, change: impl FnOnce(&mut Hall)) -> Hall {
    let mut hall = hall.clone();
    change(&mut hall);
    hall
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            lines::{ClaimState, Line},
            register::transact,
            words::pack_line,
        },
        *,
    };

    #[test]
    fn a_claim_gets_the_smallest_slot_only_if_nobody_waits() {
        for hall in all_halls(Cast::Expiry.into(), 3, 3) {
            for (p, slot) in (0..3).flat_map(|p| (0..3).map(move |slot| (p, slot))) {
                if hall.claim_state(p) != ClaimState::Absent {
                    continue;
                }
                let argument = pack_line(p, Line::E1 { slot });
                let after = Hall::unpack(transact(hall.pack(), argument));
                let smallest = hall.slots.iter().position(|&slot| slot == Slot::Free);
                let expected = match smallest == Some(slot) && hall.queue.is_empty() {
                    true => ClaimState::Holding(slot),
                    false => ClaimState::Waiting,
                };
                assert_eq!(after.claim_state(p), expected, "{hall:?} {p} {slot}");
            }
        }
    }

    #[test]
    fn a_slot_is_given_only_to_the_head_of_the_queue() {
        for hall in all_halls(Cast::Expiry.into(), 3, 2) {
            for (p, slot, to) in [(0, 0, 1), (0, 1, 1), (1, 0, 0), (2, 1, 2)] {
                let argument = pack_line(p, Line::X2 { slot, to });
                let after = Hall::unpack(transact(hall.pack(), argument));
                let was_mine = hall.slots[slot] == Slot::Given(p);
                if hall.queue.first() == Some(&to) && hall.known[p] == Knowledge::Head && was_mine {
                    assert_eq!(after.slots[slot], Slot::Given(to), "{hall:?}");
                    assert_eq!(after.queue, hall.queue[1..], "{hall:?}");
                } else {
                    assert_eq!((after.slots, after.queue), (hall.slots, hall.queue.clone()));
                }
            }
        }
    }
}
