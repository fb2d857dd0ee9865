//! Checks the built-in manifest, and mistakes in a manifest that the atlas must notice. *Blessing* writes measured
//! results into a manifest.

use std::sync::atomic::AtomicBool;

use hallpass_algorithms::registry::{ENTRIES, Standing};

use hallpass_lab::atlas::{
    AtlasModel, AtlasReport, Manifest, ManifestFile, Selection, Status, Tier, add_models, bless,
    html, markdown, run, run_pages,
};

use crate::common::resources;

fn run_all(manifest: &Manifest, only: &[&str], states: u64) -> AtlasReport {
    let stop = AtomicBool::new(false);
    let resources = resources(states, 1 << 30, &stop);
    let only = only.iter().map(|pattern| pattern.to_string()).collect();
    run(manifest, &Selection { tier: Tier::Quick, only }, &resources, |_| ())
}

fn run_text(text: &str) -> AtlasReport {
    run_all(&Manifest::parse(text).unwrap(), &[], 1 << 20)
}

fn file(text: &str) -> ManifestFile {
    ManifestFile { path: "atlas.toml".into(), text: text.into() }
}

fn blessed(text: &str, report: &AtlasReport) -> String {
    bless(&[file(text)], report).unwrap().remove(0).text
}

const FIG3: &str = r#"
# Figure 3 at its smallest.
[[model]]
algorithm = "am-fig3"
n = 2
k = 1 # one at a time
tier = "quick"
states = 100 # counted by hand, once
[model.check]
exclusion = "holds"
starvation = { verdict = "holds", resilience = 1 }
exit = { verdict = "holds", bound = 2 }
[model.rmr]
cc = { worst = 7, claim = 7 }
dsm = { worst = "unbounded" }
"#;

#[test]
fn standard_manifest_agrees_with_the_lab_at_two_processes() {
    let manifest = Manifest::standard().unwrap();
    // CI runs the larger models of this tier with `hallpass-lab atlas`.
    let is_small =
        |model: &&AtlasModel| model.n == 2 && model.states.is_some_and(|states| states <= 10_000);
    let small: Vec<String> = manifest.models.iter().filter(is_small).map(AtlasModel::id).collect();
    let only: Vec<&str> = small.iter().map(String::as_str).collect();
    let report = run_all(&manifest, &only, 1 << 20);
    assert!(report.entries.len() >= 100, "only {} models", report.entries.len());
    assert_eq!(report.differences(), Vec::<String>::new());
    assert_eq!(report.status(), Status::AsExpected);
    // Blessing changes nothing if all results are as expected.
    let files = ManifestFile::built_in();
    assert_eq!(bless(&files, &report).unwrap(), files);
}

#[test]
fn standard_manifest_lists_every_algorithm() {
    let manifest = Manifest::standard().unwrap();
    for entry in ENTRIES {
        let listed = |id: &str| manifest.models.iter().any(|model| model.algorithm == id);
        assert!(listed(entry.id), "{} is missing", entry.id);
        // Names on top of the linear timestamps take too many states for the memory.
        if entry.standing == Standing::Sound && entry.nameable && !entry.id.contains("@linear") {
            assert!(listed(&format!("{}+names", entry.id)), "{}+names is missing", entry.id);
        }
    }
}

#[test]
fn correct_expectations_are_met() {
    let report = run_text(FIG3);
    assert_eq!(report.differences(), Vec::<String>::new());
    assert_eq!(report.status(), Status::AsExpected);
}

/// Returns the differences after `old` is replaced by `new` in the manifest.
fn differences(old: &str, new: &str) -> Vec<String> {
    assert!(FIG3.contains(old));
    let report = run_text(&FIG3.replace(old, new));
    assert_eq!(report.status(), Status::Differs, "{new}");
    report.differences()
}

#[test]
fn wrong_number_of_states_is_noticed() {
    let found = differences("states = 100", "states = 101");
    assert_eq!(found, ["am-fig3 n=2 k=1: states 100, expected 101"]);
    let found = differences("states = 100", "#");
    assert_eq!(found, ["am-fig3 n=2 k=1: states 100, not in the manifest yet"]);
}

#[test]
fn wrong_verdict_is_noticed() {
    let found = differences("exclusion = \"holds\"", "exclusion = \"violated\"");
    assert_eq!(found, ["am-fig3 n=2 k=1: exclusion holds, expected violated"]);
    let found = differences("exclusion = \"holds\"", "names = \"holds\"");
    assert_eq!(found, ["am-fig3 n=2 k=1: names: the algorithm has none, expected holds"]);
    let found = differences("exclusion = \"holds\"", "range = \"violated\"");
    assert_eq!(found, ["am-fig3 n=2 k=1: range holds, expected violated"]);
}

#[test]
fn wrong_numbers_are_noticed() {
    for (old, new, text) in [
        ("resilience = 1", "resilience = 2", "starvation resilience 1, expected 2"),
        (
            "resilience = 1",
            "resilience = \"unlimited\"",
            "starvation resilience 1, expected unlimited",
        ),
        ("bound = 2", "bound = 3", "exit bound 2, expected 3"),
        ("worst = 7", "worst = 6", "CC worst 7, expected 6"),
        ("\"unbounded\"", "9", "DSM worst unbounded, expected 9"),
        ("claim = 7", "claim = 8", "CC claim 7, expected 8"),
        ("\"unbounded\"", "\"unbounded\", claim = 3", "DSM claim none, expected 3"),
    ] {
        assert_eq!(differences(old, new), [format!("am-fig3 n=2 k=1: {text}")]);
    }
}

#[test]
fn a_limit_makes_a_model_partial() {
    let manifest = Manifest::parse(FIG3).unwrap();
    for limit in [4, 10, 20, 40, 80] {
        let report = run_all(&manifest, &[], limit);
        assert_eq!(report.differences(), Vec::<String>::new(), "{limit}");
        assert_eq!(report.status(), Status::Partial, "{limit}");
        // Results that a limit left open are not written.
        assert_eq!(blessed(FIG3, &report), FIG3, "{limit}");
    }
}

#[test]
fn a_stopped_run_is_partial() {
    let manifest = Manifest::parse(FIG3).unwrap();
    let stop = AtomicBool::new(true);
    let resources = resources(1000, 1 << 28, &stop);
    let selection = Selection { tier: Tier::Huge, only: Vec::new() };
    let report = run(&manifest, &selection, &resources, |_| ());
    assert_eq!(report.status(), Status::Partial);
    assert_eq!(report.unseen(), ["am-fig3 n=2 k=1: not reached"]);
}

#[test]
fn blessing_keeps_comments_and_order() {
    let open = FIG3
        .replace("states = 100", "states = 3")
        .replace("exit = { verdict = \"holds\", bound = 2 }", "exit = \"?\"")
        .replace("starvation = { verdict = \"holds\", resilience = 1 }", "starvation = \"?\"")
        .replace("{ worst = 7, claim = 7 }", "{ worst = \"?\" }");
    let report = run_text(&open);
    assert_eq!(report.status(), Status::Differs);
    let blessed = blessed(&open, &report);
    assert_eq!(blessed, FIG3);
    let report = report.compared_with(&Manifest::parse(&blessed).unwrap());
    assert_eq!(report.status(), Status::AsExpected);
}

#[test]
fn blessing_writes_to_the_file_that_has_the_model() {
    let other = FIG3.replace("n = 2", "n = 3").replace("states = 100", "states = 1");
    let files = [file(FIG3), file(&other)];
    let report = run_all(&Manifest::of(&files).unwrap(), &[], 1 << 20);
    let blessed = bless(&files, &report).unwrap();
    assert_eq!(blessed[0], files[0]);
    assert!(blessed[1].text.contains("states = 11436"), "{}", blessed[1].text);
}

#[test]
fn algorithms_without_models_get_models_that_can_be_measured() {
    let mut files = ManifestFile::built_in();
    let turnstile =
        files.iter().position(|file| file.path.ends_with("objects/turnstile/atlas.toml"));
    let turnstile = turnstile.unwrap();
    files[turnstile].text.clear();
    let only = ["turnstile".to_string(), "turnstile:no-exit".to_string()];
    let added = add_models(&mut files, &only, &[]).unwrap();
    let (sound, wrong) = ("turnstile n=2 k=1", "turnstile:no-exit n=2 k=1");
    assert_eq!(added.len(), 6);
    assert!(added.iter().any(|id| id == sound) && added.iter().any(|id| id == wrong));
    let report = run_all(&Manifest::of(&files).unwrap(), &[sound, wrong], 1 << 20);
    let blessed = bless(&files, &report).unwrap();
    // The built-in models were measured in the same way.
    for model in ManifestFile::built_in()[turnstile].text.split("[[model]]").skip(1) {
        let is_measured = |id: &str| model.contains(&format!("\"{id}\"\nn = 2\n"));
        if is_measured("turnstile") || is_measured("turnstile:no-exit") {
            assert!(blessed[turnstile].text.contains(model.trim_end()), "{model}");
        }
    }
    // Given sizes are added to the sizes that are listed already.
    let mut files = ManifestFile::built_in();
    let added = add_models(&mut files, &only[..1], &[(2, 1), (5, 1)]).unwrap();
    assert_eq!(added, ["turnstile n=5 k=1"]);
    assert_eq!(add_models(&mut ManifestFile::built_in(), &[], &[]).unwrap(), Vec::<String>::new());
}

#[test]
fn a_mistake_in_a_manifest_is_reported_with_its_line() {
    for (old, new, text) in [
        ("exclusion =", "exclusoin =", "line 10"),
        ("tier = \"quick\"", "tier = \"fast\"", "line 7"),
        ("\"holds\", resilience", "\"held\", resilience", "line 11"),
        ("resilience = 1", "resiliance = 1", "line 11"),
        ("claim = 7", "claims = 7", "line 14"),
        ("worst = \"unbounded\"", "worst = \"infinite\"", "line 15"),
        ("\"am-fig3\"", "\"am-fig4\"", "line 3"),
        ("n = 2", "n = 1", "line 3"),
        ("n = 2", "n = 2\ncontention = 3", "line 3"),
        ("n = 2", "n = 2\nmemory = \"tso\"", "line 3"),
        ("n = 2", "n = 2\nsymmetry = true", "symmetry works for [model.check] only"),
    ] {
        let error = Manifest::parse(&FIG3.replacen(old, new, 1)).unwrap_err().to_string();
        assert!(error.contains(text), "{new}: {error}");
    }
    let twice = format!("{FIG3}{FIG3}");
    let error = Manifest::parse(&twice).unwrap_err().to_string();
    assert_eq!(error, "line 18: am-fig3 n=2 k=1 is listed twice, first in line 3");
}

/// Choi's algorithm at n = 3, k = 2 has 723,197 states. With `--symmetry`, the check finds 363,917.
#[test]
fn a_model_with_symmetry_counts_states_without_the_names_of_processes() {
    let report = run_text(
        r#"
[[model]]
algorithm = "choi"
n = 3
k = 2
symmetry = true
compact = true
tier = "quick"
states = 363917
[model.check]
exclusion = "holds"
starvation = { verdict = "holds", resilience = 2 }
"#,
    );
    assert_eq!(report.differences(), Vec::<String>::new());
    assert_eq!(report.entries[0].model.id(), "choi n=3 k=2 symmetry");
}

#[test]
fn contention_n_is_the_default() {
    let twice = format!("{FIG3}{}", FIG3.replace("n = 2", "n = 2\ncontention = 2"));
    assert!(Manifest::parse(&twice).is_err());
}

/// A number without bound leaves its range in every exploration. This is no violation.
#[test]
fn a_number_without_bound_makes_a_model_partial() {
    let file = tempfile::Builder::new().suffix(".kx").tempfile().unwrap();
    let source = "algorithm tickets requires k = 1 shared next : counter = 0 serving : counter = 0 \
                  private t : counter passage doorway 1: t := fetch_and_add(next, 1) \
                  waiting 2: await serving = t critical 3: serving := t + 1 end promises exclusion";
    std::fs::write(file.path(), source).unwrap();
    let id = file.path().to_str().unwrap().to_string();
    assert!(hallpass_lab::catalogue::load_as(&id, &id).is_ok());
    for listed in ["exclusion = \"?\"", "exclusion = \"?\"\nrange = \"holds\""] {
        let text = format!(
            "[[model]]\nalgorithm = \"{id}\"\nn = 2\nk = 1\ntier = \"quick\"\n[model.check]\n{listed}\n"
        );
        let report = run_text(&text);
        let differences = report.differences();
        assert!(!differences.iter().any(|it| it.contains("range")), "{differences:?}");
        let unseen = report.unseen();
        assert!(unseen.iter().any(|it| it.contains("range")), "{unseen:?}");
        let blessed = blessed(&text, &report);
        assert!(!blessed.contains("violated"), "{blessed}");
    }
}

#[test]
fn pages_show_differences_and_the_run_that_rejects_a_variant() {
    let wrong = r#"
[[model]]
algorithm = "am-fig3:no-take"
n = 2
k = 1
tier = "quick"
[model.check]
exclusion = "?"
"#;
    let report = run_text(&format!("{FIG3}{wrong}"));
    let (text, page) = (markdown(&report), html(&report));
    for text in [&text, &page] {
        assert!(text.contains("expected nothing yet"));
        assert!(text.contains("line 2 reads X and takes nothing"));
        assert!(text.contains("hp1."), "the text contains a replay string");
        assert!(text.contains("7 of 7 tight"));
    }
    assert!(!page.contains("http"), "the page loads nothing from other sites");
    let files: Vec<String> =
        run_pages(&report).unwrap().into_iter().map(|(file, _)| file).collect();
    let expected = ["exclusion", "range"].map(|it| format!("runs/am-fig3-no-take-n2-k1-{it}.html"));
    assert_eq!(files, expected);
    for file in files {
        assert!(page.contains(&format!("href=\"{file}\"")), "the page links to {file}");
    }
}

#[test]
fn variants_that_fail_only_beyond_explorable_sizes_are_shown_with_their_recorded_runs() {
    let report =
        run_all(&Manifest::standard().unwrap(), &["choi:once", "am-fig3:no-take"], 1 << 20);
    assert!(!report.known_runs.is_empty());
    let page = html(&report);
    assert!(
        page.contains("only at sizes that are too large to explore"),
        "the sentence at the top is missing"
    );
    assert!(page.contains("too large to explore, shown by a recorded run"));
    assert!(!page.contains("No violation at"), "every variant is rejected");
    for (file, _) in run_pages(&report).unwrap() {
        assert!(page.contains(&file), "{file} is linked");
    }
}
