//! Random wide states in and out, while the dictionaries grow.

use std::{
    collections::{HashMap, HashSet},
    ops::ControlFlow,
    sync::atomic::AtomicBool,
};

use super::*;
use crate::compact::{CompactSet, LAST_SEGMENT, SEGMENTS};

/// Parts that cross words and have gaps. The last one is wider than a word.
const PARTS: [[u64; 3]; 4] = [
    [0x0000_0000_ffff_ffff, 0x00ff, 0],
    [0x00f0_f0f0_0000_0000, 0, 0],
    [0xff0f_0f0f_0000_0000, 0xff00, 0],
    [0, 0xffff_ffff_ffff_0000, u64::MAX],
];

/// Returns a state. Each part has one of `values` values, of which the first is 0.
fn random_state(random: &mut fastrand::Rng, values: u64) -> [u64; 3] {
    let mut state = [0; 3];
    for mask in PARTS {
        let mut word = random.u64(..values).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for (state, mask) in state.iter_mut().zip(mask) {
            word = word.rotate_left(25).wrapping_mul(0xd6e8_feb8_6659_fd93);
            *state |= word & mask;
        }
    }
    state
}

#[test]
fn codes_stay_the_same_while_the_dictionaries_grow() {
    let memory = Memory::new(u64::MAX);
    let codes = Codes::new(&PARTS, &memory).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let mut known: HashMap<[u64; 3], Code> = HashMap::new();
    for round in 0..14 {
        for _ in 0..500 {
            let state = random_state(&mut random, 1 << round);
            let code = codes.encode(&state, &memory).unwrap();
            assert_eq!(*known.entry(state).or_insert(code), code);
            assert!(code.iter().zip(MOST_CODE_BITS).all(|(word, bits)| word >> bits == 0));
        }
        for (state, code) in &known {
            assert_eq!(codes.state(code), *state, "round {round}");
            assert_eq!(codes.find(state), Some(*code), "round {round}");
        }
    }
    let different: HashSet<Code> = known.values().copied().collect();
    assert_eq!(different.len(), known.len(), "different states have different codes");
    assert!(different.iter().any(|code| code[1] != 0), "some codes have a second word");
    let bytes: u64 = codes.dictionaries.iter().map(Dictionary::bytes).sum();
    assert_eq!(memory.used(), bytes);
}

#[test]
fn a_code_takes_the_parts_that_did_not_change_from_another_code() {
    let memory = Memory::new(u64::MAX);
    let codes = Codes::new(&PARTS, &memory).unwrap();
    let mut random = fastrand::Rng::with_seed(2);
    let mut before = ([0; 3], codes.encode(&[0; 3], &memory).unwrap());
    for step in 0..20_000 {
        let (mask, other) = (PARTS[step % 4], random_state(&mut random, 1 << (step / 1500)));
        let mut state = before.0;
        for (word, (mask, other)) in state.iter_mut().zip(mask.iter().zip(other)) {
            *word = *word & !mask | other & mask;
        }
        let code = codes.encode_like(&state, (&before.0, before.1), &memory).unwrap();
        assert_eq!(codes.find(&state), Some(code));
        assert_eq!(codes.find_like(&state, (&before.0, before.1)), Some(code));
        assert_eq!(codes.state(&code), state);
        before = (state, code);
    }
}

#[test]
fn an_unknown_state_has_no_code() {
    let memory = Memory::new(u64::MAX);
    let codes = Codes::new(&PARTS, &memory).unwrap();
    codes.encode(&[1, 2, 3], &memory).unwrap();
    assert!(codes.find(&[1, 2, 3]).is_some());
    assert_eq!(codes.find(&[2, 2, 3]), None);
    assert_eq!(codes.find(&[1, 2, 4]), None);
}

#[test]
fn threads_agree_on_codes() {
    let memory = Memory::new(u64::MAX);
    let codes = Codes::new(&PARTS, &memory).unwrap();
    let found: Vec<HashMap<[u64; 3], Code>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|thread| {
                let (codes, memory) = (&codes, &memory);
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(thread);
                    let state = |_| random_state(&mut random, 5_000);
                    let states: Vec<_> = (0..30_000).map(state).collect();
                    let code = |state: &[u64; 3]| codes.encode(state, memory).unwrap();
                    states.iter().map(|state| (*state, code(state))).collect()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut states = HashMap::new();
    for (state, code) in found.iter().flatten() {
        assert_eq!(codes.find(state), Some(*code));
        assert_eq!(codes.state(code), *state);
        assert_eq!(*states.entry(code).or_insert(state), state, "each state has its own code");
    }
    assert!(codes.dictionaries.iter().all(|dictionary| dictionary.len() <= 5_000));
}

#[test]
fn a_code_that_would_be_too_long_is_refused() {
    let memory = Memory::new(u64::MAX);
    let parts: Vec<[u64; 2]> =
        (0..128).map(|bit| if bit < 64 { [1 << bit, 0] } else { [0, 1 << (bit - 64)] }).collect();
    let codes = Codes::new(&parts, &memory).unwrap();
    for bits in 0..=96 {
        let state = [u64::MAX, (1u64 << 32) - 1].map(|word| word >> (96 - bits).min(63));
        let code = codes.encode(&state, &memory).unwrap();
        assert_eq!(codes.state(&code), state);
    }
    assert_eq!(codes.encode(&[u64::MAX, u64::MAX], &memory), Err(NoCode::Bits));
    assert_eq!(codes.encode(&[1, 1], &memory).map(|code| codes.state(&code)), Ok([1, 1]));
}

#[test]
fn dictionaries_stay_within_the_memory() {
    let memory = Memory::new(1 << 20);
    let codes = Codes::new(&PARTS, &memory).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let mut known = Vec::new();
    let failed = (0..1_000_000).find_map(|_| {
        let state = random_state(&mut random, 1 << 40);
        let code = codes.encode(&state, &memory).inspect(|_| known.push(state));
        code.err()
    });
    assert_eq!(failed, Some(NoCode::Memory));
    assert!(memory.peak() <= 1 << 20);
    assert!(known.len() > 1_000);
    assert!(known.iter().all(|state| codes.find(state).is_some()));
    assert!(!codes.are_too_large(0), "the dictionaries are small");
}

#[test]
fn dictionaries_are_too_large_if_they_take_much_memory_for_each_state() {
    let memory = Memory::new(u64::MAX);
    let codes = Codes::new(&PARTS, &memory).unwrap();
    let mut random = fastrand::Rng::with_seed(4);
    while memory.used() < SMALL {
        codes.encode(&random_state(&mut random, 1 << 40), &memory).unwrap();
    }
    let most = (memory.used() - SMALL) * STATES_PER_BYTE;
    assert!(!codes.are_too_large(most));
    assert!(codes.are_too_large(most - STATES_PER_BYTE));
}

/// Inserts codes one batch at a time and returns those that were new.
fn insert(set: &CompactSet<'_, 2>, codes: &[Code]) -> Vec<Code> {
    let mut batches = vec![Vec::new(); SEGMENTS];
    for code in codes {
        let (segment, local) = set.address(code);
        batches[usize::from(segment)].push((local, *code));
    }
    let mut new = Vec::new();
    for (segment, batch) in (0..).zip(&batches) {
        set.insert_all(segment, batch, |code| *code, &mut new).unwrap();
    }
    new
}

/// Two threads insert codes while both the dictionaries and the segments grow. The segments get wider at different
/// times.
#[test]
fn a_set_of_codes_has_exactly_the_states_it_was_given() {
    let memory = Memory::new(u64::MAX);
    let codes = Codes::new(&PARTS, &memory).unwrap();
    let set = CompactSet::of_codes(&memory);
    let parts: Vec<Vec<[u64; 3]>> = (0..2)
        .map(|thread| {
            let mut random = fastrand::Rng::with_seed(thread);
            let values = |index: u64| 2 + index * index / 100_000;
            (0..30_000).map(|index| random_state(&mut random, values(index))).collect()
        })
        .collect();
    let new: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = parts
            .iter()
            .map(|states| {
                let (codes, set, memory) = (&codes, &set, &memory);
                scope.spawn(move || {
                    let code = |state: &[u64; 3]| codes.encode(state, memory).unwrap();
                    let batch = |batch: &[[u64; 3]]| {
                        insert(set, &batch.iter().map(code).collect::<Vec<_>>()).len()
                    };
                    states.chunks(997).map(batch).sum::<usize>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    let expected: HashSet<[u64; 3]> = parts.iter().flatten().copied().collect();
    assert_eq!(new, expected.len(), "no state is new twice");
    let all: Vec<Code> = expected.iter().map(|state| codes.find(state).unwrap()).collect();
    assert!(all.iter().any(|code| code[1] >> 8 != 0), "segments have become wider");
    assert_eq!(insert(&set, &all), [] as [Code; 0], "every state is still known");

    let stop = AtomicBool::new(false);
    let numbered = set.into_numbered_states(codes, u64::MAX, &stop).unwrap();
    assert_eq!(numbered.len() as usize, expected.len());
    let mut seen = vec![false; expected.len()];
    for segment in 0..=LAST_SEGMENT {
        let each = |id, state| {
            assert!(expected.contains(&state));
            assert_eq!(numbered.find(&state), Some(id));
            assert_eq!(numbered.get(id), state);
            assert!(!std::mem::replace(&mut seen[id as usize], true));
            ControlFlow::<()>::Continue(())
        };
        assert!(numbered.try_for_each_in(segment, each).is_continue());
    }
    assert!(seen.iter().all(|&seen| seen));
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..30_000 {
        let state = random_state(&mut random, 9_000);
        assert_eq!(numbered.find(&state).is_some(), expected.contains(&state));
    }
}
