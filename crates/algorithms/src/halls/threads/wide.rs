//! The model of a hall with more slots than fit into `word`, the variable that contains what is free.
//!
//! The first slots are bits of `word`. Of the other slots, `word` contains only how many are free. A process that takes
//! one of them from this count is admitted, and then looks for a free slot number (see `slot_bits`).

use alloc::format;

use super::{
    codecs::{FullCodec, SlotsCodec},
    lines::Line,
    model::{Casts, Sleep, State, ThreadsModel},
    policy::Fair,
    pool::BitsAndCount,
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

/// How a model represents the slot numbers. A word contains only one or two of them, so that small models have several
/// words or groups.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    per_word: usize,
    words_per_group: usize,
}

impl Numbers {
    /// Two slot numbers in each word, and no groups.
    pub const WORDS: Numbers = Numbers { per_word: 2, words_per_group: usize::MAX };
    /// One slot number in each word, and one word in each group.
    pub const GROUPS: Numbers = Numbers { per_word: 1, words_per_group: 1 };
}

/// The model of a hall with more slots than fit into `word`. The first `BITS` slots are bits of `word`.
pub struct Wide<const BITS: u32> {
    hall: ThreadsModel<BitsAndCount<BITS>, Fair>,
    layout: Layout,
    names: Array,
    full: Array,
    words: usize,
    numbers: Numbers,
}

/// The next step of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At {
    /// The process executes a line of the hall.
    Hall(State),
    /// The admitted process looks for a slot number.
    Looks(State, slot_bits::Line),
    /// The process holds this slot number. Its next step puts the number back. Its slot is the number plus `BITS`.
    Has(State, usize),
    /// The process announces that it has put its number back.
    Puts(State, slot_bits::Line),
}
use At::*;

/// The environment of the slot numbers in the model: the words are declared variables.
struct ModelBits<'a, const BITS: u32, M>(&'a Wide<BITS>, &'a mut M);

impl<const BITS: u32, M: Memory> Environment for ModelBits<'_, BITS, M> {
    fn bits(&mut self, index: usize, op: Op) -> Word {
        self.1.access(self.0.names.at(index), op)
    }

    fn full(&mut self, group: usize, op: Op) -> Word {
        self.1.access(self.0.full.at(group), op)
    }

    fn words(&self) -> usize {
        self.0.words
    }

    fn words_per_group(&self) -> usize {
        self.0.numbers.words_per_group
    }
}

impl<const BITS: u32> Wide<BITS> {
    /// Creates the model of a hall with `k` slots for `n` processes.
    pub fn new(numbers: Numbers, casts: impl Into<Casts>, n: usize, k: usize) -> Self {
        let hall = ThreadsModel::new(casts, Sleep::Deep, n, k);
        let mut layout = hall.layout().clone();
        let counted = k.saturating_sub(BITS as usize);
        let words = counted.div_ceil(numbers.per_word);
        let names = layout.array(words, |index| {
            let per_word = numbers.per_word;
            let all: Word = (1 << per_word.min(counted - index * per_word)) - 1;
            Decl::listed(
                format!("names[{index}]"),
                Kind::custom(SlotsCodec),
                (0..=all).collect(),
                Init::Is(all),
            )
        });
        let groups = words.div_ceil(numbers.words_per_group);
        let full = layout.array(if groups > 1 { groups } else { 0 }, |group| {
            let values = (0..=slot_bits::FULL | slot_bits::MARKING | slot_bits::NEWS).collect();
            let kind = Kind::custom(FullCodec);
            Decl::listed(format!("full[{group}]"), kind, values, Init::Is(0))
        });
        Wide { hall, layout, names, full, words, numbers }
    }

    /// Executes a line of `slot_bits`. `exit` is the state in which the process starts the exit section of the hall.
    fn search<M: Memory>(&self, m: &mut M, exit: State, line: slot_bits::Line) -> Next<At> {
        use slot_bits::{Line, Search, Taken};
        match slot_bits::step(&mut ModelBits(self, m), line) {
            Search::Goto(next @ (Line::G7 { .. } | Line::G8 { .. })) => Goto(Puts(exit, next)),
            Search::Goto(next) => Goto(Looks(exit, next)),
            Search::Taken(Taken { index, bit }) => {
                let number = index * self.numbers.per_word + bit.trailing_zeros() as usize;
                Enter(Has(exit, number))
            }
            Search::Done => Goto(Hall(exit)),
        }
    }

    /// Returns the slot of a process that starts its exit section with this state, if the slot is a bit of `word`.
    fn slot_in_word(exit: State) -> Option<usize> {
        match exit {
            State::At(Line::X1 { take }) => match BitsAndCount::<BITS>::set(take) {
                0 => None,
                set => Some(set.trailing_zeros() as usize),
            },
            _ => None,
        }
    }
}

impl<const BITS: u32> Algorithm for Wide<BITS> {
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
                Enter(exit) if Self::slot_in_word(exit).is_some() => Enter(Hall(exit)),
                Enter(exit) => Goto(Looks(exit, slot_bits::begin(&ModelBits(self, m)))),
                Leave => Leave,
            },
            Looks(exit, line) => self.search(m, exit, line),
            Has(exit, number) => {
                let (index, bit) = (number / self.numbers.per_word, number % self.numbers.per_word);
                self.search(m, exit, slot_bits::Line::N3 { index, bit: 1 << bit })
            }
            Puts(exit, line) => self.search(m, exit, line),
        }
    }

    fn waits(&self, p: Pid, at: At) -> bool {
        match at {
            Hall(line) => self.hall.waits(p, line),
            Looks(..) | Has(..) | Puts(..) => true,
        }
    }

    fn label(&self, p: Pid, at: At) -> Label {
        let line = match at {
            Hall(line) => return self.hall.label(p, line),
            Looks(_, line) | Puts(_, line) => line.label(),
            Has(..) => "N3",
        };
        Label { figure: "hall", line: line.into(), instance: Default::default() }
    }

    fn name(&self, at: At) -> Option<usize> {
        match at {
            Has(_, number) => Some(BITS as usize + number),
            Hall(state) => Self::slot_in_word(state),
            Looks(..) | Puts(..) => None,
        }
    }
}
