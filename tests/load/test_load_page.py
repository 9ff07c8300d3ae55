"""The page about load names every parameter with its values, every figure's word and every scenario."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.findings.stress.model import LimitedBy
from agentdyno.load.scenarios import FIND_LIMIT, SCENARIOS
from agentdyno.load.scenarios.base import Scenario

PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "load.md").read_text()


def shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(item) for item in value)
    if isinstance(value, (int, float)):
        return f"{value:g}" if value < 1e6 else f"{value:.0f}"
    return str(value)


@pytest.mark.parametrize("scenario", [*SCENARIOS.values(), FIND_LIMIT], ids=lambda scenario: str(scenario.name))
def test_the_page_has_every_parameter_with_its_values(scenario: Scenario) -> None:
    section = PAGE.partition(f"### {scenario.name}\n")[2].partition("\n### ")[0]
    for parameter in scenario.parameters:
        factor = scenario.scaled.get(parameter.name)
        meaning = parameter.description + ("" if factor is None else f" (× {factor:g})")
        values = " | ".join(shown(scenario.profiles[name][parameter.name]) for name in ("quick", "standard", "full"))
        assert f"| `{parameter.name}` | {meaning} | {values} |" in section


def test_the_page_explains_every_limit() -> None:
    for word in LimitedBy:
        assert f"`{word.value}`" in PAGE
