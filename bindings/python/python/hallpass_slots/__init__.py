"""Fair semaphores with slot numbers for the processes of one machine.

>>> from hallpass_slots import Hall
>>> with Hall("gpu", 4).acquire() as p:      # at most 4 processes at once, first come, first served
...     print("device", p.slot)              # 0 to 3; no other holder has it

A process that ends, even by SIGKILL, frees its slots immediately; there is no daemon and nothing to clean up.
"""

import os as _os

from ._asyncio import Acquiring
from ._errors import (
    BadArgument,
    Closed,
    Damaged,
    Full,
    HallError,
    InUse,
    Missing,
    SlotsMismatch,
    SystemFailure,
    Timeout,
)
from ._hall import Hall
from ._many import Passes
from ._native import MAX_SLOTS, Pass, after_fork_in_child, names, remove
from ._status import Participant, Status

_os.register_at_fork(after_in_child=after_fork_in_child)
del after_fork_in_child

__all__ = [
    "MAX_SLOTS",
    "Acquiring",
    "BadArgument",
    "Closed",
    "Damaged",
    "Full",
    "Hall",
    "HallError",
    "InUse",
    "Missing",
    "Participant",
    "Pass",
    "Passes",
    "SlotsMismatch",
    "Status",
    "SystemFailure",
    "Timeout",
    "names",
    "remove",
]
