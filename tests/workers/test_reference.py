"""Reference readings: how fast the host is, on a budget."""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.workers import reference
from agentdyno.workers.reference import ALLOWANCE_S, PROCESS, SHARE, SPENT, References, budget_s

COST_S = 0.001


class Scripted:
    """References whose readings are given; each costs a millisecond of CPU time, which passes by nothing else."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, interpreted: Iterator[float]) -> None:
        self.now_ns = self.interpreted = self.copied = 0
        monkeypatch.setattr(reference, "thread_time_ns", lambda: self.now_ns)
        monkeypatch.setattr(reference, "interpreted_s", lambda: self._read(interpreted))
        monkeypatch.setattr(reference, "memory_s", self._copy)

    def _read(self, values: Iterator[float]) -> float:
        self.now_ns += int(COST_S * 1e9)
        self.interpreted += 1
        return next(values)

    def _copy(self) -> float:
        self.copied += 1
        return 2e-4


def steady() -> Iterator[float]:
    while True:
        yield 1e-4


@given(st.floats(0, 1e4), st.floats(1e-3, 1.0))
def test_no_more_is_spent_than_the_allowance_or_the_share_whichever_is_more(
    worked_s: float, allowance_s: float
) -> None:
    assert 0 <= budget_s(worked_s, allowance_s) <= max(allowance_s, SHARE * worked_s) * (1 + 1e-9)


@given(st.floats(0, 100), st.floats(0, 100))
def test_the_budget_never_shrinks(first_s: float, second_s: float) -> None:
    low, high = sorted((first_s, second_s))
    assert budget_s(low, ALLOWANCE_S) <= budget_s(high, ALLOWANCE_S) + 1e-12


def test_the_allowance_is_used_up_just_when_the_share_takes_over() -> None:
    assert budget_s(15.0, 0.3) == pytest.approx(0.3)
    assert budget_s(15.0 / 16, 0.3) == pytest.approx(0.15)
    assert budget_s(100.0, 0.3) == pytest.approx(2.0)
    assert budget_s(0.0, 0.3) == 0.0


def test_readings_stay_within_the_budget_however_many_samples_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Scripted(monkeypatch, steady())
    references = References(0.3)
    references.begin()
    for _ in range(10_000):
        references.worked(0.001)
    assert references.now()[SPENT] <= budget_s(10.0, 0.3) + COST_S
    assert script.interpreted == pytest.approx(budget_s(10.0, 0.3) / COST_S, abs=2)
    assert script.copied == (script.interpreted + 5) // 8


def test_what_is_known_is_the_median_of_the_latest_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted(monkeypatch, iter([9e-4, 1e-4, 2e-4, 3e-4, 4e-4, 5e-4]))
    references = References(0.3)
    references.begin()
    assert references.now()["reference.interpreted"] == 9e-4
    for _ in range(5):
        references.worked(10.0)
    now = references.now()
    assert now["reference.interpreted"] == 3e-4
    assert now["reference.memory"] == 2e-4
    assert now[PROCESS] == os.getpid()


def test_without_an_allowance_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Scripted(monkeypatch, steady())
    references = References(0.0)
    references.begin()
    references.worked(1000.0)
    assert not references.wanted
    assert script.interpreted == 0


def test_real_readings_are_positive_seconds() -> None:
    references = References(0.3)
    references.begin()
    assert "reference.memory" not in references.now()
    for _ in range(3):
        references.worked(100.0)
    now = references.now()
    assert now["reference.interpreted"] > 0
    assert now["reference.memory"] > 0


def test_without_memory_there_is_no_reading_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no memory")

    monkeypatch.setattr(mmap, "mmap", refuse)
    assert reference.memory_s() is None


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Files of threads that were opened; each says that its thread has waited for two seconds."""
    files: list[int] = []

    def open_file(_path: str, flags: int) -> int:
        files.append(os.open(tmp_path / "schedstat", flags))
        return files[-1]

    (tmp_path / "schedstat").write_bytes(b"5000000000 2000000000 17\n")
    monkeypatch.setattr(reference, "open_file", open_file)
    return files


def test_the_file_of_a_thread_stays_open_and_each_thread_has_its_own(opened: list[int]) -> None:
    references = References(0.3)
    assert [references.queued_s(), references.queued_s()] == [2.0, 2.0]
    assert len(opened) == 1
    thread = threading.Thread(target=references.queued_s)
    thread.start()
    thread.join()
    assert len(opened) == 2
    references.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[-1])


def test_a_file_that_the_measured_code_closed_is_unknown_once_and_then_opened_anew(opened: list[int]) -> None:
    references = References(0.3)
    references.queued_s()
    os.close(opened[0])
    assert [references.queued_s(), references.queued_s()] == [None, 2.0]
    references.close()


def test_what_the_system_counts_never_goes_back() -> None:
    references = References(0.3)
    found = [seconds for seconds in (references.queued_s() for _ in range(3)) if seconds is not None]
    references.close()
    assert found == sorted(found)


def test_where_nobody_wants_readings_waiting_is_not_read() -> None:
    assert References(0.0).queued_s() is None


def test_where_the_system_does_not_count_waiting_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise FileNotFoundError

    monkeypatch.setattr(reference, "open_file", refuse)
    assert References(0.3).queued_s() is None
