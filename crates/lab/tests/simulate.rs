//! Checks single runs of the simulator that counts remote references.

use hallpass_algorithms::Pid;
use hallpass_lab::{
    rmr::simulate::{Counts, Setting, Simulation},
    schedule::{CacheAtStart, Conventions, WriterCopy},
};

fn start(conventions: Conventions) -> (Setting, Simulation) {
    let setting =
        Setting::new("am-fig3", 2, 1, 2, conventions).expect("am-fig3 exists at this size");
    let simulation = Simulation::new(&setting, setting.machine.layout().first_initial());
    (setting, simulation)
}

fn run(setting: &Setting, simulation: &mut Simulation, pids: &[Pid]) {
    for &p in pids {
        simulation.step(setting, p).expect("the process may move");
    }
}

#[test]
fn a_passage_without_contention_takes_three_references() {
    // The steps are lines 2, 7 and 8. Leaving the remainder and leaving the critical section are also
    // steps.
    let (setting, mut simulation) = start(Conventions::default());
    run(&setting, &mut simulation, &[0, 0]);
    assert!(simulation.is_critical(&setting, 0));
    run(&setting, &mut simulation, &[0, 0, 0]);
    assert!(simulation.rests(0));
    assert_eq!(simulation.counts[0], Counts { cc: 3, dsm: 3 });
}

#[test]
fn waiting_costs_two_with_a_cache_and_every_read_without() {
    let (setting, mut simulation) = start(Conventions::default());
    run(&setting, &mut simulation, &[0, 0]);
    run(&setting, &mut simulation, &[1, 1, 1, 1, 1, 1, 1]);
    // The steps are lines 2, 3, 4 and 5, and then line 5 twice more.
    assert_eq!(simulation.counts[1], Counts { cc: 4, dsm: 6 });
    run(&setting, &mut simulation, &[0, 0, 0, 1]);
    assert_eq!(simulation.counts[1], Counts { cc: 5, dsm: 7 });
    assert!(simulation.is_critical(&setting, 1));
}

#[test]
fn the_copy_of_a_writer_follows_the_conventions() {
    for (writer_copy, cc) in
        [(WriterCopy::AsItWas, 4), (WriterCopy::Gained, 2), (WriterCopy::Lost, 4)]
    {
        let (setting, mut simulation) = start(Conventions { writer_copy, ..Default::default() });
        run(&setting, &mut simulation, &[0, 0]);
        run(&setting, &mut simulation, &[1, 1, 1, 1, 1]);
        assert_eq!(simulation.counts[1].cc, cc, "{writer_copy:?}");
    }
}

#[test]
fn the_contention_limit_keeps_other_processes_in_their_remainders() {
    let setting = Setting::new("am-fig3", 3, 1, 1, Conventions::default())
        .expect("am-fig3 exists at this size");
    let mut simulation = Simulation::new(&setting, setting.machine.layout().first_initial());
    assert!(simulation.step(&setting, 0).is_some_and(|done| done.began));
    assert!(simulation.step(&setting, 1).is_none());
    // The steps are two levels of entry, one step in the critical section, and two levels of exit.
    run(&setting, &mut simulation, &[0; 7]);
    assert!(simulation.rests(0) && simulation.outside == 0);
    assert!(simulation.step(&setting, 1).is_some());
}

#[test]
fn only_a_warm_cache_keeps_copies_for_the_next_passage() {
    for (cache, cc) in [(CacheAtStart::Cold, 4), (CacheAtStart::Warm, 4)] {
        let (setting, mut simulation) = start(Conventions { cache, ..Default::default() });
        run(&setting, &mut simulation, &[0, 0, 1, 1, 1, 1, 1]);
        assert_eq!(simulation.counts[1].cc, cc);
        // Process 0 leaves, and process 1 completes its passage. Its copy of Q survives its own write in
        // line 8.
        run(&setting, &mut simulation, &[0, 0, 0, 1, 1, 1, 1]);
        assert!(simulation.rests(1));
        run(&setting, &mut simulation, &[1]);
        let kept = simulation.copies.iter().any(|copies| copies >> 1 & 1 == 1);
        assert_eq!(kept, cache == CacheAtStart::Warm);
    }
}
