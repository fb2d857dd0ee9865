//! Deliberately wrong variants. The checker must reject each of them and name the violation, except [`PassesOver`],
//! [`Unsealed`] and [`DeafWaiter`]: the tests in `tests/several_slots.rs` must reject these three. The [parent
//! module](super) explains the lines.

use super::{
    choose::count_on,
    environment::Environment,
    lines::{Line, Role},
    model::{ProcessesModel, State, state_of},
    model_environment::ModelEnvironment,
    serve::{Seen, judge, try_next},
    words::{Card, FREE, Meaning, Phase, Size, Tag},
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
        At(Line::S11 { role: Role::Leaver(..), .. }) => Leave,
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
            let Tag { process, number } = who.tag;
            let old = Card::new(Phase::Unrung(j), number).pack();
            let new = Card::new(Phase::Granted(j), number).pack();
            e.card(process, Op::CompareAndSwap { old, new });
            Goto(At(Line::S14 { role, who, j }))
        },
        At(Line::S14 { role, who, .. }) => {
            e.ring(who.tag.process);
            if matches!(role, Role::Leaver(..)) { Leave } else { Goto(At(Line::S1 { role })) }
        },
    }

    /// A waiter goes to sleep without a mark on its card, so the process that gives it a slot does not ring.
    SecretSleep: |_s, _e, _p| {
        At(Line::W11 { number }) => Goto(At(Line::W2 { number, i: 0, before: None })),
    }

    /// A leaving process that wants to wake the first waiter does nothing if another process has just given that waiter
    /// a slot. If that process stops before it rings, the waiter sleeps forever.
    TrustfulLeaver: |_s, e, _p| {
        At(Line::S12 { who, finally }) => match Card::unpack(e.card(who, Op::Read)).phase {
            Phase::Asleep(_) => Goto(At(Line::S15 { who, finally })),
            _ => Leave,
        },
    }

    /// A leaving process that has tried to remove a void tag reads the slot again. Other processes can
    /// tag the slot over and over, so the exit section has no bound. An earlier version of hallpass had this bug.
    StubbornLeaver: |_s, e, _p| {
        At(Line::S8 { role, size, who, j, got, own, tag }) => {
            e.slot(j, Op::CompareAndSwap { old: tag.pack(), new: FREE });
            Goto(At(Line::S6 { role, size, who, j, got, own }))
        },
    }

    /// A serving process does not notice that it was itself given a slot after it read its card.
    NotMine: |_s, e, p| {
        At(line @ Line::S7 { role, size, who, j, got, own, tag }) if tag.process == p => {
            let card = Card::unpack(e.card(p, Op::Read));
            match tag.means(j, card) {
                Meaning::Held | Meaning::SetAside => state_of(try_next(role, size, who, j, got, own)),
                Meaning::Offered | Meaning::Void => state_of(judge(p, card, line)),
            }
        },
    }

    /// A serving process passes over slots that are set aside for a waiter other than the first. Even when all slots
    /// for that waiter are set aside, no process grants them on its card, so no process gets these slots.
    PassesOver: |_s, e, p| {
        At(line @ Line::S7 { role, size, who, j, got, own, tag }) if tag != who.tag => {
            let card = Card::unpack(e.card(tag.process, Op::Read));
            match tag.means(j, card) {
                Meaning::SetAside => state_of(try_next(role, size, who, j, got, own)),
                _ => state_of(judge(p, card, line)),
            }
        },
    }

    /// Processes do not seal the slots that a hall no longer has. A process that read the size before the hall
    /// shrank takes such a slot.
    Unsealed: |_s, _e, _p| {
        At(Line::N3 { role, size, who, j, held, above, .. }) => {
            state_of(count_on(role, size, who, j, held, above))
        },
    }

    /// Processes do not choose one waiter for several slots, and pass over slots that are set aside for another
    /// waiter. So each of two waiters gets a part of its slots, and both wait forever.
    EachTakesAPart: |_s, e, p| {
        At(Line::H1 { role, size, who }) => Goto(At(Line::S6 { role, size, who, j: 0, got: 0, own: 0 })),
        At(line @ Line::S7 { role, size, who, j, got, own, tag }) if tag != who.tag => {
            let card = Card::unpack(e.card(tag.process, Op::Read));
            match tag.means(j, card) {
                Meaning::SetAside => state_of(try_next(role, size, who, j, got, own)),
                _ => state_of(judge(p, card, line)),
            }
        },
    }

    /// A waiter does not notice that the hall is closed, and enters when slot 0 is free.
    DeafWaiter: |_s, e, _p| {
        At(Line::S2 { role: role @ (Role::Waiter | Role::Watcher(_)), c }) => {
            let size = Size::unpack(e.size(Op::Read));
            Goto(At(Line::S3 { role, c, size, i: 0, seen: Seen::default() }))
        },
    }

    /// Processes do not count the held slots of a hall that has shrunk, so the hall gets more holders than slots.
    Uncounted: |_s, _e, _p| {
        At(Line::N1 { role, size, who, .. }) => Goto(At(Line::S6 { role, size, who, j: 0, got: 0, own: 0 })),
    }
}
