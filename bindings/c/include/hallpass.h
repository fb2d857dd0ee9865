/* libhallpass: at most k processes of one machine at once, each with its own slot number.
 *
 * Generated from bindings/c/src; do not edit. SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef HALLPASS_H
#define HALLPASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The size of `hallpass_participant.command`, including the zero byte at the end.
 */
#define HALLPASS_COMMAND_SIZE 184

/**
 * Result of a function that can fail. 0 is success.
 */
typedef enum hallpass_result {
  /**
   * Success.
   */
  HALLPASS_OK = 0,
  /**
   * No slot is free or others wait for one. With a time limit: no slot was free in time.
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
   * The hall has a different number of slots.
   */
  HALLPASS_SLOTS_MISMATCH = 4,
  /**
   * An argument is not allowed: a null pointer, a name or number that no hall can have, or a string that is not
   * UTF-8.
   */
  HALLPASS_BAD_ARGUMENT = 5,
  /**
   * The hall has holders or waiters, so it was not removed.
   */
  HALLPASS_IN_USE = 6,
  /**
   * The hall has no room for another holder or waiter.
   */
  HALLPASS_FULL = 7,
  /**
   * The file is not a hall, is damaged, or has another version.
   */
  HALLPASS_DAMAGED = 8,
  /**
   * A call to the operating system failed. `hallpass_last_errno` returns the reason.
   */
  HALLPASS_SYSTEM = 9,
  /**
   * The library itself has a bug.
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
   * The PID of the process in its own PID namespace.
   */
  uint32_t pid;
  /**
   * The ID of the user who runs the process.
   */
  uint32_t uid;
  /**
   * The time at which a holder got its slot or a waiter joined the queue, in nanoseconds since 1970.
   */
  int64_t since;
  /**
   * Whether the process still runs.
   */
  bool alive;
  /**
   * The command that the process runs, truncated to fit. The text ends with a zero byte.
   */
  char command[HALLPASS_COMMAND_SIZE];
} hallpass_participant;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Opens the hall `name`, or creates it with `slots` slots. With 0 slots, the hall must exist.
 *
 * `directory` is the directory that contains the hall. `NULL` stands for the default directory of this user.
 * `hallpass_free` closes the handle.
 *
 * # Safety
 * `directory` is `NULL` or a NUL-terminated string. `name` is a NUL-terminated string. `hall` is valid for a write.
 */
enum hallpass_result hallpass_open(const char *directory,
                                   const char *name,
                                   size_t slots,
                                   struct hallpass_hall **hall);

/**
 * Opens or creates a hall that all users share, in `/run/lock/hallpass`. See `hallpass_open`.
 *
 * # Safety
 * `name` is a NUL-terminated string, and `hall` is valid for a write.
 */
enum hallpass_result hallpass_open_system(const char *name,
                                          size_t slots,
                                          struct hallpass_hall **hall);

/**
 * Closes a handle. The hall itself stays, and passes of the hall stay valid. Does nothing for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle that was not closed. No other thread uses it.
 */
void hallpass_free(struct hallpass_hall *hall);

/**
 * Removes the hall `name`. With `force`, it also removes a hall that is in use or damaged.
 *
 * # Safety
 * `directory` is `NULL` or a NUL-terminated string. `name` is a NUL-terminated string.
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
 * Takes a slot if one is free and nobody waits. Returns `HALLPASS_NO_SLOT` otherwise.
 *
 * # Safety
 * `hall` is a handle, and `pass` is valid for a write.
 */
enum hallpass_result hallpass_try_acquire(const struct hallpass_hall *hall,
                                          struct hallpass_pass **pass);

/**
 * Waits until a slot is free and takes it. Returns `HALLPASS_NO_SLOT` if no slot is free within `milliseconds`.
 *
 * # Safety
 * `hall` is a handle, and `pass` is valid for a write.
 */
enum hallpass_result hallpass_acquire_for(const struct hallpass_hall *hall,
                                          uint64_t milliseconds,
                                          struct hallpass_pass **pass);

/**
 * Closes the lifelines (see `hallpass_lifeline`) that a forked child has inherited, so that the slots of its parent
 * become free when the parent dies. Call it in the child, before the child uses the hall. Without this call, the child
 * has the lifelines open until it execs or exits. Does nothing for `NULL`, and in a process that opened the hall
 * itself.
 *
 * # Safety
 * `hall` is `NULL` or a handle.
 */
void hallpass_close_inherited_lifelines(const struct hallpass_hall *hall);

/**
 * Returns the name of the hall. The string is valid until the handle is closed. Returns `NULL` for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle.
 */
const char *hallpass_name(const struct hallpass_hall *hall);

/**
 * Returns the number of slots. Returns 0 for a closed hall and for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle.
 */
size_t hallpass_slots(const struct hallpass_hall *hall);

/**
 * Returns the number of free slots: a snapshot that may already be stale. Returns 0 for `NULL`.
 *
 * # Safety
 * `hall` is `NULL` or a handle.
 */
size_t hallpass_available(const struct hallpass_hall *hall);

/**
 * Returns the number of waiters: a snapshot that may already be stale. Returns 0 for `NULL`.
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
 * Closes the hall permanently. Waiters and newcomers get `HALLPASS_CLOSED`; holders keep their slots until they
 * leave.
 *
 * # Safety
 * `hall` is a handle.
 */
enum hallpass_result hallpass_close(const struct hallpass_hall *hall);

/**
 * Frees the slots of dead processes. Waiters do this by themselves. The function writes to `dead` how many records of
 * dead processes it removed, unless `dead` is `NULL`.
 *
 * # Safety
 * `hall` is a handle; `dead` is `NULL` or valid for a write.
 */
enum hallpass_result hallpass_reap(const struct hallpass_hall *hall,
                                   size_t *dead);

/**
 * Sets the command that `hallpass status` shows for this process. At most 176 bytes of the command are kept.
 *
 * # Safety
 * `hall` is a handle, and `command` is a NUL-terminated string.
 */
enum hallpass_result hallpass_describe_as(const struct hallpass_hall *hall,
                                          const char *command);

/**
 * Returns the slot of a pass: a number from 0 to the number of slots minus 1 that no other holder has. Returns
 * `SIZE_MAX` for `NULL`.
 *
 * # Safety
 * `pass` is `NULL` or a pass that was not released.
 */
size_t hallpass_slot(const struct hallpass_pass *pass);

/**
 * Frees the slot and the memory of the pass. Does nothing for `NULL`. In a forked child, it frees only the memory,
 * because the slot belongs to the parent.
 *
 * # Safety
 * `pass` is `NULL` or a pass that was not released. No other thread uses it.
 */
void hallpass_release(struct hallpass_pass *pass);

/**
 * Writes the *lifeline* of the pass to `descriptor`. The lifeline is a file descriptor. If this process dies, the slot
 * stays taken while any other process has the lifeline open. But `hallpass_release` frees the slot immediately. The
 * descriptor belongs to the pass and is closed on exec. To hand it to a child process, duplicate it with `dup`, or
 * clear its close-on-exec flag.
 *
 * # Safety
 * `pass` is a pass that was not released, and `descriptor` is valid for a write.
 */
enum hallpass_result hallpass_lifeline(const struct hallpass_pass *pass,
                                       int *descriptor);

/**
 * Frees the memory of the pass, but leaves its slot taken until no process has the lifeline open. This process has
 * the lifeline open until it exits or execs.
 *
 * # Safety
 * `pass` is `NULL` or a pass that was not released. No other thread uses it.
 */
void hallpass_leave_to_lifeline(struct hallpass_pass *pass);

/**
 * Returns a short description of a result: a static string, which stays valid.
 */
const char *hallpass_result_text(int result);

/**
 * Returns the message of the last error of this thread. It says what happened and, in many cases, what to do. It has
 * at most 1023 bytes. The string is valid until the thread ends. If another function of this library fails in this
 * thread, the string changes.
 */
const char *hallpass_last_error(void);

/**
 * Returns the `errno` of the last error of this thread, or 0 if that error has no `errno`.
 */
int hallpass_last_errno(void);

/**
 * Returns the version of the library, such as `0.1.0`.
 */
const char *hallpass_version(void);

/**
 * Writes at most `room` holders of a hall to the array `holders`, ordered by slot. Returns the number of all holders,
 * which may be larger than `room`. `holders` may be `NULL` if `room` is 0.
 *
 * # Safety
 * `hall` is `NULL` or a handle; `holders` is valid for `room` writes.
 */
size_t hallpass_holders(const struct hallpass_hall *hall,
                        struct hallpass_participant *holders,
                        size_t room);

/**
 * Writes at most `room` waiters of a hall to the array `waiters`, in the order in which they get a slot. Returns the
 * number of all waiters, which may be larger than `room`. `waiters` may be `NULL` if `room` is 0.
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
