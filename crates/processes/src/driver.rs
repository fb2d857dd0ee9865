//! Runs passages of the step machine in its environment on real memory.
//!
//! A process makes each *passage* (it enters, holds a slot and leaves) with a registration. Each registration has a
//! record in the file of the hall. The *card* of a record is a word that contains the phase of its process, such as
//! waiting. A card is *vacant* if no process has the record. A waiter has a *ticket*: its position in the queue.

use hallpass_algorithms::{
    Next, Word,
    halls::processes::{Line, Role, step},
};

use crate::environment::{NativeEnvironment, NativeLine};

/// How a run of the step machine ended.
pub(crate) enum End {
    /// The passage is in its critical section, with this slot.
    In(usize),
    /// The passage is in its critical section with several slots, of which this is the first.
    InMany(usize),
    /// The passage is in its remainder section.
    Out,
    /// The driver stopped the run, because it would never end: another program has changed the words.
    Lost,
}

/// The largest number of lines that a passage runs without progress. If a passage runs more lines, a program that does
/// not follow the protocol has changed the words. The limit is lower for the fuzzer, which tries thousands of damaged
/// halls, all of them small.
const MAX_LINES: u32 = if cfg!(fuzzing) { 20_000 } else { 10_000_000 };

/// The largest number of lines that a process runs to take a record. Usually, these are about ten.
const MAX_LINES_TO_JOIN: u32 = 10_000;

/// Returns `true` if a passage that reaches this line has made progress.
///
/// - W8: the waiter has looked at everything once, and is about to sleep.
/// - R3: the card of a dead process becomes vacant. This happens once for each dead process, because a waiter
///   rescues only processes whose cards are not vacant, or that it watched before it slept.
/// - S14: a sleeping waiter was given a slot. This happens once for each of its waits.
///
/// A look at all cards follows each rescue, so a passage that rescues many processes of a crowded hall runs many lines.
/// Damaged content does not keep a passage running: every card becomes vacant, or is given a slot, at most once.
fn is_progress(at: &NativeLine) -> bool {
    matches!(at, Line::W8 { .. } | Line::R3 { .. } | Line::S14 { .. })
}

/// Returns `true` if a waiter goes from `at` to `next` because it has looked at all cards and has found no waiter that
/// it may serve, not even itself. In this case, another program has changed its card or the next ticket, and all
/// further looks would end like this one.
fn misses_itself(at: &NativeLine, next: &NativeLine) -> bool {
    matches!(at, Line::S3 { .. } | Line::S13 { .. })
        && matches!(next, Line::S1 { role: Role::Waiter | Role::Watcher(()) })
}

impl NativeEnvironment<'_> {
    /// Runs a passage from the line `at` until it is in its critical section, or back in its remainder.
    pub(crate) fn run(&mut self, at: NativeLine) -> End {
        self.run_counted(at).0
    }

    /// Runs a passage as [`run`](Self::run) does. Also returns the number of lines since its last progress.
    fn run_counted(&mut self, mut at: NativeLine) -> (End, u32) {
        let me = self.me;
        let mut lines = 0;
        let end = loop {
            let next = match at {
                Line::S3 { .. } => self.look_at_cards(at, &mut lines),
                Line::S6 { .. } => self.look_at_slots(at),
                line => step(self, me, line),
            };
            let next = match next {
                Next::Goto(line @ Line::W1) => {
                    self.linger();
                    line
                }
                Next::Goto(line) => line,
                Next::Spin(line) => {
                    self.sleep();
                    line
                }
                Next::Enter(Line::X2 { j, .. }) => break End::In(j),
                Next::Enter(Line::X7 { j }) => break End::InMany(j),
                Next::Enter(_) => unreachable!("a passage that waited leaves by line X2 or X7"),
                Next::Leave => break End::Out,
            };
            lines = if is_progress(&next) { 0 } else { lines + 1 };
            if lines > MAX_LINES || misses_itself(&at, &next) {
                break End::Lost;
            }
            at = next;
        };
        (end, lines)
    }

    /// Runs line S3 for one card after the other, and returns what comes next. Adds the lines to `lines`.
    ///
    /// The compiler keeps only the code of this line, and keeps its values in registers.
    fn look_at_cards(&mut self, at: NativeLine, lines: &mut u32) -> Next<NativeLine> {
        let me = self.me;
        let Line::S3 { role, c, size, mut i, mut seen } = at else { return Next::Goto(at) };
        loop {
            match step(self, me, Line::S3 { role, c, size, i, seen }) {
                Next::Goto(Line::S3 { i: next, seen: more, .. }) => (i, seen) = (next, more),
                next => return next,
            }
            *lines += 1;
        }
    }

    /// Runs lines S6 and S7 for one slot after the other, and returns what comes next. Stops early if the process
    /// begins to serve another waiter.
    fn look_at_slots(&mut self, at: NativeLine) -> Next<NativeLine> {
        let me = self.me;
        let Line::S6 { role, size, who, mut j, mut got, own } = at else { return Next::Goto(at) };
        loop {
            let next = match step(self, me, Line::S6 { role, size, who, j, got, own }) {
                Next::Goto(Line::S7 { tag, .. }) => {
                    step(self, me, Line::S7 { role, size, who, j, got, own, tag })
                }
                next => next,
            };
            match next {
                Next::Goto(Line::S6 { j: next, got: more, who: same, .. }) if same == who => {
                    (j, got) = (next, more)
                }
                next => return next,
            }
        }
    }

    /// Takes the record `me`. Returns the number on its card, or `None` if another process was faster.
    pub(crate) fn join(&mut self, mut at: NativeLine) -> Option<Word> {
        let me = self.me;
        for _ in 0..MAX_LINES_TO_JOIN {
            at = match step(self, me, at) {
                Next::Goto(Line::E1 { x }) => return Some(x),
                Next::Goto(line) => line,
                _ => return None,
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::Ordering::SeqCst, time::Duration};

    use hallpass_algorithms::halls::processes::{Card, Phase, Tag, waits_with};
    use hallpass_common::Limit;

    use super::*;
    use crate::{
        HallDir, patience::Patience, registration::Registration, shared_state::SharedState,
        sys::lifeline,
    };

    /// Registers a process that sleeps, waits for `wants` slots and has this ticket. It never runs.
    fn sleeping_waiter(hall: &SharedState, wants: usize, ticket: Word) -> (Registration, Tag) {
        let registration = Registration::new(hall).unwrap();
        let tag = Tag { process: registration.record, number: waits_with(ticket) };
        let card = Card::new(Phase::Asleep(wants), tag.number);
        hall.file.card(tag.process).store(card.pack(), SeqCst);
        (registration, tag)
    }

    /// The rescue of one dead waiter takes two lines for each record of the hall.
    #[test]
    fn a_waiter_behind_many_dead_waiters_of_a_crowded_hall_gets_its_slot() {
        const RECORDS: usize = 16_000;
        const DEAD: usize = 400;
        let folder = tempfile::tempdir().unwrap();
        let hall = HallDir::at(folder.path()).open("hall", 1).unwrap();
        let hall = &hall.handle.state;
        let mut registration = Registration::new(hall).unwrap();
        let (me, number) = (registration.record, registration.number);
        hall.prepare_records(RECORDS).unwrap();
        hall.file.records_used().store(RECORDS as i64, SeqCst);
        for record in me + 1..=me + DEAD {
            let ticket = hall.file.next().fetch_add(1, SeqCst);
            let card = Card::new(Phase::Asleep(1), waits_with(ticket));
            let id = hall.file.last_id().fetch_add(1, SeqCst) + 1;
            drop(lifeline::create(hall.dir(), id).unwrap());
            hall.file.owner(record).store(id, SeqCst);
            hall.file.card(record).store(card.pack(), SeqCst);
        }
        let mut environment = registration.environment(hall, Patience::ENDLESS);
        assert!(matches!(environment.run(Line::E1 { x: number }), End::In(0)));
        assert!((me + 1..=me + DEAD).all(|record| hall.card(record).phase == Phase::Vacant));
    }

    /// The waiter draws the largest ticket, which is not less than the next ticket. So the waiter does not find itself
    /// among the waiters that it may serve.
    #[test]
    fn a_waiter_with_a_damaged_ticket_reports_this_after_one_look() {
        let folder = tempfile::tempdir().unwrap();
        let hall = HallDir::at(folder.path()).open("hall", 1).unwrap();
        let hall = &hall.handle.state;
        let mut registration = Registration::new(hall).unwrap();
        let number = registration.number;
        hall.file.next().store(i64::MAX, SeqCst);
        let mut environment = registration.environment(hall, Patience::ENDLESS);
        let (end, lines) = environment.run_counted(Line::E6 { x: number });
        assert!(matches!(end, End::Lost) && lines < 20, "{lines} lines");
    }

    /// The dead waiter was chosen (the word `head` names it) before the first waiter arrived, and was then killed. Only
    /// the first waiter can watch it.
    #[test]
    fn the_first_waiter_of_a_shrunk_hall_notices_the_death_of_a_waiter_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let open = HallDir::at(folder.path()).open("hall", 2).unwrap();
        let _passes = open.acquire_many(2).unwrap();
        open.resize(1).unwrap();
        let hall = &open.handle.state;
        let mut registration = Registration::new(hall).unwrap();
        let number = registration.number;
        let dead = registration.record + 1;
        hall.prepare_records(dead + 1).unwrap();
        hall.file.records_used().store(dead as i64 + 1, SeqCst);
        let id = hall.file.last_id().fetch_add(1, SeqCst) + 1;
        drop(lifeline::create(hall.dir(), id).unwrap());
        let tag = Tag { process: dead, number: waits_with(hall.file.next().load(SeqCst) + 1) };
        hall.file.owner(dead).store(id, SeqCst);
        hall.file.card(dead).store(Card::new(Phase::Asleep(1), tag.number).pack(), SeqCst);
        hall.file.head().store(tag.pack(), SeqCst);
        let patience = Patience::from(Limit::after(Duration::from_millis(10)));
        let mut environment = registration.environment(hall, patience);
        assert!(matches!(environment.run(Line::E6 { x: number }), End::Out));
        assert_eq!(hall.card(dead).phase, Phase::Vacant);
        registration.unregister(hall);
    }

    /// Each of two processes has set one slot aside for the large request. Each saw only one such slot, so neither has
    /// settled the grant on the card of the large request. Then the small request with a lower ticket arrives.
    #[test]
    fn a_small_request_settles_the_grant_of_a_large_one_behind_it_if_all_its_slots_are_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let open = HallDir::at(folder.path()).open("hall", 2).unwrap();
        let hall = &open.handle.state;
        let mut small = Registration::new(hall).unwrap();
        let number = small.number;
        let later = hall.file.next().load(SeqCst) + 5;
        let (large, tag) = sleeping_waiter(hall, 2, later);
        (0..2).for_each(|slot| hall.file.slot(slot).store(tag.pack(), SeqCst));
        hall.file.head().store(tag.pack(), SeqCst);
        let patience = Patience::from(Limit::after(Duration::from_millis(10)));
        let mut environment = small.environment(hall, patience);
        assert!(matches!(environment.run(Line::E6 { x: number }), End::Out));
        assert_eq!(hall.card(tag.process).phase, Phase::GrantedMany);
        small.unregister(hall);
        large.unregister(hall);
    }

    /// The large request already has slot 0, so the leaving process gives it only one of the two slots that it leaves.
    /// The other slot goes to the next waiter, even if the process of the large request is stopped.
    #[test]
    fn a_process_that_leaves_two_slots_gives_both_away() {
        let folder = tempfile::tempdir().unwrap();
        let open = HallDir::at(folder.path()).open("hall", 3).unwrap();
        let hall = &open.handle.state;
        let first = open.acquire().unwrap();
        let passes = open.acquire_many(2).unwrap();
        assert_eq!(passes.slots(), [1, 2]);
        drop(first);
        let mut waiters = Vec::new();
        for wants in [2, 1] {
            let ticket = hall.file.next().fetch_add(1, SeqCst);
            waiters.push(sleeping_waiter(hall, wants, ticket));
        }
        let large = waiters[0].1;
        hall.file.slot(0).store(large.pack(), SeqCst);
        hall.file.head().store(large.pack(), SeqCst);
        drop(passes);
        let phases = waiters.iter().map(|(_, tag)| hall.card(tag.process).phase);
        assert!(phases.eq([Phase::GrantedMany, Phase::Granted(2)]));
        waiters.into_iter().for_each(|(waiter, _)| waiter.unregister(hall));
    }
}
