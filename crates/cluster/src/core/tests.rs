//! Views from before the store lost history.

use hallpass_testbed::TIMEOUT;

use super::*;
use crate::{records::Door, store::Stamp};

/// A renewal may show that history was lost while a waiter still has an older view. In a new hall, the records can have
/// the same revisions as in the lost hall. So a claim that depends on the older view could take a slot in the old epoch.
#[test]
fn a_view_from_before_a_loss_is_read_again_before_a_slot_is_assigned() {
    let url = "memory://core-tests";
    let mut options = ClusterOptions::at(url).expect("a valid URL");
    options.state_dir = None;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let store = options.connect(Tasks::default()).expect("valid options");
        let history = store.history("gpu");
        let hall = HallStore::new(store, "gpu", url.into());
        let core = Core::new(hall, &options, Handle::current(), Tasks::default());
        core.store.create(Door::with(1)).await.expect("reachable");
        let old = core.look().await.expect("reachable");
        assert_eq!((old.generation, core.epoch()), (0, 0));
        // The answer to a renewal.
        history.note_answer(history.sent(), Stamp::default(), true);
        let view = core.look_for_loss(old, TIMEOUT).await.expect("reachable");
        assert_eq!((view.generation, core.epoch()), (1, 1));
    });
}
