"""A process that appends samples: ``writer.py URL RUN_ID ARM_ID FIRST COUNT [die]``.

Says ``ready``, waits for a line, then commits each sample by itself. With ``die`` it kills itself, beyond any
clean-up, as soon as the last commit has returned.
"""

from __future__ import annotations

import os
import signal
import sys

from agentdyno.model import Phase, Sample, Status
from agentdyno.store import Store


def main(url: str, run_id: str, arm_id: str, first: str, count: str, *rest: str) -> None:
    store = Store.open(url, must_exist=True)
    print("ready", flush=True)
    sys.stdin.readline()
    for iteration in range(int(first), int(first) + int(count)):
        store.runs.append(
            run_id, Sample(arm_id, Phase.MEASURED, iteration, Status.OK, iteration, {"duration_s": 0.5})
        )
        store.runs.commit()
    if rest:
        store.runs.append(run_id, Sample(arm_id, Phase.MEASURED, 10**6, Status.OK, 0))  # never committed
        os.kill(os.getpid(), signal.SIGKILL)
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
