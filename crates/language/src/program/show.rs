//! Shows sets of processes and faults of lines as text.

use hallpass_algorithms::{Codec, Pid, Word, framework::queue};

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

/// Shows a queue of processes, the first one first.
#[derive(Debug)]
pub(super) struct QueueOfProcesses;

impl Codec for QueueOfProcesses {
    fn show(&self, value: Word) -> String {
        match value {
            TWICE => "a process twice".into(),
            _ => format!("{:?}", queue::unpack(value)),
        }
    }

    fn processes(&self, value: Word) -> Vec<Pid> {
        queue::unpack(value)
    }

    fn renamed(&self, value: Word, new: &dyn Fn(Pid) -> Pid) -> Word {
        queue::renamed(value, new)
    }
}

/// The value of a queue to which a process was appended that was already in it. This value is outside the range of
/// every queue.
pub(super) const TWICE: Word = -1;

/// An instruction, for the message on a fault.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// The label of the instruction, or of the line before it.
    pub(super) label: String,
    /// The variable that it uses or assigns to.
    pub(super) variable: String,
    /// The smallest and the largest value of each index of an array, or of a private variable. Empty for a private
    /// set.
    pub(super) ranges: Vec<(Value, Value)>,
}

impl Spot {
    fn says(&self, fault: Fault) -> String {
        let Spot { variable, ranges, .. } = self;
        let range = match fault {
            Fault::Index { place, .. } => ranges.get(usize::from(place)),
            _ => ranges.first(),
        };
        match (fault, range) {
            (Fault::Index { value, .. }, Some((lo, hi))) if ranges.len() == 1 => {
                format!("uses the index {value} of {variable}, whose indices go from {lo} to {hi}")
            }
            (Fault::Index { place, value }, Some((lo, hi))) => format!(
                "uses the index {value} of {variable} in place {}, where the indices go from {lo} to {hi}",
                place + 1
            ),
            (Fault::Range(value), Some((lo, hi))) => {
                format!("assigns {value} to {variable}, which ranges from {lo} to {hi}")
            }
            (Fault::Range(_), None) => format!(
                "assigns {variable} a set with a number above 30: a private set has numbers from 0 to 30"
            ),
            _ => fault.says().to_string(),
        }
    }
}

/// Shows the fault of a line.
#[derive(Debug)]
pub(super) struct Faults {
    /// The instructions.
    pub(super) spots: Vec<Spot>,
}

impl Codec for Faults {
    fn show(&self, value: Word) -> String {
        let Some((line, fault)) = Fault::of_word(value) else { return "none".into() };
        match self.spots.get(line) {
            Some(spot) if spot.label.is_empty() => format!("the first line {}", spot.says(fault)),
            Some(spot) => format!("line {} {}", spot.label, spot.says(fault)),
            None => fault.says().to_string(),
        }
    }
}
