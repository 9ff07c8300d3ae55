"""Ids and seeds that stay the same on every machine, and run ids that never do."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid

import pytest

from agentdyno.model.identity import canonical_json, derive_seed, digest, experiment_arm_id, new_run_id


def test_run_ids_are_unique_uuids_of_version_7() -> None:
    ids = [new_run_id() for _ in range(2000)]
    assert len(set(ids)) == len(ids)
    for text in ids:
        parsed = uuid.UUID(text)
        assert parsed.version == 7
        assert parsed.variant == uuid.RFC_4122
        assert str(parsed) == text


def test_run_ids_sort_by_time() -> None:
    times = [0, 1, 999, 1_714_521_600_000, 1_714_521_600_001, 2**48 - 1]
    ids = [new_run_id(now) for now in times]
    assert ids == sorted(ids)
    assert [uuid.UUID(text).int >> 80 for text in ids] == times


def test_the_first_13_characters_of_a_run_id_tell_its_millisecond() -> None:
    assert new_run_id(1_714_521_600_000)[:13] == new_run_id(1_714_521_600_000)[:13] == "018f3173-7000"


GOLDEN_ARMS = [
    ("sort", {}, None, "d71329b38895785d"),
    ("sort", {"size": 10, "kind": "quick"}, None, "bfaf83dbb624c515"),
    ("sort", {"size": 10, "kind": "quick"}, "baseline", "9337ec5dd367edca"),
    ("größe", {"text": "ẞ\u2028", "deep": {"a": [1, None, True, 2.5]}}, None, "e7a466a733c57918"),
]


@pytest.mark.parametrize(("experiment", "params", "side", "expected"), GOLDEN_ARMS)
def test_arm_ids_never_change(experiment: str, params: dict[str, object], side: str | None, expected: str) -> None:
    assert experiment_arm_id(experiment, params, side) == expected


def test_arm_ids_do_not_depend_on_the_order_of_the_parameters() -> None:
    assert experiment_arm_id("e", {"a": 1, "b": 2}) == experiment_arm_id("e", {"b": 2, "a": 1})


def test_arms_that_differ_have_different_ids() -> None:
    ids = {
        experiment_arm_id("e", {}),
        experiment_arm_id("f", {}),
        experiment_arm_id("e", {"x": 1}),
        experiment_arm_id("e", {"x": "1"}),
        experiment_arm_id("e", {"x": True}),
        experiment_arm_id("e", {"x": None}),
        experiment_arm_id("e", {}, "baseline"),
        experiment_arm_id("e", {}, "candidate"),
    }
    assert len(ids) == 8


def test_ids_and_seeds_are_the_same_in_another_process_with_another_hash_seed() -> None:
    code = (
        "from agentdyno.model.identity import *; import json;"
        "print(json.dumps([experiment_arm_id('sort', {'b': {'y': 1, 'x': 2}, 'a': 1}), derive_seed(7, 'arm', 3)]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    here = [experiment_arm_id("sort", {"a": 1, "b": {"x": 2, "y": 1}}), derive_seed(7, "arm", 3)]
    assert [json.loads(text) for text in outputs] == [here]


@pytest.mark.parametrize(
    ("parts", "expected"), [((0,), 3502022929), ((1, "trial", 5), 2319865743), ((2**63, "ö", None), 3040238692)]
)
def test_seeds_never_change(parts: tuple[int, object], expected: int) -> None:
    assert derive_seed(*parts) == expected


def test_seeds_fit_32_bits_and_differ_between_trials() -> None:
    seeds = {derive_seed(0, "arm", iteration) for iteration in range(500)}
    assert len(seeds) == 500
    assert all(0 <= seed < 2**32 for seed in seeds)


@pytest.mark.parametrize("name", ["\ud800", "file-\udcff.py", "a\udfffb"])
def test_a_name_with_half_a_surrogate_pair_has_an_id(name: str) -> None:
    assert len(digest(name)) == 16
    assert experiment_arm_id(name, {name: name}) != experiment_arm_id("plain", {})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"b": 1, "a": [1, 2.0, None, "ö"]}, '{"a":[1,2.0,null,"ö"],"b":1}'),
        ({1: "a", "b": 2, None: 3}, '{"1":"a","None":3,"b":2}'),
        ([{(1, 2): {"x": 1}}], '[{"(1, 2)":{"x":1}}]'),
        ({"x": complex(1, 2)}, '{"x":"(1+2j)"}'),
    ],
)
def test_any_value_has_one_canonical_text(value: object, expected: str) -> None:
    assert canonical_json(value) == expected
