//! The macro that makes tests of behaviours.

/// Makes a `#[test]` of each behaviour for a type that implements [`HallUnderTest`](crate::HallUnderTest).
///
/// The words after the colon name what else the hall can do: `many` ([`ManyUnderTest`](crate::ManyUnderTest)),
/// `tasks` ([`TasksUnderTest`](crate::TasksUnderTest)), `forget` ([`ForgetUnderTest`](crate::ForgetUnderTest)).
/// Tests are named after behaviours, in modules named after topics: `order::waiters_get_in_in_the_order_they_came`.
/// If one file tests two halls, each needs its own module.
#[macro_export]
macro_rules! conformance {
    ($hall:ty $(: $($ability:ident),+)?) => {
        $crate::behaviours_of!(core $hall);
        $($($crate::behaviours_of!($ability $hall);)+)?
    };
}

/// The behaviours of halls with an ability.
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
            waiters_get_in_in_the_order_they_came,
            a_caller_that_does_not_wait_cannot_overtake_a_waiter,
            a_holder_that_comes_again_stands_at_the_end,
        );
        $crate::tests_of!($hall, time:
            a_free_slot_needs_no_time,
            a_time_limit_runs_out_and_not_early,
            a_waiter_that_times_out_leaves_the_queue,
            a_waiter_that_times_out_keeps_the_order_of_the_others,
            a_slot_that_comes_in_time_is_taken,
            a_slot_that_comes_as_time_runs_out_is_not_lost,
            a_waiter_that_gives_up_does_not_lose_the_slot,
        );
        $crate::tests_of!($hall, closing:
            a_closed_hall_turns_newcomers_away,
            closing_turns_waiters_away,
            holders_of_a_closed_hall_stay,
        );
        $crate::tests_of!($hall, resizing:
            more_slots_let_waiters_in,
            holders_of_removed_slots_keep_them,
            removed_slots_are_not_handed_out_again,
            a_waiter_of_a_smaller_hall_gets_in_in_the_end,
            the_same_size_changes_nothing,
            all_handles_see_the_new_size,
        );
        $crate::tests_of!($hall, crowd:
            a_crowd_is_kept_apart_and_every_thread_gets_in,
            a_crowd_that_tries_and_gives_up_is_kept_apart,
            a_crowd_in_a_hall_that_is_resized_is_kept_apart,
        );
    };
    (many $hall:ty) => {
        $crate::tests_of!($hall, many:
            several_slots_are_the_smallest_that_are_free,
            all_slots_can_be_acquired_at_once,
            more_slots_than_the_hall_has_are_refused,
            a_request_for_no_slots_does_not_wait,
            a_request_for_several_is_not_overtaken,
            small_requests_do_not_starve_a_large_one,
            several_freed_slots_let_in_as_many_as_fit,
            a_large_request_that_times_out_lets_in_those_behind_it,
            a_request_that_has_become_too_large_waits_until_the_hall_grows,
            closing_turns_requests_for_several_away,
        );
    };
    (tasks $hall:ty) => {
        $crate::tests_of!($hall, tasks:
            a_task_gets_a_free_slot,
            a_future_joins_the_queue_when_first_polled,
            a_future_that_is_polled_again_keeps_its_place,
            a_future_dropped_before_its_first_poll_leaves_no_trace,
            a_dropped_future_leaves_the_queue,
            a_granted_future_keeps_its_slot_until_it_is_polled,
            a_future_dropped_after_its_grant_hands_the_slot_on,
            tasks_and_threads_stand_in_one_queue,
            closing_turns_tasks_away,
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

/// Tests of one topic.
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
