"""Halls in asyncio tasks."""

import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest
from conftest import DEADLINE

import hallpass_slots


async def _until(condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


async def _settled(hall, tasks=1):
    """Waits until this number of tasks wait, and the first of them has a position in the hall's queue."""
    (line,) = hall._lines.values()
    await _until(lambda: len(line.waiters) == tasks and hall.waiting == 1)


def test_async_with_holds_a_slot_and_frees_it(one):
    async def main():
        async with one.acquire_async() as p:
            assert p.slot == 0 and one.try_acquire() is None
        assert one.available == 1
        p = await one.acquire_async()
        p.release()

    asyncio.run(main())


def test_tasks_get_their_slot_in_the_order_of_their_arrival(one):
    async def main():
        order = []

        async def passage(number):
            async with one.acquire_async():
                order.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*(passage(number) for number in range(50)))
        assert order == list(range(50)) and one.available == 1

    asyncio.run(main())


def test_tasks_that_hold_passes_have_distinct_slots(hall):
    async def main():
        taken = set()

        async def passage():
            async with hall.acquire_async() as p:
                assert p.slot in (0, 1) and p.slot not in taken
                taken.add(p.slot)
                await asyncio.sleep(0.001)
                taken.remove(p.slot)

        await asyncio.gather(*(passage() for _ in range(40)))
        assert hall.available == 2

    asyncio.run(main())


def test_a_cancelled_task_leaves_the_queue(one):
    async def main():
        async with one.acquire_async():
            task = asyncio.ensure_future(one.acquire_async())
            await asyncio.sleep(0)
            await _settled(one)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await _until(lambda: one.waiting == 0)
        assert one.available == 1

    asyncio.run(main())


def test_the_next_task_takes_over_the_position_of_a_cancelled_task(one):
    async def main():
        held = await one.acquire_async()
        first, second = (asyncio.ensure_future(one.acquire_async()) for _ in range(2))
        await asyncio.sleep(0)
        await _settled(one, tasks=2)
        first.cancel()
        await asyncio.wait([first])
        assert one.waiting == 1
        held.release()
        (await asyncio.wait_for(second, DEADLINE)).release()
        assert one.available == 1

    asyncio.run(main())


def test_a_task_that_is_cancelled_just_after_it_got_its_slot_frees_the_slot(one):
    async def main():
        for _ in range(50):
            held = await one.acquire_async()
            task = asyncio.ensure_future(one.acquire_async())
            await asyncio.sleep(0)
            held.release()
            await asyncio.sleep(0)
            task.cancel()
            try:
                (await task).release()
            except asyncio.CancelledError:
                pass
            await _until(lambda: one.available == 1)

    asyncio.run(main())


def test_a_task_with_a_time_limit_that_is_cancelled_while_a_slot_becomes_free_is_cancelled(one):
    async def main():
        for turns in range(8):
            held = await one.acquire_async()
            task = asyncio.ensure_future(one.acquire_async(timeout=60))
            while one.waiting == 0:
                await asyncio.sleep(0.001)
            held.release()
            time.sleep(0.02)  # now the event loop has something to read
            for _ in range(turns):
                await asyncio.sleep(0)
            was_running = task.cancel()
            await asyncio.wait({task})
            assert task.cancelled() == was_running, f"after {turns} turns of the event loop"
            if not was_running:
                task.result().release()
            await _until(lambda: one.available == 1)

    asyncio.run(main())


def test_a_time_limit_ends_the_wait_of_a_task(one):
    async def main():
        async with one.acquire_async():
            with pytest.raises(hallpass_slots.Timeout, match="no slot of hall `one`"):
                async with one.acquire_async(timeout=0.02):
                    pass
            with pytest.raises(ValueError, match="at least 0"):
                await one.acquire_async(timeout=-1)
        assert (await one.acquire_async(timeout=5)).slot == 0

    asyncio.run(main())


def test_closing_ends_the_wait_of_every_task(one):
    async def main():
        held = await one.acquire_async()
        tasks = [asyncio.ensure_future(one.acquire_async()) for _ in range(3)]
        await asyncio.sleep(0)
        await _settled(one, tasks=3)
        one.close()
        results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), DEADLINE)
        assert all(isinstance(result, hallpass_slots.Closed) for result in results)
        held.release()

    asyncio.run(main())


def test_a_task_waits_for_a_thread_and_for_another_process(one):
    async def main():
        held = one.acquire()
        task = asyncio.ensure_future(one.acquire_async())
        await asyncio.sleep(0)
        await _settled(one)
        threading.Thread(target=held.release).start()
        mine = await asyncio.wait_for(task, DEADLINE)
        script = 'import time; from hallpass_slots import Hall; p = Hall("one", 1).acquire(); time.sleep(600)'
        other = subprocess.Popen([sys.executable, "-c", script])
        await _until(lambda: one.waiting == 1)
        mine.release()
        await _until(lambda: one.waiting == 0)
        task = asyncio.ensure_future(one.acquire_async())
        await asyncio.sleep(0)
        await _settled(one)
        other.kill()
        (await asyncio.wait_for(task, DEADLINE)).release()
        other.wait()

    asyncio.run(main())


def test_a_decorated_coroutine_function_holds_a_slot(one):
    @one.limited(slot_argument="device")
    async def work(device):
        return device, one.available

    assert asyncio.run(work()) == (0, 0)
    assert one.available == 1


def test_event_loops_in_several_threads_share_a_hall(one):
    passed = []

    async def passages():
        for _ in range(20):
            async with one.acquire_async() as p:
                passed.append(p.slot)

    threads = [threading.Thread(target=lambda: asyncio.run(passages())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert len(passed) == 60 and one.available == 1


def test_a_thousand_waiting_tasks_use_one_thread_and_no_cpu_time(one):
    # The tasks run in a separate process, so that its CPU time is the time that the waiting tasks use.
    script = textwrap.dedent("""
        import asyncio, os, time
        from hallpass_slots import Hall

        async def main():
            hall = Hall("one", 1)
            tasks = [asyncio.ensure_future(hall.acquire_async()) for _ in range(1000)]
            (await tasks[0])
            while hall.waiting == 0:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            before = time.process_time()
            await asyncio.sleep(2)
            used = time.process_time() - before
            print(used, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")))
            os._exit(0)

        asyncio.run(main())
    """)
    ran = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=DEADLINE)
    used, threads, descriptors = ran.stdout.split()
    assert float(used) < 0.02  # 1 % of one core
    assert int(threads) <= 2
    assert int(descriptors) < 40


def test_an_event_loop_that_has_ended_is_freed(one):
    loops = []

    async def main():
        loops.append(weakref.ref(asyncio.get_running_loop()))
        with pytest.raises(hallpass_slots.Timeout):
            await one.acquire_async(timeout=0.01)

    with one.acquire():
        asyncio.run(main())
    gc.collect()
    assert loops[0]() is None
