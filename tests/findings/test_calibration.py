"""Verdicts against a known truth: simulated comparisons, counted."""

from __future__ import annotations

import numpy as np
import pytest

from agentdyno.findings.engine.match import compare_sides
from agentdyno.findings.engine.measure_samples import SampleJudging, compare_arms, correct_family
from agentdyno.model import Verdict

from .builders import arm, noisy, two_sided


def simulate(
    count: int, change: float, *, paired: bool, processes: int, own: float, n: int = 30
) -> dict[Verdict, int]:
    """Verdicts of comparisons whose truth is known: lognormal noise between samples and between processes."""
    generator = np.random.default_rng(20_240_501)
    verdicts = dict.fromkeys(Verdict, 0)
    for _ in range(count):
        first, second = (
            arm(
                {
                    "duration_s": noisy(generator, centre, n=n, spread=0.03, processes=processes, own=own),
                    "cpu_s": noisy(generator, centre, n=n, spread=0.03, processes=processes, own=own),
                },
                processes=processes,
            )
            for centre in (1.0, 1.0 + change)
        )
        found = compare_sides(two_sided(first, second), SampleJudging()) if paired else None
        rows = found.arms[0].metrics if found else correct_family(compare_arms(first, second, SampleJudging()), 0.01)
        for item in rows:
            assert item.verdict is not None
            verdicts[item.verdict] += 1
    return verdicts


@pytest.mark.parametrize(
    ("paired", "processes", "own"), [(False, 1, 0.0), (True, 4, 0.02), (True, 10, 0.02), (False, 10, 0.02)]
)
def test_equal_code_is_hardly_ever_called_changed(paired: bool, processes: int, own: float) -> None:
    verdicts = simulate(200, 0.0, paired=paired, processes=processes, own=own)
    assert verdicts[Verdict.WORSE] + verdicts[Verdict.BETTER] <= 8  # 2 % of 400 rows


@pytest.mark.parametrize(("paired", "processes", "own"), [(False, 1, 0.0), (True, 10, 0.02), (False, 10, 0.02)])
def test_code_that_is_8_percent_slower_is_mostly_found_and_never_called_better(
    paired: bool, processes: int, own: float
) -> None:
    verdicts = simulate(100, 0.08, paired=paired, processes=processes, own=own)
    assert verdicts[Verdict.WORSE] >= 180  # of 200 rows
    assert verdicts[Verdict.BETTER] == verdicts[Verdict.SAME] == 0
