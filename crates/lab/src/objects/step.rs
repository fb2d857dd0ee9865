//! One step of one process.

use hallpass_algorithms::objects::universal::{Next, begin, is_local};

use super::{
    environment::{Access, ModelEnvironment},
    object::{Operation, SmallObject},
    observe::Violation,
    state::{ModelState, Ongoing},
    variants::Variant,
};

/// What happened in one step: an operation that began or returned, the accesses, and a violation.
#[derive(Clone, Debug, Default)]
pub struct StepRecord {
    /// The operation that began in this step.
    pub began: Option<Operation>,
    /// The answer of the operation that ended.
    pub returned: Option<u8>,
    /// The line, if the step was logged.
    pub line: String,
    /// The accesses, if the step was logged.
    pub accesses: Vec<Access>,
    /// The property that the step violates.
    pub violation: Option<Violation>,
}

impl StepRecord {
    /// Returns whether the step begins and ends no operation, and violates nothing.
    pub fn is_silent(&self) -> bool {
        self.began.is_none() && self.returned.is_none() && self.violation.is_none()
    }
}

/// Executes steps.
pub struct Stepper<'a> {
    /// The object that the processes share.
    pub object: &'a SmallObject,
    /// The construction, or a wrong variant.
    pub variant: &'a Variant,
    /// Whether to check [`Violation::Held`].
    pub strict: bool,
    /// Whether to record lines and accesses.
    pub log: bool,
}

impl Stepper<'_> {
    /// Executes one step of `me`. If `me` executes no operation, it begins operation `which`. Lines
    /// without an access are executed together with the line before them, because no process can observe
    /// when they happen. Returns `None` if `me` cannot take a step.
    pub fn step(&self, state: &mut ModelState, me: usize, which: usize) -> Option<StepRecord> {
        let process = &mut state.processes[me];
        let mut record = StepRecord::default();
        let mut ongoing = match process.ongoing {
            Some(_) if which != 0 => return None,
            Some(ongoing) => ongoing,
            None if process.left == Some(0) => return None,
            None => {
                process.left = process.left.map(|left| left - 1);
                let intent = self.object.intent(which);
                record.began = Some(Operation { process: me as u8, which: which as u8 });
                Ongoing { at: begin(intent), intent, which: which as u8, kept: None }
            }
        };
        let k = state.processes.len();
        let mut lines: Vec<_> = (0..k).map(|process| state.line(process)).collect();
        if self.log {
            record.line = format!("{:?}", ongoing.at);
        }
        loop {
            lines[me] = Some(ongoing.at);
            let mut environment = ModelEnvironment {
                shared: &mut state.shared,
                lines: &lines,
                object: self.object,
                me,
                intent: ongoing.intent,
                which: ongoing.which,
                kept: ongoing.kept,
                violation: None,
                strict: self.strict,
                log: self.log.then(Vec::new),
            };
            let next = (self.variant.step)(&mut environment, me, ongoing.intent, ongoing.at);
            ongoing.kept = environment.kept;
            record.violation = record.violation.or(environment.violation);
            record.accesses.extend(environment.log.into_iter().flatten());
            match next {
                Next::Goto(line) => ongoing.at = line,
                Next::Done => {
                    record.returned = ongoing.kept;
                    if ongoing.kept.is_none() {
                        record.violation = record.violation.or(Some(Violation::Missing));
                    }
                    state.processes[me].ongoing = None;
                    return Some(record);
                }
            }
            if !is_local(me, k, ongoing.at) && !(self.variant.skips)(me, ongoing.at) {
                state.processes[me].ongoing = Some(ongoing);
                return Some(record);
            }
        }
    }
}
