"""Baseline and candidate in one run: a git revision, other parameters, another interpreter."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from ..command import Bench

LIBRARY = "import time\ndef work(n):\n    time.sleep(0.01)\n    return sum(i * i for i in range(n))\n"
"""It sleeps: how long that takes depends little on who else is using the cores."""
SLOWER = LIBRARY.replace("0.01", "0.02").replace("range(n))", "range(n)) + sum(i * i for i in range(n))")
BENCH = """
import lib
def bench(n: int = 3000):
    return {"total": lib.work(n)}
"""


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    """Commands of these tests are run often and do little."""
    return loaded_bench


def rows(result: Any) -> dict[str, Any]:
    return {row["metric"]["name"]: row for row in result["arms"][0]["metrics"]}


@pytest.fixture
def repository(bench: Bench) -> Bench:
    bench.write("lib.py", LIBRARY)
    bench.write("bench.py", BENCH)
    bench.git("init", "-q", "-b", "main")
    bench.git("add", ".")
    bench.git("commit", "-qm", "first")
    return bench


def test_a_change_that_doubles_the_work_is_worse_than_the_revision_before(repository: Bench) -> None:
    repository.write("lib.py", SLOWER)
    done = repository.dyno("run", "bench.py@bench", "--against", "main", "--gate", "--json")
    assert done.code == 1, done.err
    arms = {arm["side"]: arm for arm in done.json["arms"]}
    assert arms["baseline"]["metrics"]["duration_s"]["n"] == 50
    assert len({sample["process"] for sample in arms["baseline"]["samples"]}) == 10
    totals = [arms[side]["metrics"]["result.total"]["median"] for side in ("baseline", "candidate")]
    assert totals[1] == 2 * totals[0], "the baseline ran the old code and the candidate the new"
    compared = repository.dyno("compare", "last", "--json").json
    assert compared["paired"]
    assert rows(compared)["duration_s"]["verdict"] == "worse"
    assert rows(compared)["duration_s"]["ratio"] > 1
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=repository.folder, capture_output=True, text=True, check=True
    )
    assert ".dyno" not in status.stdout, "the worktree does not dirty the repository"


def test_two_sides_that_ran_the_same_code_are_called_identical(repository: Bench) -> None:
    done = repository.dyno("run", "bench.py@bench", "--against", "main", "--iterations", "8", "--json")
    assert "identical-arms" in {warning["code"] for warning in done.json["warnings"]}
    repository.write("lib.py", SLOWER)
    done = repository.dyno("run", "bench.py@bench", "--against", "main", "--iterations", "8", "--json")
    assert "identical-arms" not in {warning["code"] for warning in done.json["warnings"]}


def test_a_benchmark_newer_than_the_revision_measures_the_old_code(repository: Bench) -> None:
    repository.write("lib.py", SLOWER)
    repository.write("newer.py", BENCH.replace("def bench", "def newer"))
    done = repository.dyno("run", "newer.py@newer", "--against", "main", "--iterations", "8", "--json")
    assert done.code == 0, done.err
    arms = {arm["side"]: arm["metrics"]["result.total"]["median"] for arm in done.json["arms"]}
    assert arms["candidate"] == 2 * arms["baseline"]


def test_other_dependencies_get_an_environment_of_their_own(repository: Bench) -> None:
    repository.write("requirements.txt", "# nothing yet\n")
    repository.write(
        "bench.py", "import sys\ndef bench():\n    return {'own': float(sys.prefix != sys.base_prefix)}\n"
    )
    repository.git("add", ".")
    repository.git("commit", "-qm", "second")
    repository.write("requirements.txt", "# something else\n")
    done = repository.dyno("run", "bench.py@bench", "--against", "main", "--iterations", "8", "--json")
    assert done.code == 0, done.err
    assert "Building an environment" in done.err
    assert list((repository.folder / ".dyno" / "envs").iterdir())


def test_a_run_against_a_revision_resumes_against_the_same_commit(repository: Bench) -> None:
    done = repository.dyno(
        *("run", "bench.py@bench", "--against", "main", "--iterations", "20", "--time-budget", "0.001", "--json")
    )
    assert done.json["status"] in ("partial", "failed")
    assert "time budget" in done.json["stopped_because"]
    commit = done.json["spec"]["against"]
    repository.write("lib.py", LIBRARY + "\n")
    repository.git("commit", "-qam", "main moves on")
    # The budget is part of the stored spec; each resume gets a little further, and main has moved meanwhile.
    again = repository.dyno("resume", "last", "--json")
    assert again.json["spec"]["against"] == commit
    assert again.json["run_id"] == done.json["run_id"]


def test_other_parameters_are_compared_side_by_side(bench: Bench) -> None:
    bench.write("bench.py", "import time\ndef bench(n: int = 40):\n    time.sleep(n / 2000)\n")
    done = bench.dyno("run", "bench.py@bench", "--against", "n=10", "--json")
    assert done.code == 0, done.err
    compared = bench.dyno("compare", "last", "--json").json
    assert compared["arms"][0]["differing"] == {"n": [10, 40]}
    assert rows(compared)["duration_s"]["verdict"] == "worse"


def test_another_interpreter_needs_nothing_installed(bench: Bench, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    venv.create(bare, with_pip=False, symlinks=True)
    bench.write("bench.py", "import sys\ndef bench():\n    return {'prefix': sys.prefix}\n")
    done = bench.dyno(
        "run", "bench.py@bench", "--against", str(bare / "bin" / "python"), "--iterations", "8", "--json"
    )
    assert done.code == 0, done.err
    prefixes = {arm["side"]: arm["samples"][0]["output"]["prefix"] for arm in done.json["arms"]}
    assert prefixes == {"baseline": str(bare), "candidate": sys.prefix}


@pytest.mark.parametrize(
    ("against", "message", "remedy"),
    [
        ("nowhere", "git knows no revision 'nowhere'", "git branch -a"),
        ("m=3", "has no parameter 'm'", "Known: n."),
        ("n=many", "expected integer, got string 'many'", "value of that type"),
    ],
)
def test_a_baseline_that_cannot_be_says_why(repository: Bench, against: str, message: str, remedy: str) -> None:
    done = repository.dyno("run", "bench.py@bench", "--against", against)
    assert done.code == 2
    assert message in done.err
    assert remedy in done.err
    assert "Traceback" not in done.err
