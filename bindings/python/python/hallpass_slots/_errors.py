"""Exceptions. A message says what happened and, in many cases, what to do."""


class HallError(Exception):
    """Base class of the exceptions that this package defines."""


class Timeout(HallError, TimeoutError):
    """No slot was free within the time limit."""


class Closed(HallError):
    """The hall is closed, or was removed."""


class Missing(HallError, LookupError):
    """There is no hall of this name."""


class SlotsMismatch(HallError, ValueError):
    """The hall exists with a different number of slots."""


class BadArgument(HallError, ValueError):
    """No hall can have this name or this number of slots, or a request is for less than one slot or for more slots than
    the hall has."""


class InUse(HallError):
    """The hall has holders or waiters, so it was not removed."""


class Full(HallError):
    """The hall has no room for another holder or waiter."""


class Damaged(HallError):
    """The file is not a hall, is damaged, or has another version."""


class SystemFailure(HallError, OSError):
    """A call to the operating system failed. ``errno`` has the reason."""
