"""A third party's package, installed for real, is listed without being imported and used like a built-in part."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ..command import Bench

PROJECT = Path(__file__).parent.parent / "plugin_package"


def install(site: Path) -> None:
    """What an installer leaves of the project: its package and its metadata. Needs no network and no build tool."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    for package in (PROJECT / "src").iterdir():
        shutil.copytree(package, site / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (info / "entry_points.txt").write_text(
        "\n".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in project["entry-points"].items()
        )
    )


@pytest.fixture
def plugged(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A bench with a home of its own where the package is installed."""
    site = tmp_path_factory.mktemp("site")
    install(site)
    bench.environ |= {
        "PYTHONPATH": str(site),
        "HOME": str(bench.folder),
        "XDG_CACHE_HOME": str(bench.folder / "cache"),
    }
    return bench


def named(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (row,) = [row for row in rows if row["name"] == name]
    return row


def test_its_parts_are_listed_with_their_parameters_and_nothing_is_imported(plugged: Bench) -> None:
    for _ in range(2):  # the second time from the cache
        done = plugged.dyno("list", "--json", DYNO_PLUGIN_FORBID_IMPORT="1")
        assert (done.code, done.err) == (0, "")
        experiment = named(done.json["experiments"], "word-count")
        assert experiment["description"] == "Counts how often each word of a text occurs."
        assert experiment["origin"] == "dyno-plugin-example"
        assert [(row["name"], row["default"]) for row in experiment["parameters"]] == [
            ("words", 200),
            ("method", "counter"),
        ]
        assert experiment["parameters"][1]["choices"] == ["counter", "dict"]
        instrument = named(done.json["instruments"], "switches")
        assert instrument["description"] == "How often the process gave up its CPU by itself."
        assert [row["name"] for row in instrument["parameters"]] == ["label"]
        # The entry point names the package, which takes the class from one of its modules.
        assert named(done.json["reporters"], "tsv")["description"] == "Medians as tab-separated values (medians.tsv)."


def test_its_parts_run_together(plugged: Bench) -> None:
    done = plugged.dyno(
        "run", "word-count", "-p", "words=[50,100]", "--instrument", "switches", "--format", "tsv",
        "--iterations", "4", "--output-dir", "out", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    result = done.json
    assert [arm["name"] for arm in result["arms"]] == ["word-count words=50", "word-count words=100"]
    for arm, words in zip(result["arms"], (50, 100), strict=True):
        assert {key: arm["observed"][key] for key in ("words", "method")} == {"words": words, "method": "counter"}
        assert arm["metrics"]["switches.voluntary"]["n"] == 4
        distinct = arm["metrics"]["result.distinct"]
        assert (distinct["median"], distinct["unit"], distinct["direction"]) == (17.0, "words", "higher")
        assert distinct["machine_dependent"] is False
    (file,) = (plugged.folder / "out").rglob("medians.tsv")
    rows = [line.split("\t") for line in file.read_text().splitlines()]
    assert rows[0] == ["arm", "metric", "n", "median"]
    assert ["word-count words=100", "result.distinct", "4", "17.0"] in rows


def test_a_wrong_parameter_of_its_experiment_is_refused_before_anything_runs(plugged: Bench) -> None:
    done = plugged.dyno("run", "word-count", "-p", "method=magic")
    assert done.code == 2
    assert "expected one of 'counter', 'dict', got 'magic'" in done.err
    done = plugged.dyno("run", "word-count", "-p", "wrods=5")
    assert done.code == 2
    assert "words" in done.err


def test_a_package_that_cannot_be_imported_says_why_when_it_is_used(plugged: Bench) -> None:
    done = plugged.dyno("run", "word-count", DYNO_PLUGIN_FORBID_IMPORT="1")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "dyno_plugin_example was imported although DYNO_PLUGIN_FORBID_IMPORT is set" in " ".join(done.err.split())


def test_without_the_package_its_names_are_unknown(bench: Bench) -> None:
    done = bench.dyno("run", "word-count")
    assert done.code == 2
    assert "word-count" in done.err
    assert "unknown experiment" in done.err or "no file" in done.err


def test_the_project_can_be_built_by_anyone() -> None:
    document = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    assert document["build-system"]["build-backend"] == "hatchling.build"
    groups = document["project"]["entry-points"]
    assert set(groups) == {"agentdyno.experiments", "agentdyno.instruments", "agentdyno.reporters"}
    for package in document["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert (PROJECT / package / "__init__.py").is_file()
