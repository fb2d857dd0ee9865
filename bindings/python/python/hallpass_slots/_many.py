"""Several slots for one caller.

A caller that takes several slots makes one request for all of them. The hall collects the slots for one caller at a
time, in the order of the queue. So two callers never wait for each other, each with a part of its slots.
"""

from __future__ import annotations

import asyncio
import operator
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Optional, Tuple, Type

from ._errors import BadArgument, Timeout
from ._native import Hall as NativeHall
from ._native import Pass, Waiting

if TYPE_CHECKING:
    from ._hall import Hall


class Passes:
    """Several slots that this process holds until they are released.

    They are released by ``release()``, by the garbage collector, at the end of a ``with`` block, and at the end of the
    process. They belong to the process that acquired them, like a ``Pass``.
    """

    __slots__ = ("_held",)

    def __init__(self, held: Pass) -> None:
        self._held = held

    @property
    def slots(self) -> Tuple[int, ...]:
        """The slots, the smallest first."""
        return self._held._slots

    @property
    def held(self) -> bool:
        """Whether this process still holds the slots."""
        return self._held.held

    @property
    def hall(self) -> str:
        """The name of the hall."""
        return self._held.hall

    def release(self) -> None:
        """Frees all slots. Does nothing if they were released before."""
        self._held.release()

    def __enter__(self) -> Passes:
        self._held.__enter__()
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
    held = hall._try_acquire_many(count)
    return None if held is None else Passes(held)


def acquire(hall: Hall, count: int, timeout: Optional[float]) -> Passes:
    """Waits for the slots in this thread."""
    _check(hall, count)
    return Passes(hall._acquire_many(count, timeout))


async def acquire_async(hall: Hall, count: int, timeout: Optional[float]) -> Passes:
    """Waits for the slots in a task."""
    _check(hall, count)
    timeout = check_timeout(timeout)
    position = hall._join_queue(count)
    try:
        held = position.poll()
        return Passes(held or await _wait(position, _Limit(hall, count, timeout)))
    finally:
        position.cancel()


async def _wait(position: Waiting, limit: _Limit) -> Pass:
    """Waits until this position has its slots."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    # Not `asyncio.wait_for`: before Python 3.12, it swallows a cancellation that comes together with the event.
    timer = None if limit.seconds is None else loop.call_later(limit.seconds, limit.expire, changed)
    loop.add_reader(position.fileno(), changed.set)
    try:
        while True:
            await changed.wait()
            changed.clear()
            held = position.poll()
            if held is not None:
                return held
            limit.check()
    finally:
        loop.remove_reader(position.fileno())
        if timer is not None:
            timer.cancel()


class _Limit:
    """The time limit of a task that waits."""

    def __init__(self, hall: Hall, count: int, seconds: Optional[float]) -> None:
        self.seconds = seconds
        what = f"no slot of hall `{hall.name}` was" if count == 1 else f"{count} slots of hall `{hall.name}` were not"
        self._failure = f"{what} free within {seconds} s"
        self._is_over = False

    def expire(self, changed: asyncio.Event) -> None:
        """Records that the time is over, and wakes the task."""
        self._is_over = True
        changed.set()

    def check(self) -> None:
        """Raises Timeout if the time is over."""
        if self._is_over:
            raise Timeout(self._failure)


def check_timeout(timeout: Optional[float]) -> Optional[float]:
    """Returns the time limit as a float. Refuses a time limit that is negative or not a number."""
    if timeout is None:
        return None
    if not timeout >= 0:
        raise ValueError("timeout must be None or a number of seconds, at least 0")
    return float(timeout)  # event loops refuse other types, such as Decimal


def _check(hall: NativeHall, count: int) -> None:
    count, slots = operator.index(count), hall.slots
    if count < 1:
        raise BadArgument(f"count must be at least 1, got {count}")
    # A closed hall has no slots. Every request to it raises Closed.
    if slots and count > slots:
        raise BadArgument(
            f"{count} slots are asked for, but hall `{hall.name}` has only {slots}: take at most {slots}, or resize the hall"
        )
