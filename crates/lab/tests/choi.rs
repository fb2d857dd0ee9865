//! Runs of Choi's algorithm and of its wrong variants. They are too long for a search in a test, because they go
//! through the array A two or three times. A process takes a *token* (a number) when it arrives. Each cell of A belongs
//! to one token in each *round*, and contains the last round in which a leaving process has released it. A leaving
//! process tries to write to each cell twice: lines 5.7 to 5.9 are the first attempt, and 6.7 to 6.9 the second.

use crate::common::Director;
use hallpass_algorithms::Section;
use hallpass_lab::{machine::build, schedule::Finding, trace};

impl Director {
    /// Moves `p` by at least one step, until it is in this section.
    fn on_to(&mut self, p: usize, section: Section) {
        for _ in 0..100 {
            self.step(p);
            if self.section(p) == section {
                return;
            }
        }
        panic!("process {p} does not reach the {section:?} section");
    }

    fn confirm(&self) {
        trace::confirm(&self.schedule).unwrap();
    }

    fn passage(&mut self, p: usize) {
        self.on_to(p, Section::Remainder);
    }

    /// Moves `p` until it is at this line for the `count`-th time.
    fn at_line(&mut self, p: usize, line: &str, mut count: usize) {
        for _ in 0..100 {
            self.step(p);
            let label = self.interpreter.stand(p).label;
            if label.is_some_and(|label| label.to_string() == line) {
                count -= 1;
                if count == 0 {
                    return;
                }
            }
        }
        panic!("process {p} does not reach {line}");
    }
}

/// Lets two slow processes disturb both attempts of a third process to write to a cell.
///
/// A leaving process takes a number from Exit and adds k. The sum is t', the token up to which it releases waiters.
/// Here k = 3. Cell 1 of block 1 belongs to the tokens 4, 10 and 16, and only the processes with these t' write to it.
/// The processes with t' = 4 and t' = 10 pause before they write. They write between the attempts of the process with
/// t' = 16.
fn disturbed_twice(algorithm: &str) -> Director {
    let mut run = Director::new(algorithm, 4, 3);
    let (p, slow, slower) = (0, 1, 2);
    run.passage(p); // t' = 3
    run.at_line(slower, "choi:5.9", 1); // t' = 4, about to write round 1
    for _ in 5..=9 {
        run.passage(p);
    }
    run.at_line(slow, "choi:5.7", 3); // t' = 10, about to read
    for _ in 11..=15 {
        run.passage(p);
    }
    run.at_line(p, "choi:5.9", 1); // t' = 16, about to write round 3
    run.step(slower); // round 1
    run.step(slow); // reads round 1
    run.step(slow); // is not too late: exit is 14, and u + 2k is 16, because u = t' = 10
    run.step(p); // fails
    run.step(p); // reads round 1
    run.step(p);
    run.step(slow); // round 2
    run.step(p); // fails again; this was the last attempt
    assert_eq!(run.section(p), Section::Remainder);
    run
}

#[test]
fn two_updates_are_not_enough_where_n_is_at_most_2k() {
    let mut run = disturbed_twice("choi:printed-check");
    // Two processes enter and stop, which is fewer than k. The process behind them is never admitted.
    let (waiter, slow, slower) = (0, 1, 2);
    for p in [slow, slower] {
        run.on_to(p, Section::Remainder);
        run.on_to(p, Section::Critical);
    }
    run.step(waiter);
    run.step(waiter);
    run.schedule.cycle = vec![waiter; 2];
    run.schedule.finding = Finding::Starvation { victim: waiter, stopped: vec![slow, slower] };
    run.confirm();
}

#[test]
fn one_update_is_not_enough() {
    let mut run = Director::new("choi:once", 4, 3);
    let (p, slow, other) = (0, 1, 2);
    run.passage(p); // t' = 3
    run.at_line(slow, "choi:5.9", 1); // t' = 4, about to write round 1
    for _ in 5..=9 {
        run.passage(p);
    }
    run.at_line(p, "choi:5.9", 1); // t' = 10, about to write round 2
    run.step(slow);
    run.step(p); // fails, and leaves
    assert_eq!(run.section(p), Section::Remainder);
    for p in [slow, other] {
        if run.section(p) != Section::Remainder {
            run.passage(p);
        }
        run.on_to(p, Section::Critical);
    }
    run.step(p);
    run.step(p);
    run.schedule.cycle = vec![p; 2];
    run.schedule.finding = Finding::Starvation { victim: p, stopped: vec![slow, other] };
    run.confirm();
}

#[test]
fn waiting_only_on_its_own_cell_is_not_enough() {
    let mut run = Director::new("choi:own-cell", 4, 3);
    let (p, slow, waiter) = (0, 1, 2);
    run.passage(p); // t' = 3
    run.at_line(slow, "choi:5.7", 1); // t' = 4, and no other process releases cell 1
    run.passage(p); // t' = 5
    run.passage(p); // with token 3
    run.step(waiter);
    run.step(waiter); // token 4
    run.schedule.cycle = vec![waiter];
    run.schedule.finding = Finding::Starvation { victim: waiter, stopped: vec![slow] };
    run.confirm();
}

/// Shows that the paper's invariant (I6) is false for a process that is too late: Exit has grown so much that line 8
/// stops its update. Such a process is at 6.7, in its second attempt to write round 2 to a cell. According to (I6) as
/// printed, no process at line 9 writes a lower round to this cell. But another process, at 5.9, writes round 1.
#[test]
fn i6_is_false_as_printed() {
    let mut run = Director::new("choi", 4, 3);
    let (p, slow, slower) = (0, 1, 2);
    run.passage(p); // t' = 3
    run.at_line(slower, "choi:5.9", 1); // t' = 4, about to write round 1 to cell 1 of block 1
    for _ in 5..=9 {
        run.passage(p);
    }
    run.at_line(slow, "choi:5.7", 3); // t' = 10, about to read the same cell for round 2
    for _ in 11..=15 {
        run.passage(p);
    }
    run.at_line(slow, "choi:6.7", 1); // slow is too late
    let layout = build("choi", 4, 3).unwrap();
    let cell = layout.layout().decls().iter().position(|decl| decl.name == "A[1][1]").unwrap();
    let before = run.interpreter.state().memory[cell];
    run.step(slower);
    assert_eq!((before, run.interpreter.state().memory[cell]), (0, 1));
}

#[test]
fn line_9_must_not_write() {
    let string = "hp1.choi:write.3.2.sc.-.starve-0-.0000000000011111111111111112222221111111111111\
                  111111111111121111111111111111111111000001111112222222.00.068d529d";
    trace::confirm(&trace::decode(string).unwrap()).unwrap();
}
