//! Checks how the verdicts on statements of papers are computed, that docs/papers.md is up to date, and that no
//! statement is left without evidence.

use std::{fs, path::Path, sync::LazyLock};

use hallpass_lab::{
    atlas::Manifest,
    papers::{self, Document, Sources, Verdict, document, parse, verdicts},
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

const ATLAS: &str = r#"
[[model]]
algorithm = "am-fig3"
n = 2
k = 1
tier = "quick"
[model.check]
exclusion = "violated"
starvation = "holds"
[model.rmr]
cc = { worst = 7, claim = 7 }
dsm = { worst = "unbounded" }
"#;

/// Returns the verdict on a statement with this evidence. `ATLAS` is the whole atlas.
fn verdict(rest: &str) -> Verdict {
    let paper = format!(
        "authors = ''\ntitle = ''\nyear = 1\nintro = ''\n\
         [[statement]]\nwhere = 'here'\nsays = 'so'\n{rest}"
    );
    let manifest = Manifest::parse(ATLAS).unwrap();
    let sources = Sources { manifest: &manifest, has_test: &|test| test == "a.rs::there" };
    verdicts(&parse("test", &paper).unwrap(), &sources)[0]
}

#[test]
fn verdicts_follow_the_atlas() {
    for (evidence, expected) in [
        ("algorithm = 'am-fig3', holds = ['starvation']", Verdict::Confirmed),
        ("algorithm = 'am-fig3', holds = ['exclusion']", Verdict::Refuted),
        ("algorithm = 'am-fig3', holds = ['starvation', 'exclusion']", Verdict::Refuted),
        ("algorithm = 'am-fig3', violated = ['exclusion']", Verdict::Confirmed),
        ("algorithm = 'am-fig3', violated = ['starvation']", Verdict::Refuted),
        ("algorithm = 'am-fig3', holds = ['fife']", Verdict::Unmeasured),
        ("algorithm = 'am-fig8', holds = ['exclusion']", Verdict::Unmeasured),
        ("algorithm = 'am-fig3', cc = '7*(n-k)'", Verdict::Confirmed),
        ("algorithm = 'am-fig3', cc = '8'", Verdict::NotTight),
        ("algorithm = 'am-fig3', cc = '<= 8'", Verdict::Confirmed),
        ("algorithm = 'am-fig3', cc = '6'", Verdict::Refuted),
        ("algorithm = 'am-fig3', cc = 'finite'", Verdict::Confirmed),
        ("algorithm = 'am-fig3', dsm = 'finite'", Verdict::Refuted),
        ("algorithm = 'am-fig3', dsm = 'unbounded'", Verdict::Confirmed),
        ("algorithm = 'am-fig3', variables = '= 2*(n-k)'", Verdict::Confirmed),
        ("algorithm = 'am-fig3', variables = '= 2*(n-k)+1'", Verdict::Refuted),
        ("algorithm = 'am-fig3', solo = '= n-k'", Verdict::Confirmed),
        ("fact = 'choi-p3'", Verdict::Confirmed),
        ("fact = 'choi-p4'", Verdict::Refuted),
        ("test = 'a.rs::there', covers = 'n = 2'", Verdict::Confirmed),
        ("test = 'a.rs::elsewhere', covers = 'n = 2'", Verdict::Unmeasured),
    ] {
        assert_eq!(verdict(&format!("evidence = [{{ {evidence} }}]")), expected, "{evidence}");
    }
    let undecided =
        "undecided = 'why'\nevidence = [{ algorithm = 'am-fig3', holds = ['PROPERTY'] }]";
    assert_eq!(verdict(&undecided.replace("PROPERTY", "starvation")), Verdict::Undecided);
    assert_eq!(verdict(&undecided.replace("PROPERTY", "exclusion")), Verdict::Refuted);
}

#[test]
fn mistakes_in_a_statement_are_reported() {
    let paper = |rest: &str| {
        let head = "authors = ''\ntitle = ''\nyear = 1\nintro = ''";
        parse("test", &format!("{head}\n[[statement]]\nwhere = 'here'\nsays = 'so'\n{rest}"))
    };
    for (rest, text) in [
        ("", "neither evidence"),
        ("evidence = [{ algorithm = 'am-fig3' }]", "evidence is either"),
        ("evidence = [{ holds = ['exclusion'] }]", "needs `algorithm`"),
        ("evidence = [{ fact = 'nonsense' }]", "no fact"),
        ("evidence = [{ test = 'a.rs::there' }]", "needs `covers`"),
        ("evidence = [{ fact = 'choi-p3', covers = 'n = 2' }]", "needs `covers`"),
        ("evidence = [{ algorithm = 'am-fig3', cc = '7(n-k)' }]", "unexpected text"),
        ("evidence = [{ algorithm = 'am-fig3', holds = ['exclusoin'] }]", "exclusoin"),
        ("verdict = 'confirmed'", "verdict"),
    ] {
        let error = paper(rest).unwrap_err();
        assert!(error.contains(text), "{rest}: {error}");
    }
}

/// Returns the page that the sources produce.
fn standard() -> &'static Document {
    static STANDARD: LazyLock<Document> = LazyLock::new(|| {
        let manifest = Manifest::standard().unwrap();
        let has_test = |test: &str| papers::has_test(root(), test);
        let sources = Sources { manifest: &manifest, has_test: &has_test };
        document(&papers::standard().unwrap(), &sources)
    });
    &STANDARD
}

#[test]
fn every_statement_about_a_registered_algorithm_is_decided() {
    assert_eq!(standard().gaps, Vec::<String>::new());
}

#[test]
fn every_refuted_statement_is_listed_as_an_error() {
    let document = standard();
    let rows = document.markdown.lines().filter(|line| line.contains("✗ refuted")).count();
    let notes = document.markdown.split("## Errors found").nth(1).expect("it is there");
    let found = notes.split("**How to read the tables.**").next().expect("it comes after");
    let found = found.lines().filter(|line| line.starts_with("- **")).count();
    assert_eq!(rows, found);
}

#[test]
fn every_statement_on_the_page_is_measured() {
    assert_eq!(standard().unmeasured, 0);
}

#[test]
fn committed_page_is_up_to_date() {
    let document = standard();
    let docs = root().join("docs");
    let committed = fs::read_to_string(docs.join("papers.md")).unwrap_or_default();
    let hint = "run `cargo run --release -p hallpass-lab -- papers --out docs`";
    assert!(committed == document.markdown, "docs/papers.md is out of date: {hint}");
    for run in &document.runs {
        let file = run.file();
        assert!(docs.join("traces").join(&file).is_file(), "docs/traces/{file} is missing: {hint}");
    }
}

/// Returns the expected result of a command such as `ask shared-mortal -n 2 -k 1 --question CSR`, from the
/// atlas.
fn result_in_atlas(manifest: &Manifest, command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let after = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1).copied()
    };
    let (n, k): (usize, usize) = (after("-n")?.parse().ok()?, after("-k")?.parse().ok()?);
    let model = manifest.models.iter().find(|model| {
        (model.algorithm.as_str(), model.n, model.k) == (words[1], n, k)
            && model.contention.is_none()
    })?;
    match words[0] {
        "ask" => model.ask.get(after("--question")?).cloned(),
        _ => {
            let asked = after("--property")?;
            let (_, expected) = model.check.iter().find(|(listed, _)| listed.name() == asked)?;
            Some(match expected.answer {
                hallpass_lab::atlas::Answer::Holds => "holds".into(),
                hallpass_lab::atlas::Answer::Violated => "violated".into(),
                hallpass_lab::atlas::Answer::Open => "?".into(),
            })
        }
    }
}

#[test]
fn the_page_about_recovery_agrees_with_the_atlas() {
    let manifest = Manifest::standard().unwrap();
    let page = fs::read_to_string(root().join("docs/recoverable.md")).unwrap();
    let mut checked = 0;
    for line in page.lines().filter(|line| line.starts_with("| ") && line.contains("shared")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [.., result, _, command] = cells[..] else { panic!("a row has too few cells: {line}") };
        let command = command.trim_matches('`');
        let expected = result_in_atlas(&manifest, command);
        assert_eq!(Some(result.trim_matches('*').to_string()), expected, "{line}");
        checked += 1;
    }
    assert!(checked >= 8, "only {checked} rows are checked");
}
