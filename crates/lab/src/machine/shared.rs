//! A step machine that several owners share.

use hallpass_algorithms::{
    Layout, Memory, Mishap, Observed, Pid, RunStatement, Side, StaleRule, Word,
};

use super::{Local, Machine, Numeric, NumericStep, Position};

/// A step machine that several owners share.
impl Machine for std::sync::Arc<dyn Machine> {
    fn n(&self) -> usize {
        (**self).n()
    }

    fn k(&self) -> usize {
        (**self).k()
    }

    fn layout(&self) -> &Layout {
        (**self).layout()
    }

    fn mishap(&self, p: Pid) -> Option<Mishap> {
        (**self).mishap(p)
    }

    fn is_symmetric(&self) -> bool {
        (**self).is_symmetric()
    }

    fn invariants(&self) -> &'static [&'static str] {
        (**self).invariants()
    }

    fn step(&self, p: Pid, at: Local, memory: &mut dyn Memory) -> Local {
        (**self).step(p, at, memory)
    }

    fn variables(&self, at: Local) -> Vec<(String, String)> {
        (**self).variables(at)
    }

    fn position(&self, p: Pid, at: Local) -> Position {
        (**self).position(p, at)
    }

    fn is_unbounded(&self) -> bool {
        (**self).is_unbounded()
    }

    fn counts(&self, at: Local) -> bool {
        (**self).counts(at)
    }

    fn normalize(&self, processes: &mut [Local], memory: &mut [Word]) {
        (**self).normalize(processes, memory);
    }

    fn advance(&self, processes: &mut [Local], memory: &mut [Word]) {
        (**self).advance(processes, memory);
    }

    fn stale_rules(&self) -> Vec<StaleRule> {
        (**self).stale_rules()
    }

    fn permits_stale(&self, rule: &StaleRule, p: Pid, at: Local) -> bool {
        (**self).permits_stale(rule, p, at)
    }

    fn broken_invariant(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str> {
        (**self).broken_invariant(processes, memory)
    }

    fn invariant_fault(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str> {
        (**self).invariant_fault(processes, memory)
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        (**self).run_statements()
    }

    fn observe(&self, statement: &str, history: u32, step: NumericStep<'_>) -> Observed {
        (**self).observe(statement, history, step)
    }

    fn instances(&self, statement: &str) -> usize {
        (**self).instances(statement)
    }

    fn survives(&self, statement: &str, instance: usize) -> usize {
        (**self).survives(statement, instance)
    }

    fn condition(
        &self,
        statement: &str,
        instance: usize,
        side: Side,
        p: Pid,
        state: Numeric<'_>,
    ) -> bool {
        (**self).condition(statement, instance, side, p, state)
    }
}
