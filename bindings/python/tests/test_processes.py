"""Halls for processes: pools, forks, signals."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import DEADLINE, eventually

from hallpass_slots import Hall


def _hold_until_killed(hall, taken):
    held = hall.acquire()
    taken.put((os.getpid(), held.slot))
    time.sleep(600)


def _slot_of_one_passage(hall):
    with hall.acquire(timeout=DEADLINE) as p:
        time.sleep(0.01)
        return p.slot


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_a_pool_share_the_hall(hall, method):
    context = multiprocessing.get_context(method)
    with context.Pool(4) as pool:
        slots = pool.map(_slot_of_one_passage, [hall] * 12, chunksize=1)
    assert set(slots) <= {0, 1}
    hall.reap()
    assert hall.available == 2


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_sigkill_of_a_worker_frees_its_slot(one, method):
    context = multiprocessing.get_context(method)
    taken = context.Queue()
    worker = context.Process(target=_hold_until_killed, args=(one, taken))
    worker.start()
    pid, slot = taken.get(timeout=DEADLINE)
    assert pid == worker.pid and slot == 0 and one.try_acquire() is None
    worker.kill()
    with one.acquire(timeout=DEADLINE) as p:
        assert p.slot == 0
    worker.join()


def _die_in_the_first_call(hall):
    hall.acquire(timeout=DEADLINE)
    os.kill(os.getpid(), signal.SIGKILL)


def test_sigkill_in_an_executor_frees_its_slot(one):
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        with pytest.raises(concurrent.futures.process.BrokenProcessPool):
            executor.submit(_die_in_the_first_call, one).result(DEADLINE)
    assert one.acquire(timeout=DEADLINE).slot == 0


def _in_child(function):
    """Forks, runs the function in the child, and returns its exit status."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(function() or 0)
        except BaseException as error:  # the child must not continue with the tests
            print(error, file=sys.stderr)
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_forked_child_does_not_free_the_slot_of_its_parent(one):
    def child():
        assert not p.held and p.slot == 0
        p.release()
        assert one.try_acquire() is None
        return 7

    with one.acquire() as p:
        assert _in_child(child) == 7
        assert p.held and one.available == 0
        # The end of the `with` block in the child does not free the slot either.
        assert _in_child(lambda: p.__exit__(None, None, None)) == 0
        assert p.held and one.available == 0
    assert one.available == 1


def test_a_forked_child_can_acquire_its_own_slot(hall):
    def child():
        with hall.acquire(timeout=DEADLINE) as own:
            assert own.held and hall.status().holders[1].pid == os.getpid()
            return own.slot

    with hall.acquire():
        assert _in_child(child) == 1
        assert _in_child(lambda: _in_child(child)) == 1  # a grandchild can acquire its own slot too


def test_a_killed_holder_frees_its_slot_even_if_its_forked_child_lives(one):
    script = textwrap.dedent("""
        import os, sys, time
        from hallpass_slots import Hall
        held = Hall("one", 1).acquire()
        child = os.fork()
        if child:
            print(child, flush=True)
        time.sleep(600)
    """)
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    try:
        assert one.try_acquire() is None
        parent.kill()
        parent.wait()
        assert one.acquire(timeout=DEADLINE).slot == 0
        os.kill(child, 0)  # fails if the child is not alive
    finally:
        os.kill(child, signal.SIGKILL)
        parent.stdout.close()


@pytest.mark.parametrize(
    "waits",
    [
        "threading.Thread(target=hall.acquire, daemon=True).start()",
        "held = hall.acquire(); threading.Thread(target=hall.acquire, daemon=True).start()",
        "position = hall._join_queue(); position.poll()",
    ],
)
def test_a_killed_waiter_gets_no_slot_even_if_its_forked_child_lives(one, waits):
    script = textwrap.dedent(f"""
        import os, threading, time
        from hallpass_slots import Hall
        hall = Hall("one")
        {waits}
        while hall.waiting == 0:
            time.sleep(0.01)
        child = os.fork()
        if child:
            print(child, flush=True)
        time.sleep(600)
    """)
    held = None if "held" in waits else one.acquire()
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    try:
        assert one.try_acquire() is None
        parent.kill()
        parent.wait()
        if held is not None:
            held.release()
        assert one.acquire(timeout=20).slot == 0
        os.kill(child, 0)  # fails if the child is not alive
    finally:
        os.kill(child, signal.SIGKILL)
        parent.stdout.close()


def test_a_subprocess_does_not_keep_the_slot(one):
    script = textwrap.dedent("""
        import subprocess
        from hallpass_slots import Hall
        held = Hall("one", 1).acquire()
        sleeper = subprocess.Popen(["sleep", "600"], close_fds=False, stdout=subprocess.DEVNULL)
        print(sleeper.pid, flush=True)
    """)
    parent = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert one.acquire(timeout=DEADLINE).slot == 0
    finally:
        os.kill(int(parent.stdout), signal.SIGKILL)


def test_ctrl_c_ends_a_wait_and_leaves_the_queue(one):
    script = textwrap.dedent("""
        import signal
        from hallpass_slots import Hall
        # Python ignores Ctrl-C if it was ignored when Python started, as in a background job.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            Hall("one", 1).acquire()
        except KeyboardInterrupt:
            hall = Hall("one", 1)
            while hall.waiting:
                pass
            print("interrupted", flush=True)
    """)
    with one.acquire():
        waiter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        eventually("it waits", lambda: one.waiting == 1)
        waiter.send_signal(signal.SIGINT)
        assert waiter.communicate(timeout=DEADLINE)[0] == "interrupted\n"
        assert one.waiting == 0


def test_a_signal_handler_that_returns_does_not_end_a_wait(one):
    script = textwrap.dedent("""
        import signal
        from hallpass_slots import Hall
        signal.signal(signal.SIGUSR1, lambda *_: print("handled", flush=True))
        print(Hall("one", 1).acquire().slot, flush=True)
    """)
    with one.acquire():
        waiter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        eventually("it waits", lambda: one.waiting == 1)
        waiter.send_signal(signal.SIGUSR1)
        assert waiter.stdout.readline() == "handled\n"
        assert one.waiting == 1
    assert waiter.communicate(timeout=DEADLINE)[0] == "0\n"


def test_a_signal_handler_may_fork_while_its_process_waits(one):
    script = textwrap.dedent("""
        import os, signal
        from hallpass_slots import Hall
        signal.signal(signal.SIGUSR1, lambda *_: os.fork())
        with Hall("one", 1).acquire():
            os.write(1, b"in\\n")
    """)
    with one.acquire():
        waiter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        eventually("it waits", lambda: one.waiting == 1)
        waiter.send_signal(signal.SIGUSR1)
        eventually("the child waits too", lambda: one.waiting == 2)
    assert waiter.communicate(timeout=DEADLINE)[0] == "in\nin\n"


def test_a_sub_interpreter_is_refused_with_a_reason():
    interpreters = pytest.importorskip("_xxsubinterpreters")
    interpreter = interpreters.create()
    try:
        with pytest.raises(interpreters.RunFailedError, match="subinterpreters"):
            interpreters.run_string(interpreter, "import hallpass_slots")
    finally:
        interpreters.destroy(interpreter)


def test_a_five_line_script_works(tmp_path):
    script = textwrap.dedent("""
        from hallpass_slots import Hall
        hall = Hall("gpu", 4)
        with hall.acquire() as p:
            print("device", p.slot)
    """)
    ran = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "device 0\n")
