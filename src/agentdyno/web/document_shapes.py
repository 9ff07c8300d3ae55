"""The shapes in which others expect the answers of ``/benchmarks``: our values, and beside them the names that
clients of such platforms know (``has_regressions``, ``overall_winner``, ``accuracy_score``…).

Nothing is worked out here. Milliseconds, MiB and ISO times live in these names and nowhere below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agentdyno.findings.board.model import Leaderboard, LeaderboardEntry, RankedScore
from agentdyno.findings.duel.model import AllAgainstAll, Duel
from agentdyno.findings.figures.dimensions import DIMENSIONS
from agentdyno.findings.history.model_regression import Regression, RegressionReport
from agentdyno.model.metric import Verdict
from agentdyno.store.rows import Execution
from agentdyno.web.schemas import ComparisonType

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RegressionItem(Regression):
    """``regression_percentage`` is in per cent of the baseline, ``None`` for what has no percentage (from zero, or of
    a rate); ``amount`` has it in parts. ``impact_analysis`` is a sentence."""

    benchmark_id: str = ""
    baseline_value: float = 0.0
    current_value: float = 0.0
    regression_percentage: float | None = None
    impact_analysis: str = ""


@dataclass(frozen=True, slots=True)
class RegressionAnswer(RegressionReport):
    """``overall_health`` is ``health`` and ``recommended_action`` is ``action``; improvements stand apart."""

    regressions: tuple[RegressionItem, ...]
    has_regressions: bool = False
    overall_health: int | None = None
    recommended_action: str = ""
    agent_id: str = ""


def regression_answer(report: RegressionReport) -> RegressionAnswer:
    """The report, with its regressions under both sets of names."""
    items = tuple(
        RegressionItem(
            **_held(item),
            benchmark_id=item.benchmark,
            baseline_value=item.baseline,
            current_value=item.current,
            regression_percentage=100.0 * item.amount if item.relative else None,
            impact_analysis=item.impact.text or item.explanation,
        )
        for item in report.regressions
    )
    return RegressionAnswer(
        **{**_held(report), "regressions": items},
        has_regressions=bool(items),
        overall_health=report.health,
        recommended_action=report.action,
        agent_id=report.agent,
    )


@dataclass(frozen=True, slots=True)
class DimensionComparison:
    """One dimension of agent A (the baseline) and B: scores are in 0..1, ``None`` where there is none.

    ``winner`` is ``None`` where the difference may be chance: a larger number alone makes no winner.
    """

    metric: str
    agent_a_score: float | None
    agent_b_score: float | None
    difference: float | None
    percentage_difference: float | None
    winner: str | None


@dataclass(frozen=True, slots=True)
class Compared:
    """One of ``duel`` and ``tournament`` is there. ``simulated`` lists agents whose answers were simulated.

    Of a duel ``detailed_metrics`` has the five dimensions, ``statistical_significance`` their p-values after
    correction (``None`` where there is no test), and ``category_winners`` who is better in benchmarks of a category.
    """

    type: ComparisonType
    duel: Duel | None
    tournament: AllAgainstAll | None
    simulated: tuple[str, ...] = ()
    overall_winner: str | None = None
    category_winners: Mapping[str, str | None] = field(default_factory=dict)
    detailed_metrics: tuple[DimensionComparison, ...] = ()
    statistical_significance: Mapping[str, float | None] = field(default_factory=dict)
    recommendations: tuple[str, ...] = ()


def duel_answer(found: Duel, simulated: tuple[str, ...]) -> Compared:
    """Two agents head to head."""
    rows = {row.metric: row for row in found.rows if row.metric in DIMENSIONS}
    winners = {Verdict.BETTER: found.candidate, Verdict.WORSE: found.baseline}
    detailed = []
    for name in DIMENSIONS:
        row = rows.get(name)
        first, second = (row.baseline_score, row.candidate_score) if row is not None else (None, None)
        apart = None if first is None or second is None else first - second
        detailed.append(
            DimensionComparison(
                metric=name,
                agent_a_score=first,
                agent_b_score=second,
                difference=apart,
                percentage_difference=100.0 * apart / second if apart is not None and second else None,
                winner=winners.get(row.verdict) if row is not None and row.verdict is not None else None,
            )
        )
    return Compared(
        type=ComparisonType.HEAD_TO_HEAD,
        duel=found,
        tournament=None,
        simulated=simulated,
        overall_winner=found.winner,
        category_winners=found.category_winners,
        detailed_metrics=tuple(detailed),
        statistical_significance={name: row.adjusted_p for name, row in rows.items()},
        recommendations=found.recommendations,
    )


def tournament_answer(found: AllAgainstAll, simulated: tuple[str, ...]) -> Compared:
    """Every agent against every other: the details are in the duels."""
    told = dict.fromkeys(text for pair in found.duels for text in pair.recommendations)
    return Compared(
        type=ComparisonType.MATRIX,
        duel=None,
        tournament=found,
        simulated=simulated,
        overall_winner=found.winner,
        recommendations=tuple(told),
    )


@dataclass(frozen=True, slots=True)
class LeaderboardItem(LeaderboardEntry):
    """``scores_and_ranks`` has the five dimensions; ``last_benchmark_date`` is ISO 8601, UTC."""

    agent_id: str = ""
    agent_name: str = ""
    benchmark_category: str = ""
    scores_and_ranks: Mapping[str, RankedScore] = field(default_factory=dict)
    overall_score: float | None = None
    last_benchmark_date: str | None = None


@dataclass(frozen=True, slots=True)
class LeaderboardAnswer(Leaderboard):
    """The entries under both sets of names."""

    entries: tuple[LeaderboardItem, ...]


def leaderboard_answer(board: Leaderboard) -> LeaderboardAnswer:
    """The board, with its entries under both sets of names."""
    items = tuple(
        LeaderboardItem(
            **_held(entry),
            agent_id=entry.agent,
            agent_name=entry.name,
            benchmark_category=entry.category,
            scores_and_ranks={name: entry.scores[name] for name in DIMENSIONS},
            overall_score=entry.scores["overall"].score,
            last_benchmark_date=iso_time(entry.last_benchmark_at),
        )
        for entry in board.entries
    )
    return LeaderboardAnswer(**{**_held(board), "entries": items})


@dataclass(frozen=True, slots=True)
class ExecutionItem(Execution):
    """The columns of the view ``benchmark_executions``, but for the two that compare with others."""

    id: str = ""
    suite_id: str = ""
    benchmark_id: str = ""
    agent_id: str = ""
    start_time: str | None = None
    end_time: str | None = None
    total_duration_ms: float | None = None
    accuracy_score: float | None = None
    speed_score: float | None = None
    efficiency_score: float | None = None
    cost_score: float | None = None
    reliability_score: float | None = None
    api_calls_made: int | None = None
    memory_peak_mb: float | None = None
    cpu_usage_percent: float | None = None
    output_correctness: float | None = None
    output_completeness: float | None = None
    output_relevance: float | None = None


def execution_item(row: Execution, suite_id: str) -> ExecutionItem:
    """An execution of a suite of that id, under both sets of names."""
    busy = None if row.cpu_s is None or not row.duration_s else 100.0 * row.cpu_s / row.duration_s
    return ExecutionItem(
        **_held(row),
        id=row.uid,
        suite_id=suite_id,
        benchmark_id=row.benchmark,
        agent_id=f"{row.agent}@{row.agent_version}",
        start_time=iso_time(row.started_at),
        end_time=iso_time(row.finished_at),
        total_duration_ms=None if row.duration_s is None else 1000.0 * row.duration_s,
        **{f"{name}_score": getattr(row, name) for name in DIMENSIONS},
        api_calls_made=row.api_calls,
        memory_peak_mb=None if row.memory_peak_bytes is None else row.memory_peak_bytes / MIB,
        cpu_usage_percent=busy,
        **{f"output_{name}": getattr(row, name) for name in ("correctness", "completeness", "relevance")},
    )


def iso_time(at_ms: int | None) -> str | None:
    """UTC milliseconds as ISO 8601; ``None`` stays."""
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _held(value: DataclassInstance) -> dict[str, Any]:  # fields of any type, for a subclass of the same dataclass
    """The fields of a dataclass, not copied any deeper."""
    return {name: getattr(value, name) for name in _field_names(type(value))}


@lru_cache(maxsize=32)
def _field_names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Newest first; ``next`` is the cursor of the page behind it."""

    items: tuple[ExecutionItem, ...]
    next: str | None
