"""Waiting in asyncio tasks.

The tasks of one event loop that wait for one slot of a hall form a *line*: a queue in this process, first come,
first served. Only the first task in the line has a position in the hall's queue. On behalf of this task, one native
thread waits in the kernel, and the event loop watches one descriptor. So a thousand waiting tasks cost one
thread, a few descriptors and no CPU time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Deque, Generator, Generic, Optional, Type, TypeVar, Union
from weakref import WeakKeyDictionary

from ._errors import Timeout
from ._many import Passes, check_timeout
from ._native import Pass, Waiting

if TYPE_CHECKING:
    from ._hall import Hall


_Held = TypeVar("_Held", bound=Union[Pass, Passes])


class Acquiring(Generic[_Held]):
    """What ``Hall.acquire_async`` and ``Hall.acquire_many_async`` return: await it, or use it in ``async with``."""

    __slots__ = ("_entered", "_held", "_start")

    def __init__(self, start: Callable[[], Coroutine[Any, Any, _Held]]) -> None:
        self._start = start
        self._entered = False
        self._held: Optional[_Held] = None

    def __await__(self) -> Generator[Any, None, _Held]:
        return self._start().__await__()

    async def __aenter__(self) -> _Held:
        if self._entered:
            raise RuntimeError("this object is in use: request slots once for each `async with`")
        self._entered = True
        try:
            self._held = await self
        finally:
            self._entered = self._held is not None
        return self._held

    async def __aexit__(
        self,
        exception_type: Optional[Type[BaseException]],
        exception: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        held, self._held, self._entered = self._held, None, False
        if held is not None:
            held.release()


async def acquire(hall: Hall, timeout: Optional[float]) -> Pass:
    """Waits for a slot in a task."""
    timeout = check_timeout(timeout)
    loop = asyncio.get_running_loop()
    line = hall._lines.get(loop)
    if line is None or not line.waiters:
        free = hall.try_acquire()
        if free is not None:
            return free
    if line is None:
        line = hall._lines[loop] = Line(hall, loop)
    return await line.wait(timeout)


class Line:
    """The tasks of one event loop that wait for one hall."""

    def __init__(self, hall: Hall, loop: asyncio.AbstractEventLoop) -> None:
        self.hall = hall
        self.loop = loop
        self.waiters: Deque[asyncio.Future[Pass]] = deque()
        self.position: Optional[Waiting] = None
        """The position in the hall's queue. None if no task waits."""

    async def wait(self, timeout: Optional[float]) -> Pass:
        """Waits in the line for a pass. A task that is cancelled or whose time is over leaves the line."""
        waiter: asyncio.Future[Pass] = self.loop.create_future()
        # Not `asyncio.wait_for`: before Python 3.12, it swallows a cancellation that comes together with the pass.
        timer = None if timeout is None else self.loop.call_later(timeout, self._time_is_over, waiter, timeout)
        self.waiters.append(waiter)
        try:
            if self.position is None:
                self._serve()
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                waiter.result().release()  # the task was cancelled after it had got its pass
            raise
        finally:
            if timer is not None:
                timer.cancel()
            if waiter in self.waiters:
                self.waiters.remove(waiter)
            if not self.waiters:
                self._leave_queue()
                # A line keeps its event loop alive, so remove it when no task waits.
                if self.hall._lines.get(self.loop) is self:
                    del self.hall._lines[self.loop]

    def _time_is_over(self, waiter: asyncio.Future[Pass], timeout: float) -> None:
        if not waiter.done():
            waiter.set_exception(Timeout(f"no slot of hall `{self.hall.name}` was free within {timeout} s"))

    def _serve(self) -> None:
        """Gives free slots to the tasks in the line; then waits in the hall's queue for the next slot."""
        while self.waiters:
            if self.waiters[0].done():
                self.waiters.popleft()  # this task was cancelled or its time is over; it is about to leave the line
                continue
            try:
                if self.position is None:
                    self.position = self.hall._join_queue()
                held = self.position.poll()
            except BaseException as error:
                self._leave_queue()
                self.waiters.popleft().set_exception(error)
                continue
            if held is None:
                self.loop.add_reader(self.position.fileno(), self._serve)
                return
            self._leave_queue()
            self.waiters.popleft().set_result(held)
        self._leave_queue()

    def _leave_queue(self) -> None:
        position, self.position = self.position, None
        if position is not None:
            if not self.loop.is_closed():
                self.loop.remove_reader(position.fileno())
            position.cancel()


Lines = WeakKeyDictionary[asyncio.AbstractEventLoop, Line]
