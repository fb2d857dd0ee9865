"""Several slots for one caller."""

import asyncio
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import DEADLINE, eventually

import hallpass_slots
from hallpass_slots import Hall


@pytest.fixture
def three():
    """A hall with three slots."""
    return Hall("three", 3)


def test_several_slots_are_distinct_and_are_freed_together(three):
    with three.acquire_many(2) as p:
        assert p.slots == (0, 1) and p.held and p.hall == "three"
        assert three.available == 1 and three.try_acquire_many(2) is None
        assert three.available == 1  # the failed attempt keeps no slot
    assert not p.held and three.available == 3
    with three.try_acquire_many(3) as p:
        assert p.slots == (0, 1, 2)
    p.release()
    assert three.available == 3


def test_an_impossible_count_is_refused(three):
    for count in (0, -1):
        with pytest.raises(hallpass_slots.BadArgument, match="at least 1"):
            three.acquire_many(count)
    with pytest.raises(hallpass_slots.BadArgument, match="take at most 3"):
        three.try_acquire_many(4)
    with pytest.raises(TypeError):
        three.acquire_many(1.5)
    with pytest.raises(ValueError, match="at least 0"):
        three.acquire_many(2, timeout=-1)


def test_a_caller_that_times_out_keeps_no_slot(three):
    with three.acquire():
        for timeout in (0, 0.05):
            with pytest.raises(hallpass_slots.Timeout, match="3 slots of hall `three`"):
                three.acquire_many(3, timeout)
        eventually("no slot is kept", lambda: three.available == 2 and three.waiting == 0)
    assert three.acquire_many(3, timeout=DEADLINE).slots == (0, 1, 2)


def test_a_caller_that_needs_fewer_slots_does_not_overtake(three):
    order = []

    def passage(count):
        with three.acquire_many(count):
            order.append(count)

    held = three.acquire()
    threads = []
    for waiting, count in ((1, 3), (2, 1)):
        threads.append(threading.Thread(target=passage, args=(count,)))
        threads[-1].start()
        eventually("it waits", lambda: three.waiting == waiting)
    assert three.available == 2  # two slots stay free for the first caller while it waits for the third
    held.release()
    for thread in threads:
        thread.join(DEADLINE)
    assert order == [3, 1] and three.available == 3


def _passages(hall, count, barrier):
    barrier.wait(DEADLINE)
    for _ in range(20):
        with hall.acquire_many(count, timeout=DEADLINE) as p:
            assert len(set(p.slots)) == count


def test_callers_that_need_several_slots_do_not_block_each_other(three):
    # Each process needs two of the three slots. If three processes held one slot each, they would deadlock.
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    workers = [context.Process(target=_passages, args=(three, 2, barrier)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(DEADLINE)
    assert [worker.exitcode for worker in workers] == [0] * 4
    three.reap()
    assert three.available == 3


def test_threads_that_need_several_slots_do_not_block_each_other(three):
    finished = []

    def passages():
        for _ in range(10):
            with three.acquire_many(2, timeout=DEADLINE):
                time.sleep(0)
        finished.append(True)

    threads = [threading.Thread(target=passages) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert len(finished) == 4 and three.available == 3


def _fails(three, error, during_wait):
    """Waits for three slots in a thread, and returns the exception that ends the wait."""
    errors, held = [], three.acquire()

    def wait():
        try:
            three.acquire_many(3)
        except error as raised:
            errors.append(raised)

    thread = threading.Thread(target=wait)
    thread.start()
    eventually("it waits", lambda: three.waiting == 1)
    during_wait()
    thread.join(DEADLINE)
    held.release()
    return errors


def test_a_hall_that_shrinks_during_the_wait_refuses(three):
    assert _fails(three, hallpass_slots.BadArgument, lambda: three.resize(2))
    eventually("no slot is kept", lambda: three.available == 2)


def test_a_hall_that_closes_during_the_wait_refuses(three):
    assert _fails(three, hallpass_slots.Closed, three.close)


def test_a_killed_process_frees_all_its_slots(three):
    script = 'import os; from hallpass_slots import Hall; p = Hall("three").acquire_many(3); os.kill(os.getpid(), 9)'
    assert subprocess.run([sys.executable, "-c", script]).returncode == -signal.SIGKILL
    assert three.acquire_many(3, timeout=DEADLINE).slots == (0, 1, 2)


def test_ctrl_c_ends_the_wait_and_keeps_no_slot(three):
    script = textwrap.dedent("""
        import signal
        from hallpass_slots import Hall
        signal.signal(signal.SIGINT, signal.default_int_handler)
        hall = Hall("three")
        try:
            hall.acquire_many(3)
        except KeyboardInterrupt:
            while hall.waiting or hall.available < 2:
                pass
            print("interrupted", flush=True)
    """)
    with three.acquire():
        waiter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        eventually("it waits", lambda: three.waiting == 1)
        waiter.send_signal(signal.SIGINT)
        assert waiter.communicate(timeout=DEADLINE)[0] == "interrupted\n"


def test_a_signal_handler_may_fork_during_the_wait(three):
    script = textwrap.dedent("""
        import os, signal
        from hallpass_slots import Hall
        signal.signal(signal.SIGUSR1, lambda *_: os.fork())
        with Hall("three").acquire_many(3):
            os.write(1, b"in\\n")
    """)
    with three.acquire():
        waiter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        eventually("it waits", lambda: three.waiting == 1)
        waiter.send_signal(signal.SIGUSR1)
        eventually("the child waits too", lambda: three.waiting == 2)
    assert waiter.communicate(timeout=DEADLINE)[0] == "in\nin\n"


def test_a_forked_child_holds_none_of_the_slots(three):
    with three.acquire_many(2) as p:
        pid = os.fork()
        if pid == 0:
            p.release()
            os._exit(1 if p.held else 7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        assert p.held and three.available == 1


def test_passes_cannot_be_pickled(three):
    with three.acquire_many(2) as p, pytest.raises(TypeError, match="acquire there"):
        pickle.dumps(p)


def test_tasks_take_several_slots(three):
    async def main():
        order = []

        async def passage(number):
            async with three.acquire_many_async(2) as p:
                order.append((number, p.slots))
                await asyncio.sleep(0)

        await asyncio.wait_for(asyncio.gather(*(passage(number) for number in range(8))), DEADLINE)
        assert len(order) == 8 and three.available == 3
        with pytest.raises(hallpass_slots.BadArgument):
            await three.acquire_many_async(4)

    asyncio.run(main())


def test_a_cancelled_task_keeps_no_slot(three):
    async def main():
        with three.acquire():
            task = asyncio.ensure_future(three.acquire_many_async(3))
            while three.waiting == 0:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(hallpass_slots.Timeout):
                await three.acquire_many_async(3, timeout=0.05)
        eventually("no slot is kept", lambda: three.available == 3 and three.waiting == 0)

    asyncio.run(main())


def test_a_task_with_no_time_to_wait_takes_free_slots(three):
    async def main():
        assert (await three.acquire_many_async(2, timeout=0)).slots == (0, 1)

    asyncio.run(main())


def test_a_task_that_is_cancelled_as_its_slots_become_free_keeps_none(three):
    async def main():
        for turns in range(8):
            held = three.acquire()
            task = asyncio.ensure_future(three.acquire_many_async(3))
            while three.waiting < 1:
                await asyncio.sleep(0.001)
            held.release()
            eventually("the task has its slots", lambda: three.available == 0)
            time.sleep(0.02)  # now the event loop has something to read
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            done, _ = await asyncio.wait({task}, timeout=5)
            assert done, f"after {turns} turns of the event loop"
            if not task.cancelled():
                task.result().release()  # the task had its slots before it was cancelled
            eventually("no slot is kept", lambda: three.available == 3 and three.waiting == 0)

    asyncio.run(main())
