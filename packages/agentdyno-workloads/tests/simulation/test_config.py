"""A simulation's configuration, set value by value."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno import SpecError
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.simulate import simulate


def test_values_can_be_set_as_the_recommendation_is_written(tmp_path: Path) -> None:
    config = SimulationConfig(agents=20, steps=3)
    config.use_in_memory_db = True
    config.persist_db_on_completion = True
    config.database = str(tmp_path / "history.db")
    assert simulate(config).database == tmp_path / "history.db"
    assert (tmp_path / "history.db").is_file()


def test_values_that_do_not_go_together_are_refused_when_it_runs() -> None:
    config = SimulationConfig(agents=20, steps=3)
    config.use_in_memory_db = True
    config.persist_db_on_completion = True
    with pytest.raises(SpecError, match="no file to persist the history to") as caught:
        simulate(config)
    assert caught.value.remedy == "Name one: database."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agents", 0),
        ("agents", 2.5),
        ("steps", -1),
        ("steps", True),
        ("resources", -1),
        ("width", float("nan")),
        ("height", "wide"),
        ("perception_radius", 0),
        ("use_in_memory_db", "yes"),
        ("persist_db_on_completion", 1),
    ],
)
def test_a_value_that_cannot_be_is_refused_and_changes_nothing(name: str, value: object) -> None:
    config = SimulationConfig()
    before = getattr(config, name)
    with pytest.raises(SpecError) as caught:
        setattr(config, name, value)
    assert caught.value.where == f"params.{name}"
    assert getattr(config, name) == before


def test_a_setting_that_there_is_not_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="Did you mean use_in_memory_db"):
        SimulationConfig().use_in_memry_db = True
