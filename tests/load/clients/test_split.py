"""One schedule in several hands: together they ask what one alone would have asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentdyno.load.plan.schedule import build_schedule
from agentdyno.model.load import Arrivals, Stage, Step

OPEN = st.sampled_from([Arrivals.CONSTANT, Arrivals.POISSON, Arrivals.GAMMA])


@given(OPEN, st.floats(1.0, 500.0), st.integers(1, 12), st.integers(0, 2**32))
def test_the_parts_together_are_the_whole_to_the_last_request(
    arrivals: Arrivals, rate: float, clients: int, seed: int
) -> None:
    step = Step("s", (Stage("a", 1.0, rate=rate), Stage("b", 0.5, rate=rate, rate_to=0.0)), arrivals, seed)
    whole = build_schedule(step, 7)
    parts = [whole.part(number, clients) for number in range(clients)]
    due_ns = np.concatenate([part.due_ns for part in parts])
    order = np.argsort(due_ns, kind="stable")
    assert due_ns[order].tolist() == whole.due_ns.tolist()
    asked = sorted(zip(due_ns, np.concatenate([part.request for part in parts]), strict=True))
    assert asked == sorted(zip(whole.due_ns, whole.request, strict=True))
    assert max(len(part) for part in parts) - min(len(part) for part in parts) <= 1


@pytest.mark.parametrize("clients", [4, 16])
def test_poisson_arrivals_of_many_clients_are_poisson_also_when_their_clocks_are_a_little_off(clients: int) -> None:
    step = Step("s", (Stage("steady", 100.0, rate=400.0),), Arrivals.POISSON, seed=11)
    whole = build_schedule(step, 1)
    errors_ns = np.random.default_rng(3).integers(-200_000, 200_000, clients)
    seen_s = np.sort(np.concatenate([whole.part(n, clients).due_ns + errors_ns[n] for n in range(clients)])) / 1e9
    gaps = np.diff(seen_s)
    assert stats.kstest(gaps, "expon", args=(0.0, 1 / 400.0)).pvalue > 0.01
    # Counts in tenths of a second: the variance of a Poisson count is its mean.
    counts = np.histogram(seen_s, np.arange(0.0, 100.05, 0.1))[0]
    dispersion = counts.var(ddof=1) / counts.mean() * (len(counts) - 1)
    assert stats.chi2.ppf(0.005, len(counts) - 1) < dispersion < stats.chi2.ppf(0.995, len(counts) - 1)
    # Arrivals do not know of each other: neighbouring gaps are not correlated.
    assert abs(stats.spearmanr(gaps[:-1], gaps[1:]).statistic) < 3 / np.sqrt(len(gaps))
