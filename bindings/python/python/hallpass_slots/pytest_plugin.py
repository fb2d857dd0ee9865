"""The pytest fixture ``hallpass_slot``, for tests that share the devices of the machine.

pytest loads this plugin by itself. The tests of all pytest-xdist workers, and of all other processes that use the
same hall, wait in one queue.
"""

from __future__ import annotations

from typing import Any, Iterator, Optional, Tuple

import pytest

from ._hall import Hall

_MARKER = "hallpass(hall, slots, timeout): the hall from which the fixture hallpass_slot takes a slot"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the fixture."""
    group = parser.getgroup("hallpass", "slots of a hall")
    group.addoption(
        "--hallpass-hall", metavar="NAME", help="hall of the fixture hallpass_slot (default: pytest)"
    )
    group.addoption(
        "--hallpass-slots", metavar="K", type=int, help="number of slots of that hall (default: 1)"
    )
    parser.addini("hallpass_hall", "hall of the fixture hallpass_slot", default="pytest")
    parser.addini("hallpass_slots", "number of slots of that hall", default="1")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def hallpass_slot(request: pytest.FixtureRequest) -> Iterator[int]:
    """The slot that this test holds while it runs: a number that no other holder has.

    ``@pytest.mark.hallpass("gpu", 4)`` names the hall. Without the marker, ``--hallpass-hall`` and
    ``--hallpass-slots`` name it, or ``hallpass_hall`` and ``hallpass_slots`` in the configuration of pytest.
    """
    config = request.config
    name, slots = config.getoption("--hallpass-hall"), config.getoption("--hallpass-slots")
    name = config.getini("hallpass_hall") if name is None else name
    slots = int(config.getini("hallpass_slots")) if slots is None else slots
    timeout: Optional[float] = None
    marker = request.node.get_closest_marker("hallpass")
    if marker is not None:
        name, slots, timeout = _of_marker({"hall": name, "slots": slots}, *marker.args, **marker.kwargs)
    with Hall(name, slots).acquire(timeout) as held:
        yield held.slot


def _of_marker(
    default: dict[str, Any], hall: Optional[str] = None, slots: Optional[int] = None, timeout: Optional[float] = None
) -> Tuple[str, int, Optional[float]]:
    """Returns the hall, its slots and the time limit that a marker names. A misspelt argument is a TypeError."""
    return hall or default["hall"], default["slots"] if slots is None else slots, timeout
