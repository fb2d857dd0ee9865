//! Checks the text and the HTML page of a run.

use hallpass_lab::{
    schedule::{Conventions, CostModel, Finding, Schedule},
    trace,
};

use super::find::{Random, passage, schedule, shortest, starved, with};

fn text(schedule: &Schedule) -> String {
    trace::text(&trace::run(schedule, &trace::conventions(schedule)).unwrap(), false)
}

fn html(schedule: &Schedule) -> String {
    trace::html(&trace::run(schedule, &trace::conventions(schedule)).unwrap())
}

/// Asserts that the page loads nothing and that its elements are balanced.
fn check_page(page: &str) {
    for outside in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    for element in ["table", "tbody", "tr", "td", "th", "div", "span", "script", "style", "b"] {
        let open = page.matches(&format!("<{element} ")).count()
            + page.matches(&format!("<{element}>")).count();
        assert_eq!(open, page.matches(&format!("</{element}>")).count(), "{element}");
    }
}

#[test]
fn a_starving_run_as_text() {
    let mut run = starved();
    run.stem.extend([1, 1, 1]);
    let expected = "\
 step  p0    p1
   1   rem                            starts
   2   2@1         cd  X.1: 1 -> 0    leaves the doorway, ENTERS, stops forever ✝
   3   ✝     rem                      starts
   4   ✝     2@1   cd  X.1: 0 -> -1
   5   ✝     3@1   cd  Q.1: 0 -> 1
   6   ✝     4@1   cd  X.1: read -1   leaves the doorway
   7   ✝     5@1   cd  Q.1: read 1
 8-9   ✝     5@1    d  Q.1: read 1    2 times
    ,- loop starts here
  10|  ✝     5@1    d  Q.1: read 1
    '- back to step 10, forever
";
    let text = text(&run);
    assert!(text.contains(expected), "{text}");
    assert!(text.starts_with("am-fig3   n = 2, k = 1   sequential consistency\n"), "{text}");
    assert!(text.contains("Initially: Q.1 = 0"), "{text}");
    assert!(
        text.contains("Shows: process 1 waits forever from step 6, while process 0 has stopped")
    );
    assert!(text.contains(&trace::encode(&run).unwrap()), "{text}");
    assert!(!text.contains('\x1b'));
    let coloured = trace::text(&trace::run(&run, &Conventions::default()).unwrap(), true);
    assert!(coloured.contains("\x1b[32mENTERS\x1b[0m"), "{coloured}");
}

#[test]
fn pages_are_complete() {
    let violation = shortest("am-fig3:no-outer", (3, 1), Finding::Exclusion);
    let page = html(&violation);
    check_page(&page);
    assert!(page.contains("in its critical section"));
    assert!(!page.contains("<b>forever</b>"), "a run that ends has no cycle");

    let page = html(&starved());
    check_page(&page);
    assert!(page.contains("<b>forever</b>:<br>back to step 7"));
    assert_eq!(page.matches("class=\"cross\"").count(), 1);
    assert!(page.contains("process 1<small>waits forever from step 6</small>"));

    let (run, [_, dsm]) = passage("am-fig9+names", (4, 2), &mut Random(5));
    let conventions = Conventions::default();
    let finding = Finding::Rmr { model: CostModel::Dsm, process: 0, count: Some(dsm), conventions };
    let page = html(&with(run, finding));
    check_page(&page);
    assert!(page.contains("<body data-model=\"dsm\">"));
    assert!(page.contains(&format!("remote: {dsm}, distributed memory")));
}

#[test]
fn an_unconfirmed_finding_is_reported_as_such() {
    let run = with(starved(), Finding::Deadlock { stopped: vec![] });
    let why = "the processes that stop outside their remainders are 0, not none";
    assert!(text(&run).contains(&format!("The run does not show this: {why}.")));
    let page = html(&run);
    check_page(&page);
    assert!(page.contains("<h1>Not confirmed: no process ever enters") && page.contains(why));
}

#[test]
fn idle_processes_have_no_column() {
    let run = schedule("am-fig3", (9, 3), &[4, 4, 7], &[]);
    assert!(text(&run).contains("take no step are not shown: 0, 1, 2, 3, 5, 6 and 8."));
    assert!(!html(&run).contains("process 3</th>"));
    // A run may have no steps.
    check_page(&html(&schedule("am-fig3", (9, 3), &[], &[])));
    assert!(!text(&schedule("am-fig3", (9, 3), &[], &[])).is_empty());
}

#[test]
fn the_size_in_the_sentence_about_stopped_processes_is_that_of_the_run() {
    // With k = 2, Anderson and Moir promise to tolerate one stopped process; with k = 1, none.
    let page = html(&starved());
    assert!(
        page.contains("with k = 1 the algorithm need not tolerate stopped processes"),
        "{page}"
    );
}

#[test]
fn a_page_fits_on_a_phone() {
    let page = html(&starved());
    // A replay string has no spaces: without this rule, a long one makes the page wider than the screen.
    assert!(page.contains(".about code { overflow-wrap: anywhere; }"));
    // The lanes scroll within the page.
    assert!(page.contains(".run { min-width: 0; overflow-x: auto; }"));
}
