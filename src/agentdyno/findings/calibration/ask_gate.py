"""Whether the judges behind a run's scores may block a change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentdyno.errors import StoreError
from agentdyno.findings.calibration.ask import judges_of_run, known_calibrations
from agentdyno.findings.calibration.judge import why_not_trusted
from agentdyno.model import RunResult
from agentdyno.model.policy import GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.store import Store


def doubt_of_judges(
    store: Store, runs: Sequence[RunResult], baseline: AgentRecord, policy: GatePolicy, folder: Path
) -> str:
    """Why judged metrics may not block, "" where they may: no model judged, all that did are trusted, or the policy
    says ``uncalibrated: allow``. ``folder`` is where the policy's files of calibrations are."""
    if policy.uncalibrated == "allow":
        return ""
    judges: dict[str, str] = {}
    for run in runs:
        judges |= judges_of_run(store, run)
    if not judges:
        return ""
    known = known_calibrations(store, [folder / name for name in policy.calibrations])
    for fingerprint, name in judges.items():
        reason = why_not_trusted(known.get(fingerprint), policy.judge_floor)
        if reason:
            return f"judge {name}: {reason}"
    before = _judges_before(store, baseline)
    if before and not set(before) & set(judges):
        return f"the baseline was graded by another judge, prompt or rubric: {', '.join(before.values())}"
    return ""


def _judges_before(store: Store, baseline: AgentRecord) -> dict[str, str]:
    """Those of the baseline's runs, as far as the store has them."""
    found: dict[str, str] = {}
    for run_id in baseline.run_ids:
        try:
            found |= judges_of_run(store, store.runs.load(run_id, samples=False))
        except StoreError:
            continue
    return found
