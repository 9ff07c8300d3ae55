"""Frameworks are measured in their own environments, with answers that are checked; the page shows what was found."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.command import Bench

from agentdyno import SpecError
from agentdyno_workloads.frameworks.overhead import FrameworkOverhead
from agentdyno_workloads.frameworks.readings import beyond
from agentdyno_workloads.frameworks.subjects.catalogue import SUBJECTS

ROOT = Path(__file__).parents[4]


def test_a_framework_is_measured_beside_the_bare_loop(bench: Bench) -> None:
    subprocess.run([ROOT / "scripts" / "frameworks.sh", "core"], check=True, capture_output=True)
    folder = ROOT / ".venv-frameworks"
    chosen = ("-p", "framework=[bare,openai-agents]", "-p", f"environments={folder}")
    done = bench.dyno("run", "workload:frameworks/overhead", "--quick", *chosen, "--json")
    assert done.code == 0, done.err
    arms = {arm["params"]["framework"]: arm for arm in done.json["arms"]}
    assert arms["openai-agents"]["observed"]["framework"].startswith("openai-agents ")
    bare, other = (arms[name]["metrics"]["result.task_cpu_s"]["median"] for name in ("bare", "openai-agents"))
    assert 0 < bare < other
    page = bench.folder / "page.md"
    python = str(ROOT / ".venv" / "bin" / "python")
    command = [python, "-m", "agentdyno_workloads.frameworks.page", "--output", str(page)]
    subprocess.run(command, cwd=bench.folder, env=bench.environ, check=True, capture_output=True)
    text = page.read_text()
    assert "| bare (httpx " in text
    assert "| openai-agents " in text


def test_an_environment_that_is_not_there_is_told_how_it_is_made(bench: Bench) -> None:
    done = bench.dyno("run", "workload:frameworks/overhead", "--quick", "-p", "environments=nowhere")
    assert done.code != 0
    assert "frameworks.sh core` makes it" in done.out + done.err


def test_an_unknown_framework_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(SpecError, match="no framework 'langraph'") as caught:
        FrameworkOverhead("langraph")
    for name in SUBJECTS:
        assert name in str(caught.value.remedy)


def test_what_is_beyond_the_bare_loop_is_a_difference_of_medians() -> None:
    bare, own = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    difference, low, high = beyond(own, bare)
    assert difference == 3.0
    assert low <= 3.0 <= high
