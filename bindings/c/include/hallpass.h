/* libhallpass: at most k processes of one machine at once, each with its own slot number.
 *
 * Generated from bindings/c/src; do not edit. SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef HALLPASS_H
#define HALLPASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The size of the text with the command of a participant, with its zero byte.
 */
#define HALLPASS_COMMAND_SIZE 184

/**
 * Result of a function that can fail. 0 is success.
 */
typedef enum hallpass_result {
  /**
   * The function has done what it should.
   */
  HALLPASS_OK = 0,
  /**
   * No slot is free, or others wait for one; with a time limit, the time is over.
   */
  HALLPASS_NO_SLOT = 1,
  /**
   * The hall is closed, or was removed.
   */
  HALLPASS_CLOSED = 2,
  /**
   * There is no hall of this name.
   */
  HALLPASS_MISSING = 3,
  /**
   * The hall has another number of slots.
   */
  HALLPASS_SLOTS_MISMATCH = 4,
  /**
   * An argument is not allowed: a null pointer, a name or number that no hall can have, text that is not
   * UTF-8.
   */
  HALLPASS_BAD_ARGUMENT = 5,
  /**
   * The hall has holders or waiters, so it is not removed.
   */
  HALLPASS_IN_USE = 6,
  /**
   * The hall has no room for another participant.
   */
  HALLPASS_FULL = 7,
  /**
   * The file is not a hall, is damaged, or has another version.
   */
  HALLPASS_DAMAGED = 8,
  /**
   * The operating system refused something; `hallpass_last_errno` has its reason.
   */
  HALLPASS_SYSTEM = 9,
  /**
   * There is a fault in the library.
   */
  HALLPASS_INTERNAL = 10,
} hallpass_result;

/**
 * A hall that this process has open. Threads may share it.
 */
typedef struct hallpass_hall hallpass_hall;

/**
 * A slot that this process holds. `hallpass_release` frees it.
 */
typedef struct hallpass_pass hallpass_pass;

/**
 * A holder or waiter of a hall.
 */
typedef struct hallpass_participant {
  /**
   * The slot of a holder; `SIZE_MAX` for a waiter.
   */
  size_t slot;
  /**
   * The process, as its own PID namespace numbers it.
   */
  uint32_t pid;
  /**
   * The user who runs the process.
   */
  uint32_t uid;
  /**
   * When a holder got its slot, or a waiter joined the queue: nanoseconds since 1970.
   */
  int64_t since;
  /**
   * Whether the process still runs.
   */
  bool alive;
  /**
   * The command that the process runs, cut to the room here; ends with a zero byte.
   */
  char command[HALLPASS_COMMAND_SIZE];
} hallpass_participant;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Opens the hall `name`, or creates it with `slots` slots. With 0 slots, it must exist.
 *
 * `directory` is the directory of the hall; `NULL` stands for this user's. `hallpass_free` closes the handle.
 *
 * # Safety
 * The texts end with a zero byte, and `hall` is valid for a write.
 */
enum hallpass_result hallpass_open(const char *directory,
                                   const char *name,
                                   size_t slots,
                                   struct hallpass_hall **hall);

/**
 * Opens a hall that all users share, in `/run/lock/hallpass`, as `hallpass_open` does.
 *
 * # Safety
 * The text ends with a zero byte, and `hall` is valid for a write.
 */
enum hallpass_result hallpass_open_system(const char *name,
                                          size_t slots,
                                          struct hallpass_hall **hall);

/**
 * Closes a handle. The hall itself stays, and so do passes of it. Does nothing for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle that was not closed. No other thread uses it.
 */
void hallpass_free(struct hallpass_hall *hall);

/**
 * Removes the hall `name`. With `force`, also a hall that is in use or damaged.
 *
 * # Safety
 * The texts end with a zero byte; `directory` may be `NULL`.
 */
enum hallpass_result hallpass_remove(const char *directory, const char *name, bool force);

/**
 * Waits until a slot is free and takes it. Waiters are served in the order of their arrival.
 *
 * # Safety
 * `hall` is a handle, and `pass` is valid for a write.
 */
enum hallpass_result hallpass_acquire(const struct hallpass_hall *hall,
                                      struct hallpass_pass **pass);

/**
 * Takes a slot if one is free and no one waits. Returns `HALLPASS_NO_SLOT` otherwise.
 *
 * # Safety
 * `hall` is a handle, and `pass` is valid for a write.
 */
enum hallpass_result hallpass_try_acquire(const struct hallpass_hall *hall,
                                          struct hallpass_pass **pass);

/**
 * Waits at most this many milliseconds until a slot is free, and takes it. Returns `HALLPASS_NO_SLOT` if
 * the time is over.
 *
 * # Safety
 * `hall` is a handle, and `pass` is valid for a write.
 */
enum hallpass_result hallpass_acquire_for(const struct hallpass_hall *hall,
                                          uint64_t milliseconds,
                                          struct hallpass_pass **pass);

/**
 * Returns the name of the hall, which is valid until the handle is closed, or `NULL` for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle.
 */
const char *hallpass_name(const struct hallpass_hall *hall);

/**
 * Returns the number of slots; 0 if the hall is closed, and for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle.
 */
size_t hallpass_slots(const struct hallpass_hall *hall);

/**
 * Returns the number of free slots; a snapshot that may already be stale. Returns 0 for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle.
 */
size_t hallpass_available(const struct hallpass_hall *hall);

/**
 * Returns the number of waiters; a snapshot that may already be stale. Returns 0 for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle.
 */
size_t hallpass_waiting(const struct hallpass_hall *hall);

/**
 * Changes the number of slots while the hall is in use. Holders of removed slots keep them until they leave.
 *
 * # Safety
 * `hall` is a handle.
 */
enum hallpass_result hallpass_resize(const struct hallpass_hall *hall,
                                     size_t slots);

/**
 * Closes the hall permanently: waiters and newcomers get `HALLPASS_CLOSED`, holders keep their slots until they
 * leave.
 *
 * # Safety
 * `hall` is a handle.
 */
enum hallpass_result hallpass_close(const struct hallpass_hall *hall);

/**
 * Frees the slots of dead processes. Waiters do this by themselves. `dead` gets the number of registrations
 * that were dead; it may be `NULL`.
 *
 * # Safety
 * `hall` is a handle; `dead` is `NULL` or valid for a write.
 */
enum hallpass_result hallpass_reap(const struct hallpass_hall *hall,
                                   size_t *dead);

/**
 * Sets the command that the status shows for this process. At most 176 bytes are kept.
 *
 * # Safety
 * `hall` is a handle, and the text ends with a zero byte.
 */
enum hallpass_result hallpass_describe_as(const struct hallpass_hall *hall, const char *command);

/**
 * Returns the slot of a pass, a number below the number of slots that no other holder has. Returns
 * `SIZE_MAX` for `NULL`.
 *
 * # Safety
 * `pass` is `NULL` or a pass that was not released.
 */
size_t hallpass_slot(const struct hallpass_pass *pass);

/**
 * Frees the slot, and the pass. Does nothing for `NULL`. In a forked child, the slot is the parent's and
 * stays taken.
 *
 * # Safety
 * `pass` is `NULL` or a pass that was not released. No other thread uses it.
 */
void hallpass_release(struct hallpass_pass *pass);

/**
 * Writes a descriptor to `descriptor` that keeps the slot taken while any process has it open. It is closed
 * on exec and belongs to the pass. A child process gets it by `dup`, or if close-on-exec is cleared.
 *
 * # Safety
 * `pass` is a pass that was not released, and `descriptor` is valid for a write.
 */
enum hallpass_result hallpass_lifeline(const struct hallpass_pass *pass,
                                       int *descriptor);

/**
 * Frees the pass and leaves its slot taken until no process has the lifeline open. This process has it open
 * until it exits or execs.
 *
 * # Safety
 * `pass` is `NULL` or a pass that was not released. No other thread uses it.
 */
void hallpass_leave_to_lifeline(struct hallpass_pass *pass);

/**
 * Returns a short text for a result. It is valid forever.
 */
const char *hallpass_result_text(int result);

/**
 * Returns the text of the last error of this thread, which says what to do. It is valid until the next
 * function of this library fails in this thread.
 */
const char *hallpass_last_error(void);

/**
 * Returns the `errno` that belongs to the last error of this thread, or 0 if it has none.
 */
int hallpass_last_errno(void);

/**
 * Returns the version of the library, such as `0.1.0`.
 */
const char *hallpass_version(void);

/**
 * Writes the holders of a hall, ordered by slot, to an array with room for `room` of them. Returns how many
 * there are, which may be more. `holders` may be `NULL` if `room` is 0.
 *
 * # Safety
 * `hall` is `NULL` or a handle; `holders` is valid for `room` writes.
 */
size_t hallpass_holders(const struct hallpass_hall *hall,
                        struct hallpass_participant *holders,
                        size_t room);

/**
 * Writes the waiters of a hall, in the order in which they get a slot, as `hallpass_holders` does.
 *
 * # Safety
 * `hall` is `NULL` or a handle; `waiters` is valid for `room` writes.
 */
size_t hallpass_waiters(const struct hallpass_hall *hall,
                        struct hallpass_participant *waiters,
                        size_t room);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HALLPASS_H */
