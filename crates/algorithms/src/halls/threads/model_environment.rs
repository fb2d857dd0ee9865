//! The environment of the step machine in the lab: every access is to a declared variable.

use super::{
    environment::{Environment, FastEnvironment, OvertakeEnvironment},
    model::{Cast, Sleep, ThreadsModel},
};
use crate::framework::{
    memory::{Memory, Op, Pid, Word},
    queue,
};

/// The environment on declared variables.
pub(super) struct ModelEnvironment<'a, P, M, S> {
    pub(super) model: &'a ThreadsModel<P, M>,
    pub(super) memory: &'a mut S,
}

impl<P, M, S: Memory> FastEnvironment for ModelEnvironment<'_, P, M, S> {
    fn word(&mut self, op: Op) -> Word {
        self.memory.access(self.model.word, op)
    }
}

impl<P, M, S: Memory> OvertakeEnvironment for ModelEnvironment<'_, P, M, S> {
    fn credit(&mut self, op: Op) -> Word {
        let (credit, _) =
            self.model.credit.expect("only halls with a limit on overtaking access `credit`");
        self.memory.access(credit, op)
    }
}

impl<P, M, S: Memory> Environment for ModelEnvironment<'_, P, M, S> {
    type Waiter = Pid;

    fn lock(&mut self, op: Op) -> Word {
        self.memory.access(self.model.lock, op)
    }

    fn terms(&mut self, op: Op) -> Word {
        self.memory.access(self.model.terms, op)
    }

    fn head(&mut self) -> Option<Pid> {
        queue::unpack(self.memory.read(self.model.queue)).first().copied()
    }

    fn push(&mut self, waiter: Pid) {
        self.memory.atomic_update(self.model.queue, queue::push, waiter as Word);
    }

    fn pop(&mut self) {
        self.memory.atomic_update(self.model.queue, queue::pop, 0);
    }

    fn remove(&mut self, waiter: Pid) {
        self.memory.atomic_update(self.model.queue, queue::remove, waiter as Word);
    }

    fn grant(&mut self, waiter: Pid, op: Op) -> Word {
        self.memory.access(self.model.grant.at(waiter), op)
    }

    fn wake(&mut self, waiter: Pid) {
        self.memory.write(self.model.bell.at(waiter), 1);
    }

    fn was_woken(&mut self, waiter: Pid) -> bool {
        self.memory.access(self.model.bell.at(waiter), Op::Clear(1)) != 0
    }

    fn may_wake_spuriously(&self) -> bool {
        self.model.sleep == Sleep::Light
    }

    fn expired(&mut self) -> bool {
        self.model.casts.has(Cast::Timeout) && self.memory.read(self.model.clock) != 0
    }

    fn need(&self, waiter: Pid) -> u32 {
        if self.model.casts.has(Cast::Many) && waiter == 0 { self.model.k.min(2) as u32 } else { 1 }
    }

    fn may_serve(&self, _: Pid) -> bool {
        true
    }

    fn grant_limit(&self) -> u32 {
        1
    }

    fn bypass_limit(&self) -> u32 {
        self.model.credit.map_or(0, |(_, limit)| limit)
    }

    fn overtake_tries(&self) -> u32 {
        1
    }
}
