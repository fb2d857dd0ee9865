//! Variants that are wrong on purpose. The checker must reject each, and say why.

use super::{
    environment::Environment,
    lines::{Line, Role},
    model::{ModelEnvironment, ProcessesModel, State},
    words::{Card, Meaning},
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
    /// Who has given a slot to a sleeper does not ring.
    NoRing: |_s, _b, _p| {
        At(Line::S11 { role: Role::Leaver, .. }) => Leave,
        At(Line::S11 { role, .. }) => Goto(At(Line::S1 { role })),
    }

    /// Who leaves looks after nobody.
    NoService: |_s, _b, _p| {
        At(Line::X4) => Leave,
    }

    /// Nobody says that it is about to wait, so who finds nobody waiting declares it quiet although
    /// a ticket is out.
    Unannounced: |_s, _b, _p| {
        At(Line::E6 { x }) => Goto(At(Line::E7 { x })),
    }

    /// Who finds everything taken lies down without looking again once it watches.
    NoSecondLook: |_s, _b, _p| {
        At(Line::S1 { role: Role::Watcher(watch) }) => Goto(At(Line::W8 { watch })),
    }

    /// One that serves does not notice that a slot was given to itself since it looked at its card.
    NotMine: |_s, b, p| {
        At(Line::S7 { role, k, who, j, tag }) if tag.process == p => {
            match tag.means(j, Card::unpack(b.card(p, Op::Read))) {
                Meaning::Held => match role {
                    _ if j + 1 < k => Goto(At(Line::S6 { role, k, who, j: j + 1 })),
                    Role::Watcher(watch) => Goto(At(Line::W8 { watch })),
                    Role::Waiter => Goto(At(Line::W1)),
                    Role::Leaver | Role::Hurried => Leave,
                },
                Meaning::Offered => Goto(At(Line::S10 { role, who: tag, j, own: false })),
                Meaning::Void => Goto(At(Line::S8 { role, k, who, j, tag })),
            }
        },
    }
}
