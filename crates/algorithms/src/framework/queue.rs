//! A queue of processes in one word.

use alloc::{vec, vec::Vec};

use crate::framework::memory::{Pid, Word};

/// A queue is stored as a number in this base. Each digit is a process number plus one; the lowest digit is the head of
/// the queue. The digit zero ends the queue.
const BASE: Word = 16;

/// Returns the word that holds this queue, head first.
pub fn pack(queue: &[Pid]) -> Word {
    queue.iter().rev().fold(0, |rest, &p| rest * BASE + p as Word + 1)
}

/// Returns the queue in this word, head first.
pub fn unpack(mut word: Word) -> Vec<Pid> {
    let mut queue = Vec::new();
    while word > 0 {
        queue.push((word % BASE - 1) as Pid);
        word /= BASE;
    }
    queue
}

/// Returns the queue in which `new` has replaced every process number.
pub fn renamed(word: Word, new: impl Fn(Pid) -> Pid) -> Word {
    pack(&unpack(word).into_iter().map(new).collect::<Vec<_>>())
}

pub(crate) fn push(word: Word, p: Word) -> Word {
    let mut queue = unpack(word);
    queue.push(p as Pid);
    pack(&queue)
}

pub(crate) fn pop(word: Word, _: Word) -> Word {
    word / BASE
}

pub(crate) fn remove(word: Word, p: Word) -> Word {
    let mut queue = unpack(word);
    queue.retain(|&other| other != p as Pid);
    pack(&queue)
}

/// Returns all possible queues of `n` processes. A queue contains each process at most once, in any order.
pub fn contents(n: usize) -> Vec<Vec<Pid>> {
    let mut all: Vec<Vec<Pid>> = vec![vec![]];
    let mut next = 0;
    while next < all.len() {
        for p in (0..n).filter(|p| !all[next].contains(p)).collect::<Vec<_>>() {
            let mut longer = all[next].clone();
            longer.push(p);
            all.push(longer);
        }
        next += 1;
    }
    all
}
