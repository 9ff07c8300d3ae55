"""Experiments of a project, found by their name in its files."""

from __future__ import annotations

from pathlib import Path

from agentdyno.registry.project import ProjectObject, project_objects

TEXT = """
import agentdyno
from agentdyno import Experiment, register_experiment, register_instrument

raise RuntimeError("nothing is imported to find a name")

@register_experiment("first")
class One(Experiment): ...

@agentdyno.register_experiment("second")
def two(): ...

@register_instrument("third")
def three(context): ...

@register_experiment(NAME)
class Four(Experiment): ...

class Five(Experiment): ...
"""


def test_names_are_read_from_the_source(tmp_path: Path) -> None:
    file = tmp_path / "subjects.py"
    file.write_text(TEXT)
    assert project_objects("experiments", [file]) == {
        "first": ProjectObject("first", file, "One"),
        "second": ProjectObject("second", file, "two"),
    }
    assert project_objects("instruments", [file]) == {"third": ProjectObject("third", file, "three")}


def test_the_first_file_that_has_a_name_counts_and_broken_ones_have_none(tmp_path: Path) -> None:
    first, second, broken = (tmp_path / name for name in ("a.py", "b.py", "broken.py"))
    first.write_text("@register_experiment('x')\ndef a(): ...\n")
    second.write_text("@register_experiment('x')\ndef b(): ...\n")
    broken.write_text("def (:\n")
    found = project_objects("experiments", [broken, tmp_path / "missing.py", first, second])
    assert found == {"x": ProjectObject("x", first, "a")}
