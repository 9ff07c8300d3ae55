"""Two agents of one name are no versions of each other; two versions of one agent are."""

from __future__ import annotations

import pytest

from agentdyno.errors import StoreError
from agentdyno.findings.change.ask import Changing
from agentdyno.findings.duel.ask import compare_agents, compare_runs
from agentdyno.findings.history.ask import Histories
from agentdyno.findings.record.ask import Records
from agentdyno.findings.standing.judge import standing_of

from ...suites import Room
from ...workbench.answering import run

RIGHT = "def answer(text): return text.upper()\n"
WRONG = "def answer(text): return 'no'\n"


def test_only_a_version_of_the_same_function_alarms(room: Room) -> None:
    first, second = (room.folder / name for name in ("triage.py", "triage_v2.py"))
    first.write_text(RIGHT)
    second.write_text(WRONG)
    good = run(room, f"{first}@answer", count=12)
    bad = run(room, f"{second}@answer", count=12)
    found = Changing(room.store)
    assert {(row.name, row.verdict) for row in found.changes().rows} == {
        ("triage.answer", "no-baseline"),
        ("triage_v2.answer", "no-baseline"),
    }
    assert found.alerts() == ()
    assert [item.name for item in standing_of(bad).agents] == ["triage_v2.answer"]
    with pytest.raises(StoreError, match="2 agents are called 'answer' here") as refused:
        Records(room.store).agent_named("answer")
    assert refused.value.remedy == "Say triage.answer or triage_v2.answer."
    duel = compare_agents(room.store, ["triage.answer", "triage_v2.answer"]).duels[0]
    assert [agent.rpartition("@")[0] for agent in (duel.baseline, duel.candidate)] == [
        "triage.answer",
        "triage_v2.answer",
    ]

    first.write_text(WRONG + "# edited\n")
    worse = run(room, f"{first}@answer", count=12)
    rows = {row.name: row for row in found.changes().rows}
    assert (rows["triage.answer"].verdict, rows["triage_v2.answer"].verdict) == ("worse", "no-baseline")
    assert rows["triage.answer"].run_id == worse.run_id
    assert {alert.agent for alert in found.alerts()} == {"triage.answer"}
    assert len(Histories(room.store).of("triage.answer", "accuracy").points) == 2
    compared = compare_runs(room.store.runs.load(good.run_id), room.store.runs.load(worse.run_id), room.store)
    assert {record.name for record in compared.records} == {"triage.answer"}
