"""Result files: those of an older schema load, those that cannot be read say why and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import ResultError
from agentdyno.model import Failure, FailureKind, RunStatus, RunWarning, Status, Strategy, Vcs
from agentdyno.model.codec import encode
from agentdyno.model.result_file import decode_result

from ..properties import examples

DRAFT = Path(__file__).parent / "data" / "result-v0.json"
CURRENT = encode(decode_result(DRAFT.read_text(encoding="utf-8"), "v0"), indent=1)


def refusal(text: str) -> ResultError:
    with pytest.raises(ResultError) as caught:
        decode_result(text, "runs/result.json")
    assert caught.value.where == "runs/result.json"
    assert caught.value.remedy
    return caught.value


def changed(**changes: Any) -> str:
    return json.dumps({**json.loads(CURRENT), **changes})


def test_a_file_of_schema_0_still_loads_with_its_exact_values() -> None:
    result = decode_result(DRAFT.read_text(encoding="utf-8"), str(DRAFT))
    assert result.schema_version == 1
    assert result.run_id == "018f2b6e-5d00-7abc-8def-0123456789ab"
    assert (result.status, result.started_at, result.finished_at) == (
        RunStatus.COMPLETE,
        1714521600000,
        1714521605250,
    )
    assert result.tags == ("nightly", "größe")
    assert result.vcs == Vcs("4f2d8c1", "main", False)
    assert result.warnings == (RunWarning("noisy", "typical deviation is 7% of the median"),)
    entry = result.spec.entries[0]
    assert (entry.sweep, entry.strategy, entry.iterations.warmup) == ({"size": (10, 100)}, Strategy.CARTESIAN, 2)
    first, second = result.arms
    assert first.params == {"order": "random", "size": 10}
    assert first.metrics["duration_s"].ci == (0.0015, 0.0025)
    assert first.metrics["duration_s"].median == 0.00175
    assert first.metrics["result.swaps"].ci is None
    assert [dict(sample.readings) for sample in first.samples] == [
        {"result.swaps": 12.0, "duration_s": 0.00175, "cpu_s": 0.0017},
        {"duration_s": 0.0025},
        {},
    ]
    assert [sample.inner_loops for sample in first.samples] == [1, 1, 1]
    assert first.samples[2].status is Status.ERROR
    assert first.samples[2].failure == Failure(FailureKind.EXCEPTION, "ValueError: no order")
    assert (second.samples, second.metrics, second.side) == ((), {}, None)


def test_an_old_file_is_written_in_the_current_schema() -> None:
    assert json.loads(CURRENT)["schema_version"] == 1
    assert decode_result(CURRENT, "again") == decode_result(DRAFT.read_text(encoding="utf-8"), "v0")


def test_a_newer_schema_is_refused_and_the_remedy_is_to_upgrade() -> None:
    error = refusal(changed(schema_version=2))
    assert error.message == "schema version 2 is newer than this agentdyno reads (up to 1)"
    assert error.remedy == "Upgrade agentdyno."


@pytest.mark.parametrize("version", ["1", None, True, 1.0, -1, [1]])
def test_a_schema_version_that_is_no_version_is_damage_and_not_news(version: object) -> None:
    error = refusal(changed(schema_version=version))
    assert error.message == f"damaged result: schema_version: expected a whole number, got {version!r}"


@examples(200)
@given(st.data())
def test_a_file_that_ends_early_is_called_cut_off_wherever_it_ends(data: st.DataObject) -> None:
    end = data.draw(st.integers(1, len(CURRENT.rstrip()) - 1))
    assert refusal(CURRENT[:end]).message == "the file is cut off"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        (" \n", "the file is empty"),
        ("hello", "not JSON: Expecting value"),
        ("schema_version: 1\nrun_id: x\n", "not JSON: Expecting value"),
        ("{'schema_version': 1}", "not JSON: Expecting property name"),
        ('{"a": 1} {"b": 2}', "not JSON: Extra data"),
        ("[" * 100_000, "not JSON of ours: nested too deep"),
    ],
)
def test_what_is_not_json_is_called_that(text: str, said: str) -> None:
    assert refusal(text).message.startswith(said)


@pytest.mark.parametrize(
    "text", ["[]", "3", "null", '"x"', "{}", '{"schema_version": 1}', '{"run_id": "x", "arms": []}']
)
def test_json_that_is_not_ours_is_told_from_a_result(text: str) -> None:
    error = refusal(text)
    assert error.message == "not an agentdyno result (no schema_version and run_id)"
    assert "result.json" in str(error.remedy)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"status": "done"}, "RunResult.status: 'done' is none of running, complete, partial, failed"),
        ({"seed": "7"}, "RunResult.seed: expected int, got str"),
        ({"arms": None}, "RunResult.arms: expected a list, got NoneType"),
        ({"arms": [{"arm_id": "a", "name": "n"}]}, "RunResult.arms[0].experiment is missing"),
        ({"environment": {}}, "RunResult.environment.machine_id is missing"),
        ({"tags": [1]}, "RunResult.tags[0]: expected str, got int"),
        ({"run_id": 5}, "RunResult.run_id: expected str, got int"),
    ],
)
def test_a_damaged_field_is_named(changes: dict[str, object], said: str) -> None:
    assert refusal(changed(**changes)).message == f"damaged result: {said}"


@pytest.mark.parametrize(
    "changes",
    [
        {"arms": None},
        {"arms": ["x"]},
        {"arms": [{"metrics": []}]},
        {"arms": [{"metrics": {"x": 1}}]},
        {"arms": [{"samples": [None]}]},
        {"arms": [{"samples": [{"readings": 7}]}]},
    ],
)
def test_a_damaged_file_of_schema_0_is_refused_too(changes: dict[str, object]) -> None:
    assert refusal(changed(schema_version=0, **changes)).message.startswith("damaged result: ")


def test_a_reading_that_an_old_file_holds_as_null_is_left_out() -> None:
    plain = json.loads(CURRENT)
    plain["arms"][0]["samples"][0]["readings"]["cpu_s"] = None
    assert "cpu_s" not in decode_result(json.dumps(plain), "x").arms[0].samples[0].readings
