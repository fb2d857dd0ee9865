"""Fixtures and helper functions that the tests share."""

import time
from typing import Callable

import pytest

from hallpass_slots import Hall

pytest_plugins = ["pytester"]

DEADLINE = 60.0
"""How many seconds a test waits for an event before it fails. Unless there is a bug, no event takes this long."""


def eventually(what: str, condition: Callable[[], object]) -> None:
    """Waits until the condition holds."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"did not happen within {DEADLINE} s: {what}"
        time.sleep(0.005)


@pytest.fixture(autouse=True)
def _own_directory(tmp_path, monkeypatch):
    """Gives each test a separate directory, so that it does not use the halls of the user."""
    monkeypatch.setenv("HALLPASS_DIR", str(tmp_path / "halls"))


@pytest.fixture
def hall():
    """A hall with two slots."""
    return Hall("hall", 2)


@pytest.fixture
def one():
    """A hall with one slot."""
    return Hall("one", 1)
