//! Look-ups in the tables: the steps of processes, and the parts of packed states.
//!
//! A [`Row`] is the step of a process in one private state. A [`Step`] is the effect of this step if it finds one
//! given value.

use hallpass_algorithms::{Pid, Section, Word};

use super::{Access, Row, Step, Tables};
use crate::machine::{Local, Position, REMAINDER};

impl Tables {
    /// Returns the number of bits in use in each word of a state.
    pub fn word_bits<const W: usize>(&self) -> [u32; W] {
        let fields =
            self.locals.iter().chain(&self.vars).chain(&self.extra).chain([&self.out_of_range]);
        let mut used = [0; W];
        for field in fields {
            let word = &mut used[field.word as usize];
            *word = (*word).max(field.shift + field.bits());
        }
        used
    }

    /// Returns the code of the private state of `p`.
    #[inline]
    pub fn code(&self, state: &[u64], p: Pid) -> usize {
        self.locals[p].get(state)
    }

    /// Returns the code of the private state of `p` just after it has left its remainder.
    pub fn begin(&self, p: Pid) -> usize {
        self.steps[self.rows[self.first_row[p] + REMAINDER as usize].first as usize].next as usize
    }

    /// Returns the step of `p` in the private state with this code.
    pub fn row_of(&self, p: Pid, code: usize) -> &Row {
        &self.rows[self.first_row[p] + code]
    }

    /// Returns the effects of a step of `row`, one for each value that it may find.
    pub fn steps_of(&self, row: &Row) -> &[Step] {
        let count = match row.access {
            Access::None => 1,
            _ => self.domains[row.var as usize].len(),
        };
        &self.steps[row.first as usize..][..count]
    }

    /// Returns the next step of `p`.
    #[inline]
    pub fn row(&self, state: &[u64], p: Pid) -> &Row {
        &self.rows[self.first_row[p] + self.code(state, p)]
    }

    /// Returns the step of `p` in each of its private states.
    pub fn rows(&self, p: Pid) -> &[Row] {
        &self.rows[self.first_row[p]..][..self.codes[p].len()]
    }

    /// Returns the effect of a step of `row` in this state.
    #[inline]
    pub fn step(&self, state: &[u64], row: &Row) -> &Step {
        &self.steps[row.first as usize + row.field.get(state)]
    }

    /// Returns the effect of a step of `row` that finds the value with this number.
    pub fn step_on(&self, row: &Row, value: usize) -> &Step {
        &self.steps[row.first as usize + value]
    }

    /// Returns the next step of `p` and its effect, in a state of known size.
    #[inline]
    pub fn move_of<const W: usize>(&self, state: &[u64; W], p: Pid) -> (&Row, &Step) {
        let row = &self.rows[self.first_row[p] + self.locals[p].get_in(state)];
        (row, &self.steps[row.first as usize + row.field.get_in(state)])
    }

    /// Returns the lowest byte of the number of the variable that a step accesses, and whether the step changes the
    /// value of this variable. A step without an access changes no variable, and its byte has no meaning. The only
    /// effect that such a byte can have is that two independent steps count as dependent.
    #[inline]
    pub(crate) fn accessed(row: &Row, step: &Step) -> (u8, bool) {
        (row.var as u8, step.var_bits != 0)
    }

    /// Returns the number of processes in their critical sections.
    #[inline]
    pub fn inside<const W: usize>(&self, state: &[u64; W]) -> usize {
        let is_inside =
            |p: Pid| usize::from(self.critical[self.first_row[p] + self.locals[p].get_in(state)]);
        (0..self.n).map(is_inside).sum()
    }

    /// Changes `state` by a step of `p`.
    #[inline]
    pub fn apply<const W: usize>(&self, state: &mut [u64; W], p: Pid, row: &Row, step: &Step) {
        state[self.locals[p].word as usize % W] ^= step.local_bits;
        state[row.field.word as usize % W] ^= step.var_bits;
    }

    /// Changes the private state of `p` by its step. Changes no variable.
    #[inline]
    pub fn apply_local<const W: usize>(&self, state: &mut [u64; W], p: Pid, step: &Step) {
        state[self.locals[p].word as usize] ^= step.local_bits;
    }

    /// Returns whether a mishap can hit any process.
    pub fn has_mishaps(&self) -> bool {
        self.mishap_effects.iter().any(Option::is_some)
    }

    /// Returns the state after the mishap of `p`, or `None` if there is no such mishap or it changes
    /// nothing.
    #[inline]
    pub fn after_mishap<const W: usize>(&self, state: &[u64; W], p: Pid) -> Option<[u64; W]> {
        let effect = self.mishap_effects[p].as_ref()?;
        let mut next = *state;
        if effect.kills {
            self.locals[p].set(&mut next, REMAINDER as usize);
        }
        effect.var.set(&mut next, effect.left[effect.var.get_in(state)] as usize);
        (next != *state).then_some(next)
    }

    /// Returns the variable that the mishap of `p` changes in this state, by its position in the layout. Returns `None`
    /// if the mishap changes no variable in this state, or if `p` has no mishap.
    pub fn var_changed_by_mishap<const W: usize>(&self, state: &[u64; W], p: Pid) -> Option<usize> {
        let effect = self.mishap_effects[p].as_ref()?;
        let value = effect.var.get_in(state);
        (effect.left[value] as usize != value).then_some(effect.index)
    }

    /// Returns the part of the passage in which `p` is.
    #[inline]
    pub fn section(&self, state: &[u64], p: Pid) -> Section {
        self.sections[p][self.code(state, p)]
    }

    /// Returns the facts about the private state of `p` in `state`.
    pub fn position(&self, state: &[u64], p: Pid) -> &Position {
        &self.positions[p][self.code(state, p)]
    }

    /// Returns whether a process holds a name in some private state.
    pub fn assigns_names(&self) -> bool {
        self.positions.iter().flatten().any(|at| at.name.is_some())
    }

    /// Returns the number of processes outside their remainder.
    #[inline]
    pub fn contention(&self, state: &[u64]) -> usize {
        (0..self.n).filter(|&p| self.code(state, p) != 0).count()
    }

    /// Returns the value of each variable.
    pub fn memory(&self, state: &[u64]) -> Vec<Word> {
        self.vars.iter().zip(&self.domains).map(|(var, domain)| domain[var.get(state)]).collect()
    }

    /// Returns the step machine's number for the private state of each process.
    pub fn private(&self, state: &[u64]) -> Vec<Local> {
        (0..self.n).map(|p| self.codes[p][self.code(state, p)]).collect()
    }

    /// Overwrites private states and variables. Returns whether all of them fit into the tables.
    pub fn set(&self, state: &mut [u64], private: &[Local], memory: &[Word]) -> bool {
        for ((codes, field), at) in self.codes.iter().zip(&self.locals).zip(private) {
            if codes[field.get(state)] == *at {
                continue;
            }
            let Ok(code) = codes.binary_search(at) else { return false };
            field.set(state, code);
        }
        let vars = self.numbers.iter().zip(&self.domains).zip(&self.vars);
        for (((numbers, domain), field), value) in vars.zip(memory) {
            if domain[field.get(state)] == *value {
                continue;
            }
            let Some(&number) = numbers.get(value) else { return false };
            field.set(state, number as usize);
        }
        true
    }

    /// Returns the numbers of the initial values of each variable.
    pub fn initial(&self) -> &[Vec<u32>] {
        &self.initial
    }

    /// Returns the number of a value of `var`, if it is in the domain.
    pub fn number(&self, var: usize, value: Word) -> Option<u32> {
        self.numbers[var].get(&value).copied()
    }

    /// Returns the value of `var` that has this number.
    pub fn value(&self, var: usize, number: usize) -> Word {
        self.domains[var][number]
    }
}
