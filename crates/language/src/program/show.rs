//! Shows sets of processes and faults of lines as text.

use hallpass_algorithms::{Codec, Word};

use crate::{
    code::Value,
    eval::{Fault, MOST_ELEMENTS},
};

/// Shows a set of processes.
#[derive(Debug)]
pub(super) struct SetOfProcesses;

impl Codec for SetOfProcesses {
    fn show(&self, value: Word) -> String {
        show_set(value)
    }
}

pub(super) fn show_set(set: Value) -> String {
    let elements: Vec<String> =
        (0..MOST_ELEMENTS).filter(|e| set >> e & 1 != 0).map(|e| e.to_string()).collect();
    format!("{{{}}}", elements.join(", "))
}

/// Shows the fault of a line.
#[derive(Debug)]
pub(super) struct Faults {
    pub(super) labels: Vec<String>,
}

impl Codec for Faults {
    fn show(&self, value: Word) -> String {
        let Some(code) = usize::try_from(value - 1).ok() else { return "none".into() };
        let fault = Fault::ALL[code % Fault::ALL.len()];
        match self.labels.get(code / Fault::ALL.len()).filter(|label| !label.is_empty()) {
            Some(label) => format!("line {label} {}", fault.says()),
            None => format!("the first line {}", fault.says()),
        }
    }
}
