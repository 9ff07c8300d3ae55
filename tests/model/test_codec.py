"""Values of the vocabulary survive a trip through JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import agentdyno.model
from agentdyno.model import (
    Arm,
    Comparison,
    Direction,
    ExperimentInfo,
    Failure,
    FailureKind,
    Metric,
    MetricSummary,
    Phase,
    Plan,
    Provenance,
    RunResult,
    Sample,
    Side,
    Spec,
    Status,
    Trial,
    Vcs,
)
from agentdyno.model.codec import encode, from_plain, to_plain
from agentdyno.model.result_file import decode_result
from agentdyno.model.sample import LEFT_OUT

from ..properties import examples
from .strategies import json_values, values_of

slow_to_build = examples(50)


def through_json(value: Any) -> Any:
    text = encode(value)
    text.encode("utf-8")
    return from_plain(type(value), json.loads(text))


@pytest.mark.parametrize(
    "kind", [Sample, Spec, Arm, Trial, Plan, Comparison, ExperimentInfo], ids=lambda kind: kind.__name__
)
@slow_to_build
@given(data=st.data())
def test_every_value_comes_back_equal(kind: type, data: st.DataObject) -> None:
    value = data.draw(values_of(kind))
    assert through_json(value) == value


@slow_to_build
@given(result=values_of(RunResult))
def test_a_result_comes_back_equal_from_its_file(result: RunResult) -> None:
    current = replace(result, schema_version=1)
    assert decode_result(encode(current, indent=1), "result.json") == current


@given(value=json_values)
def test_plain_json_stays_what_it_is(value: object) -> None:
    assert to_plain(value) == value


@slow_to_build
@given(value=json_values, indent=st.integers(0, 3))
@example(value={"a": [], "b": {}, "c": [[1.5, -0.0, 10**20], {"": None}], "ä\n": [True, False, 1e300]}, indent=1)
def test_indented_json_is_what_the_standard_library_writes(value: object, indent: int) -> None:
    assert encode(value, indent=indent) == json.dumps(value, indent=indent, ensure_ascii=False)


def test_names_that_are_texts_of_another_type_are_indented_as_the_texts_they_are() -> None:
    class Name(str):
        pass

    assert encode({"of": Name("a"), "level": Level.HIGH}, indent=1) == '{\n "of": "a",\n "level": 3\n}'


@dataclass(frozen=True)
class Rare:
    always: tuple[str, ...] = ()
    names: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    bounds: Mapping[str, float] | None = field(default=None, metadata=LEFT_OUT)


def test_a_field_that_is_rare_is_written_only_where_it_differs_from_its_default_an_empty_tuple_too() -> None:
    assert to_plain(Rare()) == {"always": []}
    assert to_plain(Rare(names=("a",), bounds={"x": 1.0})) == {"always": [], "names": ["a"], "bounds": {"x": 1.0}}
    assert through_json(Rare()) == Rare()
    assert through_json(Rare(names=("a",))) == Rare(names=("a",))


def sample(**changes: Any) -> Sample:
    return replace(Sample("arm", Phase.MEASURED, 0, Status.OK, 5), **changes)


def test_types_are_restored_and_not_only_values() -> None:
    failed = sample(status=Status.ERROR, failure=Failure(FailureKind.EXIT, "gone"), phase=Phase.INSTRUMENTED)
    back = through_json(failed)
    assert back.status is Status.ERROR
    assert back.phase is Phase.INSTRUMENTED
    assert isinstance(back.failure, Failure)
    assert through_json(Plan((), (), {"a": 1})).arms == ()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_null_in_json_and_missing_afterwards(value: float) -> None:
    odd = sample(readings={"duration_s": 0.5, "result.x": value}, output={"deep": [value]}, scores={"right": value})
    plain = json.loads(encode(odd))
    assert plain["readings"] == {"duration_s": 0.5, "result.x": None}
    back = from_plain(Sample, plain)
    assert back.readings == {"duration_s": 0.5}
    assert back.output == {"deep": [None]}
    assert back.scores == {"right": None}


@pytest.mark.parametrize("half", ["\ud800", "a\udfffb"])
def test_half_a_surrogate_pair_is_written_as_an_escape_and_comes_back(half: str) -> None:
    odd = sample(case_id=half, output={half: [half]})
    assert encode(odd).isprintable()
    assert through_json(odd) == odd


def test_a_whole_number_is_read_where_a_fraction_is_expected() -> None:
    assert from_plain(Sample, {**to_plain(sample()), "readings": {"x": 3}}).readings["x"] == 3.0
    assert isinstance(from_plain(Sample, {**to_plain(sample()), "readings": {"x": 3}}).readings["x"], float)


def test_unknown_keys_are_ignored_and_missing_ones_take_their_default() -> None:
    plain = {"commit": "abc", "branch": None, "dirty": True, "colour": "green"}
    assert from_plain(Vcs, plain) == Vcs("abc", None, True)
    assert from_plain(Metric, {"name": "x"}) == Metric("x", "", Direction.UNKNOWN, Provenance.MEASURED, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"status": "okay"}, "Sample.status: 'okay' is none of ok, failed, error, timeout, limit, cancelled"),
        ({"iteration": "1"}, "Sample.iteration: expected int, got str"),
        ({"iteration": True}, "Sample.iteration: expected int, got bool"),
        ({"iteration": None}, "Sample.iteration: expected int, got NoneType"),
        ({"readings": []}, "Sample.readings: expected an object, got list"),
        ({"readings": {"x": "1"}}, "Sample.readings.x: expected float, got str"),
        ({"readings": {"x": True}}, "Sample.readings.x: expected float, got bool"),
        ({"readings": {"x": 10**400}}, "Sample.readings.x: the number is too large"),
        ({"failure": "boom"}, "Sample.failure: expected an object, got str"),
        ({"failure": {"kind": "exit"}}, "Sample.failure.message is missing"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_expected(change: dict[str, object], said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        from_plain(Sample, {**to_plain(sample()), **change})
    assert str(caught.value) == said


def test_items_of_lists_are_named_by_their_position() -> None:
    with pytest.raises(TypeError, match=r"Plan\.arms\[1\]: expected an object, got int"):
        from_plain(Plan, {"arms": [to_plain(Arm("a", "n", "e")), 7], "trials": []})
    with pytest.raises(TypeError, match=r"Plan\.trials: expected a list, got str"):
        from_plain(Plan, {"arms": [], "trials": "none"})
    summary = to_plain(MetricSummary("s", Direction.LOWER, Provenance.MEASURED, 1, 1, 1, 1, 1, (1, 2)))
    with pytest.raises(ValueError, match=r"MetricSummary\.ci: expected 2 items, got 3"):
        from_plain(MetricSummary, {**summary, "ci": [1, 2, 3]})


class Level(IntEnum):
    HIGH = 3


def test_enums_sets_and_tuples_have_a_plain_form_that_does_not_change_between_processes() -> None:
    assert to_plain({Side.BASELINE: Level.HIGH}) == {"baseline": 3}
    assert to_plain((frozenset({"b", "a"}), {3, 1, 2})) == [["a", "b"], [1, 2, 3]]
    assert type(to_plain(Side.BASELINE)) is str


@pytest.mark.parametrize("value", [b"bytes", object(), int])
def test_what_json_cannot_hold_is_refused_by_its_type(value: object) -> None:
    with pytest.raises(TypeError, match=f"{type(value).__name__} has no JSON form"):
        encode({"deep": [value]})


def test_every_public_name_of_the_model_can_be_loaded() -> None:
    for name in agentdyno.model.__all__:
        assert getattr(agentdyno.model, name) is not None
    assert set(agentdyno.model._HOME_OF) == set(agentdyno.model.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Arms'"):
        agentdyno.model.Arms  # noqa: B018


def test_a_sample_has_the_key_of_its_trial() -> None:
    trial = Trial("arm", Phase.INSTRUMENTED, 3, "case", "cprofile", 9, 2)
    assert trial.key == "arm/instrumented/3/case/cprofile"
    assert sample(phase=Phase.INSTRUMENTED, iteration=3, case_id="case", instrument="cprofile").key == trial.key


def test_a_plan_finds_its_arms() -> None:
    arm = Arm("a", "n", "e")
    assert Plan((arm,), ()).arm("a") is arm
    with pytest.raises(KeyError, match="b"):
        Plan((arm,), ()).arm("b")
