use super::*;

fn claim() -> Claim {
    let lease = Lease { id: 7, renewed: Duration::ZERO };
    let owner = (1, "joe".into());
    let ttl = Duration::from_secs(10);
    Claim::new(lease, 0, ttl, Clock::from_fn(|| Duration::ZERO), owner, "a command", 1)
}

/// The set of slot 0 alone.
fn slot_0() -> SlotSet {
    [0].into_iter().collect()
}

fn view(own: OwnClaim, revision: Revision, generation: u64) -> View {
    View::of_claim(own, revision, generation)
}

fn inside() -> OwnClaim {
    OwnClaim::Inside { slots: slot_0(), version: 5, token: 5 }
}

#[test]
fn a_claim_with_a_slot_that_waits_again_is_lost() {
    let claim = claim();
    claim.note(Duration::ZERO, &view(OwnClaim::Waiting { created: 3 }, 3, 0));
    claim.note(Duration::ZERO, &view(inside(), 5, 0));
    // A late answer, from before the claim got its slot.
    claim.note(Duration::ZERO, &view(OwnClaim::Waiting { created: 3 }, 4, 0));
    assert_eq!(claim.health().lost, None);
    claim.note(Duration::from_secs(1), &view(OwnClaim::Waiting { created: 9 }, 9, 0));
    assert_eq!(claim.health().lost, Some(Loss::Gone));
    assert_eq!(claim.health().proof, Duration::ZERO, "a lost claim gets no new proof");
}

#[test]
fn a_holder_without_a_claim_has_its_slot_but_no_new_proof() {
    let detached = OwnClaim::Detached { slots: slot_0(), version: 5, token: 5 };
    let claim = claim();
    claim.note(Duration::ZERO, &view(inside(), 5, 0));
    claim.enter_stage(Stage::Held);
    claim.note(Duration::from_secs(1), &view(detached, 6, 0));
    assert_eq!((claim.health().lost, claim.health().proof), (None, Duration::ZERO));
    // While the caller does not have the pass yet, a detached claim counts as lost.
    claim.enter_stage(Stage::Entering);
    claim.note(Duration::from_secs(1), &view(detached, 6, 0));
    assert_eq!(claim.health().lost, Some(Loss::Gone));
}

#[test]
fn a_claim_of_a_lost_history_is_lost_even_if_the_store_shows_it() {
    let claim = claim();
    claim.note(Duration::ZERO, &view(inside(), 5, 0));
    claim.note(Duration::from_secs(1), &view(inside(), 5, 1));
    assert_eq!(claim.health().lost, Some(Loss::HistoryLost));
}
