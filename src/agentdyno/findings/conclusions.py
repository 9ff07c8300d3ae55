"""What stored results say together, as reporters receive it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentdyno.model.findings import Findings
from agentdyno.model.sample import LEFT_OUT

if TYPE_CHECKING:  # the models of every slice, of which a command shows one
    from agentdyno.findings.board.model import Coverage, Leaderboard, Matrix
    from agentdyno.findings.cost.model import CostReport
    from agentdyno.findings.duel.model import AllAgainstAll, Duel
    from agentdyno.findings.gate.model import GateReport
    from agentdyno.findings.history.model import History
    from agentdyno.findings.history.model_regression import RegressionReport
    from agentdyno.findings.profile.model import PerformanceProfile, ProfileComparison
    from agentdyno.findings.reliability.model import Reliability
    from agentdyno.findings.stress.model import StressReport
    from agentdyno.findings.success.model import SuccessReport
    from agentdyno.model.record import AgentRecord


@dataclass(frozen=True, slots=True)
class Conclusions(Findings):
    """Whatever was asked for; the rest is empty. ``records`` are those behind it, for charts of their cases."""

    leaderboards: tuple[Leaderboard, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    coverages: tuple[Coverage, ...] = ()
    duels: tuple[Duel, ...] = ()
    tournaments: tuple[AllAgainstAll, ...] = ()
    histories: tuple[History, ...] = ()
    regressions: tuple[RegressionReport, ...] = ()
    costs: tuple[CostReport, ...] = ()
    reliabilities: tuple[Reliability, ...] = ()
    profiles: tuple[PerformanceProfile, ...] = ()
    profile_comparisons: tuple[ProfileComparison, ...] = ()
    gates: tuple[GateReport, ...] = ()
    stress: tuple[StressReport, ...] = ()
    records: tuple[AgentRecord, ...] = ()
    successes: tuple[SuccessReport, ...] = field(default=(), metadata=LEFT_OUT)
