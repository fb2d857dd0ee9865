//! Hand-made runs that show mistakes of wrong variants. The sizes at which these mistakes show are too large to
//! explore. The interpreter confirms each run.

use crate::common::Director;
use hallpass_algorithms::{Pid, Section};
use hallpass_lab::{schedule::Finding, trace};

impl Director {
    fn until_in(&mut self, p: Pid, section: Section) {
        self.until(p, |stand| stand.section == section);
    }

    fn until_line(&mut self, p: Pid, line: &str) {
        self.until(p, |stand| stand.label.as_ref().is_some_and(|label| label.line == line));
    }

    /// Confirms the run so far, then `rest`, then a cycle of `first`. In this run, `first` came before
    /// `second`, which is in its critical section, and `first` never enters.
    fn overtaken(mut self, first: Pid, second: Pid, rest: impl FnOnce(&mut Self)) {
        let at = self.schedule.stem.len();
        rest(&mut self);
        let state = self.interpreter.state().clone();
        loop {
            self.interpreter.step(first).unwrap();
            self.schedule.cycle.push(first);
            assert_eq!(self.interpreter.stand(first).section, Section::Waiting);
            if *self.interpreter.state() == state {
                break;
            }
            assert!(
                self.schedule.cycle.len() < 1000,
                "process {first} does not return to an earlier state"
            );
        }
        self.schedule.finding = Finding::Fife { first, second, at };
        trace::confirm(&self.schedule).unwrap();
        let text = trace::encode(&self.schedule).unwrap();
        assert_eq!(trace::decode(&text).unwrap(), self.schedule, "{text}");
    }
}

const SECOND: Pid = 0;
const FIRST: Pid = 1;
const A: Pid = 2;
const B: Pid = 3;

/// A and B are in their critical sections when FIRST arrives. Then A and B leave. SECOND does not count
/// them and enters. A and B return with their old timestamps and stop, so FIRST counts them forever.
#[test]
fn without_line_12_of_afek_old_timestamps_return() {
    let mut run = Director::new("afek:no-second-label", 4, 2);
    run.until_in(A, Section::Critical);
    run.until_in(B, Section::Critical);
    run.until_in(FIRST, Section::Waiting);
    run.until_in(A, Section::Remainder);
    run.until_in(B, Section::Remainder);
    run.until_in(SECOND, Section::Critical);
    run.overtaken(FIRST, SECOND, |run| {
        run.until_line(A, "2");
        run.until_line(B, "2");
        run.until_line(FIRST, "6");
    });
}

/// A and B arrive after SECOND has entered, set their flags and stop. FIRST counts them, although they
/// came later.
#[test]
fn without_line_4_of_afek_later_processes_count() {
    let mut run = Director::new("afek:everybody-counts", 4, 2);
    run.until_in(FIRST, Section::Waiting);
    run.until_in(SECOND, Section::Critical);
    run.overtaken(FIRST, SECOND, |run| {
        run.until_line(A, "2");
        run.until_line(B, "2");
    });
}

/// A and B are in their critical sections when FIRST arrives. Then they clear their flags and stop.
/// SECOND sees that they have left, but FIRST does not.
#[test]
fn without_line_6_of_afek_processes_that_left_count() {
    let mut run = Director::new("afek:no-second-look", 4, 2);
    run.until_in(A, Section::Critical);
    run.until_in(B, Section::Critical);
    run.until_in(FIRST, Section::Waiting);
    run.until_line(A, "12");
    run.until_line(B, "12");
    run.until_in(SECOND, Section::Critical);
    run.overtaken(FIRST, SECOND, |_| ());
}

/// A and B are in their critical sections when FIRST and SECOND arrive. Then A and B leave. Each of
/// them stops in the loop of line 15: it has already shown SECOND that it no longer competes, and it has not yet shown
/// this to FIRST. So SECOND enters, and nothing releases FIRST.
#[test]
fn without_line_12_of_zehavi_a_later_process_enters_first() {
    let mut run = Director::new("zehavi:no-allow", 4, 2);
    run.until_in(A, Section::Critical);
    run.until_in(B, Section::Critical);
    run.until_in(FIRST, Section::Waiting);
    run.until_in(SECOND, Section::Waiting);
    for p in [A, B] {
        run.until(p, |stand| {
            stand.label.as_ref().is_some_and(|at| at.line == "15" && at.instance == "1")
        });
    }
    run.until_in(SECOND, Section::Critical);
    run.overtaken(FIRST, SECOND, |run| {
        run.until_line(FIRST, "11b"); // now FIRST has seen that SECOND comes after it
        run.until_line(FIRST, "11(a)i");
    });
}
