//! Merges states that differ only in stale values.
//!
//! A value is stale if no process can read it before a process overwrites it. The algorithm lists rules
//! that say which values are stale (see [`StaleRule`]). In the representative of a state, each stale value
//! is replaced with the initial value of its variable.
//!
//! A state and its representative behave alike under two conditions, for every step from a representative:
//!
//! 1. The step does not read a stale value. The step may overwrite a stale value, if neither the new value nor the next
//!    line depends on the old value.
//! 2. A value that is stale before the step, and that the step does not overwrite, is stale after it.
//!
//! By induction over a run, both states then always differ only in values that are stale at that moment,
//! and the same processes make the same steps. So both have the same runs, and every property that depends
//! only on lines and movers is preserved, liveness included. The rules read no value that can be stale.
//!
//! [`Forgetful`] checks both conditions on every step that it computes. So a wrong rule cannot
//! lead to a wrong verdict: [`Forgetful::contradiction`] reports it.

use std::sync::OnceLock;

use hallpass_algorithms::{Pid, StaleRule};

use super::{Agent, Sequential, Space};
use crate::{
    machine::{Local, Machine},
    tables::{Access, MOST_WORDS, Tables},
};

/// The maximum number of rules.
const MOST_RULES: usize = u64::BITS as usize;

/// A compiled rule.
struct Rule {
    /// The variable that may be stale, as an index into [`Stale::vars`].
    slot: usize,
    /// The flags of the rule, as bits of a state: if all of them are set, the value is not stale. `None` if the rule
    /// has no flags, so that only private states matter.
    flags: Option<[u64; MOST_WORDS]>,
}

/// A variable that may be stale.
struct Forgettable {
    /// The number of the variable.
    var: usize,
    /// The bits of the variable in a state.
    mask: [u64; MOST_WORDS],
    /// The initial value in these bits.
    initial: [u64; MOST_WORDS],
}

/// The rules of an algorithm, prepared for packed states.
pub struct Stale {
    rules: Vec<Rule>,
    vars: Vec<Forgettable>,
    /// For each process and code of a private state: the set of rules whose value may be stale in this private state.
    permitted: Vec<Vec<u64>>,
    /// For each number of a variable: its index in `vars`.
    slots: Vec<Option<usize>>,
}

impl Stale {
    /// Prepares the rules of `machine`. Returns `None` if it has none, or more than 64.
    pub fn of(machine: &dyn Machine, tables: &Tables) -> Option<Self> {
        let permits = |rule: &StaleRule, p: Pid, at: Local| machine.permits_stale(rule, p, at);
        Self::new(&machine.stale_rules(), permits, tables)
    }

    /// Prepares these rules. `permits` says whether the value of a rule may be stale while the rule's writer or reader
    /// has a given private state. Returns `None` if there are no rules, or more than 64.
    ///
    /// # Panics
    /// Panics if a rule reads a value that can be stale, or a variable that is not a flag (with the values 0 and 1).
    pub fn new(
        rules: &[StaleRule],
        permits: impl Fn(&StaleRule, Pid, Local) -> bool,
        tables: &Tables,
    ) -> Option<Self> {
        if rules.is_empty() || rules.len() > MOST_RULES {
            return None;
        }
        let mut slots = vec![None; tables.vars.len()];
        let mut vars = Vec::new();
        for rule in rules {
            let var = rule.var.index();
            if slots[var].is_none() {
                slots[var] = Some(vars.len());
                vars.push(Forgettable::new(var, tables));
            }
        }
        let compiled = rules.iter().map(|rule| {
            let mut flags = [0; MOST_WORDS];
            for flag in &rule.unless_all_set {
                let flag = flag.index();
                assert!(slots[flag].is_none(), "a rule reads a value that can be stale");
                assert_eq!(tables.number(flag, 1), Some(1), "a rule reads flags");
                assert_eq!(tables.vars[flag].bits(), 1, "a rule reads flags");
                tables.vars[flag].set(&mut flags, 1);
            }
            Rule {
                slot: slots[rule.var.index()].expect("every variable has a slot"),
                flags: (!rule.unless_all_set.is_empty()).then_some(flags),
            }
        });
        let of_position = |p: Pid, at: Local| {
            let concerns = |rule: &StaleRule| rule.writer == p || rule.reader == p;
            let permitted = |rule: &StaleRule| !concerns(rule) || permits(rule, p, at);
            (0..).zip(rules).fold(0, |set, (bit, rule)| set | u64::from(permitted(rule)) << bit)
        };
        let of_process = |p: Pid| tables.codes[p].iter().map(|&at| of_position(p, at)).collect();
        Some(Stale {
            rules: compiled.collect(),
            vars,
            permitted: (0..tables.n).map(of_process).collect(),
            slots,
        })
    }

    /// Returns the variables with stale values, as a set of indices into `vars`.
    #[inline]
    fn stale<const W: usize>(&self, tables: &Tables, state: &[u64; W]) -> u64 {
        let mut left = u64::MAX >> (MOST_RULES - self.rules.len());
        for (field, permitted) in tables.locals.iter().zip(&self.permitted) {
            left &= permitted[field.get_in(state)];
        }
        let mut stale = 0;
        while left != 0 {
            let rule = &self.rules[left.trailing_zeros() as usize];
            let is_visible = |flags: &[u64; MOST_WORDS]| {
                state.iter().zip(flags).all(|(word, flags)| word & flags == *flags)
            };
            if !rule.flags.as_ref().is_some_and(is_visible) {
                stale |= 1 << rule.slot;
            }
            left &= left - 1;
        }
        stale
    }

    /// Replaces the values of the variables in the set `stale` with their initial values.
    #[inline]
    fn forget<const W: usize>(&self, mut stale: u64, state: &mut [u64; W]) {
        while stale != 0 {
            let var = &self.vars[stale.trailing_zeros() as usize];
            for (word, (mask, initial)) in state.iter_mut().zip(var.mask.iter().zip(&var.initial)) {
                *word = *word & !mask | initial;
            }
            stale &= stale - 1;
        }
    }
}

impl Forgettable {
    fn new(var: usize, tables: &Tables) -> Self {
        let (mut mask, mut initial) = ([0; MOST_WORDS], [0; MOST_WORDS]);
        let field = tables.vars[var];
        field.set(&mut mask, (1 << field.bits()) - 1);
        field.set(&mut initial, tables.initial()[var][0] as usize);
        Forgettable { var, mask, initial }
    }
}

/// A step that contradicts the rules about stale values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// The number of the variable.
    pub var: usize,
    /// How the step contradicts the rules, as words about the stale value: for example "read before it is overwritten".
    pub what: &'static str,
}

/// The space of merged states: states that differ only in stale values count as one.
pub struct Forgetful<'a> {
    /// The space of all states.
    pub space: Sequential<'a>,
    stale: Stale,
    contradiction: OnceLock<Contradiction>,
}

impl<'a> Forgetful<'a> {
    /// Merges the states of `space`. The algorithm must have no mishaps.
    pub fn new(space: Sequential<'a>, stale: Stale) -> Self {
        Forgetful { space, stale, contradiction: OnceLock::new() }
    }

    /// Returns the representative of a state: the state with all stale values reset.
    pub fn representative<const W: usize>(&self, mut state: [u64; W]) -> [u64; W] {
        let stale = self.stale.stale(self.space.tables, &state);
        self.stale.forget(stale, &mut state);
        state
    }

    /// Returns the contradiction, if a step computed so far contradicts the rules. Then the merged states need not
    /// behave alike, and verdicts mean nothing.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.contradiction.get().copied()
    }

    /// Checks the two conditions on a step of `p` from `state`. `before` and `after` are the stale values before
    /// and after it.
    #[inline]
    fn check<const W: usize>(&self, state: &[u64; W], p: Pid, before: u64, after: u64) {
        let row = self.space.tables.row(state, p);
        let slot = match row.access {
            Access::None => None,
            _ => self.stale.slots[row.var as usize],
        };
        let accessed = slot.map_or(0, |slot| 1 << slot) & before;
        if accessed != 0 && !self.overwrites_blindly(state, p) {
            self.report(row.var.into(), "read before it is overwritten");
        }
        let revived = before & !accessed & !after;
        if revived != 0 {
            let var = self.stale.vars[revived.trailing_zeros() as usize].var;
            self.report(
                var,
                "stale before a step and not after it, and the step does not write it",
            );
        }
    }

    /// Returns whether the step of `p` writes a value, and neither this value nor the next private state depends
    /// on the old value.
    #[cold]
    fn overwrites_blindly<const W: usize>(&self, state: &[u64; W], p: Pid) -> bool {
        let tables = self.space.tables;
        let row = tables.row(state, p);
        let effects = tables.steps_of(row);
        let effect = |step: &crate::tables::Step| (step.next, step.value, step.out_of_range);
        row.access == Access::Write
            && effects.iter().all(|step| effect(step) == effect(&effects[0]))
    }

    #[cold]
    fn report(&self, var: usize, what: &'static str) {
        // Of several contradictions, the first one is enough.
        let _ = self.contradiction.set(Contradiction { var, what });
    }
}

impl<const W: usize> Space<W> for Forgetful<'_> {
    fn agents(&self) -> usize {
        Space::<W>::agents(&self.space)
    }

    fn bits(&self) -> u32 {
        Space::<W>::bits(&self.space)
    }

    fn word_bits(&self) -> [u32; W] {
        self.space.word_bits()
    }

    fn parts(&self) -> Vec<[u64; W]> {
        self.space.parts()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; W]> + '_> {
        Box::new(self.space.initial().map(|state| self.representative(state)))
    }

    #[inline]
    fn successors(&self, state: &[u64; W], each: &mut dyn FnMut(Agent, [u64; W])) {
        let tables = self.space.tables;
        let before = self.stale.stale(tables, state);
        self.space.successors(state, &mut |p, mut next| {
            let after = self.stale.stale(tables, &next);
            self.check(state, p, before, after);
            self.stale.forget(after, &mut next);
            each(p, next);
        });
    }

    #[inline]
    fn violations(&self, state: &[u64; W]) -> u64 {
        self.space.violations(state)
    }
}
