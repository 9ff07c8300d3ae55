"""What one run says: what its kind has concluded about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agentdyno.errors import PluginError, StoreError, nearest
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.suite_figures import figures_of
from agentdyno.findings.standing.judge import standing_of
from agentdyno.findings.standing.model import SuiteFindings
from agentdyno.model import Findings, RunResult, Side
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.registry.installed import STRESS, findings_of
from agentdyno.settings.judging import TOLERANCE
from agentdyno.store import Store


def findings_for(
    result: RunResult,
    store: Store | None,
    tolerance: float = TOLERANCE.default,
    policy: GatePolicy = DEFAULT_POLICY,
) -> Findings:
    """A run's warnings, and what its kind has concluded about it: where agents stand, two sides compared, stress;
    and what its figures mean, where its file asks for that (``bands``).

    ``tolerance`` is of experiments; ``policy`` is the project's, whose families correct what is said of two agents.
    """
    found = _concluded(result, store, _Rules(tolerance, policy))
    if result.spec.bands is None:
        return found
    from agentdyno.findings.bands.judge import judge_bands

    return replace(found, bands=judge_bands(result, result.spec.bands))


def _concluded(result: RunResult, store: Store | None, rules: _Rules) -> Findings:
    for name in findings_of(result.kind):
        if name not in _CONCLUSIONS:
            raise PluginError(f"the kind {result.kind!r} names findings {name!r}", remedy=nearest(name, _CONCLUSIONS))
        found = _CONCLUSIONS[name](result, store, rules)
        if found is not None:
            return found
    return Findings(warnings=result.warnings)


@dataclass(frozen=True, slots=True)
class _Rules:
    tolerance: float
    policy: GatePolicy


def _standing(result: RunResult, store: Store | None, rules: _Rules) -> Findings | None:
    if result.suite is None:
        return None
    figures = _figures(result, store)
    standing = standing_of(result, figures, rules.policy)
    found = SuiteFindings(warnings=result.warnings, standings=(standing,))
    if len(standing.agents) < 3:
        return found
    from agentdyno.findings.standing.judge_pairs import corrected_standing, judged_pairs

    pairs = judged_pairs(result, figures or figures_of(result), standing, rules.policy)
    return replace(found, standings=(corrected_standing(standing, pairs),), pairs=pairs)


def _stress(result: RunResult, _store: Store | None, _rules: _Rules) -> Findings:
    from agentdyno.findings.conclusions import Conclusions
    from agentdyno.findings.stress.judge import stress_report

    return Conclusions(warnings=result.warnings, stress=(stress_report(result),))


def _comparison(result: RunResult, store: Store | None, rules: _Rules) -> Findings | None:
    """Of the two sides, where a run has two."""
    if not {Side.BASELINE, Side.CANDIDATE} <= {arm.side for arm in result.arms}:
        return None
    from agentdyno.findings.comparison.ask import judging_for
    from agentdyno.findings.engine.match import compare_sides

    compared = compare_sides(result, judging_for(result, store, rules.tolerance))
    return Findings(warnings=result.warnings, comparisons=(compared,))


def _arms(result: RunResult, store: Store | None, rules: _Rules) -> Findings | None:
    """Of every other arm with the first, where there are several."""
    if len(result.arms) < 2:
        return None
    from agentdyno.findings.comparison.ask import judging_for
    from agentdyno.findings.engine.match import compare_with_first

    compared = compare_with_first(result, judging_for(result, store, rules.tolerance))
    return Findings(warnings=result.warnings, comparisons=(compared,))


_CONCLUSIONS: Mapping[str, Callable[[RunResult, Store | None, _Rules], Findings | None]] = {
    "arms": _arms,
    "comparison": _comparison,
    "standing": _standing,
    STRESS: _stress,
}
"""What a kind of run may name under ``findings``."""


def rests_on_samples(result: RunResult) -> bool:
    """Whether what is concluded about a run cannot be told from its header: its arms are set against each other,
    sample by sample. Of suites the store's figures are taken."""
    if result.suite is not None:
        return False
    sides = {Side.BASELINE, Side.CANDIDATE} <= {arm.side for arm in result.arms}
    of_kind = findings_of(result.kind)
    return ("comparison" in of_kind and sides) or ("arms" in of_kind and len(result.arms) > 1)


def figures_for(result: RunResult, store: Store | None) -> dict[str, ArmFigures]:
    """Figures of a suite's arms by id, from all samples where the store has more than the result at hand."""
    return _figures(result, store) or figures_of(result)


def _figures(result: RunResult, store: Store | None) -> dict[str, ArmFigures] | None:
    """From all samples in the store, where the result at hand holds only some of them."""
    thinned = any(len(arm.samples) < arm.samples_total for arm in result.arms)
    if not thinned or store is None or result.suite is None:
        return None
    try:
        store.runs.find(result.run_id)
    except StoreError:
        return None  # a file from elsewhere
    figures = {arm.arm_id: ArmFigures(result.suite.benchmark(arm.benchmark or "")) for arm in result.arms}
    for sample in store.runs.iter_samples(result.run_id, details=True):
        figures[sample.arm_id].add(sample)
    return figures
