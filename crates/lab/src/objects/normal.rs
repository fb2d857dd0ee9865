//! Normal forms. Each state is replaced by a state with the same future behaviour. So there are finitely
//! many states, although request numbers and versions grow without bound. The
//! [construction](hallpass_algorithms::objects::universal) explains heads, copies, requests, buffers and marks.
//!
//! **Numbers.** Only two facts about a request number matter: whether it is the number of its process's latest
//! request, and its parity.
//!
//! - A request number is compared only with the number of the same process's latest request. Numbers grow, so a
//!   number that is not the latest never becomes the latest again.
//! - Parities of one process are compared only with each other. So all of them can be flipped together: in its
//!   request numbers, in its bit of `flips`, in its bit of `served` in each copy, and in its lines.
//!
//! | request number of a process | normal form |
//! |---|---|
//! | the latest | 2 |
//! | the next one, which the process is about to write | 3 |
//! | an older one with the parity of the latest | 0 |
//! | an older one with the other parity | 1 |
//!
//! **Versions.** Only differences of versions up to 2 matter, and 3 stands for all larger differences.
//!
//! - A version is compared only with another version plus one. So a difference of 1 matters.
//! - A new version is one more than the version of a copy that a process holds. So a difference of 2 can become a
//!   difference of 1.
//! - Either the copy with the new version becomes the head, or no other version is computed from the new version. So
//!   no larger difference becomes 1.
//!
//! **Fields that no process reads.** Three kinds of processes read a copy: a process that holds the copy (see
//! [`held`]), a process that fetches an answer from the copy, and a process that brings the copy up to date with the
//! copy that replaced it. Before any other process can read the copy, a process rewrites it. So the normal form clears
//! every field that none of these readers uses.
//!
//! **Late processes.** A process is late if it holds a former head: a copy that is no longer the head. The contents
//! of the copy that a late process builds do not matter, nor do the operations applied to it. Only two things
//! matter: the requests that the process will serve, and the buffers that it will mark. The reasons:
//!
//! - In an [orderly](Variant::orderly) variant, no process writes a held head until it is released. This is not an
//!   assumption: the search checks [`Violation::Held`](super::observe::Violation::Held) at every step, so it is true
//!   up to the first violation.
//! - So the former head does not become the head again while the late process holds it.
//! - So the late process cannot install the copy that it builds. The copy will be *spoiled* (its contents are cleared),
//!   and no process reads it before that.
//!
//! This part of the normal form applies only to orderly variants.
//!
//! `tests/objects.rs` compares explorations with and without the last two parts.

use hallpass_algorithms::objects::universal::{Answer, Intent, Line, Request};

use super::{
    numbering::{numbers, serving, versions},
    state::{CopyState, ModelState, StoredAnswer, held},
    variants::Variant,
};
use Line::*;

/// The parts of a state that are replaced by a normal form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// None, so numbers grow. This is only for single runs.
    Raw,
    /// Numbers and versions.
    Small,
    /// Numbers, versions, and every field that no process reads.
    Full,
}

/// Brings a state into its normal form.
pub fn normalize(state: &mut ModelState, variant: &Variant, reduction: Reduction) {
    if reduction == Reduction::Raw {
        return;
    }
    if variant.numbers {
        numbers(state);
    }
    if reduction == Reduction::Full {
        let form = Form { head: state.shared.head as usize, variant };
        let lines: Vec<_> = (0..state.processes.len()).map(|process| state.line(process)).collect();
        form.buffers(state, &lines);
        form.copies(state, &lines);
        form.processes(state);
    }
    versions(&mut state.shared.copies);
}

struct Form<'a> {
    head: usize,
    variant: &'a Variant,
}

impl Form<'_> {
    /// Returns whether a process that holds this copy is late, because the copy is no longer the head. In a variant
    /// that is not orderly, no process counts as late.
    fn is_late(&self, h: usize) -> bool {
        self.variant.orderly && h != self.head
    }

    /// Returns the copy that is being built at this line, if it may still become the head.
    fn builds(&self, at: Line) -> Option<usize> {
        Self::building(at).and_then(|(h, c)| (!self.is_late(h)).then_some(c))
    }

    /// Returns the copy that is being built or given up at this line, if it will be spoiled. Its version
    /// must be cleared, because it could be one less than the version of the head by chance.
    fn ruins(&self, at: Line) -> Option<usize> {
        match at {
            U1 { c } => self.variant.orderly.then_some(c),
            _ => Self::building(at).and_then(|(h, c)| self.is_late(h).then_some(c)),
        }
    }

    /// Returns the head and the copy, if a copy is being built from the head at this line.
    fn building(at: Line) -> Option<(usize, usize)> {
        match at {
            B3 { h, c } | B4 { h, c, .. } | B5 { h, c, .. } | B6 { h, c, .. } => Some((h, c)),
            B7 { h, c, .. } | B8 { h, c, .. } | I1 { h, c } => Some((h, c)),
            _ => None,
        }
    }

    /// Clears the buffers that no process will read. A buffer is read while its request is open or being
    /// served.
    fn buffers(&self, state: &mut ModelState, lines: &[Option<Line>]) {
        if !self.variant.orderly {
            return;
        }
        let k = lines.len();
        let shared = &mut state.shared;
        let pending = shared.flips as u64 ^ u64::from(shared.copies[self.head].served);
        for (process, line) in lines.iter().enumerate() {
            let mut read = 0u64;
            let request = Request::unpack(shared.requests[process]);
            read |= (pending >> process & 1) << request.buffer;
            if let Some(P5 { request } | P6 { request }) = line {
                read |= 1 << request.buffer;
            }
            for mut at in lines.iter().copied().flatten() {
                if held(at, false).is_none_or(|h| self.is_late(h)) {
                    continue;
                }
                if let Some((_, request)) = serving(&mut at).filter(|&(owner, _)| owner == process)
                {
                    read |= 1 << request.buffer;
                }
            }
            for (buffer, operation) in shared.buffers[process * k..][..k].iter_mut().enumerate() {
                *operation = operation.filter(|_| read >> buffer & 1 != 0);
            }
            // A process without an open request already has its answer, whether or not another process
            // served it.
            if !has_open_request(
                line,
                state.processes[process].ongoing.map(|ongoing| ongoing.intent),
            ) && pending >> process & 1 == 0
            {
                shared.requests[process] = request.answered(Answer::Fetched).pack();
            }
        }
    }

    /// Clears the fields of copies that no process will read.
    fn copies(&self, state: &mut ModelState, lines: &[Option<Line>]) {
        let hasty = !self.variant.validates;
        let any = |test: &dyn Fn(Line) -> bool| lines.iter().copied().flatten().any(test);
        let copies = &mut state.shared.copies;
        for c in lines.iter().flatten().filter_map(|&at| self.ruins(at)) {
            copies[c] = CopyState::default();
        }
        let versions: Vec<u32> = copies.iter().map(|copy| copy.version).collect();
        let follows = |copy: &CopyState| {
            let before = versions[usize::from(copy.previous)];
            before != 0 && before + 1 == copy.version
        };
        let whole: Vec<bool> = (0..copies.len())
            .map(|c| c == self.head || any(&|at| self.builds(at) == Some(c)))
            .collect();
        // Copies from which other copies may be made, and copies that may catch up with them.
        let is_source =
            |c: usize| whole[c] || !self.variant.orderly && any(&|at| held(at, hasty) == Some(c));
        let mut behind = 0u64;
        for (_, copy) in copies.iter().enumerate().filter(|&(c, _)| is_source(c)) {
            if follows(copy) {
                behind |= 1 << copy.previous;
            }
        }
        for (c, copy) in copies.iter_mut().enumerate() {
            let is_behind = behind >> c & 1 != 0;
            let is_source = is_source(c);
            if !is_source && !is_behind {
                copy.version = 0;
                if !any(&|at| matches!(at, R4 { h } | R5 { h } if h == c)) {
                    copy.value = None;
                }
            }
            if !is_source || self.variant.orderly && !follows(copy) {
                copy.batch.clear();
            }
            let holds = |at: Line| held(at, hasty) == Some(c);
            if !is_source && !any(&|at| holds(at) && !matches!(at, R4 { .. } | R5 { .. })) {
                copy.served = 0;
            }
            let to_help = |at: Line| holds(at) && matches!(at, F1 { .. });
            if !is_source && !any(&|at| to_help(at) || holds(at) && matches!(at, G1 { i: 0, .. })) {
                copy.previous = 0;
            }
            self.answers(&state.shared.requests, c, copy, is_source || any(&to_help));
        }
    }

    /// Replaces answers that can no longer be assigned or fetched from this copy. A process at line F1
    /// takes one step for each answer. So the list keeps its length as long as a process may still reach
    /// line F1.
    fn answers(&self, requests: &[i64], c: usize, copy: &mut CopyState, is_list: bool) {
        if !self.variant.numbers {
            return;
        }
        for answer in &mut copy.answers {
            if *answer == StoredAnswer::SPENT {
                continue;
            }
            let latest_word = requests[usize::from(answer.process)];
            let (request, latest) = (Request::unpack(answer.request), Request::unpack(latest_word));
            let is_here = request.number == latest.number && latest.answer == Answer::In(c);
            let is_open = is_list && answer.request == latest_word;
            if !is_here && !is_open {
                *answer = StoredAnswer::SPENT;
            }
        }
        if !is_list {
            copy.answers.retain(|answer| *answer != StoredAnswer::SPENT);
            copy.answers.sort_unstable_by_key(|answer| answer.process);
        }
    }

    /// Clears the private variables that the process will not use.
    fn processes(&self, state: &mut ModelState) {
        for (me, process) in state.processes.iter_mut().enumerate() {
            let Some(ongoing) = &mut process.ongoing else { continue };
            let is_late = held(ongoing.at, false).is_some_and(|h| self.is_late(h));
            if let Some((_, request)) = serving(&mut ongoing.at)
                && is_late
            {
                *request = Request { number: 0, answer: Answer::None, ..*request };
            }
            if let P2 { last, .. } | P3 { last, .. } | P4 { last, .. } = &mut ongoing.at {
                *last = Request { number: last.number, ..Request::INITIAL };
            }
            let is_put = !matches!(
                ongoing.at,
                R1 { .. }
                    | R2 { .. }
                    | R3 { .. }
                    | R4 { .. }
                    | R5 { .. }
                    | P1
                    | P2 { .. }
                    | P3 { .. }
                    | P4 { .. }
            );
            if is_put {
                ongoing.which = 0;
            }
            let keeps = match ongoing.at {
                // Before the process has served itself, its answer comes from a failed attempt.
                B4 { todo, .. }
                | B5 { todo, .. }
                | B6 { todo, .. }
                | B7 { todo, .. }
                | B8 { todo, .. } => !is_late && todo >> me & 1 == 0,
                I1 { .. } => !is_late,
                I2 { .. } | I3 { .. } | R6 | C3 { .. } | C4 => true,
                _ => false,
            };
            if !keeps {
                ongoing.kept = None;
            }
        }
    }
}

/// Returns whether a process at this line has an open request.
fn has_open_request(line: &Option<Line>, intent: Option<Intent>) -> bool {
    match line {
        None | Some(C4 | R6 | P1 | P2 { .. } | P3 { .. } | P4 { .. } | P5 { .. }) => false,
        Some(R1 { .. } | R2 { .. } | R3 { .. } | R4 { .. } | R5 { .. }) => false,
        Some(I2 { .. } | I3 { .. }) => intent == Some(Intent::Read),
        Some(_) => true,
    }
}
