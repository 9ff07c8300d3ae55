"""Random faults over every kind of run and a service: nothing lost or doubled, no traceback, no process left.

``make test`` does a few from one seed, ``make soak`` 750 from a new one, which it prints; ``DYNO_SOAK_SEED`` repeats
one. The clock on the wall is set where there is a compiler for what does that.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentdyno.servers.simulated.server import Behaviour, simulated_server

from ..command import Bench
from ..faults.campaign import Campaign
from ..faults.runs import RUN_KINDS
from ..faults.service import Service
from ..faults.small_disk import small_disk

SOAK = bool(os.environ.get("DYNO_SOAK"))
FAULTS = 100 if SOAK else 2
"""Of each kind of run."""
LOADS = 50 if SOAK else 1
OF_SERVICES = 100
JOBS = 20


@contextmanager
def campaign_in(folder: Path, kind: str) -> Iterator[Campaign]:
    seed = os.environ.get("DYNO_SOAK_SEED") or (random.SystemRandom().randrange(1 << 32) if SOAK else 7)
    print(f"seed {seed}")
    with small_disk(folder / ".dyno") as disk:
        campaign = Campaign(Bench(folder), random.Random(f"{seed} {kind}"), disk)
        campaign.prepare()
        yield campaign
    print(kind, dict(campaign.faults))
    assert (campaign.wrong, campaign.errors) == ([], [])


@pytest.mark.timeout(14_400 if SOAK else 600)
@pytest.mark.parametrize("kind", RUN_KINDS)
def test_a_run_that_is_disturbed_at_random_moments_is_whole_in_the_end(kind: str, tmp_path: Path) -> None:
    with campaign_in(tmp_path, kind) as campaign:
        while campaign.faults.total() < FAULTS:
            campaign.one_run(kind, most_faults=min(3, FAULTS))


@pytest.mark.timeout(14_400 if SOAK else 600)
def test_a_load_that_is_ended_at_a_random_moment_is_closed_with_what_was_stored(tmp_path: Path) -> None:
    with (
        campaign_in(tmp_path, "load") as campaign,
        simulated_server(Behaviour(ttft_s=0.005, itl_s=0.001, output_tokens=4)) as server,
    ):
        while campaign.faults.total() < LOADS:
            campaign.one_load(server.openai_url)


if SOAK:

    @pytest.mark.timeout(14_400)
    def test_a_service_that_is_disturbed_at_random_moments_does_every_job_once(tmp_path: Path) -> None:
        with campaign_in(tmp_path, "service") as campaign:
            while campaign.faults.total() < OF_SERVICES:
                Service(campaign).run(JOBS, faults=JOBS)
