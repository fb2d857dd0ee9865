/* Helpers that the tests in C share. */

#ifndef HALLPASS_TEST_SUPPORT_H
#define HALLPASS_TEST_SUPPORT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
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

/* The folder of the halls. */
extern const char *folder;
/* The number of halls that the tests have opened. */
extern int halls_opened;

static inline hallpass_hall *open_hall(size_t slots) {
    char name[32];
    snprintf(name, sizeof name, "hall-%d", halls_opened++);
    hallpass_hall *hall = NULL;
    CHECK(hallpass_open(folder, name, slots, &hall) == HALLPASS_OK);
    return hall;
}

static inline hallpass_pass *acquire(hallpass_hall *hall) {
    hallpass_pass *pass = NULL;
    CHECK(hallpass_acquire(hall, &pass) == HALLPASS_OK && pass != NULL);
    return pass;
}

static inline hallpass_pass *try_acquire(hallpass_hall *hall) {
    hallpass_pass *pass = NULL;
    CHECK(hallpass_try_acquire(hall, &pass) == HALLPASS_OK && pass != NULL);
    return pass;
}

static inline hallpass_result refusal(hallpass_hall *hall) {
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

/* The number of waiters that have been served. */
extern atomic_int served;

static inline void *wait_for_slot(void *argument) {
    waiter *me = argument;
    me->result = me->milliseconds == UINT64_MAX ? hallpass_acquire(me->hall, &me->pass)
                                                : hallpass_acquire_for(me->hall, me->milliseconds, &me->pass);
    atomic_store(&me->order, atomic_fetch_add(&served, 1));
    atomic_store(&me->done, true);
    return NULL;
}

/* Starts a waiter and returns when it is in the queue. */
static inline void enqueue(waiter *one, hallpass_hall *hall, uint64_t milliseconds) {
    size_t before = hallpass_waiting(hall);
    *one = (waiter){.hall = hall, .milliseconds = milliseconds};
    CHECK(pthread_create(&one->thread, NULL, wait_for_slot, one) == 0);
    EVENTUALLY(hallpass_waiting(hall) == before + 1);
}

static inline hallpass_result join(waiter *one) {
    EVENTUALLY(atomic_load(&one->done));
    CHECK(pthread_join(one->thread, NULL) == 0);
    return one->result;
}

static inline void check_that_all_slots_are_free(hallpass_hall *hall) {
    CHECK(hallpass_available(hall) == hallpass_slots(hall) && hallpass_waiting(hall) == 0);
    hallpass_free(hall);
}

#define RUN(behaviour) (behaviour(), puts("ok  " #behaviour), fflush(stdout))

/* Runs the tests in interface.c. */
void test_interface(void);

#endif
