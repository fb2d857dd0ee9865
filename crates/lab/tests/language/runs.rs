//! Checks files of the language: replay strings, violated ranges, promises and invariants, and normal forms of other
//! step machines.

use std::{fs, sync::atomic::AtomicBool};

use hallpass_lab::{
    catalogue,
    check::{Property, Question, Report, Verdict, check},
    graph::Bound,
    schedule::MemoryModel,
    trace,
};

use crate::common::resources;

#[test]
fn the_author_of_the_promises_is_the_paper_hallpass_or_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = load(&folder, "author.kx", NO_LOCK);
    for (id, author) in [
        ("am-fig3", "the paper"),
        ("am-fig3+names", "the paper"),
        ("hall", "hallpass"),
        (file.as_str(), "the file"),
    ] {
        assert_eq!(catalogue::author(id), author, "{id}");
    }
}

/// Writes a file and loads it. Returns its path, which is its identifier.
fn load(folder: &tempfile::TempDir, name: &str, source: &str) -> String {
    let path = folder.path().join(name).display().to_string();
    fs::write(&path, source).unwrap();
    catalogue::load(&path).unwrap_or_else(|error| panic!("{error}"));
    path
}

fn checked(id: &str, n: usize, k: usize) -> Report {
    let stop = AtomicBool::new(false);
    check(&Question::everything(id, n, k), &resources(1 << 20, 1 << 28, &stop)).unwrap()
}

const NO_LOCK: &str = "algorithm none shared x : 0..1 = 0 passage 1: x := 1 critical 2: x := 0 end";

#[test]
fn a_replay_string_of_a_file_replays_until_the_file_changes() {
    let folder = tempfile::tempdir().unwrap();
    let id = load(&folder, "my lock.kx", NO_LOCK);
    let report = checked(&id, 2, 1);
    let run = report.outcome(Property::Exclusion).run.clone().expect("two processes enter");
    trace::confirm(&run).unwrap();
    let string = trace::encode(&run).unwrap();
    assert!(!string.contains(' '), "{string}");
    assert_eq!(catalogue::file_of_replay(&string).as_deref(), Some(id.as_str()));
    assert_eq!(trace::decode(&string), Ok(run.clone()));

    // A comment and another promise change nothing.
    let commented = format!("// the same\n{NO_LOCK} promises exclusion");
    load(&folder, "my lock.kx", &commented);
    assert_eq!(trace::decode(&string), Ok(run));

    load(&folder, "my lock.kx", &NO_LOCK.replace("2: x := 0", "2: x := 1"));
    let error = trace::decode(&string).unwrap_err().to_string();
    assert!(error.contains("has changed since this run was found"), "{error}");
}

#[test]
fn a_replay_string_of_a_file_that_is_not_loaded_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let id = load(&folder, "first.kx", NO_LOCK);
    let run = checked(&id, 2, 1).outcome(Property::Exclusion).run.clone().unwrap();
    let string = trace::encode(&run).unwrap();
    let (body, _) = string.rsplit_once('.').unwrap();
    let other = body.replace("first.kx", "second.kx");
    let other = format!("{other}.{:08x}", crc32fast::hash(other.as_bytes()));
    let error = trace::decode(&other).unwrap_err().to_string();
    assert!(error.contains("second.kx, which is not loaded"), "{error}");
}

/// Returns the text of the run that leaves a range.
fn range_run(source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let id = load(&folder, "range.kx", source);
    let report = checked(&id, 2, 1);
    assert_eq!(report.verdict(), Verdict::Violated);
    let outcome = &report.properties["range"];
    assert_eq!(outcome.verdict, Verdict::Violated);
    let run = outcome.run.as_ref().expect("a run shows it");
    trace::confirm(run).unwrap();
    trace::text(&trace::run(run, &trace::conventions(run)).unwrap(), false)
}

#[test]
fn a_shared_variable_that_leaves_its_range_is_shown_with_a_run() {
    let text =
        range_run("algorithm a shared x : 0..1 = 0 passage 1: fetch_and_add(x, 1) critical end");
    assert!(text.contains("x"), "{text}");
}

#[test]
fn a_private_variable_that_leaves_its_range_is_shown_with_a_run() {
    let text = range_run(
        "algorithm a shared x : 0..2 = 0 private v : 0..1 passage 1: v := fetch_and_add(x, 1, 3) + v critical end",
    );
    assert!(text.contains("line 1 assigns 2 to v, which ranges from 0 to 1"), "{text}");
}

#[test]
fn an_index_that_does_not_exist_is_shown_with_a_run() {
    let text = range_run(
        "algorithm a shared x[process] : 0..1 = 0 y : 0..3 = 3 private v : 0..3
         passage 1: v := y 2: x[v] := 1 critical end",
    );
    assert!(text.contains("line 2 uses the index 3 of x, whose indices go from 0 to 1"), "{text}");

    let text = range_run(
        "algorithm a shared x[0..1, -1..n-1] : 0..1 = 0 y : -2..0 = -2 private v : -2..0
         passage 1: v := y 2: x[0, v] := 1 critical end",
    );
    let place = "line 2 uses the index -2 of x in place 2, where the indices go from -1 to 1";
    assert!(text.contains(place), "{text}");
}

#[test]
fn local_lines_without_end_are_shown_with_a_run() {
    let text = range_run(
        "algorithm a shared x : 0..1 = 0 private v : 0..1 passage 1: v := x while v = 0 do skip end critical end",
    );
    assert!(text.contains("line 1 is followed by local lines that repeat without end"), "{text}");
}

#[test]
fn a_normal_form_of_another_machine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = "algorithm a normal form of bakery
         shared num[p in process] : counter = 0 home p  choosing[p in process] : bool = false home p
         passage 1: choosing[me] := true critical 5: choosing[me] := false end";
    let id = load(&folder, "other.kx", source);
    let stop = AtomicBool::new(false);
    let error =
        check(&Question::everything(&id, 2, 1), &resources(1 << 20, 1 << 28, &stop)).unwrap_err();
    assert!(error.to_string().contains("is not the same step machine as bakery"), "{error}");
}

#[test]
fn a_loop_in_an_exit_section_may_leave_a_store_in_its_buffer() {
    let folder = tempfile::tempdir().unwrap();
    let waits = "algorithm waits shared x : 0..1 = 0 y : 0..1 = 0 passage 1: x := 1 critical 2: await y = 1 end";
    let id = load(&folder, "waits.kx", waits);
    let stop = AtomicBool::new(false);
    let question = Question {
        memory: MemoryModel::StoreBuffers,
        ..Question::everything(&id, 2, 1).only(vec![Property::Exit])
    };
    let report = check(&question, &resources(1 << 20, 1 << 28, &stop)).unwrap();
    let run = report.outcome(Property::Exit).run.clone().expect("the exit section has no bound");
    assert_eq!((run.stem.as_slice(), run.cycle.as_slice()), (&[0; 3][..], &[0][..]));
    trace::confirm(&run).unwrap();
}

#[test]
fn a_process_that_only_another_process_can_keep_out_may_be_overtaken_forever() {
    // In the run that the check finds, process 0 waits and takes no step, while process 1 enters again and again.
    // Process 0 would enter if it alone took steps. But process 1 can keep it out by writing z each time, after process
    // 0 has written z and before process 0 reads it.
    let waits = "algorithm kept shared x : 0..1 = 0 z : process = 0 passage waiting loop
        0: z := me 1: if z = me then break end 2: if x = 1 then break end end
        critical 3: if z = me then leave end 4: x := 0 end";
    let folder = tempfile::tempdir().unwrap();
    let id = load(&folder, "kept.kx", waits);
    let stop = AtomicBool::new(false);
    let question = Question::everything(&id, 2, 1).only(vec![Property::Bypass]);
    let report = check(&question, &resources(1 << 20, 1 << 28, &stop)).unwrap();
    let bypass = report.outcome(Property::Bypass);
    assert_eq!(bypass.bound, Some(Bound::Unbounded));
    let run = bypass.run.clone().expect("a run shows it");
    assert!(!run.cycle.contains(&0), "process 0 takes no step in the cycle");
    trace::confirm(&run).unwrap();
}

#[test]
fn promises_of_a_file_are_enforced_and_others_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let lock = |promise: &str| {
        format!(
            "algorithm a requires k = 1 shared x : bool = false
             passage waiting 1: await not test_and_set(x) critical 2: x := false end promises {promise}"
        )
    };
    let id = load(&folder, "promise.kx", &lock("exclusion"));
    assert_eq!(checked(&id, 2, 1).verdict(), Verdict::Holds);
    let id = load(&folder, "promise.kx", &lock("exclusion starvation freedom with 0 stopped"));
    assert_eq!(checked(&id, 2, 1).verdict(), Verdict::Violated);
}

#[test]
fn an_invariant_of_a_file_that_breaks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let id = load(
        &folder,
        "invariant.kx",
        &format!("{NO_LOCK} invariant zero: x = 0 or exists p in process : p at critical"),
    );
    let report = checked(&id, 2, 1);
    let outcome = report.outcome(Property::Invariants);
    assert_eq!(outcome.verdict, Verdict::Violated);
    assert!(outcome.run.is_some());
}

/// Checks a lock with this invariant. A process at line 2 no longer uses `w`, which is 2.
fn with_invariant(invariant: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "algorithm a shared lock : bool = false x : 0..3 = 0 private w : 0..3 passage w := 2 1: x := w \
         waiting 2: await not test_and_set(lock) critical 3: lock := false end invariant I: {invariant}"
    );
    let id = load(&folder, "invariant.kx", &source);
    checked(&id, 2, 1)
}

#[test]
fn an_invariant_sees_private_variables_that_no_later_line_uses() {
    for (invariant, verdict) in [
        ("all p in process : not (p at 2) or p.w = 0", Verdict::Violated),
        ("all p in process : not (p at 2) or p.w = 2", Verdict::Holds),
        ("all p in process : if p at {2..3} then p.w = 2 else true", Verdict::Holds),
        ("all p in process : not (p at critical) or p.w = 0", Verdict::Violated),
        ("all p in process : p at remainder or p.w = 2", Verdict::Holds),
        ("all p in process : p.w = 0 or p at 1", Verdict::Violated),
        ("size({p in process : p at {2, critical} and p.w = 2}) <= 1", Verdict::Violated),
    ] {
        assert_eq!(with_invariant(invariant).verdict(), verdict, "{invariant}");
    }
}

#[test]
fn an_invariant_on_numbers_that_a_normal_form_changes_is_refused() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/papers/choi.kx");
    let source = fs::read_to_string(path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for invariant in
        ["Entry < 60", "all p in process : p.t < 60", "size({p in process : A[0, 0] < 9}) > 0"]
    {
        let id = load(&folder, "big.kx", &format!("{source}\ninvariant BIG: {invariant}\n"));
        let error =
            hallpass_lab::machine::build(&id, 3, 2).err().expect("it is refused").to_string();
        assert!(
            error.contains("the invariant BIG uses numbers that the normal form of choi changes"),
            "{error}"
        );
    }
    // The step machine also has an invariant I1, but a different one.
    let own =
        source.replace("invariant I1: Entry = Exit", "invariant I1: Entry < 60 or Entry = Exit");
    assert_ne!(own, source);
    let id = load(&folder, "named.kx", &own);
    let error = hallpass_lab::machine::build(&id, 3, 2).err().expect("it is refused").to_string();
    assert!(error.contains("the invariant I1 uses numbers"), "{error}");

    let lines = "size({p in process : p at critical}) <= k";
    let id = load(&folder, "lines.kx", &format!("{source}\ninvariant Few: {lines}\n"));
    assert!(hallpass_lab::machine::build(&id, 3, 2).is_ok());
}

#[test]
fn a_file_with_a_normal_form_is_symmetric_only_if_its_invariants_are() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/papers/choi.kx");
    let source = fs::read_to_string(path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let is_symmetric = |invariant: &str| {
        let id = load(&folder, "ordered.kx", &format!("{source}\ninvariant Own: {invariant}\n"));
        hallpass_lab::machine::build(&id, 2, 1).unwrap().is_symmetric()
    };
    assert!(is_symmetric("exists p in process : not (p at critical)"));
    // A state can break this invariant although its representative, which is a renaming of the state, does not.
    assert!(!is_symmetric("not (0 at 1 and 1 at critical)"));
}

#[test]
fn overtakings_are_counted_for_up_to_32_processes() {
    let folder = tempfile::tempdir().unwrap();
    let source = "algorithm spin shared lock : bool = false passage waiting \
                  1: await not test_and_set(lock) critical 2: lock := false end";
    let id = load(&folder, "spin.kx", source);
    let bypass = |n| {
        let stop = AtomicBool::new(false);
        let all = Question::everything(&id, n, 1).only(vec![Property::Bypass]);
        let question = Question { contention: 2, ..all };
        let report = check(&question, &resources(1 << 20, 1 << 28, &stop)).unwrap();
        let outcome = report.outcome(Property::Bypass);
        (outcome.verdict, outcome.bound)
    };
    assert_eq!(bypass(32), (Verdict::Violated, Some(Bound::Unbounded)));
}

#[test]
fn an_invariant_without_a_value_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (invariant, why) in [
        ("3 div x >= 0", "divides by 0"),
        ("2147483647 + x < 2147483647 + 2 * x or x = 0", "computes a number that is too large"),
        ("all a in 0..5000 : a >= 0", "goes through more than 4096 values"),
        ("all a in 0..999 : all b in 0..999 : a + b >= 0", "takes more than 50000 operations"),
        ("size({a in 0..99 : true}) = 100", "puts a number that is not from 0 to 61 into a set"),
        ("power2(31 + x) > 0", "`power2` of a number that is not from 0 to 30"),
    ] {
        let id = load(&folder, "no_value.kx", &format!("{NO_LOCK} invariant I: {invariant}"));
        let outcome = checked(&id, 2, 1).outcome(Property::Invariants).clone();
        assert_eq!(outcome.verdict, Verdict::Violated, "{invariant}");
        let note = outcome.note.unwrap_or_default();
        assert!(note.starts_with("the invariant I has no value: it "), "{invariant}: {note}");
        assert!(note.contains(why), "{invariant}: {note}");
        let run = outcome.run.expect("there is a run");
        let shown = trace::run(&run, &trace::conventions(&run)).unwrap();
        assert_eq!(trace::shows(&shown), note);
        assert_eq!(shown.confirmed, Ok(()));
    }
    let id = load(&folder, "no_value.kx", &format!("{NO_LOCK} invariant I: x = 0"));
    assert_eq!(checked(&id, 2, 1).outcome(Property::Invariants).note.as_deref(), Some("I"));
}

#[test]
fn a_private_set_with_a_large_number_says_so() {
    let text = range_run(
        "algorithm a shared s : set = {} private v : set
         passage 1: v := s v := v + {40} 2: s := v critical end",
    );
    assert!(text.contains("line 1 assigns v a set with a number above 30"), "{text}");
}
