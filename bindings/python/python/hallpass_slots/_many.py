"""Several slots for one caller.

A caller that takes several slots makes one request for each of them. All its requests join the hall's queue before
another such caller makes its first request. The hall assigns slots in the order of the queue. So of two callers, the
earlier one has all its slots before the later one gets its first slot. It cannot happen that each of them holds some
slots and waits for the others.

A lock on the directory of the hall decides whose turn it is to make requests. A turn lasts for milliseconds, and the
kernel releases the lock if its owner dies. ``hallpass run --take`` uses the same lock.
"""

from __future__ import annotations

import asyncio
import fcntl
import operator
import os
import select
import time
from types import TracebackType
from typing import TYPE_CHECKING, List, NoReturn, Optional, Tuple, Type

from ._errors import BadArgument, Timeout
from ._native import Hall as NativeHall
from ._native import Pass, Waiting

if TYPE_CHECKING:
    from ._hall import Hall

_SOON = 0.001
"""Seconds between two checks of the lock, and of whether a request has joined the queue."""

_LOOK = 0.5
"""Seconds between two checks of whether the hall still has enough slots."""


class Passes:
    """Several slots that this process holds until they are released.

    They are released by ``release()``, by the garbage collector, at the end of a ``with`` block, and at the end of the
    process. They belong to the process that acquired them, like a ``Pass``.
    """

    __slots__ = ("_passes",)

    def __init__(self, passes: List[Pass]) -> None:
        self._passes = sorted(passes, key=lambda one: one.slot)

    @property
    def slots(self) -> Tuple[int, ...]:
        """The slots, the smallest first."""
        return tuple(one.slot for one in self._passes)

    @property
    def held(self) -> bool:
        """Whether this process still holds the slots."""
        return all(one.held for one in self._passes)

    @property
    def hall(self) -> str:
        """The name of the hall."""
        return self._passes[0].hall

    def release(self) -> None:
        """Frees all slots. Does nothing if they were released before."""
        for one in self._passes:
            one.release()

    def __enter__(self) -> Passes:
        for one in self._passes:
            one.__enter__()
        return self

    def __exit__(
        self,
        exception_type: Optional[Type[BaseException]],
        exception: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "held" if self.held else "released"
        return f"<Passes of hall {self.hall!r}, slots {self.slots}, {state}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "passes belong to the process that acquired them and cannot be pickled: "
            "send the hall to the other process and acquire there"
        )


def try_acquire(hall: Hall, count: int) -> Optional[Passes]:
    """Takes the slots if they are free and nobody waits."""
    _check(hall, count)
    passes: List[Pass] = []
    for _ in range(count):
        one = hall.try_acquire()
        if one is None:
            for other in passes:
                other.release()
            return None
        passes.append(one)
    return Passes(passes)


def acquire(hall: Hall, count: int, timeout: Optional[float]) -> Passes:
    """Waits for the slots in this thread."""
    _check(hall, count)
    limit = _Limit(hall, count, timeout)
    requests = _Requests(hall, count)
    try:
        while True:
            if requests.process != os.getpid():
                # A signal handler has forked this process. The threads that wait belong to the parent.
                requests.forget()
                requests = _Requests(hall, count)
            pause = requests.advance()
            if pause is None:
                return requests.passes()
            requests.sleep(limit.cut(pause))
    finally:
        requests.cancel()


async def acquire_async(hall: Hall, count: int, timeout: Optional[float]) -> Passes:
    """Waits for the slots in a task."""
    _check(hall, count)
    limit = _Limit(hall, count, timeout)
    requests = _Requests(hall, count)
    try:
        while True:
            pause = requests.advance()
            if pause is None:
                return requests.passes()
            await requests.sleep_async(limit.cut(pause))
    finally:
        requests.cancel()


class _Limit:
    """The time limit of a request for several slots."""

    def __init__(self, hall: Hall, count: int, timeout: Optional[float]) -> None:
        check_timeout(timeout)
        self._failure = f"{count} slots of hall `{hall.name}` were not free within {timeout} s"
        self._deadline = None if timeout is None else time.monotonic() + timeout

    def cut(self, pause: float) -> float:
        """Returns the pause, or the time that is left if this is shorter. Raises Timeout if none is left."""
        if self._deadline is None:
            return pause
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise Timeout(self._failure)
        return min(pause, left)


def check_timeout(timeout: Optional[float]) -> None:
    """Refuses a time limit that is negative or not a number."""
    if timeout is not None and not timeout >= 0:
        raise ValueError("timeout must be None or a number of seconds, at least 0")


def _check(hall: NativeHall, count: int) -> None:
    count, slots = operator.index(count), hall.slots
    if count < 1:
        raise BadArgument(f"count must be at least 1, got {count}")
    # A closed hall has no slots. Every request to it raises Closed.
    if slots and count > slots:
        raise BadArgument(
            f"hall `{hall.name}` has {slots} slots, and {count} are asked for: take at most {slots}, or resize the hall"
        )


class _Requests:
    """The requests of one caller."""

    def __init__(self, hall: Hall, count: int) -> None:
        self.process = os.getpid()
        self._count = count
        # A separate handle, so that `_own_waiting` counts only these requests.
        self._hall = hall._new_handle()
        self._requested = 0
        self._waiting: List[Waiting] = []
        self._passes: List[Pass] = []
        self._lock: Optional[int] = None

    def advance(self) -> Optional[float]:
        """Makes requests and takes slots. Returns None if all slots are taken, else how long to sleep at most."""
        self._poll()
        if self._requested < self._count and not self._has_turn():
            return _SOON
        while self._lock is not None:
            if self._hall._own_waiting + len(self._passes) < self._requested:
                return _SOON  # the last request has not joined the queue yet
            if self._requested == self._count:
                self._end_turn()
            else:
                self._requested += 1
                self._waiting.append(self._hall._join_queue())
            self._poll()
        if not self._waiting:
            return None
        # The hall may shrink during the wait. Then some requests would never get a slot.
        _check(self._hall, self._count)
        return _LOOK

    def passes(self) -> Passes:
        """Returns the slots."""
        passes, self._passes = self._passes, []
        return Passes(passes)

    def sleep(self, seconds: float) -> None:
        """Sleeps until a request may have got its slot, or the time is over."""
        poll = select.poll()
        for one in self._waiting:
            poll.register(one.fileno(), select.POLLIN)
        poll.poll(seconds * 1000)

    async def sleep_async(self, seconds: float) -> None:
        """Sleeps in a task."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        descriptors = [one.fileno() for one in self._waiting]
        for descriptor in descriptors:
            loop.add_reader(descriptor, event.set)
        # Not `asyncio.wait_for`: before Python 3.12, it swallows a cancellation that comes together with the event.
        timer = loop.call_later(seconds, event.set)
        try:
            await event.wait()
        finally:
            timer.cancel()
            for descriptor in descriptors:
                loop.remove_reader(descriptor)

    def cancel(self) -> None:
        """Leaves the queue, and frees the slots that are not handed out."""
        self._end_turn()
        for request in self._waiting:
            request.cancel()
        for one in self._passes:
            one.release()
        self._waiting, self._passes = [], []

    def forget(self) -> None:
        """Closes what a forked child has inherited. The lock belongs to the parent, so it stays locked."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _poll(self) -> None:
        for request in list(self._waiting):
            one = request.poll()
            if one is not None:
                self._passes.append(one)
                self._waiting.remove(request)
                request.cancel()

    def _has_turn(self) -> bool:
        """Tries to get the turn to make requests."""
        if self._lock is None:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            lock = os.open(self._hall._path, flags)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BaseException as error:
                os.close(lock)
                if isinstance(error, BlockingIOError):
                    return False
                raise
            self._lock = lock
        return True

    def _end_turn(self) -> None:
        if self.process != os.getpid():
            self.forget()
        lock, self._lock = self._lock, None
        if lock is not None:
            # Closing the descriptor would not unlock it while a forked child has a copy.
            fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)
