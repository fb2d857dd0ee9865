/* hallpass for C++17: halls and passes that free themselves. Link with libhallpass.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef HALLPASS_HPP
#define HALLPASS_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hallpass.h"

namespace hallpass {

/** Error that a function of hallpass throws. `what()` says what happened and, in many cases, what to do. */
class error : public std::runtime_error {
public:
    explicit error(hallpass_result result)
        : std::runtime_error(hallpass_last_error()), result_(result), errno_(hallpass_last_errno()) {}

    /** Returns the result that the C function returned. */
    hallpass_result result() const noexcept { return result_; }

    /** Returns the `errno` behind `HALLPASS_SYSTEM`, or 0. */
    int system_errno() const noexcept { return errno_; }

private:
    hallpass_result result_;
    int errno_;
};

/** Throws an `error` unless the result is success. */
inline void check(hallpass_result result) {
    if (result != HALLPASS_OK) throw error(result);
}

/** Returns the text for a C function. Throws `std::invalid_argument` if the text contains a NUL character, where C would
 * cut it off. */
inline const char *c_text(const std::string &text) {
    if (text.find('\0') != std::string::npos)
        throw std::invalid_argument("the name or directory of a hall must not contain a NUL character");
    return text.c_str();
}

/** A slot that this process holds until the object is destroyed. */
class pass {
public:
    explicit pass(hallpass_pass *handle) noexcept : handle_(handle) {}
    pass(pass &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    pass &operator=(pass &&other) noexcept {
        if (this != &other) {
            release();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    pass(const pass &) = delete;
    pass &operator=(const pass &) = delete;
    ~pass() { release(); }

    /** Returns the slot, a number that no other holder has. */
    std::size_t slot() const noexcept { return hallpass_slot(handle_); }

    /** Frees the slot early. */
    void release() noexcept { hallpass_release(std::exchange(handle_, nullptr)); }

    /** Returns the C handle. */
    hallpass_pass *get() const noexcept { return handle_; }

private:
    hallpass_pass *handle_;
};

/** A hall that this process has open. Threads may share it. */
class hall {
public:
    /** Opens a hall of this user, or creates it. With 0 slots, the hall must exist. */
    explicit hall(const std::string &name, std::size_t slots = 0) {
        check(hallpass_open(nullptr, c_text(name), slots, &handle_));
    }

    /** Opens a hall in another directory, or creates it. */
    hall(const std::string &directory, const std::string &name, std::size_t slots) {
        check(hallpass_open(c_text(directory), c_text(name), slots, &handle_));
    }

    hall(hall &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    hall &operator=(hall &&other) noexcept {
        if (this != &other) {
            hallpass_free(handle_);
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    hall(const hall &) = delete;
    hall &operator=(const hall &) = delete;
    ~hall() { hallpass_free(handle_); }

    /** Waits until a slot is free and takes it. */
    [[nodiscard]] pass acquire() const {
        hallpass_pass *held = nullptr;
        check(hallpass_acquire(handle_, &held));
        return pass(held);
    }

    /** Takes a slot if one is free and nobody waits. Returns `nullopt` otherwise. */
    [[nodiscard]] std::optional<pass> try_acquire() const {
        hallpass_pass *held = nullptr;
        const hallpass_result result = hallpass_try_acquire(handle_, &held);
        return taken(result, held);
    }

    /** Waits until a slot is free and takes it. Returns `nullopt` if no slot is free within `time`. */
    [[nodiscard]] std::optional<pass> try_acquire_for(std::chrono::milliseconds time) const {
        hallpass_pass *held = nullptr;
        auto count = time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
        const hallpass_result result = hallpass_acquire_for(handle_, count, &held);
        return taken(result, held);
    }

    /** Returns the name of the hall, or an empty string if the object was moved from. */
    std::string name() const {
        const char *text = hallpass_name(handle_);
        return text == nullptr ? std::string() : std::string(text);
    }
    /** Returns the number of slots, or 0 if the hall is closed. */
    std::size_t slots() const noexcept { return hallpass_slots(handle_); }
    /** Returns the number of free slots: a snapshot that may already be stale. */
    std::size_t available() const noexcept { return hallpass_available(handle_); }
    /** Returns the number of waiters: a snapshot that may already be stale. */
    std::size_t waiting() const noexcept { return hallpass_waiting(handle_); }

    /** Changes the number of slots while the hall is in use. */
    void resize(std::size_t slots) const { check(hallpass_resize(handle_, slots)); }

    /** Closes the hall permanently. Waiters and newcomers get `HALLPASS_CLOSED`; holders keep their slots. */
    void close() const { check(hallpass_close(handle_)); }

    /** Returns the holders at this moment, ordered by slot. */
    std::vector<hallpass_participant> holders() const { return list(hallpass_holders); }

    /** Returns the waiters at this moment, in the order in which they get a slot. */
    std::vector<hallpass_participant> waiters() const { return list(hallpass_waiters); }

    /** Closes the lifelines that a forked child has inherited, so that the slots of its parent become free when the
     * parent dies. Call it in the child, before the child uses the hall. */
    void close_inherited_lifelines() const noexcept { hallpass_close_inherited_lifelines(handle_); }

    /** Returns the C handle. */
    hallpass_hall *get() const noexcept { return handle_; }

private:
    static std::optional<pass> taken(hallpass_result result, hallpass_pass *held) {
        if (result == HALLPASS_NO_SLOT) return std::nullopt;
        check(result);
        return pass(held);
    }

    template <typename List> std::vector<hallpass_participant> list(List function) const {
        std::vector<hallpass_participant> found(function(handle_, nullptr, 0));
        found.resize(std::min(found.size(), function(handle_, found.data(), found.size())));
        return found;
    }

    hallpass_hall *handle_ = nullptr;
};

} // namespace hallpass

#endif
