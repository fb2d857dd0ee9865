//! States that are the same but for the names of processes, taken for one.
//!
//! A process's key is all that tells it from others: its private state, its buffer if there are
//! buffers, and where each variable names it (which place of a queue, for instance). The
//! representative is the state in which the keys go down from process to process.
//!
//! This is exact. States that are renamings of each other have the same keys, hence the same keys
//! in order, and those say everything there is in a state, up to variables that name nobody. And
//! there is only one way to get there: processes with equal keys are named nowhere, since no place
//! of a variable names two, so it makes no difference which of them comes first.

use std::collections::HashMap;

use hallpass_algorithms::{Decl, Pid, Word, registry::MAX_PROCESSES};

use super::{Agent, Space};
use crate::{
    fields::{Field, width},
    machine::Machine,
    tables::Tables,
};

/// How to find the representative of a state.
pub struct Symmetry {
    n: usize,
    fixed: usize,
    locals: Vec<Field>,
    /// A further field for each process, or none at all.
    extra: Vec<Field>,
    extra_bits: u32,
    /// A key is private state, extra field, marks, from the top.
    mark_bits: u32,
    naming: Vec<Naming>,
}

/// A variable that names processes.
struct Naming {
    field: Field,
    /// For each value, where its part of `marks` begins; and the end of the last.
    first: Vec<u32>,
    /// The process that is named, and the bits of its key that say where.
    marks: Vec<(u8, u64)>,
    /// `swapped[p]`: for each value, the value after p and p + 1 have changed names.
    swapped: Vec<Vec<u32>>,
}

impl Naming {
    /// None if no value names anybody. The marks begin at bit `shift`; the number is their width.
    fn new(n: usize, decl: &Decl, field: Field, shift: u32) -> Option<(Self, u32)> {
        let named: Vec<Vec<Pid>> =
            decl.domain.listed().iter().map(|&x| decl.processes(x)).collect();
        let most = named.iter().map(Vec::len).max().filter(|&most| most > 0)?;
        let mut first = vec![0];
        let mut marks = Vec::new();
        for named in &named {
            for (place, &p) in named.iter().enumerate() {
                assert!(p < n && !named[..place].contains(&p), "{}: who is named, once", decl.name);
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
    /// The renamings of all processes but the first `fixed`. None if `machine` does not treat its
    /// processes alike, or if the keys do not fit into a word.
    ///
    /// # Panics
    /// If the machine cannot be what it says it is: a variable has a home, say.
    pub fn new(machine: &dyn Machine, tables: &Tables, fixed: usize) -> Option<Self> {
        if !machine.is_symmetric() {
            return None;
        }
        let n = tables.n;
        let decls = machine.layout().decls();
        // A variable at home with one process would have to move with it. No machine that treats
        // processes alike has any so far.
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

    /// The representative of `state`.
    #[inline]
    pub fn canonical<const W: usize>(&self, mut state: [u64; W]) -> [u64; W] {
        let mut keys = self.keys(&state);
        let keys = &mut keys[..self.n];
        let marks = (1 << self.mark_bits) - 1;
        let mut sorted = true;
        // By exchanging neighbours, since for that there are tables. Mostly one process is out of
        // place: the one that has just moved.
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

/// `S` with one state for all that are the same but for the names of processes.
///
/// For what every process must satisfy in every state, that is enough. What one process must
/// satisfy along a run needs that process fixed (see [`Symmetry::new`]).
pub struct Quotient<'a, S> {
    /// The space.
    pub space: S,
    /// Which states are the same.
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
