"""The class ``Hall``."""

from __future__ import annotations

import asyncio
import functools
import os
from typing import Any, Callable, Optional, Tuple, TypeVar, Union
from weakref import WeakKeyDictionary

from . import _native
from ._asyncio import Acquiring, Lines
from ._status import Status, from_native

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Hall(_native.Hall):
    """A fair semaphore with slot numbers for the processes of one machine.

    At most ``slots`` callers hold a pass at the same time. Each pass has its own slot, a number from 0 to
    ``slots - 1``. Waiters get a slot in the order of their arrival. A process that ends, even by SIGKILL, frees
    its slots at once.

    >>> with Hall("gpu", 4).acquire() as p:
    ...     print("device", p.slot)

    :param name: the name of the hall. All processes that open the same name share the hall, including
        ``hallpass run`` and Rust programs.
    :param slots: the number of slots. The first process creates the hall with this number; the others must pass
        the same number. ``None`` opens an existing hall, whatever its number of slots is.
    :param directory: the directory of the hall. The default is the default directory of this user.
    :param system: whether the hall is in ``/run/lock/hallpass``, for all users of the machine.
    :raises SlotsMismatch: if the hall exists with a different number of slots.
    :raises Missing: if ``slots`` is ``None`` and there is no such hall.
    """

    _lines: Lines

    def __init__(
        self,
        name: str,
        slots: Optional[int] = None,
        *,
        directory: Optional[Union[str, os.PathLike[str]]] = None,
        system: bool = False,
    ) -> None:
        super().__init__()
        self._lines = WeakKeyDictionary()

    def acquire_async(self, timeout: Optional[float] = None) -> Acquiring:
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
        return Acquiring(self, timeout)

    def limited(
        self, *, timeout: Optional[float] = None, slot_argument: Optional[str] = None
    ) -> Callable[[_Function], _Function]:
        """Returns a decorator. The decorated function or coroutine function holds a slot while it runs.

        >>> @hall.limited(slot_argument="device")
        ... def train(config, device): ...

        :param timeout: the longest time to wait, in seconds; ``None`` waits without a limit.
        :param slot_argument: the name of the keyword argument that receives the slot.
        """

        def decorate(function: _Function) -> _Function:
            def with_slot(kwargs: dict[str, Any], held: _native.Pass) -> dict[str, Any]:
                return {**kwargs, slot_argument: held.slot} if slot_argument else kwargs

            if asyncio.iscoroutinefunction(function):

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
        return _reopen, (self.name, None if self.system else os.fspath(self.directory), self.system)


def _reopen(name: str, directory: Optional[str], system: bool) -> Hall:
    """Opens a pickled hall in another process."""
    return Hall(name, directory=directory, system=system)
