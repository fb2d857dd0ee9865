//! Compares the set with a set of the standard library.

use std::{collections::HashSet, ops::ControlFlow};

use super::*;

/// Inserts states one batch at a time and returns those that were new.
fn insert<const W: usize>(
    set: &CompactSet<'_, W>,
    states: &[[u64; W]],
) -> Result<Vec<[u64; W]>, OutOfMemory> {
    let mut batches: Vec<Vec<(Local, [u64; W])>> = vec![Vec::new(); SEGMENTS];
    for state in states {
        let (segment, local) = set.address(state);
        batches[usize::from(segment)].push((local, *state));
    }
    let mut new = Vec::new();
    for (segment, batch) in (0..).zip(&batches) {
        set.insert_all(segment, batch, |state| *state, &mut new)?;
    }
    Ok(new)
}

/// Inserts random states, some of them again and again, and compares every answer.
fn compare<const W: usize>(widths: [u32; W], rounds: usize) {
    let memory = Memory::new(u64::MAX);
    let set = CompactSet::new(widths, &memory);
    let mut known = HashSet::new();
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..rounds {
        let states: Vec<[u64; W]> = (0..5000)
            .map(|_| {
                // States of a model differ in few bits, and many of them are found several times.
                let spread = random.u32(1..=64);
                widths.map(|width| {
                    let word = random.u64(..) >> random.u32(0..spread).min(63);
                    if width == 0 { 0 } else { word & (u64::MAX >> (64 - width)) }
                })
            })
            .collect();
        let mut new = insert(&set, &states).unwrap();
        let mut expected: Vec<_> =
            states.iter().copied().filter(|&state| known.insert(state)).collect();
        new.sort_unstable();
        expected.sort_unstable();
        assert_eq!(new, expected, "{widths:?}, round {round}");
        assert_eq!(set.len(), known.len() as u64);
    }
    let all: Vec<_> = known.into_iter().collect();
    assert_eq!(insert(&set, &all).unwrap(), [] as [[u64; W]; 0], "every state is still known");
}

#[test]
fn the_set_agrees_with_a_hash_set() {
    for bits in [1, 7, 8, 9, 16, 24, 33, 44, 63, 64] {
        compare([bits], 20);
    }
    compare([64, 17], 20);
    compare([61, 64, 0, 0], 20);
    compare([40, 0, 0, 0], 20);
    compare([64, 64, 64, 64], 20);
}

#[test]
fn every_state_of_a_small_width_fits() {
    for bits in 0..=18 {
        let memory = Memory::new(u64::MAX);
        let set = CompactSet::new([bits], &memory);
        let all: Vec<[u64; 1]> = (0..1 << bits).map(|state| [state]).collect();
        assert_eq!(insert(&set, &all).unwrap().len(), all.len());
        assert_eq!(insert(&set, &all).unwrap().len(), 0);
    }
}

#[test]
fn neighbouring_addresses_fill_a_line_and_stay_distinct() {
    // All these addresses have the same line until the segment has grown many times.
    let mut segment = Segment::<1>::new(30, [38], 0.0);
    for address in 0..3000 {
        while segment.insert(address, &[0]) == Insertion::NoRoom {
            segment.grow(segment.widths());
        }
    }
    assert_eq!(segment.len(), 3000);
    assert!((0..3000).all(|address| segment.insert(address, &[0]) == Insertion::Known));
    assert_eq!(segment.insert(3000, &[0]), Insertion::New);
}

#[test]
fn addresses_at_the_end_wrap_around_to_the_first_line() {
    let mut segment = Segment::<2>::new(20, [28, 9], 0.5);
    let last = (1 << 20) - 1;
    for other in 0..200 {
        while segment.insert(last, &[0, other]) == Insertion::NoRoom {
            segment.grow(segment.widths());
        }
    }
    for other in 0..200 {
        assert_eq!(segment.insert(last, &[0, other]), Insertion::Known, "{other}");
    }
    assert_eq!(segment.len(), 200);
}

#[test]
fn the_set_stays_within_its_memory() {
    let memory = Memory::new(4 << 20);
    let set = CompactSet::new([44], &memory);
    let mut inserted = 0;
    let refused = (0..1000u64).find(|round| {
        let states: Vec<[u64; 1]> =
            (0..10_000).map(|index| [(round * 10_000 + index) * 12_345 % (1 << 44)]).collect();
        insert(&set, &states).inspect(|new| inserted += new.len()).is_err()
    });
    assert!(refused.is_some());
    assert!(memory.peak() <= 4 << 20);
    assert!(inserted > 500_000, "an entry takes less than 8 bytes: {inserted}");
}

#[test]
fn a_set_of_many_states_takes_few_bytes_for_each() {
    let memory = Memory::new(u64::MAX);
    let set = CompactSet::new([40], &memory);
    let states: Vec<[u64; 1]> = (0..2_000_000).map(|state| [state * 3]).collect();
    assert_eq!(insert(&set, &states).unwrap().len(), states.len());
    let bytes = memory.peak() as f64 / states.len() as f64;
    assert!(bytes < 5.0, "{bytes} bytes per state");
}

#[test]
fn threads_agree_on_what_is_new() {
    let memory = Memory::new(u64::MAX);
    let set = CompactSet::new([36], &memory);
    let new: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3u64)
            .map(|thread| {
                let set = &set;
                scope.spawn(move || {
                    let parts = (0..50u64).map(|part| {
                        let states: Vec<[u64; 1]> =
                            (0..1000).map(|index| [(part + thread) * 1000 + index]).collect();
                        insert(set, &states).unwrap().len()
                    });
                    parts.sum::<usize>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(new, 52_000);
}

/// Returns random states. Many of them are equal.
fn random_states<const W: usize>(
    widths: [u32; W],
    count: usize,
    random: &mut fastrand::Rng,
) -> Vec<[u64; W]> {
    let mask = |width: u32| u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0);
    let spread = random.u64(1..=2 * count as u64);
    (0..count)
        .map(|_| {
            let seed = random.u64(0..spread);
            let mut word = 0;
            widths.map(|width| {
                word = (word ^ seed).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(29) ^ seed;
                word & mask(width)
            })
        })
        .collect()
}

/// Two threads insert common states, and states that only one of them has, while the segments grow. Then every
/// answer is compared with a set of the standard library: which states were new, how many there are, and which states
/// have a number. Each state must have its own number.
fn compare_two_threads<const W: usize>(widths: [u32; W], seed: u64) {
    let memory = Memory::new(u64::MAX);
    let set = CompactSet::new(widths, &memory);
    let mut random = fastrand::Rng::with_seed(seed);
    let common = random_states(widths, 30_000, &mut random);
    let parts = [(); 2].map(|()| {
        let mut part = random_states(widths, 30_000, &mut random);
        part.extend(&common);
        random.shuffle(&mut part);
        part
    });
    let found: Vec<[u64; W]> = std::thread::scope(|scope| {
        let threads = parts.each_ref().map(|part| {
            let set = &set;
            scope.spawn(move || {
                let batches = part.chunks(997).map(|states| insert(set, states).unwrap());
                batches.flatten().collect::<Vec<_>>()
            })
        });
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let expected: HashSet<[u64; W]> = parts.iter().flatten().copied().collect();
    assert_eq!(found.len(), expected.len(), "{widths:?}: no state is new twice");
    assert_eq!(found.iter().copied().collect::<HashSet<_>>(), expected, "{widths:?}");
    assert_eq!(set.len(), expected.len() as u64);

    let absent = random_states(widths, 30_000, &mut random);
    let numbered = set.into_numbered(u64::MAX, &AtomicBool::new(false)).unwrap();
    let mut seen = vec![false; expected.len()];
    for state in &expected {
        let id = numbered.find(state).expect("the set has this state");
        assert_eq!(numbered.get(id), *state, "{widths:?}");
        assert!(!std::mem::replace(&mut seen[id as usize], true), "each state has its own number");
    }
    for state in &absent {
        assert_eq!(numbered.find(state).is_some(), expected.contains(state), "{widths:?}");
    }
    let mut count = 0;
    for segment in 0..=LAST_SEGMENT {
        let each = |id, state| {
            assert_eq!(numbered.find(&state), Some(id));
            count += 1;
            ControlFlow::<()>::Continue(())
        };
        assert!(numbered.try_for_each_in(segment, each).is_continue());
    }
    assert_eq!(count, expected.len());
}

#[test]
fn two_threads_insert_exactly_the_states_they_are_given() {
    for seed in 0..4 {
        for bits in [3, 6, 7, 12, 17, 18, 31, 32, 33, 47, 63, 64] {
            compare_two_threads([bits], seed);
        }
        compare_two_threads([64, 1], seed);
        compare_two_threads([40, 64], seed);
        compare_two_threads([64, 64, 23, 0], seed);
        compare_two_threads([59, 61, 64, 62], seed);
    }
}

/// Returns a set of 10,000 states.
fn ten_thousand(memory: &Memory) -> CompactSet<'_, 1> {
    let set = CompactSet::new([40], memory);
    let states: Vec<[u64; 1]> = (0..10_000).map(|state| [state * 5]).collect();
    insert(&set, &states).unwrap();
    set
}

#[test]
fn too_many_states_for_numbers_are_not_reported_as_a_lack_of_memory() {
    let stop = AtomicBool::new(false);
    let memory = Memory::new(u64::MAX);
    let number = |most| ten_thousand(&memory).into_numbered(most, &stop).map(|states| states.len());
    assert_eq!(number(10_000), Ok(10_000));
    assert_eq!(number(9_999), Err(Ended::States));
    let nothing = Memory::new(0);
    let set = CompactSet { memory: &nothing, ..ten_thousand(&memory) };
    assert_eq!(set.into_numbered(10_000, &stop).map(|_| ()), Err(Ended::Memory));
}

#[test]
fn numbering_ends_when_it_is_told_to() {
    let memory = Memory::new(u64::MAX);
    let stopped = ten_thousand(&memory).into_numbered(u64::MAX, &AtomicBool::new(true));
    assert_eq!(stopped.map(|_| ()), Err(Ended::Stopped));
}

#[test]
fn a_loop_over_the_states_ends_where_it_breaks() {
    let memory = Memory::new(u64::MAX);
    let numbered = ten_thousand(&memory).into_numbered(u64::MAX, &AtomicBool::new(false)).unwrap();
    let mut seen = 0;
    let broken = numbered.try_for_each_in(3, |id, _| {
        seen += 1;
        if seen == 10 { ControlFlow::Break(id) } else { ControlFlow::Continue(()) }
    });
    assert!(broken.is_break());
    assert_eq!(seen, 10);
}

#[test]
fn a_segment_is_exact_until_it_is_full() {
    let mut random = fastrand::Rng::with_seed(3);
    for bits in [10, 13, 20, 37, 58] {
        for other in [0, 5, 64] {
            let mut segment = Segment::<2>::new(bits, [bits + SEGMENT_BITS, other], 0.7);
            for _ in 0..4 {
                segment.grow(segment.widths());
            }
            let mut known = HashSet::new();
            let mask = u64::MAX.checked_shr(u64::BITS - other).unwrap_or(0);
            let mut entry = || {
                // Neighbouring addresses crowd some lines.
                let address = random.u64(..) >> (u64::BITS - bits);
                (address & !random.u64(0..4), [0, random.u64(..) & mask])
            };
            for _ in 0..20_000 {
                let (address, state) = entry();
                let is_known = known.contains(&(address, state[1]));
                assert_eq!(segment.find(address, &state).is_some(), is_known, "{bits}, {other}");
                match segment.insert(address, &state) {
                    Insertion::NoRoom => break,
                    Insertion::New => assert!(known.insert((address, state[1]))),
                    Insertion::Known => assert!(is_known, "{bits}, {other}"),
                }
            }
            assert_eq!(segment.len(), known.len());
            assert!(
                known.iter().all(|&(address, word)| segment.find(address, &[0, word]).is_some())
            );
            assert!(
                segment.grow(segment.widths()) || segment.grow(segment.widths()),
                "a larger segment has room for all"
            );
            assert!(
                known.iter().all(|&(address, word)| segment.find(address, &[0, word]).is_some())
            );
        }
    }
}
