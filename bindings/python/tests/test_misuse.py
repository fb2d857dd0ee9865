"""Programs that misuse the package get an exception. They never share a slot, leak one or crash."""

import asyncio
import decimal
import errno
import gc
import os
import pickle
import resource
import subprocess
import sys
import textwrap
import threading

import pytest
from conftest import DEADLINE, eventually

import hallpass_slots
from hallpass_slots import Hall


class Devices(Hall):
    """A subclass whose constructor has other parameters."""

    def __new__(cls, count):
        return super().__new__(cls, "devices", count)

    def __init__(self, count):
        super().__init__("devices", count)
        self.label = "a label"


def test_a_released_pass_is_refused_by_a_with_statement(one):
    p = one.acquire()
    p.release()
    with pytest.raises(RuntimeError, match="acquire a new one"):
        with p:
            pytest.fail("the block ran without a slot")
    many = one.acquire_many(1)
    many.release()
    with pytest.raises(RuntimeError, match="acquire a new one"), many:
        pytest.fail("the block ran without a slot")


def test_one_object_in_two_async_with_statements_is_refused(hall):
    async def main():
        shared, first, second = hall.acquire_async(), hall.acquire(), hall.acquire()
        inside = []

        async def passage():
            async with shared as p:
                inside.append(p)
                await asyncio.sleep(0.05)
                assert p.held

        tasks = [asyncio.ensure_future(passage()) for _ in range(2)]
        await asyncio.sleep(0)
        first.release()
        second.release()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results] == [type(None), RuntimeError]
        assert len(inside) == 1 and hall.available == 2
        async with shared:  # it can be used again afterwards
            assert hall.available == 1

    asyncio.run(main())


@pytest.mark.parametrize("slots", [0, -1, 2**70, -(2**70), hallpass_slots.MAX_SLOTS + 1])
def test_an_impossible_number_of_slots_is_refused(hall, slots):
    for attempt in (lambda: Hall("other", slots), lambda: hall.resize(slots)):
        with pytest.raises(hallpass_slots.BadArgument, match="can have 1 to 1024 slots"):
            attempt()
    assert hallpass_slots.names() == ["hall"] and hall.slots == 2


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b", "\ud800", "x" * 300, "-\n"])
def test_a_bad_name_is_a_value_error_or_harmless(name, tmp_path):
    try:
        Hall(name, 1)
    except ValueError:
        assert hallpass_slots.names() == []
    else:
        assert hallpass_slots.names() == [name]


@pytest.mark.parametrize("arguments", [(), (1, 1), ("a", "1"), ("a", 1.5), ("a", None, 1), (None, 1)])
def test_arguments_of_the_wrong_type_are_type_errors(arguments):
    with pytest.raises(TypeError):
        Hall(*arguments)


def test_a_subclass_keeps_its_class_and_attributes_when_pickled():
    devices = Devices(2)
    copy = pickle.loads(pickle.dumps(devices))
    assert type(copy) is Devices and copy.label == "a label"
    with devices.acquire(), copy.acquire():
        assert devices.available == 0
    assert asyncio.run(_passage(copy)) == 0


class Careless(Hall):
    """A subclass whose ``__init__`` does not call that of ``Hall``."""

    def __init__(self, name, slots):
        self.label = "a label"


def test_a_subclass_that_does_not_call_our_init_works_in_tasks():
    careless = Careless("careless", 1)
    assert asyncio.run(_passage(careless)) == 0
    with careless.acquire():
        with pytest.raises(hallpass_slots.Timeout):
            asyncio.run(careless.acquire_async(timeout=0.01).__aenter__())
    assert pickle.loads(pickle.dumps(careless)).label == "a label"


async def _passage(hall):
    async with hall.acquire_async() as p:
        return p.slot


def test_a_removed_hall_is_closed_even_if_its_name_is_used_again(one):
    hallpass_slots.remove("one")
    again = Hall("one", 5)
    for call in (one.acquire, one.try_acquire, lambda: one.acquire_many(1), lambda: one.resize(2)):
        with pytest.raises(hallpass_slots.Closed):
            call()
    assert again.available == 5


def test_a_pass_keeps_its_hall_alive(one):
    p = Hall("one").acquire()
    gc.collect()
    assert p.held and one.try_acquire() is None
    p.release()
    assert one.available == 1


def test_a_generator_that_is_dropped_frees_its_slot(one):
    def generate():
        with one.acquire() as p:
            yield p.slot

    generator = generate()
    assert next(generator) == 0 and one.available == 0
    del generator
    gc.collect()
    assert one.available == 1


def test_threads_may_release_the_same_pass_at_the_same_time(one):
    for _ in range(50):
        p, barrier = one.acquire(), threading.Barrier(4)

        def release(p=p, barrier=barrier):
            barrier.wait()
            p.release()

        threads = [threading.Thread(target=release) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        assert one.available == 1 and one.waiting == 0


@pytest.mark.parametrize(
    "last_statements",
    [
        "p = hall.acquire()",
        "p = hall.acquire(); threading.Thread(target=hall.acquire, daemon=True).start(); time.sleep(0.3)",
        "cycle = [hall.acquire()]; cycle.append(cycle)",
        "p = hall.acquire(); task = hall.acquire_async(); position = hall._join_queue(); position.poll()",
        "p = hall.acquire(); atexit.register(p.release); atexit.register(hall.status)",
        "p = hall.acquire(); sys.exit(0)",
    ],
)
def test_a_program_that_ends_with_a_pass_ends_cleanly_and_frees_its_slot(one, last_statements):
    script = textwrap.dedent(f"""
        import atexit, sys, threading, time
        from hallpass_slots import Hall
        hall = Hall("one")
        {last_statements}
    """)
    ran = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, timeout=DEADLINE)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert one.acquire(timeout=DEADLINE).slot == 0


def test_a_directory_that_cannot_be_used_is_an_exception(tmp_path):
    file = tmp_path / "file"
    file.touch()
    for directory in (file, file / "below"):
        with pytest.raises(hallpass_slots.HallError, match="not a directory"):
            Hall("hall", 1, directory=directory)
    with pytest.raises(ValueError, match="must not be empty"):
        Hall("hall", 1, directory="")
    with pytest.raises(OSError) as raised:
        Hall("hall", 1, directory="/proc/nothing-can-be-created-here")
    assert raised.value.errno and isinstance(raised.value, hallpass_slots.HallError)


def test_a_damaged_file_is_an_exception(one, tmp_path):
    path = tmp_path / "halls" / "one" / "hall"
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(hallpass_slots.Damaged):
        Hall("one", 1)


def test_no_slot_leaks_if_waits_are_interrupted_at_random(one):
    async def main():
        for round_ in range(40):
            held = await one.acquire_async()
            tasks = [asyncio.ensure_future(one.acquire_async(timeout=0.001 * (i % 3) or None)) for i in range(5)]
            await asyncio.sleep(0.0005 * (round_ % 4))
            tasks[0].cancel()
            held.release()
            tasks[round_ % 5].cancel()
            await asyncio.sleep(0.0005 * (round_ % 3))
            for task in tasks:
                task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(result, hallpass_slots.Pass):
                    result.release()
        del held, tasks, result

    asyncio.run(main())
    gc.collect()
    eventually("all slots are free", lambda: one.available == 1 and one.waiting == 0)


@pytest.mark.parametrize("several", [False, True])
def test_a_time_limit_of_another_type_keeps_no_position_in_the_queue(one, several):
    async def main(timeout, expected):
        held = one.acquire()
        with pytest.raises(expected):
            await (one.acquire_many_async(1, timeout) if several else one.acquire_async(timeout))
        eventually("the task has left the queue", lambda: one.waiting == 0)
        held.release()
        assert one.available == 1

    asyncio.run(main(decimal.Decimal("0.01"), hallpass_slots.Timeout))
    asyncio.run(main(10**400, OverflowError))
    asyncio.run(main("1", TypeError))


def test_a_generator_function_is_refused_by_the_decorator(one):
    def generator():
        yield one.available

    async def asynchronous_generator():
        yield one.available

    for function in (generator, asynchronous_generator):
        with pytest.raises(TypeError, match="use `with hall.acquire\\(\\)` in the body"):
            one.limited()(function)


def test_a_decorated_object_with_a_coroutine_function_holds_a_slot_while_it_runs(one):
    class Job:
        async def __call__(self):
            await asyncio.sleep(0)
            return one.available

    assert asyncio.run(one.limited()(Job())()) == 0


def test_a_hall_in_a_relative_directory_stays_the_same_hall(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HALLPASS_DIR", "from-the-environment")
    halls = [Hall("hall", 1, directory="relative"), Hall("hall", 1)]
    held = [hall.acquire() for hall in halls]
    pickled = [pickle.dumps(hall) for hall in halls]
    monkeypatch.chdir("/")
    for one, text in zip(halls, pickled):
        assert pickle.loads(text).available == 0
        child = os.fork()
        if child == 0:
            # The child opens the hall again.
            os._exit(0 if one.available == 0 else 1)
        assert os.waitpid(child, 0)[1] == 0
    del held


def test_a_wait_with_too_few_descriptors_is_an_exception_with_its_errno(one):
    held = one.acquire()
    limits, taken = resource.getrlimit(resource.RLIMIT_NOFILE), []
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        with pytest.raises(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        # The more descriptors are free, the later the call fails.
        failures = []
        for _ in range(8):
            with pytest.raises((hallpass_slots.SystemFailure, hallpass_slots.Timeout)) as raised:
                one.acquire(timeout=0.05)
            failures.append(raised.value.errno)
            os.close(taken.pop())
        assert failures[0] == errno.EMFILE and set(failures) <= {errno.EMFILE, None}
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    eventually("nobody waits", lambda: one.waiting == 0)
    held.release()
