from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentdyno.errors import StoreError
from agentdyno.model import Arm, Calibration, Failure, FailureKind, Phase, RunStatus, Sample, Status
from agentdyno.model.identity import new_run_id
from agentdyno.store import Store

from ..properties import examples
from .builders import ARMS, ENVIRONMENT, SPEC, SUMMARY, begin, finished, header, run_id, sample

ANY_TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.characters(categories=["Cs"], min_codepoint=0xDC80))
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(max_size=12)
BIG = st.integers(0, 2**63 - 1)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
FAILURES = st.builds(
    Failure,
    st.sampled_from(FailureKind),
    ANY_TEXT,
    st.sampled_from(["setup", "execute"]),
    st.none() | ANY_TEXT,
    st.none() | ANY_TEXT,
)
SAMPLES = st.builds(
    Sample,
    arm_id=st.just("arm-z"),
    phase=st.sampled_from(Phase),
    iteration=BIG,
    status=st.sampled_from(Status),
    started_at_ms=BIG,
    readings=st.dictionaries(st.sampled_from(["duration_s", "cpu_s", "", "memory.peak_bytes", "ü"]), NUMBERS),
    case_id=NAMES,
    instrument=NAMES,
    seed=BIG,
    process=st.integers(0, 2**31 - 1),
    inner_loops=BIG,
    attempts=st.integers(0, 2**31 - 1),
    scores=st.dictionaries(NAMES, st.none() | NUMBERS, max_size=3),
    usage=st.dictionaries(NAMES, NUMBERS, max_size=3),
    output=PLAIN,
    details=st.dictionaries(ANY_TEXT, PLAIN, max_size=3),
    failure=st.none() | FAILURES,
)


@examples(150)
@example(replace(sample(0), output=9.223372087217457e18))  # SQLite's own text of it has 15 digits
@given(SAMPLES)
def test_any_sample_comes_back_as_it_was(shared: Store, given_sample: Sample) -> None:
    run = begin(shared, new_run_id())
    shared.runs.append(run, given_sample)
    shared.runs.commit()
    assert shared.runs.load(run).arms[0].samples == (given_sample,)


def test_a_whole_result_comes_back_as_it_was(store_url: str) -> None:
    samples = {"arm-z": tuple(sample(i) for i in range(3)), "arm-a": (sample(0, arm_id="arm-a"),)}
    result = finished(samples)
    with Store.open(store_url) as store:
        begin(store, planned={"arm-z": 3, "arm-a": 3})
        for arm in result.arms:
            for one in arm.samples:
                store.runs.append(result.run_id, one)
        store.runs.finish(result)
    with Store.open(store_url, must_exist=True) as store:
        assert store.runs.load(result.run_id) == result


def test_a_run_without_samples_loaded_still_says_how_many_there_are(store: Store) -> None:
    run = begin(store)
    for i in range(4):
        store.runs.append(run, sample(i))
    arm = store.runs.load(run, samples=False).arms[0]
    assert (arm.samples_total, arm.samples) == (4, ())


def test_arms_come_back_in_the_order_of_the_plan_and_samples_by_phase_and_iteration(store: Store) -> None:
    run = begin(store)
    for phase, iteration in (
        (Phase.INSTRUMENTED, 0),
        (Phase.MEASURED, 10),
        (Phase.MEASURED, 9),
        (Phase.WARMUP, 0),
        (Phase.MEASURED, 0),
    ):
        store.runs.append(run, sample(iteration, phase=phase))
    loaded = store.runs.load(run)
    assert [arm.arm_id for arm in loaded.arms] == ["arm-z", "arm-a"]
    assert [(s.phase.value, s.iteration) for s in loaded.arms[0].samples] == [
        ("warmup", 0),
        ("measured", 0),
        ("measured", 9),
        ("measured", 10),
        ("instrumented", 0),
    ]


def test_readings_that_are_no_finite_number_are_left_out_and_such_scores_are_unknown(store: Store) -> None:
    run = begin(store)
    odd = replace(sample(0), readings={"duration_s": math.inf, "cpu_s": 1.0, "x": math.nan}, scores={"a": math.nan})
    store.runs.append(run, odd)
    loaded = store.runs.load(run).arms[0].samples[0]
    assert loaded.readings == {"cpu_s": 1.0}
    assert loaded.scores == {"a": None}


def test_a_metric_without_finite_figures_does_not_make_the_run_unreadable(store: Store) -> None:
    result = finished()
    metrics = {"duration_s": SUMMARY, "x": replace(SUMMARY, mean=math.nan)}
    begin(store)
    store.runs.finish(replace(result, arms=(replace(result.arms[0], metrics=metrics),)))
    assert set(store.runs.load(result.run_id).arms[0].metrics) == {"duration_s"}


@pytest.mark.parametrize("output", [object(), b"bytes", {"deep": [set, 1]}])
def test_an_output_without_a_json_form_is_refused_and_the_group_goes_on(store: Store, output: object) -> None:
    run = begin(store)
    store.runs.append(run, sample(0))
    with pytest.raises(StoreError, match="cannot be kept as JSON"):
        store.runs.append(run, replace(sample(1), output=output))
    store.runs.append(run, sample(2))
    store.runs.commit()
    assert [s.iteration for s in store.runs.load(run).arms[0].samples] == [0, 2]


@pytest.mark.parametrize("odd", [{"case_id": "\ud800"}, {"seed": 2**63}, {"readings": {"x": "text"}}])
def test_a_value_that_no_column_can_hold_is_refused_with_a_store_error(store: Store, odd: dict[str, object]) -> None:
    run = begin(store)
    with pytest.raises(StoreError, match=r"cannot be stored|not a number"):
        store.runs.append(run, replace(sample(0), **odd))  # type: ignore[arg-type]
    assert store.runs.recorded(run) == {}


def test_empty_values_are_null_in_the_database(store: Store) -> None:
    run = begin(store, arms=[Arm("arm-z", "plain", "e")])
    store.runs.append(run, Sample("arm-z", Phase.MEASURED, 0, Status.OK, 0))
    columns = "duration_s, cpu_s, readings, scores, usage, output, details, failure"
    with store.session as session:
        row = session.connection.exec_driver_sql(f"SELECT {columns} FROM samples").one()
        arm = session.connection.exec_driver_sql("SELECT params, observed, metrics, scores, statuses FROM arms").one()
    assert set(row) == {None}
    assert set(arm) == {None}


def test_runs_that_share_a_spec_and_a_machine_store_them_once(store: Store) -> None:
    for number in range(3):
        begin(store, run_id(number))
    store.runs.begin(replace(header(run_id(9)), spec=replace(SPEC, seed=1)), ARMS, {})
    with store.session as session:
        counts = [
            session.connection.exec_driver_sql(f"SELECT count(*) FROM {t}").scalar()
            for t in ("specs", "environments")
        ]
    assert counts == [2, 1]
    assert store.runs.load(run_id(2)).environment == ENVIRONMENT
    assert store.runs.load(run_id(9)).spec.seed == 1


def test_small_artifacts_are_kept_in_the_store_and_large_or_outside_ones_are_not(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    (folder / "artifacts").mkdir(parents=True)
    (folder / "artifacts" / "arm-z.txt").write_bytes(b"hello")
    (folder / "artifacts" / "arm-a.txt").write_bytes(b"x" * 100_000)
    (tmp_path / "secret").write_bytes(b"12345")
    result = finished()
    outside = replace(result.arms[0].artifacts[0], path="../secret")
    first = replace(result.arms[0], artifacts=(*result.arms[0].artifacts, outside))
    begin(store)
    store.runs.finish(replace(result, arms=(first, result.arms[1])), folder=folder)
    assert store.runs.load_artifact(result.run_id, "artifacts/arm-z.txt") == b"hello"
    assert store.runs.load_artifact(result.run_id, "artifacts/arm-a.txt") is None
    assert store.runs.load_artifact(result.run_id, "../secret") is None
    assert store.runs.load_artifact(result.run_id, "never/listed") is None


def test_finishing_twice_replaces_what_was_concluded_before(store: Store) -> None:
    begin(store)
    store.runs.finish(finished())
    store.runs.finish(replace(finished(), status=RunStatus.COMPLETE))
    loaded = store.runs.load(finished().run_id)
    assert loaded.status is RunStatus.COMPLETE
    assert [len(arm.artifacts) for arm in loaded.arms] == [1, 1]


def test_the_latest_calibration_of_a_machine_is_the_one_measured_last(store: Store) -> None:
    newest = Calibration("m1", 200, 40, 30, 0.021, 2)
    for calibration in (Calibration("m1", 100, 1, 1, 0.5, 0), newest, Calibration("m1", 150, 1, 1, 0.4, 0)):
        store.runs.save_calibration(calibration)
    store.runs.save_calibration(Calibration("m2", 300, 1, 1, 0.3, 0))
    assert store.runs.latest_calibration("m1") == newest
    assert store.runs.latest_calibration("unknown") is None
