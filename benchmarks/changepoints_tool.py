"""Series with known changes of level, and the detectors that look for them: ours and three peers."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agentdyno.stats.series.changepoint import detect

Array = npt.NDArray[np.float64]
Detector = Callable[[Array], list[int]]

NOISES = ("gauss", "t3", "spikes", "ar1", "bimodal")
STEPS = {100: 2, 1_000: 5, 10_000: 20}
"""Changes in a series of each length."""
TOLERANCE = 5
"""A change counts as found this many points from its place."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A measured series with the place of its regression, the first point of the new level; None without one."""

    name: str
    kind: str
    values: Array
    regression: int | None


@dataclass(frozen=True, slots=True)
class Hits:
    """Changes found, reported without being there, and missed."""

    found: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: Hits) -> Hits:
        return Hits(self.found + other.found, self.false + other.false, self.missed + other.missed)

    @property
    def f1(self) -> float:
        total = 2 * self.found + self.false + self.missed
        return 2 * self.found / total if total else 1.0


def make_noise(kind: str, n: int, random: np.random.Generator) -> Array:
    """Noise with a standard deviation of 1; for spikes, that of what is no spike."""
    normal = random.standard_normal(n)
    if kind == "t3":
        return random.standard_t(3, n) / math.sqrt(3.0)
    if kind == "spikes":
        signs = np.where(random.random(n) < 0.75, 1.0, -1.0)
        return normal + (random.random(n) < 0.05) * signs * random.uniform(5.0, 20.0, n)
    if kind == "ar1":
        correlation = 0.6
        shocks = normal * math.sqrt(1.0 - correlation**2)
        series = np.empty(n)
        series[0] = normal[0]
        for i in range(1, n):
            series[i] = correlation * series[i - 1] + shocks[i]
        return series
    if kind == "bimodal":
        share, distance = 0.3, 4.0
        modes = distance * ((random.random(n) < share) - share)
        return np.asarray((normal + modes) / math.sqrt(1.0 + distance**2 * share * (1.0 - share)))
    if kind != "gauss":
        raise ValueError(f"no such noise: {kind}")
    return normal


def make_steps(n: int, size: float, random: np.random.Generator) -> tuple[Array, list[int]]:
    """Levels that go up or down by `size` at random places, a fair distance apart, and those places."""
    count = STEPS[n]
    apart = max(20, n // (4 * (count + 1)))
    free = np.sort(random.integers(0, n - apart * (count + 1) + 1, count))
    places = free + apart * np.arange(1, count + 1)
    levels = np.zeros(n)
    for place in places:
        levels[place:] += size * random.choice((-1.0, 1.0))
    return levels, [int(place) for place in places]


def match(found: Sequence[int], truth: Sequence[int]) -> Hits:
    """Each true change takes the nearest found one within the tolerance, and no two the same."""
    free = list(found)
    hits = 0
    for place in truth:
        near = [other for other in free if abs(other - place) <= TOLERANCE]
        if near:
            free.remove(min(near, key=lambda other: abs(other - place)))
            hits += 1
    return Hits(hits, len(found) - hits, len(truth) - hits)


def load_detectors() -> tuple[dict[str, Detector], list[str]]:
    """Our detector and the peers that are installed, and a line for each that is not."""
    detectors: dict[str, Detector] = {"dyno": detect}
    notes = []
    peers = (("otava", "apache-otava", _otava), ("ruptures", "ruptures", _ruptures), ("asv", "asv", _asv))
    for name, package, make in peers:
        try:
            detectors[name] = make()
        except ImportError as error:
            notes.append(f"{name} is left out: {error} (pip install {package})")
    return detectors, notes


def _otava() -> Detector:
    compute = import_module("otava.analysis").compute_change_points

    def find(values: Array) -> list[int]:
        try:
            changes, _ = compute(values.tolist())
        except ValueError:
            # It raises when two windows propose the same place; no answer is counted as no change.
            return []
        return [int(change.index) for change in changes]

    return find


def _ruptures() -> Detector:
    """PELT as it stands in C there, a change at 2 sigma^2 ln n, with sigma from the differences of neighbours."""
    kernel = import_module("ruptures").KernelCPD

    def find(values: Array) -> list[int]:
        sigma = float(np.median(np.abs(np.diff(values)))) / 0.6745 / math.sqrt(2.0)
        if sigma == 0.0:
            sigma = float(values.std()) or 1.0
        price = 2.0 * sigma**2 * math.log(values.size)
        return [int(end) for end in kernel(kernel="linear", min_size=4).fit(values).predict(pen=price)[:-1]]

    return find


def _asv() -> Detector:
    detect_steps = import_module("asv.step_detect").detect_steps

    def find(values: Array) -> list[int]:
        return [int(step[0]) for step in detect_steps(values.tolist())][1:]

    return find


def read_labelled(folder: Path) -> Iterator[Labelled]:
    """The series of a folder: data/*.csv with a column Measurement, and one table in metadata/ with their labels.

    The label is the number, from 1, of the last point before the regression; 0 says that there is none.
    """
    (table,) = (folder / "metadata").glob("*.csv")
    with table.open(newline="") as file:
        for row in csv.DictReader(file, delimiter=";"):
            with (folder / "data" / row["Dataset"]).open(newline="") as series:
                values = np.array([float(line["Measurement"]) for line in csv.DictReader(series)])
            label = int(row["Change Point"])
            yield Labelled(row["Dataset"], row["Type"].strip(), values, label or None)
