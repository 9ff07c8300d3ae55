"""The marker ``timed`` finds its tests by what they use."""

from __future__ import annotations

import threading
import time

import pytest

from agentdyno.model import Status

from ..given_results import Factory
from ..suites import Room
from ..timed import _is_timed_use


def reads_a_clock() -> float:
    return time.monotonic()


def uses_one_that_does() -> float:
    return max(reads_a_clock(), 0.0)


def imports_inside() -> None:
    import subprocess

    subprocess.run(["true"], check=True)


class Waits:
    def __init__(self) -> None:
        self.event = threading.Event()


def makes_one() -> Waits:
    return Waits()


def runs_a_suite(room: Room) -> object:
    return Room(room.folder, room.store).run


def looks_at_given_figures() -> tuple[Factory, Status]:
    return Factory(), Status.OK


@pytest.fixture
def waiting() -> Waits:
    return Waits()


@pytest.fixture
def given() -> Factory:
    return Factory()


@pytest.mark.parametrize("function", [reads_a_clock, uses_one_that_does, imports_inside, makes_one, runs_a_suite])
def test_what_starts_waits_or_reads_a_clock_is_found_through_what_it_uses(function: object) -> None:
    assert _is_timed_use(function)


def test_what_looks_at_given_figures_is_not() -> None:
    assert not _is_timed_use(looks_at_given_figures)


def test_a_test_is_marked_by_its_fixture(waiting: Waits, request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("timed") is not None


def test_a_test_without_such_a_fixture_is_not_marked(given: Factory, request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("timed") is None
