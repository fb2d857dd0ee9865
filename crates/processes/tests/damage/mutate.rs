//! Damage to files.

use std::{
    fs::OpenOptions,
    ops::Range,
    os::unix::fs::FileExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;

const WORD: usize = 8;
const PAGE: usize = 4096;

/// Values at the limits of arithmetic and of tables.
const EDGES: [u64; 12] = [
    0,
    1,
    2,
    64,
    1023,
    1024,
    u16::MAX as u64,
    i32::MAX as u64,
    u32::MAX as u64,
    i64::MAX as u64,
    u64::MAX - 1,
    u64::MAX,
];

/// Returns all pairs of a word of the first page that is not zero, and a value of [`EDGES`] that replaces it.
pub fn edges_of_header(bytes: &[u8]) -> Vec<(usize, u64)> {
    let words = used(&bytes[..PAGE]).into_iter();
    words.flat_map(|at| EDGES.map(|value| (at, value))).collect()
}

/// Writes a word.
pub fn set(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + WORD].copy_from_slice(&value.to_ne_bytes());
}

/// Makes some random changes. Returns a description of them.
pub fn several(bytes: &mut Vec<u8>, random: &mut Rng) -> String {
    let count = if random.bool() { 1 } else { random.usize(1..6) };
    let done: Vec<String> = (0..count).map(|_| once(bytes, random)).collect();
    done.join(", ")
}

fn once(bytes: &mut Vec<u8>, random: &mut Rng) -> String {
    if bytes.len() < 2 * WORD {
        bytes.resize(2 * WORD, 0);
    }
    match random.u8(0..20) {
        0..6 => {
            let (at, byte) = (spot(bytes, random), random.u8(..));
            bytes[at] = byte;
            format!("byte {at:#x} = {byte:#x}")
        }
        6..13 => {
            let (at, value) = (word(bytes, random), value(bytes, random));
            set(bytes, at, value);
            format!("word {at:#x} = {value:#x}")
        }
        13 => {
            let (at, value) = (word(bytes, random), random.u32(..));
            bytes[at..at + WORD / 2].copy_from_slice(&value.to_ne_bytes());
            format!("half a word at {at:#x} = {value:#x}")
        }
        14..16 => {
            let range = range(bytes, random, PAGE);
            random.fill(&mut bytes[range.clone()]);
            format!("{range:#x?} random")
        }
        16 => {
            let start = spot(bytes, random) / PAGE * PAGE;
            let end = bytes.len().min(start + PAGE);
            random.fill(&mut bytes[start..end]);
            format!("page {start:#x} random")
        }
        17 => {
            let range = range(bytes, random, 2 * PAGE);
            bytes[range.clone()].fill(random.choice([0, 0xff]).expect("there are two"));
            format!("{range:#x?} filled with one byte")
        }
        18 => {
            let length = random.usize(0..bytes.len());
            bytes.truncate(length);
            format!("truncated to {length}")
        }
        _ => {
            let length = bytes.len() + random.usize(1..3 * PAGE);
            bytes.resize(length, random.u8(..));
            format!("extended to {length}")
        }
    }
}

/// Returns the offsets of the words that are not zero.
fn used(bytes: &[u8]) -> Vec<usize> {
    let words = bytes.chunks(WORD).enumerate();
    words.filter(|(_, word)| word.iter().any(|byte| *byte != 0)).map(|(at, _)| at * WORD).collect()
}

/// Returns a random offset, preferably at or near a word that is not zero.
fn spot(bytes: &[u8], random: &mut Rng) -> usize {
    match (random.u8(0..4), random.choice(used(bytes))) {
        (0, _) | (_, None) => random.usize(0..bytes.len()),
        // The protocol also uses zeros near such a word.
        (_, Some(at)) => (at + random.usize(0..2 * WORD)).min(bytes.len() - 1),
    }
}

/// Returns the offset of a random word.
fn word(bytes: &[u8], random: &mut Rng) -> usize {
    (spot(bytes, random) / WORD * WORD).min(bytes.len() - WORD)
}

fn range(bytes: &[u8], random: &mut Rng, max: usize) -> Range<usize> {
    let start = spot(bytes, random);
    start..(start + random.usize(1..max)).min(bytes.len())
}

/// Returns a random value: a limit, another word of the file, that word with a small change, or any number.
fn value(bytes: &[u8], random: &mut Rng) -> u64 {
    let at = word(bytes, random);
    let other = u64::from_ne_bytes(bytes[at..at + WORD].try_into().expect("a word's length"));
    match random.u8(0..6) {
        0 => EDGES[random.usize(0..EDGES.len())],
        1 => EDGES[random.usize(0..EDGES.len())] << 32 | EDGES[random.usize(0..EDGES.len())],
        2 => other,
        3 => other.wrapping_add(random.choice([1, u64::MAX]).expect("there are two")),
        4 => other ^ 1 << random.u32(0..64),
        _ => random.u64(..),
    }
}

/// The time after which [`live`] begins no further round of changes.
const LIVE: Duration = Duration::from_millis(150);

/// Changes words of the file for a while, at a random rate.
pub fn live(path: &Path, random: &mut Rng) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let pause = Duration::from_micros(random.choice([20, 500, 10_000]).expect("there are some"));
    let end = Instant::now() + LIVE;
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    while Instant::now() < end {
        file.read_exact_at(&mut bytes, 0).unwrap();
        for _ in 0..10 {
            let (at, value) = (word(&bytes, random), value(&bytes, random));
            file.write_all_at(&value.to_ne_bytes(), at as u64).unwrap();
            thread::sleep(pause);
        }
    }
}

/// Truncates the file, and perhaps restores its length.
pub fn truncate(path: &Path, random: &mut Rng) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let whole = file.metadata().unwrap().len();
    thread::sleep(Duration::from_millis(random.u64(0..20)));
    let to = if random.bool() { 0 } else { random.u64(0..whole) };
    file.set_len(to).unwrap();
    thread::sleep(Duration::from_millis(random.u64(0..20)));
    if random.bool() {
        file.set_len(whole).unwrap();
    }
}
