//! Checks that the algorithms of papers, written in the language, equal their step machines: the atlas
//! expects the same results of both.

use std::{env, sync::atomic::AtomicBool};

use hallpass_algorithms::registry::NAMES;
use hallpass_lab::{
    atlas::{self, AtlasModel, Manifest, Selection, Status, Tier},
    catalogue::same_machine,
    machine,
};

use super::load;
use crate::common::resources;

/// Each file, with the step machine that it describes.
const PAPERS: [(&str, &str); 6] = [
    ("papers/am_fig3.kx", "am-fig3"),
    ("papers/am_fig8.kx", "am-fig8"),
    ("papers/omori_excl.kx", "omori-excl"),
    ("papers/choi.kx", "choi"),
    ("papers/zehavi.kx", "zehavi"),
    ("papers/afek.kx", "afek"),
];

/// Returns the maximum number of states of the models that are compared. CI compares every model of the
/// quick atlas.
fn most_states() -> u64 {
    env::var("HALLPASS_GALLERY_STATES").map_or(12_000, |text| text.parse().expect("it is a number"))
}

#[test]
fn files_of_papers_have_the_states_verdicts_and_references_of_their_step_machines() {
    let mut manifest = Manifest::default();
    let standard = Manifest::standard().unwrap();
    for (file, id) in PAPERS {
        let path = load(file);
        let of_paper = |model: &&AtlasModel| {
            model.algorithm.strip_suffix(NAMES).unwrap_or(&model.algorithm) == id
                && model.states.is_some_and(|states| states <= most_states())
        };
        let models: Vec<&AtlasModel> = standard.models.iter().filter(of_paper).collect();
        assert!(!models.is_empty(), "no model of {id} is small enough");
        for model in models {
            let algorithm = model.algorithm.replacen(id, &path, 1);
            // The statements of a paper are written beside its step machine, and a file has none.
            let ask = Default::default();
            manifest.models.push(AtlasModel { algorithm, ask, ..model.clone() });
        }
    }
    let stop = AtomicBool::new(false);
    let selection = Selection { tier: Tier::Quick, only: Vec::new() };
    let report = atlas::run(&manifest, &selection, &resources(1 << 26, 1 << 31, &stop), |_| ());
    assert_eq!(report.differences(), Vec::<String>::new());
    assert_eq!(report.status(), Status::AsExpected, "{:?}", report.unseen());
    println!("{}", report.summary());
}

/// This test leaves out Figures 3 and 8, because their step machines order their variables by level,
/// outermost first. The test above compares their states and results.
#[test]
fn files_of_papers_are_the_same_machines_up_to_names() {
    for (file, id) in &PAPERS[2..] {
        let path = load(file);
        for (n, k) in [(2, 1), (3, 1), (3, 2)] {
            let (own, model) =
                (machine::build(&path, n, k).unwrap(), machine::build(id, n, k).unwrap());
            assert_eq!(same_machine(&*own, &*model), Ok(()), "{id} with n = {n}, k = {k}");
        }
    }
}

#[test]
fn a_wrong_variant_is_not_the_same_machine() {
    let path = load("papers/omori_excl.kx");
    let own = machine::build(&path, 3, 1).unwrap();
    for wrong in [
        "omori-excl:no-turn",
        "omori-excl:turn-first",
        "omori-excl:off-by-one",
        "omori-excl:no-reset",
    ] {
        let model = machine::build(wrong, 3, 1).unwrap();
        assert!(same_machine(&*own, &*model).is_err(), "{wrong} is not noticed");
    }
}
