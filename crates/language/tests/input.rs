//! Tests files as editors save them, and files that are not algorithms.

use hallpass_language::{Errors, File, MOST_BYTES};

const LOCK: &str = "algorithm lock\nshared b : bool = false\npassage\n  waiting\n  1: await not test_and_set(b)\n  critical\n  2: b := false\nend\n";

#[track_caller]
fn wrong(source: &str) -> Errors {
    File::parse("test.kx", source).expect_err("the file is wrong")
}

#[test]
fn line_ends_tabs_and_a_byte_order_mark_change_nothing() {
    let print = |source: &str| {
        File::parse("test.kx", source).unwrap_or_else(|errors| panic!("{errors}")).fingerprint()
    };
    let plain = print(LOCK);
    assert_eq!(plain, print(&LOCK.replace('\n', "\r\n")));
    assert_eq!(plain, print(&LOCK.replace("  ", "\t")));
    assert_eq!(plain, print(&format!("\u{feff}{LOCK}")));
}

#[test]
fn a_place_does_not_depend_on_line_ends() {
    for ends in ["\n", "\r\n"] {
        let source = LOCK.replace("2: b", "2: c").replace('\n', ends);
        assert_eq!(wrong(&source).diagnostics[0].position(&source), (7, 6));
    }
}

#[test]
fn an_empty_file_says_how_a_file_begins() {
    for source in ["", "\n\n", "// nothing yet\n"] {
        let errors = wrong(source);
        assert_eq!(errors.diagnostics[0].message, "the file is empty");
        assert!(errors.to_string().contains("`hallpass-lab new mylock`"), "{errors}");
    }
    let errors = wrong(LOCK.trim_start_matches("algorithm lock"));
    assert!(errors.to_string().contains("a file begins with `algorithm` and a name"), "{errors}");
}

#[test]
fn a_word_of_the_language_is_not_the_name_of_an_algorithm() {
    for word in ["end", "loop", "shared"] {
        let errors = wrong(&LOCK.replace("lock", word));
        let help = errors.diagnostics[0].help.as_deref().unwrap_or("");
        assert!(help.contains(&format!("`{word}` is a word of the language")), "{errors}");
    }
}

#[test]
fn a_file_that_is_too_long_is_refused() {
    let errors = wrong(&format!("{LOCK}{}", "// comment\n".repeat(MOST_BYTES / 10)));
    assert!(errors.to_string().contains("more than 262144 bytes"), "{errors}");
    let errors = wrong(&"1: b := true\n".repeat(5000));
    assert!(errors.to_string().contains("more than 10000 words and operators"), "{errors}");
}

#[test]
fn a_long_line_is_not_shown() {
    let long = format!("1: await {}b", "not ".repeat(1000));
    let errors = wrong(&LOCK.replace("1: await not test_and_set(b)", &long));
    let shown = errors.to_string();
    assert!(shown.contains("nested more than 60 levels deep"), "{shown}");
    assert!(shown.contains("test.kx:5:") && shown.len() < 1000, "{shown}");
}

#[test]
fn places_of_two_labels_are_shown_in_the_order_of_the_file() {
    let shown = wrong(&format!("{LOCK}end\n")).to_string();
    let (first, second) = (shown.find("the `passage` ends here"), shown.find("one `end` too many"));
    assert!(first.is_some() && first < second, "{shown}");
}

#[test]
fn an_error_of_a_declaration_at_one_size_has_its_place() {
    let source = LOCK.replace("passage", "  x[process] : 0..n-3 = 0\npassage");
    let file = File::parse("test.kx", &source).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(file.at(3, 1).is_ok());
    let error = file.at(2, 1).err().expect("the range is empty");
    assert_eq!(file.place_of(&error), "test.kx:3:3");
    assert!(error.to_string().contains("x[0] ranges from 0 to -1"), "{error}");
}

#[test]
fn functions_that_call_one_another_many_times_compile_at_once() {
    let mut source = "algorithm test\nshared x : 0..1 = 0\ndefine f0(x) = x\n".to_string();
    for level in 1..60 {
        let before = level - 1;
        source += &format!("define f{level}(x) = f{before}(x) + f{before}(x)\n");
    }
    source += "passage\n1: x := 1\ncritical\nend\ninvariant I: f59(0) = 0\n";
    let file = File::parse("test.kx", &source).unwrap_or_else(|errors| panic!("{errors}"));
    // It would take too long to find out whether the processes are alike.
    assert!(!file.code.is_symmetric);
    assert!(file.at(2, 1).is_ok());
}
