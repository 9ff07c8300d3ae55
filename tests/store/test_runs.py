from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest

from agentdyno.errors import StoreError
from agentdyno.model import Arm, Phase, RunStatus, Sample, Status, Trial
from agentdyno.store import RunRow, Store

from .builders import FIRST_ID, begin, finished, header, run_id, sample


def test_a_trial_is_recorded_once(store: Store) -> None:
    run = begin(store)
    store.runs.append(run, sample(0, duration_s=1.0))
    with pytest.raises(StoreError, match=r"arm-z/measured/0// .* recorded already"):
        store.runs.append(run, sample(0, duration_s=2.0))
    assert store.runs.load(run).arms[0].samples == (sample(0, duration_s=1.0),)


def test_samples_differ_by_case_and_by_instrument(store: Store) -> None:
    run = begin(store)
    for case_id, instrument in (("", ""), ("a", ""), ("", "a"), ("a", "a")):
        store.runs.append(run, replace(sample(0), case_id=case_id, instrument=instrument))
    assert len(store.runs.recorded(run)) == 4


def test_a_cancelled_sample_is_replaced(store: Store) -> None:
    run = begin(store)
    store.runs.append(run, sample(0, status=Status.CANCELLED))
    store.runs.append(run, sample(0))
    assert [s.status for s in store.runs.load(run).arms[0].samples] == [Status.OK]


@pytest.mark.parametrize("status", [Status.ERROR, Status.TIMEOUT, Status.LIMIT])
def test_a_failure_is_replaced_only_on_request(store: Store, status: Status) -> None:
    run = begin(store)
    store.runs.append(run, replace(sample(0, status=status), output="old", scores={"a": 1.0}))
    with pytest.raises(StoreError, match="recorded already"):
        store.runs.append(run, sample(0))
    store.runs.append(run, sample(0), replace=True)
    assert store.runs.load(run).arms[0].samples == (sample(0),)


@pytest.mark.parametrize("status", [Status.OK, Status.FAILED])
def test_an_answer_is_never_replaced(store: Store, status: Status) -> None:
    run = begin(store)
    store.runs.append(run, sample(0, status=status))
    with pytest.raises(StoreError, match="recorded already"):
        store.runs.append(run, sample(0), replace=True)


def test_warm_ups_may_be_repeated_and_are_not_among_the_recorded_trials(store: Store) -> None:
    run = begin(store)
    store.runs.append(run, sample(0, phase=Phase.WARMUP, duration_s=9.0))
    store.runs.append(run, sample(0, phase=Phase.WARMUP))
    assert store.runs.load(run).arms[0].samples == (sample(0, phase=Phase.WARMUP),)
    assert store.runs.recorded(run) == {}


def test_recorded_trials_are_known_by_the_keys_of_the_plan(store: Store) -> None:
    run = begin(store)
    done = Sample("arm-a", Phase.INSTRUMENTED, 3, Status.ERROR, 0, case_id="c/1", instrument="memory")
    store.runs.append(run, done)
    trial = Trial("arm-a", Phase.INSTRUMENTED, 3, "c/1", "memory")
    assert store.runs.recorded(run) == {trial.key: Status.ERROR}


def test_a_trial_of_several_samples_is_recorded_when_it_has_ended_and_unfinished_before(store: Store) -> None:
    run, parts = begin(store), [replace(sample(0), part=number) for number in range(3)]
    store.runs.append(run, parts[0], ended=False)
    store.runs.append(run, parts[1], ended=False)
    assert (store.runs.recorded(run), store.runs.unfinished(run)) == ({}, {sample(0).key: 2})
    store.runs.append(run, parts[2])
    assert (store.runs.recorded(run), store.runs.unfinished(run)) == ({sample(0).key: Status.OK}, {})
    assert store.runs.load(run).arms[0].samples == tuple(parts)
    assert list(store.runs.iter_samples(run)) == parts


def test_a_trial_may_end_after_its_last_sample_and_survives_in_another_process(store: Store) -> None:
    run = begin(store)
    for part in range(2):
        store.runs.append(run, replace(sample(4), part=part, status=list(Status)[part]), ended=False)
    store.runs.end_trial(run, Trial("arm-z", Phase.MEASURED, 4))
    store.runs.commit()
    with Store.open(store.url) as other:
        assert other.runs.recorded(run) == {sample(4).key: Status.FAILED}
        assert other.runs.unfinished(run) == {}


def test_a_trial_that_ended_without_any_sample_is_recorded_and_is_no_sample(store: Store) -> None:
    run, empty = begin(store), Trial("arm-z", Phase.MEASURED, 5, "c")
    store.runs.append(run, sample(4))
    for _ in range(2):
        store.runs.end_trial(run, empty)
    store.runs.commit()
    with Store.open(store.url) as other:
        assert other.runs.recorded(run) == {sample(4).key: Status.OK, empty.key: Status.OK}
        assert other.runs.unfinished(run) == {}
        assert other.runs.load(run).arms[0].samples == (sample(4),)
        assert other.runs.load(run, samples=False).arms[0].samples_total == 1
        assert list(other.runs.iter_samples(run)) == [sample(4)]
        assert other.runs.find_samples(run, "c") == []
        assert [row.samples for row in other.runs.newest()] == [1]


def test_all_samples_of_a_trial_that_is_performed_anew_go_and_no_others(store: Store) -> None:
    run = begin(store)
    for number in (0, 1):
        for part in range(3):
            failed = sample(number, status=Status.ERROR if part == 2 else Status.OK)
            store.runs.append(run, replace(failed, part=part), ended=part == 2)
    store.runs.forget_trial(run, sample(0))
    store.runs.append(run, replace(sample(0), seed=9), replace=True)
    store.runs.commit()
    assert [(item.iteration, item.part, item.seed) for item in store.runs.iter_samples(run)] == [
        *((0, 0, 9), (1, 0, 0), (1, 1, 0), (1, 2, 0)),
    ]
    assert store.runs.recorded(run) == {sample(0).key: Status.OK, sample(1).key: Status.ERROR}


def test_parts_of_a_trial_that_has_not_ended_may_be_measured_again(store: Store) -> None:
    run = begin(store)
    store.runs.append(run, sample(0), ended=False)
    store.runs.append(run, replace(sample(0), seed=9), ended=False)
    assert [item.seed for item in store.runs.iter_samples(run)] == [9]


def test_a_reopened_run_is_running_and_keeps_its_samples(store: Store) -> None:
    run = begin(store)
    store.runs.append(run, sample(0))
    store.runs.finish(finished())
    store.runs.reopen(run)
    loaded = store.runs.load(run)
    assert (loaded.status, loaded.finished_at, loaded.stopped_because) == (RunStatus.RUNNING, None, None)
    assert len(loaded.arms[0].samples) == 1


def test_a_run_that_is_resumed_stood_still_from_its_end_until_then(store: Store) -> None:
    run = begin(store)
    store.runs.append(run, sample(0))
    ended = finished()
    store.runs.finish(ended)
    assert ended.finished_at is not None
    assert store.runs.reopen(run, now_ms=ended.finished_at + 5_000) == 5_000
    store.runs.finish(replace(ended, finished_at=ended.finished_at + 6_000))
    (row,) = store.runs.newest(1)
    assert (row.paused_ms, store.runs.load(run).paused_ms) == (5_000, 5_000)
    assert store.runs.reopen(run, now_ms=ended.finished_at + 7_000) == 6_000, "pauses add up"


def test_a_run_that_nobody_closed_stood_still_from_its_last_sample_on(store: Store) -> None:
    run = begin(store)
    started = store.runs.load(run).started_at
    store.runs.append(run, replace(sample(0), started_at_ms=started + 1_000, readings={"duration_s": 0.5}))
    store.runs.commit()
    assert store.runs.reopen(run, now_ms=started + 9_500) == 8_000


def test_a_run_is_begun_once(store: Store) -> None:
    begin(store)
    with pytest.raises(StoreError, match="in the store already"):
        begin(store)


def test_a_begin_that_fails_leaves_nothing_behind(store: Store) -> None:
    twice = finished().arms[0]
    with pytest.raises(StoreError, match="refused"):
        begin(store, arms=[arm_of(twice.arm_id), arm_of(twice.arm_id)])
    assert store.runs.newest() == []
    begin(store)


def arm_of(arm_id: str) -> Arm:
    return Arm(arm_id, arm_id, "e")


def test_a_sample_of_an_unknown_run_or_arm_is_refused(store: Store) -> None:
    run = begin(store)
    with pytest.raises(StoreError, match="begun without arm nobody"):
        store.runs.append(run, sample(0, arm_id="nobody"))
    with pytest.raises(StoreError, match="there is no run"):
        store.runs.append(run_id(77), sample(0))
    with pytest.raises(StoreError, match="is not a run id"):
        store.runs.append("seventy-seven", sample(0))


def test_a_result_with_an_arm_that_was_never_begun_is_refused(store: Store) -> None:
    begin(store, arms=[arm_of("arm-z")])
    with pytest.raises(StoreError, match="begun without sort size=100"):
        store.runs.finish(finished())
    assert store.runs.load(FIRST_ID).status is RunStatus.RUNNING


def test_runs_are_listed_newest_first_with_their_counts(store: Store) -> None:
    begin(store, run_id(1), name="old", started_at=100)
    begin(store, run_id(2), name="newest", started_at=300)
    begin(store, run_id(3), name="middle", started_at=200, arms=())
    store.runs.append(run_id(1), sample(0))
    store.runs.append(run_id(1), sample(1, status=Status.ERROR))
    store.runs.append(run_id(1), sample(0, arm_id="arm-a", status=Status.TIMEOUT))
    store.runs.append(run_id(1), sample(1, arm_id="arm-a", status=Status.FAILED))
    rows = store.runs.newest()
    assert [row.name for row in rows] == ["newest", "middle", "old"]
    assert replace(rows[2], subjects=()) == RunRow(
        run_id(1), "experiment", "old", RunStatus.RUNNING, 100, None, arms=2, samples=4, errors=2, commit="abc"
    )
    assert [(item.label, item.params, item.side) for item in rows[2].subjects] == [
        ("workload:Sort", "size=10", "baseline"),
        ("x@1", "", "candidate"),
    ]
    assert (rows[1].arms, rows[1].samples) == (0, 0)
    assert [row.name for row in store.runs.newest(limit=1)] == ["newest"]


def test_a_list_of_runs_names_scenarios_of_a_load_and_commands_by_themselves(store: Store) -> None:
    target = "http://local/v1"
    load = Arm("a", "high_load", "high_load", {"target": target, "rate": 20.0}, agent=target)
    command = Arm("b", "sleep 1", "command", {"command": "sleep 1", "shell": "none"})
    begin(store, arms=(load, command))
    (row,) = store.runs.newest()
    assert [(item.label, item.params) for item in row.subjects] == [("high_load", target), ("sleep 1", "")]


def test_the_store_knows_which_runs_it_holds(store: Store) -> None:
    begin(store, run_id(1))
    assert store.runs.has(run_id(1))
    assert not store.runs.has(run_id(2))
    assert not store.runs.has("last")


def test_tags_are_listed(store: Store) -> None:
    store.runs.begin(replace(header(), tags=("a", "b")), (), {})
    assert store.runs.newest()[0].tags == ("a", "b")


def test_last_and_its_predecessors_count_from_the_run_that_started_last(store: Store) -> None:
    for number, started_at in ((1, 100), (2, 300), (3, 200)):
        begin(store, run_id(number), started_at=started_at)
    assert [store.runs.find(r) for r in ("last", "last~0", "last~1", "last~2")] == [
        run_id(2),
        run_id(2),
        run_id(3),
        run_id(1),
    ]
    with pytest.raises(StoreError, match=r"there is no last~3: the store holds 3 runs[\s\S]*last~2"):
        store.runs.find("last~3")


@pytest.mark.parametrize("reference", ["0190aaaa", "0190AAAA-0", "0190aaaa0000", " 0190a "])
def test_a_unique_beginning_of_an_id_is_enough(store: Store, reference: str) -> None:
    wanted = "0190aaaa-0000-7000-8000-000000000001"
    begin(store, wanted)
    begin(store, "0190bbbb-0000-7000-8000-000000000001")
    assert store.runs.find(reference) == wanted
    assert store.runs.find(wanted) == wanted


def test_an_ambiguous_beginning_names_the_candidates(store: Store) -> None:
    for number in (1, 2):
        begin(store, run_id(number), name=f"run {number}")
    with pytest.raises(StoreError) as caught:
        store.runs.find("0190")
    assert "more than one run" in caught.value.message
    assert f"{run_id(1)} (run 1)" in (caught.value.remedy or "")
    assert f"{run_id(2)} (run 2)" in (caught.value.remedy or "")


@pytest.mark.parametrize("reference", ["01900000-0000-7000-8000-000000000002", "last~x", "zzz", "", "-", "f" * 33])
def test_an_unknown_run_names_what_is_known(store: Store, reference: str) -> None:
    begin(store)
    with pytest.raises(StoreError, match="there is no run") as caught:
        store.runs.find(reference)
    assert FIRST_ID in (caught.value.remedy or "")


def test_the_name_of_a_run_is_answered_with_its_id(store: Store) -> None:
    begin(store)
    with pytest.raises(StoreError, match=f"named 'sorting' is {FIRST_ID}"):
        store.runs.find("sorting")


@pytest.mark.parametrize("reference", ["last", "last~4", "0190", "name"])
def test_an_empty_store_says_so(store: Store, reference: str) -> None:
    with pytest.raises(StoreError, match=r"no run yet[\s\S]*dyno run"):
        store.runs.find(reference)


def test_appending_ten_thousand_samples_needs_no_more_memory_than_one_thousand(store: Store) -> None:
    run = begin(store)

    def append(first: int, count: int) -> None:
        for iteration in range(first, first + count):
            store.runs.append(run, sample(iteration))
            if iteration % 100 == 0:
                store.runs.commit()

    append(0, 1_000)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        append(1_000, 10_000)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 100_000
    assert peak - before < 200_000
    assert store.runs.newest()[0].samples == 11_000
