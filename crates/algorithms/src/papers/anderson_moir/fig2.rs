//! (n, k)-exclusion with one variable that is both an atomic counter and a queue. No real computer has such a variable, so
//! the algorithm is only a baseline. Anderson & Moir 1997, Figure 2.
//!
//! There is one difference from the paper: one variable holds both X and Q here, because lines 1 and 4 are
//! single atomic statements over X and Q. Line 4 first removes the head of the queue, if there is one, and
//! then adds 1 to X.

use alloc::{format, string::String, vec::Vec};

use crate::framework::{
    layout::{Codec, Decl, Init, Kind, Layout},
    machine::{
        Algorithm, Label,
        Next::{self, Enter, Goto, Leave, Spin},
    },
    memory::{Memory, Pid, Var, Word},
    queue,
};

/// The maximum number of processes. It is small, because the domain lists every possible content of the queue, and for
/// k = 1 there are more than n! of them.
pub const MAX_PROCESSES: usize = 7;

/// The number that is added to X, so that its field is never negative.
const X_BIAS: Word = 16;
const X_FIELD: Word = 32;

/// The algorithm of Figure 2.
pub struct Fig2 {
    n: usize,
    k: usize,
    layout: Layout,
    xq: Var,
}

/// The paper's lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    L1,
    L2,
    L4,
}
use Line::*;

/// Returns the word that holds X and the queue, head first.
pub fn pack(x: Word, queue: &[Pid]) -> Word {
    queue::pack(queue) * X_FIELD + x + X_BIAS
}

/// Returns X and the queue, head first.
pub fn unpack(word: Word) -> (Word, Vec<Pid>) {
    (word % X_FIELD - X_BIAS, queue::unpack(word / X_FIELD))
}

/// The format of the word that holds X and Q.
#[derive(Debug)]
struct CounterAndQueue;

impl Codec for CounterAndQueue {
    fn show(&self, value: Word) -> String {
        let (x, queue) = unpack(value);
        format!("X={x} Q={queue:?}")
    }

    fn processes(&self, value: Word) -> Vec<Pid> {
        unpack(value).1
    }

    fn renamed(&self, value: Word, new: &dyn Fn(Pid) -> Pid) -> Word {
        let (x, queue) = unpack(value);
        pack(x, &queue.into_iter().map(new).collect::<Vec<_>>())
    }
}

fn take_slot_or_queue(word: Word, p: Word) -> Word {
    let (x, mut queue) = unpack(word);
    if x <= 0 {
        queue.push(p as Pid);
    }
    pack(x - 1, &queue)
}

fn release_head(word: Word, _: Word) -> Word {
    let (x, mut queue) = unpack(word);
    if !queue.is_empty() {
        queue.remove(0);
    }
    pack(x + 1, &queue)
}

impl Fig2 {
    /// Builds the algorithm for `n` processes, of which `k` may be in the critical section.
    pub fn new(n: usize, k: usize) -> Self {
        let mut layout = Layout::default();
        // At most n - k processes wait.
        let domain = queue::contents(n)
            .iter()
            .filter(|queue| queue.len() <= n - k)
            .flat_map(|queue| (k as Word - n as Word..=k as Word).map(|x| pack(x, queue)))
            .collect();
        let init = Init::Is(pack(k as Word, &[]));
        let xq = layout
            .add(Decl::listed("X,Q", Kind::custom(CounterAndQueue), domain, init).waited_on());
        Fig2 { n, k, layout, xq }
    }
}

impl Algorithm for Fig2 {
    type State = Line;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, _: Pid) -> Line {
        L1
    }

    #[rustfmt::skip] // a line of the paper is a line here
    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Line) -> Next<Line> {
        match at {
            L1 => {
                let (x, _) = unpack(m.atomic_update(self.xq, take_slot_or_queue, p as Word));
                if x <= 0 { Goto(L2) } else { Enter(L4) }
            }
            L2 => {
                let (_, queue) = unpack(m.read(self.xq));
                if queue.contains(&p) { Spin(L2) } else { Enter(L4) }
            }
            L4 => { m.atomic_update(self.xq, release_head, 0); Leave }
        }
    }

    fn waits(&self, _: Pid, at: Line) -> bool {
        at == L2
    }

    fn label(&self, _: Pid, at: Line) -> Label {
        let line = match at {
            L1 => "1",
            L2 => "2",
            L4 => "4",
        };
        Label { figure: "fig2", line: line.into(), instance: String::new() }
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
