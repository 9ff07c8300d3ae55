"""Which kind of run a file is of, and what is known of kinds by their names."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agentdyno.errors import RunError
from agentdyno.model.result import LOAD_KIND
from agentdyno.registry.installed import findings_of, has_windows
from agentdyno.runs.kinds import kind_named, kind_of


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"experiment": "sort"}, "experiment"),
        ({"experiments": [{"experiment": "sort"}], "load": {}}, "load"),
        ({"dataset": {"cases": []}, "name": "s"}, "suite"),
        ({"dataset": {"cases": []}, "load": {}}, "suite"),
        ({"load": {"target": "local"}}, "load"),
        ({"suite": "no key of a suite"}, "experiment"),
        (["load"], "experiment"),
        (None, "experiment"),
    ],
)
def test_the_keys_of_a_file_tell_its_kind(document: object, kind: str) -> None:
    assert kind_of(document) == kind


@pytest.mark.parametrize("name", ["experiment", "suite", LOAD_KIND])
def test_a_kind_comes_in_under_its_own_name(name: str) -> None:
    assert kind_named(name).name == name


def test_each_kind_says_what_is_concluded_about_its_runs() -> None:
    assert [findings_of(name) for name in ("experiment", "suite", "load", "nobody's")] == [
        ("comparison",),
        ("standing",),
        ("stress",),
        (),
    ]


def test_a_kind_that_nobody_brings_is_told_with_those_that_are_there() -> None:
    with pytest.raises(RunError, match="no kind of run is called 'suit' here") as caught:
        kind_named("suit")
    assert "experiment, load, suite" in (caught.value.remedy or "")


def test_runs_are_shown_as_windows_where_their_kind_says_so_whatever_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [has_windows(name) for name in ("experiment", "suite", "load", "nobody's")] == [False, False, True, False]
    monkeypatch.setattr("agentdyno.registry.installed.installed", lambda _: {"siege": None})
    monkeypatch.setattr(
        "agentdyno.registry.installed.load", lambda _kind, _name: SimpleNamespace(findings=("stress",))
    )
    findings_of.cache_clear()
    try:
        assert has_windows("siege")
    finally:
        findings_of.cache_clear()
