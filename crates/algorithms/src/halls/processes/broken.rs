//! Variants that are wrong on purpose. The checker must reject each, and say why.

use super::{
    board::Board,
    lines::{Line, Role},
    model::{Model, Seat, State},
    words::{Card, Meaning},
};
use crate::framework::{
    changed::Change,
    machine::Next::{self, Goto, Leave},
    memory::{Memory, Op, Pid},
};
use State::At;

/// Declares changes: a name, what is wrong, and the changed lines.
macro_rules! changes {
    ($(
        $(#[$doc:meta])*
        $name:ident: |$b:ident, $p:ident| { $($line:pat $(if $guard:expr)? => $body:expr,)+ }
    )*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Change<Model> for $name {
            fn step<S: Memory>(
                model: &Model, memory: &mut S, $p: Pid, at: State,
            ) -> Option<Next<State>> {
                let $b = &mut Seat { model, memory };
                match at {
                    $(At($line) $(if $guard)? => Some($body),)+
                    _ => None,
                }
            }
        }
    )*};
}

changes! {
    /// Who has given a slot to a sleeper does not ring.
    NoRing: |_b, _p| {
        Line::S11 { role: Role::Leaver, .. } => Leave,
        Line::S11 { role, .. } => Goto(At(Line::S1 { role })),
    }

    /// Who leaves looks after nobody.
    NoService: |_b, _p| {
        Line::X4 => Leave,
    }

    /// Nobody says that it is about to wait, so who finds nobody waiting declares it quiet although
    /// a ticket is out.
    Unannounced: |_b, _p| {
        Line::E6 { x } => Goto(At(Line::E7 { x })),
    }

    /// Who finds everything taken lies down without looking again once it watches.
    NoSecondLook: |_b, _p| {
        Line::S1 { role: Role::Watcher(watch) } => Goto(At(Line::W8 { watch })),
    }

    /// One that serves does not notice that a slot was given to itself since it looked at its card.
    NotMine: |b, p| {
        Line::S7 { role, k, who, j, tag } if tag.member == p => {
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
