"""What the package brings is found by name, and missed by name where it is not installed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import agentdyno_workloads
from agentdyno.registry.installed import IN_WORKLOADS_PACKAGE, WORKLOADS_PACKAGE, installed, load
from agentdyno.workbench.listing import workload_files

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
GROUPS = {group.removeprefix("agentdyno."): points for group, points in PROJECT["entry-points"].items()}


def test_agentdyno_knows_every_name_that_is_missing_without_the_package() -> None:
    assert PROJECT["name"] == WORKLOADS_PACKAGE
    assert {kind: set(names) for kind, names in IN_WORKLOADS_PACKAGE.items()} == {
        kind: set(points) for kind, points in GROUPS.items()
    }


def test_every_entry_point_is_installed_and_can_be_loaded() -> None:
    for kind, points in GROUPS.items():
        for name, value in points.items():
            assert (installed(kind)[name].value, installed(kind)[name].package) == (value, WORKLOADS_PACKAGE)
            if kind != "workloads":
                assert load(kind, name) is not None


def test_every_spec_of_the_package_has_a_name() -> None:
    folder = Path(agentdyno_workloads.__file__).parent
    named = {item.path for item in workload_files() if item.package == WORKLOADS_PACKAGE}
    assert named == {*folder.glob("*/specs/*.yaml"), *folder.glob("*/suites/*.yaml")}
    assert len(named) == 38
