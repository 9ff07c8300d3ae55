"""The tables of settings in the reference are written by a script, and are as the settings say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "reference.py"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_as_the_settings_say(reference: ModuleType) -> None:
    assert reference.main(["--check"]) == 0


def test_a_table_has_key_type_default_and_meaning(reference: ModuleType) -> None:
    page = "<!-- settings suite: retries -->\nold\n<!-- end -->\n"

    assert "| `retries` | integer, 0 to 100 | `2` | new attempts after a failure of the infrastructure |" in (
        reference.render(page)
    )


def test_a_star_adds_what_no_other_table_describes(reference: ModuleType) -> None:
    page = "| `k` | by hand |\n\n<!-- settings rubric: * -->\n<!-- end -->\n"
    written = reference.render(page)

    assert "| `pass_threshold` |" in written
    assert written.count("| `k` |") == 1
