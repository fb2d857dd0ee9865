//! What there is: the words, the goods that they protect, and where everybody stands.

use hallpass_algorithms::{
    Word,
    objects::universal::{Answer, Asked, Errand, Line, NOBODY, copies},
};

use super::toys::{Deed, Toy};

/// Somebody whose answer is in a copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    /// Who.
    pub name: u8,
    /// Its request, packed.
    pub asked: Word,
    /// The answer.
    pub ret: u8,
}

impl Entry {
    /// In a normal form: an answer that nobody will fetch. It only takes a step to go past.
    pub const SPENT: Entry = Entry { name: 0, asked: 0, ret: 0 };
}

/// A copy of the object.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Good {
    /// The object; none if it is not known or does not matter.
    pub object: Option<u8>,
    /// The parities that it has served.
    pub served: u8,
    /// The copy it replaced.
    pub previous: u8,
    /// One more than the version of what it was made from; 0 is none.
    pub version: u32,
    /// What has been done to it since it was made.
    pub batch: Vec<Deed>,
    /// Whose answers are in it.
    pub helped: Vec<Entry>,
}

/// What participants share.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shared {
    /// Which copy is the object.
    pub head: Word,
    /// The parities of all requests.
    pub flips: Word,
    /// The requests, packed.
    pub requests: Vec<Word>,
    /// One more than the copy that is guarded.
    pub guards: Vec<Word>,
    /// The operations that are read, packed.
    pub marks: Vec<Word>,
    /// A bit for each copy.
    pub taken: u16,
    /// The copies.
    pub goods: Vec<Good>,
    /// The operation in each place, participant by participant.
    pub places: Vec<Option<Deed>>,
}

/// A participant between two lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Participant {
    /// How many operations it may still begin; none if it goes on for ever.
    pub left: Option<u8>,
    /// What it does; none between two operations.
    pub busy: Option<Busy>,
}

/// An operation under way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Busy {
    /// Where it stands.
    pub at: Line,
    /// What it is for.
    pub errand: Errand,
    /// Which operation, as long as it has not put it into a place.
    pub which: u8,
    /// The answer it has kept aside.
    pub aside: Option<u8>,
}

/// All of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// What is shared.
    pub shared: Shared,
    /// Everybody.
    pub participants: Vec<Participant>,
}

impl Shared {
    /// Before the first step: copy 0 is the object, and the others hold nothing.
    pub fn new(k: usize) -> Self {
        let mut goods = vec![Good::default(); copies(k)];
        goods[0] = Good { object: Some(Toy::INITIAL), version: 1, ..Good::default() };
        Shared {
            head: 0,
            flips: 0,
            requests: vec![Asked::NOTHING.pack(); k],
            guards: vec![NOBODY; k],
            marks: vec![NOBODY; k],
            taken: 1,
            goods,
            places: vec![None; k * k],
        }
    }

    /// How many copies are not free: taken, guarded, or holding an answer that is to be fetched.
    pub fn in_use(&self) -> u32 {
        let mut used = self.taken;
        for (&guard, &request) in self.guards.iter().zip(&self.requests) {
            if guard != NOBODY {
                used |= 1 << (guard - 1);
            }
            if let Answer::In(copy) = Asked::unpack(request).answer {
                used |= 1 << copy;
            }
        }
        used.count_ones()
    }
}

impl State {
    /// Before the first step of participants that begin so many operations each.
    pub fn new(operations: &[Option<u8>]) -> Self {
        let idle = |&left: &Option<u8>| Participant { left, busy: None };
        let participants = operations.iter().map(idle).collect();
        State { shared: Shared::new(operations.len()), participants }
    }

    /// Where a participant stands, if it is at an operation.
    pub fn line(&self, name: usize) -> Option<Line> {
        self.participants[name].busy.map(|busy| busy.at)
    }
}

/// The copy of which a participant at this line may still read or replace, having found it to be the
/// head; with `hasty`, having found it anywhere.
pub fn held(at: Line, hasty: bool) -> Option<usize> {
    use Line::*;
    match at {
        R2 { h, .. } | R3 { h, .. } | A3 { h, .. } | A4 { h, .. } => hasty.then_some(h),
        R4 { h } | R5 { h } => Some(h),
        F1 { h, .. } | G1 { h, .. } | G2 { h, .. } | G3 { h, .. } | G4 { h, .. } => Some(h),
        B1 { h, .. } | B2 { h, .. } | B3 { h, .. } | B4 { h, .. } | B5 { h, .. } => Some(h),
        B6 { h, .. } | B7 { h, .. } | B8 { h, .. } | I1 { h, .. } => Some(h),
        _ => None,
    }
}

/// The copy that a participant at this line writes.
pub fn written(at: Line) -> Option<usize> {
    use Line::*;
    match at {
        B2 { c, .. } | B3 { c, .. } | B4 { c, .. } | B5 { c, .. } | B6 { c, .. } => Some(c),
        B7 { c, .. } | B8 { c, .. } | I1 { c, .. } | U1 { c } => Some(c),
        _ => None,
    }
}

/// The copy that a participant at this line is in the middle of reading.
pub fn read(at: Line) -> Option<usize> {
    match at {
        Line::R5 { h } | Line::B2 { h, .. } => Some(h),
        Line::C2 { c, .. } => Some(c),
        _ => None,
    }
}
