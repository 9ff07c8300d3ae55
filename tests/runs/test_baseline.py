"""What ``--against`` may name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.runner.bench.job import Launch
from agentdyno.runs.baseline import baseline_for, here

from ..command import Bench


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


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    bench = Bench(tmp_path)
    bench.write("steps.py", "def steps(n: int = 1) -> int:\n    return n\n")
    bench.git("init", "--quiet")
    bench.git("add", "steps.py")
    bench.git("commit", "--quiet", "--message", "first")
    return tmp_path


def test_a_checkout_that_was_killed_while_it_was_made_is_made_anew(repository: Path) -> None:
    made = baseline_for("HEAD", here(repository), repository, silent)
    assert made.moved is not None
    worktree = made.moved[1]
    shutil.rmtree(repository / ".dyno")
    bench = Bench(repository)
    bench.git("worktree", "prune")
    bench.git("worktree", "add", "--quiet", "--detach", "--no-checkout", str(worktree), "HEAD")  # as far as it came
    assert not (worktree / "steps.py").exists()
    again = baseline_for("HEAD", here(repository), repository, silent)
    assert again.moved == made.moved
    assert (worktree / "steps.py").exists()


def test_a_checkout_that_is_whole_is_taken_as_it_is(repository: Path) -> None:
    made = baseline_for("HEAD", here(repository), repository, silent)
    assert made.moved is not None
    worktree = made.moved[1]
    (worktree / "newer.py").write_text("")  # a benchmark that is newer than the revision
    worktree.with_suffix(".made").unlink()  # as earlier versions left it
    baseline_for("HEAD", here(repository), repository, silent)
    assert (worktree / "newer.py").exists()


def test_two_that_want_the_same_revision_at_once_do_not_meet_in_a_checkout_that_is_half_made(
    repository: Path,
) -> None:
    code = (
        "import sys; from pathlib import Path; from agentdyno.runs.baseline import baseline_for, here\n"
        "folder = Path(sys.argv[1])\n"
        "made = baseline_for('HEAD', here(folder), folder, print)\n"
        "assert (made.moved[1] / 'steps.py').exists()\n"
    )
    command = [sys.executable, "-c", code, str(repository)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(process.communicate()[1], process.returncode) for process in both] == [("", 0)] * 4
