//! What the page's script needs to know: how memory changes.

use serde::Serialize;

use crate::trace::step::{Trace, Via};

#[derive(Serialize)]
struct Data {
    /// Each variable's first value.
    initial: Vec<String>,
    /// What each step changes.
    steps: Vec<Option<Change>>,
}

#[derive(Serialize)]
struct Change {
    /// `m` memory, `b` into a buffer, `f` from a buffer to memory.
    via: char,
    process: usize,
    var: usize,
    name: String,
    value: String,
}

/// The data as JSON that can stand inside a script element.
pub(super) fn json(trace: &Trace) -> String {
    let values = trace.vars.iter().zip(&trace.schedule.initial);
    let data = Data {
        initial: values.map(|(decl, &value)| decl.show(value)).collect(),
        steps: trace
            .steps
            .iter()
            .map(|step| {
                let access = step.access.as_ref()?;
                let via = match access.via {
                    Via::Memory | Via::Outside => 'm',
                    Via::IntoBuffer => 'b',
                    Via::Flush => 'f',
                    Via::FromBuffer => return None,
                };
                Some(Change {
                    via,
                    process: step.process,
                    var: access.var,
                    name: access.name.clone(),
                    value: access.left_shown.clone(),
                })
            })
            .collect(),
    };
    // No `<` may stand there as it is: it could end the element.
    serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c")
}
