//! Mistakes that a student makes, each with the line and the text of its message and its hint.

mod calls;
mod declarations;
mod lines;
mod symbols;

use hallpass_language::File;

/// A file with a mistake, and the message that it must cause.
struct Mistake {
    /// The mistake in a few words.
    name: &'static str,
    /// The declarations after those of [`USUAL`]. May be empty.
    declarations: &'static str,
    /// The lines between `passage` and `end`.
    passage: &'static str,
    /// The line of the first error, a part of its message and a part of its hint.
    says: (usize, &'static str, &'static str),
}

/// The first five lines of every file. Line 6 has the declarations of the mistake, and line 7 is `passage` (if these
/// declarations are one line).
const USUAL: &str = "algorithm test
shared
  flag[i in process] : bool = false home i
  turn : process = 0
private v : 0..3";

const fn line(
    name: &'static str,
    passage: &'static str,
    says: (usize, &'static str, &'static str),
) -> Mistake {
    Mistake { name, declarations: "", passage, says }
}

const fn declaration(
    name: &'static str,
    declarations: &'static str,
    says: (usize, &'static str, &'static str),
) -> Mistake {
    Mistake { name, declarations, passage: "1: turn := me\ncritical", says }
}

/// Returns the text of a file with a mistake.
fn source(mistake: &Mistake) -> String {
    let Mistake { declarations, passage, .. } = mistake;
    format!("{USUAL}\n{declarations}\npassage\n{passage}\nend\n")
}

#[test]
fn every_mistake_gets_its_line_its_message_and_its_hint() {
    let mut wrong = String::new();
    let all = [lines::MISTAKES, symbols::MISTAKES, calls::MISTAKES, declarations::MISTAKES];
    for mistake in all.into_iter().flatten() {
        let source = source(mistake);
        let name = mistake.name;
        let Err(errors) = File::parse("test.kx", &source) else {
            wrong += &format!("\n{name}: is accepted\n");
            continue;
        };
        // `--nocapture` shows every message.
        println!("{name}:\n{errors}\n");
        let first = &errors.diagnostics[0];
        let (line, message, help) = mistake.says;
        let is_said = first.position(&source).0 == line
            && first.message.contains(message)
            && first.help.as_deref().unwrap_or("").contains(help);
        if !is_said {
            wrong += &format!(
                "\n{name}: expected line {line}, {message:?}, {help:?}, and the error is\n{errors}\n"
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_misspelt_passage_is_named() {
    let source = format!("{USUAL}\npasage\n1: turn := me\ncritical\nend\n");
    let errors = File::parse("test.kx", &source).expect_err("`pasage` is not `passage`");
    let first = &errors.diagnostics[0];
    assert_eq!(first.position(&source).0, 7, "{errors}");
    assert_eq!(first.help.as_deref(), Some("did you mean `passage` instead of `pasage`?"));
}

#[test]
fn symbols_of_other_languages_do_not_hide_further_errors() {
    let source = format!("{USUAL}\npassage\n1: await turn == me && trun = 1;\ncritical\nend\n");
    let errors = File::parse("test.kx", &source).expect_err("it has four errors");
    let reported =
        |message: &str| errors.diagnostics.iter().any(|one| one.message.contains(message));
    for message in ["no `==`", "no `&&`", "no `;`", "no variable is called `trun`"] {
        assert!(reported(message), "{errors}");
    }
}

#[test]
fn a_block_without_an_end_is_named_before_the_next_part_of_the_file() {
    let source = format!(
        "{USUAL}\npassage\n  loop\n    1: if turn = me then break\n  end\n  critical\nend\npromises exclusion\n"
    );
    let errors = File::parse("test.kx", &source).expect_err("the `if` has no end");
    let first = &errors.diagnostics[0];
    assert_eq!(first.message, "the `if` in line 8 has no `end`", "{errors}");
    assert!(first.labels.iter().any(|(_, label)| label.contains("`promises` begins")), "{errors}");
}

#[test]
fn a_conditional_expression_needs_no_end() {
    let source = format!(
        "{USUAL}\ndefine f(x) = if x = 0 then 1 else if x = 1 then 2 else 3\npassage\n\
         v := if me = 0 then 1 else 2\n1: if turn = (if v = 1 then 0 else 1) then v := if v = 0 then 1 else 0 end\n\
         critical\nend\n"
    );
    File::parse("test.kx", &source).unwrap_or_else(|errors| panic!("{errors}"));
    let open = source.replace("else 0 end", "else 0");
    let errors = File::parse("test.kx", &open).expect_err("the `if` has no end");
    assert!(errors.diagnostics[0].message.contains("has no `end`"), "{errors}");
}
