"""A process that leases jobs until there are none: ``job_taker.py URL WORKER``.

Says ``ready``, waits for a line, then takes one job after another, finishing each, and prints the ids it finished.
"""

from __future__ import annotations

import sys

from agentdyno.model.job import JobStatus
from agentdyno.store import Store

NOW = 1_700_000_000_000
OFFERS = {("agent-digest", "suite-digest")}


def main(url: str, worker: str) -> None:
    with Store.open(url, must_exist=True, busy_timeout_s=60) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        idle = 0
        while idle < 3:
            job = store.service.lease_job(worker, OFFERS, now_ms=NOW, lease_ms=10**9)
            if job is None:
                idle += 1
                continue
            idle = 0
            assert not store.service.heartbeat_job(job.job_id, job.attempt, now_ms=NOW, lease_ms=10**9)
            store.service.finish_job(job.job_id, job.attempt, JobStatus.SUCCEEDED, now_ms=NOW)
            print(job.job_id)


if __name__ == "__main__":
    main(*sys.argv[1:])
