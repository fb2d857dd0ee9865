"""The class ``Hall``."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, Optional, Tuple, Type, TypeVar, Union
from weakref import WeakKeyDictionary

from . import _asyncio, _many, _native
from ._asyncio import Acquiring, Lines
from ._many import Passes
from ._status import Status, from_native

_Function = TypeVar("_Function", bound=Callable[..., Any])

_LINES = "_lines_by_loop"
"""The attribute that holds the tasks that wait."""


class Hall(_native.Hall):
    """A fair semaphore with slot numbers for the processes of one machine.

    At most ``slots`` callers hold a pass at the same time. Each pass has its own slot, a number from 0 to
    ``slots - 1``. Waiters get a slot in the order of their arrival. A process that ends, even by SIGKILL, frees
    its slots immediately.

    >>> with Hall("gpu", 4).acquire() as p:
    ...     print("device", p.slot)

    :param name: the name of the hall. All processes that open the same name share the hall, including
        ``hallpass run`` and Rust programs.
    :param slots: the number of slots. The first process creates the hall with this number; the others must pass
        the same number or ``None``. ``None`` opens an existing hall, whatever its number of slots is.
    :param directory: the directory that contains the hall. The default is the default directory of this user.
    :param system: whether the hall is in ``/run/lock/hallpass``, for all users of the machine.
    :raises SlotsMismatch: if the hall exists with a different number of slots.
    :raises Missing: if ``slots`` is ``None`` and there is no such hall.
    """

    def __init__(
        self,
        name: str,
        slots: Optional[int] = None,
        *,
        directory: Optional[Union[str, os.PathLike[str]]] = None,
        system: bool = False,
    ) -> None:
        super().__init__()

    @property
    def _lines(self) -> Lines:
        """The tasks that wait, by event loop. Created on first use: a subclass's ``__init__`` might not call ours."""
        lines: Lines = self.__dict__.setdefault(_LINES, WeakKeyDictionary())
        return lines

    def acquire_async(self, timeout: Optional[float] = None) -> Acquiring[_native.Pass]:
        """Waits in an asyncio task until a slot is free and takes it.

        >>> async with hall.acquire_async() as p:
        ...     print("device", p.slot)

        ``await hall.acquire_async()`` returns the pass. A cancelled task leaves the queue. The tasks of one event
        loop get slots in the order of their arrival. Among processes, they count as one waiter: only the first
        of them waits in the hall's queue.

        :param timeout: the longest time to wait, in seconds; ``None`` waits without a limit.
        :raises Timeout: if no slot was free in time.
        :raises Closed: if the hall is closed, before or while the task waits.
        """
        return Acquiring(lambda: _asyncio.acquire(self, timeout))

    def acquire_many(self, count: int, timeout: Optional[float] = None) -> Passes:
        """Waits until ``count`` slots are free and takes them together.

        >>> with hall.acquire_many(2) as p:
        ...     print("devices", p.slots)

        While the first caller in the queue needs more slots than are free, the free slots stay free for it. So callers
        that need fewer slots do not overtake it. Callers that take several slots by this method or by ``hallpass run
        --take`` cannot deadlock. Callers that take one slot after another, in nested ``with`` blocks, can.

        :param count: the number of slots, at least 1.
        :param timeout: the longest time to wait, in seconds; ``None`` waits without a limit.
        :raises BadArgument: if the hall has fewer slots, before or while the caller waits.
        :raises Timeout: if the slots were not free in time.
        :raises Closed: if the hall is closed, before or while the caller waits.
        :raises KeyboardInterrupt: on Ctrl-C, after the caller has left the queue.
        """
        return _many.acquire(self, count, timeout)

    def try_acquire_many(self, count: int) -> Optional[Passes]:
        """Takes ``count`` slots if they are free and nobody waits. Returns ``None`` otherwise.

        :raises BadArgument: if the hall has fewer slots.
        :raises Closed: if the hall is closed.
        """
        return _many.try_acquire(self, count)

    def acquire_many_async(self, count: int, timeout: Optional[float] = None) -> Acquiring[Passes]:
        """Waits in an asyncio task until ``count`` slots are free and takes them together.

        >>> async with hall.acquire_many_async(2) as p:
        ...     print("devices", p.slots)

        A cancelled task leaves the queue. A waiting task costs one native thread, however many slots it needs. See
        ``acquire_many`` for the parameters and the exceptions.
        """
        return Acquiring(lambda: _many.acquire_async(self, count, timeout))

    def limited(
        self, *, timeout: Optional[float] = None, slot_argument: Optional[str] = None
    ) -> Callable[[_Function], _Function]:
        """Returns a decorator. The decorated function or coroutine function holds a slot while it runs.

        Generator functions are refused, because their body runs later than the call: use ``with`` in the body.

        >>> @hall.limited(slot_argument="device")
        ... def train(config, device): ...

        :param timeout: the longest time to wait, in seconds; ``None`` waits without a limit.
        :param slot_argument: the name of the keyword argument that receives the slot.
        """

        def decorate(function: _Function) -> _Function:
            def with_slot(kwargs: dict[str, Any], held: _native.Pass) -> dict[str, Any]:
                return {**kwargs, slot_argument: held.slot} if slot_argument else kwargs

            if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
                raise TypeError(
                    "limited() cannot decorate a generator function, because the body runs after the call has returned: "
                    "use `with hall.acquire()` in the body"
                )
            # The second test finds objects with a coroutine function `__call__`.
            if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):

                @functools.wraps(function)
                async def run_async(*args: Any, **kwargs: Any) -> Any:
                    async with self.acquire_async(timeout) as held:
                        return await function(*args, **with_slot(kwargs, held))

                return run_async  # type: ignore[return-value]

            @functools.wraps(function)
            def run(*args: Any, **kwargs: Any) -> Any:
                with self.acquire(timeout) as held:
                    return function(*args, **with_slot(kwargs, held))

            return run  # type: ignore[return-value]

        return decorate

    def status(self) -> Status:
        """Returns the holders and waiters at this moment."""
        return from_native(self._status())

    def __repr__(self) -> str:
        return f"<Hall {self.name!r} in {str(self.directory)!r}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        directory = None if self.system else os.fspath(self.directory)
        state = {key: value for key, value in self.__dict__.items() if key != _LINES}
        return _reopen, (type(self), self.name, directory, self.system), state or None


_Hall = TypeVar("_Hall", bound=Hall)


def _reopen(kind: Type[_Hall], name: str, directory: Optional[str], system: bool) -> _Hall:
    """Opens a pickled hall in another process. Does not call ``kind``, because a subclass may have other parameters."""
    hall: _Hall = _native.Hall.__new__(kind, name, directory=directory, system=system)
    return hall
