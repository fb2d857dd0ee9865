//! Divides a state into parts whose fields change together.

use super::{Access, Row, Tables};
use crate::fields::Field;

impl Tables {
    /// Returns the bits of each part of a state. The part of a process has its private state, the variables that only
    /// this process changes, and its additional field (such as a store buffer) if there is one for each process. One
    /// more part has all other fields.
    ///
    /// The value of a variable that only one process changes mostly follows from the line of this process. So the part
    /// of a process has few values.
    pub fn parts<const W: usize>(&self) -> Vec<[u64; W]> {
        let mut parts = vec![[0; W]; self.n + 1];
        let mut add = |part: usize, field: Field| {
            if field.bits() > 0 {
                let largest = u64::MAX >> (u64::BITS - field.bits());
                field.set(&mut parts[part], largest as usize);
            }
        };
        for (p, &field) in self.locals.iter().enumerate() {
            add(p, field);
        }
        for (var, &field) in self.vars.iter().enumerate() {
            let mut changing = (0..self.n).filter(|&p| self.changes(p, var));
            let only = changing.next().filter(|_| changing.next().is_none());
            add(only.unwrap_or(self.n), field);
        }
        for (index, &field) in self.extra.iter().enumerate() {
            add(if self.extra.len() == self.n { index } else { self.n }, field);
        }
        add(self.n, self.out_of_range);
        parts.retain(|part| *part != [0; W]);
        parts
    }

    /// Returns whether a step or a mishap of `p` can change a variable.
    fn changes(&self, p: usize, var: usize) -> bool {
        let changes = |row: &Row| {
            let effects = self.steps_of(row).iter().enumerate();
            row.access != Access::None
                && usize::from(row.var) == var
                && effects.into_iter().any(|(value, step)| step.value as usize != value)
        };
        let is_hit = self.mishap_effects[p].as_ref().is_some_and(|effect| effect.index == var);
        is_hit || self.rows(p).iter().any(changes)
    }
}
