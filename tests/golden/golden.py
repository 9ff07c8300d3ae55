"""Comparing what the program says with what it said when the golden files were written."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
FROZEN = DATA / "frozen"
"""What the program said. The other folders of ``DATA`` hold what it is asked about."""
WRITE = "DYNO_GOLDEN"
RENEW = (
    f"A golden file changes in a commit of its own that says why. To renew it: {WRITE}=write python -m pytest"
    " tests/golden, then read `git diff tests/golden`."
)


def check(name: str, actual: str) -> None:
    """Fails with the difference unless ``actual`` is the text of the golden file; writes it where that is asked."""
    path = FROZEN / name
    text = actual if actual.endswith("\n") or not actual else actual + "\n"
    if os.environ.get(WRITE) == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    if not path.is_file():
        pytest.fail(f"there is no golden file {name}\n{RENEW}", pytrace=False)
    expected = path.read_text(encoding="utf-8")
    if text != expected:
        lines = difflib.unified_diff(
            expected.splitlines(), text.splitlines(), f"frozen/{name}", "now", lineterm="", n=3
        )
        pytest.fail("\n".join([f"{name} is not what it was", *lines, "", RENEW]), pytrace=False)


def check_json(name: str, actual: object) -> None:
    """``check`` of a value as indented JSON, in the order of its keys."""
    check(name, json.dumps(actual, indent=1, ensure_ascii=False))


def check_no_more(name: str, actual: int) -> None:
    """Fails when a count is above the golden one: it may only fall."""
    path = FROZEN / name
    if os.environ.get(WRITE) == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{actual}\n", encoding="utf-8")
        return
    limit = int(path.read_text(encoding="utf-8"))
    print(f"{name}: {actual}, at most {limit}")
    assert actual <= limit, f"{name}: {actual} is more than {limit}. {RENEW}"
