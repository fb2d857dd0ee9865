//! Checks the steps, events and remote references that the interpreter reports, with and without store buffers.

use hallpass_lab::{
    schedule::{CacheAtStart, Conventions, FailedRmw, MemoryModel, Schedule, WriterCopy},
    trace::{self, Error, Event, Trace, Via},
};

use super::find::schedule;

fn run(schedule: &Schedule) -> Trace {
    trace::run(schedule, &Conventions::default()).unwrap()
}

fn lines(trace: &Trace) -> Vec<u8> {
    let number = |label: &hallpass_algorithms::Label| label.line.parse().unwrap();
    trace.steps.iter().map(|s| s.before.label.as_ref().map_or(0, number)).collect()
}

#[test]
fn figure_3_without_contention_makes_three_remote_references() {
    let trace = run(&schedule("am-fig3", (2, 1), &[0; 5], &[]));
    assert_eq!(lines(&trace), [0, 2, 0, 7, 8]);
    let misses: Vec<bool> = trace.steps.iter().map(|step| step.miss).collect();
    assert_eq!(misses, [false, true, false, true, true]);
    let events: Vec<&[Event]> = trace.steps.iter().map(|step| &step.events[..]).collect();
    assert_eq!(
        events,
        [
            &[Event::LeavesRemainder][..],
            &[Event::LeavesDoorway, Event::Enters(None)],
            &[Event::LeavesCritical],
            &[],
            &[Event::Returns],
        ]
    );
    let x = trace.steps[1].access.as_ref().unwrap();
    assert_eq!((x.name.as_str(), x.found_shown.as_str(), x.left_shown.as_str()), ("X.1", "1", "0"));
}

#[test]
fn line_5_of_figure_3_counts_twice() {
    // Process 1 is in its critical section. Process 0 arrives and reads Q twice. Then 1 leaves, and 0
    // reads Q again, enters and leaves.
    let stem = [1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0];
    let trace = run(&schedule("am-fig3", (2, 1), &stem, &[]));
    let own: Vec<(u8, bool)> = lines(&trace)
        .into_iter()
        .zip(&trace.steps)
        .filter(|(_, step)| step.process == 0)
        .map(|(line, step)| (line, step.miss))
        .collect();
    // The second read at line 5 finds the copy of the first read. The third read does not.
    assert_eq!(
        own,
        [
            (0, false),
            (2, true),
            (3, true),
            (4, true),
            (5, true),
            (5, false),
            (5, true),
            (0, false),
            (7, true),
            (8, true)
        ]
    );
    assert!(trace.steps[6].stays && trace.steps[7].stays && !trace.steps[8].stays);
}

#[test]
fn conventions_decide_which_accesses_miss_the_cache() {
    // Line 2 writes X. Line 3 writes Q. Then line 4 reads X.
    let stem = [1, 1, 0, 0, 0, 0];
    let misses = |writer_copy, cache| {
        let rules = Conventions { writer_copy, cache, failed_rmw: FailedRmw::Write };
        trace::run(&schedule("am-fig3", (2, 1), &stem, &[]), &rules).unwrap().steps[5].miss
    };
    assert!(misses(WriterCopy::AsItWas, CacheAtStart::Cold));
    assert!(!misses(WriterCopy::Gained, CacheAtStart::Cold));
    assert!(misses(WriterCopy::Lost, CacheAtStart::Cold));

    // Process 0 makes two passages of Figure 9 without contention, with k = 1. Line 15 reads Q, which no
    // process writes between the two reads.
    let two: Vec<usize> = [0; 12].to_vec();
    let reads = |cache| {
        let rules = Conventions { cache, ..Conventions::default() };
        let trace = trace::run(&schedule("am-fig9", (2, 1), &two, &[]), &rules).unwrap();
        let reads = trace.steps.iter().zip(lines(&trace)).filter(|(_, line)| *line == 15);
        reads.map(|(step, _)| step.miss).collect::<Vec<_>>()
    };
    assert_eq!(reads(CacheAtStart::Cold), [true, true]);
    assert_eq!(reads(CacheAtStart::Warm), [true, false]);
}

#[test]
fn a_variable_at_home_is_not_remote() {
    // Process 0 is in its critical section. Process 1 goes to line 11, which reads its own P.
    let stem = [&[0, 0][..], &[1; 12]].concat();
    let trace = run(&schedule("am-fig9", (2, 1), &stem, &[]));
    for (step, line) in trace.steps.iter().zip(lines(&trace)).filter(|(step, _)| step.process == 1)
    {
        let remote = !matches!(line, 0 | 7 | 9 | 11 | 12);
        // Line 5 of process 1 finds Q = 0, so it accesses a variable of process 0.
        assert_eq!(step.remote, remote, "line {line}");
    }
}

#[test]
fn the_doorway_does_not_begin_again() {
    use hallpass_algorithms::Section::*;
    // There are two levels. Processes 1 and 2 have passed the outer level, and 0 waits there until it
    // may pass.
    let trace =
        run(&schedule("am-fig3", (3, 1), &[1, 1, 1, 2, 2, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0], &[]));
    let sections: Vec<_> =
        trace.steps.iter().filter(|s| s.process == 0).map(|s| s.after.section).collect();
    assert_eq!(sections[..5], [Doorway, Doorway, Doorway, Waiting, Waiting]);
    // Line 2 of the inner level would belong to the doorway if the process had not waited before.
    assert!(sections[5..].iter().all(|&section| section == Waiting));
    let left =
        |step: &&trace::Step| step.process == 0 && step.events.contains(&Event::LeavesDoorway);
    assert_eq!(trace.steps.iter().filter(left).count(), 1);
}

fn buffered(stem: &[usize]) -> Schedule {
    Schedule { memory: MemoryModel::StoreBuffers, ..schedule("am-fig3", (2, 1), stem, &[]) }
}

#[test]
fn stores_stay_in_the_buffer_until_flushed() {
    // Process 0 is in its critical section. Process 1 writes Q at line 3. Other processes see this write
    // only after the flush.
    let trace = run(&buffered(&[0, 0, 1, 1, 1, 1, 1, 3]));
    let access = |step: usize| trace.steps[step].access.as_ref().unwrap();
    assert_eq!((access(4).via, access(4).found, access(4).left), (Via::IntoBuffer, 0, 1));
    assert!(!trace.steps[4].miss && !trace.steps[4].stays);
    assert_eq!(access(5).via, Via::Memory); // line 4 reads X, which is not in the buffer
    assert_eq!((access(6).via, access(6).found), (Via::FromBuffer, 1));
    assert!(!trace.steps[6].miss && trace.steps[6].stays);
    assert_eq!((access(7).via, access(7).found, access(7).left), (Via::Flush, 0, 1));
    assert!(trace.steps[7].miss && trace.steps[7].is_flush());
    assert_eq!(trace.steps[7].process, 1);
}

#[test]
fn a_read_modify_write_needs_an_empty_buffer() {
    // Process 0 leaves and starts again, while its last write is still in its buffer.
    let alone = [0, 0, 0, 0, 0, 0];
    let error = |stem: &[usize]| trace::run(&buffered(stem), &Conventions::default()).err();
    assert_eq!(error(&alone), None);
    let Some(Error::Step(7, why)) = error(&[&alone[..], &[0]].concat()) else { panic!() };
    assert!(why.contains("store buffer is not empty"), "{why}");
    assert_eq!(error(&[&alone[..], &[2, 0]].concat()), None);
    let Some(Error::Step(1, why)) = error(&[3]) else { panic!() };
    assert_eq!(why, "the store buffer of process 1 is empty");
}
