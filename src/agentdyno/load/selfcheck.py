"""The client's own error, measured on loopback before a run: what it adds to the times that it reports."""

from __future__ import annotations

import http.client
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import RunError
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.loopback_server import LOG
from agentdyno.load.windows.records import NAME, OUTCOME_CODES, Records, read_raw
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, Outcome, SelfCheck, Stage, Step
from agentdyno.servers.child import ChildServer

RATE = 200.0
PACED_S, UNPACED_S = 0.5, 0.3
IN_FLIGHT = 32


def self_check(options: LoadOptions) -> SelfCheck:
    """About a second: requests at a modest rate for lag and error, then as fast as this client goes.

    Uses as many processes as ``options`` says, on the same cores. ``RunError`` where not one request came through.
    """
    quick = replace(options, connections=max(IN_FLIGHT, options.processes), timeout_s=5.0, prompt="self-check")
    server = ChildServer("agentdyno.load.loopback_server", {}, what="the server of the self-check", wait_s=30.0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return _measure(int(server.ready["port"]), replace(quick, keep_requests=True), Path(folder))
    finally:
        server.stop()


def _measure(port: int, options: LoadOptions, folder: Path) -> SelfCheck:
    target = LoadTarget("self-check", Dialect.OPENAI, f"http://127.0.0.1:{port}/v1", model="loopback")
    driver = HttpDriver(target, options, artifacts=folder)
    driver.open()
    try:
        _log(port)  # what the driver asked when it opened
        paced = Step("paced", (Stage("steady", PACED_S, rate=RATE),), Arrivals.CONSTANT, drain_s=2.0)
        list(driver.run(paced))
        log = _log(port)
        unpaced = Step("unpaced", (Stage("steady", UNPACED_S, concurrency=IN_FLIGHT),), Arrivals.CLOSED, drain_s=2.0)
        windows = list(driver.run(unpaced))
    finally:
        driver.close()
    records = read_raw(folder / NAME)
    return _summary(records[: round(RATE * PACED_S)], log, sum(w.completed for w in windows) / UNPACED_S)


def _summary(paced: Records, log: NDArray[np.int64], rate_per_s: float) -> SelfCheck:
    good = paced[paced["outcome"] == OUTCOME_CODES[Outcome.OK]]
    if not len(good):
        raise RunError("the self-check got no answer on loopback", remedy="Is the machine overloaded?")
    lag = (good["sent"] - good["due"])[good["blocked"] == 0]
    # Both in the order of time; where two were sent at once it does not matter if they changed places.
    seen = (good["first_content"] - good["sent"])[np.argsort(good["sent"], kind="stable")]
    true = log[1::2] - log[::2]
    both = min(len(seen), len(true))
    error = np.abs(seen[:both] - true[:both])
    lag_p50, lag_p99 = _quantiles(lag if len(lag) else good["sent"] - good["due"])
    error_p50, error_p99 = _quantiles(error)
    return SelfCheck(lag_p50, lag_p99, error_p50, error_p99, rate_per_s, len(good))


def _quantiles(values_ns: NDArray[np.int64]) -> tuple[float, float]:
    """Median and 99th percentile, in seconds."""
    middle, high = np.quantile(values_ns, (0.5, 0.99))
    return max(0.0, float(middle) / 1e9), max(0.0, float(high) / 1e9)


def _log(port: int) -> NDArray[np.int64]:
    """Received and sent in turns, since the last call."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        link.request("GET", LOG)
        values: NDArray[np.int64] = np.array(json.loads(link.getresponse().read()), dtype=np.int64)
        return values
    except OSError as error:
        raise RunError(f"the server of the self-check does not answer: {error}") from None
    finally:
        link.close()
