from __future__ import annotations

from dataclasses import replace

import numpy as np

from agentdyno.findings.engine.pairing import pair_records

from ..duel_builders import answered, bench, record, scored


def test_cases_pair_by_benchmark_id_and_what_is_asked() -> None:
    first = record("a@1", [answered("x"), answered("y"), answered("z"), answered("x", benchmark="other")])
    second = record("b@1", [answered("x"), answered("y", digest="changed"), answered("w")])
    found = pair_records(first, second)
    assert [(key.benchmark, key.case_id) for key in found.keys] == [("facts", "x")]
    # z and w have one side only, y asks something else; the other benchmark is not common.
    assert (found.missed, found.changed) == (2, 1)


def test_one_benchmark_can_be_taken_alone() -> None:
    cases = [answered("x"), answered("y", benchmark="other")]
    first, second = record("a@1", cases), record("b@1", cases)
    assert [key.case_id for key in pair_records(first, second, "other").keys] == ["y"]
    whole = pair_records(first, second)
    assert [key.case_id for key in whole.within("other").keys] == ["y"]
    assert whole.within("missing").keys == ()
    assert whole.within("missing").cluster_count == 0


def test_groups_are_clusters_within_a_benchmark() -> None:
    cases = [
        answered("a", group="g"),
        answered("b", group="g"),
        answered("c"),
        answered("d", benchmark="other", group="g"),
    ]
    found = pair_records(record("a@1", cases), record("b@1", cases))
    assert found.clusters.tolist() == [0, 0, 1, 2]
    assert found.cluster_count == 3
    assert found.only(np.array([False, False, True, True])).clusters.tolist() == [0, 1]


def test_unknown_and_impossible_readings_are_not_numbers() -> None:
    cases = [answered("a", score=float("nan"), duration_s=float("inf")), answered("b", None, duration_s=-1.0)]
    found = pair_records(record("a@1", cases), record("b@1", cases))
    assert np.isnan(found.first.score).all()
    assert np.isnan(found.first.used("duration_s")).all()
    assert np.isnan(found.first.used("cost_usd")).all()


def test_runs_are_the_same_where_every_common_benchmark_is_of_one_run() -> None:
    first = scored("a@1", [1.0])
    assert pair_records(first, scored("b@1", [1.0])).same_run
    later = scored("b@1", [1.0], benchmarks=[bench(run_id="run-2")])
    assert not pair_records(first, later).same_run
    unknown = scored("a@1", [1.0], benchmarks=[bench(run_id="")])
    assert not pair_records(unknown, replace(unknown, agent="b@1")).same_run


def test_machines_must_be_known_and_equal() -> None:
    first = scored("a@1", [1.0])
    assert pair_records(first, first).same_machine
    assert not pair_records(first, replace(first, machine_id="other")).same_machine
    nowhere = replace(first, machine_id="")
    assert not pair_records(nowhere, nowhere).same_machine


def test_one_agent_in_two_runs_is_told_apart_by_them() -> None:
    first = scored("a@1", [1.0], benchmarks=[bench(run_id="0123456789-x")])
    second = scored("a@1", [1.0], benchmarks=[bench(run_id="0123456789-y")])
    assert pair_records(first, second).labels == ("0123456789-x:a@1", "0123456789-y:a@1")
    assert pair_records(first, first).labels == ("baseline:a@1", "candidate:a@1")
    assert pair_records(first, scored("b@1", [1.0])).labels == ("a@1", "b@1")


def test_targets_are_the_baselines_where_it_has_them() -> None:
    first = scored("a@1", [1.0], benchmarks=[bench(targets={"duration_s": (1.0, 2.0)})])
    second = scored("b@1", [1.0], benchmarks=[bench(targets={"duration_s": (5.0, 9.0), "cost_usd": (1.0, 3.0)})])
    assert pair_records(first, second).targets("facts") == {"duration_s": (1.0, 2.0), "cost_usd": (1.0, 3.0)}
