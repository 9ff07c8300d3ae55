"""What goes wrong in one arm costs that arm's samples and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from ..command import Bench

MISBEHAVE = """
import ctypes, os, sys, time
from agentdyno import Experiment

class Misbehave(Experiment):
    def __init__(self, how: str = "not at all"):
        super().__init__({"how": how})

    def execute_once(self, context):
        how = self.params["how"]
        if context.phase != "measured":
            return {}
        if how == "raise":
            raise ValueError("on purpose")
        if how == "hang":
            while True:
                time.sleep(0.05)
        if how == "exit":
            os._exit(3)
        if how == "segfault":
            ctypes.string_at(0)
        if how == "memory":
            bytearray(2 << 30)
        if how == "unserialisable":
            return {"value": object()}
        if how == "print":
            for _ in range(50):
                sys.stdout.write("x" * (1 << 20))
        return {"fine": 1}
"""
SPEC = """
experiment: misbehave.py@Misbehave
sweep:
  how: [not at all, raise, hang, exit, segfault, memory, unserialisable, print]
iterations: {warmup: 1, measured: 4}
timeout_s: 1
memory_limit_mb: 512
max_failure_rate: 1.0
"""
EXPECTED = {
    "not at all": ("ok", None),
    "raise": ("error", "exception"),
    "hang": ("timeout", "timeout"),
    "exit": ("error", "exit"),
    "segfault": ("error", "signal"),
    "memory": ("limit", "memory"),
    "unserialisable": ("error", "serialisation"),
    "print": ("limit", "output"),
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    bench = Bench(tmp_path_factory.mktemp("misbehave"))
    bench.write("misbehave.py", MISBEHAVE)
    bench.write("spec.yaml", SPEC)
    done = bench.dyno("run", "spec.yaml", "--json")
    assert done.code == 5, done.err
    return done.json


@pytest.mark.parametrize("how", EXPECTED)
def test_each_way_to_fail_is_recorded_with_its_own_status(result: Any, how: str) -> None:
    (arm,) = [arm for arm in result["arms"] if arm["params"]["how"] == how]
    status, kind = EXPECTED[how]
    assert [sample["status"] for sample in arm["samples"]] == [status] * 4
    assert {(sample["failure"] or {}).get("kind") for sample in arm["samples"]} == {kind}
    assert {(sample["failure"] or {}).get("where", "execute") for sample in arm["samples"]} == {"execute"}


def test_the_healthy_arm_is_complete_and_measured(result: Any) -> None:
    arm = result["arms"][0]
    assert arm["metrics"]["duration_s"]["n"] == 4
    assert arm["statuses"] == {"ok": 4}


def test_an_arm_that_keeps_failing_is_given_up_early_and_the_run_says_so(bench: Bench) -> None:
    bench.write("misbehave.py", MISBEHAVE)
    done = bench.dyno("run", "misbehave.py@Misbehave", "-p", "how=[raise,fine]", "--iterations", "20", "--json")
    assert done.code == 5
    failing, fine = done.json["arms"]
    assert failing["statuses"] == {"error": 3}
    assert fine["statuses"] == {"ok": 20}
    assert done.json["status"] == "partial"
    assert "given-up" in {warning["code"] for warning in done.json["warnings"]}


def test_teardown_runs_after_a_failure_and_after_a_timeout(bench: Bench) -> None:
    bench.write(
        "tidy.py",
        """
import time
from pathlib import Path
from agentdyno import Experiment

class Tidy(Experiment):
    def __init__(self, how: str = "raise"):
        super().__init__({"how": how})
    def execute_once(self, context):
        if context.phase == "measured" and self.params["how"] == "raise":
            raise RuntimeError("no")
        if context.phase == "measured":
            time.sleep(60)
    def teardown(self, context):
        (Path("torn-down-" + self.params["how"])).touch()
""",
    )
    bench.dyno("run", "tidy.py@Tidy", "-p", "how=[raise,hang]", "--iterations", "1", "--timeout", "0.5")
    assert {path.name for path in bench.folder.glob("torn-down-*")} == {"torn-down-raise", "torn-down-hang"}
