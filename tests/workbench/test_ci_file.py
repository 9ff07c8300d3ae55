"""The workflow that ``dyno check --write-ci`` writes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentdyno.errors import RunError
from agentdyno.reports.gate_comment import MARKER
from agentdyno.workbench.ci_file import CI_FILE, ci_workflow, install_command, write_ci


def steps(text: str) -> dict[str, Any]:
    found = yaml.safe_load(text)["jobs"]["check"]["steps"]
    return {item.get("name", item.get("uses")): item for item in found}


def test_the_workflow_is_valid_and_checks_against_the_branch_that_it_goes_to() -> None:
    text = ci_workflow(["suites/first.yaml", "suites/my suite.yaml"])
    document = yaml.safe_load(text)
    assert set(document) == {"name", True, "permissions", "concurrency", "jobs"}  # YAML 1.1 reads `on` as true
    assert document[True] == {"pull_request": None}
    assert document["permissions"] == {"contents": "read", "pull-requests": "write"}
    found = steps(text)
    assert found["actions/checkout@v4"]["with"] == {"fetch-depth": 0}
    assert found["Keep the environments of the baselines"]["with"]["path"] == ".dyno/envs"
    assert found["Check"]["run"] == (
        "dyno check suites/first.yaml 'suites/my suite.yaml' --against \"origin/$BASE_REF\" "
        "--junit dyno-report/junit.xml --markdown dyno-report/comment.md"
    )
    assert found["Check"]["env"] == {"BASE_REF": "${{ github.base_ref }}"}
    assert found["Keep the report"]["with"]["path"] == "dyno-report"
    assert "@" not in text.replace("actions/", "").replace("body=@dyno-report", "").replace("@v4", "").replace(
        "@v5", ""
    )


def test_no_text_of_a_pull_request_reaches_a_shell_unquoted() -> None:
    for step in steps(ci_workflow()).values():
        assert "${{" not in step.get("run", "")


def test_the_comment_is_found_again_by_its_marker() -> None:
    step = steps(ci_workflow())["Comment"]
    assert MARKER in step["run"]
    assert "--method PATCH" in step["run"]
    assert "--field body=@dyno-report/comment.md" in step["run"]
    assert step["if"].endswith("github.event.pull_request.head.repo.full_name == github.repository")


@pytest.mark.parametrize("name", ["Check", "Summary", "Comment", "Install"])
def test_every_script_is_good_shell(name: str) -> None:
    shell = shutil.which("bash") or "sh"
    checked = subprocess.run(
        [shell, "-n"], input=steps(ci_workflow(["a.yaml"]))[name]["run"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


def test_a_suite_whose_name_would_act_in_a_workflow_is_refused() -> None:
    for name in ("${{ secrets.X }}.yaml", "a\nb.yaml", "a'b.yaml", ""):
        with pytest.raises(RunError) as caught:
            ci_workflow([name])
        assert caught.value.remedy


def test_what_the_project_needs_is_installed_too(tmp_path: Path) -> None:
    assert install_command(tmp_path) == "python -m pip install 'agentdyno[prices]'"
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")
    assert install_command(tmp_path) == "python -m pip install 'agentdyno[prices]'"
    (tmp_path / "requirements.txt").write_text("httpx\n")
    (tmp_path / "pyproject.toml").write_text("[build-system]\n")
    assert install_command(tmp_path) == "python -m pip install 'agentdyno[prices]' -r requirements.txt -e ."
    assert steps(write_ci(tmp_path).read_text())["Install"]["run"] == install_command(tmp_path)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("agentdyno[prices]==0.1", "'agentdyno[prices]==0.1'"),
        ("git+https://host/owner/name@v0.1", "git+https://host/owner/name@v0.1"),
        (".", "."),
        ("vendor/agentdyno", "./vendor/agentdyno"),
        (".[prices]", ".'[prices]'"),
        ("vendor/agentdyno[prices,plots]", "./vendor/agentdyno'[prices,plots]'"),
    ],
)
def test_agentdyno_comes_from_an_index_a_git_url_or_the_checkout(tmp_path: Path, source: str, word: str) -> None:
    for folder in (tmp_path, tmp_path / "vendor" / "agentdyno"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pyproject.toml").write_text("")
    assert install_command(tmp_path, source) == f"python -m pip install {word}"


@pytest.mark.parametrize(
    "source", ["nowhere", ".[a b]", "[prices]", "/tmp", "agentdyno; rm -rf x", "git+https://h/${{ secrets.X }}", ""]
)
def test_a_source_that_cannot_be_installed_is_refused(tmp_path: Path, source: str) -> None:
    with pytest.raises(RunError) as caught:
        write_ci(tmp_path, source=source)
    assert caught.value.where == "--install"
    assert not (tmp_path / CI_FILE).exists()


def test_another_workflow_is_never_replaced(tmp_path: Path) -> None:
    path = write_ci(tmp_path, ["suites/a.yaml"])
    assert path == tmp_path / CI_FILE
    written = path.read_text()
    assert write_ci(tmp_path, ["suites/a.yaml"]) == path
    with pytest.raises(RunError) as caught:
        write_ci(tmp_path, ["suites/b.yaml"])
    assert "exists" in caught.value.message
    assert caught.value.where == str(path)
    assert path.read_text() == written


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / ".github").write_text("a file")
    with pytest.raises(RunError):
        write_ci(tmp_path)
    (tmp_path / "other" / CI_FILE).mkdir(parents=True)
    with pytest.raises(RunError):
        write_ci(tmp_path / "other")
