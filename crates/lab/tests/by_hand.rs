//! Runs made by hand, where the smallest size that shows a mistake is too large to explore. The
//! interpreter confirms each.

mod common;

use common::director::Director;
use hallpass_algorithms::{Pid, Section};
use hallpass_lab::{schedule::Finding, trace};

impl Director {
    fn until_in(&mut self, p: Pid, section: Section) {
        self.until(p, |stand| stand.section == section);
    }

    fn until_line(&mut self, p: Pid, line: &str) {
        self.until(p, |stand| stand.label.as_ref().is_some_and(|label| label.line == line));
    }

    /// What has happened so far, then `rest`, then `first` for ever: it came before `second`, who
    /// is in, and is kept out.
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
            assert!(self.schedule.cycle.len() < 1000, "process {first} does not come back");
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

/// A and B are in when FIRST comes, and leave. SECOND does not count them and goes in. They come
/// back with their old timestamps and stop, so FIRST counts them for ever.
#[test]
fn without_line_12_of_afek_old_timestamps_come_back() {
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

/// A and B come after SECOND is in, raise their flags and stop: FIRST counts them although they
/// were not there when it came.
#[test]
fn without_line_4_of_afek_those_count_who_came_later() {
    let mut run = Director::new("afek:everybody-counts", 4, 2);
    run.until_in(FIRST, Section::Waiting);
    run.until_in(SECOND, Section::Critical);
    run.overtaken(FIRST, SECOND, |run| {
        run.until_line(A, "2");
        run.until_line(B, "2");
    });
}

/// A and B are in when FIRST comes, lower their flags and stop. SECOND sees that they have gone.
/// FIRST does not.
#[test]
fn without_line_6_of_afek_those_count_who_have_gone() {
    let mut run = Director::new("afek:no-second-look", 4, 2);
    run.until_in(A, Section::Critical);
    run.until_in(B, Section::Critical);
    run.until_in(FIRST, Section::Waiting);
    run.until_line(A, "12");
    run.until_line(B, "12");
    run.until_in(SECOND, Section::Critical);
    run.overtaken(FIRST, SECOND, |_| ());
}

/// A and B are in when FIRST and SECOND come, and go out as far as telling SECOND that they do not
/// compete any more; FIRST is next in their loop. So SECOND goes in, and has nothing to say to
/// FIRST.
#[test]
fn without_line_12_of_zehavi_who_is_told_first_gets_in_first() {
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
        run.until_line(FIRST, "11b"); // by now it knows that SECOND comes after it
        run.until_line(FIRST, "11(a)i");
    });
}
