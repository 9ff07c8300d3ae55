"""The notebooks of the documentation run from top to bottom and show what they say."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from .suites import Room

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def outputs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, int]:
    """All text and all HTML that a notebook shows, and how many pictures."""
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(FOLDER / name, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    found = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in found)
    page = "".join(output.get("data", {}).get("text/html", "") for output in found)
    return text, page, sum("image/png" in output.get("data", {}) for output in found)


def test_a_notebook_goes_from_an_agent_to_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNO_STORE", f"sqlite:///{tmp_path / 'dyno.db'}")
    text, page, pictures = outputs("agent_to_verdict.ipynb", tmp_path, monkeypatch)
    assert "accuracy 0.90 -> 1.00: inconclusive" in text
    assert "cases: complete, 2 arms, 60 samples" in page
    assert page.count("<circle") == 2
    assert "<td>sales</td>" in page
    assert pictures == 1


def test_a_notebook_reads_a_store(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    for agent in ("good", "bad"):
        room.run(room.suite(), f"agent.py@{agent}")
    monkeypatch.setenv("DYNO_STORE", f"sqlite:///{room.folder / 'dyno.db'}")
    text, page, pictures = outputs("reading_a_store.ipynb", room.folder, monkeypatch)
    assert "2 runs, 2 arms" in text
    assert "room: 4 samples, {'failed': 4}" in text
    assert "<td>complete</td>" in page
    assert pictures == 1


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_of_the_documentation_keeps_no_output(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)
