//! The lines of the universal construction. Each line accesses at most one shared word, or begins or ends an access to
//! the data that these words protect. The [parent module](super) explains the words.

use super::environment::{Answer, Environment, Mark, NONE, Request, copies};
use crate::framework::memory::{Op, Word};

/// The kind of operation that a process executes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Intent {
    /// The operation may change the object.
    Apply,
    /// The operation only reads the object.
    Read,
}

/// The line that a process executes next. `h` is the head that the process has seen. `c` is the copy that
/// it writes, or in C1 and C2 the copy that holds its answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    // Reading the object without a request
    R1 { failed: u8 },
    R2 { failed: u8, h: usize },
    R3 { failed: u8, h: usize },
    R4 { h: usize },
    R5 { h: usize },
    R6,
    // Making a request
    P1,
    P2 { last: Request, buffer: usize, i: usize },
    P3 { last: Request, buffer: usize },
    P4 { last: Request, buffer: usize },
    P5 { request: Request },
    P6 { request: Request },
    // Finding the head or the answer
    A1,
    A2 { parity: u64 },
    A3 { parity: u64, h: usize },
    A4 { parity: u64, h: usize },
    // Assigning the answers that are in the head
    F1 { parity: u64, h: usize, i: usize },
    // Taking a free copy
    G1 { h: usize, i: usize },
    G2 { h: usize, i: usize, c: usize, j: usize },
    G3 { h: usize, i: usize, c: usize, j: usize },
    G4 { h: usize, i: usize, c: usize },
    // Building the next head in that copy
    B1 { h: usize, c: usize },
    B2 { h: usize, c: usize },
    B3 { h: usize, c: usize },
    B4 { h: usize, c: usize, todo: u64 },
    B5 { h: usize, c: usize, todo: u64, request: Request },
    B6 { h: usize, c: usize, todo: u64, request: Request },
    B7 { h: usize, c: usize, todo: u64, request: Request },
    B8 { h: usize, c: usize, todo: u64, request: Request },
    // Installing the copy as the head
    I1 { h: usize, c: usize },
    I2 { h: usize },
    I3 { h: usize },
    // Giving up the copy
    U1 { c: usize },
    // Fetching the answer
    C1 { request: Request, c: usize },
    C2 { request: Request, c: usize },
    C3 { request: Request },
    C4,
}
use Line::*;

/// The result of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The process continues at this line.
    Goto(Line),
    /// The operation is complete and its answer is known.
    Done,
}
use Next::{Done, Goto};

/// The number of times that a reader tries to guard the head before it makes a request. An attempt fails if
/// the head changes during it.
const READS: u8 = 2;

/// Returns the first line of an operation.
pub fn begin(intent: Intent) -> Line {
    match intent {
        Intent::Apply => P1,
        Intent::Read => R1 { failed: 0 },
    }
}

/// Returns whether line `at` makes no access and only selects the next line.
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

        P1 => P2 { last: Request::unpack(e.request(me, Op::Read)), buffer: 0, i: 0 },
        P2 { last, buffer, i } if i == k => P3 { last, buffer },
        P2 { last, buffer, i } if i == me => P2 { last, buffer, i: i + 1 },
        P2 { last, buffer, i } => {
            if e.mark(i, Op::Read) == (Mark { owner: me, buffer }).pack() {
                P2 { last, buffer: (buffer + 1) % k, i: 0 } // another process still reads the operation in this buffer
            } else {
                P2 { last, buffer, i: i + 1 }
            }
        }
        P3 { last, buffer } => {
            e.put_begins(me, buffer);
            P4 { last, buffer }
        }
        P4 { last, buffer } => {
            e.put_ends(me, buffer);
            P5 { request: Request { number: last.number + 1, buffer, answer: Answer::None } }
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
            // First try the copy that h replaced: it has the fewest operations to catch up with.
            let c = if i == 0 { e.previous(h) } else { i - 1 };
            if i > copies(k) {
                A1
            } else if c != h && e.taken(c, Op::TestAndSet) == 0 {
                // c is never h: even if h has been replaced and is no longer taken, this process still reads it.
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
        // The process also checks its own request, because another process may have served it after this
        // process found h.
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
            e.mark(me, Op::Write(Mark { owner: first(todo), buffer: request.buffer }.pack()));
            B6 { h, c, todo, request }
        }
        // While the head is unchanged, the request is not served yet, so its buffer still holds its
        // operation.
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
                // The answer is in the new head. If another process has replaced that head by now, the answer is
                // already assigned. Otherwise this process assigns it at F1.
                Intent::Read => A1,
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

/// Returns the line that serves the next request, or line I1 if no request is left.
fn serve_or_install(h: usize, c: usize, todo: u64) -> Line {
    if todo == 0 { I1 { h, c } } else { B4 { h, c, todo } }
}

/// Returns the first process whose request is still to be served.
fn first(todo: u64) -> usize {
    todo.trailing_zeros() as usize
}

/// Returns the value of a guard that protects this copy.
fn guarding(copy: usize) -> Word {
    copy as Word + 1
}
