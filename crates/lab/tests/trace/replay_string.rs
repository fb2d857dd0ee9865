//! Checks that replay strings encode schedules of every algorithm, and that errors say what is wrong.

use hallpass_algorithms::registry;
use hallpass_lab::{
    schedule::{
        CacheAtStart, Conventions, CostModel, FailedRmw, Finding, MemoryModel, Schedule, WriterCopy,
    },
    trace::{self, Error},
};

use super::find::{Random, schedule, starved, with};

/// Returns findings of the checker and of `rmr`. Other tests encode findings about statements and first come, first
/// served, and played runs.
fn findings() -> Vec<Finding> {
    let conventions = Conventions {
        writer_copy: WriterCopy::Lost,
        failed_rmw: FailedRmw::Read,
        cache: CacheAtStart::Warm,
    };
    let default = Conventions::default();
    vec![
        Finding::Exclusion,
        Finding::Names,
        Finding::Range,
        Finding::Invariant("I4".into()),
        Finding::Deadlock { stopped: vec![] },
        Finding::Deadlock { stopped: vec![2, 0] },
        Finding::Starvation { victim: 1, stopped: vec![] },
        Finding::Starvation { victim: 1, stopped: vec![0, 2] },
        Finding::Exit { process: 2, steps: Some(17) },
        Finding::Exit { process: 2, steps: None },
        Finding::Doorway { process: 0, steps: Some(3) },
        Finding::Doorway { process: 0, steps: None },
        Finding::Fife { first: 0, second: 1, at: 2 },
        Finding::FifeStrong { first: 2, second: 1, at: 3 },
        Finding::Bypass { victim: 1, times: Some(2), at: 4 },
        Finding::Bypass { victim: 0, times: None, at: 0 },
        Finding::Rmr { model: CostModel::Cc, process: 1, count: Some(7), conventions },
        Finding::Rmr { model: CostModel::Dsm, process: 1, count: None, conventions: default },
    ]
}

#[test]
fn every_finding_survives_a_round_trip() {
    for finding in findings() {
        let schedule = with(schedule("am-fig3", (3, 1), &[0, 1, 2, 0], &[1, 2]), finding);
        let line = trace::encode(&schedule).unwrap();
        assert_eq!(trace::decode(&line), Ok(schedule), "{line}");
        let safe = |c: char| c.is_ascii_alphanumeric() || "._-:+%".contains(c);
        assert!(line.chars().all(safe), "{line}");
    }
}

#[test]
fn every_algorithm_and_initial_value_survives_a_round_trip() {
    let mut random = Random(7);
    for entry in registry::ENTRIES {
        // n is below the maximum if possible: at the maximum, listing the values of a cluster model takes
        // seconds.
        let n = (entry.max_processes - 1).clamp(2, 4);
        for k in [1, (n - entry.min_gap).min(entry.max_k)] {
            let mut schedule = schedule(entry.id, (n, k), &[n - 1, 0], &[]);
            let machine = hallpass_lab::machine::build(entry.id, n, k).unwrap();
            for (value, decl) in schedule.initial.iter_mut().zip(machine.layout().decls()) {
                *value = decl.initial()[random.below(decl.initial().len())];
            }
            let line = trace::encode(&schedule).unwrap();
            assert_eq!(trace::decode(&line), Ok(schedule), "{line}");
        }
    }
}

#[test]
fn buffers_and_thirty_two_processes_survive_a_round_trip() {
    let base = schedule("am-fig3", (32, 31), &(0..64).collect::<Vec<_>>(), &[31, 63]);
    let schedule = Schedule { memory: MemoryModel::StoreBuffers, ..base };
    let line = trace::encode(&schedule).unwrap();
    assert!(line.contains("tuv_0_1_2"), "{line}");
    assert_eq!(trace::decode(&line), Ok(schedule));
}

#[test]
fn the_form_of_a_replay_string_is_fixed() {
    let line = trace::encode(&starved()).unwrap();
    assert_eq!(line, "hp1.am-fig3.2.1.sc.0.starve-1-0.001111.1.70042194");
    assert_eq!(trace::decode(&format!("  {line}\n")), Ok(starved()));
}

/// Appends the checksum of `body`.
fn sealed(body: &str) -> String {
    format!("{body}.{:08x}", crc32fast::hash(body.as_bytes()))
}

#[test]
fn errors_say_what_is_wrong() {
    let error_of = |text: &str| trace::decode(text).unwrap_err().to_string();
    assert_eq!(trace::decode("hello"), Err(Error::NotAReplay));
    assert_eq!(trace::decode(""), Err(Error::NotAReplay));
    assert_eq!(trace::decode("hp2.am-fig3"), Err(Error::Version("2".into())));
    assert_eq!(trace::decode("hp1"), Err(Error::Damaged));
    let line = trace::encode(&starved()).unwrap();
    for cut in 4..line.len() {
        assert_eq!(trace::decode(&line[..cut]), Err(Error::Damaged), "{}", &line[..cut]);
    }
    assert_eq!(error_of(&line[..30]), "the replay string is damaged or incomplete: copy all of it");

    let cases = [
        ("hp1.am-fig4.2.1.sc.0.ex.0.-", "no algorithm is called `am-fig4`"),
        ("hp1.am-fig3.2.2.sc.0.ex.0.-", "n must be larger than k"),
        ("hp1.am-fig3.two.1.sc.0.ex.0.-", "n must be a number, got `two`"),
        ("hp1.am-fig3.99.1.sc.0.ex.0.-", "at most n = 32"),
        ("hp1.am-fig3.2.1.arm.0.ex.0.-", "unknown memory model `arm`: use sc or tso"),
        ("hp1.am-fig3.2.1.sc.5.ex.0.-", "Q.1 has 2 values, and none is `5`"),
        ("hp1.am-fig3.2.1.sc.00.ex.0.-", "take 1 digit here, but the replay string has 2"),
        ("hp1.am-fig3.2.1.sc.0.what.0.-", "`what` is not a finding"),
        ("hp1.am-fig3.2.1.sc.0.inv-I9.0.-", "its invariants are: I1, I2, I3, I4"),
        ("hp1.am-fig3.2.1.sc.0.fife-0-1-9.0.-", "the stem has 1 step,"),
        ("hp1.am-fig3.2.1.sc.0.exit-7-1.0.-", "there is no process 7: the processes are 0 to 1"),
        ("hp1.am-fig3.2.1.sc.0.ex.012.-", "there is no process 2: the processes are 0 to 1"),
        ("hp1.am-fig3.2.1.sc.0.ex.0A.-", "`A` is not a process"),
        ("hp1.am-fig3.2.1.sc.0.ex.0_0.-", "no store buffer or mishap has this number"),
        ("hp1.am-fig3.2.1.tso.0.ex.0_.-", "`_` is not a process"),
    ];
    for (body, expected) in cases {
        let error = error_of(&sealed(body));
        assert!(error.contains(expected), "{body}: {error}");
    }
}

/// Checks that any input decodes to a schedule or an error, and that any schedule can be run, confirmed
/// and printed, or gives an error.
#[test]
fn random_replay_strings_do_not_panic() {
    let mut random = Random(20_260_101);
    let seeds: Vec<String> = findings()
        .into_iter()
        .map(|finding| with(schedule("am-fig9", (3, 1), &[0, 0, 1, 2, 0, 1], &[1]), finding))
        .filter_map(|schedule| trace::encode(&schedule).ok())
        .chain([
            "hp1.am-fig3.2.1.tso.0.ex.0000_01_1.1".into(),
            "hp1.am-fig2.3.1.sc.-.ex.0.-".into(),
        ])
        .map(|line| line.rsplit_once('.').unwrap().0.to_string())
        .collect();
    let letters: Vec<char> = "0123456789abcvz_-.:+%~é\u{0}hpnamesfxi".chars().collect();
    let mut ran = 0;
    for round in 0..40_000 {
        let mut text: Vec<char> = seeds[random.below(seeds.len())].chars().collect();
        for _ in 0..=random.below(3) {
            let place = random.below(text.len());
            let letter = letters[random.below(letters.len())];
            match random.below(4) {
                0 => text[place] = letter,
                1 => text.insert(place, letter),
                2 if text.len() > 1 => drop(text.remove(place)),
                _ => text.extend_from_within(place..text.len().min(place + 4)),
            }
        }
        let body: String = text.into_iter().collect();
        assert!(trace::decode(&body).is_err() || round == 0);
        let Ok(schedule) = trace::decode(&sealed(&body)) else { continue };
        let line = trace::encode(&schedule).unwrap();
        assert_eq!(trace::decode(&line), Ok(schedule.clone()));
        let _ = trace::confirm(&schedule);
        if let Ok(trace) = trace::run(&schedule, &Conventions::default()) {
            ran += 1;
            assert!(!trace::text(&trace, true).is_empty());
            assert!(round % 16 != 0 || !trace::html(&trace).is_empty());
        }
    }
    assert!(ran > 500, "only {ran} of the mutated strings could be run");
}
