"""Compares hallpass-slots with filelock, portalocker and posix_ipc in one run.

    pip install hallpass-slots filelock portalocker posix_ipc
    python benchmarks/compare.py

There are two workloads: one process that acquires and releases alone, and four processes that share one slot. The
other packages have no slot numbers and no order. posix_ipc loses a permit when its holder is killed.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from typing import Callable, ContextManager, Dict

import filelock
import portalocker
import posix_ipc

from hallpass_slots import Hall

Contestant = Callable[[str], Callable[[], ContextManager[object]]]


def hallpass(folder: str) -> Callable[[], ContextManager[object]]:
    return Hall("hall", 1, directory=folder).acquire


def file_lock(folder: str) -> Callable[[], ContextManager[object]]:
    lock = filelock.FileLock(os.path.join(folder, "filelock"), poll_interval=0.001)
    return lock.acquire


def port_locker(folder: str) -> Callable[[], ContextManager[object]]:
    path = os.path.join(folder, "portalocker")
    return lambda: portalocker.Lock(path, flags=portalocker.LOCK_EX)


def posix(folder: str) -> Callable[[], ContextManager[object]]:
    name = "/" + os.path.basename(folder)
    semaphore = posix_ipc.Semaphore(name, posix_ipc.O_CREAT, initial_value=1)
    return lambda: semaphore


CONTESTANTS: Dict[str, Contestant] = {
    "hallpass-slots": hallpass,
    "posix_ipc.Semaphore": posix,
    "filelock.FileLock": file_lock,
    "portalocker.Lock": port_locker,
}


def passages(acquire: Callable[[], ContextManager[object]], seconds: float) -> int:
    """Returns the number of passages (acquire and release) in a period."""
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(20):
            with acquire():
                pass
        count += 20
    return count


def worker(contestant: str, folder: str, seconds: float, start: object, results: object) -> None:
    acquire = CONTESTANTS[contestant](folder)
    start.wait()  # type: ignore[attr-defined]
    results.put(passages(acquire, seconds))  # type: ignore[attr-defined]


def together(contestant: str, folder: str, processes: int, seconds: float) -> list[int]:
    """Returns the number of passages of each process."""
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(processes), context.Queue()
    args = (contestant, folder, seconds, start, results)
    workers = [context.Process(target=worker, args=args) for _ in range(processes)]
    for process in workers:
        process.start()
    counts = [results.get() for _ in workers]
    for process in workers:
        process.join()
    return counts


def main() -> None:
    seconds = float(os.environ.get("HALLPASS_BENCH_SECONDS", "1"))
    print(f"{'':22}{'alone':>12}{'4 on 1 slot':>16}{'fairness':>12}")
    for contestant, open_it in CONTESTANTS.items():
        with tempfile.TemporaryDirectory(prefix="hallpass-bench-") as folder:
            alone = seconds / passages(open_it(folder), seconds) * 1e6
            counts = together(contestant, folder, 4, seconds)
            if contestant.startswith("posix_ipc"):
                posix_ipc.unlink_semaphore("/" + os.path.basename(folder))
        fairness = min(counts) / (sum(counts) / len(counts))
        print(f"{contestant:22}{alone:9.2f} us{sum(counts) / seconds:14.0f}/s{fairness:12.2f}")
    print("fairness: passages of the slowest process / mean")


if __name__ == "__main__":
    main()
