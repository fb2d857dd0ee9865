//! The data for the script of the page: the changes of memory.

use serde::Serialize;

use crate::trace::step::{Trace, Via};

#[derive(Serialize)]
struct Data {
    /// The initial value of each variable.
    initial: Vec<String>,
    /// For each step, its access to memory or to a buffer and the value after the access. `None` if the step makes no
    /// access or only reads from its buffer.
    steps: Vec<Option<VariableChange>>,
}

#[derive(Serialize)]
struct VariableChange {
    /// The kind of change: `m` in memory, `b` into a buffer, `f` from a buffer to memory.
    via: char,
    process: usize,
    var: usize,
    name: String,
    value: String,
}

/// Returns the data as JSON that is safe within a script element.
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
                Some(VariableChange {
                    via,
                    process: step.process,
                    var: access.var,
                    name: access.name.clone(),
                    value: access.left_shown.clone(),
                })
            })
            .collect(),
    };
    // `</script>` in the data would end the script element.
    serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c")
}
