//! Merges states that differ only by a renaming of processes.
//!
//! The key of a process contains everything that distinguishes it from other processes: its private
//! state, its buffer if there are buffers, and the places where variables name it (such as a position in
//! a queue). The representative is the state in which the keys descend from process to process. If some processes are
//! *fixed*, a renaming keeps their numbers, and only the keys of the other processes descend.
//!
//! This is exact: two states have the same representative if and only if they are renamings of each other.
//!
//! - A renaming permutes the keys, and does not change variables that name no process. So two states that are
//!   renamings of each other have the same keys in descending order. These keys, and the variables that name no
//!   process, determine the representative.
//! - The order of processes with equal keys makes no difference. Each place of a variable names only one process.
//!   So if two processes have equal keys, no variable names either of them.
//! - The representative is itself a renaming of the state. So states with the same representative are renamings of
//!   each other.

use std::collections::HashMap;

use hallpass_algorithms::{Decl, Pid, Word, registry::MAX_PROCESSES};

use super::{Agent, Space};
use crate::{
    fields::{Field, width},
    machine::Machine,
    tables::Tables,
};

/// The renamings of a step machine's processes, prepared for finding the representative of a state.
pub struct Symmetry {
    n: usize,
    fixed: usize,
    locals: Vec<Field>,
    /// An additional field for each process. Empty if there are none.
    extra: Vec<Field>,
    extra_bits: u32,
    /// The number of bits of the *marks* of a key. The marks say at which places variables name the process. From
    /// the top bit down, a key consists of the private state, the additional field and the marks.
    mark_bits: u32,
    naming: Vec<Naming>,
}

/// A variable that names processes.
struct Naming {
    field: Field,
    /// For each value: the start of its part of `marks`. The last element is the end of the last part.
    first: Vec<u32>,
    /// Each named process, and the bits that this place sets in its key.
    marks: Vec<(u8, u64)>,
    /// `swapped[p]` has, for each value, the value after processes p and p + 1 have exchanged their numbers.
    swapped: Vec<Vec<u32>>,
}

impl Naming {
    /// Creates the naming of a variable, and returns the width of its marks. The marks begin at bit
    /// `shift`. Returns `None` if no value names a process.
    fn new(n: usize, decl: &Decl, field: Field, shift: u32) -> Option<(Self, u32)> {
        let named: Vec<Vec<Pid>> =
            decl.domain.listed().iter().map(|&x| decl.processes(x)).collect();
        let most = named.iter().map(Vec::len).max().filter(|&most| most > 0)?;
        let mut first = vec![0];
        let mut marks = Vec::new();
        for named in &named {
            for (place, &p) in named.iter().enumerate() {
                assert!(
                    p < n && !named[..place].contains(&p),
                    "{}: a value names a process twice, or a process that does not exist",
                    decl.name
                );
                marks.push((p as u8, (place as u64 + 1) << shift));
            }
            first.push(marks.len() as u32);
        }
        let numbers: HashMap<Word, u32> = decl
            .domain
            .listed()
            .iter()
            .enumerate()
            .map(|(number, &x)| (x, number as u32))
            .collect();
        let swapped = |p: Pid| {
            let swap = |q| if q == p { p + 1 } else { q - usize::from(q == p + 1) };
            decl.domain.listed().iter().map(|&value| numbers[&decl.renamed(value, swap)]).collect()
        };
        let swapped = (0..n - 1).map(swapped).collect();
        Some((Naming { field, first, marks, swapped }, width(most + 1)))
    }

    #[inline]
    fn marks(&self, state: &[u64]) -> &[(u8, u64)] {
        let value = self.field.get(state);
        &self.marks[self.first[value] as usize..self.first[value + 1] as usize]
    }
}

impl Symmetry {
    /// Prepares the renamings of all processes except the first `fixed`. Returns `None` if `machine`
    /// does not treat its processes alike, or if the keys do not fit into a word.
    ///
    /// # Panics
    /// Panics if the step machine claims to be symmetric but cannot be, for example because a variable
    /// has a home: it lies in the memory of one process.
    pub fn new(machine: &dyn Machine, tables: &Tables, fixed: usize) -> Option<Self> {
        if !machine.is_symmetric() {
            return None;
        }
        let n = tables.n;
        let decls = machine.layout().decls();
        // If a process is renamed, a variable in its memory would have to be renamed too. No symmetric
        // step machine has such a variable so far.
        assert!(decls.iter().all(|decl| decl.home.is_none()), "a variable has a home");
        assert!(
            tables.codes.iter().all(|codes| *codes == tables.codes[0]),
            "private states differ"
        );
        let extra_bits = tables.extra.first().map_or(0, |field| field.bits());
        assert!(
            tables.extra.is_empty() || tables.extra.len() == n,
            "there must be one additional field for each process"
        );
        assert!(tables.extra.iter().all(|field| field.bits() == extra_bits), "fields differ");

        let mut mark_bits = 0;
        let mut naming = Vec::new();
        for (decl, &field) in decls.iter().zip(&tables.vars) {
            if let Some((variable, bits)) = Naming::new(n, decl, field, mark_bits) {
                naming.push(variable);
                mark_bits += bits;
                if mark_bits >= u64::BITS {
                    return None;
                }
            }
        }
        let fits = width(tables.codes[0].len()) + extra_bits + mark_bits <= u64::BITS;
        fits.then(|| Symmetry {
            n,
            fixed,
            locals: tables.locals.clone(),
            extra: tables.extra.clone(),
            extra_bits,
            mark_bits,
            naming,
        })
    }

    #[inline]
    fn keys(&self, state: &[u64]) -> [u64; MAX_PROCESSES] {
        let mut keys = [0; MAX_PROCESSES];
        for (p, local) in self.locals.iter().enumerate() {
            let extra = self.extra.get(p).map_or(0, |field| field.get(state) as u64);
            let own = (local.get(state) as u64) << self.extra_bits | extra;
            keys[p] = own << self.mark_bits;
        }
        for variable in &self.naming {
            for &(p, mark) in variable.marks(state) {
                keys[p as usize] |= mark;
            }
        }
        keys
    }

    /// Returns the representative of `state`.
    #[inline]
    pub fn canonical<const W: usize>(&self, mut state: [u64; W]) -> [u64; W] {
        let mut keys = self.keys(&state);
        let keys = &mut keys[..self.n];
        let marks = (1 << self.mark_bits) - 1;
        let mut sorted = true;
        // `swapped` exchanges neighbours. Usually only one process is out of order: the process that has
        // just taken a step.
        for index in self.fixed + 1..self.n {
            let mut p = index;
            while p > self.fixed && keys[p - 1] < keys[p] {
                p -= 1;
                sorted = false;
                if (keys[p] | keys[p + 1]) & marks != 0 {
                    for variable in &self.naming {
                        let value = variable.field.get(&state);
                        variable.field.set(&mut state, variable.swapped[p][value] as usize);
                    }
                }
                keys.swap(p, p + 1);
            }
        }
        if !sorted {
            for (p, key) in keys.iter().enumerate().skip(self.fixed) {
                let own = key >> self.mark_bits;
                self.locals[p].set(&mut state, (own >> self.extra_bits) as usize);
                if let Some(field) = self.extra.get(p) {
                    field.set(&mut state, (own & ((1 << self.extra_bits) - 1)) as usize);
                }
            }
        }
        state
    }
}

/// The quotient of `S`. It has one state for all states that differ only by a renaming of processes.
///
/// The quotient is enough for properties that every process must have in every state. For a property of
/// one process along a run, that process must be fixed (see [`Symmetry::new`]).
pub struct Quotient<'a, S> {
    /// The space whose states are merged.
    pub space: S,
    /// The renamings under which states are merged.
    pub symmetry: &'a Symmetry,
}

impl<const W: usize, S: Space<W>> Space<W> for Quotient<'_, S> {
    fn agents(&self) -> usize {
        self.space.agents()
    }

    fn bits(&self) -> u32 {
        self.space.bits()
    }

    fn word_bits(&self) -> [u32; W] {
        self.space.word_bits()
    }

    fn parts(&self) -> Vec<[u64; W]> {
        self.space.parts()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; W]> + '_> {
        self.space.initial()
    }

    #[inline]
    fn successors(&self, state: &[u64; W], each: &mut dyn FnMut(Agent, [u64; W])) {
        self.space.successors(state, each);
    }

    #[inline]
    fn canonical(&self, state: [u64; W]) -> [u64; W] {
        self.symmetry.canonical(state)
    }

    #[inline]
    fn violations(&self, state: &[u64; W]) -> u64 {
        self.space.violations(state)
    }
}
