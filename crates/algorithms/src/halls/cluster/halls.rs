//! Every hall that there may be: the lab lists what a variable can hold.

use alloc::{vec, vec::Vec};

use super::{
    broken::Rules,
    model::Cast,
    register::{Hall, Mind, Slot},
};
use crate::framework::{memory::Pid, queue};

/// One slot less, if any is left then.
pub(super) fn fewer(k: usize) -> usize {
    (k - 1).max(1)
}

/// Whatever the store may have of a hall.
pub(super) fn all_halls<R: Rules>(cast: Cast, members: usize, k: usize) -> Vec<Hall> {
    let one_each = R::ASKS_RECEIVER && R::CLAIMS_ONCE; // no process has two claims
    let mut halls = vec![Hall::new(k)];
    for j in 0..k {
        extend(&mut halls, |hall| {
            let owners = (0..members).filter(|&p| !one_each || !owns(hall, p));
            let taken = owners.flat_map(|p| {
                let stale = (cast == Cast::Expiry).then_some(Slot::Stale(p));
                [Slot::Given(p), Slot::Held(p)].into_iter().chain(stale)
            });
            let left = cast.loses_claims().then_some(Slot::Left);
            let slots = taken.chain(left).chain([Slot::Free]);
            slots.map(|slot| with(hall, |hall| hall.slots[j] = slot)).collect()
        });
    }
    extend(&mut halls, |hall| {
        let may_wait = |queue: &Vec<Pid>| !one_each || !queue.iter().any(|&p| owns(hall, p));
        let queues = queue::contents(members).into_iter().filter(may_wait);
        queues.map(|queue| with(hall, |hall| hall.queue = queue)).collect()
    });
    for p in 0..members {
        extend(&mut halls, |hall| {
            let minds = Mind::ALL.into_iter().filter(|mind| match mind {
                Mind::Nothing => true,
                Mind::Asleep => hall.queue.contains(&p),
                Mind::First => !hall.queue.is_empty(),
            });
            minds.map(|mind| with(hall, |hall| hall.minds[p] = mind)).collect()
        });
    }
    match cast {
        Cast::Unheard => extend(&mut halls, |hall| {
            let unheard = (0..members).map(Some).chain([None]);
            unheard.map(|unheard| with(hall, |hall| hall.unheard = unheard)).collect()
        }),
        Cast::Timeout => extend(&mut halls, |hall| {
            [false, true].map(|clock| with(hall, |hall| hall.clock = clock)).into()
        }),
        Cast::Close => extend(&mut halls, |hall| {
            [false, true].map(|closed| with(hall, |hall| hall.closed = closed)).into()
        }),
        Cast::Resize if fewer(k) < k => extend(&mut halls, |hall| {
            [fewer(k), k].map(|size| with(hall, |hall| hall.size = size)).into()
        }),
        _ => {}
    }
    halls
}

/// Whether a slot is or was of `p`, who may be in.
pub(super) fn owns(hall: &Hall, p: Pid) -> bool {
    hall.slots.iter().any(|slot| {
        matches!(*slot, Slot::Given(owner) | Slot::Held(owner) | Slot::Stale(owner) if owner == p)
    })
}

/// Replaces each by what it may be.
fn extend(halls: &mut Vec<Hall>, each: impl FnMut(&Hall) -> Vec<Hall>) {
    *halls = halls.iter().flat_map(each).collect();
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
            broken::Sound,
            lines::{ClaimState, Line},
            register::transact,
            words::pack_line,
        },
        *,
    };

    #[test]
    fn a_claim_gets_the_smallest_slot_if_nobody_waits_and_none_otherwise() {
        for hall in all_halls::<Sound>(Cast::Expiry, 3, 3) {
            for (p, slot) in (0..3).flat_map(|p| (0..3).map(move |slot| (p, slot))) {
                if hall.standing(p) != ClaimState::Outside {
                    continue;
                }
                let argument = pack_line(p, Line::E1 { slot });
                let after = Hall::unpack(transact::<Sound>(hall.pack(), argument));
                let smallest = hall.slots.iter().position(|&slot| slot == Slot::Free);
                let expected = match smallest == Some(slot) && hall.queue.is_empty() {
                    true => ClaimState::Inside(slot),
                    false => ClaimState::Waiting,
                };
                assert_eq!(after.standing(p), expected, "{hall:?} {p} {slot}");
            }
        }
    }

    #[test]
    fn a_slot_is_given_to_the_first_in_line_and_to_nobody_else() {
        for hall in all_halls::<Sound>(Cast::Expiry, 3, 2) {
            for (p, slot, to) in [(0, 0, 1), (0, 1, 1), (1, 0, 0), (2, 1, 2)] {
                let argument = pack_line(p, Line::X2 { slot, to });
                let after = Hall::unpack(transact::<Sound>(hall.pack(), argument));
                let was_mine = hall.slots[slot] == Slot::Given(p);
                if hall.queue.first() == Some(&to) && hall.minds[p] == Mind::First && was_mine {
                    assert_eq!(after.slots[slot], Slot::Given(to), "{hall:?}");
                    assert_eq!(after.queue, hall.queue[1..], "{hall:?}");
                } else {
                    assert_eq!((after.slots, after.queue), (hall.slots, hall.queue.clone()));
                }
            }
        }
    }
}
