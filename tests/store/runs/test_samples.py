from __future__ import annotations

import tracemalloc
from dataclasses import replace
from random import Random

import pytest

from agentdyno.errors import StoreError
from agentdyno.model import Phase, Sample, Status
from agentdyno.store import Store
from agentdyno.store.runs.samples import PAGE

from ..builders import FIRST_ID, begin, sample
from ..suite_builders import AGENTS, answer, begin_suite, suite_header


def fill(store: Store, run: str, count: int) -> None:
    """More than a page of samples of both arms, appended in no order."""
    made = [
        replace(sample(i % 3, arm_id=arm_id), case_id=f"Case-{i // 3:04d}" if i % 2 else f"case-{i // 3:04d}")
        for arm_id in ("arm-z", "arm-a")
        for i in range(count)
    ]
    made.append(sample(0, phase=Phase.WARMUP))
    made.append(replace(sample(0, phase=Phase.INSTRUMENTED), instrument="memory", case_id="ä\x00"))
    Random(1).shuffle(made)
    for one in made:
        store.runs.append(run, replace(one, details={"events": [one.case_id]}))
    store.runs.commit()


def test_samples_are_read_page_by_page_in_the_order_of_a_whole_run(store: Store) -> None:
    run = begin(store)
    fill(store, run, 2 * PAGE + 7)
    loaded = store.runs.load(run)
    whole = [one for arm in loaded.arms for one in arm.samples]
    assert list(store.runs.iter_samples(run, details=True)) == whole
    assert list(store.runs.iter_samples(run)) == [replace(one, details={}) for one in whole]
    assert list(store.runs.iter_samples(run, arm_id="arm-a", details=True)) == list(loaded.arms[1].samples)
    timed = [one for one in whole if one.phase is Phase.MEASURED]
    assert list(store.runs.iter_samples(run, details=True, measured=True)) == timed != whole


def test_a_page_that_is_exactly_full_is_not_read_twice(store: Store) -> None:
    run = begin(store)
    for i in range(PAGE):
        store.runs.append(run, sample(i))
    assert [one.iteration for one in store.runs.iter_samples(run)] == list(range(PAGE))


def test_the_store_may_be_written_while_samples_are_read(store: Store) -> None:
    run = begin(store)
    fill(store, run, PAGE + 1)
    seen = 0
    for one in store.runs.iter_samples(run, arm_id="arm-a"):
        store.runs.append(run, replace(one, arm_id="arm-z", instrument="copy"))
        store.runs.commit()
        seen += 1
    assert seen == PAGE + 1


def test_reading_samples_one_by_one_does_not_hold_them_all(store: Store) -> None:
    run = begin(store)
    for i in range(4 * PAGE):
        store.runs.append(run, replace(sample(i), output="x" * 2_000))
    store.runs.commit()

    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            for _, one in zip(range(count), store.runs.iter_samples(run), strict=False):
                assert one.output
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    assert peak(4 * PAGE) < 2.5 * peak(PAGE // 2)


def test_samples_of_an_unknown_arm_or_run_are_refused(store: Store) -> None:
    run = begin(store)
    with pytest.raises(StoreError, match="begun without arm nobody"):
        list(store.runs.iter_samples(run, arm_id="nobody"))
    with pytest.raises(StoreError, match="there is no run"):
        list(store.runs.iter_samples(FIRST_ID[:-1] + "9"))


def test_a_case_is_found_with_everything_that_was_kept_of_it(store: Store) -> None:
    arms = begin_suite(store, suite_header())
    kept: list[Sample] = []
    for arm in arms[: len(AGENTS)]:
        for epoch in (1, 0):
            one = replace(answer(arm.arm_id, "one", epoch), details={"events": [{"kind": "note"}]}, output="2")
            store.runs.append(FIRST_ID, one)
            store.runs.append(FIRST_ID, answer(arm.arm_id, "two", epoch))
            kept.append(one)
    found = store.runs.find_samples(FIRST_ID, "one")
    assert found == [kept[1], kept[0], kept[3], kept[2]]
    assert store.runs.find_samples(FIRST_ID, "nothing") == []


def test_scores_are_replaced_and_nothing_else_is(store: Store) -> None:
    arm, other, *_ = begin_suite(store, suite_header())
    before = [replace(answer(arm.arm_id, "one", epoch), output="kept") for epoch in range(3)]
    for one in (*before, answer(other.arm_id, "one")):
        store.runs.append(FIRST_ID, one)
    rescored = [
        replace(one, status=Status.FAILED, scores={"score": 0.25}, details={"scoring": ["again"]}, output="ignored")
        for one in before[:2]
    ]
    assert store.runs.update_scores(FIRST_ID, iter(rescored)) == 2
    assert list(store.runs.iter_samples(FIRST_ID, details=True)) == [
        *(replace(one, output="kept") for one in rescored),
        before[2],
        answer(other.arm_id, "one"),
    ]


def test_scores_of_samples_that_are_not_recorded_change_nothing(store: Store) -> None:
    arm, *_ = begin_suite(store, suite_header())
    store.runs.append(FIRST_ID, answer(arm.arm_id, "one"))
    changed = replace(answer(arm.arm_id, "one"), scores={})
    with pytest.raises(StoreError, match="no sample of 1 trials"):
        store.runs.update_scores(FIRST_ID, [changed, answer(arm.arm_id, "two")])
    with pytest.raises(StoreError, match="begun without arm nobody"):
        store.runs.update_scores(FIRST_ID, [changed, answer("nobody", "one")])
    assert list(store.runs.iter_samples(FIRST_ID, details=True)) == [answer(arm.arm_id, "one")]


def test_samples_may_be_rescored_while_they_are_read(store: Store) -> None:
    run = begin(store)
    for i in range(PAGE + 5):
        store.runs.append(run, sample(i))
    store.runs.update_scores(run, (replace(one, scores={"score": 1.0}) for one in store.runs.iter_samples(run)))
    assert {one.scores["score"] for one in store.runs.iter_samples(run)} == {1.0}
