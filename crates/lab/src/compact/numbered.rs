//! A compact set that no longer grows. Its states have numbers, in the order of their places.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{explore::Ended, space::Agent, store::Id};

use super::{Addressing, Code, Codes, Local, Memory, Segment};

/// The number of lines on either side of a guess that are searched first.
const NEAR: usize = 64;

/// A complete set of numbered states.
pub struct Numbered<const W: usize>(Kind<W>);

/// The codes of the states that a search looks for, if the set has codes. `None` stands for a state without a code, which
/// the set does not contain.
#[derive(Default)]
pub struct Sought(Vec<Option<Code>>);

enum Kind<const W: usize> {
    /// The entries are states.
    States(Entries<W>),
    /// The entries are codes of states.
    Codes(Entries<2>, Codes<W>),
}

impl<const W: usize> Numbered<W> {
    pub(super) fn of_states(states: Entries<W>) -> Self {
        Numbered(Kind::States(states))
    }

    pub(super) fn of_codes(entries: Entries<2>, codes: Codes<W>) -> Self {
        Numbered(Kind::Codes(entries, codes))
    }

    /// Returns the number of states.
    pub fn len(&self) -> Id {
        match &self.0 {
            Kind::States(states) => states.len,
            Kind::Codes(entries, _) => entries.len,
        }
    }

    /// Returns whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of a state, if the set contains it.
    #[inline]
    pub fn find(&self, state: &[u64; W]) -> Option<Id> {
        match &self.0 {
            Kind::States(states) => states.find(state),
            Kind::Codes(entries, codes) => entries.find(&codes.find(state)?),
        }
    }

    /// Prepares a search for the states of these steps, which begin in `from`: loads the memory that the search reads,
    /// so that the loads overlap. `sought` keeps what the search needs.
    #[inline]
    pub fn prepare(&self, from: &[u64; W], steps: &[(Agent, [u64; W])], sought: &mut Sought) {
        match &self.0 {
            Kind::States(entries) => entries.touch(steps.iter().map(|(_, state)| state)),
            Kind::Codes(entries, codes) => {
                let like = codes.find(from).expect("the set contains the state");
                let code = |(_, state): &(Agent, [u64; W])| codes.find_like(state, (from, like));
                sought.0.clear();
                sought.0.extend(steps.iter().map(code));
                entries.touch(sought.0.iter().flatten());
            }
        }
    }

    /// Returns the number of the state after the step with this index among the steps that
    /// [`prepare`](Numbered::prepare) got, like [`find`](Numbered::find).
    #[inline]
    pub fn find_prepared(&self, index: usize, state: &[u64; W], sought: &Sought) -> Option<Id> {
        match &self.0 {
            Kind::States(states) => states.find(state),
            Kind::Codes(entries, _) => entries.find(&sought.0[index]?),
        }
    }

    /// Returns the state with this number.
    #[inline]
    pub fn get(&self, id: Id) -> [u64; W] {
        match &self.0 {
            Kind::States(states) => states.get(id),
            Kind::Codes(entries, codes) => codes.state(&entries.get(id)),
        }
    }

    /// Calls `each` with the number and the state of every state of a segment, until `each` breaks. Returns the
    /// value with which it breaks.
    pub fn try_for_each_in<B>(
        &self,
        segment: u8,
        mut each: impl FnMut(Id, [u64; W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match &self.0 {
            Kind::States(states) => states.try_for_each_in(segment, each),
            Kind::Codes(entries, codes) => {
                entries.try_for_each_in(segment, |id, code| each(id, codes.state(&code)))
            }
        }
    }
}

/// The entries of a complete set. The number of an entry follows from its place, and the place from the number. So the
/// numbers take one word for each line.
pub(super) struct Entries<const W: usize> {
    segments: Vec<Segment<W>>,
    /// For each segment and line: the number of the line's first state. After its lines, each segment has one
    /// more number: that of the next segment's first state.
    firsts: Vec<Vec<Id>>,
    /// For each segment: the number of the next segment's first state.
    ends: Vec<Id>,
    addressing: Addressing<W>,
    len: Id,
}

impl<const W: usize> Entries<W> {
    pub(super) fn new(
        segments: Vec<Segment<W>>,
        addressing: Addressing<W>,
        memory: &Memory,
        most: u64,
        stop: &AtomicBool,
    ) -> Result<Self, Ended> {
        let states: usize = segments.iter().map(Segment::len).sum();
        if states as u64 > most {
            return Err(Ended::States);
        }
        let lines: usize = segments.iter().map(|segment| segment.lines() + 1).sum();
        memory.take((lines * size_of::<Id>()) as u64)?;
        let mut len = 0;
        let mut firsts = Vec::with_capacity(segments.len());
        let mut ends = Vec::with_capacity(segments.len());
        for segment in &segments {
            if stop.load(Relaxed) {
                return Err(Ended::Stopped);
            }
            let mut numbers = Vec::with_capacity(segment.lines() + 1);
            for line in 0..segment.lines() {
                numbers.push(len);
                len += segment.entries(line) as Id;
            }
            numbers.push(len);
            firsts.push(numbers);
            ends.push(len);
        }
        Ok(Entries { segments, firsts, ends, addressing, len })
    }

    /// Returns the number of a state, if the set contains it.
    #[inline]
    pub fn find(&self, state: &[u64; W]) -> Option<Id> {
        let (segment, Local(local)) = self.addressing.address(state);
        let segment = usize::from(segment);
        let (line, place) = self.segments[segment].find(local, state)?;
        Some(self.firsts[segment][line] + place as Id)
    }

    /// Loads the memory that a search for these states reads. The loads overlap.
    #[inline]
    pub fn touch<'a>(&self, states: impl Iterator<Item = &'a [u64; W]>) {
        let touch = |touched, state: &[u64; W]| {
            let (segment, Local(local)) = self.addressing.address(state);
            let segment = &self.segments[usize::from(segment)];
            touched ^ segment.touch(segment.target(local))
        };
        std::hint::black_box(states.fold(0, touch));
    }

    /// Returns the state with this number.
    pub fn get(&self, id: Id) -> [u64; W] {
        let segment = self.ends.partition_point(|&end| end <= id);
        let firsts = &self.firsts[segment];
        let line = last_at_most(firsts, id);
        self.state(segment, line, (id - firsts[line]) as usize).expect("a number of a state")
    }

    fn state(&self, segment: usize, line: usize, place: usize) -> Option<[u64; W]> {
        let (local, state) = self.segments[segment].entry(line, place)?;
        Some(self.addressing.state(segment as u8, Local(local), state))
    }

    /// Calls `each` with the number and the state of every state of a segment, until `each` breaks. Returns the
    /// value with which it breaks.
    pub fn try_for_each_in<B>(
        &self,
        segment: u8,
        mut each: impl FnMut(Id, [u64; W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let segment = usize::from(segment);
        for line in 0..self.segments[segment].lines() {
            let first = self.firsts[segment][line];
            for place in 0..(self.firsts[segment][line + 1] - first) as usize {
                let state = self.state(segment, line, place).expect("a place in use");
                each(first + place as Id, state)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns the last index whose number is at most `id`. The numbers grow evenly, so the search begins near
/// the place where an even distribution would have the number.
fn last_at_most(firsts: &[Id], id: Id) -> usize {
    let (start, end) = (firsts[0], firsts[firsts.len() - 1]);
    let guess =
        (u64::from(id - start) * (firsts.len() as u64 - 1) / u64::from(end - start)) as usize;
    let (low, high) = (guess.saturating_sub(NEAR), (guess + NEAR).min(firsts.len() - 1));
    if firsts[low] <= id && id < firsts[high] {
        return low + firsts[low..=high].partition_point(|&first| first <= id) - 1;
    }
    firsts.partition_point(|&first| first <= id) - 1
}
