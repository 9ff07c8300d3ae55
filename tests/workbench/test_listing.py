"""Specs and suites of installed workloads are found by name, whichever package brings them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentdyno.contracts import Report
from agentdyno.errors import PluginError, SpecError
from agentdyno.model import Findings
from agentdyno.registry.installed import WORKLOADS_PACKAGE
from agentdyno.reports import render_console
from agentdyno.show import listings
from agentdyno.workbench.listing import find_workload, list_files, list_kind, workload_files
from agentdyno.workbench.reporting import check_formats, write_reports

from ..registry.installing import hide, install, point

SPEC = "# How fast ours is\nexperiment: busy\n"


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a spec, a suite, and code that must not be imported to list them."""
    site = tmp_path / "site"
    folder = site / "pack_of_test" / "ours"
    for name in ("specs", "suites", "data"):
        (folder / name).mkdir(parents=True)
        (folder / name / f"first_of_{name}.yaml").write_text(SPEC)
    (site / "pack_of_test" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "__init__.py").write_text("")
    install(site, "pack-of-test", point("ours", "pack_of_test.ours", "workloads"))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return folder


def test_the_specs_of_an_installed_package_are_listed_with_its_name_and_without_its_code(ours: Path) -> None:
    listed = {item.name: item for item in list_files("specs")}
    info = listed["workload:ours/first_of_specs"]
    assert (info.description, info.origin) == ("How fast ours is", "pack-of-test")
    assert [item.name for item in list_files("suites") if item.origin == "pack-of-test"] == [
        "workload:ours/first_of_suites"
    ]
    assert listed["workload:retrieval/sweep"].origin == "agentdyno"
    assert listed["workload:simulation/memory_db_baseline"].origin == WORKLOADS_PACKAGE
    assert "pack_of_test" not in sys.modules


def test_a_file_of_a_workload_is_found_by_its_name(ours: Path) -> None:
    assert find_workload("workload:ours/first_of_specs") == ours / "specs" / "first_of_specs.yaml"
    assert find_workload("workload:ours/first_of_suites") == ours / "suites" / "first_of_suites.yaml"
    assert find_workload("workload:comprehensive/comprehensive").name == "comprehensive.yaml"


def test_only_specs_and_suites_of_a_workload_have_names(ours: Path) -> None:
    with pytest.raises(SpecError, match="no spec workload:ours/first_of_data") as caught:
        find_workload("workload:ours/first_of_data")
    assert caught.value.remedy is not None
    assert caught.value.remedy.startswith("Did you mean workload:ours/first_of_s")


def test_a_package_whose_folder_is_gone_disturbs_nobody(tmp_path: Path, ours: Path) -> None:
    install(tmp_path / "site", "gone-of-test", point("gone", "gone_of_test", "workloads"))
    names = {item.name for item in workload_files()}
    assert "workload:ours/first_of_specs" in names
    assert not any(name.startswith("workload:gone/") for name in names)


@pytest.mark.parametrize("name", ["simulation", "llm"])
def test_a_workload_that_is_not_installed_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(WORKLOADS_PACKAGE, monkeypatch)
    assert not [item for item in workload_files() if item.package == WORKLOADS_PACKAGE]
    with pytest.raises(SpecError) as caught:
        find_workload(f"workload:{name}/anything")
    assert caught.value.message == (
        f"no spec workload:{name}/anything: {name} comes with agentdyno-workloads, which is not installed"
    )
    assert caught.value.remedy == "Install it: pip install agentdyno-workloads"


def test_the_format_of_a_package_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_formats("llm") == ("llm",)
    hide(WORKLOADS_PACKAGE, monkeypatch)
    with pytest.raises(SpecError, match="no report format 'llm'") as caught:
        check_formats("llm")
    assert caught.value.remedy == "It comes with agentdyno-workloads: pip install agentdyno-workloads"


def test_the_list_of_specs_fits_a_terminal_with_the_package_of_each(ours: Path) -> None:
    text = render_console(listings.listing(list_files("specs"), "Specs"), 100)
    heading = text.splitlines()[1]
    assert heading.split("  ")[0] == "name"
    assert heading.endswith("origin")
    assert "parameters" not in heading, "specs have none to show"
    assert "agentdyno-workloads" in text
    assert "pack-of-test" in text


REGISTERING = """
from agentdyno import register_reporter, register_scorer

@register_scorer("polite")
def polite(case, response):
    \"\"\"The answer says please.\"\"\"
    return 1.0

@register_reporter("loud")
def loud(results, folder):
    raise KeyError("oops")
"""


def test_what_files_of_the_project_register_is_listed_and_so_is_an_imported_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(REGISTERING)
    monkeypatch.chdir(tmp_path)
    assert "polite" not in {info.name for info in list_kind("scorers")}
    found = {info.name: info.origin for info in list_kind("scorers", ["own.py"])}
    assert found["polite"] == "own.py"
    (tmp_path / "dyno.yaml").write_text("imports: own.py\n")
    assert "polite" in {info.name for info in list_kind("scorers")}
    assert "loud" in {info.name for info in list_kind("reporters")}
    with pytest.raises(SpecError, match=r"no file missing\.py"):
        list_kind("scorers", ["missing.py"])


def test_a_reporter_of_the_project_is_found_by_name_and_its_failure_is_a_set_up_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(REGISTERING)
    (tmp_path / "dyno.yaml").write_text("imports: own.py\n")
    monkeypatch.chdir(tmp_path)
    assert check_formats("loud") == ("loud",)
    with pytest.raises(PluginError, match=r"the reporter loud failed: KeyError: 'oops' \(own.py:11\)") as caught:
        write_reports(Report((), Findings()), ("loud",), tmp_path / "out")
    assert "The run is kept" in str(caught.value.remedy)
