"""Our side of benchmarks/load.py, in a process that can be pinned as a whole: a closed loop against a port.

python benchmarks/load_tool.py PORT SECONDS CONNECTIONS
"""

from __future__ import annotations

import sys

from agentdyno.load.client.driver import HttpDriver
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, Stage, Step

PROMPT = "Say sixteen words, please, one after the other."


def main() -> None:
    port, seconds, connections = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    target = LoadTarget("canned", Dialect.OPENAI, f"http://127.0.0.1:{port}/v1", model="canned")
    driver = HttpDriver(target, LoadOptions(connections=connections, prompt=PROMPT))
    driver.open()
    step = Step("closed", (Stage("steady", seconds, concurrency=connections),), Arrivals.CLOSED)
    outcomes: dict[str, int] = {}
    tokens = 0
    for window in driver.run(step):
        tokens += window.output_tokens or 0
        for name, count in window.outcomes.items():
            outcomes[name] = outcomes.get(name, 0) + count
    driver.close()
    print(outcomes, tokens)


if __name__ == "__main__":
    main()
