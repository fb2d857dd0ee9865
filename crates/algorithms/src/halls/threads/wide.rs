//! The model of a hall with more slots than fit into the word. The word counts free slots, and an
//! admitted process takes a slot number.

use alloc::format;

use super::{
    codecs::SlotsCodec,
    lines::Fair,
    model::{Casts, Sleep, State, ThreadsModel},
    pool::Count,
    slot_bits::{self, Environment},
};
use crate::framework::{
    layout::{Array, Decl, Init, Kind, Layout},
    machine::{
        Algorithm, Label,
        Next::{self, Enter, Goto, Leave, Spin},
    },
    memory::{Memory, Op, Pid, Word},
};

/// The number of slot numbers in one word. It is small, so that small models have several words.
const PER_WORD: usize = 2;

/// The model of a hall with more slots than fit into the word.
pub struct Wide {
    hall: ThreadsModel<Count, Fair>,
    layout: Layout,
    names: Array,
    words: usize,
}

/// The next step of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At {
    /// The process executes a line of the hall.
    Hall(State),
    /// The admitted process looks for a slot number.
    Looks(State, slot_bits::Line),
    /// The process puts back this slot number, and leaves.
    Has(State, usize),
}
use At::*;

/// The slot numbers on declared variables.
struct ModelBits<'a, M>(&'a Wide, &'a mut M);

impl<M: Memory> Environment for ModelBits<'_, M> {
    fn bits(&mut self, index: usize, op: Op) -> Word {
        self.1.access(self.0.names.at(index), op)
    }

    fn words(&self) -> usize {
        self.0.words
    }
}

impl Wide {
    /// Creates the model of a hall with `k` slots for `n` processes.
    pub fn new(n: usize, k: usize) -> Self {
        let hall = ThreadsModel::new(Casts::PLAIN, Sleep::Deep, n, k);
        let mut layout = hall.layout().clone();
        let words = k.div_ceil(PER_WORD);
        let names = layout.array(words, |index| {
            let all: Word = (1 << PER_WORD.min(k - index * PER_WORD)) - 1;
            Decl::listed(
                format!("names[{index}]"),
                Kind::custom(SlotsCodec),
                (0..=all).collect(),
                Init::Is(all),
            )
        });
        Wide { hall, layout, names, words }
    }
}

impl Algorithm for Wide {
    type State = At;

    fn n(&self) -> usize {
        self.hall.n()
    }

    fn k(&self) -> usize {
        self.hall.k()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, p: Pid) -> At {
        Hall(self.hall.begin(p))
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: At) -> Next<At> {
        match at {
            Hall(line) => match self.hall.step(m, p, line) {
                Goto(next) => Goto(Hall(next)),
                Spin(next) => Spin(Hall(next)),
                Enter(exit) => Goto(Looks(exit, slot_bits::Line::N1 { index: 0 })),
                Leave => Leave,
            },
            Looks(exit, line) => match slot_bits::step(&mut ModelBits(self, m), line) {
                slot_bits::Search::Goto(next) => Goto(Looks(exit, next)),
                slot_bits::Search::Taken { index, bit } => {
                    Enter(Has(exit, index * PER_WORD + bit.trailing_zeros() as usize))
                }
            },
            Has(exit, name) => {
                let (index, bit) = (name / PER_WORD, 1 << (name % PER_WORD));
                ModelBits(self, m).bits(index, Op::FetchAdd(bit));
                Goto(Hall(exit))
            }
        }
    }

    fn waits(&self, p: Pid, at: At) -> bool {
        match at {
            Hall(line) => self.hall.waits(p, line),
            Looks(..) | Has(..) => true,
        }
    }

    fn label(&self, p: Pid, at: At) -> Label {
        let line = match at {
            Hall(line) => return self.hall.label(p, line),
            Looks(_, line) => line.label(),
            Has(..) => "N3",
        };
        Label { figure: "hall", line: line.into(), instance: Default::default() }
    }

    fn name(&self, at: At) -> Option<usize> {
        match at {
            Has(_, name) => Some(name),
            _ => None,
        }
    }
}
