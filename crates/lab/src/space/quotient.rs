//! Merges states that differ only in the names of processes.
//!
//! A process's key is everything that distinguishes it from others: its private state, its buffer if there
//! are buffers, and the places where variables name it (a place of a queue, for instance). The
//! representative is the state in which the keys descend from process to process.
//!
//! This is exact. States that are renamings of each other have the same keys, and so the same keys in
//! order. The ordered keys determine the state, except for variables that name no process. The order is
//! unique: no place of a variable names two processes, so processes with equal keys are named nowhere, and
//! their order makes no difference.

use std::collections::HashMap;

use hallpass_algorithms::{Decl, Pid, Word, registry::MAX_PROCESSES};

use super::{Agent, Space};
use crate::{
    fields::{Field, width},
    machine::Machine,
    tables::Tables,
};

/// The renamings of a machine's processes, prepared to find the representative of a state.
pub struct Symmetry {
    n: usize,
    fixed: usize,
    locals: Vec<Field>,
    /// An additional field for each process, or empty.
    extra: Vec<Field>,
    extra_bits: u32,
    /// A key consists of private state, additional field and marks, from the top bit down.
    mark_bits: u32,
    naming: Vec<Naming>,
}

/// A variable that names processes.
struct Naming {
    field: Field,
    /// For each value, the start of its part of `marks`; and the end of the last part.
    first: Vec<u32>,
    /// The named process, and the bits of its key for this place.
    marks: Vec<(u8, u64)>,
    /// `swapped[p]`: for each value, the value after p and p + 1 have exchanged their names.
    swapped: Vec<Vec<u32>>,
}

impl Naming {
    /// Returns `None` if no value names a process. The marks begin at bit `shift`; the returned number is
    /// their width.
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
                    "{}: each place names one process",
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
    /// Prepares the renamings of all processes except the first `fixed`. Returns `None` if `machine` does
    /// not treat its processes alike, or if the keys do not fit into a word.
    ///
    /// # Panics
    /// Panics if the machine declares to be symmetric and cannot be, for example because a variable has a home.
    pub fn new(machine: &dyn Machine, tables: &Tables, fixed: usize) -> Option<Self> {
        if !machine.is_symmetric() {
            return None;
        }
        let n = tables.n;
        let decls = machine.layout().decls();
        // If processes are renamed, a variable in the memory of one process would have to be renamed with it. No
        // symmetric machine has such a variable so far.
        assert!(decls.iter().all(|decl| decl.home.is_none()), "a variable has a home");
        assert!(
            tables.codes.iter().all(|codes| *codes == tables.codes[0]),
            "private states differ"
        );
        let extra_bits = tables.extra.first().map_or(0, |field| field.bits());
        assert!(tables.extra.is_empty() || tables.extra.len() == n, "not a field a process");
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
        // The tables exchange neighbours. Usually one process is out of place: the one that has just moved.
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

/// The quotient of `S`: one state for all states that differ only in the names of processes.
///
/// The quotient is enough for properties that every process must satisfy in every state. A property of one
/// process along a run needs that process fixed (see [`Symmetry::new`]).
pub struct Quotient<'a, S> {
    /// The space.
    pub space: S,
    /// The renamings.
    pub symmetry: &'a Symmetry,
}

impl<const W: usize, S: Space<W>> Space<W> for Quotient<'_, S> {
    fn agents(&self) -> usize {
        self.space.agents()
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
    fn flaws(&self, state: &[u64; W]) -> u64 {
        self.space.flaws(state)
    }
}
