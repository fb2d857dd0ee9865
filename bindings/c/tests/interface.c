/* Tests of the C interface, and of halls that several processes use. */

#include "support.h"

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

/* Starts a thread that waits for a slot, and then forks a child. The child closes the lifelines that it has inherited,
 * and lives until it is killed. */
static pid_t child_that_outlives_its_parent(hallpass_hall *hall) {
    waiter one;
    enqueue(&one, hall, UINT64_MAX);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        hallpass_close_inherited_lifelines(hall);
        for (;;) pause();
    }
    return child;
}

static void a_child_that_closes_its_lifelines_keeps_no_slot_of_its_killed_parent_taken(void) {
    hallpass_hall *hall = open_hall(1);
    int pids[2];
    pid_t child = 0;
    CHECK(pipe(pids) == 0);
    pid_t parent = fork();
    CHECK(parent >= 0);
    if (parent == 0) {
        acquire(hall);
        child = child_that_outlives_its_parent(hall);
        CHECK(write(pids[1], &child, sizeof child) == sizeof child);
        for (;;) pause();
    }
    CHECK(read(pids[0], &child, sizeof child) == sizeof child);
    CHECK(refusal(hall) == HALLPASS_NO_SLOT);
    CHECK(kill(parent, SIGKILL) == 0 && waitpid(parent, NULL, 0) == parent);
    hallpass_pass *pass = NULL;
    hallpass_result result = hallpass_acquire_for(hall, 20000, &pass);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(result == HALLPASS_OK);
    /* In a process that was not forked, the call changes nothing. */
    hallpass_close_inherited_lifelines(hall);
    CHECK(hallpass_reap(hall, NULL) == HALLPASS_OK && refusal(hall) == HALLPASS_NO_SLOT);
    hallpass_release(pass);
    CHECK(close(pids[0]) == 0 && close(pids[1]) == 0);
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
    other = (hallpass_hall *)&other;
    CHECK(hallpass_open("", "hall", 1, &other) == HALLPASS_BAD_ARGUMENT && other == NULL);
    other = (hallpass_hall *)&other;
    CHECK(hallpass_open("\xff", "hall", 1, &other) == HALLPASS_BAD_ARGUMENT && other == NULL);
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

static void the_message_of_an_error_stays_readable_after_the_next_error(void) {
    hallpass_hall *hall = NULL;
    char long_name[5000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    CHECK(hallpass_open(folder, "no-such-hall", 0, &hall) == HALLPASS_MISSING);
    const char *first = hallpass_last_error();
    CHECK(hallpass_open(long_name, "hall", 1, &hall) == HALLPASS_SYSTEM);
    CHECK(strlen(first) > 0 && strlen(hallpass_last_error()) == 1023);
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
    hallpass_close_inherited_lifelines(NULL);
    hallpass_release(NULL);
    hallpass_leave_to_lifeline(NULL);
    hallpass_free(NULL);
    check_that_all_slots_are_free(hall);
}

void test_interface(void) {
    RUN(a_killed_process_frees_its_slot);
    RUN(a_forked_child_does_not_free_the_slot_of_its_parent);
    RUN(a_child_that_closes_its_lifelines_keeps_no_slot_of_its_killed_parent_taken);
    RUN(a_slot_left_to_its_lifeline_is_taken_until_the_last_process_closes_it);
    RUN(a_pass_outlives_the_handle_of_its_hall);
    RUN(an_array_that_is_too_small_gets_only_what_fits);
    RUN(errors_have_results_and_texts);
    RUN(the_message_of_an_error_stays_readable_after_the_next_error);
    RUN(null_is_an_error_and_not_a_crash);
}
