/* The conformance suite of halls, in C. Each behaviour is a function with the same name as in the crate
 * hallpass-conformance. Afterwards, the program runs the tests in interface.c. Usage: conformance FOLDER. */

#include "support.h"

const char *folder;
int halls_opened;
atomic_int served;

static void at_most_k_holders(void) {
    hallpass_hall *hall = open_hall(3);
    hallpass_pass *held[3];
    for (int i = 0; i < 3; i++) held[i] = try_acquire(hall);
    CHECK(refusal(hall) == HALLPASS_NO_SLOT && hallpass_available(hall) == 0);
    for (int i = 0; i < 3; i++) hallpass_release(held[i]);
    check_that_all_slots_are_free(hall);
}

static void freed_slots_are_handed_out_again_the_smallest_first(void) {
    hallpass_hall *hall = open_hall(70);
    hallpass_pass *held[70];
    for (size_t i = 0; i < 70; i++) {
        held[i] = try_acquire(hall);
        CHECK(hallpass_slot(held[i]) == i);
    }
    hallpass_release(held[65]);
    hallpass_release(held[3]);
    held[3] = try_acquire(hall);
    held[65] = try_acquire(hall);
    CHECK(hallpass_slot(held[3]) == 3 && hallpass_slot(held[65]) == 65);
    for (int i = 0; i < 70; i++) hallpass_release(held[i]);
    check_that_all_slots_are_free(hall);
}

static void waiters_get_slots_in_order_of_arrival(void) {
    hallpass_hall *hall = open_hall(1);
    hallpass_pass *held = acquire(hall);
    waiter waiters[8];
    atomic_store(&served, 0);
    for (int i = 0; i < 8; i++) enqueue(&waiters[i], hall, UINT64_MAX);
    for (int i = 0; i < 8; i++) {
        hallpass_release(held);
        CHECK(join(&waiters[i]) == HALLPASS_OK && waiters[i].order == i);
        held = waiters[i].pass;
    }
    hallpass_release(held);
    check_that_all_slots_are_free(hall);
}

static void a_caller_that_does_not_wait_cannot_overtake_a_waiter(void) {
    hallpass_hall *hall = open_hall(1);
    hallpass_pass *held = acquire(hall);
    waiter one;
    enqueue(&one, hall, UINT64_MAX);
    hallpass_release(held);
    CHECK(refusal(hall) == HALLPASS_NO_SLOT);
    CHECK(join(&one) == HALLPASS_OK);
    hallpass_release(one.pass);
    check_that_all_slots_are_free(hall);
}

static void a_waiter_that_times_out_leaves_the_queue(void) {
    hallpass_hall *hall = open_hall(1);
    hallpass_pass *held = acquire(hall), *none = NULL;
    CHECK(hallpass_acquire_for(hall, 20, &none) == HALLPASS_NO_SLOT && none == NULL);
    CHECK(hallpass_acquire_for(hall, 0, &none) == HALLPASS_NO_SLOT);
    CHECK(hallpass_waiting(hall) == 0);
    hallpass_release(held);
    CHECK(hallpass_acquire_for(hall, UINT64_MAX, &held) == HALLPASS_OK);
    hallpass_release(held);
    check_that_all_slots_are_free(hall);
}

static void a_slot_that_comes_in_time_is_taken(void) {
    hallpass_hall *hall = open_hall(1);
    hallpass_pass *held = acquire(hall);
    waiter one;
    enqueue(&one, hall, 600000);
    hallpass_release(held);
    CHECK(join(&one) == HALLPASS_OK && hallpass_slot(one.pass) == 0);
    hallpass_release(one.pass);
    check_that_all_slots_are_free(hall);
}

static void added_slots_go_to_waiters(void) {
    hallpass_hall *hall = open_hall(1);
    hallpass_pass *held = acquire(hall);
    waiter one;
    enqueue(&one, hall, UINT64_MAX);
    CHECK(hallpass_resize(hall, 2) == HALLPASS_OK && hallpass_slots(hall) == 2);
    CHECK(join(&one) == HALLPASS_OK && hallpass_slot(one.pass) == 1);
    hallpass_release(one.pass);
    hallpass_release(held);
    check_that_all_slots_are_free(hall);
}

static void removed_slots_are_not_handed_out_again(void) {
    hallpass_hall *hall = open_hall(2);
    hallpass_pass *first = acquire(hall), *second = acquire(hall);
    CHECK(hallpass_resize(hall, 1) == HALLPASS_OK);
    hallpass_release(second);
    CHECK(refusal(hall) == HALLPASS_NO_SLOT);
    hallpass_release(first);
    first = try_acquire(hall);
    CHECK(hallpass_slot(first) == 0 && refusal(hall) == HALLPASS_NO_SLOT);
    hallpass_release(first);
    check_that_all_slots_are_free(hall);
}

static void closing_a_hall_refuses_its_waiters(void) {
    hallpass_hall *hall = open_hall(1);
    hallpass_pass *held = acquire(hall);
    waiter one;
    enqueue(&one, hall, UINT64_MAX);
    CHECK(hallpass_close(hall) == HALLPASS_OK);
    CHECK(join(&one) == HALLPASS_CLOSED && one.pass == NULL);
    CHECK(refusal(hall) == HALLPASS_CLOSED && hallpass_slots(hall) == 0);
    CHECK(hallpass_resize(hall, 1) == HALLPASS_CLOSED);
    hallpass_release(held);
    hallpass_free(hall);
}

static hallpass_hall *crowded;
static atomic_int inside, in_slot[2];

static void *crowd(void *unused) {
    for (int i = 0; i < 200; i++) {
        hallpass_pass *pass = NULL;
        hallpass_result result =
            i % 4 == 0 ? hallpass_acquire_for(crowded, 1, &pass) : hallpass_acquire(crowded, &pass);
        if (result == HALLPASS_NO_SLOT) continue;
        CHECK(result == HALLPASS_OK);
        CHECK(atomic_fetch_add(&inside, 1) < 2);
        CHECK(atomic_fetch_add(&in_slot[hallpass_slot(pass)], 1) == 0);
        sched_yield();
        atomic_fetch_sub(&in_slot[hallpass_slot(pass)], 1);
        atomic_fetch_sub(&inside, 1);
        hallpass_release(pass);
    }
    return unused;
}

static void threads_that_try_or_give_up_never_share_a_slot(void) {
    pthread_t threads[6];
    crowded = open_hall(2);
    for (int i = 0; i < 6; i++) CHECK(pthread_create(&threads[i], NULL, crowd, NULL) == 0);
    for (int i = 0; i < 6; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    check_that_all_slots_are_free(crowded);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    folder = argv[1];
    RUN(at_most_k_holders);
    RUN(freed_slots_are_handed_out_again_the_smallest_first);
    RUN(waiters_get_slots_in_order_of_arrival);
    RUN(a_caller_that_does_not_wait_cannot_overtake_a_waiter);
    RUN(a_waiter_that_times_out_leaves_the_queue);
    RUN(a_slot_that_comes_in_time_is_taken);
    RUN(added_slots_go_to_waiters);
    RUN(removed_slots_are_not_handed_out_again);
    RUN(closing_a_hall_refuses_its_waiters);
    RUN(threads_that_try_or_give_up_never_share_a_slot);
    test_interface();
    return 0;
}
