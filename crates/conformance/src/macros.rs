//! The macro that makes tests from behaviours.

/// Makes a `#[test]` from each behaviour, for a type that implements
/// [`HallUnderTest`](crate::HallUnderTest).
///
/// The words after the colon name the other abilities of the hall: `many`
/// ([`ManyUnderTest`](crate::ManyUnderTest)), `tasks` ([`TasksUnderTest`](crate::TasksUnderTest)),
/// `forget` ([`ForgetUnderTest`](crate::ForgetUnderTest)). Each test has the name of its behaviour, in a
/// module with the name of its topic: `order::waiters_get_slots_in_order_of_arrival`. If one file tests
/// two halls, each hall needs its own module.
#[macro_export]
macro_rules! conformance {
    ($hall:ty $(: $($ability:ident),+)?) => {
        $crate::behaviours_of!(core $hall);
        $($($crate::behaviours_of!($ability $hall);)+)?
    };
}

/// Lists the behaviours of halls with an ability.
#[doc(hidden)]
#[macro_export]
macro_rules! behaviours_of {
    (core $hall:ty) => {
        $crate::tests_of!($hall, sizes:
            a_new_hall_is_free,
            a_hall_without_slots_is_refused,
            a_hall_that_is_too_large_is_refused_with_the_limit,
            a_hall_is_not_resized_beyond_its_limits,
        );
        $crate::tests_of!($hall, slots:
            at_most_k_holders,
            slots_are_distinct_and_the_smallest_comes_first,
            freed_slots_are_handed_out_again_the_smallest_first,
            a_dropped_pass_frees_its_slot,
            clones_are_handles_of_one_hall,
            halls_do_not_affect_each_other,
        );
        $crate::tests_of!($hall, order:
            waiters_get_slots_in_order_of_arrival,
            a_caller_that_does_not_wait_cannot_overtake_a_waiter,
            a_holder_that_returns_joins_the_end_of_the_queue,
        );
        $crate::tests_of!($hall, time:
            a_free_slot_needs_no_time,
            a_waiter_gives_up_at_its_time_limit_and_not_earlier,
            a_waiter_that_times_out_leaves_the_queue,
            a_waiter_that_times_out_keeps_the_order_of_the_others,
            a_slot_that_comes_in_time_is_taken,
            a_slot_that_comes_as_time_runs_out_is_not_lost,
            a_waiter_that_gives_up_does_not_lose_the_slot,
        );
        $crate::tests_of!($hall, closing:
            a_closed_hall_refuses_newcomers,
            closing_a_hall_refuses_its_waiters,
            holders_of_a_closed_hall_stay,
        );
        $crate::tests_of!($hall, resizing:
            added_slots_go_to_waiters,
            holders_of_removed_slots_keep_them,
            removed_slots_are_not_handed_out_again,
            a_waiter_of_a_shrunk_hall_gets_a_remaining_slot,
            the_same_size_changes_nothing,
            all_handles_see_the_new_size,
        );
        $crate::tests_of!($hall, crowd:
            many_threads_never_share_a_slot_and_each_gets_one,
            threads_that_try_or_give_up_never_share_a_slot,
            threads_never_share_a_slot_while_the_hall_is_resized,
        );
    };
    (many $hall:ty) => {
        $crate::tests_of!($hall, many:
            several_slots_are_the_smallest_that_are_free,
            all_slots_can_be_acquired_together,
            more_slots_than_the_hall_has_are_refused,
            a_request_for_no_slots_does_not_wait,
            a_request_for_several_is_not_overtaken,
            small_requests_do_not_starve_a_large_one,
            several_freed_slots_go_to_as_many_waiters_as_fit,
            a_large_request_that_times_out_leaves_the_slots_to_others,
            a_request_that_has_become_too_large_waits_until_the_hall_grows,
            closing_a_hall_refuses_requests_for_several_slots,
        );
    };
    (tasks $hall:ty) => {
        $crate::tests_of!($hall, tasks:
            a_task_gets_a_free_slot,
            a_future_joins_the_queue_when_first_polled,
            a_future_that_is_polled_again_keeps_its_position,
            a_future_dropped_before_its_first_poll_leaves_no_trace,
            a_dropped_future_leaves_the_queue,
            a_granted_future_keeps_its_slot_until_it_is_polled,
            a_future_dropped_after_its_grant_hands_the_slot_on,
            tasks_and_threads_wait_in_one_queue,
            closing_a_hall_refuses_its_tasks,
            a_future_granted_before_the_hall_closes_keeps_its_slot,
        );
    };
    (forget $hall:ty) => {
        $crate::tests_of!($hall, forget:
            a_forgotten_slot_is_not_handed_out_again,
            a_forgotten_slot_counts_as_held_when_the_hall_shrinks,
        );
    };
}

/// Makes the tests of one topic.
#[doc(hidden)]
#[macro_export]
macro_rules! tests_of {
    ($hall:ty, $topic:ident: $($behaviour:ident,)+) => {
        mod $topic {
            #[allow(unused_imports, reason = "the hall may be named by its full path")]
            use super::*;

            $(
                #[test]
                fn $behaviour() {
                    if <$hall as $crate::HallUnderTest>::is_testable() {
                        $crate::behaviours::$topic::$behaviour::<$hall>();
                    }
                }
            )+
        }
    };
}
