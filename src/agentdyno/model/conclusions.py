"""What stored results say together, as reporters receive it."""

from __future__ import annotations

from dataclasses import dataclass

from agentdyno.model.board import Coverage, Leaderboard, Matrix
from agentdyno.model.duel import AllAgainstAll, Duel
from agentdyno.model.economy import CostReport
from agentdyno.model.findings import Findings
from agentdyno.model.gate import GateReport
from agentdyno.model.history import History
from agentdyno.model.record import AgentRecord
from agentdyno.model.regression import RegressionReport
from agentdyno.model.reliability import Reliability
from agentdyno.model.stress import StressReport


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
    gates: tuple[GateReport, ...] = ()
    stress: tuple[StressReport, ...] = ()
    records: tuple[AgentRecord, ...] = ()
