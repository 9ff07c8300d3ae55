"""Published figures of five runtimes of Rust, scored by one definition: tokens over wall time.

Two agents asked gemma3 on two Ollamas; the configuration is ``chimera_homo``, 80 GPU layers, a context of 512, five
runs (Sahil170595/Chimeraforge on GitHub, ``experiments/TR115_runtime_optimization/results``, commit d1b67d8). The
report ranks runtimes by efficiency, which is a "sequential time" over twice the concurrent one. That sequential time
was not measured: it is the sum of how long the two agents took *together*. Agents that slow each other down take
longer, and their efficiency is higher for it; agents that wait for each other keep their speed and have 50 %.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """What one run's file says: tokens of both agents, seconds from the first start to the last end, and the
    efficiency that was printed, in percent."""

    tokens: int
    wall_s: float
    efficiency: float


PUBLISHED = {
    "tokio-default": (
        PublishedRun(374 + 695, 12.4812233, 68.44145958032816),
        PublishedRun(392 + 69, 5.2832244, 69.9104783434904),
        PublishedRun(395 + 666, 13.1061298, 90.33719054117716),
        PublishedRun(425 + 680, 13.7406733, 91.47539807965597),
        PublishedRun(468 + 645, 14.0772344, 94.49743232236013),
    ),
    "async-std": (
        PublishedRun(422 + 732, 14.4432206, 49.996457507545095),
        PublishedRun(376 + 636, 10.1417744, 49.99740282134456),
        PublishedRun(446 + 683, 11.1513678, 49.98971875001738),
        PublishedRun(414 + 643, 10.5480331, 49.994018790100306),
        PublishedRun(382 + 657, 10.3260513, 49.99822052017115),
    ),
}


def tokens_per_s(runtime: str) -> float:
    """All tokens of a runtime's runs over all their time."""
    runs = PUBLISHED[runtime]
    return sum(run.tokens for run in runs) / sum(run.wall_s for run in runs)


def printed_efficiency(runtime: str) -> float:
    """The mean of what was printed, in percent."""
    runs = PUBLISHED[runtime]
    return sum(run.efficiency for run in runs) / len(runs)
