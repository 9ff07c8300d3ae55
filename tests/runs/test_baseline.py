"""What ``--against`` may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.runner.bench.job import Launch
from agentdyno.runs.baseline import baseline_for


def silent(_text: str) -> None:
    pass


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("n=1", {"n": 1}),
        ("index=scan,documents=300", {"index": "scan", "documents": 300}),
        ("sizes=[1,2],mode=fast", {"sizes": [1, 2], "mode": "fast"}),
        ("flag=true", {"flag": True}),
    ],
)
def test_names_and_values_are_other_parameters(text: str, params: dict[str, object], tmp_path: Path) -> None:
    baseline = baseline_for(text, Launch(), tmp_path, silent)
    assert baseline.params == params
    again = baseline_for(baseline.spelled, Launch(), tmp_path, silent)
    assert (again.params, again.spelled) == (baseline.params, baseline.spelled)


def test_what_is_neither_outside_a_repository_is_refused_with_the_three_choices(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        baseline_for("main", Launch(), tmp_path, silent)
    assert "git revision inside a repository, a Python executable, parameters" in str(caught.value)


def test_an_interpreter_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no interpreter"):
        baseline_for("python:/no/such/python", Launch(), tmp_path, silent)


@pytest.mark.parametrize(
    ("against", "typed"),
    [
        ("sort.py", "Say sort.py@quick or sort.py@slow."),
        ("other.py", "There is no such file. Did you mean sort.py?"),
        ("sleep 0.1", "dyno time 'sleep 0.1' 'ANOTHER'"),
        ("last", "dyno compare last ANOTHER"),
        ("baseline.json", "dyno compare baseline.json ANOTHER"),
    ],
)
def test_what_is_no_baseline_is_answered_with_what_to_type(against: str, typed: str, tmp_path: Path) -> None:
    (tmp_path / "sort.py").write_text("def quick(): ...\n\n\ndef slow(): ...\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        baseline_for(against, Launch(), tmp_path, silent)
    assert typed in (caught.value.remedy or "")
