"""What a calibration says about its host."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agentdyno.model import Phase, Sample, Status
from agentdyno.runs.host_state import ReferenceStandard
from agentdyno.workbench.calibrate import reference_standard, spread_between


def run(slower: float, samples: int = 5) -> list[Sample]:
    """A run on a host that is ``slower`` than usual, beside others who take the CPU for a millisecond a sample."""
    readings = {
        "duration_s": 0.004 * slower + 0.001,
        "cpu_s": 0.004 * slower,
        "peak_rss_bytes": 1e7,
        "reference.interpreted": 1e-4 * slower,
        "reference.memory": 2e-4,
        "reference.queued_s": 0.001,
        "reference.spent_s": 0.01,
    }
    return [Sample("a", Phase.MEASURED, place, Status.OK, 0, readings) for place in range(samples)]


SPEEDS = [1.0, 1.3, 0.8, 1.1, 0.9]


def test_the_standard_is_the_median_of_all_readings() -> None:
    standard = reference_standard([run(speed) for speed in SPEEDS])
    assert standard.seconds == pytest.approx({"interpreted": 1e-4, "memory": 2e-4})
    assert standard.source == "calibrated"


def test_the_spread_is_that_of_the_medians_and_normalising_takes_the_hosts_share_out() -> None:
    runs = [run(speed) for speed in SPEEDS]
    spread = spread_between(runs, ReferenceStandard({"interpreted": 1e-4, "memory": 2e-4}, "calibrated", 1))
    assert spread.runs == 5
    walls = np.log([0.004 * speed + 0.001 for speed in SPEEDS])
    assert spread.log_sd["duration_s"] == pytest.approx(np.std(walls, ddof=1))
    assert spread.log_sd["cpu_s"] == pytest.approx(np.std(np.log(SPEEDS), ddof=1))
    assert spread.log_sd["duration_norm_s"] == 0.005  # all that is left is less than is ever claimed
    assert "ttft_s" not in spread.log_sd
    assert all(math.isfinite(value) for value in spread.log_sd.values())
