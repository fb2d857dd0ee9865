//! The lines, one access each.

use core::marker::PhantomData;

use super::{
    broken::Rules,
    workshop::{Answer, Asked, Mark, NOBODY, Workshop, copies},
};
use crate::framework::memory::{Op, Word};

/// What an operation is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Errand {
    /// To change the object.
    Change,
    /// To look at it.
    Look,
}

/// Where an operation stands: h is the head it has seen, c the copy it writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    // Looking at what is there
    R1 { failed: u8 },
    R2 { failed: u8, h: usize },
    R3 { failed: u8, h: usize },
    R4 { h: usize },
    R5 { h: usize },
    R6,
    // Asking
    P1,
    P2 { last: Asked, place: usize, i: usize },
    P3 { last: Asked, place: usize },
    P4 { last: Asked, place: usize },
    P5 { asked: Asked },
    P6 { asked: Asked },
    // Finding the head, or the answer
    A1,
    A2 { parity: u64 },
    A3 { parity: u64, h: usize },
    A4 { parity: u64, h: usize },
    // Assigning the answers that the head has
    F1 { parity: u64, h: usize, i: usize },
    // Getting a copy to write
    G1 { h: usize, i: usize },
    G2 { h: usize, i: usize, c: usize, j: usize },
    G3 { h: usize, i: usize, c: usize, j: usize },
    G4 { h: usize, i: usize, c: usize },
    // Building
    B1 { h: usize, c: usize },
    B2 { h: usize, c: usize },
    B3 { h: usize, c: usize },
    B4 { h: usize, c: usize, todo: u64 },
    B5 { h: usize, c: usize, todo: u64, asked: Asked },
    B6 { h: usize, c: usize, todo: u64, asked: Asked },
    B7 { h: usize, c: usize, todo: u64, asked: Asked },
    B8 { h: usize, c: usize, todo: u64, asked: Asked },
    // Installing
    I1 { h: usize, c: usize },
    I2 { h: usize },
    I3 { h: usize },
    // Giving up the copy
    U1 { c: usize },
    // Fetching the answer
    C1 { asked: Asked, c: usize },
    C2 { asked: Asked, c: usize },
    C3 { asked: Asked },
    C4,
}
use Line::*;

/// Where a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// On to this line.
    Goto(Line),
    /// The operation has been done, and its answer is there.
    Done,
}
use Next::{Done, Goto};

/// How often one who looks tries to catch the head before it asks.
const LOOKS: u8 = 2;

/// The first line.
pub fn begin(errand: Errand) -> Line {
    match errand {
        Errand::Change => P1,
        Errand::Look => R1 { failed: 0 },
    }
}

/// Executes the line at which `me` stands. `L` are the rules, or what a wrong variant leaves out.
#[inline(always)]
pub fn step<W: Workshop, L: Rules>(
    w: &mut W,
    me: usize,
    errand: Errand,
    at: Line,
    _: PhantomData<L>,
) -> Next {
    let k = w.names();
    Goto(match at {
        R1 { failed } => R2 { failed, h: w.head(Op::Read) as usize },
        R2 { failed, h } => {
            w.guard(me, Op::Write(guarding(h)));
            R3 { failed, h }
        }
        R3 { failed, h } => match w.head(Op::Read) as usize == h || !L::VALIDATES {
            true => R4 { h },
            false if failed + 1 < LOOKS => R1 { failed: failed + 1 },
            false => P1,
        },
        R4 { h } => {
            w.look_begins(me, h);
            R5 { h }
        }
        R5 { h } => {
            w.look_ends(me, h);
            R6
        }
        R6 => {
            w.guard(me, Op::Write(NOBODY));
            return Done;
        }

        P1 => P2 { last: Asked::unpack(w.request(me, Op::Read)), place: 0, i: 0 },
        P2 { last, place, i } if i == k || !L::MARKS => P3 { last, place },
        P2 { last, place, i } if i == me => P2 { last, place, i: i + 1 },
        P2 { last, place, i } => {
            if w.mark(i, Op::Read) == (Mark { name: me, place }).pack() {
                P2 { last, place: (place + 1) % k, i: 0 } // somebody still reads what is there
            } else {
                P2 { last, place, i: i + 1 }
            }
        }
        P3 { last, place } => {
            w.put_begins(me, place);
            P4 { last, place }
        }
        P4 { last, place } => {
            w.put_ends(me, place);
            let number = if L::NUMBERS { last.number + 1 } else { last.number ^ 1 };
            P5 { asked: Asked { number, place, answer: Answer::None } }
        }
        P5 { asked } => {
            w.request(me, Op::Write(asked.pack()));
            P6 { asked }
        }
        P6 { asked } => {
            let bit: Word = 1 << me;
            let change = if asked.parity() == 1 { Op::Set(bit) } else { Op::Clear(bit) };
            w.flips(change);
            A1
        }

        A1 => {
            let asked = Asked::unpack(w.request(me, Op::Read));
            match asked.answer {
                Answer::In(c) => C1 { asked, c },
                _ => A2 { parity: asked.parity() },
            }
        }
        A2 { parity } => A3 { parity, h: w.head(Op::Read) as usize },
        A3 { parity, h } => {
            w.guard(me, Op::Write(guarding(h)));
            A4 { parity, h }
        }
        A4 { parity, h } => match w.head(Op::Read) as usize == h || !L::VALIDATES {
            true => F1 { parity, h, i: 0 },
            false => A1,
        },

        F1 { parity, h, i } => match w.helped(h, i).filter(|_| L::ASSIGNS) {
            Some(helped) => {
                let old = helped.asked.pack();
                let new = helped.asked.answered(Answer::In(h)).pack();
                w.request(helped.name, Op::CompareAndSwap { old, new });
                F1 { parity, h, i: i + 1 }
            }
            None if w.served(h) >> me & 1 == parity => A1,
            None => G1 { h, i: 0 },
        },

        G1 { h, i } => {
            // The copy that h replaced comes first: it has the least to catch up with.
            let c = if i == 0 { w.previous(h) } else { i - 1 };
            if i > copies(k) {
                A1
            } else if c != h && w.taken(c, Op::TestAndSet) == 0 {
                // h itself may be free by now, if it is no longer the head; it is still to be read.
                G2 { h, i, c, j: 0 }
            } else {
                G1 { h, i: i + 1 }
            }
        }
        G2 { h, i, c, j } if j == k || !L::GUARDS => G3 { h, i, c, j: 0 },
        G2 { h, i, c, j } if j == me => G2 { h, i, c, j: j + 1 },
        G2 { h, i, c, j } => match w.guard(j, Op::Read) == guarding(c) {
            true => G4 { h, i, c },
            false => G2 { h, i, c, j: j + 1 },
        },
        G3 { h, i: _, c, j } if j == k || !L::KEEPS_ANSWERS => B1 { h, c },
        G3 { h, i, c, j } if j == me && !L::KEEPS_OWN => G3 { h, i, c, j: j + 1 },
        // Its own too: somebody may have served it since it found h.
        G3 { h, i, c, j } => match Asked::unpack(w.request(j, Op::Read)).answer == Answer::In(c) {
            true => G4 { h, i, c },
            false => G3 { h, i, c, j: j + 1 },
        },
        G4 { h, i, c } => {
            w.taken(c, Op::Write(0));
            G1 { h, i: i + 1 }
        }

        B1 { h, c } => {
            w.copy_begins(h, c);
            B2 { h, c }
        }
        B2 { h, c } => {
            w.copy_ends(h, c);
            B3 { h, c }
        }
        B3 { h, c } => {
            let todo = w.flips(Op::Read) as u64 ^ w.served(h);
            next(h, c, if L::HELPS { todo } else { todo & 1 << me })
        }
        B4 { h, c, todo } => {
            let asked = Asked::unpack(w.request(first(todo), Op::Read));
            if first(todo) == me || !L::MARKS {
                B7 { h, c, todo, asked }
            } else {
                B5 { h, c, todo, asked }
            }
        }
        B5 { h, c, todo, asked } => {
            w.mark(me, Op::Write(Mark { name: first(todo), place: asked.place }.pack()));
            B6 { h, c, todo, asked }
        }
        // With the head unchanged, that request has not been served, and what it asks for is there.
        B6 { h, c, todo, asked } => match w.head(Op::Read) as usize == h {
            true => B7 { h, c, todo, asked },
            false => U1 { c },
        },
        B7 { h, c, todo, asked } => {
            w.serve_begins(c, first(todo), asked);
            B8 { h, c, todo, asked }
        }
        B8 { h, c, todo, asked } => {
            w.serve_ends(me, c, first(todo), asked);
            next(h, c, todo & (todo - 1))
        }

        I1 { h, c } => {
            let (old, new) = (h as Word, c as Word);
            if w.head(Op::CompareAndSwap { old, new }) == old {
                w.published(c);
                I2 { h }
            } else {
                U1 { c }
            }
        }
        I2 { h } => {
            w.guard(me, Op::Write(NOBODY));
            I3 { h }
        }
        I3 { h } => {
            w.taken(h, Op::Write(0));
            match errand {
                Errand::Change => return Done,
                Errand::Look => A1, // the head it made may be gone: its answer is assigned to it
            }
        }
        U1 { c } => {
            if L::SPOILS {
                w.spoil(c);
            }
            w.taken(c, Op::Write(0));
            A1
        }

        C1 { asked, c } => {
            w.look_begins(me, c);
            C2 { asked, c }
        }
        C2 { asked, c } => {
            w.look_ends(me, c);
            C3 { asked }
        }
        C3 { asked } => {
            w.request(me, Op::Write(asked.answered(Answer::Fetched).pack()));
            C4
        }
        C4 => {
            w.guard(me, Op::Write(NOBODY));
            return Done;
        }
    })
}

/// On to the next of those to be served, or to installing.
fn next(h: usize, c: usize, todo: u64) -> Line {
    if todo == 0 { I1 { h, c } } else { B4 { h, c, todo } }
}

/// The first of those to be served.
fn first(todo: u64) -> usize {
    todo.trailing_zeros() as usize
}

/// What one writes who guards this copy.
fn guarding(copy: usize) -> Word {
    copy as Word + 1
}
