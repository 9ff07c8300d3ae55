"""A large run as queues: nodes that answer cases, and one driver that takes every answer in. No clock but its own.

The driver serves one answer after the other. A node has ``slots`` cases under way and some waiting; each answer that
the driver has taken in sends it another case. That is how ``runner/farm`` works, with everything that the driver does
for a case put together into one service time.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

AHEAD_S = 0.2
"""Seconds of work that wait at a node beside what it does, as in ``runner/farm/assignments``."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """``case_s`` is the mean of a lognormal time as wide as itself, ``message_s`` the way of a message to a node or
    back, ``driver_s`` what the driver needs for an answer."""

    nodes: int
    slots: int
    case_s: float
    driver_s: float
    message_s: float = 0.001

    @property
    def waiting(self) -> int:
        return max(1, round(self.slots * AHEAD_S / self.case_s))

    @property
    def expected_per_s(self) -> float:
        """On paper: the nodes' rate or the driver's, whichever is less."""
        return min(self.nodes * self.slots / self.case_s, 1.0 / self.driver_s)


@dataclass(frozen=True, slots=True)
class Simulated:
    """``busy`` is the share of the nodes' slots that worked, ``driver_busy`` of the driver's time; ``backlog_s`` is
    how long the answer that waited longest waited for the driver."""

    duration_s: float
    per_s: float
    busy: float
    driver_busy: float
    backlog_s: float


def simulate(cluster: Cluster, cases: int, seed: int = 7) -> Simulated:
    sigma2 = np.log(2.0)
    times = np.random.default_rng(seed).lognormal(np.log(cluster.case_s) - sigma2 / 2, np.sqrt(sigma2), cases)
    took = iter(times.tolist())
    left = cases
    ends: list[tuple[float, int]] = []  # (when the answer reaches the driver, node)
    waiting = [0] * cluster.nodes
    free_slots = [0] * cluster.nodes
    for node in range(cluster.nodes):
        sent = min(left, cluster.slots + cluster.waiting)
        left -= sent
        waiting[node] = max(0, sent - cluster.slots)
        free_slots[node] = max(0, cluster.slots - sent)
        for _ in range(min(sent, cluster.slots)):
            ends.append((next(took) + 2 * cluster.message_s, node))
    heapq.heapify(ends)
    driver_free = backlog = 0.0
    arrivals: list[tuple[float, int]] = []  # (when a new case reaches the node, node)
    while ends:
        if arrivals and arrivals[0][0] <= ends[0][0] - cluster.message_s:
            at, node = heapq.heappop(arrivals)
            if free_slots[node]:
                free_slots[node] -= 1
                heapq.heappush(ends, (at + next(took) + cluster.message_s, node))
            else:
                waiting[node] += 1
            continue
        at, node = heapq.heappop(ends)
        if waiting[node]:
            waiting[node] -= 1
            heapq.heappush(ends, (at + next(took), node))  # it began when the answer left
        else:
            free_slots[node] += 1
        backlog = max(backlog, driver_free - at)
        driver_free = max(driver_free, at) + cluster.driver_s
        if left:
            left -= 1
            heapq.heappush(arrivals, (driver_free + cluster.message_s, node))
        while arrivals and not ends:
            at, node = heapq.heappop(arrivals)
            free_slots[node] -= 1
            heapq.heappush(ends, (at + next(took) + cluster.message_s, node))
    work_s = float(times.sum())
    return Simulated(
        driver_free,
        cases / driver_free,
        work_s / (driver_free * cluster.nodes * cluster.slots),
        cases * cluster.driver_s / driver_free,
        max(0.0, backlog),
    )


@dataclass(frozen=True, slots=True)
class Merging:
    """What puts the requests of all clients together: its share of a core, and how far it was behind at most."""

    busy: float
    backlog_s: float


def simulate_messages(clients: int, every_s: float, service_s: float, duration_s: float, seed: int = 7) -> Merging:
    """Every client sends a message every ``every_s``, at a moment of its own; each takes ``service_s`` to take in."""
    starts = np.random.default_rng(seed).uniform(0.0, every_s, clients)
    at = np.sort((starts[:, None] + np.arange(0.0, duration_s, every_s)).ravel())
    # Lindley: a message waits for the one before it.
    index = np.arange(at.size)
    done = np.maximum.accumulate(at - index * service_s) + (index + 1) * service_s
    return Merging(float(at.size * service_s / duration_s), float((done - service_s - at).max()))
