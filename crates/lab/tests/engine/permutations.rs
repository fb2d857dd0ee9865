//! Compares the verdicts of the linearizability checker on thousands of small histories with those of a search that
//! follows the definition directly: it tries all permutations of the operations.

use std::collections::{BTreeSet, VecDeque};

use hallpass_lab::linear::{Event, EventKind, Monitor, Specification, check};

use super::linear::{Counter, History, Lie, Op, Queue, Register, run};

/// An operation of a history: its call, its return, and the returned value.
struct Span<R> {
    op: Op,
    began: usize,
    ended: Option<(usize, R)>,
}

fn spans<R: Clone>(history: &[Event<Op, R>]) -> Vec<Span<R>> {
    let mut spans: Vec<Span<R>> = Vec::new();
    for (began, event) in history.iter().enumerate() {
        let EventKind::Invoke(op) = event.kind else { continue };
        let end = (began + 1..history.len()).find(|&at| history[at].process == event.process);
        let ended = end.map(|at| match &history[at].kind {
            EventKind::Return(ret) => (at, ret.clone()),
            EventKind::Invoke(_) => unreachable!("a process executes one operation at a time"),
        });
        spans.push(Span { op, began, ended });
    }
    spans
}

/// Returns whether some order of all operations that have returned, and of some that have not, explains the results.
/// This is the definition.
fn permutable<S: Specification<Op = Op>>(
    spec: &S,
    state: &S::State,
    spans: &[Span<S::Ret>],
    taken: &mut Vec<usize>,
) -> bool {
    let left = |at: usize, taken: &[usize]| !taken.contains(&at);
    if (0..spans.len()).all(|at| !left(at, taken) || spans[at].ended.is_none()) {
        return true;
    }
    for next in 0..spans.len() {
        // No remaining operation may have returned before this operation was called.
        let too_early = (0..spans.len()).any(|other| {
            let ended = spans[other].ended.as_ref();
            left(other, taken) && ended.is_some_and(|&(end, _)| end < spans[next].began)
        });
        if !left(next, taken) || too_early {
            continue;
        }
        let (after, ret) = spec.apply(state, &spans[next].op);
        if spans[next].ended.as_ref().is_some_and(|(_, returned)| *returned != ret) {
            continue;
        }
        taken.push(next);
        let found = permutable(spec, &after, spans, taken);
        taken.pop();
        if found {
            return true;
        }
    }
    false
}

/// Returns the first event such that no order explains the history up to this event.
fn first_wrong<S: Specification<Op = Op>>(
    spec: &S,
    initial: &S::State,
    history: &History<S>,
) -> Option<usize> {
    (0..history.len())
        .find(|&at| !permutable(spec, initial, &spans(&history[..=at]), &mut Vec::new()))
}

/// Returns the first event that the monitor rejects. The monitor does not see later events.
fn on_line<S: Specification>(spec: &S, initial: S::State, history: &History<S>) -> Option<usize> {
    let mut monitor = Monitor::<S>::new(initial);
    history.iter().position(|Event { process, kind }| match kind {
        EventKind::Invoke(op) => {
            monitor.invoke(spec, *process, op.clone());
            false
        }
        EventKind::Return(ret) => !monitor.respond(spec, *process, ret),
    })
}

fn agrees_with_all_permutations<S>(spec: &S, initial: S::State, seed: u64)
where
    S: Specification<Op = Op>,
    S::Ret: Lie + std::fmt::Debug,
{
    let mut random = fastrand::Rng::with_seed(seed);
    let mut answers = BTreeSet::new();
    let mut wrong = 0;
    const HISTORIES: usize = 4000;
    for _ in 0..HISTORIES {
        let (processes, events) = (random.usize(2..5), random.usize(4..13));
        let history = run(spec, initial.clone(), processes, events, (40, 3), &mut random);
        let expected = first_wrong(spec, &initial, &history);
        let found = check(spec, initial.clone(), &history).err().map(|violation| violation.at);
        assert_eq!(found, expected, "{history:?}");
        assert_eq!(on_line(spec, initial.clone(), &history), expected, "{history:?}");
        answers.insert(found);
        wrong += usize::from(found.is_some());
    }
    // The histories are a useful sample: many are correct, and many are wrong at many different events.
    assert!((HISTORIES / 8..HISTORIES * 7 / 8).contains(&wrong), "{wrong} of {HISTORIES}");
    assert!(answers.len() > 8, "{answers:?}");
}

#[test]
fn registers_agree_with_all_permutations() {
    agrees_with_all_permutations(&Register, 0, 1);
}

#[test]
fn counters_agree_with_all_permutations() {
    agrees_with_all_permutations(&Counter, 0, 2);
}

#[test]
fn queues_agree_with_all_permutations() {
    agrees_with_all_permutations(&Queue, VecDeque::new(), 3);
}
