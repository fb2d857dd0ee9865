//! The environment of the step machine on the variables that the lab explores.

use super::{
    casts::Cast,
    codecs::{ALIVE, DEAD, NOBODY},
    environment::{Environment, Life},
    lines::{self, Line, Role},
    model::ProcessesModel,
    waiting::next_before,
    words::Size,
};
use crate::framework::{
    machine::Next::{self, Goto},
    memory::{Memory, Op, Pid, Word},
};

/// The environment on declared variables.
pub(super) struct ModelEnvironment<'a, M> {
    pub(super) model: &'a ProcessesModel,
    pub(super) memory: &'a mut M,
}

impl<M: Memory> Environment for ModelEnvironment<'_, M> {
    type Identity = ();
    /// One bit for each process.
    type WatchSet = u8;

    fn processes(&self) -> usize {
        self.model.processes()
    }

    fn wants(&self, me: usize) -> usize {
        self.model.hall.wants(self.model.k, me)
    }

    fn slots(&self) -> usize {
        self.model.slots()
    }

    fn size(&mut self, op: Op) -> Word {
        match self.model.size {
            Some(size) => self.memory.access(size, op),
            None => Size::new(self.model.slots()).pack(), // a constant, so this is not an access
        }
    }

    fn next(&mut self, op: Op) -> Word {
        self.memory.access(self.model.next, op)
    }

    fn quiet(&mut self, op: Op) -> Word {
        self.memory.access(self.model.quiet, op)
    }

    fn card(&mut self, process: usize, op: Op) -> Word {
        self.memory.access(self.model.card.at(process), op)
    }

    fn slot(&mut self, slot: usize, op: Op) -> Word {
        self.memory.access(self.model.slot.at(slot), op)
    }

    fn head(&mut self, op: Op) -> Word {
        let head = self.model.head.expect("processes choose waiters in this model");
        self.memory.access(head, op)
    }

    fn link(&mut self, process: usize, op: Op) -> Word {
        self.memory.access(self.model.link.at(process), op)
    }

    fn followed(&mut self, process: usize, op: Op) -> Word {
        self.memory.access(self.model.followed.at(process), op)
    }

    fn ring(&mut self, process: usize) {
        self.memory.write(self.model.bell.at(process), 1);
    }

    /// Does nothing: a waiter that is awake may take its next step at any time.
    fn nudge(&mut self, _: usize) {}

    fn rung(&mut self, me: usize) -> bool {
        self.memory.access(self.model.bell.at(me), Op::Clear(1)) != 0
    }

    fn expired(&mut self, _: usize) -> bool {
        self.model.casts.has(Cast::Timeout) && self.memory.read(self.model.clock) != 0
    }

    fn life(&mut self, process: usize) -> Life<()> {
        match self.memory.read(self.model.life.at(process)) {
            NOBODY => Life::Nobody,
            ALIVE => Life::Alive,
            _ => Life::Dead(()),
        }
    }

    fn register(&mut self, me: usize) -> bool {
        self.memory.compare_and_swap(self.model.life.at(me), NOBODY, ALIVE)
    }

    fn unregister(&mut self, process: usize, (): ()) {
        self.memory.compare_and_swap(self.model.life.at(process), DEAD, NOBODY);
    }

    fn watch_nobody(&mut self) -> u8 {
        0
    }

    fn watch(&mut self, watch: u8, process: usize) -> u8 {
        watch | 1 << process
    }

    fn next_watched(&mut self, watch: u8, process: usize) -> Option<usize> {
        (process..self.model.processes()).find(|i| watch >> i & 1 == 1)
    }
}

/// Executes a line. Then also executes the lines after it that make no access, or that have no effect.
pub(super) fn without_local_lines<M: Memory>(
    environment: &mut ModelEnvironment<'_, M>,
    p: Pid,
    line: Line<(), u8>,
) -> Next<Line<(), u8>> {
    let mut next = lines::step(environment, p, line);
    while let Goto(line) = next
        && let Some(after) = environment.skip(p, line)
    {
        next = after;
    }
    next
}

impl<M: Memory> ModelEnvironment<'_, M> {
    /// Returns what follows a line that makes no access, because the size of the hall is a constant.
    ///
    /// In a reduced model in which no process can be killed, also returns what follows a line that has no effect. At
    /// such a line, process `p` only finds out that others live, and watches them. All processes live, so it makes no
    /// difference which of them `p` watches. In this model, `p` watches nobody. Lines at which `p` looks at itself (W2
    /// and G4) have no effect, either.
    fn skip(&mut self, p: Pid, line: Line<(), u8>) -> Option<Next<Line<(), u8>>> {
        let is_eternal = self.model.is_reduced && !self.model.casts.has(Cast::Mortal);
        let is_local = match line {
            Line::E3 { .. } | Line::S2 { .. } | Line::W13 { .. } => self.model.size.is_none(),
            Line::W5 { .. } | Line::W6 { .. } | Line::W7 { .. } if is_eternal => {
                let watch = self.watch_nobody();
                return Some(Goto(Line::S1 { role: Role::Watcher(watch) }));
            }
            // The number on the card of `p` is not less than itself.
            Line::W2 { number, i, before } if is_eternal && i == p => {
                return Some(next_before(self, number, i + 1, before));
            }
            Line::G4 { i, .. } => is_eternal && i == p,
            Line::W10 { .. } => is_eternal && !self.model.casts.has(Cast::Timeout),
            _ => false,
        };
        is_local.then(|| lines::step(self, p, line))
    }
}
