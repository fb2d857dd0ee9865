//! Packs the shared state into few bytes, because a search keeps many shared states.

use hallpass_algorithms::Word;

use super::{
    object::Operation,
    state::{CopyState, SharedState, StoredAnswer},
};

const NOTHING: u8 = u8::MAX;

fn pack_operation(operation: Operation) -> u8 {
    operation.process << 4 | operation.which
}

fn unpack_operation(byte: u8) -> Operation {
    Operation { process: byte >> 4, which: byte & 15 }
}

fn small(word: Word) -> u8 {
    u8::try_from(word).expect("normal forms have small words")
}

fn long(bytes: &mut Vec<u8>, word: Word) {
    bytes.extend(u32::try_from(word).expect("normal forms have small numbers").to_le_bytes());
}

/// Packs a shared state in normal form.
pub fn pack(shared: &SharedState) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(192);
    bytes.extend([small(shared.head), small(shared.flips)]);
    bytes.extend(shared.taken.to_le_bytes());
    shared.requests.iter().for_each(|&request| long(&mut bytes, request));
    bytes.extend(shared.guards.iter().chain(&shared.marks).map(|&word| small(word)));
    bytes.extend(shared.buffers.iter().map(|buffer| buffer.map_or(NOTHING, pack_operation)));
    let is_empty = |copy: &CopyState| *copy == CopyState::default();
    for copy in &shared.copies {
        if is_empty(copy) {
            bytes.push(NOTHING);
            continue;
        }
        let version = u8::try_from(copy.version).expect("normal forms have small versions");
        bytes.extend([copy.batch.len() as u8, copy.answers.len() as u8]);
        bytes.extend([copy.value.unwrap_or(NOTHING), copy.served, copy.previous, version]);
        bytes.extend(copy.batch.iter().copied().map(pack_operation));
        for answer in &copy.answers {
            bytes.extend([answer.process, answer.answer]);
            long(&mut bytes, answer.request);
        }
    }
    bytes
}

struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        *self.0.next().expect("as many bytes as were packed")
    }
    fn long(&mut self) -> Word {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte())).into()
    }
    fn bytes<T>(&mut self, count: usize, each: impl Fn(u8) -> T) -> Vec<T> {
        (0..count).map(|_| each(self.byte())).collect()
    }
}

/// Restores a shared state from its bytes.
pub fn unpack(bytes: &[u8], k: usize, copies: usize) -> SharedState {
    let mut bytes = Bytes(bytes.iter());
    SharedState {
        head: bytes.byte().into(),
        flips: bytes.byte().into(),
        taken: u16::from_le_bytes([bytes.byte(), bytes.byte()]),
        requests: (0..k).map(|_| bytes.long()).collect(),
        guards: bytes.bytes(k, Word::from),
        marks: bytes.bytes(k, Word::from),
        buffers: bytes.bytes(k * k, |byte| (byte != NOTHING).then(|| unpack_operation(byte))),
        copies: (0..copies).map(|_| unpack_copy(&mut bytes)).collect(),
    }
}

fn unpack_copy(bytes: &mut Bytes<'_>) -> CopyState {
    let batch = bytes.byte();
    if batch == NOTHING {
        return CopyState::default();
    }
    let (batch, answers) = (batch.into(), bytes.byte());
    CopyState {
        value: Some(bytes.byte()).filter(|&value| value != NOTHING),
        served: bytes.byte(),
        previous: bytes.byte(),
        version: bytes.byte().into(),
        batch: bytes.bytes(batch, unpack_operation),
        answers: (0..answers)
            .map(|_| StoredAnswer {
                process: bytes.byte(),
                answer: bytes.byte(),
                request: bytes.long(),
            })
            .collect(),
    }
}
