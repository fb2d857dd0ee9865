//! Lists and numbers the possible contents of a process's store buffer, so that a packed state needs
//! only one small number for the buffer.
//!
//! The private state alone determines the value that a write stores. So the contents follow from the
//! control flow of the process. They are found by running each process alone, with every result that a
//! read may have. A read-modify-write waits until the buffer is empty. If every cycle that writes also
//! contains a read-modify-write, the buffer is bounded, and every run is covered. Otherwise the buffer gets a
//! capacity, and a process waits while its buffer is full. In this case, some runs are not explored.

use std::collections::HashMap;

use hallpass_algorithms::{Pid, Word};
use indexmap::IndexSet;

use crate::{
    machine::Machine,
    tables::{Access, Budget, CannotCompile, Row, Step, Tables},
};

/// The default capacity of a buffer, if the algorithm does not bound it.
pub const CAPACITY: usize = 4;

/// Stands for no content, or for no value.
const NONE: u32 = u32::MAX;

/// The maximum number of pairs of a private state and a content.
const MOST_PAIRS: usize = 1 << 22;

/// The approximate memory for one pair of a private state and a content, in bytes.
const BYTES_PER_PAIR: usize = 128;

/// A store that waits in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stored {
    var: u16,
    /// The number of the value.
    value: u32,
}

/// One possible content of a buffer: its stores, oldest first. Each store is given by its number among all
/// stores of the process.
type Content = Vec<u16>;

/// All possible contents of one process's buffer. Content 0 is the empty buffer.
struct Contents {
    stored: Vec<Stored>,
    /// For each private state that writes: the number of its store.
    store_at: Vec<u16>,
    contents: Vec<Content>,
    /// For each content: the content without its oldest store.
    rest: Vec<u32>,
    /// For each content and each store: the content with this store added.
    longer: Vec<u32>,
    /// For each content and variable: the number of the value that was last stored to the variable, or
    /// [`NONE`].
    newest: Vec<u32>,
}

/// The buffers of all processes.
pub struct Buffers {
    processes: Vec<Contents>,
    vars: usize,
    capacity: usize,
    exact: bool,
}

/// Returns the maximum number of plain writes that a process makes between two read-modify-writes, or `None`
/// if there is no maximum.
fn longest_run(tables: &Tables, p: Pid) -> Option<usize> {
    let codes = tables.codes[p].len();
    let access = |code| tables.row_of(p, code).access;
    let writes = (0..codes).filter(|&code| access(code) == Access::Write).count();
    let mut before = vec![0; codes];
    let mut todo: Vec<usize> = (0..codes).collect();
    while let Some(code) = todo.pop() {
        let after = match access(code) {
            Access::None | Access::Read => before[code],
            Access::Write => before[code] + 1,
            Access::ReadModifyWrite => 0,
        };
        if after > writes {
            return None; // the path has a cycle that writes
        }
        for step in tables.steps_of(tables.row_of(p, code)) {
            if after > before[step.next as usize] {
                before[step.next as usize] = after;
                todo.push(step.next as usize);
            }
        }
    }
    before.into_iter().max()
}

/// Returns all stores of `p`, and the store of each private state.
///
/// Stores are numbered in the order of the private states that make them. So in a symmetric step machine, a
/// store has the same number for every process, and so does each content of a buffer. Symmetry relies on this.
///
/// # Errors
/// Fails if the effect of a write depends on the value that it overwrites, because such a write cannot
/// wait in a buffer.
fn stores(
    machine: &dyn Machine,
    tables: &Tables,
    p: Pid,
) -> Result<(Vec<Stored>, Vec<u16>), CannotCompile> {
    let mut stored: Vec<Stored> = Vec::new();
    let store_at = |code| {
        let row = tables.row_of(p, code);
        let steps = tables.steps_of(row);
        if row.access != Access::Write || steps[0].out_of_range {
            return Ok(0);
        }
        let effect = |step: &Step| (step.next, step.value);
        if steps.iter().any(|step| effect(step) != effect(&steps[0])) {
            let label = machine.position(p, tables.codes[p][code]).label;
            let line = label.map_or_else(String::new, |label| label.to_string());
            return Err(CannotCompile::WriteThatReads { process: p, line });
        }
        let store = Stored { var: row.var, value: steps[0].value };
        let number = stored.iter().position(|&other| other == store).unwrap_or_else(|| {
            stored.push(store);
            stored.len() - 1
        });
        Ok(number as u16)
    };
    let store_at = (0..tables.codes[p].len()).map(store_at).collect::<Result<_, _>>()?;
    Ok((stored, store_at))
}

impl Contents {
    /// Returns all possible contents of the buffer of `p`, and whether a write ever finds the buffer full.
    fn new(
        machine: &dyn Machine,
        tables: &Tables,
        p: Pid,
        capacity: usize,
        mut budget: Budget<'_>,
    ) -> Result<(Self, bool), CannotCompile> {
        let (stored, store_at) = stores(machine, tables, p)?;
        let mut pairs: IndexSet<(u32, Content)> = IndexSet::from([(0, Content::new())]);
        let mut was_full = false;
        let mut index = 0;
        while let Some((code, content)) = pairs.get_index(index).cloned() {
            if pairs.len() > MOST_PAIRS {
                return Err(CannotCompile::Stores);
            }
            budget.spend(BYTES_PER_PAIR)?;
            if !content.is_empty() {
                pairs.insert((code, content[1..].to_vec()));
            }
            let row = tables.row_of(p, code as usize);
            let steps = tables.steps_of(row);
            let own = content.iter().rev().map(|&store| stored[store as usize]);
            let mut add = |next: u32, content: &Content| {
                pairs.insert((next, content.clone()));
            };
            match row.access {
                Access::ReadModifyWrite if !content.is_empty() => {}
                Access::Read if own.clone().any(|store| store.var == row.var) => {
                    let newest = own.into_iter().find(|store| store.var == row.var);
                    let value = newest.map_or(0, |store| store.value);
                    add(steps[value as usize].next, &content);
                }
                Access::Write if steps[0].out_of_range => {}
                Access::Write if content.len() == capacity => was_full = true,
                Access::Write => {
                    let mut longer = content.clone();
                    longer.push(store_at[code as usize]);
                    add(steps[0].next, &longer);
                }
                _ => steps.iter().for_each(|step| add(step.next, &content)),
            }
            index += 1;
        }

        let mut contents: Vec<Content> = pairs.into_iter().map(|(_, content)| content).collect();
        contents.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        contents.dedup();
        Ok((Self::link(tables, stored, store_at, contents), was_full))
    }

    /// Builds the tables that lead from one content to the next.
    fn link(
        tables: &Tables,
        stored: Vec<Stored>,
        store_at: Vec<u16>,
        contents: Vec<Content>,
    ) -> Self {
        let numbers: HashMap<&[u16], u32> =
            contents.iter().enumerate().map(|(i, content)| (&content[..], i as u32)).collect();
        let number = |content: &[u16]| numbers.get(content).copied().unwrap_or(NONE);
        let rest = contents.iter().map(|content| number(content.get(1..).unwrap_or(&[]))).collect();
        let mut longer = Vec::new();
        let mut newest = Vec::new();
        for content in &contents {
            longer.extend(
                (0..stored.len() as u16).map(|store| {
                    number(&content.iter().copied().chain([store]).collect::<Content>())
                }),
            );
            newest.extend((0..tables.vars.len()).map(|var| {
                let mut own = content.iter().rev().map(|&store| stored[store as usize]);
                own.find(|store| usize::from(store.var) == var).map_or(NONE, |store| store.value)
            }));
        }
        Contents { stored, store_at, rest, longer, newest, contents }
    }
}

impl Buffers {
    /// Compiles `machine` for states with buffers. Field `p` of [`Tables::extra`] is the content of the
    /// buffer of `p`. If the step machine does not bound a buffer, the buffer holds at most `capacity`
    /// stores.
    ///
    /// # Errors
    /// Fails if the step machine cannot be compiled, or if one of its writes cannot wait in a buffer.
    pub fn compile(
        machine: &dyn Machine,
        capacity: usize,
    ) -> Result<(Tables, Self), CannotCompile> {
        Self::compile_within(machine, capacity, Budget::UNLIMITED)
    }

    /// Works like [`compile`](Buffers::compile), within a budget.
    ///
    /// # Errors
    /// Fails in the same cases as [`compile`](Buffers::compile), and if the budget is not enough.
    pub fn compile_within(
        machine: &dyn Machine,
        capacity: usize,
        budget: Budget<'_>,
    ) -> Result<(Tables, Self), CannotCompile> {
        let tables = Tables::within(machine, &[], budget)?;
        let mut processes = Vec::new();
        let mut exact = true;
        for p in 0..tables.n {
            let capacity = longest_run(&tables, p).unwrap_or(capacity);
            let (contents, was_full) = Contents::new(machine, &tables, p, capacity, budget)?;
            processes.push(contents);
            exact &= !was_full;
        }
        let counts: Vec<usize> = processes.iter().map(|process| process.contents.len()).collect();
        let longest = processes.iter().flat_map(|process| &process.contents).map(Vec::len).max();
        let buffers =
            Buffers { vars: tables.vars.len(), capacity: longest.unwrap_or(0), exact, processes };
        Ok((Tables::within(machine, &counts, budget)?, buffers))
    }

    /// Returns the maximum number of stores in a buffer.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns whether no write ever finds its buffer full. If so, the capacity excludes no run.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Returns the number of the value that `p` last stored to the variable of `row`, if that store is
    /// still in the buffer of `p`.
    #[inline]
    pub(crate) fn newest(&self, p: Pid, content: usize, row: &Row) -> Option<usize> {
        match self.processes[p].newest[content * self.vars + row.var as usize] {
            NONE => None,
            value => Some(value as usize),
        }
    }

    /// Returns the content after the write that `p` makes at `code`, or `None` if the buffer is full.
    #[inline]
    pub(crate) fn longer(&self, p: Pid, content: usize, code: usize) -> Option<usize> {
        let process = &self.processes[p];
        let store = process.store_at[code] as usize;
        match process.longer[content * process.stored.len() + store] {
            NONE => None,
            longer => Some(longer as usize),
        }
    }

    /// Returns the variable and the value number of the oldest store, and the content without this store.
    /// Returns `None` if the buffer is empty.
    #[inline]
    pub(crate) fn oldest(&self, p: Pid, content: usize) -> Option<(usize, usize, usize)> {
        let process = &self.processes[p];
        let oldest = process.stored[*process.contents[content].first()? as usize];
        Some((oldest.var as usize, oldest.value as usize, process.rest[content] as usize))
    }

    /// Returns the number of the content that consists of these stores, oldest first, if it can occur.
    pub fn content(
        &self,
        tables: &Tables,
        p: Pid,
        stores: impl IntoIterator<Item = (usize, Word)>,
    ) -> Option<usize> {
        let process = &self.processes[p];
        let number = |(var, word): (usize, Word)| {
            let store = Stored { var: var as u16, value: tables.number(var, word)? };
            process.stored.iter().position(|&other| other == store).map(|index| index as u16)
        };
        let content = stores.into_iter().map(number).collect::<Option<Content>>()?;
        let order =
            |other: &Content| other.len().cmp(&content.len()).then_with(|| other.cmp(&content));
        process.contents.binary_search_by(order).ok()
    }

    /// Returns the stores in a buffer, oldest first. Each store is the variable's position in the
    /// layout, and the value.
    pub fn stores(&self, tables: &Tables, state: &[u64], p: Pid) -> Vec<(usize, Word)> {
        let process = &self.processes[p];
        let stores = process.contents[tables.extra[p].get(state)].iter();
        stores
            .map(|&store| process.stored[store as usize])
            .map(|store| {
                (store.var as usize, tables.value(store.var as usize, store.value as usize))
            })
            .collect()
    }
}
