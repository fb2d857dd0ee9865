"""The pytest fixture ``hallpass_slot``, for tests that share the devices of the machine.

pytest loads this plugin by itself. The tests of all pytest-xdist workers, and of all other processes that use the
same hall, wait in one queue.
"""

from __future__ import annotations

from typing import Iterator, Optional

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
    name = config.getoption("--hallpass-hall") or config.getini("hallpass_hall")
    slots = config.getoption("--hallpass-slots") or int(config.getini("hallpass_slots"))
    timeout: Optional[float] = None
    marker = request.node.get_closest_marker("hallpass")
    if marker is not None:
        name = marker.args[0] if marker.args else marker.kwargs.get("hall", name)
        slots = marker.args[1] if len(marker.args) > 1 else marker.kwargs.get("slots", slots)
        timeout = marker.args[2] if len(marker.args) > 2 else marker.kwargs.get("timeout")
    with Hall(name, slots).acquire(timeout) as held:
        yield held.slot
