//! Deliberately wrong variants. The lab must reject each of them and name the violation.

use super::{
    environment::{Answer, Environment, Request},
    lines::{
        Intent,
        Line::{self, *},
        Next::{self, Goto},
    },
};
use crate::{changed_lines, framework::memory::Op};

changed_lines! {
    Intent, Line => Next where [E: Environment], in E;
    /// Lines R3 and A4 do not check that the guarded copy is still the head.
    Hasty: |_intent, e, _me| {
        R3 { h, .. } => {
            e.head(Op::Read);
            Goto(R4 { h })
        },
        A4 { parity, h } => {
            e.head(Op::Read);
            Goto(F1 { parity, h, i: 0 })
        },
    }

    /// Line G2 does not check guards.
    Unguarded: |_intent, _e, _me| {
        G2 { h, i, c, .. } => Goto(G3 { h, i, c, j: 0 }),
    }

    /// Line G3 does not check for answers that have not been fetched.
    Unpinned: |_intent, _e, _me| {
        G3 { h, c, .. } => Goto(B1 { h, c }),
    }

    /// Line G3 does not check for the process's own answer.
    Careless: |_intent, _e, me| {
        G3 { h, i, c, j } if j == me => Goto(G3 { h, i, c, j: j + 1 }),
    }

    /// Line F1 assigns no answers before the head is replaced.
    Hurried: |_intent, e, me| {
        F1 { parity, h, .. } => Goto(if e.served(h) >> me & 1 == parity { A1 } else { G1 { h, i: 0 } }),
    }

    /// Lines P2, B5 and B6 are missing: nothing protects an operation that another process reads.
    Unmarked: |_intent, e, _me| {
        P2 { last, buffer, .. } => Goto(P3 { last, buffer }),
        B4 { h, c, todo } => {
            let owner = todo.trailing_zeros() as usize;
            let request = Request::unpack(e.request(owner, Op::Read));
            Goto(B7 { h, c, todo, request })
        },
    }

    /// Line P4 numbers requests modulo 2.
    Untagged: |_intent, e, me| {
        P4 { last, buffer } => {
            e.put_ends(me, buffer);
            let number = last.number ^ 1;
            Goto(P5 { request: Request { number, buffer, answer: Answer::None } })
        },
    }

    /// Line B3 ignores the requests of others.
    Selfish: |_intent, e, me| {
        B3 { h, c } => {
            let todo = (e.flips(Op::Read) as u64 ^ e.served(h)) & 1 << me;
            Goto(if todo == 0 { I1 { h, c } } else { B4 { h, c, todo } })
        },
    }

    /// Line U1 does not spoil the copy, so other processes mistake it for a copy that was installed.
    Forgetful: |_intent, e, _me| {
        U1 { c } => {
            e.taken(c, Op::Write(0));
            Goto(A1)
        },
    }
}
