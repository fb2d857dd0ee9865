"""Halls and passes in one process."""

import gc
import os
import pickle
import threading
import time
from datetime import datetime, timezone

import pytest
from conftest import DEADLINE, eventually

import hallpass_slots
from hallpass_slots import Hall


def test_a_with_statement_holds_a_slot_and_frees_it(hall):
    with hall.acquire() as p:
        assert p.slot == 0 and p.held
        assert hall.available == 1
    assert not p.held and hall.available == 2


def test_an_exception_in_the_with_statement_frees_the_slot_and_is_raised(hall):
    with pytest.raises(ZeroDivisionError):
        with hall.acquire():
            1 / 0
    assert hall.available == 2


def test_holders_have_distinct_slots_and_get_the_smallest_free_one(hall):
    first, second = hall.acquire(), hall.acquire()
    assert (first.slot, second.slot) == (0, 1)
    first.release()
    assert hall.acquire().slot == 0
    second.release()


def test_try_acquire_returns_none_if_no_slot_is_free(one):
    held = one.try_acquire()
    assert held is not None and one.try_acquire() is None
    held.release()
    assert one.try_acquire() is not None


def test_a_caller_that_times_out_leaves_the_queue(one):
    with one.acquire():
        for timeout in (0, 0.05):
            with pytest.raises(hallpass_slots.Timeout, match="no slot of hall `one` was free"):
                one.acquire(timeout)
        eventually("no one waits", lambda: one.waiting == 0)
    with pytest.raises(TimeoutError):  # the exception is also a TimeoutError
        with one.acquire(), one.acquire(timeout=0.01):
            pass
    assert one.acquire(timeout=5).held


@pytest.mark.parametrize("timeout", [-1, float("nan"), -0.001])
def test_a_negative_or_nan_time_limit_is_refused(one, timeout):
    with pytest.raises(ValueError, match="at least 0"):
        one.acquire(timeout)


def test_a_huge_time_limit_is_no_limit(one):
    assert one.acquire(timeout=float("inf")).held


def test_releasing_twice_frees_the_slot_once(hall):
    first = hall.acquire()
    first.release()
    second = hall.acquire()
    assert second.slot == first.slot
    first.release()
    assert second.held and hall.available == 1


def test_a_collected_pass_frees_its_slot(one):
    one.acquire()
    gc.collect()
    assert one.available == 1


def test_waiters_get_their_slot_in_the_order_of_their_arrival(one):
    order, threads = [], []

    def passage(number):
        with one.acquire():
            order.append(number)

    with one.acquire():
        for number in range(8):
            threads.append(threading.Thread(target=passage, args=(number,)))
            threads[-1].start()
            eventually("the thread waits", lambda: one.waiting == number + 1)
    for thread in threads:
        thread.join(DEADLINE)
    assert order == list(range(8))


def test_at_most_two_threads_hold_a_slot_at_once(hall):
    inside, most, lock = 0, 0, threading.Lock()

    def passages():
        nonlocal inside, most
        for _ in range(50):
            with hall.acquire():
                with lock:
                    inside += 1
                    most = max(most, inside)
                time.sleep(0)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=passages) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert most <= 2 and inside == 0 and hall.available == 2


def test_other_threads_run_while_one_waits(one):
    with one.acquire():
        waiter = threading.Thread(target=lambda: one.acquire().release())
        waiter.start()
        eventually("the thread waits", lambda: one.waiting == 1)
        # If the waiter kept the GIL, this thread would not get here.
        assert waiter.is_alive()
    waiter.join(DEADLINE)
    assert not waiter.is_alive()


def test_status_lists_holders_and_waiters(one):
    one.describe_as("nightly run")
    before = datetime.now(timezone.utc).timestamp()
    with one.acquire():
        waiter = threading.Thread(target=lambda: one.acquire().release())
        waiter.start()
        eventually("the thread waits", lambda: one.waiting == 1)
        status = one.status()
    waiter.join(DEADLINE)
    (holder,), (waiting,) = status.holders, status.waiters
    assert (status.name, status.slots, status.closed) == ("one", 1, False)
    assert (holder.slot, holder.pid, holder.uid, holder.alive) == (0, os.getpid(), os.getuid(), True)
    assert holder.command == "nightly run"
    assert abs(holder.since.timestamp() - before) < DEADLINE
    assert waiting.slot is None and waiting.pid == os.getpid()


def test_resizing_serves_waiters(one):
    with one.acquire():
        got = []
        waiter = threading.Thread(target=lambda: got.append(one.acquire()))
        waiter.start()
        eventually("the thread waits", lambda: one.waiting == 1)
        one.resize(2)
        waiter.join(DEADLINE)
        assert got[0].slot == 1 and one.slots == 2


def test_closing_ends_all_waits(one):
    held, errors = one.acquire(), []

    def wait():
        try:
            one.acquire()
        except hallpass_slots.HallError as error:
            errors.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    eventually("the thread waits", lambda: one.waiting == 1)
    one.close()
    waiter.join(DEADLINE)
    assert isinstance(errors[0], hallpass_slots.Closed) and one.closed and one.slots == 0
    with pytest.raises(hallpass_slots.Closed):
        one.try_acquire()
    held.release()


def test_a_decorated_function_holds_a_slot_and_gets_its_number(hall):
    @hall.limited(slot_argument="device")
    def train(config, device):
        """Trains."""
        return config, device, hall.available

    assert train("a") == ("a", 0, 1)
    assert train.__doc__ == "Trains." and hall.available == 2


def test_a_decorated_function_honours_its_time_limit(one):
    work = one.limited(timeout=0.01)(lambda: None)
    with one.acquire(), pytest.raises(hallpass_slots.Timeout):
        work()
    # The thread that waited leaves the queue soon after the time limit.
    eventually("the slot is free", lambda: one.available == 1 and one.waiting == 0)
    work()


def test_errors_say_what_to_do(tmp_path):
    Hall("gpu", 4)
    with pytest.raises(hallpass_slots.SlotsMismatch, match="4"):
        Hall("gpu", 5)
    with pytest.raises(hallpass_slots.Missing, match="there is no hall `nothing`"):
        Hall("nothing")
    for slots in (0, hallpass_slots.MAX_SLOTS + 1):
        with pytest.raises(hallpass_slots.BadArgument):
            Hall("other", slots)
    with pytest.raises(ValueError):
        Hall("../escape", 1)
    with pytest.raises(ValueError, match="two directories"):
        Hall("gpu", 1, directory=tmp_path, system=True)
    (tmp_path / "gpu").write_text("not a hall")
    with pytest.raises(hallpass_slots.Damaged, match="hallpass rm --force"):
        Hall("gpu", 1, directory=tmp_path)
    with pytest.raises(OSError) as caught:
        Hall("gpu", 1, directory="/proc/nothing-can-be-created-here")
    assert isinstance(caught.value, hallpass_slots.HallError) and caught.value.errno


def test_halls_in_another_directory_are_separate_halls(tmp_path):
    mine = Hall("gpu", 2, directory=tmp_path)
    assert mine.directory == tmp_path and not mine.system
    assert hallpass_slots.names(directory=tmp_path) == ["gpu"] and hallpass_slots.names() == []


def test_a_hall_is_removed_if_it_is_not_in_use(one):
    with one.acquire():
        with pytest.raises(hallpass_slots.InUse):
            hallpass_slots.remove("one")
    hallpass_slots.remove("one")
    assert hallpass_slots.names() == []
    with pytest.raises(hallpass_slots.Missing):
        hallpass_slots.remove("one", force=True)


def test_a_pickled_hall_is_the_same_hall(one):
    other = pickle.loads(pickle.dumps(one))
    with one.acquire():
        assert other.try_acquire() is None
    assert other.try_acquire() is not None


def test_a_pass_cannot_be_pickled(one):
    with one.acquire() as p, pytest.raises(TypeError, match="acquire there"):
        pickle.dumps(p)


def test_everything_public_has_a_docstring():
    for name in hallpass_slots.__all__:
        item = getattr(hallpass_slots, name)
        assert isinstance(item, int) or item.__doc__, name
        for member, value in vars(item).items() if isinstance(item, type) else ():
            if callable(value) and not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"
