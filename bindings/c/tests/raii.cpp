// Tests of the C++ header: passes and halls free themselves, and errors are exceptions. Usage: raii FOLDER.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "hallpass.hpp"

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);    \
            std::exit(1);                                                                   \
        }                                                                                   \
    } while (0)

// Objects that were moved from hold nothing: every call is harmless or throws.
static void misuse(const char *folder) {
    hallpass::hall hall(folder, "misuse", 1);
    auto pass = hall.acquire();
    auto other = std::move(pass);
    CHECK(pass.slot() == SIZE_MAX && pass.get() == nullptr && other.slot() == 0); // NOLINT: used after a move
    pass.release();
    auto &alias = other;
    other = std::move(alias);
    hall.close_inherited_lifelines(); // does nothing in a process that was not forked
    CHECK(other.slot() == 0 && hall.available() == 0);
    other.release();
    other.release();
    CHECK(hall.available() == 1);
    CHECK(hall.try_acquire_for(std::chrono::milliseconds(-5)));
    CHECK(hall.try_acquire_for(std::chrono::milliseconds::max()));

    auto taken = std::move(hall);
    CHECK(hall.name().empty() && hall.slots() == 0 && hall.holders().empty()); // NOLINT: used after a move
    try {
        (void)hall.acquire();
        CHECK(false);
    } catch (const hallpass::error &error) {
        CHECK(error.result() == HALLPASS_BAD_ARGUMENT && error.system_errno() == 0);
    }
    try {
        hallpass::hall cut(folder, std::string("misuse\0more", 11), 1);
        CHECK(false);
    } catch (const std::invalid_argument &) {
    }
    try {
        hallpass::hall missing(folder, "no-such-hall", 0);
        CHECK(false);
    } catch (const hallpass::error &error) {
        CHECK(error.result() == HALLPASS_MISSING);
    }
    auto outlives = taken.acquire();
    { auto gone = std::move(taken); }
    CHECK(outlives.slot() == 0);
    try {
        auto none = hallpass::hall(folder, "misuse", 0).try_acquire();
        CHECK(!none);
        outlives.release();
        auto freed_by_the_exception = hallpass::hall(folder, "misuse", 0).acquire();
        throw 1;
    } catch (int) {
    }
    CHECK(hallpass::hall(folder, "misuse", 0).available() == 1);
    std::puts("ok  misuse");
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    hallpass::hall hall(argv[1], "raii", 2);
    {
        auto first = hall.acquire();
        auto second = hall.try_acquire();
        CHECK(second && first.slot() == 0 && second->slot() == 1);
        CHECK(!hall.try_acquire() && !hall.try_acquire_for(std::chrono::milliseconds(5)));
        CHECK(hall.holders().size() == 2 && hall.waiters().empty());

        auto moved = std::move(first);
        CHECK(moved.slot() == 0 && hall.available() == 0);
        *second = std::move(moved); // frees slot 1
        CHECK(second->slot() == 0 && hall.available() == 1);
        std::thread([pass = std::move(*second)]() mutable { pass.release(); }).join();
        CHECK(hall.available() == 2);
    }
    CHECK(hall.available() == 2 && hall.name() == "raii" && hall.slots() == 2);
    try {
        hallpass::hall other(argv[1], "raii", 3);
        CHECK(false);
    } catch (const hallpass::error &error) {
        CHECK(error.result() == HALLPASS_SLOTS_MISMATCH && error.what()[0] != 0);
    }
    hallpass::hall moved = std::move(hall);
    moved.resize(1);
    moved.close();
    try {
        (void)moved.acquire();
        CHECK(false);
    } catch (const hallpass::error &error) {
        CHECK(error.result() == HALLPASS_CLOSED);
    }
    std::puts("ok  raii");
    misuse(argv[1]);
}
