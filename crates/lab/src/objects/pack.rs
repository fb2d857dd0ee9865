//! What participants share, in few bytes: there are many of these.

use hallpass_algorithms::Word;

use super::{
    state::{Entry, Good, Shared},
    toys::Deed,
};

const NOTHING: u8 = u8::MAX;

fn deed(deed: Deed) -> u8 {
    deed.name << 4 | deed.which
}

fn undeed(byte: u8) -> Deed {
    Deed { name: byte >> 4, which: byte & 15 }
}

fn small(word: Word) -> u8 {
    u8::try_from(word).expect("normal forms have small words")
}

fn long(bytes: &mut Vec<u8>, word: Word) {
    bytes.extend(u32::try_from(word).expect("normal forms have small numbers").to_le_bytes());
}

/// In bytes.
pub fn pack(shared: &Shared) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(192);
    bytes.extend([small(shared.head), small(shared.flips)]);
    bytes.extend(shared.taken.to_le_bytes());
    shared.requests.iter().for_each(|&request| long(&mut bytes, request));
    bytes.extend(shared.guards.iter().chain(&shared.marks).map(|&word| small(word)));
    bytes.extend(shared.places.iter().map(|place| place.map_or(NOTHING, deed)));
    let is_empty = |good: &Good| *good == Good::default();
    for good in &shared.goods {
        if is_empty(good) {
            bytes.push(NOTHING);
            continue;
        }
        let version = u8::try_from(good.version).expect("normal forms have small versions");
        bytes.extend([good.batch.len() as u8, good.helped.len() as u8]);
        bytes.extend([good.object.unwrap_or(NOTHING), good.served, good.previous, version]);
        bytes.extend(good.batch.iter().copied().map(deed));
        for entry in &good.helped {
            bytes.extend([entry.name, entry.ret]);
            long(&mut bytes, entry.asked);
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

/// From bytes.
pub fn unpack(bytes: &[u8], k: usize, copies: usize) -> Shared {
    let mut bytes = Bytes(bytes.iter());
    Shared {
        head: bytes.byte().into(),
        flips: bytes.byte().into(),
        taken: u16::from_le_bytes([bytes.byte(), bytes.byte()]),
        requests: (0..k).map(|_| bytes.long()).collect(),
        guards: bytes.bytes(k, Word::from),
        marks: bytes.bytes(k, Word::from),
        places: bytes.bytes(k * k, |byte| (byte != NOTHING).then(|| undeed(byte))),
        goods: (0..copies).map(|_| good(&mut bytes)).collect(),
    }
}

fn good(bytes: &mut Bytes<'_>) -> Good {
    let served = bytes.byte();
    if served == NOTHING {
        return Good::default();
    }
    let (served, helped) = (served.into(), bytes.byte());
    Good {
        object: Some(bytes.byte()).filter(|&object| object != NOTHING),
        served: bytes.byte(),
        previous: bytes.byte(),
        version: bytes.byte().into(),
        batch: bytes.bytes(served, undeed),
        helped: (0..helped)
            .map(|_| Entry { name: bytes.byte(), ret: bytes.byte(), asked: bytes.long() })
            .collect(),
    }
}
