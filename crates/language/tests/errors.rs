//! Error messages: each says where the mistake is, what was expected, and what to do.

use hallpass_language::{Diagnostic, File};

/// Returns the errors of a file whose passage has these lines.
fn errors(declarations: &str, lines: &str) -> Vec<Diagnostic> {
    let source = format!("algorithm test\n{declarations}\npassage\n{lines}\nend\n");
    File::parse("test.kx", &source).expect_err("the file is wrong").diagnostics
}

/// Returns the only error of a file.
fn error(declarations: &str, lines: &str) -> Diagnostic {
    let mut errors = errors(declarations, lines);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.remove(0)
}

const SHARED: &str = "shared\n  turn : 0..3 = 0\n  x : 0..3 = 0\n  y : 0..3 = 0\n  flag[process] : bool = false\nprivate v : 0..3";

#[track_caller]
fn says(diagnostic: &Diagnostic, message: &str, help: &str) {
    assert!(diagnostic.message.contains(message), "{diagnostic:#?}");
    assert!(diagnostic.help.as_deref().unwrap_or("").contains(help), "{diagnostic:#?}");
}

#[test]
fn a_line_that_reads_and_writes_is_to_be_split_in_two() {
    let error = error(SHARED, "1: y := x\ncritical");
    says(
        &error,
        "this line reads `x` and writes `y`: a line makes one shared access",
        "split it in two",
    );
    assert_eq!(error.labels.len(), 2);
}

#[test]
fn an_increment_of_a_shared_variable_suggests_fetch_and_add() {
    says(&error(SHARED, "1: x := x + 1\ncritical"), "reads `x` and writes `x`", "fetch_and_add");
}

#[test]
fn a_condition_on_two_shared_variables_is_to_be_split() {
    says(
        &error(SHARED, "1: await x = 0 or y = 1\ncritical"),
        "reads `x` and reads `y`",
        "split it in two",
    );
}

#[test]
fn a_line_with_an_access_needs_a_label() {
    says(&error(SHARED, "x := 1\ncritical"), "this line writes `x` and has no label", "3: ...");
}

#[test]
fn a_misspelt_name_gets_a_suggestion() {
    says(
        &error(SHARED, "1: v := trun\ncritical"),
        "no variable is called `trun`",
        "did you mean `turn`?",
    );
    says(&error(SHARED, "1: flg[me] := true\ncritical"), "no variable is called `flg`", "`flag`");
    says(
        &error(SHARED, "1: fetch_and_ad(x, 1)\ncritical"),
        "no function is called",
        "`fetch_and_add`",
    );
    says(
        &error(SHARED, "first: x := 1\nif v = 0 then goto frist end\ncritical"),
        "labelled `frist`",
        "`first`",
    );
    let misspelt = errors(SHARED, "1: x := 1\ncritcal");
    let named =
        misspelt.iter().find(|error| error.message.contains("`critcal`")).expect("it is named");
    says(named, "no variable is called `critcal`", "did you mean `critical`?");
}

#[test]
fn errors_of_the_grammar_say_what_was_expected_and_where() {
    let source = "algorithm test\npassage\n  1: if x = 0 the\n  critical\nend\n";
    let errors = File::parse("test.kx", source).expect_err("`the` is not `then`");
    let first = &errors.diagnostics[0];
    assert_eq!(first.position(source), (3, 15));
    assert!(
        first.message.contains("`then`") && first.message.contains("found `the`"),
        "{first:#?}"
    );
    assert_eq!(first.help.as_deref(), Some("did you mean `then`?"));
    let shown = errors.render(false);
    assert!(shown.contains("test.kx:3:15") && shown.contains("1: if x = 0 the"), "{shown}");
}

#[test]
fn a_missing_end_is_explained() {
    let error =
        File::parse("test.kx", "algorithm test\npassage\n  critical\n").expect_err("it has no end");
    says(
        &error.diagnostics[0],
        "the `passage` in line 2 has no `end`",
        "write `end` after the last line of the `passage`",
    );
}

#[test]
fn characters_of_other_languages_are_explained() {
    let help = |source: &str| {
        File::parse("test.kx", source).expect_err("it is wrong").diagnostics.remove(0).help
    };
    assert!(help("algorithm a # comment").is_some_and(|help| help.contains("//")));
    assert!(help("algorithm a requires n != 2").is_some_and(|help| help.contains("<>")));
    assert!(
        help("algorithm a requires n = 2; k").is_some_and(|help| help.contains("remove the `;`"))
    );
}

#[test]
fn types_are_checked() {
    says(
        &error(SHARED, "1: if x then v := 1 end\ncritical"),
        "expected a condition, found a number",
        "x = 1",
    );
    says(&error(SHARED, "1: flag[me] := 1\ncritical"), "expected a condition, found a number", "");
    says(&error(SHARED, "1: test_and_set(x)\ncritical"), "`test_and_set` needs a condition", "");
    says(
        &error(SHARED, "1: v := flag[0, 1]\ncritical"),
        "`flag` has one index, and the line gives 2",
        "",
    );
}

#[test]
fn the_shape_of_a_passage_is_checked() {
    says(&error(SHARED, "1: x := 1"), "the passage has no critical section", "`critical`");
    says(
        &error(SHARED, "loop\ncritical\nbreak\nend\n1: x := 1"),
        "`critical` is inside a block",
        "",
    );
    says(&error(SHARED, "critical\ncritical"), "a passage has one critical section", "");
    says(
        &error(SHARED, "1: x := 1\ncritical\n2: x := 0\ngoto 1"),
        "jumps over the critical section",
        "",
    );
    says(&error(SHARED, "1: x := 1\n1: x := 0\ncritical"), "two lines are labelled `1`", "");
    says(&error(SHARED, "await v = 1\ncritical"), "no other process can make it true", "");
    says(&error(SHARED, "1: x := 1\nbreak\ncritical"), "`break` is in no loop", "");
}

#[test]
fn a_line_that_no_run_reaches_is_a_warning() {
    let source = format!(
        "algorithm test\n{SHARED}\npassage\nloop\n1: x := 1\nbreak\n2: x := 2\nend\ncritical\nend"
    );
    let file = File::parse("test.kx", &source).expect("a warning is no error");
    assert_eq!(file.warnings.len(), 1);
    assert_eq!(file.warnings[0].message, "no run reaches line 2");
}

#[test]
fn a_procedure_that_no_line_calls_is_a_warning() {
    let source = format!(
        "algorithm test\n{SHARED}\nprocedure a 1: x := 1 end\npassage\n2: x := 2\ncritical\nend"
    );
    let file = File::parse("test.kx", &source).expect("a warning is no error");
    assert_eq!(file.warnings.len(), 1);
    says(&file.warnings[0], "no line calls the procedure `a`", "write `a()` on a line");
    let called = source.replace("2: x := 2", "2: a()");
    assert!(File::parse("test.kx", &called).expect("it is correct").warnings.is_empty());
}

#[test]
fn a_variable_needs_an_initial_value() {
    says(&error("shared x : 0..1", "1: x := 1\ncritical"), "`x` has no initial value", "`open`");
}

#[test]
fn declarations_are_checked_at_each_size() {
    let source =
        "algorithm test\nshared x[i in 0..n-3] : 0..1 = 0\npassage\n1: x[0] := 1\ncritical\nend";
    let file = File::parse("test.kx", source).expect("it is correct for n = 3");
    assert!(file.at(3, 1).is_ok());
    let error = file.at(2, 1).err().expect("the array is empty").to_string();
    assert_eq!(
        error,
        "with n = 2, k = 1, the indices of x go from 0 to -1: an array has 1 to 4096 elements"
    );
}

#[test]
fn the_fingerprint_depends_on_the_lines_and_not_on_comments_and_promises() {
    let source = |comment: &str, promise: &str, value: u8| {
        format!(
            "{comment}\nalgorithm test\nshared x : 0..2 = 0\npromises {promise}\npassage\n1: x := {value}\ncritical\nend"
        )
    };
    let print = |text: String| File::parse("test.kx", &text).expect("it is correct").fingerprint();
    let first = print(source("", "exclusion", 1));
    assert_eq!(first, print(source("// a comment", "fife", 1)));
    assert_ne!(first, print(source("", "exclusion", 2)));
}

#[test]
fn deep_nesting_does_not_crash_the_compiler() {
    let survives = |source: String| {
        if let Err(errors) = File::parse("test.kx", &source) {
            let crashed = |error: &Diagnostic| error.message.contains("the compiler failed");
            assert!(!errors.diagnostics.iter().any(crashed), "{source}");
        }
    };
    for deep in ["(", "not ", "1 + ", "- ", "{", "all x in process : ", "if true then 1 else "] {
        survives(format!("algorithm test\nrequires {}", deep.repeat(3000)));
        let closed = format!("{} 1 {} > 0", deep.repeat(3000), ")".repeat(3000));
        survives(format!("algorithm test\nrequires {closed}\npassage critical end"));
    }
    // The time must not double with each level.
    survives(format!("algorithm test\nrequires {} 1 {}", "{x in ".repeat(50), "}".repeat(50)));
    survives(format!(
        "algorithm test\npassage {} critical {} end",
        "loop ".repeat(3000),
        "end ".repeat(3000)
    ));
}

#[test]
fn an_expression_that_is_too_deep_is_an_error() {
    let source =
        format!("algorithm test\nrequires {} 1 > 0\npassage critical end", "1 + ".repeat(3000));
    let errors = File::parse("test.kx", &source).expect_err("it is too deep");
    assert!(errors.diagnostics[0].message.contains("levels deep"), "{errors}");
}

#[test]
fn a_loop_variable_hides_no_other_name() {
    for name in ["n", "k", "me", "others", "x", "flag", "most"] {
        let found = errors(
            &format!("constant most = 2\n{SHARED}"),
            &format!("for {name} in 0..n-1 do\n1: v := turn\nend\ncritical"),
        );
        says(
            &found[0],
            &format!("`{name}` is declared already: choose another name for the loop variable"),
            "",
        );
    }
    let private = format!(
        "algorithm test\n{SHARED}\npassage\nfor v in 0..1 do\n1: x := v\nend\ncritical\nend"
    );
    assert!(File::parse("test.kx", &private).is_ok(), "a loop may use a private variable");
}

#[test]
fn the_name_stays_while_a_process_is_in_its_critical_section() {
    for lines in ["v := 0", "if k = 1 then v := 0 end", "for v in 0..1 do skip end"] {
        let found = errors(SHARED, &format!("1: v := x\ncritical naming v\n{lines}\n2: x := 0"));
        says(
            &found[0],
            "changes the name of a process",
            "change the name only after the first labelled line of the exit section",
        );
    }
    let later = format!(
        "algorithm test\n{SHARED}\npassage\n1: v := x\ncritical naming v\n2: x := 0\nv := 0\n3: x := v\nend"
    );
    assert!(File::parse("test.kx", &later).is_ok());
}

#[test]
fn a_quantifier_reads_no_array() {
    for condition in [
        "not (exists p in others : flag[p])",
        "all p in process : exists q in process : flag[p]",
        "size({p in process : flag[p]}) = 0",
    ] {
        let found = errors(SHARED, &format!("1: await {condition}\ncritical"));
        says(
            &found[0],
            "this reads `flag` once for each p",
            "use a `for` loop with a labelled line",
        );
    }
    says(
        &errors(SHARED, "1: await exists p in others : test_and_set(flag[me])\ncritical")[0],
        "this changes `flag` once for each p",
        "`for` loop",
    );
    let once = format!(
        "algorithm test\n{SHARED}\npassage\n1: await exists p in others : turn = p\ncritical\nend"
    );
    assert!(File::parse("test.kx", &once).is_ok(), "one read is enough");
}

/// Returns why a file with these declarations has no algorithm for two processes.
fn size_error(declarations: &str) -> String {
    let source = format!(
        "algorithm test\n{declarations}\nshared y : 0..1 = 0\npassage\n1: y := 1\ncritical\nend"
    );
    let file = File::parse("test.kx", &source).unwrap_or_else(|errors| panic!("{errors}"));
    file.at(2, 1).err().expect("it makes no sense at this size").to_string()
}

#[test]
fn initial_values_of_private_variables_are_checked() {
    assert!(size_error("private v : 0..3 = 7").contains("v cannot start at 7"));
    assert!(size_error("private v : 0..0 = me").contains("v cannot start at 1 for process 1"));
    assert!(size_error("private v : 0..3 = 1 div 0").contains("the initial value of v"));
    let source = "algorithm test\nshared x : 0..3 = 0\nprivate u : 0..3 = 1  v : 0..3 = u\npassage\n1: x := v\ncritical\nend";
    let file = File::parse("test.kx", source).expect("v may start like u");
    assert!(file.at(2, 1).is_ok());
}

#[test]
fn a_promise_without_a_value_is_an_error() {
    assert!(size_error("promises rmr cc <= 3 div 0").contains("the bound `3 div 0`"));
    assert!(size_error("promises rmr dsm <= 0 - 1").contains("must not be below 0"));
    let stopped = size_error("promises starvation freedom with k - 2 stopped");
    assert!(stopped.contains("must not be below 0"), "{stopped}");
}

#[test]
fn an_array_that_is_too_large_is_an_error() {
    let size = ["0..4095"; 6].join(", ");
    assert!(size_error(&format!("shared x[{size}] : bool = false")).contains("at most 4096"));
    let one = size_error("shared x[0..9999] : bool = false");
    assert!(one.contains("go from 0 to 9999: an array has 1 to 4096 elements"), "{one}");
}

#[test]
fn a_constant_without_a_value_is_named() {
    let error = size_error("constant a = 1\nconstant b = a div 0");
    assert_eq!(error, "with n = 2, k = 1, the constant b divides by 0");
}

#[test]
fn functions_of_the_language_are_not_defined_again() {
    says(
        &error(&format!("define min(a, b) = a\n{SHARED}"), "1: x := min(1, 2)\ncritical"),
        "the language has its own `min`",
        "",
    );
}

#[test]
fn names_and_number_of_invariants_are_checked() {
    let passage = "algorithm test shared x : 0..1 = 0 passage 1: x := 1 critical 2: x := 0 end";
    let first = |invariants: &str| {
        let source = format!("{passage}\n{invariants}");
        File::parse("test.kx", &source).expect_err("it is wrong").diagnostics.remove(0)
    };
    let many: String = (0..33).map(|i| format!("invariant I{i}: true\n")).collect();
    says(&first(&many), "at most 32 invariants", "`and`");
    says(&first("invariant range: true"), "`check` reports `range` itself", "");
    says(
        &first("invariant I: all p in process : not p at 2..1"),
        "line 2 comes after line 1",
        "1..2",
    );
}

#[test]
fn a_condition_cannot_be_added() {
    says(&error(SHARED, "v := true + 1\n1: x := v\ncritical"), "found a condition", "");
}
