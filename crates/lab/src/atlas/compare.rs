//! Compares measurements with expectations.

use super::{
    expected::{Answer, Expected, Figure as ExpectedFigure, Resilience},
    listed::Listed,
    manifest::AtlasModel,
    run::Measured,
};
use crate::{
    check::{self, Outcome, Verdict},
    explore::Ended,
    questions::{self, Answer as QuestionAnswer},
    rmr::{self, Figure},
};

/// A remark about one result of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// The subject of the remark: `states`, the name of a property, `CC`, `DSM`, `ask` (the questions about whole
    /// runs), or `run` (an error, or a run that does not show its finding).
    pub about: &'static str,
    /// The text of the remark.
    pub text: String,
}

/// The comparison of a model's results with the expectations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// Measurements that differ from the expectation.
    pub differences: Vec<Remark>,
    /// Expectations that could not be compared, because the result is only partial.
    pub unseen: Vec<Remark>,
}

const RUN: &str = "run";
const STATES: &str = "states";
const ASK: &str = "ask";

/// Compares every expected result, including the number of states. Without this number, a search that
/// silently loses states would pass.
pub fn compare(model: &AtlasModel, measured: &Measured) -> Comparison {
    let mut comparison = Comparison::default();
    match &measured.check {
        Some(Ok(report)) => comparison.check(model, report),
        Some(Err(error)) => comparison.differs(RUN, format!("cannot be checked: {error}")),
        None => {}
    }
    match &measured.rmr {
        Some(Ok(report)) => comparison.rmr(model, report),
        Some(Err(error)) => comparison.differs(RUN, format!("cannot be counted: {error}")),
        None => {}
    }
    match &measured.ask {
        Some(Ok(report)) => comparison.ask(model, report),
        Some(Err(error)) => comparison.differs(RUN, format!("cannot be asked: {error}")),
        None => {}
    }
    for why in &measured.unconfirmed {
        comparison.differs(RUN, why.clone());
    }
    comparison
}

impl Comparison {
    fn differs(&mut self, about: &'static str, text: String) {
        add(&mut self.differences, Remark { about, text });
    }

    fn unseen(&mut self, about: &'static str, text: String) {
        add(&mut self.unseen, Remark { about, text });
    }

    fn states(&mut self, expected: Option<u64>, found: u64, ended: Ended) {
        let limit = match ended {
            Ended::Complete => None,
            Ended::States => Some("the limit on states was reached"),
            Ended::Memory => Some("the limit on memory was reached"),
            Ended::Stopped => Some("the exploration was stopped"),
        };
        match (expected, limit) {
            (Some(expected), None) if found != expected => {
                self.differs(STATES, format!("states {found}, expected {expected}"));
            }
            (Some(expected), Some(_)) if found > expected => {
                self.differs(STATES, format!("states {found} and more, expected {expected}"));
            }
            (Some(expected), Some(limit)) => {
                self.unseen(STATES, format!("{limit} after {found} of {expected} states"));
            }
            (None, Some(limit)) => self.unseen(STATES, format!("{limit} after {found} states")),
            (None, None) => {
                self.differs(STATES, format!("states {found}, not in the manifest yet"))
            }
            (Some(_), None) => {}
        }
    }

    fn check(&mut self, model: &AtlasModel, report: &check::Report) {
        self.states(model.states, report.states, report.ended);
        for (&listed, expected) in &model.check {
            match report.properties.get(listed.name()) {
                // The limit is reported once for all properties together.
                Some(Outcome { verdict: Verdict::Partial, .. }) if !report.is_complete() => {}
                Some(outcome) => self.property(listed.name(), expected, outcome),
                // The report contains `range` only if a variable has left its range.
                None if expected.answer == Answer::Holds => {}
                None => self.differs(
                    listed.name(),
                    format!("{} holds, expected {}", listed.name(), word(expected)),
                ),
            }
        }
        let range = report.properties.get(Listed::Range.name());
        if let Some(range) = range.filter(|_| !model.check.contains_key(&Listed::Range)) {
            let holds = Expected { answer: Answer::Holds, resilience: None, bound: None };
            self.property(Listed::Range.name(), &holds, range);
        }
    }

    fn property(&mut self, name: &'static str, expected: &Expected, found: &Outcome) {
        let answer = match found.verdict {
            Verdict::Holds => Answer::Holds,
            Verdict::Violated => Answer::Violated,
            Verdict::Partial => {
                let why = found.note.as_deref().unwrap_or("the exploration was incomplete");
                return self.unseen(name, format!("{name}, expected {}: {why}", word(expected)));
            }
            Verdict::NotChecked => {
                let why = found.note.as_deref().unwrap_or("it was not checked");
                return self.differs(name, format!("{name}: {why}, expected {}", word(expected)));
            }
        };
        if answer != expected.answer {
            let found = if answer == Answer::Holds { "holds" } else { "violated" };
            self.differs(name, format!("{name} {found}, expected {}", word(expected)));
        }
        let resilience = found.resilience.map_or(Resilience::Unlimited, Resilience::Crashes);
        if let Some(expected) = expected.resilience.filter(|&expected| expected != resilience) {
            let [found, expected] = [resilience, expected].map(crashes);
            self.differs(name, format!("{name} resilience {found}, expected {expected}"));
        }
        if let Some(expected) = expected.bound.filter(|&expected| Some(expected) != found.bound) {
            let found = found.bound.map_or("none".into(), |bound| bound.to_string());
            self.differs(name, format!("{name} bound {found}, expected {}", expected));
        }
    }

    fn rmr(&mut self, model: &AtlasModel, report: &rmr::Report) {
        self.states(model.states, report.states, report.ended);
        for (name, expected, found) in
            [("CC", &model.rmr.cc, &report.cc), ("DSM", &model.rmr.dsm, &report.dsm)]
        {
            if let Some(expected) = expected {
                self.figure(name, expected, found);
            }
        }
    }

    fn ask(&mut self, model: &AtlasModel, report: &questions::Report) {
        self.states(model.states, report.states, report.ended);
        for (name, expected) in &model.ask {
            let Some(answered) = report.answers.get(name) else {
                self.differs(ASK, format!("{name} was not asked, expected {expected}"));
                continue;
            };
            let found = answered.answer.to_string();
            match &answered.answer {
                QuestionAnswer::Partial(why) => {
                    self.unseen(ASK, format!("{name}, expected {expected}: {why}"))
                }
                _ if found != *expected => {
                    self.differs(ASK, format!("{name} {found}, expected {expected}"));
                }
                _ => {}
            }
        }
    }

    fn figure(&mut self, name: &'static str, expected: &ExpectedFigure, found: &Figure) {
        let (worst, exact) = (found.worst, found.exact);
        match expected.worst {
            None => self.differs(name, format!("{name} worst {}, not in the manifest yet", worst)),
            Some(expected) if exact && worst != expected => {
                self.differs(name, format!("{name} worst {}, expected {}", worst, expected));
            }
            Some(expected) if !exact && worst > expected => self
                .differs(name, format!("{name} worst {} at least, expected {}", worst, expected)),
            Some(expected) if !exact => {
                self.unseen(name, format!("{name} worst {} at least, expected {}", worst, expected))
            }
            Some(_) => {}
        }
        let claim = found.claim.as_ref().map(|claim| claim.bound);
        if claim != expected.claim {
            let show = |claim: Option<u64>| claim.map_or("none".into(), |bound| bound.to_string());
            self.differs(
                name,
                format!("{name} claim {}, expected {}", show(claim), show(expected.claim)),
            );
        }
    }
}

/// Adds a remark, unless it exists already. Checking and counting explore the same states, so both may
/// produce the same remark.
fn add(remarks: &mut Vec<Remark>, remark: Remark) {
    if !remarks.contains(&remark) {
        remarks.push(remark);
    }
}

fn word(expected: &Expected) -> &'static str {
    match expected.answer {
        Answer::Holds => "holds",
        Answer::Violated => "violated",
        Answer::Open => "nothing yet (? in the manifest)",
    }
}

pub(super) fn crashes(resilience: Resilience) -> String {
    match resilience {
        Resilience::Crashes(count) => count.to_string(),
        Resilience::Unlimited => "unlimited".into(),
    }
}
