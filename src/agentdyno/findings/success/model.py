"""How well benchmarking itself does: four figures against their goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SuccessMetric:
    """``value`` is a share (0..1; a reduction may be negative), ``None`` where nothing can be said, and ``note`` says
    why. ``met`` is whether it reaches ``goal``. ``interval`` is 95 %, of shares of independent cases. ``counts`` are
    the numbers that it is made of, and ``counted`` how, in a sentence."""

    name: str
    value: float | None
    goal: float
    counted: str
    counts: Mapping[str, int] = field(default_factory=dict)
    interval: tuple[float, float] | None = None
    note: str = ""
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class SuccessReport:
    """Of the ``days`` days up to ``until`` (UTC milliseconds)."""

    days: int
    until: int
    metrics: tuple[SuccessMetric, ...]

    def metric(self, name: str) -> SuccessMetric:
        for item in self.metrics:
            if item.name == name:
                return item
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Replayed:
    """Two stored runs of an agent on one version of a suite, judged again. ``at`` is when the later one ended.

    ``expected`` is whether the later one is known to be worse, ``None`` where nobody knows; ``new_version``: it is
    the first run of a version. ``worse`` is what the judge said.
    """

    agent: str
    at: int
    worse: bool
    expected: bool | None
    new_version: bool


@dataclass(frozen=True, slots=True)
class Opportunities:
    """Of one agent: those that the profile of its earlier version showed, and those of them that are gone since."""

    agent: str
    found: int
    taken: int
