"""The rule that tries cases in doubt again, each only until it is known whether it passes as often as it must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentdyno.findings.figures.cases import has_passed
from agentdyno.model.case import CaseKey
from agentdyno.model.plan import Phase, Plan, Trial
from agentdyno.model.sample import Sample, Status
from agentdyno.stats.pass_rate import PassRateTest, Requirement

SETTLED = "decided: every case in doubt was tried often enough"


@dataclass(slots=True)
class DoubtfulCase:
    """A case and how often it has been tried, and answered wrongly, so far."""

    test: PassRateTest
    tries: int
    wrong: int
    settled: bool = False


@dataclass(slots=True)
class UntilSettled:
    """Skips further tries of a case once its test has an answer, and ends the run when all have.

    What is settled stays so, even where tries that were under way arrive later.
    """

    cases: Mapping[CaseKey, DoubtfulCase]
    _benchmarks: dict[str, str] = field(default_factory=dict)

    def observe(self, sample: Sample) -> None:
        if sample.phase is not Phase.MEASURED or sample.status is Status.CANCELLED:
            return
        case = self._case(sample.arm_id, sample.case_id)
        if case is None:
            return
        case.tries += 1
        case.wrong += not has_passed(sample)
        case.settled = case.settled or case.test.state(case.tries, case.wrong) is not Requirement.OPEN

    def skip(self, trial: Trial) -> bool:
        case = self._case(trial.arm_id, trial.case_id)
        return case is not None and case.settled

    def stop(self, plan: Plan) -> str | None:
        if not self._benchmarks:
            self._benchmarks |= {arm.arm_id: arm.benchmark or "" for arm in plan.arms}
        return SETTLED if all(case.settled for case in self.cases.values()) else None

    def _case(self, arm_id: str, case_id: str) -> DoubtfulCase | None:
        return self.cases.get(CaseKey(self._benchmarks.get(arm_id, ""), case_id))
