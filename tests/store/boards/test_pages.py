"""Long lists a page at a time: every row once, whatever is added in between."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import Phase, RunStatus, Sample, Status
from agentdyno.store import Store
from agentdyno.store.boards.pages import After, AfterSample, ResultFilter, SampleFilter

from ..builders import begin, run_id, sample
from ..suite_builders import AGENTS, MONDAY, run_suite, suite_header

NAME = AGENTS[0].rpartition("@")[0]


def fill(store: Store, run: str, count: int) -> None:
    """Samples of both arms and of every phase, appended in no order."""
    made = [
        replace(sample(i % 3, arm_id=arm_id), case_id=f"{'Case' if i % 2 else 'case'}-{i // 3:03d}")
        for arm_id in ("arm-z", "arm-a")
        for i in range(count)
    ]
    made += [sample(0, phase=Phase.WARMUP), replace(sample(0, phase=Phase.INSTRUMENTED), case_id="ä\x00")]
    Random(1).shuffle(made)
    for one in made:
        store.runs.append(run, one)
    store.runs.commit()


def walk(store: Store, run: str, wanted: SampleFilter, limit: int) -> list[Sample]:
    found: list[Sample] = []
    after: AfterSample | None = None
    while page := store.runs.sample_page(run, wanted, after, limit=limit):
        assert len(page) <= limit
        found += page
        last = page[-1]
        after = AfterSample(last.arm_id, last.phase.value, last.iteration, last.case_id, last.instrument)
    return found


@pytest.mark.parametrize("limit", [1, 7, 40, 1000])
def test_pages_of_samples_are_the_whole_run_in_its_order(store: Store, limit: int) -> None:
    run = begin(store)
    fill(store, run, 20)
    whole = [one for arm in store.runs.load(run).arms for one in arm.samples]
    assert walk(store, run, SampleFilter(), limit) == whole
    measured = [one for one in whole if one.phase is Phase.MEASURED]
    assert walk(store, run, SampleFilter(phase=Phase.MEASURED), limit) == measured


def test_samples_are_found_by_what_they_are(store: Store) -> None:
    run = begin(store)
    fill(store, run, 6)
    store.runs.append(run, replace(sample(9, status=Status.ERROR), case_id="case-000"))
    store.runs.commit()

    def count(**wanted: object) -> int:
        return len(walk(store, run, SampleFilter(**wanted), 2))  # type: ignore[arg-type]

    assert count(statuses=[Status.ERROR]) == 1
    assert count(statuses=[Status.ERROR, Status.OK]) == count()
    assert count(statuses=[Status.TIMEOUT, Status.LIMIT]) == 0
    assert count(arm="arm-a") + count(arm="arm-z") == count()
    assert count(arm="arm-a", statuses=[Status.ERROR]) == 0
    assert count(arm="arm") == 0
    assert count(case_id="case-000") == 5
    assert count(agent="x") == count(agent="x@1") == count(benchmark="b") == 6
    assert count(agent="X") == count(agent="x@") == count(benchmark="B") == 0


def test_a_place_that_is_not_in_the_run_is_refused(store: Store) -> None:
    run = begin(store)
    for after in (AfterSample("arm-q", "measured", 0, "", ""), AfterSample("arm-z", "asleep", 0, "", "")):
        with pytest.raises(SpecError, match="no place in the samples"):
            store.runs.sample_page(run, SampleFilter(), after, limit=5)


def test_pages_of_runs_hold_those_of_one_moment_and_leave_out_newer_ones(store: Store) -> None:
    for number in range(1, 8):
        begin(store, run_id(number), name="odd" if number % 2 else "even")
    seen: list[str] = []
    after = None
    while page := store.runs.page(after=after, limit=3):
        seen += [row.run_id for row in page]
        after = After(page[-1].started_at, page[-1].run_id)
        begin(store, run_id(100 + len(seen)), started_at=1_800_000_000_000)
    assert seen == [run_id(number) for number in range(7, 0, -1)]
    assert [row.run_id for row in store.runs.page(name="even", limit=2)] == [run_id(6), run_id(4)]
    assert store.runs.page(kind="suite", limit=5) == []


def test_runs_are_found_by_how_they_stand(store: Store) -> None:
    for number in range(1, 5):
        begin(store, run_id(number))
    for number, status in ((2, RunStatus.COMPLETE), (3, RunStatus.PARTIAL)):
        store.runs.finish(replace(store.runs.load(run_id(number)), status=status))

    def found(*statuses: RunStatus) -> list[str]:
        return [row.run_id for row in store.runs.page(statuses=statuses, limit=5)]

    assert found(RunStatus.RUNNING) == [run_id(4), run_id(1)]
    assert found(RunStatus.PARTIAL, RunStatus.COMPLETE) == [run_id(3), run_id(2)]
    assert found(RunStatus.FAILED) == []
    assert found() == [run_id(number) for number in (4, 3, 2, 1)]


def test_pages_of_executions_hold_every_one_once(store: Store) -> None:
    for number in range(1, 5):
        run_suite(store, suite_header(run_id(number), started_at=MONDAY), dict.fromkeys(AGENTS, 0.5))
    known = [row.uid for row in store.boards.executions() if row.agent == NAME]
    seen: list[str] = []
    after = None
    while page := store.boards.execution_page(ResultFilter(NAME), after, limit=3):
        seen += [row.uid for row in page]
        after = After(page[-1].created_at, page[-1].uid)
    assert seen == known


def test_the_newest_execution_of_each_benchmark_is_found(store: Store) -> None:
    for number in (1, 2, 3):
        header = suite_header(run_id(number), started_at=MONDAY + number)
        run_suite(store, header, {AGENTS[0]: number / 10}, finished_at=MONDAY + 10 * number)
    found = store.boards.execution_page(ResultFilter(NAME, latest=True), limit=50)
    assert {row.accuracy for row in found} == {0.3}
    assert len({row.benchmark for row in found}) == len(found) > 1
    earlier = store.boards.execution_page(ResultFilter(NAME, since=MONDAY + 20), limit=50)
    assert {row.accuracy for row in earlier} == {0.2, 0.3}
    assert store.boards.execution_page(ResultFilter(NAME, version="0"), limit=5) == []
    assert store.boards.execution_page(ResultFilter(NAME, suite="nothing"), limit=5) == []
