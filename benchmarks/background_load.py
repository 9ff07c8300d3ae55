"""A process that loads the machine in bursts, for as long as its parent lives."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_S, SHORTEST_S = 0.5, 0.005


def load(seed: int, parent: int) -> None:
    """Works and sleeps by turns of 5 to 500 ms, short ones as often as long ones on a logarithmic scale."""
    rng = random.Random(seed)
    while os.getppid() == parent:
        end = time.perf_counter() + _turn_s(rng)
        while time.perf_counter() < end:
            sum(range(2000))
        time.sleep(_turn_s(rng))


def _turn_s(rng: random.Random) -> float:
    return SHORTEST_S * float((LONGEST_S / SHORTEST_S) ** rng.random())


@contextmanager
def loaded(seed: int) -> Iterator[None]:
    """The machine is loaded inside this context and not after it."""
    process = subprocess.Popen([sys.executable, __file__, str(seed), str(os.getpid())], stdin=subprocess.DEVNULL)
    try:
        yield
        if process.poll() is not None:
            raise RuntimeError(f"the load ended by itself with {process.returncode}")
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    load(int(sys.argv[1]), int(sys.argv[2]))
