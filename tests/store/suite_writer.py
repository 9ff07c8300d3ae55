"""A process that runs suites: ``suite_writer.py URL NUMBER``.

Says ``ready``, waits for a line, then begins and ends ten runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from agentdyno.store import Store
from tests.store.builders import run_id
from tests.store.suite_builders import MONDAY, run_suite, suite_header


def main(url: str, number: str) -> None:
    with Store.open(url, must_exist=True, busy_timeout_s=60) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        for index in range(10):
            header = suite_header(run_id(int(number) * 100 + index))
            run_suite(store, header, {"quick@1": 0.5}, finished_at=MONDAY)


if __name__ == "__main__":
    main(*sys.argv[1:])
