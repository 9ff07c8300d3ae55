"""One seed, one history: whatever the store, the index or the process."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno import RunError, SpecError
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.rules import NOBODY, Action, segment_argmin
from agentdyno_workloads.simulation.simulate import Simulation, simulate
from agentdyno_workloads.simulation.spatial import INDEXES

SMALL = SimulationConfig(agents=60, steps=30)


def test_the_same_seed_gives_the_same_history_and_another_seed_another() -> None:
    first, again = simulate(SMALL), simulate(SMALL)
    assert first.history_hash == again.history_hash
    assert simulate(replace(SMALL, seed=43)).history_hash != first.history_hash
    assert first.births + first.deaths > 0, "somebody is born or dies: the rules are at work"


@pytest.mark.parametrize("index", INDEXES)
def test_every_index_gives_the_same_history(index: str) -> None:
    assert simulate(replace(SMALL, index=index)).history_hash == simulate(SMALL).history_hash  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["disk", "memory", "memory_persist"])
def test_every_store_gives_the_same_history(mode: str, tmp_path: Path) -> None:
    config = replace(
        SMALL,
        database=str(tmp_path / "history.db"),
        use_in_memory_db=mode != "disk",
        persist_db_on_completion=mode == "memory_persist",
    )
    outcome = simulate(config)
    assert outcome.history_hash == simulate(SMALL).history_hash
    assert outcome.storage == ("disk" if mode == "disk" else "memory")
    assert (tmp_path / "history.db").exists() == (mode != "memory")


def test_another_process_gives_the_same_history() -> None:
    code = (
        "from agentdyno_workloads.simulation.config import SimulationConfig as C\n"
        "from agentdyno_workloads.simulation.simulate import simulate\n"
        "print(simulate(C(agents=60, steps=30)).history_hash)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == simulate(SMALL).history_hash


def test_the_log_holds_what_happened(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    outcome = simulate(replace(SMALL, database=str(path)))
    with closing(sqlite3.connect(path)) as link:
        (steps,) = link.execute("SELECT count(*) FROM steps").fetchone()
        (agents,) = link.execute("SELECT count(*) FROM agents").fetchone()
        (died,) = link.execute("SELECT count(*) FROM agents WHERE died IS NOT NULL").fetchone()
        (alive,) = link.execute("SELECT agents FROM steps ORDER BY step DESC LIMIT 1").fetchone()
        (acted,) = link.execute("SELECT count(*) FROM actions WHERE step = 1").fetchone()
        (rows,) = link.execute(
            "SELECT (SELECT count(*) FROM agents) + (SELECT count(*) FROM actions)"
            " + (SELECT count(*) FROM resources) + (SELECT count(*) FROM steps)"
        ).fetchone()
    assert (steps, agents, died, alive) == (30, 60 + outcome.births, outcome.deaths, outcome.agents)
    assert acted == 60
    assert rows == outcome.rows


def test_memory_and_disk_hold_the_same_rows(tmp_path: Path) -> None:
    dumps = []
    for memory in (False, True):
        path = tmp_path / f"{memory}.db"
        config = replace(SMALL, database=str(path), use_in_memory_db=memory, persist_db_on_completion=memory)
        simulate(config)
        with closing(sqlite3.connect(path)) as link:
            dumps.append(
                [link.execute(f"SELECT * FROM {name}").fetchall() for name in ("agents", "actions", "steps")]
            )
    assert dumps[0] == dumps[1]


def test_energy_is_only_moved_by_sharing() -> None:
    simulation = Simulation(replace(SMALL, agents=200))
    shared = 0
    for _ in range(40):
        _, deeds = simulation.step()
        shared += int(np.sum(deeds.action == Action.SHARE))
    assert shared > 0


@pytest.mark.parametrize("mode", ["disk", "memory_persist"])
def test_a_full_disk_leaves_no_half_of_a_database(mode: str, tmp_path: Path) -> None:
    """In a process whose files may not grow beyond 20 kB; an earlier history stays as it was."""
    path = tmp_path / "history.db"
    path.write_bytes(b"an earlier history")
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from agentdyno import RunError\n"
        "from agentdyno_workloads.simulation.config import SimulationConfig as C\n"
        "from agentdyno_workloads.simulation.simulate import simulate\n"
        f"memory = {mode != 'disk'}\n"
        f"config = C(agents=60, steps=30, database={str(path)!r}, use_in_memory_db=memory,"
        " persist_db_on_completion=memory)\n"
        "try:\n"
        "    simulate(config)\n"
        "except RunError as error:\n"
        "    print('refused:', error)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "refused:" in told.stdout, told.stderr
    assert "cannot be written" in told.stdout
    assert path.read_bytes() == b"an earlier history"
    assert [item.name for item in tmp_path.iterdir()] == ["history.db"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"agents": 0}, "params.agents"),
        ({"steps": -1}, "params.steps"),
        ({"width": -1.0, "height": 5.0}, "params.width"),
        ({"width": 10.0}, "params.height"),
        ({"width": float("nan"), "height": 1.0}, "params.width"),
        ({"perception_radius": -2.0}, "params.perception_radius"),
        ({"perception_radius": 0.0}, "params.perception_radius"),
        ({"agents": 10**12}, "params.agents"),
        ({"persist_db_on_completion": True}, "params.database"),
    ],
)
def test_a_world_that_cannot_be_is_refused(change: dict[str, object], where: str) -> None:
    with pytest.raises(SpecError) as caught:
        replace(SMALL, **change)  # type: ignore[arg-type]
    assert caught.value.where == where
    assert caught.value.remedy


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        simulate(replace(SMALL, database=str(tmp_path / "file" / "history.db")))


def test_a_world_in_which_everybody_dies_goes_on_empty() -> None:
    outcome = simulate(SimulationConfig(agents=1, steps=500, resources=0))
    assert (outcome.agents, outcome.deaths) == (0, 1)
    assert len(outcome.step_s) == 500


@given(st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=8))
def test_the_first_least_of_each_segment_is_found(rows: list[list[int]]) -> None:
    values = np.array([float(v) for row in rows for v in row])
    indptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    found = segment_argmin(values, indptr)
    expected = [int(indptr[i]) + row.index(min(row)) if row else NOBODY for i, row in enumerate(rows)]
    assert found.tolist() == expected
