"""The notebooks run from top to bottom on the files that reports write, and show what is in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from agentdyno_workloads.llm.report import figure

FOLDER = Path(__file__).parents[1] / "notebooks"
VALUES = (1.9, 2.0, 2.1, 1.8, 2.2)


def configuration(name: str, metrics: Mapping[str, tuple[float, ...]], **params: object) -> dict[str, object]:
    plain = {metric: figure(values).plain() for metric, values in metrics.items()}
    return {"name": name, "params": params, "observed": {"simulated": True}, "metrics": plain}


def language_row(metric: str, verdict: str | None) -> dict[str, object]:
    return {
        **{"phase": "model", "metric": metric, "python": 2.0, "rust": 1.0, "ratio": 0.5, "interval": [0.4, 0.6]},
        **{"verdict": verdict, "sentence": f"Something about {metric}."},
    }


def outputs(
    name: str, metrics: Mapping[str, object], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, int]:
    """All text that a notebook prints, and how many pictures it shows."""
    path = folder / "metrics.json"
    path.write_text(json.dumps({"run_id": "019ca9c1", **metrics}))
    monkeypatch.setenv("DYNO_METRICS", str(path))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(FOLDER / name, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    found = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in found)
    return text, sum("image/png" in output.get("data", {}) for output in found)


def test_one_agent_is_shown_with_its_spread_and_every_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configurations = [configuration("num_ctx=512", {"tokens_per_s": VALUES, "ttft_s": (0.1, 0.1, 0.1, 0.1, 0.5)})]
    text, pictures = outputs("single_agent.ipynb", {"configurations": configurations}, tmp_path, monkeypatch)
    assert "run 019ca9c1: 1 configurations" in text
    assert "simulated model" in text
    assert "CV   7.9%  outliers 0 of 5" in text
    assert "outliers 1 of 5" in text
    assert "num_ctx=512: varies by more than 5 %: tokens_per_s, ttft_s" in text
    assert pictures == 1


def test_several_agents_are_shown_with_what_they_gain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"speedup": VALUES, "efficiency": tuple(value / 2 for value in VALUES)}
    none = {"speedup": (0.9, 1.0, 1.1), "efficiency": (0.45, 0.5, 0.55)}
    configurations = [configuration("two", found, agents=2), configuration("one", none, agents=2)]
    law = {"scenario": "shared", "amdahl": {"contention": 0.25}, "usl": None}
    given = {"configurations": configurations, "scaling": [law]}
    text, pictures = outputs("multi_agent.ipynb", given, tmp_path, monkeypatch)
    assert "two: 2 agents, efficiency 100%, gains" in text
    assert "one: 2 agents, efficiency 50%, no sure gain" in text
    assert "shared: amdahl: serial share 0.25" in text
    assert pictures == 1


def test_two_languages_are_shown_with_verdicts_and_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [language_row("case_s", "better"), language_row("ttft_s", None)]
    given = {"configurations": [configuration("model", {})], "languages": rows}
    text, pictures = outputs("cross_language.ipynb", given, tmp_path, monkeypatch)
    assert "model: Something about case_s." in text
    assert "better" in text
    assert pictures == 1


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_no_output_is_kept_in_a_notebook(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)
