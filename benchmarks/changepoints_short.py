"""How well changes and drifts are found in as few runs as people have: 6 to 30 points.

Ours is judged as `dyno history` shows it: steps, provisional ones too, and patterns. Beside it stand apache-otava,
what one would do by hand (Student's t test at the best place with three points a side, p < 0.01), and *max t*: the
same t, held against 6.0, which keeps it within the limits for false alarms that ours is held to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from benchmarks.changepoints_tool import Array, Detector, make_noise
from benchmarks.ratio_table import met, print_table

from agentdyno.findings.history.judge import history
from agentdyno.findings.history.judge_patterns import history_patterns
from agentdyno.findings.history.model import HistoryPoint
from agentdyno.stats.distributions import t_cdf

LENGTHS = (8, 10, 14, 20, 30)
INDEPENDENT = ("gauss", "t3", "spikes")
NOISES_SHORT = (*INDEPENDENT, "ar1")
SIGMA = 0.1
"""The noise of series without a change and of steps in sigmas, in parts of their level."""
DOUBLINGS = ((5, 3), (6, 4), (8, 6), (6, 2), (8, 2), (12, 2))
FIVE_SIGMA = ((7, 3), (8, 4), (10, 4), (8, 6), (10, 10), (16, 4), (26, 4))
RAMP_RUNS, RAMP = 20, 0.05
RAMP_NOISES = (0.0, 0.01, 0.02, 0.05)
ALARMS_GOAL, CORRELATED_GOAL = 0.01, 0.05
DOUBLING_GOAL, STEP_GOAL, RAMP_GOAL = 0.95, 0.90, 0.95
_T_ALPHA = 0.01
_MAX_T = 6.0
"""With it 4.8 % of series of AR(1) 0.6 and 0.2 % of independent noise raise an alarm, at 10 to 30 points."""
_NEAR = 1
"""A change counts as found this many points from its place."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says of one series: where it changed, whether for certain, and whether it drifts."""

    changes: tuple[tuple[int, bool], ...] = ()
    drifts: bool = False

    def finds(self, place: int) -> bool:
        return any(abs(at - place) <= _NEAR for at, _ in self.changes)

    def confirms(self, place: int) -> bool:
        return any(abs(at - place) <= _NEAR and sure for at, sure in self.changes)

    @property
    def raises(self) -> bool:
        return bool(self.changes) or self.drifts


Tool = Callable[[Array], Answer]


def ask_dyno(values: Array) -> Answer:
    points = [HistoryPoint(1_000 * place, float(value)) for place, value in enumerate(values)]
    found = history("series", "duration_s", points, unit="s", higher_is_better=False)
    patterns = [item for side in history_patterns([found]) for item in side]
    return Answer(tuple((change.index, change.confirmed) for change in found.changes), bool(patterns))


def best_t(values: Array) -> tuple[int, float]:
    """Student's t at the best of the places with three points a side, and that place."""
    n = values.size
    sizes = np.arange(3, n - 2, dtype=np.float64)
    centred = values - values.mean()
    sums = np.cumsum(centred)[2 : n - 3]
    saved = sums * sums * n / (sizes * (n - sizes))
    best = int(saved.argmax())
    left = max(float(np.square(centred).sum()) - float(saved[best]), 1e-300)
    return best + 3, math.sqrt(float(saved[best]) / left * (n - 2))


def ask_t_test(values: Array) -> Answer:
    place, t = best_t(values)
    return Answer(((place, True),)) if 2.0 * t_cdf(-t, values.size - 2) < _T_ALPHA else Answer()


def ask_max_t(values: Array) -> Answer:
    place, t = best_t(values)
    return Answer(((place, True),)) if t >= _MAX_T else Answer()


def as_tool(detector: Detector) -> Tool:
    return lambda values: Answer(tuple((place, True) for place in detector(values)))


def print_short(detectors: dict[str, Detector], seed: int, series: int, noise: str | None = None) -> None:
    """All tables; `series` is how many of each kind have no change, a tenth of that how many have one.

    With a noise only the table of false alarms in it, so that many series can be judged in portions.
    """
    tools: dict[str, Tool] = {"dyno": ask_dyno}
    if "otava" in detectors:
        tools["otava"] = as_tool(detectors["otava"])
    tools["t test"] = ask_t_test
    tools["max t"] = ask_max_t
    if noise is not None:
        print_alarms(tools, seed, series, (noise,))
        return
    print_alarms(tools, seed, series, NOISES_SHORT)
    print_doublings(tools, seed, max(10, series // 10))
    print_steps(tools, seed, max(10, series // 10))
    print_ramps(tools, seed, max(10, series // 10))


@dataclass(frozen=True, slots=True)
class _Quiet:
    """Series of one noise and one length without a change."""

    kind: str
    n: int
    seed: int
    series: int

    def made(self) -> list[Array]:
        random = np.random.default_rng([self.seed, 1, len(self.kind), ord(self.kind[0]), self.n])
        return [1.0 + SIGMA * make_noise(self.kind, self.n, random) for _ in range(self.series)]

    def alarms(self) -> tuple[float, float, float]:
        """The shares that raise anything, something provisional, and a pattern."""
        ours = [ask_dyno(values) for values in self.made()]
        doubtful = _share(any(not sure for _, sure in answer.changes) for answer in ours)
        return _share(answer.raises for answer in ours), doubtful, _share(answer.drifts for answer in ours)


def print_alarms(tools: dict[str, Tool], seed: int, series: int, noises: tuple[str, ...]) -> None:
    rows, worst = [], dict.fromkeys(noises, 0.0)
    cells = [_Quiet(kind, n, seed, series) for kind in noises for n in LENGTHS]
    with ProcessPoolExecutor() as pool:
        for cell, (alarms, doubtful, drifting) in zip(cells, pool.map(_Quiet.alarms, cells), strict=True):
            worst[cell.kind] = max(worst[cell.kind], alarms)
            # The peers' figures need no third digit.
            some = cell.made()[: max(10, series // 5)]
            peers = [
                _percent(_share(tool(values).raises for values in some))
                for name, tool in tools.items()
                if name != "dyno"
            ]
            rows.append([cell.kind, str(cell.n), _percent(alarms), _percent(doubtful), _percent(drifting), *peers])
    header = ["noise", "n", "dyno", "provisional", "patterns", *(name for name in tools if name != "dyno")]
    notes = [
        f"{series:,} series of each kind; the peers on a fifth of them. ar1: neighbours correlate by 0.6",
        "dyno counts steps, provisional ones among them, and patterns; the next two columns are parts of it",
    ]
    for kind, share in worst.items():
        goal = CORRELATED_GOAL if kind == "ar1" else ALARMS_GOAL
        notes.append(f"goal: at most {_percent(goal)} with {kind}, worst {_percent(share)}: {met(share <= goal)}")
    print_table("Short series without a change that raise anything", header, rows, notes)


def print_doublings(tools: dict[str, Tool], seed: int, series: int) -> None:
    rows, least, doubtful = [], 1.0, 1.0
    for before, after in DOUBLINGS:
        random = np.random.default_rng([seed, 2, before, after])
        levels = np.repeat([1.0, 2.0], [before, after])
        made = [levels * (1.0 + 0.01 * make_noise("gauss", before + after, random)) for _ in range(series)]
        row = [f"{before} + {after}"]
        for name, tool in tools.items():
            answers = [tool(values) for values in made]
            found = _share(answer.finds(before) for answer in answers)
            row.append(_percent(found))
            if name == "dyno":
                sure = _share(answer.confirms(before) for answer in answers)
                row.append(_percent(sure))
                least = min(least, found)
                doubtful = min(doubtful, found - sure) if after == 2 else doubtful
        rows.append(row)
    header = ["points", "dyno", "confirmed", *list(tools)[1:]]
    notes = [
        f"{series:,} series each, found within {_NEAR} point of its place",
        f"goal: ours at least {_percent(DOUBLING_GOAL)}: {met(least >= DOUBLING_GOAL)}; "
        f"with two points provisional: {met(doubtful >= DOUBLING_GOAL)}",
    ]
    print_table("A doubling with 1 % of noise", header, rows, notes)


def print_steps(tools: dict[str, Tool], seed: int, series: int) -> None:
    rows, least, as_good = [], 1.0, True
    for before, after in FIVE_SIGMA:
        row = [f"{before} + {after}"]
        for kind in ("gauss", "spikes"):
            random = np.random.default_rng([seed, 3, before, after, len(kind)])
            levels = np.repeat([0.0, 5.0], [before, after])
            made = [1.0 + SIGMA * (levels + make_noise(kind, before + after, random)) for _ in range(series)]
            shares = {name: _share(tool(values).finds(before) for values in made) for name, tool in tools.items()}
            row += map(_percent, shares.values())
            if before >= 8:
                least = min(least, shares["dyno"]) if kind == "gauss" else least
                as_good = as_good and (kind == "gauss" or shares["dyno"] >= shares["max t"])
        rows.append(row)
    header = ["points", *tools, *(f"{name}, spikes" for name in tools)]
    notes = [
        f"{series:,} series each; sigma is that of what is no spike: all of such noise has 3.1 times its deviation",
        f"goal: ours at least {_percent(STEP_GOAL)} from 8 + 4 on with Gaussian noise: {met(least >= STEP_GOAL)}",
        f"goal: ours at least as often as max t among spikes from 8 + 4 on: {met(as_good)}",
    ]
    print_table("A step of 5 sigma", header, rows, notes)


def print_ramps(tools: dict[str, Tool], seed: int, series: int) -> None:
    rows, least = [], 1.0
    shapes = {
        "5 % of the value before": (1.0 + RAMP) ** np.arange(RAMP_RUNS),
        "5 % of the first value": 1.0 + RAMP * np.arange(RAMP_RUNS),
    }
    for shape, ramp in shapes.items():
        for noise in RAMP_NOISES:
            random = np.random.default_rng([seed, 4, len(shape), round(1_000 * noise)])
            made = [ramp * (1.0 + noise * make_noise("gauss", RAMP_RUNS, random)) for _ in range(series)]
            row = [f"+{shape} a run", f"{noise:.0%}"]
            for name, tool in tools.items():
                answers = [tool(values) for values in made]
                found = _share((answer.drifts if name == "dyno" else answer.raises) for answer in answers)
                row.append(_percent(found))
                if name == "dyno":
                    row.append(_percent(_share(bool(answer.changes) for answer in answers)))
                    least = min(least, found)
            rows.append(row)
    header = ["ramp", "noise", "dyno", "taken for steps", *list(tools)[1:]]
    notes = [
        f"{RAMP_RUNS} runs; ours tells a drift, the peers can only tell a step",
        f"goal: ours at least {_percent(RAMP_GOAL)}: {met(least >= RAMP_GOAL)}",
    ]
    print_table("A ramp", header, rows, notes)


def _share(answers: Iterable[bool]) -> float:
    found = list(answers)
    return sum(found) / len(found)


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.1f} %"
