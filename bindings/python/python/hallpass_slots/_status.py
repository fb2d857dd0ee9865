"""The classes of the value that ``Hall.status()`` returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Optional, Tuple


@dataclass(frozen=True)
class Participant:
    """A holder or waiter of a hall."""

    slot: Optional[int]
    """The slot that a holder has; ``None`` for a waiter."""
    pid: int
    """The PID of the process in its own PID namespace."""
    uid: Optional[int]
    """The ID of the user who runs the process."""
    command: str
    """The command that the process runs, or the text that it passed to ``Hall.describe_as``."""
    since: datetime
    """The time at which the holder got its slot or the waiter joined the queue."""
    alive: bool
    """Whether the process still runs. A dead process is listed until a waiter or ``Hall.reap`` removes its record."""


@dataclass(frozen=True)
class Status:
    """A hall with its holders and waiters at one moment."""

    name: str
    """The name of the hall."""
    slots: int
    """The number of slots; 0 if the hall is closed."""
    closed: bool
    """Whether the hall is closed."""
    holders: Tuple[Participant, ...]
    """The holders, ordered by slot."""
    waiters: Tuple[Participant, ...]
    """The waiters, in the order in which they get a slot."""


def _participant(fields: Any) -> Participant:
    slot, pid, uid, command, since, alive = fields
    return Participant(slot, pid, uid, command, datetime.fromtimestamp(since, timezone.utc), alive)


def from_native(fields: Any) -> Status:
    """Builds a status from the tuple that the native half returns."""
    name, slots, closed, holders, waiters = fields
    return Status(
        name, slots, closed, tuple(map(_participant, holders)), tuple(map(_participant, waiters))
    )
