//! Deliberately wrong variants. The checker must reject each of them and name the violation.

use super::{
    environment::Environment,
    lines::{Line, Role},
    model::{ModelEnvironment, ProcessesModel, State},
    words::{Card, FREE, Meaning, Phase},
};
use crate::{
    changed_lines,
    framework::{
        machine::Next::{self, Goto, Leave},
        memory::Op,
    },
};
use State::At;

changed_lines! {
    ProcessesModel, State => Next<State>, through |model, memory| ModelEnvironment { model, memory: &mut memory };
    /// A process that gives a slot to a sleeping waiter does not ring its bell.
    NoRing: |_s, _e, _p| {
        At(Line::S11 { role: Role::Leaver, .. }) => Leave,
        At(Line::S11 { role, .. }) => Goto(At(Line::S1 { role })),
    }

    /// A leaving process does not serve waiters.
    NoService: |_s, _e, _p| {
        At(Line::X4) => Leave,
    }

    /// A process does not announce that it is about to wait. Another process then finds no waiter and
    /// declares the hall quiet, even though a ticket was drawn.
    Unannounced: |_s, _e, _p| {
        At(Line::E6 { x }) => Goto(At(Line::E7 { x })),
    }

    /// A waiter that finds every slot taken goes to sleep. It does not look again after it has started
    /// to watch.
    NoSecondLook: |_s, _e, _p| {
        At(Line::S1 { role: Role::Watcher(watch) }) => Goto(At(Line::W8 { watch })),
    }

    /// A process that gives a slot to a sleeping waiter marks that it has rung before it rings. If it is killed in
    /// between, no other process rings.
    MarkFirst: |_s, e, _p| {
        At(Line::S11 { role, who, j }) => {
            let old = Card::new(Phase::Unrung(j), who.number).pack();
            let new = Card::new(Phase::Granted(j), who.number).pack();
            e.card(who.process, Op::CompareAndSwap { old, new });
            Goto(At(Line::S14 { role, who, j }))
        },
        At(Line::S14 { role, who, .. }) => {
            e.ring(who.process);
            if role == Role::Leaver { Leave } else { Goto(At(Line::S1 { role })) }
        },
    }

    /// A waiter goes to sleep without a mark on its card, so the process that gives it a slot does not ring.
    SecretSleep: |_s, _e, _p| {
        At(Line::W11 { number }) => Goto(At(Line::W2 { number, i: 0, before: None })),
    }

    /// A leaving process that wants to wake the first waiter does nothing if another process has just given that waiter
    /// a slot. If that process stops before it rings, the waiter sleeps forever.
    TrustfulLeaver: |_s, e, _p| {
        At(Line::S12 { who }) => match Card::unpack(e.card(who, Op::Read)).phase {
            Phase::Asleep => Goto(At(Line::S15 { who })),
            _ => Leave,
        },
    }

    /// A leaving process that has tried to remove a void tag reads the slot again. Other processes can
    /// tag the slot over and over, so the exit section has no bound. An earlier version had this bug.
    StubbornLeaver: |_s, e, _p| {
        At(Line::S8 { role, k, who, j, tag }) => {
            e.slot(j, Op::CompareAndSwap { old: tag.pack(), new: FREE });
            Goto(At(Line::S6 { role, k, who, j }))
        },
    }

    /// A serving process does not notice that it was itself given a slot since it read its card.
    NotMine: |_s, e, p| {
        At(Line::S7 { role, k, who, j, tag }) if tag.process == p => {
            match tag.means(j, Card::unpack(e.card(p, Op::Read))) {
                Meaning::Held => match role {
                    _ if j + 1 < k => Goto(At(Line::S6 { role, k, who, j: j + 1 })),
                    Role::Watcher(watch) => Goto(At(Line::W8 { watch })),
                    Role::Waiter => Goto(At(Line::W1)),
                    Role::Leaver | Role::Hurried => Leave,
                },
                Meaning::Offered => {
                    Goto(At(Line::S10 { role, who: tag, j, own: false, asleep: false }))
                }
                Meaning::Void => Goto(At(Line::S8 { role, k, who, j, tag })),
            }
        },
    }
}
