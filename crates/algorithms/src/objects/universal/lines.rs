//! The lines of the construction, one access each.

use super::environment::{Answer, Environment, Mark, NONE, Request, copies};
use crate::framework::memory::{Op, Word};

/// The kind of access that a process wants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Intent {
    /// Apply an operation to the object.
    Apply,
    /// Read the object.
    Read,
}

/// The line that a process executes next. `h` is the head that it has seen, `c` the copy that it writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    // Read the object without a request
    R1 { failed: u8 },
    R2 { failed: u8, h: usize },
    R3 { failed: u8, h: usize },
    R4 { h: usize },
    R5 { h: usize },
    R6,
    // Make a request
    P1,
    P2 { last: Request, place: usize, i: usize },
    P3 { last: Request, place: usize },
    P4 { last: Request, place: usize },
    P5 { request: Request },
    P6 { request: Request },
    // Find the head, or the answer
    A1,
    A2 { parity: u64 },
    A3 { parity: u64, h: usize },
    A4 { parity: u64, h: usize },
    // Assign the answers that are in the head
    F1 { parity: u64, h: usize, i: usize },
    // Take a free copy
    G1 { h: usize, i: usize },
    G2 { h: usize, i: usize, c: usize, j: usize },
    G3 { h: usize, i: usize, c: usize, j: usize },
    G4 { h: usize, i: usize, c: usize },
    // Build the next head in that copy
    B1 { h: usize, c: usize },
    B2 { h: usize, c: usize },
    B3 { h: usize, c: usize },
    B4 { h: usize, c: usize, todo: u64 },
    B5 { h: usize, c: usize, todo: u64, request: Request },
    B6 { h: usize, c: usize, todo: u64, request: Request },
    B7 { h: usize, c: usize, todo: u64, request: Request },
    B8 { h: usize, c: usize, todo: u64, request: Request },
    // Install it
    I1 { h: usize, c: usize },
    I2 { h: usize },
    I3 { h: usize },
    // Give the copy up
    U1 { c: usize },
    // Fetch the answer
    C1 { request: Request, c: usize },
    C2 { request: Request, c: usize },
    C3 { request: Request },
    C4,
}
use Line::*;

/// Where a line leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The process continues at this line.
    Goto(Line),
    /// The operation is complete and its answer is known.
    Done,
}
use Next::{Done, Goto};

/// How many times a reader tries to catch the head before it makes a request.
const READS: u8 = 2;

/// Returns the first line of an operation.
pub fn begin(intent: Intent) -> Line {
    match intent {
        Intent::Apply => P1,
        Intent::Read => R1 { failed: 0 },
    }
}

/// Returns whether the line `at` makes no access and only decides which line is next.
pub fn is_local(me: usize, k: usize, at: Line) -> bool {
    match at {
        P2 { i, .. } => i == k || i == me,
        G1 { h, i } => i == h + 1 || i > copies(k),
        G2 { j, .. } => j == k || j == me,
        G3 { j, .. } => j == k,
        _ => false,
    }
}

/// Executes the line `at` of process `me`.
#[inline(always)]
pub fn step<E: Environment>(e: &mut E, me: usize, intent: Intent, at: Line) -> Next {
    let k = e.k();
    Goto(match at {
        R1 { failed } => R2 { failed, h: e.head(Op::Read) as usize },
        R2 { failed, h } => {
            e.guard(me, Op::Write(guarding(h)));
            R3 { failed, h }
        }
        R3 { failed, h } => match e.head(Op::Read) as usize == h {
            true => R4 { h },
            false if failed + 1 < READS => R1 { failed: failed + 1 },
            false => P1,
        },
        R4 { h } => {
            e.read_begins(me, h);
            R5 { h }
        }
        R5 { h } => {
            e.read_ends(me, h);
            R6
        }
        R6 => {
            e.guard(me, Op::Write(NONE));
            return Done;
        }

        P1 => P2 { last: Request::unpack(e.request(me, Op::Read)), place: 0, i: 0 },
        P2 { last, place, i } if i == k => P3 { last, place },
        P2 { last, place, i } if i == me => P2 { last, place, i: i + 1 },
        P2 { last, place, i } => {
            if e.mark(i, Op::Read) == (Mark { owner: me, place }).pack() {
                P2 { last, place: (place + 1) % k, i: 0 } // another process still reads what is there
            } else {
                P2 { last, place, i: i + 1 }
            }
        }
        P3 { last, place } => {
            e.put_begins(me, place);
            P4 { last, place }
        }
        P4 { last, place } => {
            e.put_ends(me, place);
            P5 { request: Request { number: last.number + 1, place, answer: Answer::None } }
        }
        P5 { request } => {
            e.request(me, Op::Write(request.pack()));
            P6 { request }
        }
        P6 { request } => {
            let bit: Word = 1 << me;
            let change = if request.parity() == 1 { Op::Set(bit) } else { Op::Clear(bit) };
            e.flips(change);
            A1
        }

        A1 => {
            let request = Request::unpack(e.request(me, Op::Read));
            match request.answer {
                Answer::In(c) => C1 { request, c },
                _ => A2 { parity: request.parity() },
            }
        }
        A2 { parity } => A3 { parity, h: e.head(Op::Read) as usize },
        A3 { parity, h } => {
            e.guard(me, Op::Write(guarding(h)));
            A4 { parity, h }
        }
        A4 { parity, h } => match e.head(Op::Read) as usize == h {
            true => F1 { parity, h, i: 0 },
            false => A1,
        },

        F1 { parity, h, i } => match e.helped(h, i) {
            Some(helped) => {
                let old = helped.request.pack();
                let new = helped.request.answered(Answer::In(h)).pack();
                e.request(helped.process, Op::CompareAndSwap { old, new });
                F1 { parity, h, i: i + 1 }
            }
            None if e.served(h) >> me & 1 == parity => A1,
            None => G1 { h, i: 0 },
        },

        G1 { h, i } => {
            // Try the copy that h replaced first: it has the least to catch up with.
            let c = if i == 0 { e.previous(h) } else { i - 1 };
            if i > copies(k) {
                A1
            } else if c != h && e.taken(c, Op::TestAndSet) == 0 {
                // h may be free by now if it is no longer the head, but this process still reads it.
                G2 { h, i, c, j: 0 }
            } else {
                G1 { h, i: i + 1 }
            }
        }
        G2 { h, i, c, j } if j == k => G3 { h, i, c, j: 0 },
        G2 { h, i, c, j } if j == me => G2 { h, i, c, j: j + 1 },
        G2 { h, i, c, j } => match e.guard(j, Op::Read) == guarding(c) {
            true => G4 { h, i, c },
            false => G2 { h, i, c, j: j + 1 },
        },
        G3 { h, i: _, c, j } if j == k => B1 { h, c },
        // Checks its own request too: another process may have served it since it found h.
        G3 { h, i, c, j } => {
            match Request::unpack(e.request(j, Op::Read)).answer == Answer::In(c) {
                true => G4 { h, i, c },
                false => G3 { h, i, c, j: j + 1 },
            }
        }
        G4 { h, i, c } => {
            e.taken(c, Op::Write(0));
            G1 { h, i: i + 1 }
        }

        B1 { h, c } => {
            e.copy_begins(h, c);
            B2 { h, c }
        }
        B2 { h, c } => {
            e.copy_ends(h, c);
            B3 { h, c }
        }
        B3 { h, c } => {
            let todo = e.flips(Op::Read) as u64 ^ e.served(h);
            serve_or_install(h, c, todo)
        }
        B4 { h, c, todo } => {
            let request = Request::unpack(e.request(first(todo), Op::Read));
            if first(todo) == me { B7 { h, c, todo, request } } else { B5 { h, c, todo, request } }
        }
        B5 { h, c, todo, request } => {
            e.mark(me, Op::Write(Mark { owner: first(todo), place: request.place }.pack()));
            B6 { h, c, todo, request }
        }
        // While the head is unchanged, the request is not served yet, so its place holds its operation.
        B6 { h, c, todo, request } => match e.head(Op::Read) as usize == h {
            true => B7 { h, c, todo, request },
            false => U1 { c },
        },
        B7 { h, c, todo, request } => {
            e.serve_begins(c, first(todo), request);
            B8 { h, c, todo, request }
        }
        B8 { h, c, todo, request } => {
            e.serve_ends(me, c, first(todo), request);
            serve_or_install(h, c, todo & (todo - 1))
        }

        I1 { h, c } => {
            let (old, new) = (h as Word, c as Word);
            if e.head(Op::CompareAndSwap { old, new }) == old {
                e.published(c);
                I2 { h }
            } else {
                U1 { c }
            }
        }
        I2 { h } => {
            e.guard(me, Op::Write(NONE));
            I3 { h }
        }
        I3 { h } => {
            e.taken(h, Op::Write(0));
            match intent {
                Intent::Apply => return Done,
                Intent::Read => A1, // its head may be replaced by now, and then its answer is assigned
            }
        }
        U1 { c } => {
            e.spoil(c);
            e.taken(c, Op::Write(0));
            A1
        }

        C1 { request, c } => {
            e.read_begins(me, c);
            C2 { request, c }
        }
        C2 { request, c } => {
            e.read_ends(me, c);
            C3 { request }
        }
        C3 { request } => {
            e.request(me, Op::Write(request.answered(Answer::Fetched).pack()));
            C4
        }
        C4 => {
            e.guard(me, Op::Write(NONE));
            return Done;
        }
    })
}

/// Leads to the next request that is to be served, or to line I1 if all are.
fn serve_or_install(h: usize, c: usize, todo: u64) -> Line {
    if todo == 0 { I1 { h, c } } else { B4 { h, c, todo } }
}

/// Returns the first process whose request is to be served.
fn first(todo: u64) -> usize {
    todo.trailing_zeros() as usize
}

/// Returns the value of a guard that protects this copy.
fn guarding(copy: usize) -> Word {
    copy as Word + 1
}
