"""Whatever stands in a file, the answer is a run or one readable error."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
import yaml
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
ODD: list[object] = [
    None, True, False, 0, -1, 1.5, 10**30, float("nan"), float("inf"), "", " ", "auto", "off", "1",
    "é\u202e\u0000\U0001f600", "\ud800", "a: b", [], {}, [[]], [None], {"": None}, {"name": {}}, [1, 1],
    "x" * 5000, "a.py@", ":", -(2**63), 10**7,
]  # fmt: skip


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += _places(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            found += _places(item, (*path, i))
    return found


def _odd(rng: random.Random) -> object:
    """A copy: a later mutation may change it, and must not put it into itself."""
    return copy.deepcopy(rng.choice(ODD))


def _mutate(document: object, rng: random.Random) -> None:
    """Drops, renames, replaces or nests something at a random place."""
    places = _places(document)
    if not places:
        return
    *parents, last = rng.choice(places)
    holder: object = document
    for part in parents:
        holder = holder[part]  # type: ignore[index]
    action = rng.choice(["drop", "rename", "replace", "swap", "nest", "add"])
    if isinstance(holder, dict):
        value = holder[last]
        if action in ("drop", "rename"):
            del holder[last]
        if action == "rename":
            holder[str(last)[:-1] + rng.choice(["", "x", "é", "."])] = value
        if action == "add":
            holder[rng.choice(["warmup", "zzz", "experiment", "experiments", "quick", "sweep"])] = _odd(rng)
    elif isinstance(holder, list) and isinstance(last, int):
        value = holder[last]
        if action in ("drop", "rename"):
            del holder[last]
        if action == "add":
            holder.append(_odd(rng))
    if action in ("replace", "swap", "nest"):
        other = {"replace": _odd(rng), "swap": str(value), "nest": value}[action]
        if action == "nest":
            for _ in range(rng.choice([1, 2, 40])):
                other = [other] if rng.random() < 0.5 else {"k": other}
        holder[last] = other  # type: ignore[index]


def _text(document: object, rng: random.Random) -> tuple[str, bytes]:
    """The document as a file, at times with damage to its lines or bytes."""
    if rng.random() < 0.3:
        name, data = "spec.json", json.dumps(document, indent=rng.choice([None, 1])).encode()
    else:
        name, data = "spec.yaml", yaml.safe_dump(document, allow_unicode=False).encode()
    damage = rng.random()
    lines = data.split(b"\n")
    if damage < 0.15:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
        data = b"\n".join(lines)
    elif damage < 0.3 and data:
        at = rng.randrange(len(data))
        data = data[:at] + rng.randbytes(rng.randrange(1, 5)) + data[at + rng.randrange(3) :]
    elif damage < 0.35:
        data = data[: rng.randrange(len(data) + 1)]
    return name, data


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


def _check_outcome(path: Path, quick: bool) -> None:
    """Loads, expands and plans; what is refused must be refused readably."""
    refusal = None
    try:
        _plan(path, quick)
    except SpecError as error:
        refusal = error
    if refusal is not None:
        assert refusal.message
        assert refusal.remedy
        assert refusal.where is not None
        assert refusal.where.startswith(str(path))
        assert str(refusal).encode()


@examples(500, HealthCheck.function_scoped_fixture)
@given(seed=st.integers(0, 2**32), which=st.sampled_from(VALID), times=st.integers(1, 4), quick=st.booleans())
def test_a_mutated_spec_is_planned_or_refused(
    tmp_path: Path, seed: int, which: dict[str, object], times: int, quick: bool
) -> None:
    rng = random.Random(seed)
    document = json.loads(json.dumps(which))
    for _ in range(times):
        _mutate(document, rng)
    name, data = _text(document, rng)
    path = tmp_path / name
    path.write_bytes(data)
    _check_outcome(path, quick)


@examples(300, HealthCheck.function_scoped_fixture)
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: text.encode())))
@pytest.mark.parametrize("name", ["spec.yaml", "spec.json"])
def test_any_bytes_are_refused_readably(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    _check_outcome(path, quick=False)


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
