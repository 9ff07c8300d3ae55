"""Errors say what happened, where, and what to do, also after a trip between processes."""

from __future__ import annotations

import copy
import pickle

import pytest

from agentdyno.contracts import Experiment, ExperimentContext, Instrument, Reporter
from agentdyno.errors import (
    DynoError,
    NotComparable,
    PluginError,
    ResultError,
    RunError,
    SpecError,
    StoreError,
    nearest,
)

KINDS = [DynoError, SpecError, PluginError, RunError, StoreError, ResultError, NotComparable]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_survives_pickling_and_copying_with_all_its_parts(kind: type[DynoError]) -> None:
    error = kind("it broke", where="spec.yaml: params.size", remedy="Give a number.")
    for back in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(back) is kind
        assert (back.message, back.where, back.remedy) == ("it broke", "spec.yaml: params.size", "Give a number.")
    assert isinstance(error, DynoError)


@pytest.mark.parametrize(
    ("where", "remedy", "shown"),
    [
        (None, None, "it broke"),
        ("f.yaml", None, "f.yaml: it broke"),
        (None, "Fix it.", "it broke\n  Fix it."),
        ("f.yaml", "Fix it.", "f.yaml: it broke\n  Fix it."),
    ],
)
def test_an_error_reads_where_what_and_remedy(where: str | None, remedy: str | None, shown: str) -> None:
    assert str(DynoError("it broke", where=where, remedy=remedy)) == shown


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("sorf", ["sort", "search"], "Did you mean sort?"),
        ("sort", ["sort1", "sort2"], "Did you mean sort2 or sort1?"),
        ("zzz", ["b", "a", "b"], "Known: a, b."),
        ("zzz", [], "None are known here."),
        (
            "zzz",
            [f"n{i:02}" for i in range(15)],
            "Known: " + ", ".join(f"n{i:02}" for i in range(12)) + " and 3 more.",
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_ones(name: str, known: list[str], said: str) -> None:
    assert nearest(name, known) == said


def test_an_experiment_holds_its_parameters_and_must_define_its_work() -> None:
    class Nothing(Experiment):
        pass

    experiment = Nothing({"size": 3})
    assert experiment.params == {"size": 3}
    assert Nothing().params == {}
    context = ExperimentContext()
    experiment.setup(context)
    experiment.teardown(context)
    with pytest.raises(NotImplementedError, match="Nothing must define execute_once"):
        experiment.execute_once(context)


def test_contexts_share_nothing() -> None:
    first, second = ExperimentContext(), ExperimentContext()
    first.observe(mode="wal", size=3)
    first.observe(mode="memory")
    assert first.observed == {"mode": "memory", "size": 3}
    assert second.observed == {}
    assert first.rng is not second.rng


def test_an_undeclared_instrument_counts_as_perturbing() -> None:
    assert Instrument.perturbs is True


def test_anything_that_writes_is_a_reporter() -> None:
    class Writes:
        def write(self, report: object, output_dir: object) -> list[object]:
            return []

    assert isinstance(Writes(), Reporter)
    assert not isinstance(object(), Reporter)
