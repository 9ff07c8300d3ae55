"""Property tests are tried with the same examples every time, unless somebody asks for new ones."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, is_hypothesis_test, settings
from hypothesis import strategies as st

from .properties import examples, exploring


def drawn() -> list[tuple[int, float, str]]:
    found: list[tuple[int, float, str]] = []

    @settings(examples(300), derandomize=True, database=None)
    @given(st.integers(), st.floats(allow_nan=False), st.text())
    def draw(number: int, fraction: float, text: str) -> None:
        found.append((number, fraction, text))

    draw()
    return found


def test_which_modules_are_loaded_does_not_change_the_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    file = tmp_path.parent / f"{tmp_path.name.removeprefix('test_')}.py"
    file.write_text("numbers = [4_711_000_815, 0.4711, 'a word of ours']\n" + "\n".join(f"{i}.5" for i in range(200)))
    module = ModuleType("a_module_with_constants")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert drawn() == before


def test_no_property_test_here_overrides_what_the_profile_says(request: pytest.FixtureRequest) -> None:
    """Of all tests of this session: a ``@settings`` of its own would bring chance or a deadline back."""
    functions = [item.function for item in request.session.items if isinstance(item, pytest.Function)]
    for function in filter(is_hypothesis_test, functions):
        used: settings | None = getattr(function, "_hypothesis_internal_use_settings", settings.default)
        assert used is not None
        assert (used.derandomize, used.deadline) == (not exploring(), None), function
        assert HealthCheck.too_slow in used.suppress_health_check, function


def test_exploring_tries_ten_times_as_many_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, times in (("fixed", 1), ("explore", 10)):
        monkeypatch.setattr(settings, "_current_profile", name)
        assert examples(60).max_examples == 60 * times
