/* The conformance suite of halls, in C. Each behaviour is a function with the same name as in the crate
 * hallpass-conformance. Tests with several processes and tests of the C interface follow. Usage: conformance FOLDER. */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hallpass.h"

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__,     \
                    #condition, hallpass_last_error());                                     \
            _exit(1);                                                                       \
        }                                                                                   \
    } while (0)

#define EVENTUALLY(condition)                                                               \
    for (time_t end_ = time(NULL) + 120; !(condition);) {                                   \
        CHECK(time(NULL) < end_ && #condition);                                             \
        nanosleep(&(struct timespec){0, 1000000}, NULL);                                    \
    }

static const char *folder;

static hallpass_hall *open_hall(size_t slots) {
    static int number;
    char name[32];
    snprintf(name, sizeof name, "hall-%d", number++);
    hallpass_hall *hall = NULL;
    CHECK(hallpass_open(folder, name, slots, &hall) == HALLPASS_OK);
    return hall;
}

static hallpass_pass *acquire(hallpass_hall *hall) {
    hallpass_pass *pass = NULL;
    CHECK(hallpass_acquire(hall, &pass) == HALLPASS_OK && pass != NULL);
    return pass;
}

static hallpass_pass *try_acquire(hallpass_hall *hall) {
    hallpass_pass *pass = NULL;
    CHECK(hallpass_try_acquire(hall, &pass) == HALLPASS_OK && pass != NULL);
    return pass;
}

static hallpass_result refusal(hallpass_hall *hall) {
    hallpass_pass *pass = (hallpass_pass *)&pass;
    hallpass_result result = hallpass_try_acquire(hall, &pass);
    CHECK(result != HALLPASS_OK && pass == NULL);
    return result;
}

/* A thread that waits for a slot. Its pass stays held until the test releases the pass. */
typedef struct {
    pthread_t thread;
    hallpass_hall *hall;
    uint64_t milliseconds;
    hallpass_result result;
    hallpass_pass *pass;
    atomic_int order;
    atomic_bool done;
} waiter;

static atomic_int served;

static void *wait_for_slot(void *argument) {
    waiter *me = argument;
    me->result = me->milliseconds == UINT64_MAX ? hallpass_acquire(me->hall, &me->pass)
                                                : hallpass_acquire_for(me->hall, me->milliseconds, &me->pass);
    atomic_store(&me->order, atomic_fetch_add(&served, 1));
    atomic_store(&me->done, true);
    return NULL;
}

/* Starts a waiter and returns when it is in the queue. */
static void enqueue(waiter *one, hallpass_hall *hall, uint64_t milliseconds) {
    size_t before = hallpass_waiting(hall);
    *one = (waiter){.hall = hall, .milliseconds = milliseconds};
    CHECK(pthread_create(&one->thread, NULL, wait_for_slot, one) == 0);
    EVENTUALLY(hallpass_waiting(hall) == before + 1);
}

static hallpass_result join(waiter *one) {
    EVENTUALLY(atomic_load(&one->done));
    CHECK(pthread_join(one->thread, NULL) == 0);
    return one->result;
}

static void check_that_all_slots_are_free(hallpass_hall *hall) {
    CHECK(hallpass_available(hall) == hallpass_slots(hall) && hallpass_waiting(hall) == 0);
    hallpass_free(hall);
}

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

/* Forks a child that takes a slot of the hall, and keeps the slot until the child is killed. */
static pid_t holder(hallpass_hall *hall) {
    size_t before = hallpass_available(hall);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        hallpass_pass *pass = NULL;
        CHECK(hallpass_acquire(hall, &pass) == HALLPASS_OK);
        for (;;) pause();
    }
    EVENTUALLY(hallpass_available(hall) == before - 1);
    return child;
}

static void a_killed_process_frees_its_slot(void) {
    hallpass_hall *hall = open_hall(1);
    pid_t child = holder(hall);
    hallpass_participant found[2];
    EVENTUALLY(hallpass_holders(hall, found, 2) == 1);
    CHECK(found[0].slot == 0 && found[0].pid == (uint32_t)child && found[0].uid == getuid() && found[0].alive);
    waiter one;
    enqueue(&one, hall, UINT64_MAX);
    CHECK(hallpass_waiters(hall, found, 2) == 1 && found[0].slot == SIZE_MAX);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    CHECK(join(&one) == HALLPASS_OK && hallpass_slot(one.pass) == 0);
    hallpass_release(one.pass);

    child = holder(hall);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    size_t dead = 0;
    CHECK(hallpass_reap(hall, &dead) == HALLPASS_OK && dead == 1);
    check_that_all_slots_are_free(hall);
}

static void a_forked_child_does_not_free_the_slot_of_its_parent(void) {
    hallpass_hall *hall = open_hall(1);
    hallpass_pass *held = acquire(hall);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        hallpass_release(held);
        CHECK(refusal(hall) == HALLPASS_NO_SLOT);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(hallpass_available(hall) == 0);
    hallpass_release(held);
    check_that_all_slots_are_free(hall);
}

static void a_slot_left_to_its_lifeline_is_taken_until_the_last_process_closes_it(void) {
    hallpass_hall *hall = open_hall(1);
    int pids[2];
    pid_t keeper = 0;
    CHECK(pipe(pids) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        hallpass_pass *pass = acquire(hall);
        int lifeline = -1;
        CHECK(hallpass_lifeline(pass, &lifeline) == HALLPASS_OK && lifeline >= 0);
        hallpass_leave_to_lifeline(pass);
        if ((keeper = fork()) == 0) for (;;) pause(); /* keeps the lifeline open */
        CHECK(write(pids[1], &keeper, sizeof keeper) == sizeof keeper);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child && read(pids[0], &keeper, sizeof keeper) == sizeof keeper);
    CHECK(hallpass_reap(hall, NULL) == HALLPASS_OK && refusal(hall) == HALLPASS_NO_SLOT);
    CHECK(kill(keeper, SIGKILL) == 0);
    hallpass_release(acquire(hall));
    CHECK(close(pids[0]) == 0 && close(pids[1]) == 0);
    check_that_all_slots_are_free(hall);
}

static void a_pass_outlives_the_handle_of_its_hall(void) {
    hallpass_hall *hall = open_hall(1), *other = NULL;
    CHECK(hallpass_open(folder, hallpass_name(hall), 0, &other) == HALLPASS_OK);
    hallpass_pass *held = acquire(hall);
    hallpass_free(hall);
    CHECK(hallpass_slot(held) == 0 && refusal(other) == HALLPASS_NO_SLOT);
    hallpass_release(held);
    check_that_all_slots_are_free(other);
}

static void an_array_that_is_too_small_gets_only_what_fits(void) {
    hallpass_hall *hall = open_hall(3);
    hallpass_pass *held[3] = {acquire(hall), acquire(hall), acquire(hall)};
    hallpass_participant found[2], untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    memcpy(&found[1], &untouched, sizeof untouched);
    CHECK(hallpass_holders(hall, found, 1) == 3 && found[0].slot == 0);
    CHECK(memcmp(&found[1], &untouched, sizeof untouched) == 0);
    CHECK(hallpass_holders(hall, NULL, 0) == 3 && hallpass_holders(hall, NULL, 9) == 3);
    for (int i = 0; i < 3; i++) hallpass_release(held[i]);
    check_that_all_slots_are_free(hall);
}

static void errors_have_results_and_texts(void) {
    hallpass_hall *hall = open_hall(2), *other = (hallpass_hall *)&other;
    CHECK(hallpass_open(folder, hallpass_name(hall), 3, &other) == HALLPASS_SLOTS_MISMATCH && other == NULL);
    CHECK(strstr(hallpass_last_error(), "3") != NULL);
    CHECK(hallpass_open(folder, "no-such-hall", 0, &other) == HALLPASS_MISSING);
    CHECK(strstr(hallpass_last_error(), "no-such-hall") != NULL && hallpass_last_errno() == 0);
    CHECK(hallpass_open(folder, "../escape", 1, &other) == HALLPASS_BAD_ARGUMENT);
    CHECK(hallpass_open(folder, "\xff", 1, &other) == HALLPASS_BAD_ARGUMENT);
    CHECK(hallpass_open(folder, "large", 100000, &other) == HALLPASS_BAD_ARGUMENT);
    CHECK(hallpass_open("/proc/nothing-can-be-created-here", "hall", 1, &other) == HALLPASS_SYSTEM);
    CHECK(hallpass_last_errno() != 0);
    CHECK(hallpass_resize(hall, 0) == HALLPASS_BAD_ARGUMENT);

    hallpass_pass *held = acquire(hall), *none = NULL;
    CHECK(hallpass_remove(folder, hallpass_name(hall), false) == HALLPASS_IN_USE);
    hallpass_release(held);
    CHECK(hallpass_describe_as(hall, "a test") == HALLPASS_OK);
    CHECK(hallpass_remove(folder, hallpass_name(hall), false) == HALLPASS_OK);
    CHECK(hallpass_acquire(hall, &none) == HALLPASS_CLOSED && none == NULL);
    hallpass_free(hall);

    CHECK(strcmp(hallpass_result_text(HALLPASS_OK), "success") == 0);
    for (int result = HALLPASS_OK; result <= HALLPASS_INTERNAL; result++)
        CHECK(strcmp(hallpass_result_text(result), "unknown result") != 0);
    CHECK(strcmp(hallpass_result_text(99), "unknown result") == 0);
    CHECK(strchr(hallpass_version(), '.') != NULL);
}

static void null_is_an_error_and_not_a_crash(void) {
    hallpass_hall *hall = (hallpass_hall *)&hall;
    hallpass_pass *pass = NULL;
    CHECK(hallpass_open(folder, NULL, 1, &hall) == HALLPASS_BAD_ARGUMENT && hall == NULL);
    hall = open_hall(1);
    CHECK(hallpass_open(folder, "x", 1, NULL) == HALLPASS_BAD_ARGUMENT);
    CHECK(strstr(hallpass_last_error(), "NULL") != NULL);
    CHECK(hallpass_acquire(NULL, &pass) == HALLPASS_BAD_ARGUMENT);
    CHECK(hallpass_acquire(hall, NULL) == HALLPASS_BAD_ARGUMENT && hallpass_available(hall) == 1);
    CHECK(hallpass_lifeline(NULL, NULL) == HALLPASS_BAD_ARGUMENT);
    CHECK(hallpass_resize(NULL, 1) == HALLPASS_BAD_ARGUMENT && hallpass_close(NULL) == HALLPASS_BAD_ARGUMENT);
    CHECK(hallpass_reap(NULL, NULL) == HALLPASS_BAD_ARGUMENT && hallpass_reap(hall, NULL) == HALLPASS_OK);
    CHECK(hallpass_slots(NULL) == 0 && hallpass_name(NULL) == NULL && hallpass_slot(NULL) == SIZE_MAX);
    CHECK(hallpass_holders(NULL, NULL, 0) == 0 && hallpass_waiters(hall, NULL, 5) == 0);
    hallpass_release(NULL);
    hallpass_leave_to_lifeline(NULL);
    hallpass_free(NULL);
    check_that_all_slots_are_free(hall);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    folder = argv[1];
#define RUN(behaviour) (behaviour(), puts("ok  " #behaviour), fflush(stdout))
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
    RUN(a_killed_process_frees_its_slot);
    RUN(a_forked_child_does_not_free_the_slot_of_its_parent);
    RUN(a_slot_left_to_its_lifeline_is_taken_until_the_last_process_closes_it);
    RUN(a_pass_outlives_the_handle_of_its_hall);
    RUN(an_array_that_is_too_small_gets_only_what_fits);
    RUN(errors_have_results_and_texts);
    RUN(null_is_an_error_and_not_a_crash);
    return 0;
}
