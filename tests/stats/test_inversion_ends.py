"""Where all patterns are as probable, an end needs no order of all of them: it is the one that sorting finds."""

from __future__ import annotations

import numpy as np
import pytest

from agentdyno.stats.inversion import end_of_ranges


@pytest.mark.parametrize("size", [1, 2, 3, 19, 20, 2_000])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5, 1.0])
def test_an_end_is_that_of_sorted_ranges(size: int, alpha: float) -> None:
    for seed in range(30):
        draw = np.random.default_rng([seed, size])
        lows = np.round(draw.normal(size=size), seed % 4)  # with ties, and zeros among them
        lows[draw.random(size) < 0.1] = -np.inf
        ordered = np.sort(lows)
        running = np.arange(1, size + 1) / size
        place = min(int(np.searchsorted(running, alpha)), size - 1)
        count = int(np.searchsorted(ordered, 0.0, side="right"))
        assert end_of_ranges(lows, None, alpha) == (ordered[place], running[count - 1] if count else 0.0)
