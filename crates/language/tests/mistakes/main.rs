//! Mistakes that a student makes, each with the line and the text of its message and its hint.

use hallpass_language::File;

/// A mistake.
struct Mistake {
    /// What the student does.
    name: &'static str,
    /// The declarations after the usual ones. May be empty.
    declarations: &'static str,
    /// The lines between `passage` and `end`.
    passage: &'static str,
    /// The line of the first error, its message and its hint. Parts of them are enough.
    says: (usize, &'static str, &'static str),
}

/// The declarations of every file below: lines 1 to 5. The passage begins in line 7.
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

const MISTAKES: &[Mistake] = &[
    line(
        "= for := on a shared variable",
        "1: turn = me\ncritical",
        (8, "compares two values", "write `turn := ...`"),
    ),
    line(
        "= for := on an element",
        "1: flag[me] = true\ncritical",
        (8, "compares two values", "write `flag[...] := ...`"),
    ),
    line(
        "= for := on a private variable",
        "v = 1\n1: turn := v\ncritical",
        (8, "compares two values", "write `v := ...`"),
    ),
    line(
        "a line that only reads",
        "1: turn\ncritical",
        (8, "this statement has no effect", "assign the value"),
    ),
    line(
        "a label without a colon",
        "1 turn := me\ncritical",
        (8, "this statement has no effect", "a label ends with a colon, as in `1: ...`"),
    ),
    line(
        "== in a condition",
        "1: await turn == me\ncritical",
        (8, "the language has no `==`", "`=` for equal"),
    ),
    line(
        "!= in a condition",
        "1: await turn != me\ncritical",
        (8, "the language has no `!=`", "`<>` for unequal"),
    ),
    line("! for not", "1: await !flag[0]\ncritical", (8, "the language has no `!`", "write `not`")),
    line(
        "&& for and",
        "1: await flag[0] && me = 0\ncritical",
        (8, "the language has no `&&`", "write `and`"),
    ),
    line(
        "|| for or",
        "1: await flag[0] || me = 0\ncritical",
        (8, "the language has no `||`", "write `or`"),
    ),
    line(
        "semicolons",
        "1: turn := me;\n2: turn := 0;\ncritical",
        (8, "the language has no `;`, and it occurs 2 times", "remove the `;`"),
    ),
    line(
        "% for mod",
        "1: turn := (me + 1) % n\ncritical",
        (8, "the language has no `%`", "write `mod`"),
    ),
    line(
        "x++",
        "v++\n1: turn := me\ncritical",
        (8, "the language has no `++`", "`fetch_and_add(x, 1)`"),
    ),
    line(
        "x += 1",
        "v += 1\n1: turn := me\ncritical",
        (8, "the language has no `+=`", "`x := x + 1`"),
    ),
    line(
        "a comment in the style of C",
        "1: turn := me /* hello */\ncritical",
        (8, "the language has no `/*`", "`//`"),
    ),
    line(
        "fi for end",
        "1: if turn = me then\n  v := 1\nfi\ncritical",
        (10, "the language has no `fi`", "write `end` instead of `fi`"),
    ),
    line(
        "od for end",
        "1: while turn <> me do\n  v := 1\nod\ncritical",
        (10, "the language has no `od`", "write `end` instead of `od`"),
    ),
    line(
        "endif for end",
        "1: if turn = me then\n  v := 1\nendif\ncritical",
        (10, "the language has no `endif`", "write `end` instead of `endif`"),
    ),
    line(
        "a misspelt end",
        "1: if turn = me then\n  v := 1\nedn\ncritical",
        (10, "the language has no `edn`", "write `end` instead of `edn`"),
    ),
    line(
        "no end of an if",
        "loop\n  1: if turn = me then\n    break\nend\ncritical",
        (9, "the `if` in line 9 has no `end`", "write `end` after the last line of the `if`"),
    ),
    line(
        "no end of a loop",
        "loop\n  1: if turn = me then break end\ncritical",
        (7, "has no `end`", "write `end` after"),
    ),
    line(
        "else if for elsif",
        "  1: if turn = me then\n    v := 1\n  else if v = 2 then\n    v := 2\n  end\n  critical",
        (8, "the `if` in line 8 has no `end`", "write `elsif`"),
    ),
    line(
        "elseif for elsif",
        "1: if turn = me then\n  v := 1\nelseif v = 2 then\n  v := 2\nend\ncritical",
        (10, "found `then`", "the language has no `elseif`: write `elsif`"),
    ),
    line(
        "one end too many",
        "1: if turn = me then v := 1 end end\ncritical",
        (
            9,
            "expected a part of the file such as `shared` or `passage` or the end of the file, found `critical`",
            "the `end` in line 8 ends the `passage`",
        ),
    ),
    line("a missing then", "1: if turn = me\n  v := 1\nend\ncritical", (9, "`then`", "")),
    line(
        "a misspelt while",
        "1: whlie turn <> me do\n  v := 1\nend\ncritical",
        (8, "found `do`", "did you mean `while` instead of `whlie`?"),
    ),
    line(
        "a misspelt critical",
        "1: turn := me\ncritcal",
        (9, "no variable is called `critcal`", "did you mean `critical`?"),
    ),
    line(
        "critical section",
        "1: turn := me\ncritical section",
        (9, "no variable is called `section`", "stand alone"),
    ),
    line(
        "repeat until",
        "repeat\n1: v := turn\nuntil v = 1\ncritical",
        (8, "no variable is called `repeat`", "write `loop ..."),
    ),
    line(
        "for from to",
        "for j := 0 to n-1 do\n  1: flag[j] := true\nend\ncritical",
        (8, "found `:=`", "write `for j in 0..n-1 do`"),
    ),
    line(
        "for in to",
        "for j in 0 to n-1 do\n  1: flag[j] := true\nend\ncritical",
        (8, "found `to`", "write `for j in 0..n-1 do`"),
    ),
    line(
        "two reads in an await",
        "1: await not flag[1 - me] or turn <> me\ncritical",
        (
            8,
            "this line reads `flag` and reads `turn`",
            "write a `loop` with a labelled line for `flag` and one for `turn`",
        ),
    ),
    line(
        "testing a variable twice",
        "1: await turn = 0 or turn = me\ncritical",
        (
            8,
            "this line reads `turn` and reads `turn`",
            "read `turn` once: into a private variable, or with one test such as `turn in {0, 1}`",
        ),
    ),
    line(
        "reading and writing",
        "1: turn := (turn + 1) mod n\ncritical",
        (8, "this line reads `turn` and writes `turn`", "split it in two"),
    ),
    line(
        "a line without a label",
        "turn := me\ncritical",
        (8, "this line writes `turn` and has no label", "`3: ...`"),
    ),
    line(
        "an array without an index",
        "1: flag := true\ncritical",
        (8, "`flag` is an array: write `flag[...]`", ""),
    ),
    line(
        "too many indices",
        "1: flag[0, 1] := true\ncritical",
        (8, "`flag` has one index, and the line gives 2", ""),
    ),
    line(
        "an index of a plain variable",
        "1: turn[me] := 1\ncritical",
        (8, "`turn` is not an array", ""),
    ),
    line(
        "1 for true",
        "1: flag[me] := 1\ncritical",
        (8, "expected a condition, found a number", "`true` or `false`"),
    ),
    line(
        "True for true",
        "1: flag[me] := True\ncritical",
        (8, "no variable is called `True`", "did you mean `true`?"),
    ),
    line("pid for me", "1: turn := pid\ncritical", (8, "no variable is called `pid`", "`me`")),
    line(
        "N for n",
        "1: turn := N - 1\ncritical",
        (8, "no variable is called `N`", "did you mean `n`?"),
    ),
    line(
        "no critical section",
        "1: turn := me",
        (7, "the passage has no critical section", "write `critical`"),
    ),
    line(
        "the critical section in a block",
        "1: if turn = me then\n  critical\nend",
        (9, "`critical` is inside a block", "end the loop or the `if` before it"),
    ),
    line(
        "waiting for a private variable",
        "await v = 1\ncritical",
        (8, "waiting for it never ends", "await a condition on a shared variable"),
    ),
    line(
        "a function that does not exist",
        "1: v := fetch_and_inc(turn)\ncritical",
        (8, "no function is called `fetch_and_inc`", "did you mean `fetch_and_increment`?"),
    ),
    declaration(
        "no initial value of a bool",
        "shared b : bool",
        (6, "`b` has no initial value", "write `= false`, or `open`"),
    ),
    declaration(
        "no initial value of a range",
        "shared b : -1..n",
        (6, "`b` has no initial value", "write `= -1`, or `open`"),
    ),
    declaration(
        "no initial value of a set",
        "shared b : set",
        (6, "`b` has no initial value", "write `= {}`, or `open`"),
    ),
    declaration("no type", "shared b = 0", (6, "found `=`", "a variable needs a type")),
    declaration(
        "int for a range",
        "shared b : int = 0",
        (6, "expected `..` or an operator, found `=`", "a number has a range as its type"),
    ),
    declaration(
        "boolean for bool",
        "shared b : boolean = false",
        (6, "found `=`", "the type is `bool`"),
    ),
    declaration(
        "a size for an index",
        "shared b[n] : bool = false",
        (6, "an index is `process`, or a range", ""),
    ),
    declaration(
        "a keyword as a name",
        "shared set : bool = false",
        (6, "found `set`", "`set` has a meaning of its own"),
    ),
    declaration(
        "a misspelt private",
        "privat w : 0..1",
        (6, "found `w`", "did you mean `private` instead of `privat`?"),
    ),
    declaration(
        "var",
        "var w : 0..1",
        (6, "found `w`", "declare variables under `shared` or `private`"),
    ),
    declaration(
        "a misspelt promise",
        "promises exclusoin",
        (6, "found `exclusoin`", "did you mean `exclusion`?"),
    ),
];

/// Returns the text of a file with a mistake.
fn source(mistake: &Mistake) -> String {
    let Mistake { declarations, passage, .. } = mistake;
    format!("{USUAL}\n{declarations}\npassage\n{passage}\nend\n")
}

#[test]
fn every_mistake_gets_its_line_its_message_and_its_hint() {
    let mut wrong = String::new();
    for mistake in MISTAKES {
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
    let said = |message: &str| errors.diagnostics.iter().any(|one| one.message.contains(message));
    for message in ["no `==`", "no `&&`", "no `;`", "no variable is called `trun`"] {
        assert!(said(message), "{errors}");
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
