//! Runs the conformance suite on narrow and wide halls. A narrow hall has at most 32 slots, which are the bits
//! of one word. A wide hall can have more slots, and keeps their numbers outside that word.

use std::{
    future::Future,
    pin::Pin,
    time::{Duration, Instant},
};

use hallpass_conformance::{
    Capacity, ForgetUnderTest, HallUnderTest, ManyUnderTest, Refusal, TasksUnderTest, behaviours,
    conformance,
};
use hallpass_threads::{AcquireError, Hall, MAX_SLOTS, Pass, Passes, TryAcquireError};

/// The number of slots that fit into one word.
const SLOTS_IN_WORD: usize = 32;

fn refusal(error: impl Into<TryAcquireError>) -> Refusal {
    match error.into() {
        TryAcquireError::Closed => Refusal::Closed,
        TryAcquireError::NoPermits | TryAcquireError::TimedOut => Refusal::NoPermits,
        TryAcquireError::TooMany { .. } => Refusal::TooMany,
        error => panic!("the suite has no `Refusal` for this error: {error}"),
    }
}

/// An adapter for halls that can have up to `$max_slots` slots. A hall under test is never freed, so that
/// passes can borrow it from any thread.
macro_rules! adapter {
    ($name:ident, $max_slots:expr, $sizes:expr, $bypass:expr) => {
        #[derive(Clone, Copy)]
        struct $name(&'static Hall);

        impl HallUnderTest for $name {
            type Pass = Pass<'static>;

            const PAUSES: bool = true;
            const CAPACITY: Capacity = Capacity {
                max_slots: $max_slots,
                sizes: &$sizes,
                rounds: 1000,
                hand_over: Duration::from_micros(10),
            };

            fn open(k: usize) -> Result<Self, String> {
                let hall = Hall::builder(k).max_slots($max_slots).bypass($bypass).build();
                hall.map(|hall| $name(Box::leak(Box::new(hall)))).map_err(|error| error.to_string())
            }

            fn acquire(&self) -> Result<Self::Pass, Refusal> {
                self.0.acquire().map_err(refusal)
            }

            fn try_acquire(&self) -> Result<Self::Pass, Refusal> {
                self.0.try_acquire().map_err(refusal)
            }

            fn acquire_for(&self, time: Duration) -> Result<Self::Pass, Refusal> {
                self.0.try_acquire_for(time).map_err(refusal)
            }

            fn acquire_until(&self, deadline: Instant) -> Result<Self::Pass, Refusal> {
                self.0.try_acquire_until(deadline).map_err(refusal)
            }

            fn slot(pass: &Self::Pass) -> usize {
                pass.slot()
            }

            fn slots(&self) -> usize {
                self.0.slots()
            }

            fn available(&self) -> usize {
                self.0.available()
            }

            fn waiting(&self) -> usize {
                self.0.waiting()
            }

            fn resize(&self, k: usize) -> Result<(), String> {
                self.0.resize(k).map_err(|error| error.to_string())
            }

            fn close(&self) {
                self.0.close();
            }

            fn is_closed(&self) -> bool {
                self.0.is_closed()
            }
        }

        impl ManyUnderTest for $name {
            type Passes = Passes<'static>;

            fn acquire_many(&self, m: usize) -> Result<Self::Passes, Refusal> {
                self.0.acquire_many(m).map_err(refusal)
            }

            fn try_acquire_many(&self, m: usize) -> Result<Self::Passes, Refusal> {
                self.0.try_acquire_many(m).map_err(refusal)
            }

            fn acquire_many_for(&self, m: usize, time: Duration) -> Result<Self::Passes, Refusal> {
                self.0.try_acquire_many_for(m, time).map_err(refusal)
            }

            fn slots_of(passes: &Self::Passes) -> Vec<usize> {
                passes.slots().collect()
            }
        }

        impl TasksUnderTest for $name {
            type Acquiring = Pin<Box<dyn Future<Output = Result<Self::Pass, Refusal>> + Send>>;

            fn acquire_async(&self) -> Self::Acquiring {
                let acquiring = self.0.acquire_async();
                Box::pin(async { acquiring.await.map_err(|error: AcquireError| refusal(error)) })
            }
        }

        impl ForgetUnderTest for $name {
            fn forget(pass: Self::Pass) {
                pass.forget();
            }
        }
    };
}

adapter!(Narrow, SLOTS_IN_WORD, [1, 2, 3, 7, 31, 32], 0);
adapter!(Wide, MAX_SLOTS, [1, 2, 3, 33, 63, 64, 65, 100, 128, 1000, 4096], 0);
adapter!(Largest, MAX_SLOTS, [MAX_SLOTS], 0);
adapter!(Bypass, SLOTS_IN_WORD, [1, 2, 3, 32], 1);
adapter!(BypassWide, 200, [1, 33, 200], 1);

mod narrow {
    use super::*;

    conformance!(Narrow: many, tasks, forget);
}

mod wide {
    use super::*;

    conformance!(Wide: many, tasks, forget);
}

/// Runs behaviours that a hall keeps even if newcomers may overtake its waiters. `behaviour/bypass.rs` tests how many
/// newcomers overtake.
macro_rules! with_bypass {
    ($($topic:ident: $($behaviour:ident),+;)+) => {
        mod bypass {
            use super::*;

            $($(#[test]
            fn $behaviour() {
                behaviours::$topic::$behaviour::<Bypass>();
                behaviours::$topic::$behaviour::<BypassWide>();
            })+)+
        }
    };
}

with_bypass! {
    slots: at_most_k_holders, slots_are_distinct_and_the_smallest_comes_first,
        freed_slots_are_handed_out_again_the_smallest_first;
    order: waiters_get_slots_in_order_of_arrival;
    time: a_waiter_that_times_out_leaves_the_queue, a_slot_that_comes_in_time_is_taken,
        a_slot_that_comes_as_time_runs_out_is_not_lost, a_waiter_that_gives_up_does_not_lose_the_slot;
    closing: a_closed_hall_refuses_newcomers, closing_a_hall_refuses_its_waiters,
        holders_of_a_closed_hall_stay;
    resizing: added_slots_go_to_waiters, holders_of_removed_slots_keep_them,
        removed_slots_are_not_handed_out_again, a_waiter_of_a_shrunk_hall_gets_a_remaining_slot;
    tasks: a_task_gets_a_free_slot, a_future_joins_the_queue_when_first_polled,
        a_dropped_future_leaves_the_queue, a_granted_future_keeps_its_slot_until_it_is_polled,
        a_future_dropped_after_its_grant_hands_the_slot_on, tasks_and_threads_wait_in_one_queue,
        closing_a_hall_refuses_its_tasks;
    many: several_slots_are_the_smallest_that_are_free, all_slots_can_be_acquired_together,
        small_requests_do_not_starve_a_large_one,
        closing_a_hall_refuses_requests_for_several_slots;
    crowd: many_threads_never_share_a_slot_and_each_gets_one, threads_that_try_or_give_up_never_share_a_slot,
        threads_never_share_a_slot_while_the_hall_is_resized;
    forget: a_forgotten_slot_is_not_handed_out_again;
}

/// The largest hall takes seconds to fill, so this tests only one behaviour.
#[test]
fn the_largest_hall_assigns_the_smallest_freed_slot_first() {
    behaviours::slots::freed_slots_are_handed_out_again_the_smallest_first::<Largest>();
}
