"""Going on with a suite: what is asked again, and what is refused."""

from __future__ import annotations

import pytest

from agentdyno.errors import DynoError, RunError
from agentdyno.model import RunStatus

from ...suites import AGENT, Room, statuses


def test_failed_cases_are_asked_again_on_request_only(room: Room) -> None:
    first = room.run(room.suite(epochs=2, max_failure_rate=1.0), "agent.py@broken", "agent.py@good")
    assert statuses(first) == {"broken": {"error": 8}, "good": {"ok": 8}}
    with pytest.raises(RunError, match="nothing to resume"):
        room.resume(first)
    (room.folder / "mended").touch()
    mended = room.resume(first, retry_errors=True)
    assert statuses(mended) == {"broken": {"ok": 8}, "good": {"ok": 8}}
    assert len(room.calls()) == 8, "what was right is not asked again"
    assert (mended.run_id, mended.status) == (first.run_id, RunStatus.COMPLETE)


def test_an_agent_that_was_given_up_stays_so_until_errors_are_to_be_repeated(room: Room) -> None:
    first = room.run(room.suite(epochs=2), "agent.py@broken", "agent.py@good")
    again = room.resume(first)
    assert statuses(again) == statuses(first) == {"broken": {"error": 3}, "good": {"ok": 8}}
    assert [warning.code for warning in again.warnings].count("given-up") == 1


def test_an_agent_whose_code_has_changed_is_another_agent(room: Room) -> None:
    first = room.run(room.suite(epochs=2), "agent.py@broken", "agent.py@good")
    (room.folder / "agent.py").write_text(AGENT + "# changed\n")
    with pytest.raises(RunError, match=r"agents have changed since: broken@\w+, good@\w+ would now be broken@"):
        room.resume(first)


def test_a_declared_version_says_that_it_is_the_same_agent(room: Room) -> None:
    workspace = room.workspace("agents: {mine: {use: agent.py@broken, version: '2'}}")
    first = room.run(room.suite(max_failure_rate=1.0), "mine", workspace=workspace)
    assert first.arms[0].agent == "mine@2"
    (room.folder / "agent.py").write_text(AGENT + "# changed\n")
    (room.folder / "mended").touch()
    assert statuses(room.resume(first, retry_errors=True, workspace=workspace)) == {"mine": {"ok": 4}}


def test_an_agent_that_is_gone_is_refused_with_its_name(room: Room) -> None:
    first = room.run(room.suite(epochs=2), "agent.py@broken")
    (room.folder / "agent.py").unlink()
    with pytest.raises(DynoError, match=r"no file agent\.py"):
        room.resume(first)


def test_scorers_that_the_suite_imports_are_there_again(room: Room) -> None:
    (room.folder / "judge.py").write_text(
        "from agentdyno import register_scorer\n@register_scorer('lenient')\ndef lenient(output): return 1.0\n"
    )
    loaded = room.suite(imports=["judge.py"], scorer="lenient", max_failure_rate=1.0)
    first = room.run(loaded, "agent.py@broken", "agent.py@bad")
    assert statuses(first)["bad"] == {"ok": 4}
    (room.folder / "mended").touch()
    assert statuses(room.resume(first, retry_errors=True))["broken"] == {"ok": 4}


def test_a_run_goes_on_with_the_prices_that_it_began_with(room: Room) -> None:
    workspace = room.workspace("compute_price_per_cpu_hour: 3.6")
    first = room.run(room.suite(max_failure_rate=1.0), "agent.py@broken", workspace=workspace)
    (room.folder / "mended").touch()
    mended = room.resume(first, retry_errors=True, workspace=room.workspace("workspace: other"))
    (arm,) = mended.arms
    assert mended.pricing["compute_price_per_cpu_hour"] == 3.6
    for sample in arm.samples:
        assert sample.readings["cost_usd"] == pytest.approx(sample.readings["cpu_s"] * 3.6 / 3600)
