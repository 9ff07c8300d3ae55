"""Random faults over suites, sweeps and loads: nothing lost, nothing doubled, no traceback, no process left.

``make test`` does a few from one seed, ``make soak`` 500 from a new one, which it prints. What happens to jobs of a
service is in ``test_jobs_survive``, a full disk in ``test_faults``.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from agentdyno.servers.simulated.server import Behaviour, simulated_server

from ..command import Bench
from ..fault_campaign import COMMANDS, Campaign

SOAK = bool(os.environ.get("DYNO_SOAK"))
FAULTS = 225 if SOAK else 2
"""Of suites, and of sweeps."""
LOADS = 50 if SOAK else 1


def campaign_in(folder: Path, kind: str) -> Campaign:
    seed = random.SystemRandom().randrange(1 << 32) if SOAK else 7
    print(f"seed {seed}")
    campaign = Campaign(Bench(folder), random.Random(f"{seed} {kind}"))
    campaign.prepare()
    return campaign


@pytest.mark.timeout(14_400 if SOAK else 600)
@pytest.mark.parametrize("kind", COMMANDS)
def test_a_run_that_is_disturbed_at_random_moments_is_whole_in_the_end(kind: str, tmp_path: Path) -> None:
    campaign = campaign_in(tmp_path, kind)
    while campaign.faults.total() < FAULTS:
        campaign.one_run(kind, most_faults=min(3, FAULTS))
    print(kind, dict(campaign.faults))
    assert (campaign.wrong, campaign.errors) == ([], [])


@pytest.mark.timeout(14_400 if SOAK else 600)
def test_a_load_that_is_ended_at_a_random_moment_is_closed_with_what_was_stored(tmp_path: Path) -> None:
    campaign = campaign_in(tmp_path, "load")
    with simulated_server(Behaviour(ttft_s=0.005, itl_s=0.001, output_tokens=4)) as server:
        while campaign.faults.total() < LOADS:
            campaign.one_load(server.openai_url)
            assert campaign.wrong == []
    print("load", dict(campaign.faults))
    assert (campaign.wrong, campaign.errors) == ([], [])
