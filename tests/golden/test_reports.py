"""Reports of given results: an experiment with a sweep and failures, a load run, two runs of a suite, two sides."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from .asking import Project
from .golden import DATA, check, check_json
from .pages import outline
from .plain import rounded

RESULTS = {"experiment": "experiment.json", "load": "load.json", "suite": "019b95c0", "sides": "019b9b8c"}
"""What is reported: a file with given figures, or a run of the store."""


@pytest.fixture
def given(seeded: Project) -> Project:
    for name in ("experiment.json", "load.json"):
        shutil.copy(DATA / "given" / name, seeded.folder)
    return seeded


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_shown_as_before(kind: str, given: Project) -> None:
    check(f"reports/{kind}/console.txt", given.text("show", RESULTS[kind]))


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_reported_as_before(kind: str, given: Project) -> None:
    given.text("report", RESULTS[kind], "--format", "md,html,csv,json,junit,prometheus", "--output-dir", "out")
    written = sorted(path for path in (given.folder / "out").rglob("*") if path.is_file())
    names = [path.relative_to(given.folder / "out").as_posix() for path in written]
    check(f"reports/{kind}/files.txt", "\n".join(names))
    for path in written:
        _check_file(f"reports/{kind}/{path.name}", path, given)


def test_what_is_concluded_is_reported_as_before(seeded: Project) -> None:
    asked = {
        "board": ("board", "--matrix"),
        "compare": ("compare", "helper", "scout"),
        "cost": ("cost", "--reliability"),
        "history": ("history", "helper", "--metric", "accuracy"),
    }
    for name, arguments in asked.items():
        seeded.text(*arguments, "--format", "md", "--output-dir", name)
        check(f"reports/concluded/{name}.md", (seeded.folder / name / "report.md").read_text(encoding="utf-8"))
        check(f"reports/concluded/{name}.txt", seeded.text(*arguments))


def test_a_gate_is_reported_as_before(seeded: Project) -> None:
    done = seeded.ask(
        *("check", "--against", "helper@1.0", "--agent", "helper", "--markdown", "gate.md", "--junit", "gate.xml")
    )
    check("reports/gate/console.txt", f"{done.out}exit code {done.code}")
    for name in ("gate.md", "gate.xml"):
        check(f"reports/gate/{name}", (seeded.folder / name).read_text(encoding="utf-8"))


def _check_file(name: str, path: Path, project: Project) -> None:
    text = path.read_text(encoding="utf-8").replace(str(project.folder), "<folder>")
    if path.suffix == ".html":
        check(name.replace(".html", ".html.txt"), outline(text))
    elif path.suffix == ".csv":
        rows = list(csv.reader(text.splitlines()))
        check(name, "\n".join([",".join(rows[0]), f"{len(rows) - 1} rows"]))
    elif path.suffix == ".json":
        check_json(name, _form(json.loads(text)))
    elif path.suffix == ".prom":
        # Every metric with the names of its labels, once.
        check(name, "\n".join(dict.fromkeys(re.sub(r'"[^"]*"|(?<=\} ).*', "", line) for line in text.splitlines())))
    else:
        check(name, text)


def _form(value: object) -> object:
    """The value with lists cut after their first item: the whole of it is in the result file."""
    if isinstance(value, dict):
        return {key: _form(item) for key, item in value.items()}
    return [_form(item) for item in value[:1]] if isinstance(value, list) else rounded(value)
