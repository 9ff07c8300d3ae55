"""Whatever stands in a file, the answer is a run or one readable error."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.model import Arm, ExperimentInfo, Iterations, Parameter
from agentdyno.specs import (
    build_arms,
    entry_where,
    expand,
    load_spec,
    make_plan,
    parse_param,
    spec_document,
    spec_from_document,
)

from ..properties import examples
from .mutations import ANY_BYTES, mutated, refused_readably

VALID: list[dict[str, object]] = [
    {
        "experiment": "sort",
        "params": {"n": 100, "kind": "quick", "options": {"deep": {"deeper": [1, 2]}}},
        "iterations": {"warmup": 1, "measured": 3},
        "instrumentation": ["timing", {"name": "psutil", "interval_s": 0.1}],
        "output_dir": "out",
        "tags": ["a", "b"],
        "notes": "text",
        "seed": 42,
    },
    {
        "experiment": "bench.py@sort",
        "sweep": {"n": [1, 2, 3], "kind": ["x", "y"]},
        "strategy": "random",
        "samples": 4,
        "iterations": {"auto": {"precision": 0.1, "min": 2, "max": 5}},
        "gc": "off",
        "quick": {"params": {"n": 1}, "iterations": 2},
    },
    {
        "experiments": [{"experiment": "a", "params": {"n": [1, 2]}, "strategy": "zip"}, {"experiment": "m:b"}],
        "metrics": {"rows": {"unit": "/s", "direction": "higher"}},
        "order": "sequential",
        "processes": 2,
        "timeout_s": 5,
    },
]
TYPED = ExperimentInfo(
    "sort",
    parameters=(
        Parameter("n", ("integer",), default=1),
        Parameter("kind", ("string",), default="quick"),
        Parameter("options", ("object", "null")),
    ),
)


def _plan(path: Path, quick: bool) -> None:
    spec = load_spec(path, quick=quick)
    assert spec_from_document(spec_document(spec)) == spec
    for info in (TYPED, ExperimentInfo("any", open=True)):
        arms: list[tuple[Arm, Iterations]] = []
        for i, entry in enumerate(spec.entries):
            found = expand(entry, info, seed=spec.seed, where=entry_where(spec, i))
            arms += [(arm, entry.iterations) for arm in build_arms(entry, info, found)]
        plan = make_plan(spec, arms, ["cprofile"])
        assert len({arm.name for arm in plan.arms}) == len(plan.arms)


@examples(500, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 2**32), which=st.sampled_from(VALID), times=st.integers(1, 4), quick=st.booleans())
def test_a_mutated_spec_is_planned_or_refused(
    tmp_path: Path, seed: int, which: dict[str, object], times: int, quick: bool
) -> None:
    ending, data = mutated(which, times, random.Random(seed))
    path = tmp_path / f"spec{ending}"
    path.write_bytes(data)
    with refused_readably(path):
        _plan(path, quick)


@examples(300, HealthCheck.function_scoped_fixture)
@given(data=ANY_BYTES)
@pytest.mark.parametrize("name", ["spec.yaml", "spec.json"])
def test_any_bytes_are_refused_readably(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with refused_readably(path):
        _plan(path, quick=False)


@examples(300)
@given(st.text(max_size=40))
def test_any_parameter_text_is_read_or_refused(text: str) -> None:
    for argument in (text, f"n={text}"):
        remedy, name = None, ""
        try:
            name, _ = parse_param(argument)
        except SpecError as error:
            remedy = error.remedy
        assert name or remedy
